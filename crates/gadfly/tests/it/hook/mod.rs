//! `gadfly hook stop` at the real binary, as coding agents call it: what it answers on standard output, and that nothing
//! that goes wrong holds a session.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

pub mod desk;
mod gate;
mod money;
mod nested;
mod plugins;
mod programs;
mod stopping;
