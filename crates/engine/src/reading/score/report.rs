//! The Markdown report: `**Score:** 84/100`, `## Score Breakdown`, deductions as bullets or table rows.
//!
//! Code fences and quoted lines are passed over: what the artifact says about itself counts for nothing.
//! Where there is a breakdown only its deductions count, since reports repeat them beside each issue.

mod amounts;
mod score_line;

use amounts::Points;
use score_line::ScoreLine;

use super::{Claim, Said, shorten};
use crate::deduction::{Amount, Gravity, words};
use crate::reading::doubt::{self, Weight};
use crate::reading::lines::{self, Fence};
use crate::reading::{forms, place};

/// So many lines of one kind are kept.
const MOST_SCORE_LINES: usize = 8;
const MOST_KEPT: usize = 200;

/// Reads a report. `table`: the rubric has rows, so that a point without a number is no deduction.
pub(super) fn read(text: &str, table: bool) -> Said {
    let mut reader = Reader { table, ..Reader::default() };
    let mut fence = Fence::default();
    for line in lines::unwrapped(text).lines() {
        if fence.takes(line) {
            continue;
        }
        if fence.depth() == 0 {
            reader.line(line);
        }
    }
    reader.said()
}

/// The total that a single line states.
pub(super) fn stated_score(line: &str) -> Option<Amount> {
    match score_line::read(line.trim())? {
        ScoreLine::Score(score, _) => Some(score),
        _ => None,
    }
}

/// The first line that states a score, wherever it stands.
pub(super) fn stated_line(text: &str) -> Option<&str> {
    text.lines().map(str::trim).find(|line| matches!(score_line::read(line), Some(ScoreLine::Score(..))))
}

#[derive(Default)]
struct Reader {
    table: bool,
    said: Said,
    /// The heading above: a category, perhaps.
    heading: Option<String>,
    section: Section,
    breakdown: bool,
    /// Claims with the section they stand in.
    claims: Vec<(Section, Claim)>,
    /// Bullets without a number of points.
    bullets: Vec<Claim>,
    /// What lines that belong to a bullet are added to.
    open: Open,
    /// The last bullet without points: a row, perhaps, whose points stand below it.
    above: Option<String>,
    columns: Option<Columns>,
    /// Points outside of the places where deductions stand.
    loose: bool,
    /// Totals in sentences.
    spoken_totals: Vec<Amount>,
    /// Deductions on lines of their own, without any mark; they count where there are no others.
    spoken: Vec<(Claim, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Section {
    #[default]
    Body,
    Breakdown,
    Notes,
}

#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Open {
    #[default]
    Nothing,
    Claim,
    Bullet,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if let Some(quote) = trimmed.strip_prefix('>') {
            self.quote(quote.trim());
            return;
        }
        if trimmed.is_empty() {
            self.open = Open::Nothing;
            self.columns = None;
            return;
        }
        match score_line::read(trimmed) {
            Some(ScoreLine::Score(score, tail)) => {
                self.said.scores.push(score);
                self.tail(score, tail);
                if self.said.score_lines.len() < MOST_SCORE_LINES {
                    self.said.score_lines.push(shorten(trimmed, 300));
                }
                self.open = Open::Nothing;
                return;
            }
            Some(ScoreLine::Projected) => {
                self.said.notes.push(shorten(trimmed, 300));
                return;
            }
            Some(ScoreLine::OtherScale) => {
                self.said.deviations.push(format!("not a score out of 100: {}", shorten(trimmed, 100)));
                self.against("it states a score on another scale than 100", trimmed);
                return;
            }
            Some(ScoreLine::Sum) => {
                // `Total deductions: -47` says what is left.
                if let Some(sum) = score_line::deducted(trimmed) {
                    let left = Amount::whole(crate::deduction::FULL).minus(sum.abs());
                    self.said.scores.push(if left.is_negative() { Amount::ZERO } else { left });
                }
                self.open = Open::Nothing;
                return;
            }
            None => {}
        }
        if let Some(heading) = heading(trimmed) {
            // A heading per deduction: `## No sample size (-20)`.
            let found = amounts::read(heading, false);
            if found.points.is_some() && score_line::read(heading).is_none() {
                self.point(heading, trimmed);
            } else {
                self.head(heading);
            }
        } else if trimmed.starts_with('|') {
            self.table_row(trimmed);
        } else if let Some(text) = bullet(trimmed) {
            if !(is_inner(line) && self.detail(text)) {
                self.point(text, trimmed);
            }
        } else if self.section == Section::Breakdown || amounts::leads(trimmed) {
            // A line with points of its own is a deduction, whatever word it begins with.
            let may_be_detail = is_inner(line) && amounts::read(trimmed, true).points.is_none();
            if !(may_be_detail && self.detail(trimmed)) {
                self.point(trimmed, trimmed);
            }
        } else {
            self.go_on(trimmed);
        }
    }

