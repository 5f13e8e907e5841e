//! An agent that works longer than one of its calls may take, in a goal and in an audit: it goes on in its conversation
//! and in its folder, whether its time was up or the whole program was killed, and nothing is done twice.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use crate::goals_hands::desk::{AUDIT, Desk, Said, alive, passed, wait_within};
use crate::goals_hands::worker::{Does, GOAL, KINDS, Kind, Pursued};

const PARTS: u32 = 36;
/// Enough for some of the parts, and for nothing like all of them.
const LIMITS: &str = "timeout = \"4s\"\n";

/// What the worker did outside of its folder, where nothing is ever put back.
struct Deeds(PathBuf);

impl Deeds {
    fn new(desk: &Desk) -> Self {
        let folder = desk.beside("deeds");
        fs::create_dir(&folder).unwrap();
        fs::create_dir_all(desk.beside("home/.claude")).unwrap();
        Self(folder)
    }

    fn done(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.0.join("done")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// One part: done unless the folder shows that it is. It leaves a child behind, and every second one fails.
    fn part(&self, mark: &str) -> String {
        let done = self.0.join("done");
        format!(
            "grep -qx $PART parts.txt || {{ echo $PART >>parts.txt; echo $PART >>{done}; }}; \
             sleep {mark} >/dev/null 2>&1 & sleep 0.5; [ $((PART % 2)) = 0 ]",
            done = done.display()
        )
    }

    fn settings(&self) -> String {
        format!("{LIMITS}state = [{}]\n", json!(self.0))
    }
}

fn claude() -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == "claude-code").unwrap()
}

/// Drives a run until so many parts are done, and ends it as a power cut would.
fn kill_after(desk: &Desk, args: &[&str], parts: usize, actions: &Deeds, mark: &str) {
    let mut child = desk.spawn(args);
    wait_within("some parts are done", Duration::from_mins(2), || {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself: {:?}", desk.newest());
        actions.done().len() >= parts
    });
    child.kill().unwrap();
    child.wait().unwrap();
    wait_within("no child is left", Duration::from_secs(10), || alive(mark).is_empty());
    assert_eq!(desk.state(), "interrupted");
}

fn each_once(desk: &Desk, actions: &Deeds) {
    let all: Vec<u32> = (1..=PARTS).collect();
    assert_eq!(actions.done(), all, "each part once, in order");
    let parts: Vec<u32> = desk.read("parts.txt").lines().filter_map(|line| line.parse().ok()).collect();
    assert_eq!(parts, all, "and all of them are with the user");
}

fn everything(desk: &Desk) -> Pursued {
    Pursued::read(Said { code: 0, ..desk.gadfly(&["show", &desk.run_id(), "--log", "--json"]) })
}

#[test]
fn longer_than_three_timeouts_with_failing_tools_and_killed_twice_it_is_one_sessions_work() {
    let desk = Desk::repository(&[("parts.txt", "")]);
    desk.saying("c", &["PROGRESSING\nfine"]);
    let (actions, mark) = (Deeds::new(&desk), format!("92{}", std::process::id()));
    let part = actions.part(&mark);
    claude().hire(&desk, &[("", &[Does::Parts(PARTS, &part), Does::Write("done.txt"), Does::Claim])]);
    desk.configure(&actions.settings());
    kill_after(&desk, &GOAL, 5, &actions, &mark);
    let run = desk.run_id();
    let resume = ["resume", &run, "--unattended", "--json"];
    kill_after(&desk, &resume, 20, &actions, &mark);
    let said = desk.gadfly(&resume);
    assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{said:?}");
    each_once(&desk, &actions);

    let told = everything(&desk);
    let turns = told.turns();
    assert!(
        turns[0].is_none() && turns[1..].iter().all(|session| *session == Some("fake-session")),
        "{turns:?}"
    );
    let ends = told.ends();
    let failed = ends.iter().filter(|(end, _)| *end == "err").count();
    assert!(failed >= 12, "half of its tools fail, and that is what stands there: {ends:?}");
    let went_on = told.went_on();
    let times = went_on.iter().filter(|because| because.contains("the time of one call")).count();
    let stops = went_on.iter().filter(|because| because.contains("the run was stopped")).count();
    assert!(times >= 3 && stops == 2, "{went_on:?}");
    assert!(alive(&mark).is_empty(), "its children are gone with it");
}

#[test]
fn an_audit_is_bounded_by_its_own_clock_too() {
    let desk = Desk::repository(&[("parts.txt", "")]);
    desk.saying("c", &[&passed(1)]);
    let (actions, mark) = (Deeds::new(&desk), format!("93{}", std::process::id()));
    let part = actions.part(&mark);
    claude().hire(&desk, &[("", &[Does::Parts(PARTS, &part), Does::Write("a.txt"), Does::Say("done")])]);
    desk.configure(&actions.settings());
    kill_after(&desk, &AUDIT, 12, &actions, &mark);
    let said = desk.gadfly(&["resume", &desk.run_id(), "--unattended"]);
    assert_eq!((said.code, desk.state().as_str()), (0, "approved"), "{said:?}");
    each_once(&desk, &actions);
    let told = everything(&desk);
    assert!(told.went_on().len() >= 4, "{:?}", told.went_on());
    assert!(told.turns()[1..].iter().all(Option::is_some), "{:?}", told.turns());
}

#[test]
fn its_steps_in_one_call_are_no_cap_either() {
    let desk = Desk::repository(&[("parts.txt", "")]);
    desk.saying("c", &["PROGRESSING\nfine"]);
    let actions = Deeds::new(&desk);
    let part = format!(
        "grep -qx $PART parts.txt || echo $PART >>parts.txt; echo $PART >>{}/done",
        actions.0.display()
    );
    claude().hire(&desk, &[("", &[Does::Parts(7, &part), Does::Write("done.txt"), Does::Claim])]);
    desk.configure(&format!("max_steps = 4\nstate = [{}]\n", json!(actions.0)));
    let pursued = Pursued::run(&desk);
    assert!(pursued.is_reached(), "{:?}", pursued.said);
    assert_eq!(desk.read("parts.txt"), "1\n2\n3\n4\n5\n6\n7\n");
    assert!(!pursued.went_on().is_empty(), "{:?}", pursued.said);
}

#[test]
fn one_that_does_nothing_in_all_its_time_has_failed() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.saying("c", &["PROGRESSING\nfine"]);
    claude().hire(&desk, &[("", &[Does::Hang])]);
    desk.configure("timeout = \"2s\"\n");
    let pursued = Pursued::run(&desk);
    assert_eq!(pursued.said.code, 1, "{:?}", pursued.said);
    assert_eq!(pursued.turns().len(), 1, "it is not asked again and again");
    assert!(pursued.went_on().is_empty());
}

#[test]
fn without_a_conversation_the_folder_is_kept_and_it_is_told_what_it_did() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.saying("c", &["PROGRESSING\nfine"]);
    claude().hire(
        &desk,
        &[
            ("make half → ok", &[Does::Run("cat half.txt"), Does::Write("done.txt"), Does::Claim]),
            ("make half) → ok", &[Does::Run("cat half.txt"), Does::Write("done.txt"), Does::Claim]),
            ("", &[Does::Run("echo half >half.txt; : make half"), Does::Hang]),
        ],
    );
    desk.configure("timeout = \"3s\"\ncontinue = false\n");
    let pursued = Pursued::run(&desk);
    assert!(pursued.is_reached(), "{:?}", pursued.said);
    assert_eq!(pursued.ends()[1], ("ok", "half"), "{:?}", pursued.ends());
    assert_eq!(pursued.turns(), [None, None]);
}
