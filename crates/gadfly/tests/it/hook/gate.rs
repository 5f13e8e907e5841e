//! The gate holds: unjudged work does not pass for judged, by whatever way it is taken round the critic.

use std::fs::File;

use serde_json::Value;

use crate::hook::desk::{APPROVE, Desk, REJECT};

#[test]
fn a_run_that_only_bears_the_sessions_name_is_not_the_sessions() {
    for critic in ["host", "judge"] {
        let desk = Desk::new(&[REJECT, APPROVE]);
        desk.write("a.rs", "fn a() { todo!() }\n");
        desk.gadfly(&[
            "run",
            "Claude Code session s-1",
            "--criterion",
            "ok",
            "--worker",
            "host",
            "--critic",
            critic,
            "-y",
        ]);
        let forged = desk.runs();
        assert_eq!(forged[0]["title"], "Claude Code session s-1", "{forged:?}");
        let said = desk.stop(true);
        assert!(said.blocks() && said.reason().contains("handle the empty list"), "{said:?}");
        let runs = desk.runs();
        assert_eq!(runs.len(), 2, "a run of its own was begun beside the one with critic {critic}");
        assert!(!said.reason().contains(forged[0]["run"].as_str().unwrap()), "{said:?}");
    }
}

#[test]
fn the_word_of_another_critic_is_not_that_of_the_one_who_judges_now() {
    let desk = Desk::new(&[REJECT, APPROVE]);
    desk.write("easy.toml", &format!("[[reply]]\ntext = \"{APPROVE}\"\n"));
    desk.own(&(desk.scripted("judge") + &desk.scripted("easy")));
    desk.commit();
    desk.write("a.rs", "fn a() { todo!() }\n");
    let easy = desk.stop_with(&["--critic", "easy"], desk.told(false).as_bytes(), &[]);
    assert!(easy.told().contains("approved by easy"), "{easy:?}");
    let said = desk.stop(false);
    assert!(said.blocks() && said.reason().contains("critic judge"), "{said:?}");
}

#[test]
fn a_new_wish_is_judged_although_nothing_changed() {
    let desk = Desk::new(&[APPROVE]);
    desk.asked(&["say hello"]);
    desk.write("a.rs", "fn a() { hello() }\n");
    assert!(desk.stop(false).told().contains("approved by judge"));
    assert_eq!(desk.stop(false).answer, Value::Null, "the same wish and change are judged");
    desk.write("judge.toml", &format!("[[reply]]\ntext = \"{REJECT}\"\n"));
    desk.asked(&["say hello", "now also delete the database code"]);
    let said = desk.stop(false);
    assert!(said.blocks(), "says done, did nothing: {said:?}");
}

#[test]
fn a_rejected_change_that_comes_again_is_sent_back_without_another_call() {
    let desk = Desk::new(&[REJECT, APPROVE]);
    desk.write("a.rs", "fn a() { 1; }\n");
    assert!(desk.stop(false).blocks());
    let calls = desk.runs()[0]["calls"].clone();
    let again = desk.stop(true);
    assert!(again.blocks() && again.reason().contains("1. handle the empty list"), "{again:?}");
    assert!(again.reason().contains("Nothing changed"), "{again:?}");
    assert_eq!(desk.runs()[0]["calls"], calls, "a wavering critic was asked about the same bytes again");
    desk.write("a.rs", "fn a() { 2; }\n");
    let fixed = desk.stop(true);
    assert!(fixed.told().contains("approved by judge"), "{fixed:?}");
    assert_eq!(desk.runs().len(), 1);
}

#[test]
fn a_rejection_is_not_forgotten_when_the_change_is_committed() {
    let desk = Desk::new(&[REJECT, APPROVE]);
    desk.write("a.rs", "fn a() { 1; }\n");
    assert!(desk.stop(false).blocks());
    desk.commit();
    let run = desk.runs()[0]["run"].as_str().unwrap().to_owned();
    for sent_back in [true, false] {
        let said = desk.stop(sent_back);
        assert!(said.code == Some(0) && !said.blocks(), "there is nothing to judge: {said:?}");
        assert!(said.told().contains("not approved") && said.told().contains(&run), "{said:?}");
        assert!(said.told().contains("handle the empty list"), "{said:?}");
    }
    desk.write("a.rs", "fn a() { 2; }\n");
    assert!(desk.stop(true).told().contains("approved by judge"));
    desk.commit();
    assert_eq!(desk.stop(false).answer, Value::Null, "an approved one may be committed in silence");
}

