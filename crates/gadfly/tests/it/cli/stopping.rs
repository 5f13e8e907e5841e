//! Runs under way: cancelled, owned, interrupted.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::cli::support::{APPROVE, Project};

const RUN: [&str; 5] = ["run", "Write the abstract", "--criterion", "at most 150 words", "--json"];

fn hanging(project: &Project) -> (Child, BufReader<ChildStdout>, String) {
    hanging_at(project, &RUN)
}

/// A run whose critic does not answer, and its id, once that critic has been called.
#[allow(clippy::zombie_processes)] // the caller waits for it
fn hanging_at(project: &Project, args: &[&str]) -> (Child, BufReader<ChildStdout>, String) {
    let mut child = project.spawn(args);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    loop {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the run ended before its critic was called");
        let event: serde_json::Value = serde_json::from_str(&line).unwrap();
        if event["event"] == "effect_requested" && event["data"]["kind"]["turn"]["role"] == "critic" {
            let run = event["run"].as_str().unwrap().to_owned();
            return (child, out, run);
        }
    }
}

fn project() -> Project {
    Project::scripted(&["One"], &["!hang"], "")
}

#[test]
fn a_run_is_cancelled_from_another_process() {
    let project = project();
    let (mut child, mut out, run) = hanging(&project);
    let said = project.gadfly(&["cancel", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(7), "{rest}");
    assert_eq!(project.states(), ["aborted"]);
    assert_eq!(project.gadfly(&["resume", &run]).code, 2, "an aborted run is over");
    let listed = project.gadfly(&["runs", "--json"]);
    let listed: serde_json::Value = serde_json::from_str(listed.out.lines().next().unwrap()).unwrap();
    assert_eq!(listed["cost_unknown"], true, "nobody knows what the cancelled call has cost: {listed}");
    assert!(listed["tokens"].as_u64().is_some_and(|n| n > 0), "its reservation stays spent: {listed}");
    assert_eq!(listed["calls"], 2, "{listed}");
}

#[test]
fn a_parked_run_is_cancelled_here_and_now() {
    let project = Project::scripted(&["One"], &["!unavailable"], "");
    assert_eq!(project.gadfly(&RUN).code, 5);
    let run = project.run_id();
    assert_eq!(project.gadfly(&["pause", &run]).code, 2, "nobody drives it, so there is nothing to pause");
    let said = project.gadfly(&["cancel", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.states(), ["aborted"]);
}

#[test]
fn a_run_belongs_to_the_process_that_drives_it() {
    let project = project();
    let (mut child, mut out, run) = hanging(&project);
    let said = project.gadfly(&["resume", &run]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains(&format!("process {}", child.id())), "{}", said.err);
    assert_eq!(project.gadfly(&["runs", "rm", &run]).code, 2);
    assert_eq!(project.states(), ["running"]);
    project.gadfly(&["cancel", &run]);
    out.read_to_string(&mut String::new()).unwrap();
    child.wait().unwrap();
}

#[test]
fn a_pause_waits_for_the_call_and_resume_goes_on() {
    // A critic that answers when the test says so.
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let answer = project.path("answer");
    assert!(Command::new("mkfifo").arg(&answer).status().unwrap().success());
    let critic = format!(
        "[agents.gate]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat >/dev/null; cat '{}'\"]\nread = [\"answer\"]\n",
        answer.display()
    );
    project.write("gadfly.toml", &(project.read("gadfly.toml") + &critic));
    let (mut child, mut out, run) =
        hanging_at(&project, &[&RUN[..], &["--critic", "gate", "--trust"]].concat());
    let said = project.gadfly(&["pause", &run]);
    assert!(said.code == 0 && said.err.contains("gadfly resume"), "{}", said.err);
    let mut line = String::new();
    while !line.contains("pause_requested") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "the pause did not arrive");
    }
    assert_eq!(project.states(), ["running"], "the call under way is waited for");
    std::fs::write(&answer, "[STATUS: REJECTED]\n- shorter\n").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(4), "{rest}");
    assert_eq!(project.states(), ["waiting(paused)"]);
    assert!(rest.contains("reviewed"), "its verdict counts: {rest}");
}

