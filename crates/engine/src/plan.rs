//! What a run was asked to do, frozen at its start: protocol settings, agents, limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{Limits, Price};
use crate::digest::Digest;
use crate::tree::WorkspacePlan;

/// The plan of a run. It is the first record and never changes; raised limits are inputs of their own.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// One line for lists and headings.
    pub title: String,
    pub root: NodePlan,
    /// Shared: a batch gives all its runs the same.
    pub agents: Arc<BTreeMap<String, AgentCard>>,
    pub limits: Limits,
    /// Which caller began it, for a door that has to know its own runs again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<String>,
    /// The folder of a run whose worker edits files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<WorkspacePlan>,
}

/// Which protocol a node follows, with that protocol's own settings.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NodePlan {
    pub protocol: String,
    /// The version of the protocol's rules.
    pub version: u32,
    pub limits: Limits,
    pub settings: serde_json::Value,
}

/// What the engine needs to know of an agent. How it is reached is not its business.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct AgentCard {
    pub kind: String,
    /// Whose files say what it is.
    #[serde(default)]
    pub named_by: NamedBy,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Where briefs go, for people: a host, or `this machine`.
    pub sends_to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Its replies come from a person through the inbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person: bool,
    pub max_output_tokens: u64,
    pub timeout_ms: u64,
    #[serde(default)]
    pub limits: Limits,
    /// Tokens one call can take, brief and answer together. None: nobody knows, so nothing is split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// For a process agent that states its own cost: the most one call may use.
    #[serde(default)]
    pub per_call: Limits,
    /// As a worker it goes on with its conversation of the round before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub continues: bool,
    /// It is offered tools, and we use them for it. Others have tools of their own, or none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tools: bool,
    /// Tools it is not offered, because its own file does not give it any that would do the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// Its answer can be held to a schema.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub structured: bool,
    /// The configured agent it is reached as, where that has another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_as: Option<String>,
}

/// Whose word makes an agent what it is. What nobody recorded is taken for the project's, which may come from anyone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    Program,
    User,
    #[default]
    Project,
}

impl AgentCard {
    /// Replies that were ready before the work was, and that only a project's files name: no judgement.
    pub fn is_canned(&self) -> bool {
        is_canned(&self.kind, self.named_by)
    }

    /// Its verdicts are values that the embedding program made: they are never read from prose.
    pub fn is_typed(&self) -> bool {
        self.kind == TYPED
    }

    /// Somebody answers in person. An MCP host answers through the inbox, too, and is a program.
    pub fn is_person(&self) -> bool {
        self.person && self.kind == PERSON
    }
}

/// As [`AgentCard::is_canned`], of what a record or a receipt says about an agent.
pub fn is_canned(kind: &str, named_by: NamedBy) -> bool {
    kind == SCRIPTED && named_by == NamedBy::Project
}

/// The kind of a critic that is a function of the embedding program, from a draft to a verdict. No configuration can
/// name it.
pub const TYPED: &str = "typed";
/// The kind of an agent whose replies stand in a file.
const SCRIPTED: &str = "scripted";
/// The kind of an agent that is a person.
pub const PERSON: &str = "person";

/// A file of the user's that a run may write.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Absolute path.
    pub path: String,
    /// Its content when the run began; none if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
}
