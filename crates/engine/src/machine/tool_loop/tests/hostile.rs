//! Models that do not stop, ask for too much, or for what is not theirs.

use super::*;

/// Plays until the worker is offered no tools any more: each of its turns wants these calls.
fn goes_on(game: &mut Game, wants: impl Fn(u32) -> Vec<(&'static str, String)>) -> u32 {
    for n in 0..1000 {
        if turn(game).tools.is_none() {
            return n;
        }
        let calls = wants(n);
        let calls: Vec<(&str, &str)> = calls.iter().map(|(name, args)| (*name, args.as_str())).collect();
        game.wants(&calls);
        while !is_turn(&game.open()) {
            let shown = format!("{}", tool(game).keep_as);
            game.did(ToolEnd::Done, &shown);
        }
    }
    panic!("it never came to an end");
}

fn last_words(game: &mut Game, because: &str) {
    let last = game.prompt(&game.open());
    assert!(last.contains(&format!("This is your last turn: {because}.")), "{last}");
    assert!(results(game).is_empty(), "without tools nothing of them is in the conversation");
    assert!(last.contains("[used "), "but in words");
    game.wants(&[write_a()]);
    assert!(matches!(game.open().kind, EffectKind::Look(_)), "its word is the last\n{}", game.log());
}

#[test]
fn a_model_that_never_stops_is_stopped_by_its_steps() {
    let mut game = begun(game());
    let path = |n: u32, k: u32| ("read_file", format!(r#"{{"path":"{n}/{k}"}}"#));
    let turns = goes_on(&mut game, |n| vec![path(n, 1), path(n, 2), path(n, 3)]);
    assert_eq!((turns, steps(&game).len()), (34, 100));
    last_words(&mut game, "100 steps are used up");
}

#[test]
fn a_model_that_only_asks_for_what_does_not_exist_is_stopped_too() {
    let mut game = begun(game());
    let turns = goes_on(&mut game, |n| vec![("no_such_tool", format!("{{\"n\":{n}}}"))]);
    assert_eq!((turns, steps(&game).len()), (101, 100));
    game.says("I give up.").did(ToolEnd::Done, "");
    assert!(matches!(game.open().kind, EffectKind::Look(_)), "{}", game.log());
}

#[test]
fn the_same_call_again_and_again_is_stopped_long_before() {
    let mut game = begun(game());
    for _ in 0..3 {
        game.wants(&[("read_file", r#"{"path":"a"}"#)]).did(ToolEnd::Done, "text");
    }
    for _ in 0..5 {
        assert!(turn(&game).tools.is_some());
        game.wants(&[("read_file", r#"{ "path": "a" }"#)]);
    }
    assert_eq!(steps(&game)[3..], [4, 5, 6, 7, 8].map(|n| format!("{n} read_file blocked")));
    last_words(&mut game, "the same calls were made again and again");
}

#[test]
fn a_thousand_calls_in_one_reply_are_sixteen() {
    let mut game = begun(game());
    let args: Vec<String> = (0..1000).map(|n| format!(r#"{{"path":"{n}"}}"#)).collect();
    game.wants(&args.iter().map(|args| ("read_file", args.as_str())).collect::<Vec<_>>());
    for _ in 0..16 {
        game.did(ToolEnd::Done, "text");
    }
    assert_eq!(results(&game).len(), 16);
    assert!(game.prompt(&game.open()).contains("984 were not done"));
}

#[test]
fn what_is_not_allowed_is_refused_with_its_reason_and_nobody_is_asked() {
    let mut game = begun(game());
    game.wants(&[
        ("fetch_url", r#"{"url":"https://example.com"}"#),
        ("write_file", r#"{"path":"../../.bashrc","content":""}"#),
        ("read_file", r#"{"path":"/etc/passwd"}"#),
        ("run_command", r#"{"command":"echo x > /project/a"}"#),
        ("run_command", r#"{"command":"git -C /elsewhere push"}"#),
        ("github__push", "{}"),
        ("claim_complete", r#"{"rationale":"because"}"#),
        ("edit_file", "not json"),
        ("", ""),
    ]);
    let results = results(&game);
    assert!(results[..5].iter().all(|why| why.starts_with("not allowed in this run: ")), "{results:#?}");
    assert_eq!(results.len(), 9);
    let ends: Vec<String> = steps(&game).iter().map(|s| s.rsplit(' ').next().unwrap().to_owned()).collect();
    assert_eq!(ends, ["denied", "denied", "denied", "denied", "denied", "err", "err", "err", "err"]);
    let tools = game.records.iter().flat_map(|(_, step)| &step.effects);
    assert_eq!(tools.filter(|e| matches!(e.kind, EffectKind::Tool(_))).count(), 0, "{}", game.log());
}

#[test]
fn a_path_below_the_project_is_the_file_in_the_runs_folder() {
    let mut game = begun(game());
    game.wants(&[("read_file", r#"{"path":"/project/src/a.rs"}"#)]);
    assert!(matches!(tool(&game).action, ToolAction::ReadFile { path, .. } if path == "src/a.rs"));
}

#[test]
fn a_tool_that_only_fails_is_not_offered_any_more() {
    let mut game = begun(game());
    for n in 0..3 {
        game.wants(&[("edit_file", &format!(r#"{{"path":"{n}","old":"a","new":"b"}}"#))]);
        game.did(ToolEnd::Error, "there is no such file");
    }
    let offered = game.engine.texts().unwrap().get(&turn(&game).tools.unwrap()).to_owned();
    assert!(!offered.contains("\"edit_file\"") && offered.contains("\"write_file\""), "{offered}");
}

#[test]
fn a_long_conversation_stays_within_a_small_window() {
    let mut table = game();
    let ann = table.agents.get_mut("ann").unwrap();
    (ann.window, ann.max_output_tokens) = (Some(32_000), 4000);
    let mut game = begun(table);
    for n in 0..40 {
        game.wants(&[("read_file", &format!(r#"{{"path":"{n}"}}"#))]).did(ToolEnd::Done, &"x".repeat(6000));
    }
    let (turn, texts) = (turn(&game), game.engine.texts().unwrap());
    let parts = turn.messages.iter().flat_map(|message| &message.parts);
    let bytes: usize =
        parts.map(|part| part.size(texts)).sum::<usize>() + texts.get(&turn.tools.unwrap()).len();
    assert!(bytes <= 2 * 28_000, "{bytes}");
    let prompt = game.prompt(&game.open());
    assert!(prompt.starts_with("You carry out one task") && prompt.contains("earlier turns are left out"));
}