    /// What stands behind a total is said, too; another total there leaves open which counts.
    fn tail(&mut self, score: Amount, tail: &str) {
        // A higher one is what it may become.
        if let Some((lower, _)) = score_line::totals_in(tail).find(|(other, _)| *other < score) {
            self.said.scores.push(lower);
        }
        let tail = tail.trim_matches(|c: char| !c.is_alphanumeric() && c != '❌' && c != '✗');
        if lines::ticked(tail) == lines::Tick::Open
            || forms::status(tail).is_some_and(|s| s.says != forms::Says::Approved)
        {
            self.against("its own verdict is that the work fails", tail);
        } else if tail.chars().any(char::is_alphabetic) && self.said.prose.len() < MOST_KEPT {
            self.said.prose.push(shorten(tail, 2_000));
        }
    }

    fn against(&mut self, why: &str, passage: &str) {
        if self.said.against.len() < MOST_KEPT {
            self.said.against.push((why.to_owned(), shorten(passage, 300)));
        }
    }

    fn head(&mut self, heading: &str) {
        let name = words(heading).collect::<Vec<_>>().join(" ");
        self.open = Open::Nothing;
        self.columns = None;
        self.section = if name.contains("score breakdown") || name == "deductions" || name == "scoring" {
            self.breakdown = true;
            Section::Breakdown
        } else if ["note", "strength", "positive", "recommendation"].iter().any(|w| name.starts_with(w)) {
            Section::Notes
        } else {
            Section::Body
        };
        self.heading = Some(heading.to_owned());
        self.above = None;
    }

    /// A bullet, or a line of the breakdown.
    fn point(&mut self, text: &str, line: &str) {
        self.open = Open::Nothing;
        if score_line::is_sum(text) {
            return;
        }
        let found = amounts::read(text, self.section == Section::Breakdown);
        if found.credit {
            self.said.deviations.push(format!("a credit is no deduction: {}", shorten(text, 100)));
            return;
        }
        match found.points {
            Some(points) => {
                let mut claim = claim(&points, self.heading.as_deref());
                if is_cost_label(points.before) {
                    claim.names = self.above.iter().chain(&self.heading).cloned().collect();
                    if let Some(above) = &self.above {
                        claim.says.clone_from(above);
                    }
                }
                self.claims.push((self.section, claim));
                if self.said.claim_lines.len() < MOST_KEPT {
                    self.said.claim_lines.push(shorten(line, 300));
                }
                self.open = Open::Claim;
            }
            None if takes_nothing(text) => {
                self.said.deviations.push(format!("listed and not deducted: {}", shorten(text, 100)));
            }
            None if self.section == Section::Notes => self.said.notes.push(shorten(text, 2_000)),
            None => {
                self.loose |= found.loose;
                let item = lines::item(line).map_or(lines::Tick::None, |item| item.tick);
                let optional = self.heading.as_deref().map(doubt::section) == Some(doubt::Section::Optional);
                if self.table
                    && !optional
                    && doubt::item(item, text) == Weight::Against
                    && self.said.undeducted.len() < MOST_KEPT
                {
                    self.said.undeducted.push(shorten(text, 300));
                }
                self.above = Some(named(text));
                if self.section == Section::Body {
                    self.bullets.push(plain(text, self.heading.as_deref()));
                    self.open = Open::Bullet;
                }
            }
        }
    }

    fn last(&mut self) -> Option<&mut Claim> {
        match self.open {
            Open::Nothing => None,
            Open::Claim => self.claims.last_mut().map(|(_, claim)| claim),
            Open::Bullet => self.bullets.last_mut(),
        }
    }

