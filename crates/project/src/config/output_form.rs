//! What a command that says more than its reply is told of it: where its brief goes in, and what in its output is what.
//! How the places are looked up is the agents' business.

use super::value::ConfigTable;
use crate::place::Sourced;

/// Where a command finds the brief, and where in its output stands what it says. Without meaning for other kinds.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OutputSettings {
    /// `stdin`, `argument` or `file`.
    pub brief: Option<Sourced<String>>,
    pub reply: Option<Sourced<String>>,
    pub usage_in: Option<Sourced<String>>,
    pub cost_in: Option<Sourced<String>>,
    pub session_in: Option<Sourced<String>>,
    pub resume: Vec<Sourced<String>>,
}

impl OutputSettings {
    pub(super) fn build(table: &ConfigTable) -> Self {
        Self {
            brief: table.text("brief"),
            reply: table.text("reply"),
            usage_in: table.text("usage_in"),
            cost_in: table.text("cost_in"),
            session_in: table.text("session_in"),
            resume: table.texts("resume").map(|list| list.value).unwrap_or_default(),
        }
    }

    /// It names its conversations, and can be told to go on with one.
    pub const fn converses(&self) -> bool {
        self.session_in.is_some() && !self.resume.is_empty()
    }
}
