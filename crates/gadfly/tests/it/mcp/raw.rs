//! What no client of good manners sends: lines that are no JSON, requests that are none, far too much. The server
//! answers what can be answered and stays.

use serde_json::json;

use crate::mcp::lines::Lines;
use crate::mcp::support::{APPROVE, Project, REJECT};

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
    assert_eq!(said["result"]["structuredContent"]["runs"], json!([]), "{said}");
    assert_eq!(lines.leave(), Some(0));
}

#[test]
fn a_store_that_came_from_elsewhere_is_said_to_be_none_of_the_users_until_they_own_it() {
    let theirs = Project::new(&["A draft."], &[APPROVE], "");
    let ran = theirs.gadfly(&["run", "Write.", "--worker", "writer", "--criterion", "short", "--yes"]);
    assert!(ran.status.success(), "{ran:?}");
    let project = Project::new(&[], &[APPROVE], "");
    let mut copied = std::process::Command::new("cp");
    copied.arg("-a").arg(theirs.path(".gadfly")).arg(project.path(".gadfly"));
    assert!(copied.status().unwrap().success());
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let listed = lines.call("list_runs", &json!({}));
    let run = listed["result"]["structuredContent"]["runs"][0]["run"].clone();
    for said in [listed, lines.call("get_verdict", &json!({ "run": run }))] {
        for word in ["not made by you on this machine", "gadfly own"] {
            let told = said["result"]["structuredContent"]["foreign"].as_str().unwrap();
            let text = said["result"]["content"][0]["text"].as_str().unwrap();
            assert!(told.contains(word) && text.contains(word), "{said}");
        }
    }
    let owned = project.gadfly(&["own"]);
    assert!(owned.status.success(), "{owned:?}");
    // The server that is open notices.
    let said = lines.call("get_verdict", &json!({ "run": run }));
    assert_eq!(said["result"]["structuredContent"].get("foreign"), None, "{said}");
    assert_eq!(lines.leave(), Some(0));
}

#[test]
fn a_draft_that_is_too_long_is_refused_with_words_and_nothing_is_started() {
    let project = Project::new(&[], &[APPROVE], "");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let long = "x".repeat(17 << 20);
    let said = lines.call("start_loop", &json!({ "task": "t", "criteria": ["c"], "draft": long }));
    let words = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said["result"]["isError"] == true && words.contains("at most"), "{words}");
    let runs = lines.call("list_runs", &json!({}));
    assert_eq!(runs["result"]["structuredContent"]["runs"], json!([]), "{runs}");
}

#[test]
fn a_line_that_is_far_too_long_is_dropped_and_the_next_is_answered() {
    let project = Project::new(&[], &[APPROVE], "");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let long = "x".repeat(65 << 20);
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

#[test]
fn a_terminal_gives_no_report_in_the_name_of_a_host() {
    let project = Project::new(&[], &[], "[loops.mine]\ncritic = \"host\"\ntask = \"t\"\nrubric = [\"c\"]\n");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let begun = lines.call("start_loop", &json!({ "loop": "mine", "worker": "host", "draft": "A draft." }));
    let run =
        begun["result"]["structuredContent"]["run"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    for more in [&[][..], &["--force"]] {
        let answered = project.gadfly(&[&["answer", &run, "[STATUS: APPROVED]"], more].concat());
        let said = String::from_utf8_lossy(&answered.stderr).into_owned();
        assert!(!answered.status.success() && said.contains("open_review"), "{said}");
    }
    let now = lines.call("get_verdict", &json!({ "run": run }));
    assert_eq!(now["result"]["structuredContent"]["next"]["what"], "report", "{now}");
}

#[test]
fn a_rejection_that_was_overruled_is_said_to_be_one() {
    let new_wish =
        "[STATUS: REJECTED]\\nAddressed from iteration 1:\\n- ✓ 1: named\\nStill unresolved:\\n- a quotation";
    let project = Project::new(&["Apples.", "40 apples."], &[REJECT, new_wish], "");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let done = lines.call("start_loop", &json!({ "task": "t", "criteria": ["c"], "worker": "writer" }));
    let (value, text) = (&done["result"]["structuredContent"], &done["result"]["content"][0]["text"]);
    assert_eq!((&value["approved"], &value["overruled"]), (&json!(true), &json!(true)), "{done}");
    let text = text.as_str().unwrap();
    assert!(text.contains("approved (overruled)") && text.contains("only raised new requirements"), "{text}");
    let listed = lines.call("list_runs", &json!({}));
    let words = listed["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("approved (overruled)"), "{words}");
}

#[test]
fn a_goal_that_is_named_is_started_and_one_in_words_only_by_the_user() {
    let project =
        Project::new(&[], &[APPROVE], "[goals.kept]\ngoal = \"Keep it.\"\nuntil = \"test -f done.txt\"\n");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let mut said = |tool: &str, args| lines.call(tool, &args)["result"]["content"][0]["text"].to_string();
    for (args, why) in [
        (json!({}), "kept"),
        (json!({ "name": "other" }), "no goal `other`"),
        (json!({ "name": "kept", "goal": "x" }), "not both"),
        (json!({ "name": "kept", "until": ["true"] }), "leave it out"),
        (json!({ "goal": "Make it so.", "until": ["touch started"] }), "agrees in a form"),
    ] {
        let refused = said("start_goal", args.clone());
        assert!(refused.contains(why), "{args}: {refused}");
    }
    assert!(!project.path("started").exists());
    assert!(said("list_runs", json!({})).contains("no runs"));
    assert!(said("steer_goal", json!({ "run": "zz", "text": "x" })).contains("no runs"));
}

#[test]
fn a_list_that_came_as_a_string_is_a_list() {
    let project = Project::new(&[], &[APPROVE], "");
    let mut lines = Lines::open(&project);
    lines.greet(&json!({}));
    let args = json!({ "task": "Write.", "criteria": "[\"short\", \"true\"]", "wait_seconds": "5" });
    let said = lines.call("start_loop", &args);
    assert_ne!(said["result"]["isError"], json!(true), "{said}");
    let text = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("short") && text.contains("true"), "{text}");
}