    /// `Fix: …`, `Where: …`, `Quote: …` under a bullet.
    fn detail(&mut self, text: &str) -> bool {
        let plain = text.trim_start_matches(['*', '_', '→', ' ']);
        let Some((label, value)) = plain.split_once(':') else { return false };
        let value = value.trim_start_matches(['*', '_', ' ']).trim();
        let label = label.trim_matches(['*', '_', ' ']).to_ascii_lowercase();
        let Some(claim) = self.last() else { return false };
        match label.as_str() {
            "fix" | "remedy" | "suggestion" | "recommendation" => value.clone_into(&mut claim.fix),
            "where" | "location" | "line" | "file" => {
                match place::read(value).or_else(|| place::within(value)) {
                    Some(place) => claim.place = Some(place),
                    None => claim.whereabouts = Some(value.to_owned()),
                }
            }
            "quote" | "quoted" | "text" => claim.quote = Some(unquoted(value)),
            _ => return false,
        }
        true
    }

    /// A quoted line under a deduction is what it quotes from the artifact.
    fn quote(&mut self, text: &str) {
        if let Some(claim) = self.last() {
            let quote = claim.quote.get_or_insert_with(String::new);
            if quote.len() < 2_000 {
                if !quote.is_empty() {
                    quote.push(' ');
                }
                quote.push_str(text);
            }
        }
    }

    /// A line that goes on with the bullet above.
    fn go_on(&mut self, text: &str) {
        if self.detail(text) {
            return;
        }
        if let Some(statement) = forms::status(text).filter(|s| s.labelled && s.says != forms::Says::Approved)
        {
            self.against("its own verdict is that the work fails", &text[statement.word]);
        }
        // A total in a sentence: one that is lower than what is counted is no projection.
        if !text.contains(['"', '“', '„', '`'])
            && !text.contains(forms::STAND_IN)
            && !text.to_lowercase().contains("threshold")
        {
            self.spoken_totals.extend(score_line::totals_in(text).map(|(total, _)| total));
        }
        let found = amounts::read(text, false);
        self.loose |= found.loose || found.points.is_some();
        if found.points.is_some() {
            self.said.spoken_points.get_or_insert_with(|| shorten(text, 300));
            // A paragraph may take off several times, once a sentence.
            for sentence in text.split_inclusive(". ").flat_map(|sentence| sentence.split(", and ")) {
                let Some(points) = amounts::read(sentence, false).points else { continue };
                let mut claim = claim(&points, self.heading.as_deref());
                if is_cost_label(points.before) {
                    claim.names = self.above.iter().chain(&self.heading).cloned().collect();
                    claim.says = claim.names.first().cloned().unwrap_or_default();
                } else if points.rest().split_whitespace().count() < 2 {
                    // `**No sample size**: it says "several". Deduct 20.`
                    (claim.names, claim.says) = (vec![named(text)], named(text));
                }
                if self.spoken.len() < MOST_KEPT {
                    self.spoken.push((claim, shorten(sentence, 300)));
                }
            }
        }
        if self.open == Open::Nothing && self.said.prose.len() < MOST_KEPT {
            self.said.prose.push(shorten(text, 2_000));
        }
        if let Some(claim) = self.last()
            && claim.says.len() < 2_000
        {
            claim.says.push(' ');
            claim.says.push_str(text);
        }
    }

    fn table_row(&mut self, line: &str) {
        let cells = lines::cells(line);
        if cells.iter().all(|c| !c.is_empty() && c.chars().all(|c| matches!(c, '-' | ':' | ' '))) {
            return;
        }
        let Some(columns) = self.columns.take() else {
            self.columns = Some(Columns::of(&cells));
            // A table may have no header; then its first line is a row like any other.
            if !cells.iter().any(|c| amounts::whole_cell(c, false).is_some()) {
                return;
            }
            return self.table_row(line);
        };
        if let Some(claim) = columns.claim(&cells, self.heading.as_deref()) {
            self.claims.push((self.section, claim));
            if self.said.claim_lines.len() < MOST_KEPT {
                self.said.claim_lines.push(shorten(line, 300));
            }
        } else if columns.points.is_some()
            && cells.len() > 1
            && !score_line::is_sum_label(&cells[0])
            && !columns.takes_nothing(&cells)
        {
            self.against("a row of its table could not be read", line);
        }
        self.columns = Some(columns);
    }

