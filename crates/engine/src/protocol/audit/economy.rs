//! The economy axis: how much of it a task asks for, and the boundary it may never cross.
//!
//! Economy speaks about code that could be less. It never speaks against tests, validation, error
//! handling or security: such a finding is dropped here, whoever wrote the prompt.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

use super::checks::test_files::is_test_file;
use super::routes;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Economy {
    #[default]
    Off,
    /// Briefs the worker only.
    Lite,
    /// The critic judges it, too.
    Full,
    /// Also single-caller abstractions and reuse across the whole repository.
    Ultra,
}

impl Economy {
    pub const ALL: [Self; 4] = [Self::Off, Self::Lite, Self::Full, Self::Ultra];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Lite => "lite",
            Self::Full => "full",
            Self::Ultra => "ultra",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|e| e.name() == word)
    }

    /// Is economy one of the critic's axes?
    pub const fn is_judged(self) -> bool {
        matches!(self, Self::Full | Self::Ultra)
    }

    /// Is the worker told to write no more than needed?
    pub const fn briefs_worker(self) -> bool {
        !matches!(self, Self::Off)
    }
}

/// Beginnings of words that speak of what economy must leave alone.
const PROTECTED: &[(&str, &[&str])] = &[
    (
        "validation",
        &["validat", "sanitiz", "sanitis", "input check", "bounds check", "precondition", "invariant"],
    ),
    (
        "error handling",
        &[
            "error hand",
            "error path",
            "error check",
            "error case",
            "exception",
            "try/catch",
            "catch block",
            "try block",
            "rescue",
            "fallback",
            "retry",
            "retries",
            "rollback",
            "unwrap",
            "err(",
            "null check",
            "nil check",
            "none check",
            "failure path",
            "timeout",
            "data loss",
            "cleanup on",
            "early return on",
        ],
    ),
    (
        "security",
        &[
            "securit",
            "authenti",
            "authoriz",
            "authoris",
            "access control",
            "permission",
            "escap",
            "csrf",
            "xss",
            "injection",
            "encrypt",
            "decrypt",
            "hash the password",
            "password",
            "secret",
            "credential",
            "token check",
            "rate limit",
            "signature",
            "tls",
            "certificate",
        ],
    ),
    ("tests", &["test", "assertion", "fixture"]),
];

/// Why an economy finding does not count, if it does not.
pub fn out_of_bounds(finding: &Finding, economy: Economy) -> Option<String> {
    if !routes::ECONOMY.contains(&finding.rule.as_str()) {
        return None;
    }
    if !economy.is_judged() {
        return Some(format!("economy is `{}`: it is not judged in this task", economy.name()));
    }
    if let Some(place) = finding.place.as_ref().filter(|p| is_test_file(&p.path)) {
        return Some(format!("economy never flags tests, and {} is one", place.path));
    }
    let said = [finding.says.as_str(), &finding.fix, finding.quote.as_deref().unwrap_or_default()];
    let said = said.map(str::to_lowercase);
    let (what, word) = PROTECTED.iter().find_map(|(what, words)| {
        let word = words.iter().find(|w| said.iter().any(|s| begins_a_word(s, w)))?;
        Some((what, word))
    })?;
    Some(format!("economy never flags {what}, and this is about `{}`", word.trim()))
}

/// Marks every economy finding that crosses the boundary; it stays in the record and decides nothing.
pub fn bound(findings: &mut [Finding], economy: Economy) {
    for finding in findings.iter_mut().filter(|f| f.is_supported()) {
        finding.unsupported = out_of_bounds(finding, economy);
    }
}

/// Does `beginning` stand at the start of a word? `latest` does not speak of tests.
fn begins_a_word(text: &str, beginning: &str) -> bool {
    text.match_indices(beginning)
        .any(|(at, _)| !text[..at].chars().next_back().is_some_and(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Location, Severity};

    fn finding(rule: &str, path: &str, says: &str) -> Finding {
        let mut finding = Finding::new(rule, Severity::Risk, says, "critic");
        finding.place = Some(Location { path: path.into(), line: Some(3), end: None });
        finding
    }

    #[test]
    fn economy_never_speaks_against_tests_validation_error_paths_or_security() {
        let dropped = [
            ("tests/login.rs", "this helper has one caller"),
            ("src/login_test.go", "this helper has one caller"),
            ("src/a.rs", "the validation of the name is not needed"),
            ("src/a.rs", "Sanitizing twice is over-engineered"),
            ("src/a.rs", "drop the try/catch, nothing throws"),
            ("src/a.rs", "the error handling could be shorter"),
            ("src/a.rs", "the permission check repeats the router's"),
            ("src/a.rs", "three of these unit tests say the same"),
        ];
        for (path, says) in dropped {
            let found = finding("shrinkable", path, says);
            assert!(out_of_bounds(&found, Economy::Ultra).is_some(), "{path}: {says}");
        }
        let mut quoted = finding("shrinkable", "src/a.rs", "could be one line");
        quoted.quote = Some("if !is_valid(x) { return Err(Invalid) }".into());
        assert!(out_of_bounds(&quoted, Economy::Full).is_some(), "what is quoted counts, too");
    }

    #[test]
    fn other_findings_stand() {
        let kept =
            finding("over-engineering", "src/shapes.rs", "the trait has one implementation, the latest");
        assert_eq!(out_of_bounds(&kept, Economy::Full), None);
        let other_axis = finding("weak-assertion", "tests/a.rs", "the validation test asserts nothing");
        assert_eq!(out_of_bounds(&other_axis, Economy::Full), None, "other axes may speak of tests");
    }

    #[test]
    fn a_task_that_did_not_ask_for_economy_is_not_judged_by_it() {
        let mut findings =
            [finding("shrinkable", "src/a.rs", "one line would do"), finding("style", "src/a.rs", "x")];
        bound(&mut findings, Economy::Lite);
        assert!(!findings[0].is_supported());
        assert!(findings[1].is_supported());
        bound(&mut findings[1..], Economy::Full);
        assert!(findings[1].is_supported());
    }

    #[test]
    fn the_levels_are_read_as_they_are_written() {
        for level in Economy::ALL {
            assert_eq!(Economy::parse(level.name()), Some(level));
        }
        assert_eq!(Economy::parse("max"), None);
        assert_eq!(Economy::ALL.map(Economy::is_judged), [false, false, true, true]);
        assert_eq!(Economy::ALL.map(Economy::briefs_worker), [false, true, true, true]);
    }
}
