//! What a verdict on a draft says beside its status: the points of its lists and tables with the headings they stand under,
//! and its paragraphs. Weighed as the reasons of an approval, or as the fixes of a rejection.

use std::collections::BTreeSet;

use super::bullet::citations;
use super::{Bullet, Status, StatusReply};
use crate::brief::one_line;
use crate::reading::doubt::{self, Rule, Scope, Section, Weight};
use crate::reading::forms::{self, Statement};
use crate::reading::lines::{self, Item, Kind, Line, Tick};
use crate::reading::quoted::Shown;
use crate::reading::{Unread, quote};

/// The longest list that is read; what follows is noted.
pub(super) const MOST_BULLETS: usize = 100;
/// The longest bullet, in characters.
pub(super) const LONGEST_BULLET: usize = 2_000;
/// The longest reason that is kept, in characters.
const LONGEST_REASON: usize = 600;
/// Points and paragraphs that are weighed beside an approval; nobody approves in so many.
const MOST_WEIGHED: usize = 1_000;

/// One point with where it stands.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub section: Section,
    pub tick: Tick,
    pub listed: Option<u32>,
    pub text: String,
    pub from_table: bool,
}

#[derive(Default, Debug)]
pub(super) struct Body {
    /// Lines that begin with `>`: quotations, or remarks that are set off.
    pub quotes: Vec<String>,
    pub items: Vec<Point>,
    /// Paragraphs outside of lists, with the section they stand in.
    pub prose: Vec<(Section, String)>,
}

