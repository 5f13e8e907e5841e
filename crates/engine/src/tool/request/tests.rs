//! What a model may write as a call, and what becomes of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

const READING: RequestContext<'_> = RequestContext {
    root: "/tmp/goal",
    servers: &["git", "git__hub", "ci"],
    timeout_ms: 60_000,
    processes: false,
};

fn request(name: &str, args: &str) -> Result<ToolRequest, String> {
    read(name, args, &READING, &mut |text| Digest::of(text.as_bytes()))
}

fn action(name: &str, args: &str) -> ToolAction {
    match request(name, args) {
        Ok(ToolRequest::Do { action, outside: None }) => action,
        other => panic!("{name}({args}): {other:?}"),
    }
}

fn text(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}

#[test]
fn every_tool_that_is_offered_can_be_read() {
    let args = r#"{"command":"a","path":"a","content":"a","old":"a","new":"b","pattern":"a","url":"http://a",
        "rationale":"a","reason":"a","what_was_learned":"a"}"#;
    for tool in offered::builtin().into_iter().chain(offered::goal_end()) {
        let read = request(&tool.name, args);
        assert!(read.is_ok(), "{}: {read:?}", tool.name);
        for key in tool.schema["required"].as_array().unwrap() {
            let mut map: Map<String, Value> = serde_json::from_str(args).unwrap();
            map.remove(key.as_str().unwrap());
            let said = request(&tool.name, &Value::Object(map).to_string()).unwrap_err();
            assert!(said.contains(&format!("`{}`", key.as_str().unwrap())), "{said}");
        }
    }
}

