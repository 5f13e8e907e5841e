//! A session stops: what is sent back, what may stop, and that nothing that goes wrong holds it.

use serde_json::Value;

use crate::hook::desk::{APPROVE, Desk, REJECT};

#[test]
fn a_rejected_change_is_sent_back_and_an_approved_one_may_stop() {
    let desk = Desk::new(&[REJECT, APPROVE]);
    desk.asked(&["make a() return the sum of a list"]);
    desk.write("a.rs", "fn a(x: &[i32]) -> i32 { x[0] }\n");
    let first = desk.stop(false);
    assert!(first.code == Some(0) && first.blocks(), "{first:?}");
    assert!(
        first.reason().contains("1. handle the empty list") && first.reason().contains("round 1 of 3"),
        "{first:?}"
    );
    let runs = desk.runs();
    assert_eq!((runs.len(), runs[0]["title"].as_str()), (1, Some("Claude Code session s-1")));
    desk.write("a.rs", "fn a(x: &[i32]) -> i32 { x.iter().sum() }\n");
    let second = desk.stop(true);
    assert!(second.code == Some(0) && !second.blocks(), "{second:?}");
    assert!(second.told().contains("approved by judge"), "{second:?}");
    assert!(second.told().contains("). Good."), "and why: {second:?}");
    // The same change once more costs nothing and says nothing.
    let third = desk.stop(false);
    assert_eq!((third.code, &third.answer), (Some(0), &Value::Null), "{third:?}");
    assert_eq!(desk.runs().len(), 1, "one run for the session's work");
    let log = desk.shown(&desk.runs()[0]);
    assert!(log.contains("sum of a list"), "the critic is told what was asked: {log}");
}

#[test]
fn a_critic_that_is_never_satisfied_holds_a_session_only_up_to_the_cap() {
    for changes in [true, false] {
        let desk = Desk::new(&[REJECT, REJECT, REJECT, REJECT]);
        desk.write("a.rs", "fn a() { todo!() }\n");
        let mut blocked = 0;
        let last = loop {
            let said = desk.stop(blocked > 0);
            assert_eq!(said.code, Some(0), "{said:?}");
            if !said.blocks() {
                break said;
            }
            blocked += 1;
            assert!(blocked < 10, "held for ever: {said:?}");
            if changes {
                desk.write("a.rs", &format!("fn a() {{ todo!({blocked}) }}\n"));
            }
        };
        assert_eq!(blocked, 2, "three rounds are two ways back: {last:?}");
        assert!(
            last.told().contains("not approved") && last.told().contains("handle the empty list"),
            "{last:?}"
        );
        let again = desk.stop(true);
        let why = if changes { "judged before" } else { "came back unchanged" };
        assert!(!again.blocks() && again.told().contains(why), "{again:?}");
        assert!(again.told().contains("not approved"), "{again:?}");
    }
}

#[test]
fn work_the_user_asked_for_anew_has_rounds_of_its_own() {
    let desk = Desk::new(&[REJECT, REJECT]);
    desk.asked(&["one"]);
    desk.write("a.rs", "fn a() { 1; }\n");
    assert!(desk.stop(false).blocks());
    desk.asked(&["one", "no, two"]);
    desk.write("a.rs", "fn a() { 2; }\n");
    let said = desk.stop(false);
    assert!(said.blocks() && said.reason().contains("round 1 of 3"), "{said:?}");
    let states: Vec<Value> = desk.runs().iter().map(|run| run["state"].clone()).collect();
    assert_eq!(states, ["waiting(question)", "aborted"]);
}

#[test]
fn a_change_that_nobody_could_judge_may_stop_and_is_not_called_approved() {
    let desk = Desk::new(&["!unauthorised"]);
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop(false);
    assert!(said.code == Some(0) && !said.blocks(), "{said:?}");
    assert!(said.told().contains("not approved") && said.told().contains("could not be judged"), "{said:?}");
}