#[test]
fn an_interrupted_run_is_resumed_without_repeating_what_is_recorded() {
    let project = project();
    let (mut child, mut out, run) = hanging(&project);
    let pid = Pid::from_child(&child);
    let mut err = BufReader::new(child.stderr.take().unwrap());
    kill_process(pid, Signal::INT).unwrap();
    let mut line = String::new();
    while !line.contains("stopping: ") {
        line.clear();
        assert!(err.read_line(&mut line).unwrap() > 0, "the first signal was not noticed");
    }
    kill_process(pid, Signal::INT).unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    let last: serde_json::Value = serde_json::from_str(rest.lines().last().unwrap()).unwrap();
    assert_eq!((last["outcome"].as_str(), last["exit"].as_u64()), (Some("interrupted"), Some(130)));

    assert_eq!(project.states(), ["interrupted"]);
    project.script("judge.toml", &[APPROVE, APPROVE]);
    let said = project.gadfly(&["resume", &run]);
    assert_eq!((said.code, said.out.as_str()), (0, "One"), "{}", said.err);
    assert!(!said.err.contains("worker writer: working…"), "{}", said.err);
}

#[test]
fn a_killed_run_is_followed_to_where_it_got() {
    let project = project();
    let (mut child, _out, run) = hanging(&project);
    child.kill().unwrap();
    child.wait().unwrap();
    let said = project.gadfly(&["follow", &run]);
    assert_eq!(said.code, 130, "{}", said.err);
    assert!(said.err.contains("draft: 3 bytes") && said.err.contains("gadfly resume"), "{}", said.err);
}

#[test]
fn a_run_is_followed_from_another_process_to_its_end() {
    let project = project();
    let (mut child, mut out, run) = hanging(&project);
    let mut follower = project.spawn(&["follow", &run, "--json"]);
    let mut told = BufReader::new(follower.stdout.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("node_started"), "history comes first: {line}");
    project.gadfly(&["cancel", &run]);
    out.read_to_string(&mut String::new()).unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!(follower.wait().unwrap().code(), Some(7), "{rest}");
    assert!(rest.contains("cancel_requested"), "{rest}");
}

/// The journal's file may not grow any more: as on a full disk.
#[test]
fn a_journal_that_cannot_be_written_stops_the_run_and_loses_nothing() {
    let project = Project::scripted(&["unused"], &[APPROVE], "");
    let noise: Vec<String> = (0..40_000u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761))).collect();
    let noise = noise.concat();
    project.script("writer.toml", &[&noise]);
    let gadfly = env!("CARGO_BIN_EXE_gadfly");
    let limited =
        format!("trap '' XFSZ; ulimit -f 200; exec {gadfly} run 'Write' --criterion 'at most 9 words'");
    let plain = project.command(&[]);
    let env = plain.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let mut shell = Command::new("sh");
    shell.args(["-c", &limited]).env_clear().envs(env).current_dir(project.path("")).stdin(Stdio::null());
    let said = project.said(&shell.output().unwrap());
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("nothing is lost: gadfly resume"), "{}", said.err);
    assert_eq!(project.states(), ["interrupted"]);
    let resumed = project.gadfly(&["resume", &project.run_id()]);
    assert_eq!(resumed.code, 0, "{}", resumed.err);
    assert_eq!(resumed.out, noise);
}

/// Results as long as this fill a pipe within a few rounds.
fn wordy() -> Project {
    let reject = format!("[STATUS: REJECTED]\\n- fix {}", "x".repeat(30_000));
    let (drafts, rejections) = (vec!["draft"; 12], vec![reject.as_str(); 12]);
    Project::scripted(&drafts, &rejections, "")
}

#[test]
fn a_reader_that_stops_reading_does_not_stop_a_run_nor_its_end() {
    let project = wordy();
    let args = ["run", "Write it", "--criterion", "at least 3 words", "--rounds", "12", "--json"];
    let mut stuck = project.spawn(&args);
    let ended = |said: &str| said.contains("halted(cap)");
    let by = Instant::now() + Duration::from_mins(1);
    while !ended(&project.gadfly(&["runs"]).out) {
        assert!(Instant::now() < by, "the run does not end");
        thread::sleep(Duration::from_millis(200));
    }
    assert!(stuck.try_wait().unwrap().is_none(), "its last words are still to be read");
    kill_process(Pid::from_child(&stuck), Signal::INT).unwrap();
    assert_eq!(stuck.wait().unwrap().code(), Some(130));

    // Read slowly but at all, nothing is missing.
    let mut slow = project.spawn(&args);
    thread::sleep(Duration::from_millis(500));
    let mut said = String::new();
    slow.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(slow.wait().unwrap().code(), Some(3));
    assert_eq!(said.matches("\"rejected\"").count(), 12, "{}", said.chars().take(3000).collect::<String>());
}
