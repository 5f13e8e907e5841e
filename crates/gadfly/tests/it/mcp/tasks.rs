//! Calls as tasks, for clients that have them, and the protocol without a handshake. No SDK has both yet, so these
//! speak in lines.

use serde_json::{Value, json};

use crate::mcp::lines::Lines;
use crate::mcp::support::{APPROVE, Project, REJECT};

fn has_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": { "form": {} } })
}

/// Polls a task until it asks or is done.
fn polled(lines: &mut Lines, created: &Value) -> Value {
    let id = created["result"]["taskId"].as_str().unwrap_or_else(|| panic!("a task: {created}")).to_owned();
    for _ in 0..2_000 {
        let said = lines.ask("tasks/get", &json!({ "taskId": id }));
        let task = said["result"].clone();
        match task["status"].as_str() {
            Some("working") => std::thread::sleep(std::time::Duration::from_millis(25)),
            Some(_) => return task,
            None => panic!("{said}"),
        }
    }
    panic!("the task does not end");
}

#[test]
fn a_call_that_waits_becomes_a_task_where_the_client_has_them() {
    let project = Project::new(&[], &[REJECT, APPROVE], "");
    let mut lines = Lines::open(&project);
    lines.stateless(&has_tasks());
    let begun = lines.call("start_loop", &json!({ "task": "t", "criteria": ["c"] }));
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    let done = polled(&mut lines, &begun);
    assert_eq!(done["status"], "completed", "{done}");
    let run = done["result"]["structuredContent"]["run"].as_str().unwrap().to_owned();
    for (draft, state) in [("One.", "waiting(question)"), ("Two.", "approved")] {
        let judged = lines.call("submit_draft", &json!({ "run": run, "draft": draft }));
        let done = polled(&mut lines, &judged);
        assert_eq!(done["result"]["structuredContent"]["state"], state, "{done}");
    }
    // What does not wait is answered at once, also here.
    assert!(lines.call("list_runs", &json!({}))["result"]["structuredContent"]["runs"].is_array());
    let unknown = lines.ask("tasks/get", &json!({ "taskId": "no such task" }));
    assert!(unknown.get("error").is_some(), "{unknown}");
}

#[test]
fn a_task_asks_the_user_and_goes_on_with_the_answer() {
    let low = r#"{\"deductions\":[{\"row\":\"no-sample-size\",\"times\":1,\"quote\":\"Some text\",\"says\":\"no n\",\"fix\":\"state n\"}]}"#;
    let project = Project::new(&["Some text 1."], &[low], "");
    project.write("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n");
    let mut lines = Lines::open(&project);
    lines.stateless(&has_tasks());
    let args = json!({ "task": "t", "protocol": "score", "rubric": "r.md", "worker": "writer", "rounds": 1 });
    let begun = lines.call("start_loop", &args);
    let asking = polled(&mut lines, &begun);
    assert_eq!(asking["status"], "input_required", "{asking}");
    let (key, form) = asking["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let ways = &form["params"]["requestedSchema"]["properties"]["choice"];
    let ways = ways["oneOf"].as_array().or_else(|| ways["enum"].as_array()).unwrap();
    let word = ways.last().map(|way| way["const"].as_str().or(way.as_str()).unwrap()).unwrap();
    let answer = json!({ "action": "accept", "content": { "choice": word } });
    let told = lines.ask(
        "tasks/update",
        &json!({ "taskId": begun["result"]["taskId"], "inputResponses": { key: answer } }),
    );
    assert!(told.get("error").is_none(), "{told}");
    let done = polled(&mut lines, &begun);
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["structuredContent"]["ended"], true, "{done}");
}

#[test]
fn a_cancelled_task_leaves_its_run() {
    let project = Project::new(&[], &[APPROVE], "");
    project.write("judge.toml", "[[reply]]\ndelay_ms = 60000\ntext = \"[STATUS: APPROVED]\"\n");
    let mut lines = Lines::open(&project);
    lines.stateless(&has_tasks());
    let begun = lines.call("start_loop", &json!({ "task": "t", "criteria": ["c"], "draft": "One." }));
    let id = begun["result"]["taskId"].clone();
    // Once the critic is at work.
    for _ in 0..2_000 {
        let runs = lines.call("list_runs", &json!({}));
        let first = &runs["result"]["structuredContent"]["runs"][0];
        if first["state"] == "running" && first["round"] == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    assert!(lines.ask("tasks/cancel", &json!({ "taskId": id })).get("error").is_none());
    let ended = polled(&mut lines, &begun);
    assert_eq!(ended["status"], "cancelled", "{ended}");
    let runs = lines.call("list_runs", &json!({}));
    assert_eq!(runs["result"]["structuredContent"]["runs"][0]["ended"], false, "{runs}");
}
