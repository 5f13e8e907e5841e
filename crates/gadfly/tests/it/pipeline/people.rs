//! What people are asked: about a plan, a condition, files that nobody expected, files both sides changed.

use std::fs;

use serde_json::json;

use crate::pipeline::desk::{Answer, Desk, make_fifo, wait_for};
use crate::pipeline::stage::{ONE, PIPELINE, answered, judges, one, pipeline, project, three, writes};

#[test]
fn nothing_is_dispatched_before_the_plan_is_agreed_to_from_another_process() {
    let desk = three();
    desk.saying("planner", &["# Plan\n\n1. The memo first.\n"]);
    let said = desk.gadfly(&["pipeline", "Estimate the effect", "--unattended", "--trust"]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(
        said.err.contains("plan drafted by planner") && said.err.contains("The memo first."),
        "{}",
        said.err
    );
    assert!(!said.err.contains("→ strategist") && !desk.path("out").exists());
    let wrong = desk.gadfly(&["answer", &desk.run_id(), "perhaps"]);
    assert_eq!(wrong.code, 2, "{wrong:?}");
    let said = answered(&desk, "approve");
    // The result is agreed to, too.
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("plan approved by gadfly answer"), "{}", said.err);
    assert!(said.err.contains("The gate `commit` is open"), "{}", said.err);
    assert_eq!(answered(&desk, "approve").code, 0);
    assert_eq!(desk.read("out/paper.md"), "# Paper\n");
    let plans: Vec<_> = fs::read_dir(desk.path(".gadfly/plans")).unwrap().flatten().collect();
    assert_eq!(plans.len(), 1);
    assert!(fs::read_to_string(plans[0].path()).unwrap().contains("The memo first."));
}

#[test]
fn a_plan_that_is_refused_ends_the_run_with_nothing_done() {
    let desk = three();
    fs::write(desk.path("mine.md"), "Do it all at once.\n").unwrap();
    let said = desk.gadfly(&["pipeline", "Go", "--plan", "mine.md", "--unattended", "--trust"]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert_eq!(answered(&desk, "stop").code, 3);
    assert!(!desk.path("out").exists());
    assert_eq!(desk.calls(), 0);
}

const MANUAL: &str = "## coder\n- REQUIRES: The committee has agreed\n- PRODUCES: `out/code.py`\n- CRITIC: coder-critic\n\
                      - ESCALATION_TARGET: User\n- QUALITY_WEIGHT: 100%\n";

fn manual() -> Desk {
    let desk = project(MANUAL);
    writes(&desk, "coder", "out/code.py", &["print(1)\n"]);
    judges(&desk, "coder-critic", &[90]);
    desk
}

#[test]
fn a_condition_only_a_person_can_judge_is_asked_once_and_remembered() {
    let desk = manual();
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("The committee has agreed"), "{}", said.err);
    let said = answered(&desk, "yes");
    assert_eq!(said.code, 0, "{}", said.err);
    fs::remove_file(desk.path("out/code.py")).unwrap();
    let again = pipeline(&desk, &[]);
    assert_eq!(again.code, 0, "it was asked again: {}", again.err);
}

#[test]
fn a_condition_that_does_not_hold_keeps_the_agent_back_and_assume_manual_asks_nobody() {
    let desk = manual();
    assert_eq!(pipeline(&desk, &[]).code, 4);
    let said = answered(&desk, "no");
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(!desk.path("out/code.py").exists());
    let desk = manual();
    assert_eq!(pipeline(&desk, &["--assume-manual"]).code, 0);
}

/// A coder that also writes where its entry says nothing of.
fn straying() -> Desk {
    let desk = project(ONE);
    let files = [("out/code.py", "print(1)\n"), ("secrets.txt", "x\n")];
    desk.scripted("coder", &[Answer { text: "Done.", files: &files, ..Answer::default() }]);
    judges(&desk, "coder-critic", &[90]);
    desk
}

