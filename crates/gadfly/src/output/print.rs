//! Writing lines: to standard output, where results go, and to standard error, where everything else goes.

use std::io::{self, Write as _};

use gadfly_engine::masked::masked;

use crate::exit::{self, Code};

/// A line of a result. `Err` is the code to end with: a reader that went away is no error.
pub fn out(line: &str) -> Result<(), Code> {
    let mut stdout = anstream::stdout().lock();
    checked(writeln!(stdout, "{line}").and_then(|()| stdout.flush()))
}

/// Bytes of a result, exactly.
pub fn out_bytes(bytes: &[u8]) -> Result<(), Code> {
    let mut stdout = io::stdout().lock();
    checked(stdout.write_all(bytes).and_then(|()| stdout.flush()))
}

/// A line for the person, without a key that stands where none belongs. If nobody can read it, that is no reason to stop.
pub fn err(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", masked(line));
}

/// As `err`, without the line's end.
pub fn err_part(text: &str) {
    let mut stderr = anstream::stderr().lock();
    let _ = write!(stderr, "{text}").and_then(|()| stderr.flush());
}

fn checked(written: io::Result<()>) -> Result<(), Code> {
    match written {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(exit::OK),
        Err(e) => Err(super::error::fault(&format!("standard output cannot be written: {e}"))),
    }
}

/// Lines for the person.
pub fn err_lines(lines: &[String]) {
    for line in lines {
        err(line);
    }
}
