//! What is heard in a turn: recorded updates of real agents, and what a liar or a chatterbox sends.

#![allow(clippy::unwrap_used)]

use serde_json::json;

use super::*;

fn turn(max_steps: u32) -> AcpTurn {
    let mut turn = AcpTurn::new(CallFolders { root: "/project".into(), tmp: None }, max_steps);
    turn.begin("s".into());
    turn
}

fn update(session: &str, update: &Value) -> SessionNotification {
    serde_json::from_value(json!({ "sessionId": session, "update": update })).unwrap()
}

fn say(turn: &mut AcpTurn, id: Option<&str>, text: &str) {
    let mut chunk =
        json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } });
    if let Some(id) = id {
        chunk["messageId"] = id.into();
    }
    turn.hear(update("s", &chunk));
}

fn step(turn: &mut AcpTurn, said: &Value) -> Option<String> {
    let heard = turn.hear(update("s", said)).observations;
    let mut steps = heard.into_iter().filter_map(|observation| match observation {
        Observation::Step { line, .. } => Some(line),
        _ => None,
    });
    steps.next()
}

fn tool(turn: &mut AcpTurn, id: &str) -> Option<String> {
    let call = json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": id, "kind": "read",
        "status": "in_progress" });
    step(turn, &call)
}

#[test]
fn the_last_message_is_the_answer() {
    type Said = (Option<&'static str>, &'static str);
    let none = |text| (None, text);
    let cases: [(&[Said], &str); 8] = [
        (&[none("a"), none("b")], "ab"),
        (&[none("I look."), none("TOOL"), none("[OK]")], "[OK]"),
        (&[none("[OK]"), none("TOOL"), none("  \n")], "[OK]"),
        (&[none("[OK]"), none("TOOL")], "[OK]"),
        (&[(Some("1"), "first"), (Some("2"), "sec"), (Some("2"), "ond")], "second"),
        (&[none("Warning: no metadata"), (Some("1"), "[OK]")], "[OK]"),
        (&[(Some("1"), "[OK]"), none(" and more")], "[OK] and more"),
        (&[], ""),
    ];
    for (said, expected) in cases {
        let mut turn = turn(10);
        for (id, text) in said {
            if *text == "TOOL" { drop(tool(&mut turn, "t")) } else { say(&mut turn, *id, text) }
        }
        assert_eq!(turn.text(), expected, "{said:?}");
    }
}

#[test]
fn thoughts_history_and_other_sessions_are_not_the_answer() {
    let chunk = |kind: &str| json!({ "sessionUpdate": kind, "content": { "type": "text", "text": "old" } });
    let mut turn = AcpTurn::new(CallFolders { root: "/project".into(), tmp: None }, 10);
    turn.hear(update("s", &chunk("agent_message_chunk")));
    assert!(tool(&mut turn, "t").is_none(), "a tool call told again is no step of this turn");
    turn.begin("s".into());
    turn.hear(update("s", &chunk("agent_thought_chunk")));
    turn.hear(update("s", &chunk("user_message_chunk")));
    turn.hear(update("child", &chunk("agent_message_chunk")));
    assert_eq!(turn.text(), "");
}

