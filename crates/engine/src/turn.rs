//! A call to an agent is a turn: messages of parts, a permission, limits. Agents translate it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::brief::Reference;
use crate::digest::Digest;
use crate::slice::Slice;
use crate::text::Texts;
use crate::tool::policy::OwnTools;
use crate::tool::{Image, ToolCall, ToolResult};

/// Who an agent is in this call. Permissions follow from it, and only from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Worker,
    Critic,
    /// Asked for advice or a decision: its reply is text for others, never a verdict.
    Advisor,
}

impl Role {
    pub const fn permission(self) -> Permission {
        match self {
            Self::Worker => Permission::Write,
            Self::Critic | Self::Advisor => Permission::ReadOnly,
        }
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Critic => "critic",
            Self::Advisor => "advisor",
        }
    }
}

/// What an agent may do to the tree it is given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Permission {
    ReadOnly,
    Write,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    User,
    Assistant,
}

/// A piece of a message. Long content is named by digest, so that storing a prompt costs a line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Short text written by the engine.
    Text(String),
    /// A stored text, verbatim.
    Blob(Digest),
    /// A stored text as data: verdict tokens inside it are neutralised when it is rendered.
    Data(Digest),
    /// Some lines of a stored text, as data.
    Slice(Slice),
    /// A model's call of a tool. Only in what an assistant said.
    Call(ToolCall),
    /// What came of one. Only in what a model is told.
    Result(ToolResult),
    Image(Image),
}

impl Part {
    /// The stored texts it names.
    pub const fn text(&self) -> Option<Digest> {
        match self {
            Self::Text(_) => None,
            Self::Blob(d) | Self::Data(d) => Some(*d),
            Self::Slice(slice) => Some(slice.text),
            Self::Call(call) => Some(call.args),
            Self::Result(result) => Some(result.text),
            Self::Image(image) => Some(image.data),
        }
    }

    /// What it says in words, piece by piece.
    pub fn said(&self, texts: &Texts, mut hear: impl FnMut(&str)) {
        match self {
            Self::Text(t) => hear(t),
            Self::Blob(d) => hear(texts.get(d)),
            Self::Data(d) => hear(texts.harmless(d)),
            Self::Slice(slice) => {
                let mut lines = String::new();
                slice.render(texts.get(&slice.text), &mut lines);
                hear(&lines);
            }
            Self::Call(_) | Self::Result(_) | Self::Image(_) => {}
        }
    }

    /// How many bytes an agent is given for it.
    pub fn size(&self, texts: &Texts) -> usize {
        match self {
            Self::Text(t) => t.len(),
            Self::Blob(d) | Self::Data(d) => texts.get(d).len(),
            Self::Slice(slice) => slice.size(texts.get(&slice.text)),
            Self::Call(call) => call.name.len() + texts.get(&call.args).len() + 64,
            Self::Result(result) => texts.get(&result.text).len() + 64,
            Self::Image(image) => texts.get(&image.data).len(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Message {
    pub from: Speaker,
    pub parts: Vec<Part>,
}

impl Message {
    /// What is said in words. Calls, results and pictures are handed over beside it.
    pub fn render(&self, texts: &Texts) -> String {
        let size = self.parts.iter().map(|part| part.size(texts));
        let mut out = String::with_capacity(size.sum());
        self.parts.iter().for_each(|part| part.said(texts, |words| out.push_str(words)));
        out
    }
}

/// The folder beside the tree that a critic may write to, as the brief names it.
pub const SCRATCH: &str = "scratch";

/// What a person who judges is asked for in place of the form that models keep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct VerdictAsked {
    /// They are asked for points out of 100, too, and so many pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes_at: Option<u32>,
}

/// What a critic is shown, as values: for a critic that is a function of the embedding program and reads no brief. It
/// names the same texts as the brief, and nothing else.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JudgedCase {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Digest>,
    pub rubric: Digest,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Deterministic evidence: verify output, the engine's own checks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Reference>,
    /// What is judged, in order: a draft, or files, each with its path.
    pub work: Vec<(String, Slice)>,
    /// The draft of the round before, which was rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<Digest>,
    /// What was held against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lens: Option<String>,
}

/// One request to one agent.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Turn {
    pub agent: String,
    pub role: Role,
    pub permission: Permission,
    /// Shared: the same brief is in the step, among the open effects and with the call to be repeated.
    pub messages: Arc<Vec<Message>>,
    /// How many of this agent's calls were answered before in this run: a repeated call keeps its number.
    pub nth: u32,
    pub max_output_tokens: u64,
    /// The state of the run's folder the agent works on: a worker's own folder is put into it first, a
    /// critic gets a copy of it. None: the agent sees no folder of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Digest>,
    /// A JSON Schema the answer should follow, for agents that can be held to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Digest>,
    /// The file in its scratch folder that a critic may write its answer to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// An earlier conversation of this worker in this run, to go on with. Never for who judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The tools a model is offered: a JSON array of `Offered`, as a stored text. None: it is offered none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Digest>,
    /// How many parts of the first message are the same in this role's next call: what a provider can keep for it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub settled: usize,
    /// The turn is a person's who judges, or a typed critic's: they approve or reject (`reading::person`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<VerdictAsked>,
    /// What a typed critic judges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Arc<JudgedCase>>,
    /// It goes on with work that was broken off: its folder stays as it is and is not put into `tree` first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub goes_on: bool,
    /// What an agent with tools of its own may not use of them. None: nothing is kept from it but by its role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnTools>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape serde asks for
const fn is_zero(n: &usize) -> bool {
    *n == 0
}
