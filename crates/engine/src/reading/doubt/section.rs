//! What a heading says about the list below it.

/// The section a heading opens, as far as lists under it are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Section {
    #[default]
    None,
    /// What was addressed since the last round.
    Addressed,
    /// What is still open.
    Unresolved,
    /// What need not be done.
    Optional,
    /// What is good.
    Praise,
    /// What has to be done.
    Demands,
}

/// What a heading says about the list below it, by whole words. Of several sentences the last one is the heading.
pub fn section(heading: &str) -> Section {
    let last = heading
        .rsplit(['.', '!', '?'])
        .find(|part| part.chars().any(char::is_alphanumeric))
        .unwrap_or(heading);
    let words: Vec<String> = last
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let has = |phrases: &[&str]| {
        phrases.iter().any(|phrase| (0..words.len()).any(|at| begin_with(&words[at..], phrase)))
    };
    let asked = has(&[
        "required",
        "must",
        "mandatory",
        "need",
        "needs",
        "needed",
        "to be",
        "should",
        "have to",
        "has to",
    ]) && !has(NOT_ASKED);
    if has(&["not blocking", "no action", "not a blocker"]) {
        Section::Optional
    } else if has(UNRESOLVED) {
        Section::Unresolved
    } else if has(&["not required", "non-blocking", "optional"])
        || has(OPTIONAL) && !asked && !has(&["blocking"])
    {
        Section::Optional
    } else if asked {
        Section::Demands
    } else if has(ADDRESSED) {
        Section::Addressed
    } else if has(PRAISE) {
        Section::Praise
    } else if has(DEMANDS) {
        Section::Demands
    } else {
        Section::None
    }
}

/// Are the first of these words those of the phrase?
fn begin_with(words: &[String], phrase: &str) -> bool {
    let Some((word, more)) = words.split_first() else { return false };
    match phrase.strip_prefix(word.as_str()) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(' ').is_some_and(|rest| begin_with(more, rest)),
        None => false,
    }
}

const NOT_ASKED: &[&str] = &["not required", "not needed", "no need", "need not", "not necessary"];
const UNRESOLVED: &[&str] = &[
    "unresolved",
    "not addressed",
    "unaddressed",
    "still open",
    "not resolved",
    "remaining",
    "open item",
    "open items",
    "outstanding",
    "not fixed",
    "still to",
    "offen",
    "not yet",
    "partially",
    "partly",
    "open",
    "unmet",
    "not met",
    "still missing",
    "not satisfied",
];
const OPTIONAL: &[&str] = &[
    "non-blocking",
    "nonblocking",
    "non blocking",
    "optional",
    "nice to have",
    "nice-to-have",
    "minor",
    "suggestion",
    "suggestions",
    "not required",
    "nit",
    "nits",
    "nitpick",
    "nitpicks",
    "for later",
    "future",
    "could be",
    "cosmetic",
    "notes",
    "remarks",
];
const ADDRESSED: &[&str] =
    &["addressed", "resolved", "fixed", "erledigt", "done since", "what was done", "completed", "done"];
const PRAISE: &[&str] = &[
    "strength",
    "strengths",
    "positive",
    "positives",
    "praise",
    "what works",
    "done well",
    "good",
    "pros",
    "satisfied",
    "met criteria",
    "criteria met",
    "passed",
    "stärken",
    "highlights",
    "works well",
    "fine",
    "ok",
    "okay",
    "in order",
    "correct",
    "merits",
    "what i like",
    "right",
];
const DEMANDS: &[&str] = &[
    "fix",
    "fixes",
    "change",
    "changes",
    "issue",
    "issues",
    "problem",
    "problems",
    "demand",
    "demands",
    "blocking",
    "reject",
    "rejected",
    "weakness",
    "weaknesses",
    "correction",
    "corrections",
    "revision",
    "revisions",
    "concern",
    "concerns",
    "violation",
    "violations",
    "missing",
    "improve",
    "improvement",
    "improvements",
    "opportunities",
    "defects",
    "gaps",
    "action items",
    "todo",
    "new",
    "introduced",
    "next steps",
    "next step",
    "to do",
    "to add",
    "follow-up",
    "follow-ups",
    "followup",
    "caveat",
    "caveats",
    "reservations",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_known_by_their_words_and_not_by_letters_inside_them() {
        for (heading, section_) in [
            ("Opportunities for improvement", Section::Demands),
            ("Definition of the sample", Section::None),
            ("Unit of analysis", Section::None),
            ("Prose", Section::None),
            ("Issues to be fixed", Section::Demands),
            ("The following points must be addressed", Section::Demands),
            ("What needs to be addressed", Section::Demands),
            ("Partially addressed", Section::Unresolved),
            ("Good progress! The sample size is now there. However", Section::None),
            ("Minor suggestions (non-blocking)", Section::Optional),
            ("Suggestions", Section::Optional),
            ("Addressed from iteration 1", Section::Addressed),
            ("Not addressed", Section::Unresolved),
            ("Strengths", Section::Praise),
            ("Not required", Section::Optional),
        ] {
            assert_eq!(section(heading), section_, "{heading}");
        }
    }
}
