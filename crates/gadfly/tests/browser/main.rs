//! The dashboard in a real Chromium: every page and every action, as a person meets them. A test sets a project up,
//! starts `gadfly serve`, and plays a scenario of `tests/node/browser`, which fails on any console error, page error or
//! request to another origin, too. What the server answers by itself is `serve`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

#[path = "../kit/mod.rs"]
mod kit;
use crate::kit::desk;
use crate::kit::pursuit;
use crate::kit::server;
use crate::kit::stage;

mod following;
mod gallery;
mod hostile;
mod keeping;
mod listing;
mod opening;
mod pictures;
mod stolen;
mod theatre;

/// A loop whose critic is a person, who is not there.
const JUDGE: [&str; 10] = [
    "run",
    "Judge it yourself",
    "--worker",
    "w",
    "--critic",
    "me",
    "--criterion",
    "it is short",
    "--yes",
    "--unattended",
];
