//! The phrases a reply is made of: verdict words, what follows an arrow or a label, options.

use super::LONGEST;
use super::line::{ARROWS, strip_arrow, undressed};
use crate::protocol::converge::escalation::EscalationChoice;
use crate::reading::forms::{DEFERRING, PASSING, STAND_IN, is_one_of};

/// What stands where something should have been said: the words of the form itself, or nothing.
const EMPTY_WORDS: [&str; 13] = [
    "",
    "none",
    "n a",
    "na",
    "nil",
    "tbd",
    "todo",
    "fix",
    "the fix",
    "fix description",
    "reason",
    "the reason",
    "scenario",
];

/// What a verdict line says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    Pass,
    Fail,
    Escalate,
    Defer,
}

/// What is read as a verdict. The words that leave a criterion clean are those of the closed table.
const WORDS: [(&[&str], Word); 4] = [
    (PASSING, Word::Pass),
    (
        &[
            "fail",
            "failed",
            "fails",
            "failing",
            "does not pass",
            "not pass",
            "not passed",
            "no pass",
            "not met",
        ],
        Word::Fail,
    ),
    (&["escalate", "escalated", "escalation"], Word::Escalate),
    (DEFERRING, Word::Defer),
];

/// A clean verdict word.
const fn is_clean(word: Word) -> bool {
    matches!(word, Word::Pass | Word::Defer)
}

/// One line, without control characters, not longer than is kept.
pub(super) fn clean(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let one_line = crate::brief::one_line(&visible);
    if one_line.len() <= LONGEST { one_line } else { one_line.chars().take(LONGEST).collect() }
}

pub(super) fn says_nothing(text: &str) -> bool {
    let folded = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).take(8);
    let folded = folded.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    EMPTY_WORDS.contains(&folded.as_str())
}

/// What follows `{question} →`. The question's own numbers must not count as the answer's.
pub(super) fn answer_part<'a>(said: &'a str, question: &str) -> &'a str {
    if let Some(rest) = after_words(said, question) {
        let rest = separated(rest);
        return strip_arrow(rest).unwrap_or(rest);
    }
    let arrow = ARROWS.iter().filter_map(|arrow| Some((said.find(arrow)?, arrow.len()))).min();
    if let Some((at, length)) = arrow {
        return &said[at + length..];
    }
    // Without an arrow the question ends where question marks end.
    said.split_once('?').map_or(said, |(_, rest)| rest)
}

/// The question, in English, that an answer begins with.
pub(super) fn repeated(said: &str) -> Option<&str> {
    let question = &said[..=said.find('?')?];
    let heads = ["does", "do", "is", "are", "has", "have", "can", "will", "was", "were"];
    let first = question.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty())?;
    is_one_of(first, &heads).then_some(question)
}

/// The text after these words, whatever stands between them.
fn after_words<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let mut rest = text;
    for word in words.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let head = rest.get(..word.len())?;
        if head.to_lowercase() != word.to_lowercase() {
            return None;
        }
        rest = &rest[word.len()..];
    }
    let ends = !rest.starts_with(char::is_alphanumeric);
    (ends && rest.len() < text.len()).then_some(rest.trim_start_matches(['?', '"', '”', '*', '_', '`']))
}

/// The verdict word a line begins with, if it is one and only one, and the text after it.
pub(super) fn word(line: &str) -> Option<(Word, &str)> {
    let text = undressed(line).trim_start_matches(['[', '(', '"']);
    if line.lines().next().is_some_and(|first| first.contains(STAND_IN)) {
        return None;
    }
    let (word, rest) = WORDS.iter().find_map(|(names, word)| {
        // Longer names first: PASSED is no PASS with an ending.
        names.iter().rev().find_map(|name| Some((*word, strip_either(text, &[name])?)))
    })?;
    let rest = rest.strip_prefix([']', '"']).unwrap_or(rest);
    let first = rest.lines().next().unwrap_or_default();
    (!names_another(first, word, is_clean(word))).then_some((word, rest))
}

/// `3 of 3 — Verdict: PASS`: a verdict with its label inside an answer's line.
pub(super) fn inline_verdict(said: &str) -> Option<(&str, &str)> {
    let lower = said.to_ascii_lowercase();
    let at = lower.rfind("verdict")?;
    // Set off from what stands before: `the draft says Verdict: PASS` is no verdict.
    let before = said[..at].trim_end_matches(['*', '_', '`', ' ']);
    if !(before.is_empty() || before.ends_with(['.', ';', '—', '–', '-', '→', '|', '(', '>', ',']))
        || said[..at].ends_with('`')
    {
        return None;
    }
    let label = said[at + "verdict".len()..].trim_start_matches(['*', '_', '`', ' ']);
    let tail = label.strip_prefix([':', '=', '—', '–', '→', '-'])?.trim_start_matches(['*', '_', '`', ' ']);
    word(tail)?;
    let head = said[..at].trim_end_matches(|c: char| {
        c.is_whitespace() || matches!(c, '*' | '_' | '`' | '—' | '–' | '-' | '→' | '(' | '|' | ';' | ',')
    });
    Some((head, tail))
}

