//! What the work is about, where it sounds like a verdict: a hypothesis is rejected, outliers are, trials fail, data are missing.
//! Only what is rejected or fails and is the work itself counts.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::reading::english;
use crate::reading::forms::is_one_of;

/// What a critic judges, and what only points at it.
const WORK: &[&str] = &[
    "draft",
    "work",
    "text",
    "it",
    "this",
    "that",
    "these",
    "those",
    "version",
    "plan",
    "report",
    "submission",
    "abstract",
    "paper",
    "document",
    "manuscript",
    "change",
    "changes",
    "one",
    "verdict",
    "status",
    "proposal",
    "revision",
    "item",
    "items",
    "criterion",
    "criteria",
    "requirement",
    "for",
    "because",
    "as",
    "by",
    "on",
    "in",
    "and",
    "or",
    "with",
    "the",
    "a",
    "an",
    "to",
    "out",
    "at",
    "pr",
    "code",
    "diff",
    "result",
    "outcome",
    "they",
    "you",
    "i",
    "we",
    "there",
    "all",
    "both",
    "is",
    "was",
    "if",
    "due",
    "section",
    "article",
    "what",
    "which",
    "has",
    "be",
    "test",
    "tests",
    "check",
    "checks",
    "row",
    "rows",
    "should",
    "must",
    "will",
    "not",
    "here",
    "none",
    "nothing",
    "everything",
];

static REJECTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    english::pattern(
        r"(?xi)\b(?P<before>[\w-]+)\s+(?:is|are|was|were)\s+(?:\w+\s+)?rejected\b
        |\b(?:(?:could|can|did|do|does)(?:\s?not|n['’]t)\s+|(?:fail(?:ed|s)?|unable)\s+to\s+)?reject(?:ed|s|ing)?\s+(?:the\s+|an?\s+|all\s+|any\s+)?(?:null\s+|alternative\s+)?(?P<after>[\w-]+)
        |\bfailed\s+(?P<failed>[\w-]+)|\bmissing\s+(?P<missing>data|values?|observations?|trials?|entries|keys?|files?\s+raise|input|arguments?)\b
        |\b(?:effects?|correlations?|associations?|signals?|interactions?)\s+(?P<small>is|are|was|were)\s+(?:\w+\s+)?(?:weak|small|absent|lacking)\b
        |\b(?P<rate>rejection|error|failure|dropout|omission)\s+(?:rates?|thresholds?|sampling|criterion|region|bars?|message|handling|probabilit\w+)\b",
    )
});

/// The text without what is said of its subject matter.
pub(super) fn without(text: &str) -> String {
    let Some(re) = REJECTED.as_ref() else { return text.to_owned() };
    let replaced = re.replace_all(text, |found: &Captures<'_>| {
        let whole = found.get(0).map_or("", |m| m.as_str());
        let named = ["before", "after", "failed"].iter().find_map(|name| found.name(name));
        match named {
            Some(noun) if is_one_of(noun.as_str(), WORK) => whole.to_owned(),
            _ => " , ".to_owned(),
        }
    });
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hypothesis_is_no_draft() {
        for text in [
            "the null hypothesis is rejected",
            "they could not reject the null hypothesis",
            "outliers were rejected",
            "rejected epochs",
            "failed trials were excluded",
            "missing data were imputed",
        ] {
            let left = without(text);
            assert!(
                !left.contains("reject") && !left.contains("failed") && !left.contains("missing"),
                "{left}"
            );
        }
        for text in [
            "the draft is rejected",
            "I reject this draft",
            "it is rejected",
            "reject",
            "it failed to name it",
        ] {
            assert_eq!(without(text), text);
        }
    }
}
