//! `kill -9` after any record: taken up again, a pipeline has the same files and scores, and no answer is paid for twice.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::json;

use crate::desk::Desk;
use crate::stage::{PIPELINE, THREE, gives, project};

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
