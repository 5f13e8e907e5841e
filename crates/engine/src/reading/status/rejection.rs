//! What a rejection asks for: the points of its lists and tables that are open, or else its paragraphs.

use std::collections::BTreeSet;

use super::body::{Body, Point, is_minor, is_preamble, value_of};
use super::{Bullet, Status, StatusReply};
use crate::brief::one_line;
use crate::reading::Unread;
use crate::reading::doubt::{self, Scope, Section};
use crate::reading::forms;
use crate::reading::lines::{self, Tick};

/// The longest list that is read; what follows is noted.
pub(super) const MOST_BULLETS: usize = 100;

impl Body {
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
        // So does a list of criteria above the verdict.
        let open_where = |above: bool| {
            self.items.iter().filter(|p| !p.from_table && p.above == above).filter(is_open).count()
        };
        if open_where(false) > 0 && open_where(false) >= open_where(true) {
            self.items.retain(|p| !p.above || !is_open(&p));
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
                    && !doubt::is_met(text)
            });
            for (section, text) in paragraphs {
                if announces(text) && self.prose.len() > 1 {
                    continue;
                }
                let whole = || vec![(Tick::None, text.as_str())];
                let parts = walked(text).or_else(|| ordered(text)).or_else(|| added(text));
                for (tick, text) in parts.unwrap_or_else(whole) {
                    if tick == Tick::Done {
                        continue;
                    }
                    let (text, section) = (text.to_owned(), *section);
                    let bullet = Bullet::read(&Point {
                        section,
                        tick,
                        listed: None,
                        text,
                        from_table: false,
                        above: false,
                    });
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

/// `The draft needs two changes.`: what follows is counted, and nothing else is said.
fn announces(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is = |word: &str, of: &[&str]| of.contains(&word);
    words.len() <= 12
        && words.windows(2).any(|pair| {
            is(&pair[0], &["one", "two", "three", "four", "five", "several", "following", "these", "few"])
                && is(
                    &pair[1],
                    &[
                        "changes", "things", "issues", "problems", "points", "fixes", "reasons", "criteria",
                        "items",
                    ],
                )
        })
        && !text.trim_end_matches(['.', ':', ' ']).contains(['.', ':', ';'])
}

/// The parts of a paragraph that counts them: `First, … Second, …`, `(1) …, and (2) …`.
fn ordered(paragraph: &str) -> Option<Vec<(Tick, &str)>> {
    const HEADS: [&str; 16] = [
        "First,",
        "Firstly,",
        "Second,",
        "Secondly,",
        "Third,",
        "Thirdly,",
        "Finally,",
        "Fourth,",
        "Lastly,",
        "First:",
        "(1) ",
        "(2) ",
        "(3) ",
        "(4) ",
        "(5) ",
        "(6) ",
    ];
    let mut starts: Vec<usize> =
        HEADS.iter().flat_map(|head| paragraph.match_indices(head).map(|(at, _)| at)).collect();
    starts.retain(|at| *at == 0 || paragraph[..*at].ends_with([' ', '\n']));
    starts.sort_unstable();
    let first = *starts.first().filter(|_| starts.len() >= 2)?;
    let before = paragraph[..first].trim();
    if !(before.is_empty() || announces(before) || is_preamble(before)) {
        return None;
    }
    let ends = starts.iter().skip(1).copied().chain([paragraph.len()]);
    let part = |from: usize, to: usize| {
        let part = paragraph[from..to].trim();
        let part = part.strip_suffix(" and").unwrap_or(part).trim_end_matches([',', ';']);
        (Tick::None, part)
    };
    Some(starts.iter().zip(ends).map(|(from, to)| part(*from, to)).collect())
}

/// The sentences of a paragraph that add another lack to the first: `… is not stated. It also names no test.`
fn added(paragraph: &str) -> Option<Vec<(Tick, &str)>> {
    let mut starts = vec![0];
    let mut at = 0;
    for sentence in doubt::sentences(paragraph) {
        if at > 0 && adds(sentence) {
            starts.push(at);
        }
        at += sentence.len();
    }
    let ends = starts.iter().skip(1).copied().chain([paragraph.len()]);
    let parts: Vec<_> =
        starts.iter().zip(ends).map(|(from, to)| (Tick::None, paragraph[*from..to].trim())).collect();
    (parts.len() >= 2 && doubt::against(parts[0].1, Scope::Prose).is_some()).then_some(parts)
}

/// Does a sentence begin a further point, and hold something against the work?
fn adds(sentence: &str) -> bool {
    let lower = sentence.trim_start().to_lowercase();
    let also = lower.split_whitespace().take(5).any(|word| word.trim_end_matches(',') == "also");
    let heads = [
        "additionally",
        "in addition",
        "furthermore",
        "moreover",
        "nor ",
        "besides",
        "further,",
        "second",
        "another ",
    ];
    (also || heads.iter().any(|head| lower.starts_with(head)))
        && doubt::against(sentence, Scope::Prose).is_some()
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
