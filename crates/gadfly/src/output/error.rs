//! Errors for people: what happened, where, what to do.
#![allow(clippy::print_stderr)] // this is where errors are printed

use crate::exit::{self, Code};

/// A mistake of the caller's or of the configuration's.
pub fn usage(message: &str) -> Code {
    anstream::eprintln!("error: {message}");
    exit::USAGE
}

/// A fault of ours, or of the machine's.
pub fn fault(message: &str) -> Code {
    anstream::eprintln!("error: {message}");
    exit::FAILED
}
