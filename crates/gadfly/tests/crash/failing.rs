//! One operation of a first run fails, as on a full or broken disk: the store is whole or was never made, and the next
//! commands go on. A sample of the operations; `GADFLY_EVERY_WRITE=1` tries each.

use std::process::{Command, Stdio};

use crate::{Project, serve};

/// What fails, how often a first run does it at most, and every how many-th is tried here.
const OPERATIONS: [(&str, usize, usize); 5] =
    [("pwrite64", 170, 12), ("fsync", 16, 4), ("ftruncate", 4, 3), ("rename", 3, 1), ("linkat", 1, 1)];
const RUN: [&str; 8] = ["run", "Write.", "--criterion", "at most 3 words", "--worker", "w", "--critic", "c"];

#[test]
fn a_first_run_survives_whichever_operation_fails() {
    if Command::new("strace").arg("--version").stdout(Stdio::null()).status().is_err() {
        say!("SKIPPED: strace is not installed, so no operation was made to fail");
        return;
    }
    let (_runtime, server) = serve(0);
    let is_whole = std::env::var_os("GADFLY_EVERY_WRITE").is_some();
    let (mut tried, mut failed) = (0, 0);
    for (operation, most, step) in OPERATIONS {
        for when in (1..=most).step_by(if is_whole { 1 } else { step }) {
            for error in ["ENOSPC", "EIO"].iter().take(if is_whole { 2 } else { 1 }) {
                tried += 1;
                failed +=
                    usize::from(survives(&Project::new(&server, "critic:R,R,A"), operation, when, error));
            }
        }
    }
    say!("{tried} first runs, {failed} of them ended by the operation that failed");
    assert!(failed > tried / 4, "the faults were hardly met: {failed} of {tried}");
}

/// Says whether the first run failed.
fn survives(project: &Project, operation: &str, when: usize, error: &str) -> bool {
    let inject = format!("inject={operation}:error={error}:when={when}");
    let traced = format!("trace={operation}");
    let mut first = Command::new("strace");
    first
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &traced, "-e", &inject])
        .arg(env!("CARGO_BIN_EXE_gadfly"));
    first.args(RUN).current_dir(project.path()).env("HOME", project.path());
    first.env_remove("XDG_STATE_HOME").env_remove("XDG_CONFIG_HOME").stdin(Stdio::null());
    let first = first.output().unwrap();
    let place = format!("{operation} {when} {error}");
    let said = String::from_utf8_lossy(&first.stderr);
    assert!(!said.contains("panicked"), "{place}: {said}");
    let again = |args: &[&str], fine: &[i32]| {
        let output = project.gadfly(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code().is_some_and(|code| fine.contains(&code)),
            "{place}, then {args:?}: {said}"
        );
        assert!(!said.contains("damaged") && !said.contains("panicked"), "{place}, then {args:?}: {said}");
    };
    again(&["runs"], &[0]);
    // Nothing to resume is a usage error where there is no store at all.
    again(&["resume", "--all"], &[0, 2]);
    again(&RUN, &[0]);
    again(&["runs"], &[0]);
    !first.status.success()
}
