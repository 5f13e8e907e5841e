//! What an item of a list says under an approval: that something is in order, that something is asked for, or neither plainly.

use super::{Scope, against, without_praise};
use crate::reading::forms::{CLEARING, PASSING, SATISFYING, is_one_of};
use crate::reading::lines::{self, Tick};
use crate::reading::quote;

/// What an item of a list under an approval is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// It says that something is in order.
    Fine,
    /// It asks for something, or says that something is wrong.
    Against,
    /// Neither is plain.
    Unsure,
}

/// Words that begin an instruction.
const IMPERATIVES: &[&str] = &[
    "add", "state", "name", "give", "fix", "remove", "replace", "clarify", "rewrite", "shorten", "define",
    "include", "specify", "mention", "correct", "change", "provide", "explain", "report", "make", "use",
    "put", "move", "delete", "cut", "check", "update", "describe", "avoid", "write", "cite", "revise",
    "address", "ensure", "expand", "rephrase", "reword", "drop", "split", "merge", "rename", "restore",
    "bring", "insert", "quote", "show", "test", "handle", "tighten", "simplify", "please", "present",
    "complete", "clean", "swap", "fill", "trim", "justify", "quantify", "resolve", "cover", "state",
    "consider",
];
/// Words that begin a plaint.
const PLAINTS: &[&str] = &["need", "needs", "missing", "no", "not", "lacks", "without", "unclear"];

/// `State the sample size`, `Add a figure`: a sentence that begins with what is to be done.
pub(super) fn is_instruction(sentence: &str) -> bool {
    const AFTER: [&str; 18] = [
        "the", "a", "an", "each", "your", "both", "all", "how", "why", "what", "whether", "which", "this",
        "that", "these", "more", "it", "them",
    ];
    let body = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let mut words = body.split(' ');
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let quotes = second.starts_with(['"', '“', '„', '«', '`']);
    let second = second.trim_matches(|c: char| !c.is_alphanumeric());
    is_one_of(first, IMPERATIVES) && (quotes || is_one_of(second, &AFTER))
}

/// Does an item begin with an instruction or with what is lacking? `Test — named` begins with neither.
pub(super) fn begins_with_a_demand(text: &str) -> bool {
    let body = text.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = body.find(|c: char| !(c.is_alphanumeric() || c == '\'')).unwrap_or(body.len());
    let (first, rest) = body.split_at(end);
    let goes_on = rest.strip_prefix(' ').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '“' | '`' | '('))
    });
    // `Test: two-sided t-test` and `Use of units` name something.
    let noun = is_one_of(
        first,
        &[
            "test", "report", "name", "state", "cover", "use", "check", "quote", "show", "cut", "address",
            "change",
        ],
    );
    let named = noun && (rest.starts_with(':') || rest.starts_with(" of ") || rest.starts_with(" ("));
    is_one_of(first, PLAINTS)
        || is_one_of(first, IMPERATIVES)
            && !named
            && (goes_on || rest.trim().is_empty() || rest.starts_with(':'))
}

/// Words that ask for another measure of something: `Title: shorter`.
const COMPARATIVES: &[&str] = &[
    "shorter", "longer", "clearer", "more", "less", "better", "fewer", "larger", "smaller", "too",
    "stronger", "simpler",
];

/// Words that fill a value and say that it is not met: `Sample size: partial`.
const SHORT: &[&str] = &[
    "partial",
    "partially",
    "partly",
    "absent",
    "unspecified",
    "unclear",
    "only",
    "fail",
    "failed",
    "unmet",
    "no",
    "false",
    "weak",
    "insufficient",
    "vague",
    "open",
    "pending",
    "todo",
    "tbd",
    "unknown",
    "none",
];

/// Does a value say that something is met in part or not at all? `0/1`, `partial`.
pub fn is_partial(text: &str) -> bool {
    let labelled = [": ", " — ", " – ", " - ", " → "].iter().find_map(|mark| text.rsplit_once(mark));
    let value = labelled.map_or(text, |(_, value)| value).trim_matches(['*', '_', '`', '.', ' ', '"', '“']);
    let first = value.split(|c: char| !c.is_alphanumeric()).find(|w| !w.is_empty()).unwrap_or_default();
    let of = value
        .split_once('/')
        .and_then(|(some, all)| Some((some.trim().parse::<u32>().ok()?, all.trim().parse::<u32>().ok()?)));
    labelled.is_some() && is_one_of(first, SHORT) && !says_nothing(value)
        || labelled.is_none() && is_one_of(value, SHORT) && !says_nothing(value)
        || of.is_some_and(|(some, all)| some < all)
}

