//! Reads the user's project: configuration as typed values with spans. Files are read, never written.
//!
//! Text goes in, typed values and *every* problem at once come out; the caller draws the problems and
//! decides what to do. No clock, no network, no environment: paths of files outside the project (the
//! user's own config) are named by the caller.

pub mod adapter;
pub mod adopt;
pub mod config;
pub mod deduction_table;
pub mod file;
pub mod fingerprint;
pub mod known;
pub mod landing;
pub mod layout;
pub mod markdown;
pub mod place;
pub mod reference;
pub mod registry;
pub mod root;
pub mod rubric;
pub mod starter;
pub mod suggest;
pub mod tasks;
pub mod title;
pub mod trust;

pub use config::{AgentConfig, AgentKind, Config, GoalConfig, LoopConfig, LoopProtocol, Overrides};
pub use place::{ConfigLayer, Problem, ProblemLevel, Source, SourceSpan, Sourced};
pub use root::Root;
