//! One operation on a file fails, as on a full or broken disk, whichever it is: the store is whole or was never made, the
//! user's files are theirs to the byte, no recorded answer is paid for again, and the next commands go on.
//!
//! Here a sample, spread over all operations. `GADFLY_EVERY_WRITE=1` tries each, the ways to go on by turns;
//! `GADFLY_EVERY_WRITE=ways` tries every way after each, `GADFLY_EVERY_WRITE=fsync` only one kind of call.

mod accepting;
mod batch;
mod first_run;
mod gc;

use std::collections::BTreeSet;
use std::process::Command;

use crate::strace::{self, Traced};

/// What writes, syncs, names and removes files, by the names of system calls.
const CALLS: [&str; 17] = [
    "write",
    "writev",
    "pwrite64",
    "fsync",
    "fdatasync",
    "ftruncate",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "unlink",
    "unlinkat",
    "fchmod",
];

/// One operation, and a way to go on after it failed.
struct Point {
    call: String,
    nth: usize,
    way: &'static str,
}

/// Has a command's operations fail one after the other: `begin` sets everything back and gives the command, `go_on` goes on
/// from what it left. About `sample` operations are tried, unless all are.
fn sweep(
    what: &str,
    ways: &[&'static str],
    sample: usize,
    begin: impl Fn() -> Command,
    go_on: impl Fn(&str, &Traced, &str),
) {
    let wish = std::env::var("GADFLY_EVERY_WRITE").ok();
    let (every_one, every_way) = (wish.is_some(), wish.as_deref() == Some("ways"));
    let counted = strace::run(&begin(), &CALLS, &[], None);
    assert!(counted.output.status.success(), "{what}: {}", counted.said());
    let operations = counted.operations();
    let total: usize = operations.values().map(BTreeSet::len).sum();
    let mut points = Vec::new();
    let only = CALLS.into_iter().find(|call| wish.as_deref() == Some(*call));
    for (call, nths) in operations.into_iter().filter(|(call, _)| only.is_none_or(|only| only == call)) {
        // Of each kind one at least.
        let every = if every_one { 1 } else { (total / sample).clamp(1, nths.len()) };
        for nth in nths.into_iter().step_by(every) {
            let turn = points.len() % ways.len();
            let ways = if every_way { ways } else { &ways[turn..=turn] };
            points.extend(ways.iter().map(|way| Point { call: call.clone(), nth, way }));
        }
    }
    let (tries, mut met, mut ended) = (points.len(), 0, 0);
    for Point { call, nth, way } in points {
        let place = format!("{what}: {call} {nth} failed, then {way}");
        let error = if nth % 2 == 0 { "EIO" } else { "ENOSPC" };
        let fault = format!("{call}:error={error}:when={nth}");
        let failed = strace::run(&begin(), &[&call], &[&fault], None);
        // What fails with it in another thread may be no file: then only what comes after it has to be right.
        if failed.met().all(strace::is_about_a_file) {
            let said = failed.said();
            assert!(!said.contains("panicked") && !failed.was_killed(), "{place}: {said}");
        }
        met += usize::from(failed.met().next().is_some());
        ended += usize::from(!failed.output.status.success());
        go_on(way, &failed, &place);
    }
    say!(
        "{what}: {total} operations, {tries} tries, {met} met one, {ended} of the commands did not end well"
    );
    // Threads share the work differently from one time to the next, so not every number is reached again.
    assert!(met * 10 > tries * 7, "{what}: the faults were hardly met: {met} of {tries}");
}

/// A command that has to be fine afterwards.
fn fine(place: &str, plain: &mut Command, codes: &[i32]) -> String {
    let done = plain.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let is_fine = done.status.code().is_some_and(|code| codes.contains(&code));
    assert!(
        is_fine && !said.contains("damaged") && !said.contains("panicked"),
        "{place}, then {:?}: {said}",
        plain.get_args().collect::<Vec<_>>()
    );
    String::from_utf8_lossy(&done.stdout).into_owned()
}