/// `PASS (3 of 3 steps)`, `FAIL: 2 of 3`: an answer that begins with its verdict.
pub(super) fn leading_verdict(said: &str) -> Option<(&str, &str)> {
    let first = said.lines().next().unwrap_or_default();
    let (_, rest) = word(first)?;
    let text = undressed(first);
    let shouted = text
        .split(|c: char| !c.is_alphabetic())
        .find(|w| !w.is_empty())
        .is_some_and(|w| w.chars().all(char::is_uppercase));
    let set_off = rest.trim().is_empty()
        || rest.trim_start().starts_with(['(', ':', '—', '–', '-', '.', '*', ',', ';']);
    (shouted || set_off).then_some(("", said))
}

/// `3 of 3 steps have a task → PASS`, or a line of its own that begins with the word.
pub(super) fn trailing_verdict(said: &str) -> Option<(&str, &str)> {
    if let Some(at) = said.rfind('\n')
        && word(&said[at + 1..]).is_some()
    {
        return Some((&said[..at], &said[at + 1..]));
    }
    let (last, offset) = said.rfind('\n').map_or((said, 0), |at| (&said[at + 1..], at + 1));
    let marks = ["→", "->", "=>", "—", "–", ". **", ". "];
    let (at, length) = marks.iter().filter_map(|mark| last.rfind(mark).map(|at| (at, mark.len()))).max()?;
    let tail = last[at + length..].trim();
    let (_, rest) = word(tail)?;
    let closed = rest.trim().is_empty() || rest.trim_start().starts_with(['(', '.', ':', '—', '–']);
    closed.then(|| (said[..offset + at].trim_end(), tail))
}

/// Does the rest of a verdict line, outside brackets, offer another verdict? Beside one that would leave
/// the criterion clean, another word in capitals is enough.
fn names_another(rest: &str, word: Word, strictly: bool) -> bool {
    let mut depth = 0u32;
    let mut offered = false;
    for piece in rest.split_inclusive(|c: char| !c.is_alphanumeric()) {
        let name = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        let other = WORDS.iter().any(|(names, kind)| {
            let capitals = !name.is_empty() && name.chars().all(char::is_uppercase);
            *kind != word && is_one_of(name, names) && (offered || (strictly && capitals))
        });
        if other && depth == 0 {
            return true;
        }
        if !name.is_empty() {
            offered = false;
        }
        match piece.chars().last() {
            Some('(') => depth += 1,
            Some(')') => depth = depth.saturating_sub(1),
            Some('|' | '/' | '→') => offered = true,
            _ => {}
        }
    }
    false
}

/// The text after one of these words, in any case, tolerating emphasis; none if the word goes on, or is
/// put as a question or a choice.
pub(super) fn strip_either<'a>(text: &'a str, words: &[&str]) -> Option<&'a str> {
    let text = text.trim_start_matches(['*', '_', '`', ' ']);
    words.iter().find_map(|word| {
        let head = text.get(..word.len())?;
        let rest = &text[word.len()..];
        let mut after = rest.chars();
        let goes_on = match after.next() {
            Some(c) if c.is_alphanumeric() => true,
            Some('?' | '/' | '|') => true,
            Some('-' | '_') => after.next().is_some_and(char::is_alphanumeric),
            _ => false,
        };
        (head.eq_ignore_ascii_case(word) && !goes_on).then(|| rest.trim_start_matches(['*', '_', '`']))
    })
}

/// Without the marks that set it off from what stands before.
pub(super) fn separated(text: &str) -> &str {
    let mut rest = text;
    loop {
        let bare = rest.trim_start_matches(|c: char| c.is_whitespace() || ".,:;—–-+*_".contains(c));
        let next = strip_arrow(bare).unwrap_or(bare);
        if next.len() == rest.len() {
            return rest;
        }
        rest = next;
    }
}

