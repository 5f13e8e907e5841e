//! The trouble of an earlier round, told in the past tense. It is none if what follows says that it is over: by a word for all of
//! it, or by speaking of each thing again. If something of it is not spoken of again, it may still be so.

use std::sync::LazyLock;

use regex::Regex;

use super::polarity;
use super::settled::clauses;
use crate::reading::english;

fn compiled(pattern: &str) -> Option<Regex> {
    english::pattern(&format!("(?xi){pattern}"))
}

/// Who speaks of an earlier round says so.
static EARLIER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:round|iteration)\s+(?:\d|one|two|three)\b|\b(?:first|previous|earlier|old|last|prior|original|initial|rejected)\s+(?:draft|version|round|submission|text|attempt|review|iteration|revision|time|plan|report)\b|\b(?:previously|originally|formerly|initially|last\s+time|back\s+then)\b
        |\b(?:I|we)\s+(?:had\s+|also\s+)*(?:asked|objected|complained|flagged|rejected|raised|critici[sz]ed|requested|pointed\s+out)\b|\bmy\s+(?:earlier|previous|first|two|three|last|only|original)\s+(?:\w+\s+)?(?:objections?|concerns?|remarks?|complaints?|points?|comments?|requests?|items?)\s+(?:was|were)\b",
    )
});
static NOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:is|are|has|have|does|do|needs?|lacks?|remains?|still|must|should|will|cannot|can|may|again|too|either|now|resolves|addresses|fixes|corrects|removes|adds|names|states|gives|meets|satisfies|contains|reports|answers|closes|reads|says|shows|uses|provides|includes|specifies|identifies|takes)\b|\w(?:n['’]t)\b",
    )
});
static OVER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:both|all|each|every(?:thing)?|neither|none|gone|over|resolved|settled|addressed|fixed|corrected|put\s+right|dealt\s+with|remedied|no\s+longer|no\s+(?:issues?|problems?|objections?|concerns?)|nothing\s+(?:remains|is\s+left)|there\s+(?:is|are)\s+(?:one|two|both)\s+now)\b",
    )
});
static DONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"\b(?:both|all|each|every(?:thing)?)\b[^.;\n]{0,60}\b(?:were|was|have\s+been|has\s+been|got)\s+(?:\w+ly\s+|now\s+|all\s+|both\s+)*(?:carried\s+out|made|done|met|followed|taken\s+(?:up|on\s+board|care\s+of)|addressed|resolved|fixed|incorporated|implemented|honou?red|satisfied|dealt\s+with|acted\s+(?:up)?on|answered|settled|heeded|included|put\s+right|corrected)\b",
    )
});
/// A count of fewer than were told.
static SOME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(r"\b(?:half|some|most|part|only)\b|(?:^|[.;:])\s*(?:the\s+)?(?:one|first|second)\b")
});
static PIECES: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r"[,;:()]|\s(?:and|or|nor|because|that|not|no|neither|without)\s|n['’]t\s"));

/// Words that tell of an earlier round and name nothing in it.
const TELLING: &[&str] = &[
    "round",
    "iteration",
    "first",
    "previous",
    "earlier",
    "last",
    "prior",
    "original",
    "initial",
    "rejected",
    "draft",
    "version",
    "submission",
    "text",
    "attempt",
    "review",
    "revision",
    "time",
    "plan",
    "report",
    "previously",
    "originally",
    "formerly",
    "initially",
    "asked",
    "objected",
    "complained",
    "flagged",
    "raised",
    "criticised",
    "criticized",
    "requested",
    "pointed",
    "concern",
    "concerns",
    "remark",
    "remarks",
    "complaint",
    "objection",
    "objections",
    "point",
    "points",
    "comments",
    "request",
    "requests",
    "item",
    "items",
    "were",
    "been",
    "said",
    "only",
    "just",
    "with",
    "about",
    "what",
    "things",
    "thing",
    "wrong",
    "missing",
    "vague",
    "absent",
    "unclear",
    "lacked",
    "failed",
    "left",
    "reader",
    "guessing",
    "name",
    "named",
    "state",
    "stated",
    "give",
    "given",
    "there",
    "from",
    "have",
    "could",
    "determined",
    "which",
    "when",
    "both",
    "also",
    "they",
    "this",
    "because",
    "criteria",
    "criterion",
    "problems",
    "problem",
    "than",
    "called",
    "mere",
    "merely",
    "told",
    "used",
    "mentioned",
    "nothing",
];
const COUNTED: &[&str] =
    &["number", "size", "many", "count", "amount", "sample", "figure", "length", "words", "group"];

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|re| re.is_match(text))
}

/// What a sentence tells of an earlier round.
pub(super) enum Told<'s> {
    /// Nothing.
    Nothing,
    /// Trouble that is over; the rest of the sentence speaks of the work as it stands.
    Over(&'s str),
    /// Trouble, and nothing says that all of it is over.
    Open,
}

/// `after` are the sentences that follow; two of them are heard.
pub(super) fn told<'s>(sentence: &'s str, after: &[&str]) -> Told<'s> {
    if !is(&EARLIER, sentence) || super::affirm::is_step(sentence) {
        return Told::Nothing;
    }
    let parts = clauses(sentence);
    // What is told goes on until something is said of now.
    let told = parts.iter().take_while(|part| !is(&NOW, part)).map(|part| part.len()).sum::<usize>();
    let (past, rest) = sentence.split_at(told);
    if !is(&EARLIER, past) || !polarity::names_something_bad(past) {
        return Told::Nothing;
    }
    // `Both requests from the last round were carried out.`
    if is(&DONE, past) && !is(&SOME, past) {
        return Told::Over(rest);
    }
    let later = std::iter::once(rest).chain(after.iter().take(2).copied());
    let later = later.collect::<Vec<_>>().join(" ").to_lowercase();
    if is_over(&past.to_lowercase(), &later) { Told::Over(rest) } else { Told::Open }
}

fn is_over(past: &str, later: &str) -> bool {
    if is(&OVER, later) && !is(&SOME, later) {
        return true;
    }
    let Some(pieces) = PIECES.as_ref() else { return false };
    let mut named = false;
    let all = pieces.split(past).all(|piece| {
        let words = || piece.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
        let naming: Vec<&str> = words().filter(|word| !TELLING.contains(word)).collect();
        let counted =
            words().any(|word| COUNTED.contains(&word)) && later.contains(|c: char| c.is_ascii_digit());
        named |= !naming.is_empty();
        naming.is_empty() || counted || naming.iter().any(|word| later.contains(word.trim_end_matches('s')))
    });
    all && (named || super::affirm::is_positive(later))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_so_and_is_spoken_of_again_is_over() {
        for (sentence, after) in [
            ("The first draft had no sample size and no test.", "The revision has both."),
            ("Last time there was no test.", "There is one now, a t-test."),
            (
                "The first draft was vague about the number of mice and did not name a test.",
                "It now gives 12 and a t-test.",
            ),
            ("Previously the group size could not be determined; now it can: 12.", ""),
        ] {
            assert!(matches!(told(sentence, &[after]), Told::Over(_)), "{sentence}");
        }
        for (sentence, after) in [
            ("The first draft had no sample size and no test.", "The new one has a sample size."),
            ("Last time there was no test.", "It reads better now."),
            ("I had asked for two changes.", "One was made."),
        ] {
            assert!(matches!(told(sentence, &[after]), Told::Open), "{sentence}");
        }
        assert!(matches!(told("The draft is fine.", &[]), Told::Nothing));
    }
}