impl Body {
    pub fn read(lines: &[Line<'_>], stated: &[(usize, Statement<'_>)]) -> Self {
        let mut body = Self::default();
        let mut section = Section::None;
        let mut open: Option<usize> = None;
        let mut paragraph = false;
        let mut header = true;
        for (at, line) in lines.iter().enumerate() {
            if let Some((_, statement)) = stated.iter().find(|(n, _)| *n == at) {
                if !statement.after.is_empty() {
                    body.prose.push((Section::None, statement.after.to_owned()));
                }
                (open, paragraph) = (None, false);
                section = Section::None;
                continue;
            }
            // A status word among the fixes is only shown, be it in a fence or not.
            match &line.kind {
                Kind::Blank => {
                    (open, paragraph, header) = (None, false, true);
                }
                Kind::Rule => paragraph = false,
                Kind::Quote(text) => {
                    paragraph = false;
                    body.quotes.push((*text).to_owned());
                }
                Kind::Heading(text) => {
                    section = doubt::section(text);
                    (open, paragraph) = (None, false);
                    // A whole sentence in bold letters is a sentence.
                    let said = if is_sentence(text) { Section::None } else { Section::Praise };
                    body.prose.push((said, (*text).to_owned()));
                }
                Kind::Row(cells) => {
                    let is_header = header && lines.get(at + 1).is_some_and(|next| next.kind == Kind::Rule);
                    header = false;
                    if !is_header {
                        body.row(section, cells);
                    }
                }
                Kind::Item(item) => {
                    let nested = open.is_some_and(|indent| line.indent >= indent + 2);
                    if nested && let Some(last) = body.items.last_mut() {
                        last.text.push(' ');
                        last.text.push_str(item.text);
                        continue;
                    }
                    open = Some(line.indent);
                    body.point(section, item);
                }
                Kind::Plain(text) if open.is_some() && !is_minor(text) => {
                    if let Some(last) =
                        body.items.last_mut().filter(|last| last.text.len() < 4 * LONGEST_BULLET)
                    {
                        last.text.push(' ');
                        last.text.push_str(text);
                    }
                }
                Kind::Plain(text) => {
                    if paragraph && !is_minor(text) {
                        if let Some((_, last)) =
                            body.prose.last_mut().filter(|(_, last)| last.len() < 64 << 10)
                        {
                            last.push('\n');
                            last.push_str(text);
                        }
                    } else {
                        body.prose.push((section, (*text).to_owned()));
                    }
                    (open, paragraph) = (None, true);
                }
            }
        }
        body
    }

    fn point(&mut self, section: Section, item: &Item<'_>) {
        let (mut section, mut text) = (section, item.text);
        // `- Still unresolved: 2: name the test`, `- Minor: a comma`, `- Strengths: clear prose`.
        if let Some((label, rest)) = text.split_once(':')
            && label.chars().count() <= 40
            && !label.contains(['"', '“', '`'])
        {
            let labelled = doubt::section(label);
            if is_minor(text)
                || matches!(labelled, Section::Optional | Section::Praise) && !rest.trim().is_empty()
            {
                section = if labelled == Section::Praise { Section::Praise } else { Section::Optional };
            } else if matches!(labelled, Section::Addressed | Section::Unresolved)
                && citations(label).0.is_empty()
                && !has_digit(label)
            {
                (section, text) = (labelled, rest.trim());
            }
        }
        let tick = match item.tick {
            Tick::None if text.starts_with("~~") => Tick::Done,
            Tick::None => match (lines::closing_tick(text), leading_word(text)) {
                (Tick::None, Tick::None) => lines::tick(value_of(text)).0,
                (Tick::None, tick) | (tick, _) => tick,
            },
            tick => tick,
        };
        self.items.push(Point {
            section,
            tick,
            listed: item.number,
            text: text.to_owned(),
            from_table: false,
        });
    }

    fn row(&mut self, section: Section, cells: &[String]) {
        let tick =
            cells.iter().map(|cell| lines::ticked(cell)).find(|tick| *tick != Tick::None).unwrap_or_default();
        let fails = cells.iter().skip(1).any(|cell| {
            forms::is_one_of(cell.trim(), &["fail", "failed", "no", "unmet", "missing", "rejected"])
                || doubt::is_partial(cell)
                || cell.to_lowercase().starts_with("not ")
        });
        let met = cells.iter().skip(1).any(|cell| doubt::is_met(cell));
        let tick = match (tick, fails, met) {
            (Tick::Open, _, _) | (_, true, _) => Tick::Open,
            (Tick::Done, ..) | (_, _, true) => Tick::Done,
            _ => Tick::None,
        };
        let is_number = |cell: &&String| !cell.chars().all(|c| c.is_ascii_digit() || c == '#' || c == '.');
        let text = cells
            .iter()
            .filter(|cell| !cell.is_empty())
            .filter(is_number)
            .cloned()
            .collect::<Vec<_>>()
            .join(" — ");
        if !text.is_empty() {
            self.items.push(Point { section, tick, listed: None, text, from_table: true });
        }
    }

    /// Is there anything to fix?
    pub fn lists_fixes(&self) -> bool {
        self.items.iter().any(|point| !doubt::says_nothing(&point.text) && point.tick != Tick::Done)
            || self.prose.iter().any(|(section, text)| *section != Section::Praise && !is_preamble(text))
    }

    pub fn approved(self, stated: &str, lines: &[Line<'_>], shown: &Shown) -> Result<StatusReply, Unread> {
        let mut deviations = Vec::new();
        if self.items.len() + self.prose.len() > MOST_WEIGHED {
            return Err(Unread::new(
                "it approves in far more lines than can be weighed: give one or two sentences",
            ));
        }
        let (mut addressed, mut notes, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
        for point in &self.items {
            let text = without_shown_quotes(&point.text, shown);
            let against = match point.section {
                Section::Optional => doubt::is_pressing(&text) || lacks_what_is_asked(&text, shown),
                Section::Praise => doubt::is_pressing(&text),
                _ if shown.has_line(&point.text) && point.tick != Tick::Open => false,
                Section::Addressed => {
                    point.tick == Tick::Open || doubt::item(point.tick, &text) == Weight::Against
                }
                Section::Unresolved | Section::Demands => {
                    !(doubt::says_nothing(&text) || point.tick == Tick::Done || doubt::is_met(&text))
                }
                Section::None if is_minor(&text) => {
                    doubt::is_pressing(&text) || lacks_what_is_asked(&text, shown)
                }
                Section::None => match doubt::item(point.tick, &text) {
                    Weight::Fine => false,
                    Weight::Against => true,
                    // `Sample size: n = 12 per group`, where the rubric speaks of it: what was found.
                    Weight::Unsure => !text.split_once(':').is_some_and(|(label, value)| {
                        !value.trim().is_empty() && shown.mentions(label.trim_matches(['*', '_', '`', ' ']))
                    }),
                },
            };
            if against {
                return Err(Unread::torn(Rule::Demand.sentence(), stated, &point.text));
            }
            let bullet = Bullet::read(point);
            match point.section {
                Section::Optional => notes.push(bullet.whole),
                _ if is_minor(&point.text) => notes.push(bullet.whole),
                _ => {
                    reasons.push(bullet.whole.clone());
                    addressed.push(bullet);
                }
            }
        }
        let mut reason: Vec<String> = Vec::new();
        for said in self.quotes.iter().filter(|said| !shown.has_line(said) && !shown.has_text(said)) {
            if let Some((rule, passage)) = doubt::against(&without_shown_quotes(said, shown), Scope::Prose) {
                return Err(Unread::torn(rule.sentence(), stated, &passage));
            }
        }
        for (section, said) in &self.prose {
            let text = without_shown_quotes(said, shown);
            let minor = is_minor(&text) || *section == Section::Optional;
            if minor {
                if doubt::is_pressing(&text) || lacks_what_is_asked(&text, shown) {
                    return Err(Unread::torn(Rule::Demand.sentence(), stated, said));
                }
                notes.push(one_line(said));
                continue;
            }
            // `<one or two sentences that say why>`: the form, sent back unfilled.
            let unfilled =
                text.trim().starts_with('<') && text.trim().ends_with('>') && !text.contains(['|', '/']);
            if unfilled && text.split_whitespace().count() > 3 {
                return Err(Unread::torn("it repeats the form in place of a reason", stated, said));
            }
            // A heading by itself asks for nothing; what stands below it is weighed.
            let heading = *section == Section::Praise;
            let found = doubt::against(&text, Scope::Prose);
            if let Some((rule, passage)) = found.filter(|(rule, _)| {
                !heading || !matches!(rule, Rule::Demand | Rule::Defect | Rule::Shortfall | Rule::Unclear)
            }) {
                return Err(Unread::torn(rule.sentence(), stated, &passage));
            }
            if *section != Section::Praise {
                reason.push(one_line(said));
            }
        }
        let lines = without_footer(lines);
        let last = lines.iter().rev().find(|line| !line.raw.trim().is_empty()).map_or("", |line| line.raw);
        // Who closed a sentence before leaves the last one open only where it was cut.
        let closed = |text: &str| {
            text.trim_end_matches(['*', '_', '`', '"', '”', ')']).ends_with(['.', '!', '?', '。'])
        };
        let prose = matches!(
            lines.iter().rev().find(|l| !l.raw.trim().is_empty()).map(|l| &l.kind),
            Some(Kind::Plain(_))
        );
        // Who begins sentences with small letters closes none either.
        let casual = last.split(". ").all(|said| said.trim_start().starts_with(|c: char| c.is_lowercase()));
        let open_end = prose
            && !closed(last)
            && !casual
            && last.split_whitespace().count() >= 8
            && (last.contains(". ") || self.prose.iter().any(|(_, said)| closed(said)));
        if last.trim() != stated && (open_end || doubt::is_cut_off(last)) {
            return Err(Unread::torn(Rule::CutOff.sentence(), stated, last));
        }
        if reason.is_empty() {
            reason = reasons;
        }
        if reason.is_empty() && notes.is_empty() {
            deviations.push("an approval without a reason".into());
        }
        let reason: String = one_line(&reason.join(" ")).chars().take(LONGEST_REASON).collect();
        Ok(StatusReply {
            status: Status::Approved,
            open: Vec::new(),
            addressed,
            notes,
            deviations,
            reason,
            lists_open: false,
        })
    }

    pub fn rejected(mut self) -> Result<StatusReply, Unread> {
        let mut deviations: Vec<String> = Vec::new();
        if self.items.iter().any(|point| !point.from_table) {
            self.items.retain(|point| !point.from_table || point.tick != Tick::None);
        }
        // A table of the rubric above a list of fixes says the same twice.
        let is_open = |p: &&Point| p.tick != Tick::Done && !doubt::is_met(&p.text);
        let in_list = self.items.iter().filter(|p| !p.from_table).filter(is_open).count();
        let in_table = self.items.iter().filter(|p| p.from_table && p.tick == Tick::Open).count();
        if in_list >= in_table && in_list > 0 {
            self.items.retain(|p| !p.from_table || p.tick != Tick::Open);
        }
        let listed =
            self.items.iter().any(|p| p.section == Section::Unresolved && !doubt::says_nothing(&p.text));
        let (mut open, mut addressed, mut notes) = (Vec::<Bullet>::new(), Vec::new(), Vec::new());
        let mut known: BTreeSet<String> = BTreeSet::new();
        // Who ticks off a numbered list counts the items of before, also where there is no tick.
        let counted = self.items.iter().any(|p| {
            p.listed.is_some()
                && (p.tick != Tick::None || says_done(value_of(&p.text)) || doubt::is_met(&p.text))
        });
        for point in &self.items {
            let mut bullet = Bullet::read(point);
            if counted && bullet.cites.is_empty() {
                bullet.cites.extend(point.listed);
            }
            if doubt::says_nothing(&bullet.whole) {
                continue;
            }
            match standing(point, &bullet, listed) {
                Standing::Open => {
                    if known.insert(bullet.whole.clone()) {
                        open.push(bullet);
                    }
                }
                Standing::Addressed => addressed.push(bullet),
                Standing::Note => notes.push(bullet.whole),
            }
        }
        let spoken = self.items.iter().any(|p| p.section != Section::Praise);
        for (section, text) in &self.prose {
            if is_minor(text) || *section == Section::Optional {
                notes.push(one_line(text));
            }
        }
        if open.is_empty() && !spoken {
            // No list at all: what is said in paragraphs is what has to be done.
            let paragraphs = self.prose.iter().filter(|(section, text)| {
                !matches!(section, Section::Praise | Section::Optional)
                    && !is_minor(text)
                    && !is_preamble(text)
            });
            for (section, text) in paragraphs {
                let whole = || vec![(Tick::None, text.as_str())];
                for (tick, text) in walked(text).unwrap_or_else(whole) {
                    if tick == Tick::Done {
                        continue;
                    }
                    let (text, section) = (text.to_owned(), *section);
                    let bullet =
                        Bullet::read(&Point { section, tick, listed: None, text, from_table: false });
                    if open.iter().all(|known| known.whole != bullet.whole) {
                        open.push(bullet);
                    }
                }
            }
            deviations.push("fixes in sentences, not in a list".into());
        }
        if open.is_empty() {
            // A rejection that calls everything a suggestion still means something by it.
            let suggested =
                self.items.iter().filter(|p| p.section == Section::Optional && !is_minor(&p.text));
            open = suggested.map(Bullet::read).filter(|b| !doubt::says_nothing(&b.whole)).collect();
            notes.retain(|note| open.iter().all(|bullet| bullet.whole != *note));
        }
        if open.is_empty() {
            return Err(Unread::new(
                "it rejects and lists nothing to fix: each fix is a line that begins with `- `",
            ));
        }
        if open.len() > MOST_BULLETS {
            deviations.push(format!("{} open bullets; the first {MOST_BULLETS} are read", open.len()));
            open.truncate(MOST_BULLETS);
        }
        Ok(StatusReply {
            status: Status::Rejected,
            open,
            addressed,
            notes,
            deviations,
            reason: String::new(),
            lists_open: listed,
        })
    }
}

/// `PASS: length`, `FAIL — the test`: a word that stands for a tick.
fn leading_word(text: &str) -> Tick {
    let plain = text.trim_start_matches(['*', '_', '[', '(']);
    let end = plain.find(|c: char| !c.is_alphabetic()).unwrap_or(plain.len());
    let (word, rest) = plain.split_at(end);
    let set_off = rest.trim_start_matches(['*', '_', ']', ')', ' ']).starts_with([':', '—', '–', '-']);
    match word {
        _ if !set_off => Tick::None,
        "PASS" | "PASSED" | "MET" | "OK" | "Pass" | "Passed" | "Met" => Tick::Done,
        "FAIL" | "FAILED" | "UNMET" | "Fail" | "Failed" | "Unmet" => Tick::Open,
        _ => Tick::None,
    }
}

/// What stands behind the first label.
fn value_of(text: &str) -> &str {
    let marks = [": ", " – ", " — ", " → "];
    marks
        .iter()
        .filter_map(|mark| text.find(mark).map(|at| &text[at + mark.len()..]))
        .max_by_key(|rest| rest.len())
        .unwrap_or("")
}

/// The lines of a paragraph, if they go through criteria one by one: `Criterion 1 (…): FAIL — …`.
fn walked(paragraph: &str) -> Option<Vec<(Tick, &str)>> {
    let judged = |line: &str| {
        let value = value_of(line);
        let first = value.split(|c: char| !c.is_alphabetic()).find(|w| !w.is_empty()).unwrap_or_default();
        if forms::is_one_of(first, &["pass", "passed", "met", "yes", "ok", "satisfied"]) {
            Tick::Done
        } else if forms::is_one_of(
            first,
            &["fail", "failed", "unmet", "no", "not", "missing", "partial", "partially"],
        ) {
            Tick::Open
        } else {
            lines::tick(value).0
        }
    };
    let lines: Vec<(Tick, &str)> = paragraph.lines().map(|line| (judged(line), line.trim())).collect();
    (lines.len() >= 2 && lines.iter().filter(|(tick, _)| *tick != Tick::None).count() >= 2).then_some(lines)
}

enum Standing {
    Open,
    Addressed,
    Note,
}

/// What a point of a rejection is: by its tick, its words or its heading.
fn standing(point: &Point, bullet: &Bullet, listed: bool) -> Standing {
    if point.tick == Tick::Open {
        return Standing::Open;
    }
    if point.tick == Tick::Done {
        return Standing::Addressed;
    }
    let done = says_done(&bullet.text) || doubt::is_met(&point.text);
    match point.section {
        Section::Unresolved => Standing::Open,
        Section::Addressed => Standing::Addressed,
        Section::Praise | Section::Optional => Standing::Note,
        _ if is_minor(&point.text) => Standing::Note,
        _ if done => Standing::Addressed,
        Section::None if listed => Standing::Note,
        Section::Demands | Section::None => Standing::Open,
    }
}

/// `addressed, n = 12`, `resolved`, `now stated`: and not `not addressed`.
fn says_done(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).take(6).collect();
    let denied = [
        "not",
        "still",
        "partially",
        "partly",
        "no",
        "un",
        "never",
        "missing",
        "unresolved",
        "unaddressed",
        "open",
    ];
    if words.iter().any(|word| denied.contains(word)) {
        return false;
    }
    let first = words.iter().take(4).any(|word| {
        [
            "addressed",
            "resolved",
            "fixed",
            "done",
            "corrected",
            "implemented",
            "satisfied",
            "completed",
            "erledigt",
            "behoben",
            "résolu",
            "corrigé",
            "resuelto",
            "corregido",
            "已解决",
            "対応済み",
        ]
        .contains(word)
    });
    first && doubt::against(text, Scope::Prose).is_none()
}

