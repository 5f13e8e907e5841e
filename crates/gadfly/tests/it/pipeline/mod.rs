//! Pipelines through the real binary: what agents say is scripted, everything else is as a user has it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::kit::desk;

mod damage;
mod guards;
mod ignored;
mod killed;
mod modes;
mod people;
mod signed;
mod signed_edits;
use crate::kit::stage;
mod stories;
