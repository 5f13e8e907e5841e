//! `runs`, `show`, `gadfly` alone: what was done here.

use std::io::Read as _;

use insta::assert_snapshot;

use crate::cli::support::{APPROVE, Project, REJECT};

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

fn approved() -> (Project, String) {
    let project = Project::scripted(&["One\\nsame\\n", "Two\\nsame\\n"], &[REJECT, APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 0);
    let run = project.run_id();
    (project, run)
}

#[test]
fn a_run_is_readable_at_a_glance() {
    let (project, run) = approved();
    let said = project.gadfly(&["show", &run[..6]]);
    let dated = said.masked().lines().filter(|l| !l.starts_with("started ")).collect::<Vec<_>>().join("\n");
    assert_snapshot!(dated, @r#"
    exit 0
    --- stdout
    [run]  Write the abstract
    approved, revise, worker writer, critic judge

    round 1 of 3: draft of 9 bytes, rejected, 1 open item
      1. name the sample size

    round 2 of 3: draft of 9 bytes, approved
      Good.

    approved after 2 rounds
      draft      gadfly show [run] --draft
      spent      $0.00, 0 tokens, 4 calls
      run        [run]
    --- stderr
    "#);
}

#[test]
fn drafts_are_compared() {
    let (project, run) = approved();
    assert_snapshot!(project.gadfly(&["show", &run, "--diff"]).out, @r#"
    --- draft of round 1
    +++ draft of round 2
    @@ -1,2 +1,2 @@
    -One
    +Two
     same
    "#);
}

#[test]
fn the_critic_log_is_rendered_from_the_journal() {
    let (project, run) = approved();
    let log = project.gadfly(&["show", &run, "--critic-log"]).out;
    assert_eq!(log, project.read(&format!(".gadfly/runs/{run}/critic-log.md")));
    assert!(log.ends_with("## Final: APPROVED after 2 iterations\n"), "{log}");
}

#[test]
fn the_records_are_shown_and_the_state_is_json() {
    let (project, run) = approved();
    let log = project.gadfly(&["show", &run, "--log"]).out;
    assert!(log.contains("round_started") && log.contains("outcome approved"), "{log}");
    // What was sent and what came back, in words and not as digests.
    for said in ["│ Task: Write the abstract", "│ [STATUS: REJECTED]", "│ - name the sample size"] {
        assert!(log.contains(said), "{said}: {log}");
    }
    let state: serde_json::Value =
        serde_json::from_str(&project.gadfly(&["show", &run, "--json"]).out).unwrap();
    assert_eq!(state["summary"]["run"], run.as_str());
    assert_eq!(state["rounds"].as_array().unwrap().len(), 2);
}

#[test]
fn with_json_every_view_of_a_run_is_json() {
    let (project, run) = approved();
    for view in ["--log", "--draft", "--critic-log", "--diff"] {
        let said = project.gadfly(&["show", &run, view, "--json"]);
        assert!(said.code == 0 && !said.out.is_empty(), "{view}: {}", said.err);
        for line in said.out.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["run"], run.as_str(), "{view}: {line}");
        }
    }
    let log = project.gadfly(&["show", &run, "--log", "--json"]).out;
    assert!(log.contains(r#""event":"text""#) && log.contains("[STATUS: REJECTED]"), "{log}");
}

#[test]
fn a_list_that_is_cut_says_so() {
    let (project, _) = approved();
    project.script("judge.toml", &[REJECT]);
    project.gadfly(&[&RUN[..], &["--rounds", "1"]].concat());
    let said = project.gadfly(&["runs", "-n", "1"]);
    assert_eq!(said.out.lines().count(), 2, "{}", said.out);
    assert!(said.err.contains("the newest 1; for more: gadfly runs -n 10"), "{}", said.err);
    assert_eq!(project.gadfly(&["runs", "-n", "2"]).err, "");
}

#[test]
fn a_store_that_cannot_be_looked_into_is_not_an_empty_one() {
    let (project, _) = approved();
    let said = project.gadfly(&["runs", "--store", "gadfly.toml"]);
    assert_eq!(said.code, 2, "{}{}", said.out, said.err);
    assert!(said.err.contains("gadfly.toml cannot be made or used"), "{}", said.err);
}

#[test]
fn runs_are_listed_newest_first_and_filtered_by_state() {
    let (project, first) = approved();
    project.script("judge.toml", &[REJECT]);
    project.gadfly(&[&RUN[..], &["--rounds", "1"]].concat());
    let said = project.gadfly(&["runs"]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 3, "{}", said.out);
    assert!(lines[0].starts_with("RUN "));
    assert!(lines[1].contains("halted(cap)") && lines[2].starts_with(&first), "{}", said.out);
    assert_eq!(project.gadfly(&["runs", "--state", "halted"]).out.lines().count(), 2);
    let said = project.gadfly(&["runs", "--state", "finished"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("known: running"), "{}", said.err);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (project, run) = approved();
    for args in [&["show", &run, "--log"][..], &["runs"], &["completions", "bash"]] {
        let mut child = project.spawn(args);
        drop(child.stdout.take());
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn alone_it_says_what_can_be_done_here() {
    assert_snapshot!(Project::bare().gadfly(&[]).masked(), @r#"
    exit 0
    --- stdout
    gadfly: an independent critic between an agent's work and your repository.
    There is no gadfly.toml here.
      gadfly demo                       see it at work: no key, no network, seconds
      gadfly doctor                     what this machine has that could work or judge
      gadfly init                       write a gadfly.toml from it
      gadfly run "…" --rubric r.md      a worker drafts, a critic judges, at most three times
      gadfly --help                     everything else
    --- stderr
    "#);
    let (project, _) = approved();
    assert_snapshot!(project.gadfly(&[]).masked(), @r#"
    exit 0
    --- stdout
    gadfly: an independent critic between an agent's work and your repository.
    Agents here: judge, me, writer.
      gadfly run "…" --rubric r.md      a worker drafts, a critic judges, at most three times
      gadfly runs                       what was done here
      gadfly serve                      the same in a web page, live
      gadfly --help                     everything else
    --- stderr
    "#);
}
