//! `kill -9` after any record: taken up again, a pipeline has the same files and scores, and no answer is paid for twice.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::pipeline::desk::Desk;
use crate::pipeline::stage::{PIPELINE, THREE, gives, project, three};

/// The three, as programs that count how often they are called.
fn counted() -> Desk {
    let desk = project(THREE);
    let seen = desk.beside("seen");
    fs::create_dir(&seen).unwrap();
    let may_write_there = format!("state = [{}]\n", json!(seen));
    let log = seen.join("log").display().to_string();
    for (agent, file, text) in [
        ("strategist", "out/memo.md", "# Estimand"),
        ("coder", "out/code.py", "print(1)"),
        ("writer", "out/paper.md", "# Paper"),
    ] {
        let script =
            format!("cat >/dev/null; echo {agent} >>{log}; mkdir -p out; echo '{text}' >{file}; echo done");
        desk.program(agent, &script);
        desk.configure(&may_write_there);
        let critic = format!("{agent}-critic");
        desk.program(&critic, &format!("cat >/dev/null; echo {critic} >>{log}; echo '{}'", gives(90)));
        desk.configure(&may_write_there);
    }
    desk
}

fn calls(desk: &Desk) -> usize {
    fs::read_to_string(desk.beside("seen/log")).unwrap_or_default().lines().count()
}

/// Drives a pipeline until `record` is told, and kills it there. False if it ended before.
fn killed_after(desk: &Desk, record: u64) -> bool {
    let args = [&PIPELINE[..], &["--json"]].concat();
    let mut child = desk.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let told = BufReader::new(child.stdout.take().unwrap());
    let reached = told.lines().map_while(Result::ok).any(|line| {
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        line["seq"].as_u64().is_some_and(|seq| seq >= record)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    reached
}

#[test]
fn killed_after_every_few_records_it_ends_the_same_and_pays_at_most_for_what_was_lost() {
    let whole = counted();
    let said = whole.gadfly(&PIPELINE);
    assert_eq!(said.code, 0, "{}", said.err);
    let (files, paid) = (whole.files(), calls(&whole));
    let contents = |desk: &Desk, files: &std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        let root = desk.path("");
        let rows =
            files.iter().map(|(path, bytes)| (path.strip_prefix(&root).unwrap().to_owned(), bytes.clone()));
        rows.collect::<Vec<_>>()
    };
    let expected = contents(&whole, &files);
    assert_eq!(paid, 6);
    let mut kills = 0;
    for record in (1..).step_by(6) {
        let desk = counted();
        if !killed_after(&desk, record) {
            break;
        }
        kills += 1;
        let run = desk.run_id();
        if desk.state() != "approved" {
            let said = desk.gadfly(&["resume", &run, "--unattended"]);
            assert_eq!(said.code, 0, "after record {record}: {}", said.err);
        }
        assert_eq!(contents(&desk, &desk.files()), expected, "after record {record}");
        assert!(calls(&desk) <= paid + 1, "after record {record}: {} calls", calls(&desk));
        let shown = desk.gadfly(&["show", &run, "--json"]).out;
        let state: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let scores: Vec<_> =
            state["pipeline"]["agents"].as_array().unwrap().iter().map(|a| a["score"].as_u64()).collect();
        assert_eq!(scores, [Some(90); 3], "after record {record}");
    }
    assert!(kills > 3, "{kills} kills are too few to say anything");
}

/// Kills a pipeline at the `nth` such system call of one of its threads; false if it came through.
fn killed_at(desk: &Desk, call: &str, nth: usize) -> bool {
    let plain = desk.command(&PIPELINE);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e"]);
    traced.arg(format!("inject={call}:signal=KILL:when={nth}")).arg("--").arg(plain.get_program());
    traced.args(PIPELINE).current_dir(desk.path("")).env_clear();
    traced.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    traced.stdin(Stdio::null()).output().unwrap().status.signal() == Some(9)
}

#[test]
fn killed_while_it_delivers_it_can_be_undone_and_cancelled_and_nothing_lies_about() {
    if Command::new("strace").arg("-V").output().is_err() {
        return;
    }
    let litter = |desk: &Desk| {
        let files = desk.files();
        let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
        files.keys().map(name).filter(|name| name.starts_with(".gadfly-")).collect::<Vec<_>>()
    };
    let mut half = 0;
    for (call, nth, way) in [
        ("renameat", 1, "cancel"),
        ("fchmod", 2, "undo"),
        ("fchmod", 4, "undo"),
        ("renameat", 1, "undo"),
        ("renameat", 1, "resume"),
        ("rename", 12, "undo"),
        ("rename", 12, "cancel"),
    ] {
        let desk = three();
        desk.write("out/memo.md", "mine, not committed\n");
        let what = format!("killed at {call} {nth}, then {way}");
        if !killed_at(&desk, call, nth) {
            continue;
        }
        if desk.gadfly(&["runs", "--json"]).out.is_empty() {
            // The making of the store makes such calls, too.
            continue;
        }
        half += usize::from(!litter(&desk).is_empty());
        let said = desk.gadfly(&[way, &desk.run_id()]);
        let is_nothing = said.err.contains("changed none of your files");
        assert!(said.code == 0 || way == "undo" && is_nothing, "{what}: {said:?}");
        assert_eq!(litter(&desk), Vec::<String>::new(), "{what}");
        if way == "resume" {
            assert_eq!(desk.state(), "approved", "{what}");
            assert_eq!(desk.gadfly(&["undo", &desk.run_id(), "--yes"]).code, 0, "{what}");
        }
        // What was delivered whole before the kill stays when the run is cancelled.
        if (call, way) != ("rename", "cancel") {
            assert_eq!(desk.read("out/memo.md"), "mine, not committed\n", "{what}");
        }
    }
    assert!(half > 0, "no kill left anything");
}