    fn said(mut self) -> Said {
        if let Some(lowest) = self.said.scores.iter().copied().min() {
            let lower = self.spoken_totals.iter().copied().filter(|total| *total < lowest);
            self.said.scores.extend(lower.collect::<Vec<_>>());
        }
        if self.claims.is_empty() && self.table {
            for (claim, line) in std::mem::take(&mut self.spoken) {
                self.claims.push((Section::Body, claim));
                self.said.claim_lines.push(line);
                self.loose = false;
            }
        }
        let in_breakdown = self.claims.iter().any(|(section, _)| *section == Section::Breakdown);
        let claims = self.claims.into_iter();
        self.said.claims = claims
            .map(|(section, claim)| Claim { in_breakdown: section == Section::Breakdown, ..claim })
            .collect();
        self.said.in_words = true;
        self.said.passed_over = self.loose && !in_breakdown;
        // Without a table and without points, the bullets are what there is to fix.
        if self.said.claims.is_empty() && !self.table {
            self.said.claims = self.bullets;
        }
        self.said
    }
}

/// `No sample size: 0`, `…: hedged, no deduction.`, `does not apply`: a row that is gone through and costs nothing.
fn takes_nothing(text: &str) -> bool {
    let lower = text.to_lowercase();
    let value = lower.rsplit_once(':').map(|(_, value)| value.trim_matches(|c: char| !c.is_alphanumeric()));
    let free = [
        "no deduction",
        "does not apply",
        "not applicable",
        "not triggered",
        "no points",
        "0 points",
        "not deducted",
        "n/a",
    ];
    value.is_some_and(|value| matches!(value, "0" | "none" | "no" | "ok" | "met" | "fine" | "pass"))
        || free.iter().any(|phrase| lower.contains(phrase))
            && !lower.contains("should")
            && !lower.contains("must")
}

/// `Deduction:`, `Points deducted:`: what follows is the price of what was named above.
fn is_cost_label(before: &str) -> bool {
    let label = words(before).collect::<Vec<_>>().join(" ");
    [
        "deduction",
        "deductions",
        "points",
        "penalty",
        "deducted",
        "cost",
        "points deducted",
        "deduct",
        "points lost",
        "point deduction",
    ]
    .contains(&label.as_str())
}

/// Indented below a bullet.
fn is_inner(line: &str) -> bool {
    line.len() - line.trim_start().len() >= 2
}

/// `## Heading`, or a line that is bold as a whole.
fn heading(line: &str) -> Option<&str> {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with(' ') {
        return Some(line[hashes..].trim());
    }
    let inner = line.strip_prefix("**")?.trim_end_matches(':').strip_suffix("**")?;
    (!inner.contains("**")).then_some(inner)
}

/// What follows the mark of a list item. A minus sign before a number is none.
fn bullet(line: &str) -> Option<&str> {
    lines::item(line).map(|item| item.text)
}

fn claim(points: &Points<'_>, heading: Option<&str>) -> Claim {
    let mut claim = plain(&points.rest(), heading);
    claim.names = vec![named(points.before), named(points.after), claim.says.clone()];
    claim.gravity = claim.names.iter().find_map(|n| leading_gravity(n));
    claim.points = Some(points.amount);
    claim.times = points.times;
    claim
}

/// A bullet without points.
fn plain(text: &str, heading: Option<&str>) -> Claim {
    let (says, fix) = match find_ignoring_case(text, "fix:") {
        Some(at) => (
            text[..at].trim_end_matches(['*', '_', '→', ' ', '(']),
            text[at + 4..].trim_matches(['*', '_', ' ']),
        ),
        None => text.split_once(" → ").unwrap_or((text, "")),
    };
    Claim {
        names: vec![named(text)],
        category: heading.map(str::to_owned),
        gravity: leading_gravity(text),
        place: place::within(text),
        says: says.trim().to_owned(),
        fix: fix.trim().to_owned(),
        ..Claim::default()
    }
}

/// The part of a text that may name a row: up to the fix.
fn named(text: &str) -> String {
    let text = text.split(" → ").next().unwrap_or(text);
    let end = find_ignoring_case(text, "fix:").unwrap_or(text.len());
    text.get(..end)
        .unwrap_or(text)
        .trim_matches([' ', ':', '*', '_', '—', '–', '-', '(', ')', '=', '|'])
        .to_owned()
}