#[test]
fn a_change_of_the_critics_program_is_not_called_approved_by_it() {
    let desk = Desk::new(&[]);
    let critic = |verdict: &str| {
        desk.write("critic.sh", &format!("#!/bin/sh\ncat > /dev/null\nprintf '{verdict}'\n"));
        assert!(desk.command("chmod", &["+x", "critic.sh"]).status().unwrap().success());
    };
    critic(REJECT);
    desk.own("");
    desk.configure("[agents.judge]\nkind = \"command\"\ncommand = [\"./critic.sh\"]\nsandbox = \"off\"\n");
    desk.commit();
    assert!(desk.stop_with(&["--trust"], b"", &[]).err.contains("agreed"));
    desk.write("a.rs", "fn a() { 1; }\n");
    let first = desk.stop(false);
    assert!(first.blocks() && !first.reason().contains("its own judge"), "{first:?}");
    critic(APPROVE);
    for _ in 0..2 {
        let said = desk.stop(true);
        assert!(said.told().contains("alters its own judge: critic.sh"), "{said:?}");
        assert!(!said.told().contains("approved by"), "{said:?}");
    }
    // Leaving it out of what is judged hides nothing.
    desk.write("a.rs", "fn a() { 2; }\n");
    let said = desk.stop_with(&["--exclude", "*.sh"], desk.told(false).as_bytes(), &[]);
    assert!(said.told().contains("alters its own judge: critic.sh"), "{said:?}");
}

#[test]
fn a_change_of_the_configuration_or_the_rubric_is_said() {
    let desk = Desk::new(&[REJECT]);
    desk.write("rubric.md", "- nothing is left undone\n");
    desk.commit();
    desk.write("easy.toml", &format!("[[reply]]\ntext = \"{APPROVE}\"\n"));
    desk.own(&(desk.scripted("judge") + &desk.scripted("easy")));
    desk.write("gadfly.toml", "[defaults]\ncritic = \"easy\"\n");
    desk.write("a.rs", "fn a() { todo!() }\n");
    let said = desk.stop(false);
    assert!(said.told().contains("its own judge: easy.toml, gadfly.toml"), "{said:?}");
    assert!(!said.told().contains("approved by"), "{said:?}");
    desk.git(&["checkout", "-q", "gadfly.toml"]);
    std::fs::remove_file(desk.path("easy.toml")).unwrap();
    desk.write("rubric.md", "- it is there\n");
    let said = desk.stop_with(&["--rubric", "rubric.md"], desk.told(false).as_bytes(), &[]);
    assert!(said.blocks() && said.reason().contains("its own judge: rubric.md"), "{said:?}");
}

#[test]
fn no_more_than_three_sessions_are_judged_at_once() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    std::fs::create_dir_all(desk.path(".gadfly")).unwrap();
    let seat = |number: u32| {
        let seat = File::create(desk.path(&format!(".gadfly/stop-hook-{number}.lock"))).unwrap();
        seat.lock().unwrap();
        seat
    };
    let mut seats: Vec<File> = (1..=3).map(seat).collect();
    let said = desk.stop(false);
    assert!(!said.blocks() && said.told().contains("being judged already"), "{said:?}");
    assert!(said.told().contains("not approved") && desk.runs().is_empty(), "{said:?}");
    seats.pop();
    assert!(desk.stop(false).blocks());
}

#[test]
fn what_was_asked_is_found_behind_a_long_result_and_not_asked_about_if_it_is_not_known() {
    let criterion = "does everything the user asked for";
    let desk = Desk::new(&[APPROVE]);
    desk.write("a.rs", "fn a() { 1; }\n");
    assert!(desk.stop(false).told().contains("approved by judge"), "without a transcript");
    let log = desk.shown(&desk.runs()[0]);
    assert!(log.contains("is not known here") && !log.contains(criterion), "{log}");
    desk.asked(&["write a parser"]);
    let transcript = desk.dir.path().join("t.jsonl");
    let asked = std::fs::read_to_string(&transcript).unwrap();
    let noise = "x".repeat(9 << 20);
    let result = format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":"{noise}"}}]}}}}"#
    );
    std::fs::write(&transcript, format!("{asked}\n{result}\n")).unwrap();
    assert!(desk.stop(false).told().contains("approved by judge"));
    let log = desk.shown(&desk.runs()[0]);
    assert!(log.contains("> write a parser") && log.contains(criterion), "{log}");
}