/// `(the fix)` or `: the fix`, as one line.
pub(super) fn out_of_brackets(text: &str) -> String {
    let text = clean(separated(text));
    match text.strip_prefix('(') {
        Some(inner) => match inner.strip_suffix(')').or_else(|| inner.strip_suffix(").")) {
            Some(inside) => inside.trim().to_owned(),
            None => inner.replacen(')', "", 1).trim().to_owned(),
        },
        None => text,
    }
}

/// `FAIL + fix: …`
pub(super) fn fix_after_fail(rest: &str) -> String {
    let text = out_of_brackets(rest);
    let body = strip_label(&text, "fix").map_or(text.as_str(), separated);
    clean(body)
}

/// The text after `label:`; the label's own emphasis is tolerated.
pub(super) fn strip_label<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '`'));
    let head = text.get(..label.len()).filter(|head| head.eq_ignore_ascii_case(label))?;
    let rest = text[head.len()..].trim_start_matches(['*', '_', '`', ' ']);
    Some(rest.strip_prefix([':', '：'])?.trim_start_matches(['*', '_', '`']).trim_start())
}

/// `scenario → Realistic? N → …` on one line.
pub(super) fn inline_answer(said: &str) -> Option<(&str, &str)> {
    inline_answers(said).into_iter().next()
}

/// Every such scenario: each ends where the next line's begins.
pub(super) fn inline_answers(said: &str) -> Vec<(&str, &str)> {
    let lower = said.to_ascii_lowercase();
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, word) in lower.match_indices("realistic?") {
        let before = said[..at].trim_end_matches(['*', '_', '`', ' ']);
        let arrow = ARROWS.iter().find_map(|arrow| before.strip_suffix(arrow));
        let stopped = || before.ends_with(['.', ';', '—', '–', '|', ')']).then_some(before);
        if let Some(scenario) = arrow.or_else(stopped) {
            found.push((scenario.len(), at + word.len()));
        }
    }
    // A scenario begins on the line that it ends on, or behind the answer of the one before.
    let mut answers = Vec::new();
    for (n, (scenario, answer)) in found.iter().enumerate() {
        let floor = n.checked_sub(1).and_then(|n| found.get(n)).map_or(0, |(_, answer)| *answer);
        let starts =
            if n == 0 { 0 } else { said[floor..*scenario].rfind('\n').map_or(floor, |at| floor + at + 1) };
        let ends = found.get(n + 1).map_or(said.len(), |(next, _)| {
            said[*answer..*next].rfind('\n').map_or(*next, |at| *answer + at)
        });
        answers.push((&said[starts..*scenario], said[*answer..ends].trim_end()));
    }
    answers
}

pub(super) fn is_skip(option: &str) -> bool {
    let text = option.trim_start_matches(['*', '_', '`', ' ']);
    let skips = text.get(..4).is_some_and(|head| head.eq_ignore_ascii_case("skip"));
    skips && option.to_ascii_uppercase().contains("[DEFERRED]")
}

/// `label — says Pro: … Con: …`
pub(super) fn choice(text: &str) -> EscalationChoice {
    let pro = find_side(text, "pro");
    let con = find_side(text, "con");
    let head = [pro, con].iter().flatten().map(|(start, _)| *start).min().map_or(text, |at| &text[..at]);
    let side = |side: Option<(usize, usize)>, other: Option<(usize, usize)>| {
        let Some((_, from)) = side else { return String::new() };
        let to = other.map(|(start, _)| start).filter(|start| *start >= from).unwrap_or(text.len());
        let body = text[from..to].trim_matches(|c: char| c.is_whitespace() || "*_`|;-—".contains(c));
        if says_nothing(body) { String::new() } else { body.to_owned() }
    };
    let head = head.trim_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '-' | '('));
    let split = [" — ", " – ", " - ", ": "].iter().find_map(|mark| head.split_once(mark));
    let (label, says) = split.unwrap_or((head, ""));
    let label = label.trim_matches(['*', '_', ' ']).to_owned();
    EscalationChoice { label, says: says.trim().to_owned(), pro: side(pro, con), con: side(con, pro) }
}

/// Where `Pro:` or `Pros:` begins and where its text does.
fn find_side(text: &str, side: &str) -> Option<(usize, usize)> {
    let lower = text.to_ascii_lowercase();
    let mut from = 0;
    while let Some(found) = lower.get(from..)?.find(side) {
        let start = from + found;
        let after = start + side.len();
        let begins = !lower[..start].ends_with(char::is_alphanumeric);
        let rest = &lower[after..];
        let rest = rest.strip_prefix('s').unwrap_or(rest).trim_start_matches(['*', '_', '`']);
        if begins && rest.starts_with(':') {
            return Some((start, text.len() - rest.len() + 1));
        }
        from = after;
    }
    None
}
