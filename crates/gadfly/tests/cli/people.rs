//! Persons as workers and critics: waiting, answering, and answers that would be no verdict.

use std::sync::Arc;

use gadfly_engine::{Outcome, Waiting};
use gadfly_project::{Config, Flags, Root, Sourced};
use gadfly_runtime::prepare::Request;
use gadfly_runtime::service::Driving;
use gadfly_runtime::{Ended, Gadfly, Stop, Update};
use insta::assert_snapshot;
use tokio::sync::{mpsc, watch};

use crate::support::{APPROVE, Project};

const RUN: [&str; 6] = ["run", "Write the abstract", "--criterion", "at most 150 words", "--critic", "me"];

#[test]
fn without_a_terminal_a_run_parks_until_its_question_is_answered() {
    let project = Project::scripted(&["One"], &[], "");
    project.script("judge.toml", &[APPROVE]);
    let said = project.gadfly(&RUN);
    assert_snapshot!(said.masked(), @r#"
    exit 4
    --- stdout
    --- stderr
    worker  → this machine (writer, scripted)
    critic  → this machine (me, person)
    cost    nothing
    caps    3 rounds, 30 active minutes, 50 calls
    round 1 of 3
      worker writer is at work
      draft: 3 bytes, 1 line
      ? me is asked as critic

    waiting for a person's answer
      draft      gadfly show [run] --draft (not approved)
      spent      $0.00, 0 tokens, 1 call
      run        [run]
      question   gadfly show [run]
      answer     gadfly answer [run] "…"
      then       gadfly resume [run]
    "#);
    let run = project.run_id();
    let shown = project.gadfly(&["show", &run]);
    assert!(shown.out.contains("me is asked as critic") && shown.out.contains("│ One"), "{}", shown.out);

    let answered = project.gadfly(&["answer", &run, "[STATUS: APPROVED]\nFine."]);
    assert_snapshot!(answered.masked(), @r#"
    exit 0
    --- stdout
    --- stderr
    answered; nobody drives the run now, so go on with: gadfly resume [run]
    "#);
    let resumed = project.gadfly(&["resume", &run]);
    assert_eq!((resumed.code, resumed.out.as_str()), (0, "One"), "{}", resumed.err);
    let again = project.gadfly(&["answer", &run, "[STATUS: APPROVED]"]);
    assert_eq!(again.code, 2, "{}", again.err);
    assert!(again.err.contains("asks nothing"), "{}", again.err);
}

#[test]
fn until_it_is_read_an_answer_can_be_corrected() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 4);
    let run = project.run_id();
    let first = project.gadfly(&["answer", &run, "[STATUS: APPROVED]\nFine."]);
    assert!(!first.err.contains("takes its place"), "{}", first.err);
    let shown = project.gadfly(&["show", &run]).out;
    assert!(shown.contains("an answer is given and not read yet"), "{shown}");
    let second = project.gadfly(&["answer", &run, "[STATUS: REJECTED]\n- name the sample size"]);
    assert!(second.err.contains("takes its place"), "{}", second.err);
    let resumed = project.gadfly(&["resume", &run]);
    assert!(resumed.err.contains("rejected by me"), "{}", resumed.err);
    assert_eq!(resumed.out, "");
}

#[test]
fn an_answer_that_is_no_verdict_is_not_sent() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 4);
    let run = project.run_id();
    let said = project.gadfly_with_stdin(&["answer", &run], "looks good");
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: this is not a verdict: the first line is not `[STATUS: APPROVED]` or `[STATUS: REJECTED]`. It begins with [STATUS: APPROVED], or with [STATUS: REJECTED] and one line `- what to fix` per item. --force sends it as it is
    "#);
    // The guard can be switched off, and then the answer does arrive.
    assert_eq!(project.gadfly(&["answer", &run, "looks good", "--force"]).code, 0);
    let resumed = project.gadfly(&["resume", &run]);
    assert!(resumed.err.contains("cannot be read"), "{}", resumed.err);
}

#[test]
fn a_worker_s_answer_is_any_text_also_from_a_file() {
    let project = Project::scripted(&[], &[APPROVE], "");
    project.script("writer.toml", &["unused"]);
    let args = ["run", "Write it", "--criterion", "at most 150 words", "--worker", "me"];
    assert_eq!(project.gadfly(&args).code, 4);
    project.write("draft.md", "By hand\n");
    let run = project.run_id();
    assert_eq!(project.gadfly(&["answer", &run, "--file", "draft.md"]).code, 0);
    assert_eq!(project.gadfly(&["resume", &run]).out, "By hand\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_takes_an_answer_from_another_process() {
    let project = Arc::new(Project::scripted(&["One"], &[APPROVE], ""));
    let root = Root::at(&project.path(""));
    let (config, problems) = Config::load(&root, None);
    assert!(problems.is_empty(), "{problems:?}");
    let gadfly = Gadfly::open(root.clone(), config, &root.store).unwrap();
    let flags = Flags { task: Some("Write it".into()), critics: vec!["me".into()], ..Flags::default() };
    let criteria = vec![Sourced::flag("at most 150 words".to_owned())];
    let request = Request { flags, criteria, ..Request::default() };
    let prepared = gadfly.prepare(&request).await.map_err(|p| format!("{p:?}")).unwrap();
    let (_go_on, stop) = watch::channel(Stop::No);
    let (tell, mut updates) = mpsc::channel(64);
    let run = prepared.run.to_string();
    let driving = gadfly.start(prepared, Driving { attended: true, stop, updates: Some(tell) });
    let answering = async {
        while let Some(update) = updates.recv().await {
            let Update::Record { record, .. } = update else { continue };
            if matches!(record.step.outcome, Some(Outcome::Waiting(Waiting::Question { .. }))) {
                let (project, run) = (Arc::clone(&project), run.clone());
                let answer = move || project.gadfly(&["answer", &run, "[STATUS: APPROVED]\nFine."]);
                let said = tokio::task::spawn_blocking(answer).await.unwrap();
                assert_eq!(said.code, 0, "{}", said.err);
                assert!(said.err.contains("goes on where it is driven"), "{}", said.err);
            }
        }
    };
    let (ended, ()) = tokio::join!(driving, answering);
    assert!(matches!(ended.unwrap(), Ended::Outcome(Outcome::Approved { .. })));
}

#[test]
fn resume_all_takes_up_what_can_go_on() {
    let project = Project::scripted(&["!unavailable"], &[APPROVE], "");
    let plain = ["run", "Write the abstract", "--criterion", "at most 150 words"];
    assert_eq!(project.gadfly(&plain).code, 1);
    project.script("writer.toml", &["One", "Two"]);
    assert_eq!(project.gadfly(&RUN).code, 4);
    let said = project.gadfly(&["resume", "--all"]);
    assert_eq!(said.code, 4, "one approved, one still waits: {}", said.err);
    assert_eq!(said.out, "", "several drafts do not mix on standard output");
    assert!(said.err.contains("still waits for an answer"), "{}", said.err);
    assert_eq!(project.states(), ["waiting(question)", "approved"]);
}

#[test]
fn with_another_store_the_commands_to_go_on_name_it() {
    let project = Project::scripted(&["One"], &[], "");
    let args: Vec<&str> = ["--store", "my store"].into_iter().chain(RUN).collect();
    let said = project.gadfly(&args);
    assert!(said.err.contains("gadfly --store 'my store' resume "), "{}", said.err);
    assert!(said.err.contains("gadfly --store 'my store' answer "), "{}", said.err);
    assert!(!project.path(".gadfly").exists());
}