#[test]
fn a_step_is_told_once_when_its_title_says_something() {
    // As OpenCode, Claude, Codex and Gemini send them.
    let opencode = [
        json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "bash", "kind": "execute",
            "status": "pending", "locations": [{ "path": "/project" }] }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "in_progress",
            "title": "echo a > b\n" }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed",
            "title": "echo a > b" }),
    ];
    let claude = [
        json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "Terminal", "kind": "execute",
            "status": "pending" }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "Write x",
            "kind": "edit", "locations": [{ "path": "/project/src/x", "line": 3 }] }),
    ];
    let codex = [json!({ "sessionUpdate": "tool_call", "toolCallId": "c", "title": "ls", "kind": "execute",
        "status": "in_progress" })];
    let gemini = [json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c", "title": "ls",
        "status": "completed", "kind": "something new" })];
    for (updates, expected) in [
        (&opencode[..], "execute: echo a > b"),
        (&claude[..], "edit: Write x (src/x:3)"),
        (&codex[..], "execute: ls"),
        (&gemini[..], "tool: ls"),
    ] {
        let mut turn = turn(10);
        let told: Vec<_> = updates.iter().filter_map(|said| step(&mut turn, said)).collect();
        assert_eq!(told, [expected]);
        assert!(turn.untold().is_empty());
    }
    let mut turn = turn(10);
    assert_eq!(step(&mut turn, &opencode[0]), None);
    assert_eq!(turn.untold(), [Observation::Step { line: "execute: bash".into(), call: Some("c".into()) }]);
}

#[test]
fn what_came_of_a_step_is_told_once_by_the_agents_own_word() {
    let ended = |update: Value| {
        let mut said = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c" });
        said.as_object_mut().unwrap().extend(update.as_object().unwrap().clone());
        said
    };
    let text = |text: &str| json!([{ "type": "content", "content": { "type": "text", "text": text } }]);
    // As Claude, Codex by its two adapters, Gemini and OpenCode send them.
    let claude = ended(
        json!({ "status": "failed", "rawOutput": "Exit code 3\nBOOM", "content": text("```\nBOOM\n```") }),
    );
    let codex = ended(json!({ "status": "completed", "_meta": { "terminal_exit": { "exit_code": 3 } } }));
    let zed =
        ended(json!({ "status": "failed", "rawOutput": { "exit_code": 3, "aggregated_output": "BOOM" } }));
    let gemini = ended(json!({ "status": "completed", "content": text("fine") }));
    let opencode = ended(json!({ "status": "completed", "content": text("BOOM"),
        "rawOutput": { "output": "BOOM", "metadata": { "exit": 3 } } }));
    for (update_, end, expected) in [
        (claude, StepEnd::Err, "Exit code 3\nBOOM"),
        (codex, StepEnd::Err, "exit code 3"),
        (zed, StepEnd::Err, "exit code 3\nBOOM"),
        (gemini, StepEnd::Ok, "fine"),
        (opencode, StepEnd::Err, "exit code 3\nBOOM"),
    ] {
        let mut turn = turn(10);
        assert!(tool(&mut turn, "c").is_some());
        let ended = Observation::StepEnded { call: "c".into(), end, said: expected.into() };
        assert_eq!(turn.hear(update("s", &update_)).observations, [ended], "{update_}");
        assert_eq!(turn.hear(update("s", &update_)).observations, [], "once: {update_}");
    }
    let mut turn = turn(10);
    tool(&mut turn, "c");
    turn.denied(&"c".into());
    let refused = turn.hear(update("s", &ended(json!({ "status": "failed" })))).observations;
    let ended = Observation::StepEnded { call: "c".into(), end: StepEnd::Denied, said: String::new() };
    assert_eq!(refused, [ended]);
}

#[test]
fn a_turn_with_too_many_steps_or_too_much_text_is_over() {
    let mut steps = turn(3);
    for n in 0..3 {
        assert!(tool(&mut steps, &n.to_string()).is_some());
    }
    assert_eq!(steps.over(), None);
    assert!(tool(&mut steps, "3").is_none());
    assert_eq!(steps.over(), Some(Over::Steps));

    let mut refused = turn(2);
    refused.refused();
    refused.refused();
    assert_eq!(refused.over(), None);
    refused.refused();
    assert_eq!(refused.over(), Some(Over::Steps));

    let mut text = turn(3);
    say(&mut text, None, &"x".repeat(MAX_REPLY));
    assert_eq!(text.over(), None);
    say(&mut text, Some("next"), "x");
    assert_eq!(text.over(), Some(Over::Text));
}

