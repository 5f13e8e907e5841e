//! Errors for people: what happened, where, what to do.

use owo_colors::OwoColorize as _;

use super::{print, safe};
use crate::exit::{self, Code};

/// A mistake of the caller's or of the configuration's.
pub fn usage(message: &str) -> Code {
    say(message);
    exit::USAGE
}

/// A fault of ours, or of the machine's.
pub fn fault(message: &str) -> Code {
    say(message);
    exit::FAILED
}

fn say(message: &str) {
    print::err(&format!("{} {}", "error:".red().bold(), safe::block(message)));
}

pub fn warn(message: &str) {
    print::err(&format!("{} {}", "warning:".yellow().bold(), safe::block(message)));
}
