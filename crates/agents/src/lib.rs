//! Talks: one thin translator per kind of agent, from a turn to an answer.
//!
//! It reads no files and no environment, starts no process and decides nothing: keys, scripts and the
//! launcher are handed in, and what an answer means is the engine's business. A person is no kind of
//! transport: the runtime asks through the journal's inbox.
//!
//! ```
//! use gadfly_agents::{AgentServices, AgentSpec, Script, ScriptedReply, build};
//!
//! let script = Script::new([ScriptedReply::text("[STATUS: APPROVED]\nGood.")]);
//! let spec = AgentSpec { name: "critic".into(), script: Some(script.into()), ..AgentSpec::default() };
//! assert!(build("scripted", spec, &AgentServices::new()).is_ok());
//! ```

mod acp;
pub mod agent;
mod anthropic;
mod beside;
mod cli;
mod command;
mod environment;
pub mod fetch;
mod google;
mod http;
pub mod launcher;
mod lines;
pub mod local_get;
pub mod mcp;
mod openai;
mod own;
mod prices;
pub mod probe;
mod process;
mod provider;
mod registry;
mod responses;
pub mod scripted;
mod secret;
mod services;
mod spec;
mod vendors;

pub use agent::{
    Agent, Call, CallError, CallReply, CaseText, CriticCase, Edit, Files, FolderFiles, Link, MAX_REPLY,
    Picture, Progress, RawToolCall, RawToolResult, Spoken,
};
pub use environment::is_usual;
pub use fetch::{Fetched, Fetcher};
pub use launcher::{
    Command, Exit, Finished, LaunchError, Launcher, Most, Network, Peak, Sandbox, StdinSource, Talk,
};
pub use mcp::{McpSaid, McpServers, McpSpec};
pub use own::Unheld;
pub use prices::price;
pub use provider::{InMemoryHealth, LONGEST_MS as LONGEST_WAIT_MS, Notice, ProviderHealth};
pub use registry::{AgentKindEntry, BuildError, KINDS, build, check_output, kind_edits_files, sends_to};
pub use scripted::{Fault, Repeat, Script, ScriptError, ScriptedReply};
pub use secret::Secret;
pub use services::{AgentServices, Clock, Jitter};
pub use spec::{AgentSpec, Api, BriefAs, Confinement, ExtraHeader, OutputForm, ProcessSpec, Timeouts};
pub use vendors::{LengthField, VENDORS, Vendor, Wire};
