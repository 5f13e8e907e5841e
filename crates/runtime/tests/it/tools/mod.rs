//! Tools with real files and real processes: what a model asks for is done below the run's folder and nowhere
//! else, within bounds, and what cannot be done is said.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

mod commands;
mod escapes;
mod files;
mod pictures;
mod remote;
mod stage;
