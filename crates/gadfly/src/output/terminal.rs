//! What is at the other end of the three standard streams.

use std::io::{IsTerminal as _, stderr, stdin, stdout};

/// Someone can be asked: they type here and read what we say.
pub fn can_ask() -> bool {
    stdin().is_terminal() && stderr().is_terminal()
}

pub fn person_at_stdin() -> bool {
    stdin().is_terminal()
}

pub fn stdout_is_terminal() -> bool {
    stdout().is_terminal()
}

/// Whether lines on standard error can be drawn over.
pub fn is_live() -> bool {
    stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
}

/// Columns of the terminal on standard error.
pub fn width() -> usize {
    // A terminal that was never told its size says 0.
    let size = rustix::termios::tcgetwinsize(stderr()).ok().filter(|size| size.ws_col > 0);
    size.map_or(80, |size| usize::from(size.ws_col)).max(20)
}

/// Lines of the terminal on standard error.
pub fn rows() -> usize {
    let size = rustix::termios::tcgetwinsize(stderr()).ok().filter(|size| size.ws_row > 0);
    size.map_or(24, |size| usize::from(size.ws_row))
}