pub(super) fn is_minor(text: &str) -> bool {
    let plain = text.trim_start_matches(['*', '_', '(', ' ']);
    let lower: String = plain.chars().take(24).flat_map(char::to_lowercase).collect();
    [
        "minor:",
        "minor (",
        "minor -",
        "minor —",
        "optional:",
        "nit:",
        "nitpick:",
        "suggestion:",
        "non-blocking",
        "minor**:",
        "optional**:",
        "minor:**",
    ]
    .iter()
    .any(|lead| lower.starts_with(lead))
}

pub(super) fn is_preamble(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let begins = [
        "here is",
        "here are",
        "below",
        "okay",
        "ok,",
        "sure",
        "let me",
        "i have compared",
        "i have reviewed",
        "i reviewed",
        "i compared",
        "thank",
        "after reviewing",
        "my review",
        "assistant",
        "critic",
    ];
    let asks = doubt::against(&lower, Scope::Prose).is_some();
    (begins.iter().any(|b| lower.starts_with(b)) && !asks) || lower.split_whitespace().count() < 2
}

/// The lines up to what a tool prints of itself below a reply: `tokens: 812 in / 64 out · $0.003`.
fn without_footer<'l, 't>(lines: &'l [Line<'t>]) -> &'l [Line<'t>] {
    let is_footer = |line: &Line<'_>| {
        let lower = line.raw.to_lowercase();
        let names = ["token", "cost", "session", "duration", "elapsed", "latency", "usage"];
        lower.contains(|c: char| c.is_ascii_digit())
            && lower.len() < 200
            && names.iter().any(|name| lower.contains(name))
            && (lower.contains(['·', '|', '$']) || lower.starts_with('[') || lower.starts_with("token"))
    };
    let end = lines.iter().rposition(|line| !line.raw.trim().is_empty()).unwrap_or(0);
    match lines.get(end) {
        Some(line) if is_footer(line) => {
            let above = &lines[..end];
            let rule = |line: &Line<'_>| line.kind == Kind::Rule || line.raw.trim().is_empty();
            &above[..above.iter().rposition(|line| !rule(line)).map_or(0, |at| at + 1)]
        }
        _ => lines,
    }
}

