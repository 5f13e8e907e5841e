//! A critic's reply once it is read: the one typed value that decisions are made from.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    Rejected,
}

/// What a verdict is bound to. Evidence from another round or another artifact never counts.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Binding {
    pub round: u32,
    /// Digest of the judged manifest.
    pub artifact: Digest,
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
    pub rubric: Digest,
}

/// What went into the critic's brief.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Coverage {
    pub entries: Vec<Seen>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seen {
    pub path: String,
    pub lines: u32,
}

/// A point the worker has to address, numbered for the whole loop.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Item {
    pub number: u32,
    pub text: String,
    /// The round that first raised it.
    pub since: u32,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Review {
    pub binding: Binding,
    pub verdict: Verdict,
    /// What the worker has to address next, if rejected.
    pub open: Vec<Item>,
    /// Numbers of earlier items the critic marked addressed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addressed: Vec<u32>,
    /// Remarks that do not block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Departures from the reply format that were tolerated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    pub coverage: Coverage,
    /// The call that produced it: the rendered prompt and the reply, by digest.
    pub prompt: Digest,
    pub reply: Digest,
}