#[test]
fn nothing_that_is_wrong_holds_a_session() {
    let desk = Desk::new(&[REJECT]);
    // Nothing changed: nothing is said.
    let said = desk.stop(false);
    assert_eq!((said.code, &said.answer), (Some(0), &Value::Null), "{said:?}");
    desk.write("a.rs", "fn a() { 1; }\n");
    let long = vec![b'x'; 2 << 20];
    let bad: [&[u8]; 6] = [b"not json", b"{}", b"[]", b"{\"session_id\":\"../../x\"}", &long, b"\xff\xfe"];
    for told in bad {
        let said = desk.stop_with(&[], told, &[]);
        assert!(said.code == Some(0) && !said.blocks(), "{said:?}");
        assert!(said.told().contains("not approved"), "it is said that nothing was judged: {said:?}");
    }
    let wrong_flag = desk.stop_with(&["--no-such-flag"], desk.told(false).as_bytes(), &[]);
    assert_eq!(wrong_flag.code, Some(1), "2 would hold the session: {wrong_flag:?}");
    desk.write("gadfly.toml", "[agents.judge\n");
    let said = desk.stop(false);
    assert!(said.code == Some(0) && !said.blocks() && said.told().contains("not approved"), "{said:?}");
    // Without a repository there is no change to be seen.
    std::fs::remove_dir_all(desk.path(".git")).unwrap();
    let said = desk.stop(false);
    assert!(said.code == Some(0) && !said.blocks(), "{said:?}");
}

#[test]
fn a_critic_that_does_not_end_is_not_waited_for_and_the_next_stop_goes_on() {
    let desk = Desk::new(&[]);
    desk.write("judge.toml", "[[reply]]\ndelay_ms = 600000\ntext = \"[STATUS: APPROVED]\"\n");
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--seconds", "1"], desk.told(false).as_bytes(), &[]);
    assert!(said.code == Some(0) && !said.blocks() && said.told().contains("not done after 1"), "{said:?}");
    desk.write("judge.toml", "[[reply]]\ntext = \"[STATUS: APPROVED]\"\n");
    let said = desk.stop(true);
    assert!(!said.blocks() && said.told().contains("approved by judge"), "{said:?}");
    assert_eq!(desk.runs().len(), 1);
}

#[test]
fn an_approval_of_an_earlier_state_is_none_of_this_one() {
    let desk = Desk::new(&[]);
    desk.write("judge.toml", "[[reply]]\ndelay_ms = 600000\ntext = \"[STATUS: APPROVED]\"\n");
    desk.write("a.rs", "fn a() { 1; }\n");
    let said = desk.stop_with(&["--seconds", "1"], desk.told(false).as_bytes(), &[]);
    assert!(!said.blocks(), "{said:?}");
    desk.write("judge.toml", &format!("[[reply]]\ntext = \"{APPROVE}\"\n"));
    desk.write("a.rs", "fn a() { 2; }\n");
    let said = desk.stop(true);
    assert!(said.told().contains("approved by judge"), "{said:?}");
    // The state that is there now was judged, in a run of its own.
    let runs = desk.runs();
    assert_eq!(runs.len(), 2);
    let run = runs[0]["run"].as_str().unwrap();
    assert!(said.told().contains(run), "{said:?}");
    let draft = desk.command(env!("CARGO_BIN_EXE_gadfly"), &["show", run, "--draft"]).output().unwrap();
    assert!(String::from_utf8_lossy(&draft.stdout).contains("+fn a() { 2; }"));
}

#[test]
fn a_run_that_waits_for_its_session_asks_no_person() {
    let desk = Desk::new(&[REJECT]);
    desk.write("a.rs", "fn a() { 1; }\n");
    assert!(desk.stop(false).blocks());
    let run = desk.runs()[0]["run"].as_str().unwrap().to_owned();
    let said = |args: &[&str]| {
        let done = desk.command(env!("CARGO_BIN_EXE_gadfly"), args).output().unwrap();
        String::from_utf8(done.stdout).unwrap()
    };
    let shown = said(&["show", &run]);
    assert!(shown.contains("waiting for its host") && shown.contains("gadfly cancel"), "{shown}");
    assert!(!shown.contains("a person's answer") && !shown.contains("gadfly answer"), "{shown}");
    let welcome = said(&[]);
    assert!(!welcome.contains("waiting for an answer"), "{welcome}");
}

#[test]
fn the_settings_are_what_claude_code_reads() {
    let desk = Desk::new(&[]);
    let printed = desk.command(env!("CARGO_BIN_EXE_gadfly"), &["hook", "print"]).output().unwrap();
    let settings: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
    assert_eq!(
        (hook["type"].as_str(), hook["command"].as_str()),
        (Some("command"), Some("gadfly hook stop --untrusted"))
    );
    assert!(hook["timeout"].as_u64().is_some_and(|seconds| seconds > 540));
}