/// Does a remark that is called small say that something is not there which the brief speaks of: `Minor: the statistical test
/// is not named`?
fn lacks_what_is_asked(text: &str, shown: &Shown) -> bool {
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .take(40)
        .collect();
    let carries =
        |word: &str| word.len() >= 3 && !forms::is_one_of(word, &["the", "and", "was", "are", "not"]);
    doubt::says_it_lacks(text)
        && words.windows(2).any(|pair| {
            pair.iter().all(|word| carries(word)) && shown.mentions(&format!("{} {}", pair[0], pair[1]))
        })
}

/// Does a heading say something, rather than name what follows?
fn is_sentence(heading: &str) -> bool {
    let words: Vec<String> = heading
        .split(|c: char| !(c.is_alphanumeric() || c == '\''))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let asks =
        words.first().is_some_and(|w| ["what", "how", "why", "where", "which", "who"].contains(&w.as_str()));
    let verbs = [
        "is", "are", "was", "were", "must", "should", "needs", "has", "have", "does", "do", "cannot",
        "lacks", "fails",
    ];
    words.len() >= 4 && !asks && words.iter().any(|word| verbs.contains(&word.as_str()))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

/// The text without passages between quotation marks that stand in the work: they are the work's words.
fn without_shown_quotes(text: &str, shown: &Shown) -> String {
    let mut kept = text.to_owned();
    for passage in quote::all(text) {
        if passage.len() >= 2 && shown.has_text(passage) {
            kept = kept.replacen(passage, "…", 1);
        }
    }
    kept
}
