//! A finding: one point that a critic, or the engine itself, holds against an artifact.
//!
//! Critics state findings; the engine numbers them, says which are new and which were there before
//! (`identity`), and checks what they cite (`evidence`). Decisions read only findings that are supported.

use serde::{Deserialize, Serialize};

/// How much a finding weighs. The greatest is the worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    #[default]
    Nit,
    Risk,
    Fail,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nit => "nit",
            Self::Risk => "risk",
            Self::Fail => "fail",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        [Self::Nit, Self::Risk, Self::Fail].into_iter().find(|s| s.name().eq_ignore_ascii_case(word.trim()))
    }
}

/// Where in the artifact. `path` is an entry's path; a text draft's only entry is `draft`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Location {
    pub path: String,
    /// Counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The last line, where the finding names a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u32>,
}

/// What became of a point between the round before and this one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingStatus {
    /// Not seen in any earlier round.
    #[default]
    New,
    /// Open in the round before, too.
    Recurring,
    /// Was fixed in an earlier round and is back.
    Regressed,
    /// May be an earlier point or not: counts neither as fixed nor as churn.
    Unmatched,
}

impl FindingStatus {
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Recurring => "recurring",
            Self::Regressed => "regressed",
            Self::Unmatched => "unmatched",
        }
    }
}

/// The name under which the engine's own findings stand.
pub const ENGINE: &str = "engine";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// The same point keeps its number for the whole loop; 0 until `identity` gave it one.
    pub number: u32,
    /// What it rests on: an audit category, a rubric row, a criterion's name.
    pub rule: String,
    pub severity: Severity,
    /// What is wrong.
    pub says: String,
    /// What to do about it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fix: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Location>,
    /// Text the critic marked as quoted from the artifact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// It is about something missing or deleted, so only the parent of its place has to exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub absent: bool,
    /// The section or function around its place, found by the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The criterion of the plan it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<String>,
    /// The critic who raised it, or [`ENGINE`].
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    #[serde(default)]
    pub standing: FindingStatus,
    /// The round that first raised it.
    pub since: u32,
    /// Why what it cites does not hold. Such a finding is kept in the record and decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsupported: Option<String>,
    /// Whatever else the critic's report said about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<serde_json::Value>,
}

impl Finding {
    /// A point without a place; fill in what is known.
    pub fn new(rule: impl Into<String>, severity: Severity, says: impl Into<String>, by: &str) -> Self {
        Self {
            number: 0,
            rule: rule.into(),
            severity,
            says: says.into(),
            fix: String::new(),
            place: None,
            quote: None,
            absent: false,
            within: None,
            criterion: None,
            by: by.to_owned(),
            lens: None,
            standing: FindingStatus::New,
            since: 0,
            unsupported: None,
            raw: None,
        }
    }

    pub const fn is_supported(&self) -> bool {
        self.unsupported.is_none()
    }

    /// `src/a.rs:12`, `src/a.rs`, or nothing.
    pub fn shown_place(&self) -> Option<String> {
        let place = self.place.as_ref()?;
        Some(match (place.line, place.end) {
            (Some(line), Some(end)) if end != line => format!("{}:{line}-{end}", place.path),
            (Some(line), _) => format!("{}:{line}", place.path),
            (None, _) => place.path.clone(),
        })
    }

    /// What a worker is told, in one line: where, what is wrong, what to do.
    pub fn line(&self) -> String {
        let mut line = String::new();
        if let Some(place) = self.shown_place() {
            line.push_str(&place);
            line.push_str(": ");
        }
        line.push_str(self.says.trim());
        if !self.fix.trim().is_empty() && self.fix.trim() != self.says.trim() {
            line.push_str(" → ");
            line.push_str(self.fix.trim());
        }
        crate::brief::one_line(&line)
    }
}
