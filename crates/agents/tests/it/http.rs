//! What the HTTP kinds do beyond the conformance suite: each timeout, the breaker, limits on calls at once,
//! broken streams, keys, connections. Against the test server, over real sockets.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::agent::observing;
use gadfly_agents::{
    Agent, AgentServices, AgentSpec, Api, BuildError, Call, CallError, CallReply, Files, Jitter, Link,
    Progress, Secret, Spoken, Timeouts,
};
use gadfly_engine::{CallFailure, FailureKind, Observation, Role, Speaker};
use gadfly_testbed::{Behaviour, Server};
use tokio_util::sync::CancellationToken;

const KINDS: [&str; 4] = ["openai", "anthropic", "responses", "google"];
const KEY: &str = "sk-http-5e1d0b77";
const SHORT: Duration = Duration::from_millis(80);

struct NoJitter;

impl Jitter for NoJitter {
    fn up_to(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

fn world() -> AgentServices {
    AgentServices::new().with_jitter(Arc::new(NoJitter))
}

/// The kind `openai` in its other form is called `responses` here.
fn build(
    kind: &str,
    spec: AgentSpec,
    services: &AgentServices,
) -> std::result::Result<Arc<dyn Agent>, BuildError> {
    if kind == "responses" {
        return gadfly_agents::build("openai", AgentSpec { api: Some(Api::Responses), ..spec }, services);
    }
    gadfly_agents::build(kind, spec, services)
}

async fn server() -> Server {
    Server::start(Behaviour::default()).await.unwrap()
}

fn spec(base_url: &str, model: &str) -> AgentSpec {
    AgentSpec {
        name: "tried".into(),
        base_url: Some(base_url.into()),
        model: Some(model.into()),
        key: Some(Secret::new(KEY)),
        ..AgentSpec::default()
    }
}

fn call(time: Option<Duration>) -> Call {
    Call {
        max_output_tokens: 100,
        time,
        ..Call::new("run#1", Role::Worker, vec![Spoken::new(Speaker::User, "Task: write.")])
    }
}

type Result = std::result::Result<CallReply, CallError>;

async fn ask_with(
    agent: &dyn Agent,
    time: Option<Duration>,
    cancel: CancellationToken,
) -> (Result, Vec<Observation>) {
    ask_for(agent, time, cancel, None).await
}

async fn ask_for(
    agent: &dyn Agent,
    time: Option<Duration>,
    cancel: CancellationToken,
    schema: Option<&str>,
) -> (Result, Vec<Observation>) {
    let (observe, mut observed) = observing(64);
    let link = Link {
        observe,
        progress: Progress::none(),
        cancel,
        told: None,
        files: Files::none(),
        tmp: Files::none(),
    };
    let result = agent.call(Call { schema: schema.map(Into::into), ..call(time) }, link).await;
    let mut seen = Vec::new();
    while let Some(observation) = observed.try_recv() {
        seen.push(observation);
    }
    (result, seen)
}

async fn ask(agent: &dyn Agent) -> Result {
    ask_with(agent, None, CancellationToken::new()).await.0
}

fn failure(result: Result) -> CallFailure {
    match result {
        Err(CallError::Failed(failure)) => failure,
        other => panic!("a failure was due: {other:?}"),
    }
}

#[tokio::test]
async fn each_timeout_ends_a_call_and_says_which_it_was() {
    let server = server().await;
    let long = Timeouts::default();
    for kind in KINDS {
        for (model, timeouts, what) in [
            ("fault:hang-connect", Timeouts { first_byte: SHORT, ..long }, "the beginning of the reply"),
            ("fault:hang", Timeouts { idle: SHORT, ..long }, "fell silent"),
            ("slow:60000", Timeouts { call: SHORT, ..long }, "the whole reply"),
        ] {
            server.reset();
            let spec = AgentSpec { timeouts, ..spec(&server.v1(), model) };
            let failed = failure(ask(&*build(kind, spec, &world()).unwrap()).await);
            assert_eq!(failed.kind, FailureKind::Timeout, "{kind} {model}");
            assert!(failed.message.contains(what), "{kind} {model}: {}", failed.message);
            assert_eq!(
                server.calls().total,
                1,
                "a call that timed out may be paid for: it is not sent again"
            );
        }
    }
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_no_reply() {
    let server = server().await;
    for kind in KINDS {
        for model in ["fault:cut", "fault:unfinished"] {
            server.reset();
            let agent = build(kind, spec(&server.v1(), model), &world()).unwrap();
            let failed = failure(ask(&*agent).await);
            assert_eq!(failed.kind, FailureKind::BrokenOff, "{kind} {model}: {}", failed.message);
            assert!(failed.message.contains("broke off after"), "{}", failed.message);
            assert_eq!(
                server.calls().total,
                1,
                "text had come: whether it is sent again is not the agent's to decide"
            );
        }
    }
}

#[tokio::test]
async fn a_reply_is_the_same_streamed_split_or_whole() {
    let server = server().await;
    for kind in KINDS {
        let mut texts = Vec::new();
        for model in ["slow:0", "split", "whole"] {
            let agent = build(kind, spec(&server.v1(), model), &world()).unwrap();
            let answered = ask(&*agent).await.unwrap();
            assert_eq!(answered.model.as_deref(), Some(model));
            assert!(answered.usage.cache_read > 0 && answered.usage.output > 0, "{:?}", answered.usage);
            texts.push(answered.text.split("brief").next().unwrap().to_owned());
        }
        assert!(texts.iter().all(|t| *t == texts[0] && t.starts_with("# Draft")), "{texts:?}");
    }
}

#[tokio::test]
async fn reasoning_beside_the_text_is_left_out() {
    let server = server().await;
    for kind in KINDS {
        let agent = build(kind, spec(&server.v1(), "think"), &world()).unwrap();
        let text = ask(&*agent).await.unwrap().text;
        assert!(!text.contains("The reader wants it short.") && text.contains("# Draft"), "{kind}: {text}");
    }
}

#[tokio::test]
async fn a_key_that_a_server_sends_back_is_not_passed_on() {
    let server = server().await;
    for kind in KINDS {
        let agent = build(kind, spec(&server.v1(), "fault:echo-key"), &world()).unwrap();
        assert!(failure(ask(&*agent).await).message.contains("The key *** is not valid."), "{kind}");
        // Where a long message is cut, the key is cut as well: no part of it may be left.
        let agent = build(kind, spec(&server.v1(), "fault:echo-key-late"), &world()).unwrap();
        let message = failure(ask(&*agent).await).message;
        assert!(message.contains("The key ***") && !message.contains(&KEY[..6]), "{kind}: {message}");
        let agent = build(kind, spec(&server.v1(), "echo-key"), &world()).unwrap();
        assert_eq!(ask(&*agent).await.unwrap().text, "The key is ***.", "{kind}");
    }
}

#[tokio::test]
async fn five_failures_in_a_row_open_the_breaker_for_every_agent_of_the_host() {
    let server = server().await;
    for kind in KINDS {
        server.reset();
        let world = world();
        let wrong = build(kind, spec(&server.v1(), "fault:401"), &world).unwrap();
        let right = build(kind, spec(&server.v1(), "worker"), &world).unwrap();
        for _ in 0..5 {
            assert_eq!(failure(ask(&*wrong).await).kind, FailureKind::Unauthorised);
        }
        for agent in [&wrong, &right] {
            let shut = ask(&**agent).await;
            assert!(matches!(shut, Err(CallError::Quota { until_ms: Some(_), .. })), "{shut:?}");
        }
        assert_eq!(server.calls().total, 5, "an open breaker sends nothing");
        // The same in a world of its own shows that it was the breaker.
        let other = build(kind, spec(&server.v1(), "worker"), &self::world()).unwrap();
        assert!(ask(&*other).await.is_ok());
    }
}

#[tokio::test]
async fn a_rate_that_is_used_up_is_one_models_and_not_its_neighbours() {
    let server = server().await;
    for kind in KINDS {
        server.reset();
        let services = world();
        let used_up = build(kind, spec(&server.v1(), "fault:quota"), &services).unwrap();
        let other = build(kind, spec(&server.v1(), "worker"), &services).unwrap();
        for _ in 0..2 {
            let shut = ask(&*used_up).await;
            assert!(matches!(shut, Err(CallError::Quota { until_ms: Some(_), .. })), "{kind}: {shut:?}");
        }
        assert_eq!(server.calls().total, 1, "{kind}: it is known, and not asked again");
        assert!(ask(&*other).await.is_ok(), "{kind}: another model has its own");
    }
}

#[tokio::test]
async fn a_call_gives_up_after_four_attempts_and_tells_each() {
    let server = server().await;
    for kind in KINDS {
        for (model, due) in [("fault:500", FailureKind::Unavailable), ("fault:429", FailureKind::RateLimited)]
        {
            server.reset();
            let agent = build(kind, spec(&server.v1(), model), &world()).unwrap();
            let (result, seen) = ask_with(&*agent, None, CancellationToken::new()).await;
            assert_eq!(failure(result).kind, due);
            let told: Vec<u32> = seen
                .iter()
                .filter_map(|o| match o {
                    Observation::Retrying { attempt, kind, .. } if *kind == due => Some(*attempt),
                    _ => None,
                })
                .collect();
            assert_eq!((told, server.calls().total), (vec![1, 2, 3], 4), "{kind} {model}");
        }
    }
}

#[tokio::test]
async fn a_wait_that_the_call_has_no_time_for_is_not_begun() {
    let server = server().await;
    let agent = build("openai", spec(&server.v1(), "fault:busy"), &world()).unwrap();
    let (result, _) = ask_with(&*agent, Some(Duration::from_secs(5)), CancellationToken::new()).await;
    assert_eq!(failure(result).kind, FailureKind::RateLimited);
    assert_eq!(server.calls().total, 1);
}

#[tokio::test]
async fn an_agent_has_no_more_calls_at_once_than_it_may() {
    let server = server().await;
    let world = world();
    let agents = |model: &str, concurrent| {
        let spec = AgentSpec { concurrent, ..spec(&server.v1(), model) };
        // Built anew for each call, as each run of a batch does.
        (0..12).map(|_| build("openai", spec.clone(), &world).unwrap()).collect::<Vec<_>>()
    };
    let mut calls = tokio::task::JoinSet::new();
    for agent in agents("slow:2", Some(2)) {
        calls.spawn(async move { ask(&*agent).await.is_ok() });
    }
    assert!(calls.join_all().await.into_iter().all(|ok| ok));
    assert_eq!((server.calls().total, server.calls().peak), (12, 2));

    // Without the limit all of them are under way at once.
    server.reset();
    let cancel = CancellationToken::new();
    let mut calls = tokio::task::JoinSet::new();
    for agent in agents("fault:hang", None) {
        let cancel = cancel.clone();
        calls.spawn(async move { ask_with(&*agent, None, cancel).await.0.is_ok() });
    }
    tokio::time::timeout(Duration::from_secs(30), async {
        while server.calls().peak < 12 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await
    .unwrap();
    cancel.cancel();
    assert!(calls.join_all().await.into_iter().all(|ok| !ok));
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_can_be_cancelled_and_was_not_sent() {
    let server = server().await;
    let world = world();
    let spec = AgentSpec { concurrent: Some(1), ..spec(&server.v1(), "fault:hang") };
    let (first, second) =
        (build("openai", spec.clone(), &world).unwrap(), build("openai", spec, &world).unwrap());
    let cancel = CancellationToken::new();
    let going = tokio::spawn({
        let cancel = cancel.clone();
        async move { ask_with(&*first, None, cancel).await.0 }
    });
    while server.calls().total == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let late = ask_with(&*second, Some(SHORT), CancellationToken::new()).await.0;
    assert!(failure(late).message.contains("waited for others"));
    let waiting = CancellationToken::new();
    let (ended, ()) = tokio::join!(ask_with(&*second, None, waiting.clone()), async { waiting.cancel() });
    assert_eq!(ended.0, Err(CallError::Cancelled { sent: false }));
    cancel.cancel();
    assert_eq!(going.await.unwrap(), Err(CallError::Cancelled { sent: true }));
    assert_eq!(server.calls().total, 1);
}

#[tokio::test]
async fn a_parameter_the_server_turns_down_is_given_up_once_and_for_all() {
    let server = server().await;
    let agent = build("openai", spec(&server.v1(), "fault:param"), &world()).unwrap();
    for arrived in [2, 3] {
        let (result, seen) = ask_with(&*agent, None, CancellationToken::new()).await;
        assert!(result.is_ok(), "{result:?}");
        assert!(seen.is_empty(), "it is no retry of a failure");
        assert_eq!(server.calls().total, arrived);
    }
}

#[tokio::test]
async fn an_unreachable_server_is_unavailable_and_never_a_matter_of_quota() {
    let gone = {
        let server = server().await;
        server.v1()
    };
    let world = world();
    for kind in KINDS {
        let agent = build(kind, spec(&gone, "worker"), &world).unwrap();
        for _ in 0..4 {
            let (result, seen) = ask_with(&*agent, None, CancellationToken::new()).await;
            let failed = failure(result);
            assert_eq!(failed.kind, FailureKind::Unavailable);
            assert!(failed.message.contains("cannot be reached"), "{}", failed.message);
            assert!(failed.message.contains("`base_url`"), "it says what to look at: {}", failed.message);
            assert_eq!(seen.len(), 3);
        }
    }
}

#[tokio::test]
async fn a_plain_port_behind_an_https_address_is_named_as_such() {
    let server = server().await;
    let url = format!("https://{}/v1", server.addr);
    let (result, seen) =
        ask_with(&*build("openai", spec(&url, "worker"), &world()).unwrap(), None, CancellationToken::new())
            .await;
    let failed = failure(result);
    assert_eq!(failed.kind, FailureKind::Misconfigured, "{}", failed.message);
    assert!(failed.message.contains("does not speak TLS"), "{}", failed.message);
    assert!(seen.is_empty(), "trying again cannot help");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let server = server().await;
    let failed =
        failure(ask(&*build("openai", spec(&server.v1(), "fault:redirect"), &world()).unwrap()).await);
    assert_eq!(failed.kind, FailureKind::Misconfigured);
    assert!(failed.message.contains("http://127.0.0.1:1/v1: correct `base_url`"), "{}", failed.message);
}

#[tokio::test]
async fn calls_one_after_the_other_share_a_connection() {
    let server = server().await;
    for kind in KINDS {
        server.reset();
        let agent = build(kind, spec(&server.v1(), "worker"), &world()).unwrap();
        for _ in 0..20 {
            ask(&*agent).await.unwrap();
        }
        assert_eq!((server.calls().answered, server.calls().connections), (20, 1), "{kind}");
    }
}

#[tokio::test]
async fn a_server_that_takes_no_schema_is_asked_without_it_and_this_is_said_and_remembered() {
    let schema = Some(r#"{"type":"object"}"#);
    for kind in KINDS {
        for model in ["fault:schema", "fault:schema-mute"] {
            let server = server().await;
            let world = world();
            let agent = build(kind, spec(&server.v1(), model), &world).unwrap();
            let (result, seen) = ask_for(&*agent, None, CancellationToken::new(), schema).await;
            assert!(result.is_ok(), "{kind} {model}: {result:?}");
            assert_eq!(server.calls().total, 2, "{kind} {model}: once with, once without");
            let said = |o: &Observation| matches!(o, Observation::Retrying { message, .. } if message.contains("without a schema"));
            assert!(seen.iter().any(said), "{kind} {model}: {seen:?}");
            // Another agent of the same process that reaches the same model: it is not tried again.
            let again = build(kind, spec(&server.v1(), model), &world).unwrap();
            let (result, seen) = ask_for(&*again, None, CancellationToken::new(), schema).await;
            assert!(result.is_ok() && seen.is_empty(), "{kind} {model}: {result:?} {seen:?}");
            assert_eq!(server.calls().total, 3, "{kind} {model}: the refusal was not remembered");
        }
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_otherwise_does_not_cost_the_model_its_schema() {
    let server = server().await;
    let world = world();
    let agent = build("anthropic", spec(&server.v1(), "fault:no-such-fault"), &world).unwrap();
    let schema = Some(r#"{"type":"object"}"#);
    for calls in [2, 4] {
        let (result, _) = ask_for(&*agent, None, CancellationToken::new(), schema).await;
        assert_eq!(failure(result).kind, FailureKind::Misconfigured);
        assert_eq!(server.calls().total, calls, "it was taken for a model without schemas");
    }
}
