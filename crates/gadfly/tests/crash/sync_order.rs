//! A trace of system calls: the journal is on disk before a request's first byte leaves.

use std::fs;
use std::process::Command;

use crate::{Project, serve};

#[test]
fn the_log_is_synced_before_each_requests_first_byte() {
    if Command::new("strace").arg("--version").output().is_err() {
        say!("SKIPPED: strace is not installed, so the order of sync and send was not checked");
        return;
    }
    let (_runtime, server) = serve(0);
    let project = Project::new(&server, "critic:R,R,A");
    let trace = project.path().join("trace.txt");
    let calls = "trace=pwrite64,write,writev,sendto,sendmsg,fsync,fdatasync";
    let gadfly = env!("CARGO_BIN_EXE_gadfly");
    let args = ["run", "Write.", "--criterion", "at most 3 words", "--worker", "w", "--critic", "c"];
    let mut command = Command::new("strace");
    command.args(["-f", "-y", "-s", "64", "-e", calls, "-o"]).arg(&trace).arg(gadfly).args(args);
    command.current_dir(project.path()).env("HOME", project.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("ptrace") && !output.status.success() {
        say!("SKIPPED: strace may not trace here: {said}");
        return;
    }
    assert!(output.status.success(), "{said}");
    let trace = fs::read_to_string(&trace).unwrap();
    let requests = check(&trace).unwrap_or_else(|e| panic!("{e}\n{trace}"));
    assert_eq!(requests, 6, "a loop of three rounds makes six calls");
    // The check itself can fail: without the syncs the same trace is refused.
    let unsynced: String = trace.lines().filter(|l| !l.contains("sync(")).flat_map(|l| [l, "\n"]).collect();
    assert!(check(&unsynced).is_err(), "the check does not see a missing sync");
}

/// Every request must follow a write to the log that a sync has completed since. Counts the requests.
fn check(trace: &str) -> Result<usize, String> {
    let mut requests = 0;
    let (mut written, mut dirty, mut synced_since_request) = (false, false, false);
    for line in trace.lines() {
        let log = line.contains("journal.db-wal>");
        if log && line.contains("pwrite64(") {
            (written, dirty) = (true, true);
        } else if log && line.contains("sync(") {
            dirty = false;
            synced_since_request = true;
        } else if line.contains("POST /v1/") {
            requests += 1;
            if !written || dirty || !synced_since_request {
                return Err(format!("request {requests} left before its record was on disk: {line}"));
            }
            synced_since_request = false;
        }
    }
    Ok(requests)
}