#[test]
fn a_line_is_one_short_line() {
    assert_eq!(line(" a\nb\u{1b}[31m\t"), "a b [31m");
    assert_eq!(line(&"é".repeat(10_000)).chars().count(), LINE + 1);
}

fn ended(said: &Value) -> PromptResponse {
    serde_json::from_value(said.clone()).unwrap()
}

#[test]
fn the_total_says_what_is_counted_where() {
    // input, output, cached read, cached write, thought, total → input, output
    for (said, input, output) in [
        ([11, 7, 0, 0, 0, 18], 11, 7),
        ([22, 14, 0, 0, 0, 36], 22, 14),
        ([100, 10, 60, 0, 0, 110], 40, 10),
        ([100, 10, 60, 5, 0, 175], 100, 10),
        ([100, 10, 0, 0, 7, 117], 100, 17),
        ([100, 10, 0, 0, 7, 110], 100, 10),
        ([100, 10, 60, 0, 7, 177], 100, 17),
        ([100, 10, 60, 0, 7, 117], 40, 17),
        ([100, 10, 60, 0, 7, 1], 100, 10),
        ([u64::MAX, u64::MAX, u64::MAX, 1, 1, 1], u64::MAX, u64::MAX),
    ] {
        let [fed, wrote, read, stored, thought, total] = said;
        let usage = json!({ "inputTokens": fed, "outputTokens": wrote, "cachedReadTokens": read,
            "cachedWriteTokens": stored, "thoughtTokens": thought, "totalTokens": total });
        let usage = turn(1).usage(Some(&ended(&json!({ "stopReason": "end_turn", "usage": usage }))));
        assert_eq!((usage.input, usage.output), (input, output), "{said:?}");
        assert_eq!((usage.cache_read, usage.cache_write), (read, stored), "{said:?}");
    }
}

#[test]
fn gemini_says_its_usage_and_model_elsewhere() {
    let count = json!({ "input_tokens": 22, "output_tokens": 14 });
    let quota = json!({ "token_count": count, "model_usage": [{ "model": "gemini-2.5-flash", "token_count": count }] });
    let said = ended(&json!({ "stopReason": "end_turn", "_meta": { "quota": quota } }));
    let usage = turn(1).usage(Some(&said));
    assert_eq!((usage.input, usage.output, usage.cost), (22, 14, None));
    assert_eq!(model(&said).as_deref(), Some("gemini-2.5-flash"));
    for odd in
        [json!({}), json!({ "quota": 1 }), json!({ "quota": { "token_count": [], "model_usage": {} } })]
    {
        let said = ended(&json!({ "stopReason": "end_turn", "_meta": odd }));
        assert_eq!(turn(1).usage(Some(&said)), Usage::default());
        assert_eq!(model(&said), None);
    }
}

#[test]
fn a_cost_of_the_session_is_that_of_the_turn_as_far_as_is_known() {
    let cost = |amount: f64, currency: &str| {
        json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2,
            "cost": { "amount": amount, "currency": currency } })
    };
    let mut turn = AcpTurn::new(CallFolders { root: "/project".into(), tmp: None }, 1);
    assert_eq!(turn.hear(update("s", &cost(1.0, "USD"))).observations, []);
    turn.begin("s".into());
    assert_eq!(turn.spent(), None);
    let told = turn.hear(update("s", &cost(1.25, "USD"))).observations.pop();
    let usage = Usage { cost: Some(Money::from_usd(0.25)), ..Usage::default() };
    assert_eq!(told, Some(Observation::Usage { usage }));
    for odd in [cost(5.0, "EUR"), cost(0.0, "USD"), cost(-1.0, "USD")] {
        assert_eq!(turn.hear(update("s", &odd)).observations, [], "{odd}");
    }
    turn.hear(update("s", &cost(0.5, "USD")));
    assert_eq!(turn.spent(), Some(Money::from_usd(0.5)), "an agent that began to count anew");
}