#[test]
fn files_outside_an_entry_come_only_with_a_persons_yes() {
    for (answer, there) in [("no", false), ("yes", true)] {
        let desk = straying();
        let said = pipeline(&desk, &[]);
        assert_eq!(said.code, 4, "{}", said.err);
        assert!(said.err.contains("secrets.txt") && !desk.path("secrets.txt").exists(), "{}", said.err);
        let said = answered(&desk, answer);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(desk.read("out/code.py"), "print(1)\n");
        assert_eq!(desk.path("secrets.txt").exists(), there, "{answer}");
    }
    let desk = straying();
    desk.write("gadfly.toml", "[project]\nname = \"reform\"\nalso = [\"*.txt\"]\n");
    assert_eq!(pipeline(&desk, &[]).code, 0);
    assert!(desk.path("secrets.txt").exists());
}

#[test]
fn a_file_that_was_edited_meanwhile_is_a_question_and_not_overwritten() {
    let desk = project(ONE);
    desk.write("out/code.py", "one\n");
    desk.commit("code");
    let seen = desk.beside("seen");
    fs::create_dir(&seen).unwrap();
    let (gate, begun) = (seen.join("gate"), seen.join("begun"));
    make_fifo(&gate);
    let script = format!(
        "cat >/dev/null; : >{begun}; read x <{gate}; echo theirs >out/code.py; echo done",
        begun = begun.display(),
        gate = gate.display()
    );
    desk.program("coder", &script);
    desk.configure(&format!("state = [{}]\n", json!(seen)));
    judges(&desk, "coder-critic", &[70, 90]);
    let child = desk.command(&PIPELINE).stderr(std::process::Stdio::piped()).spawn().unwrap();
    wait_for("the coder is at work", || begun.exists());
    desk.write("out/code.py", "mine\n");
    fs::write(&gate, "go\n").unwrap();
    let done = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(4), "{told}");
    assert!(told.contains("changed on both sides") || told.contains("conflict"), "{told}");
    assert_eq!(desk.read("out/code.py"), "mine\n", "nothing is written before somebody decides");
    let said = answered(&desk, "run");
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("out/code.py"), "theirs\n");
}

#[test]
fn of_several_open_questions_one_can_be_answered_by_its_id() {
    let registry = format!(
        "{MANUAL}\n## writer\n- REQUIRES: The editor wants it\n- PRODUCES: `out/paper.md`\n- CRITIC: coder-critic\n\
         - ESCALATION_TARGET: User\n- QUALITY_WEIGHT: 50%\n"
    );
    let desk = project(&registry);
    writes(&desk, "coder", "out/code.py", &["print(1)\n"]);
    writes(&desk, "writer", "out/paper.md", &["# Paper\n"]);
    judges(&desk, "coder-critic", &[90]);
    assert_eq!(pipeline(&desk, &[]).code, 4);
    let run = desk.run_id();
    let shown = desk.gadfly(&["show", &run]).out;
    assert!(shown.contains("The committee has agreed") && shown.contains("The editor wants it"), "{shown}");
    let id =
        shown.split("--effect ").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    let refused = desk.gadfly(&["answer", &run, "--effect", "run#999", "yes"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains(&id), "{refused:?}");
    let said = desk.gadfly(&["answer", &run, "--effect", &id, "no"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("another question is open"), "{said:?}");
    assert_eq!(desk.gadfly(&["answer", &run, "yes"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended", "--trust"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(desk.path("out/code.py").exists() && !desk.path("out/paper.md").exists(), "{}", said.err);
}

#[test]
fn three_rounds_in_vain_and_the_user_decides() {
    let desk = one(&["print(1)\n", "print(2)\n", "print(3)\n", "print(4)\n"], &[50, 55, 60, 90]);
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("[coder]"), "whose round it is stands before it: {}", said.err);
    let said = answered(&desk, "use the other data");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("coder: 90/100"), "{}", said.err);
}
