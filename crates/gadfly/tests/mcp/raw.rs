//! What no client of good manners sends: lines that are no JSON, requests that are none, far too much. The server
//! answers what can be answered and stays.

use serde_json::json;

use crate::lines::Lines;
use crate::support::{APPROVE, Project};

#[test]
fn lines_that_are_no_requests_do_not_end_the_server() {
    let project = Project::new(&[], &[APPROVE], "");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for bad in ["", "not json", "{", "[]", "7", "null", "{\"jsonrpc\":\"2.0\"}", "\u{0}\u{1b}[2J", &deep] {
        lines.send(bad);
    }
    for (method, params) in
        [("no/such/method", json!({})), ("tools/call", json!({})), ("tools/call", json!({ "name": 7 }))]
    {
        let said = lines.ask(method, &params);
        assert!(said.get("error").is_some(), "{method}: {said}");
    }
    let said = lines.call("list_runs", &json!({}));
    assert_eq!(said["result"]["isError"], true, "{said}");
    assert_eq!(lines.leave(), Some(0));
}

#[test]
fn a_line_that_is_far_too_long_is_dropped_and_the_next_is_answered() {
    let project = Project::new(&[], &[APPROVE], "");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let long = "x".repeat(17 << 20);
    lines.send(
        &json!({ "jsonrpc": "2.0", "id": 999, "method": "tools/call",
        "params": { "name": "submit_draft", "arguments": { "run": "a", "draft": long } } })
        .to_string(),
    );
    assert!(lines.ask("tools/list", &json!({}))["result"]["tools"].is_array());
}

#[test]
fn a_server_that_is_only_started_leaves_nothing_behind() {
    let project = Project::new(&[], &[APPROVE], "");
    let mut lines = Lines::open(&project);
    let greeted = lines.greet(&json!({}));
    assert_eq!(greeted["result"]["serverInfo"]["name"], "gadfly", "{greeted}");
    assert!(lines.ask("resources/list", &json!({}))["result"]["resources"].is_array());
    assert_eq!(lines.leave(), Some(0));
    assert!(!project.path(".gadfly").exists());
    // One that never greets is no error, either.
    assert_eq!(Lines::open(&project).leave(), Some(0));
}

#[test]
fn the_host_is_an_agent_that_a_terminal_can_answer_for() {
    let project =
        Project::new(&["x"], &[APPROVE], "[loops.mine]\nworker = \"host\"\ntask = \"t\"\nrubric = [\"c\"]\n");
    let checked = project.gadfly(&["check"]);
    assert!(
        checked.status.success(),
        "it needs no configuration: {}",
        String::from_utf8_lossy(&checked.stderr)
    );
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let begun = lines.call("start_loop", &json!({ "loop": "mine" }));
    let run = begun["result"]["structuredContent"]["run"].as_str().unwrap().to_owned();
    assert_eq!(lines.leave(), Some(0));
    assert!(project.gadfly(&["answer", &run, "The draft."]).status.success());
    let resumed = project.gadfly(&["resume", &run]);
    assert_eq!(
        String::from_utf8_lossy(&resumed.stdout),
        "The draft.",
        "{}",
        String::from_utf8_lossy(&resumed.stderr)
    );
}
