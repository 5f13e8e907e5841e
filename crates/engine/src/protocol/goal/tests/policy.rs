//! What may be done without asking, and what a person is asked.

use super::game::{Plays2, begun, seated, told};
use crate::effect::EffectKind;
use crate::protocol::goal::Policy;
use crate::tool::{Risk, ToolEnd};
use crate::turn::{Part, Role};

#[test]
fn what_is_denied_is_denied_without_a_question() {
    let mut table = begun(seated(|s| s.policy.deny = vec!["run_command".into()]));
    table.wants(&[("run_command", r#"{"command":"ls"}"#)]);
    assert!(table.asked(Role::Worker), "{}", table.log());
    assert!(table.log().contains("→ denied: Denied by the policy"), "{}", table.log());
}

#[test]
fn beyond_the_ceiling_a_person_is_asked_and_silence_is_no_denial() {
    let policy = Policy { risk: Risk::ReadOnly, ..Policy::default() };
    let mut table = begun(seated(|s| s.policy = policy));
    table.wants(&[("write_file", r#"{"path":"a","content":"x"}"#)]);
    assert_eq!(table.class(), "waiting(question)");
    table.resume();
    assert_eq!(table.class(), "waiting(question)", "{}", table.log());
    assert!(!table.log().contains("denied"), "{}", table.log());
    table.answers("deny not now");
    assert!(table.log().contains("→ denied: A person declined this: not now"), "{}", table.log());
    table.wants(&[("write_file", r#"{"path":"a","content":"x"}"#)]).answers("always");
    assert!(matches!(table.open().kind, EffectKind::Tool(_)));
    table.did(ToolEnd::Done, "wrote");
    table.wants(&[("write_file", r#"{"path":"a","content":"y"}"#)]);
    assert!(matches!(table.open().kind, EffectKind::Tool(_)), "always: {}", table.log());
}

#[test]
fn a_path_outside_the_folder_is_asked_about_and_only_then_reached() {
    let mut table = begun(seated(|_| {}));
    for path in ["../secret", "/etc/passwd", "/w-evil/a", "a/../../b"] {
        table.wants(&[("read_file", &format!(r#"{{"path":"{path}"}}"#))]);
        assert_eq!(table.class(), "waiting(question)", "{path}: {}", table.log());
        table.answers("allow");
        let EffectKind::Tool(tool) = table.open().kind else { panic!("{path}") };
        assert!(tool.beyond, "{path}");
        table.did(ToolEnd::Done, path);
        if table.asked(Role::Critic) {
            table.says("PROGRESSING");
        }
    }
    table.wants(&[("read_file", r#"{"path":"/w/a"}"#)]);
    let EffectKind::Tool(tool) = table.open().kind else { panic!("{}", table.log()) };
    assert!(!tool.beyond, "below the folder by another name");
}

#[test]
fn processes_have_a_network_only_if_the_ceiling_says_so() {
    for (risk, expected) in [(Risk::WriteLocal, false), (Risk::NetworkGet, false), (Risk::NetworkWrite, true)]
    {
        let mut table = begun(seated(|s| s.policy.risk = risk));
        table.wants(&[("run_command", r#"{"command":"curl x"}"#)]);
        let EffectKind::Tool(tool) = table.open().kind else { panic!() };
        assert_eq!(tool.network, expected, "{risk}");
    }
}

#[test]
fn ending_the_goal_is_never_a_matter_of_policy() {
    let policy = Policy { risk: Risk::ReadOnly, allow: vec!["read_file".into()], ..Policy::default() };
    let mut table = begun(seated(|s| s.policy = policy));
    table.claims();
    assert!(matches!(table.open().kind, EffectKind::Look(_)), "{}", table.log());
}

#[test]
fn goal_criterion_and_policy_stand_in_the_prompt() {
    let table = begun(seated(|s| s.policy.deny = vec!["fetch_url".into()]));
    let prompt = told(&table);
    for part in [
        "GOAL:\nWrite about the moon",
        "REACHED WHEN: `make test` exits with 0",
        "risk=write_local",
        "fetch_url",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
}

#[test]
fn where_no_kernel_holds_commands_those_that_name_other_places_are_asked_about() {
    let mut table = begun(seated(|s| s.held = false));
    table.wants(&[("run_command", r#"{"command":"git -C /elsewhere commit"}"#)]);
    assert_eq!(table.class(), "waiting(question)");
    let mut held = begun(seated(|_| {}));
    held.wants(&[("run_command", r#"{"command":"git -C /elsewhere commit"}"#)]);
    assert!(matches!(held.open().kind, EffectKind::Tool(_)), "the kernel refuses it itself");
}

/// The question that is open.
fn question(table: &super::game::Goal) -> String {
    match table.engine.open_effects().next().map(|effect| effect.kind.clone()) {
        Some(EffectKind::Ask(question)) => question.text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_person_sees_how_what_is_asked_for_ends_and_what_would_be_written() {
    let policy = Policy { risk: Risk::ReadOnly, ..Policy::default() };
    let mut table = begun(seated(|s| s.policy = policy));
    let line = format!("echo {}; rm -rf all", "harmless ".repeat(40));
    table.wants(&[("run_command", &serde_json::json!({ "command": line }).to_string())]);
    assert!(question(&table).ends_with("harmless ; rm -rf all"), "{}", question(&table));
    table.answers("deny");
    table.wants(&[("run_command", r#"{"command":"ls # \nrm -rf all"}"#)]);
    assert!(question(&table).contains("`ls # ⏎ rm -rf all`"), "the comment ends: {}", question(&table));
    table.answers("deny");
    table.wants(&[("write_file", r#"{"path":"/home/u/.profile","content":"sh evil"}"#)]);
    assert!(question(&table).ends_with("content: sh evil"), "{}", question(&table));
}

#[test]
fn always_is_for_what_was_asked_and_not_for_what_begins_alike() {
    let policy = Policy { risk: Risk::ReadOnly, ..Policy::default() };
    let mut table = begun(seated(|s| s.policy = policy));
    let wants = |end: &str| {
        let line = format!("echo {}{end}", "harmless ".repeat(40));
        serde_json::json!({ "command": line }).to_string()
    };
    table.wants(&[("run_command", &wants("1"))]).answers("always").did(ToolEnd::Done, "1");
    table.wants(&[("run_command", &wants("1"))]);
    assert!(matches!(table.open().kind, EffectKind::Tool(_)), "{}", table.log());
    table.did(ToolEnd::Done, "2");
    table.wants(&[("run_command", &wants("; rm -rf all"))]);
    assert_eq!(table.class(), "waiting(question)", "{}", table.log());
}

#[test]
fn who_is_refused_again_and_again_is_watched_blocked_and_halted() {
    let wants_ten = |table: &mut super::game::Goal, call: (&str, &str)| {
        let mut looks = 0;
        for _ in 0..10 {
            if table.asked(Role::Worker) {
                table.wants(&[call]);
            }
            if table.asked(Role::Critic) {
                looks += 1;
                table.says("PROGRESSING");
            }
        }
        looks
    };
    let mut table = begun(seated(|s| s.policy.deny = vec!["run_command".into()]));
    let looks = wants_ten(&mut table, ("run_command", r#"{"command":"ls"}"#));
    assert!(looks >= 2, "after the interval, and at the first block: {}", table.log());
    assert!(table.log().contains("→ blocked"), "{}", table.log());
    table.says("I was refused.");
    assert_eq!(table.class(), "halted(guard)", "{}", table.log());
    // Who cannot write a call at all is looked at, and then a person is asked.
    for call in [("edit_file", r#"{"path": "#), ("no_such_tool", "{}")] {
        let mut table = begun(seated(|_| {}));
        assert!(wants_ten(&mut table, call) >= 2, "{}", table.log());
        assert_eq!(table.class(), "waiting(question)", "{call:?}: {}", table.log());
    }
    // Whoever invents names is seen at least.
    let mut table = begun(seated(|_| {}));
    for n in 0..3 {
        table.wants(&[(&format!("tool{n}"), "{}")]);
    }
    assert!(table.asked(Role::Critic), "{}", table.log());
}

#[test]
fn many_calls_of_one_turn_do_not_halt_a_goal_before_anybody_is_told() {
    let mut table = begun(seated(|_| {}));
    let call = ("edit_file", r#"{"path": "#);
    table.wants(&[call; 8]);
    assert!(table.asked(Role::Critic), "{}", table.log());
    table.says("STUCK\nIt is no JSON.");
    assert!(table.asked(Role::Worker), "{}", table.log());
}

/// What `always` is said to be for.
fn always(table: &super::game::Goal) -> String {
    match table.engine.open_effects().next().map(|effect| effect.kind.clone()) {
        Some(EffectKind::Ask(question)) => question.choices[1].says.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn always_is_for_the_pattern_that_is_shown_and_for_nothing_else() {
    let mut table = begun(seated(|s| s.critic = None));
    table.wants(&[("fetch_url", r#"{"url":"https://docs.rs/a"}"#)]);
    assert_eq!(always(&table), "every page of `docs.rs`, for this reason, in this goal");
    table.answers("always").did(ToolEnd::Status(200), "a");
    table.wants(&[("fetch_url", r#"{"url":"https://docs.rs/b?c"}"#)]);
    assert!(matches!(table.open().kind, EffectKind::Tool(_)), "the same host: {}", table.log());
    table.did(ToolEnd::Status(200), "b");
    for url in ["https://docs.rs.evil.example/a", "https://docs.rs@evil.example/a", "https://docs.rs:81/a"] {
        table.wants(&[("fetch_url", &format!(r#"{{"url":"{url}"}}"#))]);
        assert_eq!(table.class(), "waiting(question)", "{url}: {}", table.log());
        table.answers("deny");
    }

    let policy = Policy { risk: Risk::ReadOnly, ..Policy::default() };
    let mut table = begun(seated(|s| (s.policy, s.critic) = (policy, None)));
    table.wants(&[("run_command", r#"{"command":"npm install a"}"#)]);
    assert_eq!(
        always(&table),
        "every plain command that begins with `npm install`, for this reason, in this goal"
    );
    table.answers("always").did(ToolEnd::Ran(crate::tree::RunEnd::Code(0)), "a");
    table.wants(&[("run_command", r#"{"command":"npm install b --save"}"#)]);
    assert!(matches!(table.open().kind, EffectKind::Tool(_)), "{}", table.log());
    table.did(ToolEnd::Ran(crate::tree::RunEnd::Code(0)), "b");
    for line in ["npm run evil", "npm install b; rm -rf x", "npm install $(evil)", "npm"] {
        table.wants(&[("run_command", &format!(r#"{{"command":"{line}"}}"#))]);
        assert_eq!(table.class(), "waiting(question)", "{line}: {}", table.log());
        table.answers("deny");
    }
    table.wants(&[("run_command", r#"{"command":"sh -c ls"}"#)]);
    assert!(always(&table).starts_with("`run_command` with exactly `sh -c ls`"), "{}", always(&table));
}

/// What the worker is told of its calls.
fn results(table: &super::game::Goal) -> String {
    let EffectKind::Turn(turn) = table.open().kind else { panic!("{}", table.log()) };
    let parts = turn.messages.iter().flat_map(|message| &message.parts);
    let texts = table.engine.texts().unwrap();
    let result = |part: &Part| match part {
        Part::Result(result) => Some(texts.get(&result.text).to_owned()),
        _ => None,
    };
    parts.filter_map(result).collect()
}

#[test]
fn the_worker_is_told_that_its_commands_have_no_network_and_so_is_whose_command_wanted_one() {
    let mut table = begun(seated(|s| s.critic = None));
    assert!(told(&table).contains("NETWORK: none for commands."), "{}", told(&table));
    table.wants(&[("run_command", r#"{"command":"npm ci"}"#)]);
    table.did(ToolEnd::Ran(crate::tree::RunEnd::Code(1)), "npm error code EAI_AGAIN");
    assert!(results(&table).contains("[commands have no network here:"), "{}", results(&table));
    let mut open = begun(seated(|s| (s.policy.risk, s.critic) = (Risk::NetworkWrite, None)));
    assert!(!told(&open).contains("NETWORK:"), "{}", told(&open));
    open.wants(&[("run_command", r#"{"command":"npm ci"}"#)]);
    open.did(ToolEnd::Ran(crate::tree::RunEnd::Code(1)), "npm error code EAI_AGAIN");
    assert!(!results(&open).contains("no network here"), "{}", results(&open));
}
