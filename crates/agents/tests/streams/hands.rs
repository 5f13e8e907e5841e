//! What is told of a worker with hands of its own while it works: its steps, and by which name another call can go
//! on with its conversation if this one is broken off.

use gadfly_agents::Exit;
use gadfly_engine::Role;

use crate::stage::{Played, heard};

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
