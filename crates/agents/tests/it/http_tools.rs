//! Tools over the HTTP kinds: a call, its result, pictures, and every way in which a call can go wrong on the
//! wire. Against the test server, over real sockets.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

use std::time::Duration;

use gadfly_agents::agent::observing;
use gadfly_agents::{
    Agent, AgentServices, AgentSpec, Api, Call, CallError, CallReply, Files, Link, Picture, Progress,
    RawToolCall, RawToolResult, Spoken, Timeouts, build,
};
use gadfly_engine::{FailureKind, Role, Speaker, StopReason};
use gadfly_testbed::{Behaviour, Server};
use tokio_util::sync::CancellationToken;

const KINDS: [&str; 4] = ["openai", "anthropic", "responses", "google"];
const TOOLS: &str = r#"[{"name":"run_command","description":"Runs it.","schema":{"type":"object"}}]"#;

async fn server() -> Server {
    Server::start(Behaviour::default()).await.unwrap()
}

fn agent(kind: &'static str, server: &Server, model: &str) -> std::sync::Arc<dyn Agent> {
    let idle = Duration::from_millis(80);
    let spec = AgentSpec {
        name: "tried".into(),
        base_url: Some(server.v1()),
        model: Some(model.into()),
        timeouts: Timeouts { idle, ..Timeouts::default() },
        ..AgentSpec::default()
    };
    // The kind `openai` in its other form.
    if kind == "responses" {
        let spec = AgentSpec { api: Some(Api::Responses), ..spec };
        return build("openai", spec, &AgentServices::new()).unwrap();
    }
    build(kind, spec, &AgentServices::new()).unwrap()
}

fn brief() -> Vec<Spoken> {
    vec![Spoken::new(Speaker::User, "Task: test it.")]
}

async fn ask(agent: &dyn Agent, tools: bool, messages: Vec<Spoken>) -> Result<CallReply, CallError> {
    let (observe, _observed) = observing(64);
    let link = Link {
        observe,
        progress: Progress::none(),
        cancel: CancellationToken::new(),
        told: None,
        files: Files::none(),
        tmp: Files::none(),
    };
    let role = if tools { Role::Worker } else { Role::Critic };
    let tools = tools.then(|| TOOLS.into());
    agent.call(Call { max_output_tokens: 100, tools, ..Call::new("run#1", role, messages) }, link).await
}

fn failed(result: Result<CallReply, CallError>) -> (FailureKind, String) {
    match result {
        Err(CallError::Failed(failure)) => (failure.kind, failure.message),
        other => panic!("a failure was due: {other:?}"),
    }
}

#[tokio::test]
async fn a_call_is_the_same_streamed_split_whole_or_said_to_be_the_end() {
    let server = server().await;
    for kind in KINDS {
        for model in ["hands", "hands:split", "hands:whole", "hands:stop"] {
            let agent = agent(kind, &server, model);
            assert!(agent.is_offered_tools());
            let answered = ask(&*agent, true, brief()).await.unwrap();
            assert_eq!(answered.stop, StopReason::ToolUse, "{kind} {model}");
            let [RawToolCall { id, name, args }] = answered.calls.as_slice() else { panic!("{answered:?}") };
            assert_eq!((name.as_str(), args.as_str()), ("run_command", r#"{"command":"cargo test"}"#));
            assert!(!id.is_empty() && answered.usage.output > 0, "{kind} {model}: {answered:?}");
        }
    }
}

#[tokio::test]
async fn a_model_is_told_what_came_of_its_calls_and_sees_the_picture() {
    let server = server().await;
    for kind in KINDS {
        let agent = agent(kind, &server, "hands");
        let answered = ask(&*agent, true, brief()).await.unwrap();
        let mut calls = answered.calls;
        // A slip of the model's does not end its conversation.
        calls.push(RawToolCall { id: "slip".into(), name: "no such tool".into(), args: "{\"half\":".into() });
        let said =
            |wish: &RawToolCall| RawToolResult { call: wish.id.clone(), text: "3 passed".into(), ok: false };
        let results = calls.iter().map(said).collect();
        let image = Picture { media: "image/png".into(), base64: "iVBO".into() };
        let messages = vec![
            brief().remove(0),
            Spoken { calls, ..Spoken::new(Speaker::Assistant, answered.text) },
            Spoken { results, images: vec![image], ..Spoken::new(Speaker::User, "") },
        ];
        let answered = ask(&*agent, true, messages).await.unwrap();
        assert_eq!(answered.text, "It said: 3 passed I see image/png.", "{kind}");
        assert_eq!((answered.stop, answered.calls), (StopReason::EndTurn, Vec::new()));
    }
}

#[tokio::test]
async fn who_is_offered_nothing_is_offered_nothing_and_gets_nothing_it_asks_for() {
    let server = server().await;
    for kind in KINDS {
        let answered = ask(&*agent(kind, &server, "hands"), false, brief()).await.unwrap();
        assert_eq!(answered.text, "I was offered no tools.", "{kind}");
        let answered = ask(&*agent(kind, &server, "hands:unasked"), false, brief()).await.unwrap();
        assert_eq!((answered.stop, answered.calls), (StopReason::Other("tool_use".into()), Vec::new()));
    }
}

#[tokio::test]
async fn a_call_that_breaks_off_is_no_call_and_is_not_paid_for_twice() {
    let server = server().await;
    for kind in KINDS {
        for model in ["hands:cut", "hands:unfinished"] {
            let (failure, message) = failed(ask(&*agent(kind, &server, model), true, brief()).await);
            assert_eq!(failure, FailureKind::BrokenOff, "{kind} {model}: {message}");
            assert!(message.contains("broke off after"), "{kind} {model}: {message}");
        }
        let (failure, message) = failed(ask(&*agent(kind, &server, "hands:hang"), true, brief()).await);
        assert_eq!(failure, FailureKind::Timeout, "{kind}: {message}");
        assert!(message.contains("fell silent"), "{kind}: {message}");
    }
    assert_eq!(
        server.calls().total,
        3 * KINDS.len() as u64,
        "a part of the reply had come: nothing is sent again"
    );
}

#[tokio::test]
async fn arguments_without_end_are_stopped() {
    let server = server().await;
    for kind in KINDS {
        let (failure, message) = failed(ask(&*agent(kind, &server, "hands:huge"), true, brief()).await);
        assert_eq!(failure, FailureKind::BadReply, "{kind}");
        assert!(
            message.contains("longer than 8388608 bytes"),
            "by what it holds, not by its framing: {message}"
        );
    }
}

#[tokio::test]
async fn of_a_reply_that_was_cut_at_its_length_no_call_is_left() {
    let server = server().await;
    for kind in KINDS {
        let answered = ask(&*agent(kind, &server, "hands:length"), true, brief()).await.unwrap();
        assert_eq!((answered.stop, answered.calls), (StopReason::Length, Vec::new()), "{kind}");
    }
}