#[test]
fn commands_get_the_time_they_ask_for_and_no_more_than_there_is() {
    for (args, timeout_ms) in [
        (r#"{"command":"x"}"#, 60_000),
        (r#"{"command":"x","timeout_seconds":5}"#, 5_000),
        (r#"{"command":"x","timeout_seconds":"5"}"#, 5_000),
        (r#"{"command":"x","timeout_seconds":5.0}"#, 5_000),
        (r#"{"command":"x","timeout_seconds":0}"#, 60_000),
        (r#"{"command":"x","timeout_seconds":null}"#, 60_000),
        (r#"{"command":"x","timeout_seconds":18446744073709551615}"#, 60_000),
    ] {
        assert_eq!(
            action("run_command", args),
            ToolAction::RunCommand { line: "x".to_owned(), timeout_ms },
            "{args}"
        );
    }
    for args in [
        r#"{"command":"  "}"#,
        r#"{"command":"a\u0000b"}"#,
        r#"{"command":["ls","-l"]}"#,
        r#"{"command":"x","timeout_seconds":-1}"#,
        r#"{"command":"x","timeout_seconds":"soon"}"#,
    ] {
        assert!(request("run_command", args).is_err(), "{args}");
    }
}

#[test]
fn types_are_taken_where_they_can_mean_only_one_thing() {
    let read = |from, lines| ToolAction::ReadFile { path: "a".to_owned(), from, lines };
    assert_eq!(action("read_file", r#"{"path":"./a","from":"3","lines":2.0}"#), read(3, 2));
    assert_eq!(action("read_file", r#"{"path":"a","from":0,"unknown":[1]}"#), read(1, LINES));
    assert_eq!(action("read_file", r#"{"path":"a","lines":99999999999}"#), read(1, MOST_LINES));
    let write = ToolAction::WriteFile { path: "a".to_owned(), content: text("3") };
    assert_eq!(action("write_file", r#"{"path":"a","content":3}"#), write);
    assert!(request("write_file", r#"{"path":"a","content":{"a":1}}"#).is_err());
    let edit = |all| ToolAction::EditFile { path: "a".to_owned(), old: text("x"), new: text(""), all };
    assert_eq!(action("edit_file", r#"{"path":"a","old":"x","new":"","all":"True"}"#), edit(true));
    assert_eq!(action("edit_file", r#"{"path":"a","old":"x","new":""}"#), edit(false));
    assert!(request("edit_file", r#"{"path":"a","old":"","new":"y"}"#).is_err());
    assert!(request("edit_file", r#"{"path":"a","old":"y","new":"y"}"#).is_err());
    assert_eq!(action("list_files", ""), ToolAction::ListFiles { path: String::new() });
}

#[test]
fn a_path_that_leaves_the_folder_is_said_to() {
    assert_eq!(
        request("write_file", r#"{"path":"/tmp/goal-evil/a","content":""}"#),
        Ok(ToolRequest::Do {
            action: ToolAction::WriteFile { path: "/tmp/goal-evil/a".to_owned(), content: text("") },
            outside: Some("/tmp/goal-evil/a".to_owned()),
        })
    );
    for (path, outside) in [("../x", Some("/tmp/x")), ("/tmp/goal/x", None), ("a/../../goal/x", None)] {
        let args = format!(r#"{{"path":"{path}"}}"#);
        let Ok(ToolRequest::Do { action, outside: found }) = request("read_file", &args) else {
            panic!("{path}")
        };
        assert_eq!(found.as_deref(), outside, "{path}");
        let ToolAction::ReadFile { path: read, .. } = action else { panic!("{path}") };
        assert_eq!(read, outside.unwrap_or("x"), "{path}");
    }
    for path in ["a\\u0000", "a\\nb", "", ".", "/", "~/x"] {
        assert!(request("write_file", &format!(r#"{{"path":"{path}","content":""}}"#)).is_err(), "{path}");
    }
}

#[test]
fn an_output_that_was_kept_is_only_read() {
    let kept = ToolAction::ReadFile { path: "output:12".to_owned(), from: 1, lines: LINES };
    assert_eq!(action("read_file", r#"{"path":"output:12"}"#), kept);
    for path in ["output:12", "./output:12", "a/../output:12", "/tmp/goal/output:12"] {
        assert!(request("write_file", &format!(r#"{{"path":"{path}","content":""}}"#)).is_err(), "{path}");
        assert!(request("search_files", &format!(r#"{{"path":"{path}","pattern":"a"}}"#)).is_err(), "{path}");
    }
}

#[test]
fn tools_of_servers_are_known_by_their_server() {
    let mcp = |server: &str, tool: &str, args: &str| ToolAction::Mcp {
        server: server.to_owned(),
        tool: tool.to_owned(),
        args: text(args),
    };
    assert_eq!(action("ci__start", r#"{"b":1, "a":[2]}"#), mcp("ci", "start", r#"{"a":[2],"b":1}"#));
    assert_eq!(action("git__hub__list", "{}"), mcp("git__hub", "list", "{}"));
    assert_eq!(action("git__log", "{}"), mcp("git", "log", "{}"));
    for name in ["other__start", "ci__", "ci_start", "__start", "rm", "Read_File", ""] {
        let said = request(name, "{}").unwrap_err();
        assert!(said.contains("run_command") && said.contains("ci__"), "{said}");
    }
}

#[test]
fn hostile_arguments_are_refused_with_a_sentence() {
    let long = format!(r#"{{"path":"{}"}}"#, "a".repeat(LONGEST_ARGS));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_in = format!(r#"{{"path":"a","x":{deep}}}"#);
    for args in ["{", "[]", "3", "null", "\"a\"", "{\"path\":\"a\"} extra", &long, &deep, &deep_in] {
        let said = request("read_file", args).unwrap_err();
        assert!(said.contains("`read_file`") && said.len() < 300, "{said}");
    }
    for url in ["ftp://a", "file:///etc/passwd", "http://", "https:///x", "a", "http://a b", "javascript:1"] {
        assert!(request("fetch_url", &format!(r#"{{"url":"{url}"}}"#)).is_err(), "{url}");
    }
    assert_eq!(
        action("fetch_url", r#"{"url":" HTTPS://a/b "}"#),
        ToolAction::FetchUrl { url: "HTTPS://a/b".to_owned() }
    );
    let said = request(&format!("{}\n", "x".repeat(10_000)), "{}").unwrap_err();
    assert!(said.len() < 500, "{said}");
    let Ok(ToolRequest::Claim { rationale }) =
        request("claim_complete", &format!(r#"{{"rationale":"{}"}}"#, "ü".repeat(20_000)))
    else {
        panic!("a long claim is still a claim")
    };
    assert!(rationale.len() <= LONGEST_WORDS + 3);
}
