//! What is told of a worker with tools of its own while it works: its steps, and by which name another call can go
//! on with its conversation if this one is broken off.

use gadfly_agents::Exit;
use gadfly_engine::Role;
use gadfly_engine::goal::StepEnd;

use crate::streams::stage::{Played, heard, recorded};

#[tokio::test]
async fn the_name_of_a_workers_conversation_is_told_as_soon_as_it_is_known() {
    let begun = [
        ("claude-code", r#"{"type":"system","subtype":"init","session_id":"s-1"}"#, "s-1"),
        ("codex", r#"{"type":"thread.started","thread_id":"s-1"}"#, "s-1:0:0:0:0"),
        ("gemini", r#"{"type":"init","session_id":"s-1"}"#, "s-1"),
        ("opencode", r#"{"type":"step_start","sessionID":"s-1","part":{}}"#, "s-1"),
    ];
    for (kind, line, name) in begun {
        // It gets no further than this: the call fails, and the name is known all the same.
        let play = |line: &str| [Played::new(line.to_owned(), Exit::Code(1))];
        let got = heard(kind, Role::Worker, &play(line)).await;
        assert_eq!((got.sessions(), got.result.is_err()), (vec![name], true), "{kind}");
        let got = heard(kind, Role::Critic, &play(line)).await;
        assert!(got.sessions().is_empty(), "{kind}: who judges begins anew");
        let got = heard(kind, Role::Worker, &play(&line.replace("s-1", "--help"))).await;
        assert!(got.sessions().is_empty(), "{kind}: what could be taken for a flag is no name");
    }
}

#[tokio::test]
async fn a_tool_call_is_one_step_however_often_the_stream_speaks_of_it() {
    let claude = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}}"#;
    let codex = r#"{"type":"item.started","item":{"id":"1","type":"command_execution","command":"make"}}
{"type":"item.updated","item":{"id":"1","type":"command_execution","command":"make"}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"make","status":"completed"}}
{"type":"item.started","item":{"type":"command_execution","command":"make"}}
{"type":"item.completed","item":{"type":"command_execution","command":"make"}}
{"type":"item.completed","item":{"type":"command_execution","command":"make"}}"#;
    let gemini = r#"{"type":"tool_use","tool_name":"run","tool_id":"1","parameters":{"command":"make"}}
{"type":"tool_use","tool_name":"run","tool_id":"1","parameters":{"command":"make"}}
{"type":"tool_result","tool_id":"1","status":"success"}"#;
    let opencode = r#"{"type":"tool_use","part":{"tool":"bash","callID":"1","state":{"status":"running","input":{"command":"make"}}}}
{"type":"tool_use","part":{"tool":"bash","callID":"1","state":{"status":"completed","input":{"command":"make"}}}}"#;
    for (kind, stream, steps) in [
        ("claude-code", claude, vec!["Bash: make"]),
        ("codex", codex, vec!["command: make"; 3]),
        ("gemini", gemini, vec!["run: make"]),
        ("opencode", opencode, vec!["bash: make"]),
    ] {
        let got = heard(kind, Role::Worker, &[Played::new(stream.into(), Exit::Code(1))]).await;
        assert_eq!(got.steps(), steps, "{kind}");
    }
}

#[tokio::test]
async fn what_came_of_a_step_is_what_the_stream_says() {
    use StepEnd::{Denied, Err, Ok, Unknown};
    let claude = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}},{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a"}}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"Exit code 3\nBOOM-42","is_error":true}]}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"one"},{"type":"image"},{"type":"text","text":"two"}]}]}}"#;
    let codex = r#"{"type":"item.started","item":{"id":"1","type":"command_execution","command":"make","status":"in_progress","exit_code":null}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"make","status":"failed","exit_code":3,"aggregated_output":"BOOM-42\n"}}
{"type":"item.completed","item":{"id":"2","type":"file_change","changes":[{"path":"a"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"3","type":"mcp_tool_call","server":"s","tool":"t","status":"failed","error":{"message":"gone"}}}
{"type":"item.completed","item":{"id":"4","type":"web_search","query":"q"}}
{"type":"item.completed","item":{"id":"5","type":"command_execution","command":"x","status":"declined"}}"#;
    let gemini = r#"{"type":"tool_use","tool_name":"run_shell_command","tool_id":"1","parameters":{"command":"make"}}
{"type":"tool_result","tool_id":"1","status":"success","output":"Command exited with code: 3"}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"2","parameters":{"command":"make"}}
{"type":"tool_result","tool_id":"2","status":"success","output":"BOOM-42"}
{"type":"tool_use","tool_name":"replace","tool_id":"3","parameters":{"file_path":"a"}}
{"type":"tool_result","tool_id":"3","status":"error","error":{"type":"edit_no_occurrence","message":"not there"}}
{"type":"tool_use","tool_name":"read_file","tool_id":"4","parameters":{"file_path":"a"}}
{"type":"tool_result","tool_id":"4","status":"success","output":"text"}"#;
    let opencode = r#"{"type":"tool_use","part":{"tool":"bash","callID":"1","state":{"status":"running","input":{"command":"make"}}}}
{"type":"tool_use","part":{"tool":"bash","callID":"1","state":{"status":"completed","input":{"command":"make"},"output":"BOOM-42","metadata":{"exit":3}}}}
{"type":"tool_use","part":{"tool":"edit","callID":"2","state":{"status":"error","input":{"filePath":"a"},"error":"not there"}}}
{"type":"tool_use","part":{"tool":"read","callID":"3","state":{"status":"completed","input":{"filePath":"a"},"output":"text"}}}"#;
    for (kind, stream, ends) in [
        ("claude-code", claude, vec![(Err, "Exit code 3\nBOOM-42"), (Ok, "one\ntwo")]),
        (
            "codex",
            codex,
            vec![(Err, "exit code 3\nBOOM-42"), (Ok, ""), (Err, "gone"), (Unknown, ""), (Denied, "")],
        ),
        (
            "gemini",
            gemini,
            // Of a command that printed something, its stream does not say how it ended.
            vec![
                (Err, "exit code 3\nCommand exited with code: 3"),
                (Unknown, "BOOM-42"),
                (Err, "not there"),
                (Ok, "text"),
            ],
        ),
        ("opencode", opencode, vec![(Err, "exit code 3\nBOOM-42"), (Err, "not there"), (Ok, "text")]),
    ] {
        let got = heard(kind, Role::Worker, &[Played::new(stream.into(), Exit::Code(1))]).await;
        assert_eq!(got.ends(), ends, "{kind}");
    }
}

#[tokio::test]
async fn recorded_streams_say_how_every_step_ended() {
    use StepEnd::{Denied, Ok};
    let denied = "Output redirection to '/project/hello.txt' needs approval.";
    for (kind, stream, end, said) in [
        ("claude-code", "claude-stream-tool", Ok, "(Bash completed with no output)"),
        ("claude-code", "claude-stream-denied", Denied, denied),
        ("claude-code", "claude-worker-write", Ok, "File created successfully"),
        ("codex", "codex-exec-tool", Ok, "exit code 0"),
        ("gemini", "gemini-stream-tool", Ok, ""),
        ("gemini", "gemini-denied", Denied, "Tool \"write_file\" not found."),
        ("opencode", "opencode-run-tool", Ok, "exit code 0\n(no output)"),
    ] {
        let got = heard(kind, Role::Worker, &[Played::new(recorded(stream), Exit::Code(0))]).await;
        let ends = got.ends();
        assert_eq!(ends.len(), got.steps().len(), "{stream}");
        assert!(ends.iter().all(|e| e.0 == end && e.1.starts_with(said)), "{stream}: {ends:?}");
    }
}

#[tokio::test]
async fn how_a_long_output_ends_is_kept_and_commands_are_told_whole() {
    let command = format!("make {}; last", "a".repeat(600));
    let output = format!("first\\n{}\\n3 failed", "x".repeat(50_000));
    let stream = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t1","name":"Bash","input":{{"command":"{command}"}}}}]}}}}
{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1","content":"{output}","is_error":true}}]}}}}"#
    );
    let got = heard("claude-code", Role::Worker, &[Played::new(stream, Exit::Code(1))]).await;
    assert!(got.steps()[0].ends_with("; last"), "{:?}", got.steps());
    let (_, said) = got.ends()[0];
    assert!(said.len() < 2100 && said.starts_with("first") && said.ends_with("3 failed"), "{said}");
}
