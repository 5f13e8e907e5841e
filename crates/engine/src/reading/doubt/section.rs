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

/// What a heading says about the list below it.
pub fn section(heading: &str) -> Section {
    let lower = heading.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if has(&[
        "unresolved",
        "not addressed",
        "unaddressed",
        "still open",
        "not resolved",
        "remaining",
        "open item",
        "outstanding",
        "not fixed",
        "still to",
        "offen",
        "not yet",
    ]) {
        return Section::Unresolved;
    }
    if has(&[
        "non-blocking",
        "nonblocking",
        "non blocking",
        "optional",
        "nice to have",
        "nice-to-have",
        "minor",
        "suggestion",
        "not required",
        "nit",
        "for later",
        "future",
        "could be",
        "cosmetic",
        "notes",
        "remarks",
    ]) && !has(&["required", "must", "mandatory", "blocking issue"])
        || has(&["not required", "non-blocking", "optional"])
    {
        return Section::Optional;
    }
    if has(&["addressed", "resolved", "fixed", "erledigt", "done since", "what was done", "completed"]) {
        return Section::Addressed;
    }
    if has(&[
        "strength",
        "positive",
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
    ]) {
        return Section::Praise;
    }
    if has(&[
        "required",
        "must",
        "fix",
        "change",
        "issue",
        "problem",
        "demand",
        "blocking",
        "reject",
        "weakness",
        "correction",
        "revision",
        "concern",
        "violation",
        "missing",
        "needed",
        "improve",
    ]) {
        return Section::Demands;
    }
    Section::None
}
