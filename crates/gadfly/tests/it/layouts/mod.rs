//! Projects of neuroflow and nubos-pilot under the real binary: a phase is a loop with its rubric, its agents and its
//! log; a task is an audit with its criteria, commands and reports. Every refusal says what to do.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

mod desk;
mod phases;
mod tasks;
