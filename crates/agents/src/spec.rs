//! How one agent is reached: plain data, filled by the runtime from configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gadfly_engine::{Money, Price};

use crate::launcher::{Most, Network};
use crate::scripted::Script;
use crate::secret::Secret;

#[derive(Clone, Debug, Default)]
pub struct AgentSpec {
    /// The agent's name in the configuration, for messages.
    pub name: String,
    pub base_url: Option<String>,
    pub model: Option<String>,
    /// The key itself, already read from the environment or from a command.
    pub key: Option<Secret>,
    /// The variable the key was read from, if it was one: a known vendor's key goes only to that vendor.
    pub key_env: Option<String>,
    /// A host the key may be sent to although it is not its vendor's.
    pub send_key_to: Option<String>,
    pub system: Option<String>,
    pub command: Vec<String>,
    /// Further arguments after `command`.
    pub args: Vec<String>,
    /// Variables a process agent gets beside the few every process gets.
    pub env: Vec<(String, String)>,
    pub process: ProcessSpec,
    /// Of a command.
    pub output: OutputForm,
    /// The way to log in that an ACP agent is asked for.
    pub login: Option<String>,
    pub script: Option<Arc<Script>>,
    pub timeouts: Timeouts,
    pub temperature: Option<f64>,
    /// Which of the forms that `OpenAI` has; none: what the model needs.
    pub api: Option<Api>,
    /// The version in Azure's older addresses.
    pub api_version: Option<String>,
    /// How hard a reasoning model thinks, in its vendor's word.
    pub effort: Option<String>,
    /// How many tokens it may think, where its API has a budget for that.
    pub thinking_tokens: Option<u64>,
    /// The user's own headers.
    pub headers: Vec<ExtraHeader>,
    /// A JSON object with the user's own keys of the request.
    pub body: Option<String>,
    /// The most tokens a reply may have; a call may ask for less.
    pub max_tokens: Option<u64>,
    /// How many calls of this agent may be under way at once.
    pub concurrent: Option<usize>,
    pub price: Option<Price>,
    pub max_usd_per_call: Option<Money>,
    pub max_tokens_per_call: Option<u64>,
}

/// The forms that `OpenAI` and those like it have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Api {
    Chat,
    Responses,
}

/// A header of the user's own.
#[derive(Clone, Debug)]
pub struct ExtraHeader {
    pub name: String,
    pub value: Secret,
    /// It was read from a variable: it goes nowhere unencrypted, and is taken out of what comes back.
    pub is_secret: bool,
}

/// Where a command finds the brief, and where in its output stands what it says: each a JSON pointer or a pattern.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct OutputForm {
    pub brief: BriefAs,
    pub reply: Option<String>,
    pub usage: Option<String>,
    pub cost: Option<String>,
    pub session: Option<String>,
    /// Before the name of a conversation to go on with.
    pub resume: Vec<String>,
}

/// How a command gets the brief.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum BriefAs {
    #[default]
    Stdin,
    Argument,
    File,
}

/// What holds an agent's processes, and how much they may do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessSpec {
    pub confined_by: Confinement,
    /// Where its program and what that needs is installed: read, never written.
    pub install: Vec<PathBuf>,
    /// Where it keeps its own state (sessions, credentials, caches): written by every call.
    pub state: Vec<PathBuf>,
    /// What of the network it needs to answer.
    pub network: Network,
    /// As a worker, go on with the conversation of the round before.
    pub continues: bool,
    /// Tool calls after which a call is stopped.
    pub max_steps: u32,
    pub most: Most,
}

impl Default for ProcessSpec {
    fn default() -> Self {
        Self {
            confined_by: Confinement::Landlock,
            install: Vec::new(),
            state: Vec::new(),
            network: Network::Out,
            continues: true,
            max_steps: 200,
            most: Most::default(),
        }
    }
}

/// Who keeps an agent's processes from what they may not touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Confinement {
    /// The kernel, on our request, where it can; else as `Own`.
    #[default]
    Landlock,
    /// The agent's own sandbox, where it has one: some cannot work inside another.
    Own,
    /// Nobody: the user said so.
    Nobody,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    pub connect: Duration,
    /// From the request to the first byte of the reply's body: a local model may have to be loaded first.
    pub first_byte: Duration,
    /// Between two pieces of a stream.
    pub idle: Duration,
    /// The whole call, retries included.
    pub call: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(1),
            call: Duration::from_mins(10),
        }
    }
}
