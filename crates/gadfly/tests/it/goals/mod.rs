//! Every situation of a goal, through the real binary: what the worker does is scripted, everything else is as a user
//! has it. The record of each is read as a user would read it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::corpus;
use crate::kit::desk;

mod caps;
mod contained;
mod first;
mod folders;
mod fresh;
mod growth;
mod headway;
mod in_place;
mod killed;
mod long;
mod people;
mod processes;
use crate::kit::pursuit;
mod shapes;
mod stories;
mod watching;
mod weakened;
mod whole_change;
mod wire;
