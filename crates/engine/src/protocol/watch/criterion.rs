//! When a goal is reached, as a value.

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// A command ends with this code.
    Shell { command: String, exit_code: i32, timeout_ms: u64 },
    /// `dot.path op literal`, of a JSON file.
    Json { file: String, predicate: String },
    File { path: String, check: FileCheck },
    Http {
        url: String,
        status: u16,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        contains: Option<String>,
    },
    /// A model that sees the evidence says yes.
    Judge { question: String },
    /// A model that sees a picture says yes. The command writes the picture to `file`, below the worker's folder.
    Vision { command: String, file: String, expected: String },
    /// A person says so.
    Manual,
    All(Vec<Criterion>),
    Any(Vec<Criterion>),
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileCheck {
    Exists,
    Contains(String),
    /// A regular expression.
    Matches(String),
}