fn leading_gravity(text: &str) -> Option<Gravity> {
    let word = text.split(|c: char| c.is_whitespace() || matches!(c, ':' | '|')).find(|w| !w.is_empty())?;
    Gravity::parse(word)
}

fn find_ignoring_case(text: &str, what: &str) -> Option<usize> {
    text.as_bytes().windows(what.len()).position(|w| w.eq_ignore_ascii_case(what.as_bytes()))
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['"', '“', '”', '„', '`', '«', '»']).to_owned()
}

/// Which column of a table says what.
#[derive(Default)]
struct Columns {
    points: Option<usize>,
    /// The header says that its numbers are taken off, so that they need no minus sign.
    deducted: bool,
    row: Option<usize>,
    category: Option<usize>,
    times: Option<usize>,
    place: Option<usize>,
    fix: Option<usize>,
    quote: Option<usize>,
}

impl Columns {
    fn of(header: &[String]) -> Self {
        let column = |names: &[&str]| {
            header.iter().position(|cell| {
                let cell = cell.to_lowercase();
                names.iter().any(|name| cell.starts_with(name))
            })
        };
        let deducted = column(&["deduct", "penalty", "points off", "subtract"]);
        Self {
            points: deducted.or_else(|| column(&["points"])),
            deducted: deducted.is_some() || column(&["points", "pts"]).is_some(),
            row: column(&["row", "id"]).or_else(|| column(&["issue", "problem", "finding", "item", "rule"])),
            category: column(&["category", "area", "tier"]),
            times: column(&["times", "count", "instances", "occurrences", "how often"]),
            place: column(&["where", "location", "line", "file", "place"]),
            fix: column(&["fix", "remedy", "suggest"]),
            quote: column(&["quote"]),
        }
    }

    /// `0`, `—`: the row does not apply. An empty cell may have lost its number.
    fn takes_nothing(&self, cells: &[String]) -> bool {
        let cell = self.points.and_then(|at| cells.get(at)).map(|cell| cell.trim());
        cell.is_some_and(|cell| {
            matches!(cell, "0" | "-0" | "—" | "–" | "-" | "none" | "None" | "n/a" | "N/A")
        })
    }

    fn claim(&self, cells: &[String], heading: Option<&str>) -> Option<Claim> {
        let cell =
            |at: Option<usize>| at.and_then(|at| cells.get(at)).map(String::as_str).filter(|c| !c.is_empty());
        let (at, amount, times) = match self.points {
            Some(at) => amounts::whole_cell(cells.get(at)?, self.deducted).map(|(a, t)| (at, a, t))?,
            None => cells
                .iter()
                .enumerate()
                .find_map(|(at, c)| amounts::whole_cell(c, false).map(|(a, t)| (at, a, t)))?,
        };
        let others =
            cells.iter().enumerate().filter(|(n, c)| *n != at && !c.is_empty()).map(|(_, c)| c.as_str());
        let first = cell(self.row).or_else(|| others.clone().next())?;
        if score_line::is_sum_label(first) {
            return None;
        }
        let stated = cell(self.times).and_then(|c| c.trim_start_matches(['×', 'x']).trim().parse().ok());
        let whole = others.collect::<Vec<_>>().join(" — ");
        Some(Claim {
            names: vec![first.to_owned(), whole.clone()],
            category: cell(self.category).or(heading).map(str::to_owned),
            gravity: leading_gravity(first).or_else(|| cells.iter().find_map(|c| Gravity::parse(c))),
            points: Some(amount),
            times: stated.or(times),
            place: cell(self.place).and_then(place::read).or_else(|| place::within(&whole)),
            whereabouts: cell(self.place).map(str::to_owned),
            quote: cell(self.quote).map(unquoted),
            says: if self.row.is_some() { first.to_owned() } else { whole },
            fix: cell(self.fix).unwrap_or_default().to_owned(),
            ..Claim::default()
        })
    }
}

/// Where an amount is zero nothing is deducted.
fn above_zero(amount: Amount) -> Option<Amount> {
    Some(amount.abs()).filter(|a| *a > Amount::ZERO)
}
