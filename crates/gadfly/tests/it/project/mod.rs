//! A project with a registry under the real binary, without a run: what `check`, `next`, `why`, `gate`, `adopt`,
//! `learn` and `doctor` say about it, and what they refuse.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

mod adopting;
mod asking;
mod checking;
mod desk;
mod gates;
mod hooks;
mod learning;
