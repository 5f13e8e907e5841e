//! Runs inside another program: its own agents, its own store, a few lines.
//!
//! [`RunBuilder`] has a constructor for every protocol that judges ([`RunBuilder::revise`], [`RunBuilder::score`],
//! [`RunBuilder::converge`], [`RunBuilder::audit`]), one for goals ([`RunBuilder::goal`]) and one for protocols of the
//! program's own ([`RunBuilder::protocol`]). Agents are closures ([`AgentFn`]), critics that are functions from a draft to
//! a verdict ([`CriticFn`]), people ([`OwnAgent::person`]) or implementations of [`Agent`](crate::agent::Agent).
//!
//! ```
//! use gadfly_runtime::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let worker = AgentFn::new(|turn| async move {
//!     Ok(if turn.round == Some(1) { "A pond." } else { "A frog in a pond." }.to_owned())
//! });
//! let critic = CriticFn::new(|draft, _rubric| {
//!     if draft.text().contains("frog") {
//!         CriticVerdict::approve("a frog is named")
//!     } else {
//!         CriticVerdict::reject(["Name a frog."])
//!     }
//! });
//! let store = std::env::temp_dir().join(format!("gadfly-doc-{}", std::process::id()));
//! let done = RunBuilder::revise("Write a line about a pond.", worker, critic)
//!     .criterion("names a frog")
//!     .run(&store)
//!     .await?;
//! assert!(matches!(done.outcome, Outcome::Approved { .. }));
//! assert_eq!(done.draft.as_deref(), Some("A frog in a pond."));
//! # std::fs::remove_dir_all(store)?;
//! # Ok(())
//! # }
//! ```
#![warn(missing_docs)]

mod agent;
mod builder;
mod critic;
mod folder;
mod loops;
mod planning;
mod protocol;

use gadfly_engine::Outcome;
use gadfly_journal::RunId;

use crate::service::{GadflyError, ResumeError};

pub use agent::{AgentFn, AgentTurn, FolderAgentFn, OwnAgent, own_card};
pub use builder::RunBuilder;
pub use critic::{CriticFn, CriticRubric, CriticVerdict, Draft};
pub use folder::{AuditLoop, GoalRun};
pub use loops::{ConvergeLoop, ReviseLoop, ScoreLoop};
pub use protocol::OwnProtocol;

/// Why a run of the program's own has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] GadflyError),
    /// The run cannot begin as it was built.
    #[error("{0}")]
    Plan(String),
    /// The run could not be started, resumed or recorded.
    #[error(transparent)]
    Run(#[from] ResumeError),
    /// The program stopped the run; `resume` goes on with it.
    #[error("run `{run}` was interrupted")]
    Interrupted {
        /// The run to resume.
        run: RunId,
    },
}

/// How a run ended or parked, with the last draft's text. Only [`Outcome::Approved`] means that a critic approved it.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct RunResult {
    /// The id by which the run is listed, followed and resumed.
    pub run: RunId,
    /// How the run stands.
    pub outcome: Outcome,
    /// The last draft, where the work is one text.
    pub draft: Option<String>,
}
