//! What a user notices of workspaces: the worker sees the project, the project changes only on acceptance.
//!
//! Real repositories and the real git, started through the launcher as in a run.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "test support outside `#[test]` functions may unwrap too")]

mod accepting;
mod committing;
mod conflicts;
mod hostile;
mod in_place;
mod large;
mod snapshots;
mod support;
