//! A goal's policy and workers with tools of their own: it is enforced by their own modes, by refusals or by the kernel,
//! or the goal is refused before anything is begun.

use crate::goals_hands::desk::Desk;
use crate::goals_hands::worker::{Does, GOAL, KINDS, Kind, Pursued};

fn project() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.saying("c", &["PROGRESSING\nfine"]);
    desk
}

fn kind(name: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.name == name).unwrap()
}

fn pursued(desk: &Desk, more: &[&str]) -> Pursued {
    Pursued::read(desk.gadfly(&[&GOAL[..], &["--max-turns", "2"], more].concat()))
}

/// What a worker left in its folder.
fn left(desk: &Desk, name: &str) -> bool {
    desk.work(&desk.run_id()).join("tree/work").join(name).exists()
}

#[test]
fn who_may_only_read_writes_nothing_whatever_it_tries() {
    for kind in &KINDS {
        let name = kind.name;
        let desk = project();
        kind.hire(&desk, &[("", &[Does::Step("look"), Does::Write("done.txt"), Does::Claim])]);
        let tried = pursued(&desk, &["--risk", "read_only", "--open-network"]);
        assert!(!tried.is_reached() && tried.said.code != 2, "{name}: {:?}", tried.said);
        assert!(!left(&desk, "done.txt"), "{name}: it wrote");
        assert!(tried.turns().len() >= 2, "{name}: it was asked, and was not refused: {:?}", tried.said);
        // With leave it is reached: it is the policy that kept it from that.
        let free = pursued(&desk, &[]);
        assert!(free.is_reached(), "{name}: {:?}", free.said);
    }
}

#[test]
fn a_shell_script_that_may_only_read_is_kept_by_the_kernel() {
    let desk = project();
    desk.program("w", "echo x >done.txt; echo 'CLAIM_COMPLETE: there'");
    let tried = pursued(&desk, &["--risk", "read_only", "--open-network"]);
    assert!(!tried.is_reached() && !left(&desk, "done.txt"), "{:?}", tried.said);
    desk.configure("sandbox = \"off\"\n");
    let refused = pursued(&desk, &["--risk", "read_only"]);
    assert_eq!(refused.said.code, 2, "{:?}", refused.said);
    assert!(refused.said.err.contains("it is not held by Landlock"), "{}", refused.said.err);
}

#[test]
fn a_denied_shell_is_not_there() {
    for name in ["claude-code", "gemini", "opencode"] {
        let desk = project();
        let actions = [Does::Run("echo ran >ran.txt"), Does::Write("done.txt"), Does::Claim];
        kind(name).hire(&desk, &[("", &actions)]);
        let tried = pursued(&desk, &["--deny", "run_command"]);
        assert!(tried.is_reached(), "{name}: what is not denied goes on: {:?}", tried.said);
        assert_ne!(tried.ends()[0].0, "ok", "{name}: {:?}", tried.ends());
        assert!(!desk.path("ran.txt").exists(), "{name}");
        let free = pursued(&desk, &["--work-anyway"]);
        assert!(free.ends()[0].0 == "ok" && desk.path("ran.txt").exists(), "{name}: {:?}", free.said);
    }
}

#[test]
fn what_cannot_be_held_is_refused_before_anything_is_begun() {
    for name in ["codex", "acp"] {
        let desk = project();
        kind(name).hire(&desk, &[("", &[Does::Write("done.txt"), Does::Claim])]);
        let refused = pursued(&desk, &["--deny", "run_command"]);
        assert_eq!(refused.said.code, 2, "{name}: {:?}", refused.said);
        let err = &refused.said.err;
        assert!(
            err.contains("cannot be held to this policy") && err.contains("`run_command`"),
            "{name}: {err}"
        );
        assert!(err.contains("help: "), "{name}: it says what to do: {err}");
        assert_eq!(desk.gadfly(&["runs", "--json"]).out.trim(), "", "{name}: nothing was begun");
    }
}

#[test]
fn a_stated_risk_that_leaves_commands_the_network_is_refused() {
    for kind in &KINDS {
        let name = kind.name;
        let desk = project();
        kind.hire(&desk, &[("", &[Does::Write("done.txt"), Does::Claim])]);
        let refused = pursued(&desk, &["--risk", "write_local"]);
        assert_eq!(refused.said.code, 2, "{name}: {:?}", refused.said);
        assert!(refused.said.err.contains("does not keep `w`"), "{name}: {}", refused.said.err);
        assert!(refused.said.err.contains("--open-network"), "{name}: {}", refused.said.err);
        assert_eq!(desk.gadfly(&["runs", "--json"]).out.trim(), "", "{name}: nothing was begun");
        let left = pursued(&desk, &["--risk", "write_local", "--open-network"]);
        assert!(left.is_reached() && left.said.err.contains("does not keep `w`"), "{name}: {:?}", left.said);
    }
}

#[test]
fn whoever_has_no_shell_or_no_network_is_held_to_any_risk() {
    for name in ["claude-code", "gemini", "opencode"] {
        let desk = project();
        kind(name).hire(&desk, &[("", &[Does::Write("done.txt"), Does::Claim])]);
        let held = pursued(&desk, &["--risk", "write_local", "--deny", "run_command"]);
        assert!(held.is_reached() && !held.said.err.contains("from the network"), "{name}: {:?}", held.said);
    }
    let desk = project();
    desk.program("w", "echo x >done.txt; echo 'CLAIM_COMPLETE: there'");
    let refused = pursued(&desk, &["--risk", "write_local"]);
    assert_eq!(refused.said.code, 2, "{:?}", refused.said);
    desk.configure("network = false\n");
    let held = pursued(&desk, &["--risk", "write_local"]);
    assert!(held.is_reached(), "{:?}", held.said);
}

#[test]
fn that_the_network_is_open_to_it_is_said() {
    let desk = project();
    kind("claude-code").hire(&desk, &[("", &[Does::Write("done.txt"), Does::Claim])]);
    let said = pursued(&desk, &[]).said.err;
    assert!(said.contains("risk=write_local does not keep `w` (claude-code) from the network"), "{said}");
    let said = pursued(&desk, &["--risk", "network_write", "--work-anyway"]).said.err;
    assert!(!said.contains("from the network"), "{said}");
}
