//! Separation of powers, through the real binary: who judges changes nothing, who works changes its own tree
//! only, and the record says what held.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use std::io::Write as _;

use crate::kit::desk;
use crate::kit::pursuit;
use crate::kit::stage;

mod environment;
mod escapes;
use crate::kit::kinds;
mod own_layers;
mod readers;
mod settings;
mod terminals;
mod trusted;
mod workers;

/// In every byte that somebody tries to leave where it does not belong.
const EVIL: &str = "EVIL-7391";

/// Whether this machine can hold processes. Where it cannot, what needs it is skipped, loudly.
fn landlock(test: &str) -> bool {
    match gadfly_runtime::os::landlock() {
        Ok(_) => true,
        Err(why) => {
            // Past the test harness, which keeps to itself what passing tests print.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: there is no Landlock here ({why})");
            false
        }
    }
}

/// Whether commands can have rooms of their own on this machine.
fn rooms(test: &str) -> bool {
    gadfly_runtime::os::ProcessLauncher::with_supervisor(env!("CARGO_BIN_EXE_gadfly"));
    match gadfly_runtime::os::apart() {
        Ok(()) => true,
        Err(why) => {
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: there are no rooms of its own here ({why})");
            false
        }
    }
}
