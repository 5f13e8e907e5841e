//! The weighted aggregate, in integers, with its arithmetic.

use serde::{Deserialize, Serialize};

/// Hundredths of a point, so that nothing is rounded before it is shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Hundredths(pub u32);

impl std::fmt::Display for Hundredths {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Aggregate {
    pub components: Vec<Component>,
    /// None if nothing is scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overall: Option<Hundredths>,
    /// The sum, line by line, for a person.
    pub arithmetic: Vec<String>,
}

/// One component: the rows of the registry that share its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Component {
    pub name: String,
    /// Hundredths of a percent, added over its rows.
    pub points: u32,
    /// The average of its scored rows; none if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Hundredths>,
    pub rows: Vec<Row>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Row {
    pub agent: String,
    pub points: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u32>,
    /// Why there is none that counts: never judged, stale, not enabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// It may be missing without closing any gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}
