//! Carries out: drives the engine, journal first, then performs effects and feeds replies back.
//!
//! It decides nothing about a run: it stamps inputs, commits each with the engine's step, performs what
//! the step asks for, concurrently and within limits, and hands the replies back. Surfaces talk to
//! [`Gadfly`], the one façade, and read records; they hold no state of their own.
//!
//! # As a library
//!
//! Programs with agents of their own begin with [`prelude`] and [`embed`]; [`Gadfly`] lists, follows, answers and steers
//! runs. These, and [`agent`], are what the version number is about: they change incompatibly only with its second
//! number, and what is marked `#[non_exhaustive]` may grow in between. The other modules are public for the binary and its
//! tests, and may change with every version.

pub mod agent_set;
pub mod agents;
pub mod batch;
pub mod call_site;
pub mod clock;
pub mod consent;
pub mod doctor;
pub mod driver;
mod edits;
pub mod embed;
pub mod folder;
pub mod hooks;
pub mod host;
mod log_file;
pub mod os;
pub mod passed_agent;
pub mod perform;
pub mod prepare;
pub mod process_env;
pub mod project_status;
pub mod provider_health;
pub mod sandbox;
pub mod save;
pub mod service;
pub mod setup;
mod sign_off;
pub mod signing;
pub mod survey;
mod task_status;
pub mod tools;
pub mod trust;
pub mod undo;
pub mod user_dirs;
pub mod verify;
pub mod witness;
pub mod workspace;

pub use agent_set::AgentSet;
pub use driver::{DriveError, Ended, Stop, Update};
pub use host::Host;
pub use os::supervise;
pub use service::Gadfly;

/// What most programs that embed runs need, for `use gadfly_runtime::prelude::*`.
pub mod prelude {
    pub use gadfly_agents::{CallError, CaseText};
    pub use gadfly_engine::{FailureKind, Limits, Outcome, Role, Waiting};
    pub use gadfly_journal::{ListFilter, Record, RunId, Summary};

    pub use crate::embed::{
        AgentFn, AgentTurn, CriticFn, CriticRubric, CriticVerdict, Draft, OwnAgent, RunBuilder, RunError,
        RunResult,
    };
    pub use crate::service::{Gadfly, Raise};
    pub use crate::{Stop, Update, supervise};
}

/// What an embedding program needs to bring an agent of its own.
pub mod agent {
    pub use gadfly_agents::{Agent, Call, CallError, CallReply, Link, Spoken};
}
