//! The Markdown report: `**Score:** 84/100`, `## Score Breakdown`, deductions as bullets or table rows.
//!
//! Code fences and quoted lines are passed over: what the artifact says about itself counts for nothing.
//! Where there is a breakdown only its deductions count, since reports repeat them beside each issue.

mod amounts;
mod claims;
mod columns;
mod score_line;

use claims::{claim, is_cost_label, named, plain, takes_nothing, unquoted};
use columns::Columns;
use score_line::ScoreLine;

use super::{Claim, Said, shorten};
use crate::deduction::{Amount, words};
use crate::reading::doubt::{self, Rule, Scope, Weight};
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

/// What each sentence of a text takes off.
pub(super) fn taken_off(text: &str) -> Vec<Amount> {
    let sentences = text.split_inclusive(['.', ';', '(']).filter(|s| s.trim().len() > 1);
    sentences.filter_map(|sentence| amounts::read(sentence, true).points).map(|p| p.amount).collect()
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
    /// How many claims there were when `## Score Breakdown` came, which adds up those of a list of deductions above it.
    added_up_from: usize,
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
    /// Rows that are gone through and cost nothing.
    Free,
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
            // `### Final` is a heading; a sum has its number.
            Some(ScoreLine::Sum) if !trimmed.contains(|c: char| c.is_ascii_digit()) => {}
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

    /// A total in a sentence: one that is lower than what is counted is no projection.
    fn speak(&mut self, text: &str) {
        if !text.contains(['"', '“', '„', '`'])
            && !text.contains(forms::STAND_IN)
            && !text.to_lowercase().contains("threshold")
        {
            self.spoken_totals.extend(score_line::totals_in(text).map(|(total, _)| total));
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
        let free =
            ["no deduction", "not deducted", "does not apply", "do not apply", "not applicable", "no points"];
        self.section = if free.iter().any(|phrase| name.contains(phrase)) {
            Section::Free
        } else if name.contains("score breakdown") || name == "deductions" || name == "scoring" {
            if name.contains("score breakdown") {
                self.added_up_from = self.claims.len();
            }
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
                if text.contains(". ") {
                    claim.spoken = text.split(". ").flat_map(taken_off).collect();
                }
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
            None if takes_nothing(text) || self.section == Section::Free => {
                let lenient = |(rule, _): &(Rule, String)| matches!(rule, Rule::Lenient | Rule::Undecided);
                if let Some((rule, passage)) = doubt::against(text, Scope::Prose).filter(lenient) {
                    self.against(rule.sentence(), &passage);
                }
                self.said.deviations.push(format!("listed and not deducted: {}", shorten(text, 100)));
            }
            None if self.section == Section::Breakdown && lines::item(line).is_none() => {
                self.speak(text);
                // Behind the total nothing is added up any more: it is what the critic says of it all.
                if !self.said.scores.is_empty() && self.said.prose.len() < MOST_KEPT {
                    self.said.prose.push(shorten(text, 2_000));
                }
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
        // It goes on with the bullet, unless it says what the critic did.
        let of_the_critic = |rule: &Rule| matches!(rule, Rule::Unseen | Rule::Undecided | Rule::Lenient);
        if let Some((rule, passage)) =
            doubt::against(text, Scope::Evidence).filter(|(rule, _)| of_the_critic(rule))
        {
            self.against(rule.sentence(), &passage);
        }
        self.speak(text);
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
        let is_listed = |(section, _): &(Section, Claim)| *section == Section::Breakdown;
        let in_breakdown = self.claims.iter().any(is_listed);
        let added_up = self.claims.iter().skip(self.added_up_from).any(is_listed);
        let from = if added_up { self.added_up_from } else { 0 };
        let claims = self.claims.into_iter().enumerate();
        self.said.claims = claims
            .map(|(at, found)| Claim { in_breakdown: at >= from && is_listed(&found), ..found.1 })
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

/// Where an amount is zero nothing is deducted.
fn above_zero(amount: Amount) -> Option<Amount> {
    Some(amount.abs()).filter(|a| *a > Amount::ZERO)
}