/// Is the value behind a label, or the whole, a word that says it is met?
pub fn is_met(text: &str) -> bool {
    let mut plain: String = text.chars().filter(|c| !matches!(c, '*' | '_')).collect();
    for quoted in quote::all(text) {
        plain = plain.replacen(quoted, "…", 1);
    }
    let bracketed = plain.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    let labelled = bracketed
        .or_else(|| [": ", " — ", " – ", " - ", " → "].iter().find_map(|mark| plain.split_once(mark)));
    let value = labelled.map_or(plain.as_str(), |(_, value)| value);
    // `[STATUS: …]` under an item is shown, not said.
    if value.trim_start().starts_with('[') {
        return false;
    }
    let value = value.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = value.find(|c: char| !c.is_alphanumeric()).unwrap_or(value.len());
    let (first, rest) = value.split_at(end);
    // `Correct the number`, `Present it`, `Complete the sentence`: what is to be done, in a word that also says it is.
    if is_one_of(first, IMPERATIVES)
        && rest.strip_prefix(' ').is_some_and(|rest| !rest.starts_with(['(', '—', '–', '-']))
    {
        return false;
    }
    let met = |word: &str| {
        is_one_of(word, PASSING)
            || is_one_of(word, SATISFYING)
            || is_one_of(word, CLEARING)
            || is_one_of(
                word,
                &[
                    "ok",
                    "okay",
                    "addressed",
                    "resolved",
                    "fixed",
                    "done",
                    "good",
                    "fine",
                    "complete",
                    "completed",
                    "correct",
                    "corrected",
                    "implemented",
                    "stated",
                    "named",
                    "present",
                    "covered",
                ],
            )
    };
    is_mended(text) || met(first) && against(text, Scope::Prose).is_none()
}

/// `(no test): resolved`, `[length] fixed`: what is repeated of a complaint before a word that says it is done.
fn is_mended(text: &str) -> bool {
    const MENDED: &[&str] = &[
        "addressed",
        "resolved",
        "fixed",
        "corrected",
        "implemented",
        "remedied",
        "done",
        "cleared",
        "settled",
    ];
    let value = [": ", " — ", " – ", " → ", "] "].iter().find_map(|mark| text.split_once(mark));
    value.is_some_and(|(_, value)| {
        let first = value.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        first.is_some_and(|first| is_one_of(first, MENDED)) && against(value, Scope::Prose).is_none()
    })
}

/// Does it say nothing: `None`, `n/a`?
pub fn says_nothing(text: &str) -> bool {
    // `Nothing; ready as is.`, `None (all are met)`
    if let Some((head, tail)) = text.split_once([';', ',', '(', '—', '–'])
        && is_one_of(head.trim(), &["none", "nothing"])
        && against(tail, Scope::Prose).is_none()
    {
        return true;
    }
    let plain = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(
        plain.as_str(),
        "" | "none" | "nothing" | "n/a" | "na" | "nil" | "null" | "keine" | "aucun" | "ninguno"
    ) || plain.strip_prefix("none ").is_some_and(|rest| {
        let first = rest.split_whitespace().next().unwrap_or_default();
        [
            "found",
            "needed",
            "required",
            "identified",
            "remaining",
            "remain",
            "remains",
            "noted",
            "applicable",
            "at",
            "so",
            "open",
            "left",
            "are",
            "were",
            "is",
            "reported",
            "detected",
            "that",
        ]
        .contains(&first)
            && rest.split_whitespace().count() <= 6
    }) || plain.starts_with("no further")
        || plain.starts_with("no remaining")
        || plain.starts_with("no open")
}

/// An item of a list that stands under an approval.
pub fn item(tick: Tick, text: &str) -> Weight {
    if tick == Tick::Open || lines::ticked(text) == Tick::Open {
        return Weight::Against;
    }
    if says_nothing(text) || super::closing::is_leave(text) {
        return Weight::Fine;
    }
    if tick == Tick::Done {
        return if super::takes_back(text) { Weight::Against } else { Weight::Fine };
    }
    if super::affirm::is_step(text) && against(text, Scope::Prose).is_none() {
        return Weight::Fine;
    }
    if is_mended(text) {
        return Weight::Fine;
    }
    if is_partial(text) || against(text, Scope::Prose).is_some() {
        return Weight::Against;
    }
    if tick == Tick::Done || is_met(text) || lines::ticked(text) == Tick::Done {
        return Weight::Fine;
    }
    if super::affirm::speaks_of_the_work(text) {
        return Weight::Fine;
    }
    // "No deductions." asks for nothing.
    let plain = without_praise(text);
    let words: Vec<&str> =
        plain.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|w| !w.is_empty()).collect();
    if words.is_empty() {
        return Weight::Fine;
    }
    // A label in front may hide the instruction: `Sample size: state it.`
    let labelled = [": ", " — ", " – ", " → "].iter().find_map(|mark| plain.split_once(mark));
    let value = labelled.map(|(_, value)| value);
    if begins_with_a_demand(&plain) || value.is_some_and(begins_with_a_demand) {
        return Weight::Against;
    }
    if super::affirm::says_so(&plain)
        && !words.iter().any(|w| is_one_of(w, &["should", "could", "instead", "but"]))
    {
        return Weight::Fine;
    }
    // `Length: 41 words`: what was found under a short label, and nothing that asks for another measure.
    let label = labelled.map(|(label, value)| (label.split_whitespace().count(), value.trim().is_empty()));
    let measured = label.is_some_and(|(words, empty)| (1..=5).contains(&words) && !empty)
        && !plain.chars().any(|c| c.is_alphabetic() && !c.is_ascii());
    if measured
        && !words.iter().any(|w| {
            is_one_of(w, COMPARATIVES)
                || is_one_of(
                    w,
                    &["not", "no", "missing", "unclear", "vague", "should", "could", "instead", "but"],
                )
        })
    {
        return Weight::Fine;
    }
    Weight::Unsure
}
