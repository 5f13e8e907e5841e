//! Goals pursued by programs with tools of their own, through the real binary: their steps are numbered and
//! watched, the critic's word and a person's break them off, and they go on in the conversation they were in.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::kit::desk;

mod held;
mod long;
mod processes;
mod pursuing;
mod worker;
