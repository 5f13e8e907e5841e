//! What a verdict on a draft says beside its status: the points of its lists and tables with the headings they stand under,
//! and its paragraphs. They are weighed as the reasons of an approval (`approval`), or as the fixes of a rejection.

use super::bullet::citations;
use crate::reading::doubt::{self, Scope, Section};
use crate::reading::forms::{self, Statement};
use crate::reading::lines::{self, Item, Kind, Line, Tick};

/// The longest bullet, in characters.
pub(super) const LONGEST_BULLET: usize = 2_000;
/// Heads of a column that tells how it was.
const BEFORE: [&str; 9] =
    ["before", "previous", "previously", "was", "old", "earlier", "round 1", "iteration 1", "first draft"];
/// One point with where it stands.
#[derive(Clone, Debug)]
pub(super) struct Point {
    pub section: Section,
    pub tick: Tick,
    pub listed: Option<u32>,
    pub text: String,
    pub from_table: bool,
    /// It stands above the verdict, where criteria are gone through.
    pub above: bool,
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
        let verdict = stated.iter().map(|(at, _)| *at).max();
        let mut section = Section::None;
        let mut open: Option<usize> = None;
        let mut paragraph = false;
        let mut header = true;
        let mut before = None;
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
                    if section != Section::Optional || doubt::is_pressing(text) {
                        body.prose.push((said, (*text).to_owned()));
                    }
                }
                Kind::Row(cells) => {
                    let is_header = header && lines.get(at + 1).is_some_and(|next| next.kind == Kind::Rule);
                    header = false;
                    if is_header {
                        before = cells.iter().position(|cell| forms::is_one_of(cell, &BEFORE));
                    } else {
                        let now = cells.iter().enumerate().filter(|(n, _)| before != Some(*n));
                        body.row(section, &now.map(|(_, cell)| cell.clone()).collect::<Vec<_>>());
                    }
                }
                Kind::Item(item) => {
                    let nested = open.is_some_and(|indent| line.indent >= indent + 2);
                    // `- Issue: …`, `- Fix: …`: two halves of one point.
                    let half = open.is_some()
                        && body.items.last().is_some_and(|last| is_other_half(&last.text, item.text));
                    if (nested || half)
                        && let Some(last) = body.items.last_mut()
                    {
                        last.text.push(' ');
                        last.text.push_str(item.text);
                        continue;
                    }
                    open = Some(line.indent);
                    body.point(section, item);
                    if let Some(point) = body.items.last_mut() {
                        point.above = verdict.is_some_and(|verdict| at < verdict);
                    }
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
            above: false,
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
            self.items.push(Point { section, tick, listed: None, text, from_table: true, above: false });
        }
    }

    /// Is there anything to fix?
    pub fn lists_fixes(&self) -> bool {
        self.items.iter().any(|point| !doubt::says_nothing(&point.text) && point.tick != Tick::Done)
            || self.prose.iter().any(|(section, text)| *section != Section::Praise && !is_preamble(text))
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
pub(super) fn value_of(text: &str) -> &str {
    let marks = [": ", " – ", " — ", " → "];
    marks
        .iter()
        .filter_map(|mark| text.find(mark).map(|at| &text[at + mark.len()..]))
        .max_by_key(|rest| rest.len())
        .unwrap_or("")
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
    // `I added the missing details myself:`
    let own = words.first().is_some_and(|w| ["i", "we"].contains(&w.as_str()));
    words.len() >= 4 && !asks && (own || words.iter().any(|word| verbs.contains(&word.as_str())))
}

/// Labels of the parts of a point: what is wrong, where, and what to do.
const PROBLEMS: [&str; 8] =
    ["issue", "problem", "what", "finding", "why", "observation", "current", "concern"];
const PLACES: [&str; 10] =
    ["passage", "quote", "where", "location", "place", "text", "evidence", "line", "severity", "impact"];
const REMEDIES: [&str; 9] = [
    "fix",
    "suggestion",
    "action",
    "recommendation",
    "remedy",
    "required change",
    "required fix",
    "solution",
    "change",
];

/// Does an item go on with the point before it: `Issue: …`, then `Fix: …`? A label that stands there already begins a new one.
fn is_other_half(last: &str, next: &str) -> bool {
    let begun = label(last).is_some_and(|label| PROBLEMS.contains(&label.as_str()));
    begun
        && label(next).is_some_and(|label| {
            let known = PLACES.contains(&label.as_str()) || REMEDIES.contains(&label.as_str());
            known && !last.to_lowercase().contains(&format!("{label}:"))
        })
}

/// The label that something is said of, in small letters.
fn label(text: &str) -> Option<String> {
    let (label, rest) = text.split_once(':')?;
    (!rest.trim().is_empty()).then(|| label.trim_matches(['*', '_', ' ']).to_lowercase())
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}
