//! What comes over the wire, and what it means: one table of cases, each tried in every form against a server on loopback. A new
//! case is one row of `CASES`. Every check is also given what a careless translator would have made of it, and must fail.

#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly

mod addresses;
mod cases;
mod form;
mod server;

use std::sync::Arc;
use std::time::Duration;

use cases::{CASES, Case, Seen};
use form::{Form, TEXT};
use gadfly_agents::agent::observing;
use gadfly_agents::{
    Agent, AgentServices, AgentSpec, Api, Call, CallError, CallReply, Files, Jitter, Link, Progress, Spoken,
    Timeouts, build,
};
use gadfly_engine::{CallFailure, FailureKind, Price, Role, Speaker, StopReason, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Longer than any call may take: reaching it is a failure, not a measurement.
const NEVER: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(80);

struct NoJitter;

impl Jitter for NoJitter {
    fn up_to(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

fn spec(form: Form, base: &str, case: &Case) -> AgentSpec {
    let short = |is: bool, otherwise| if is { SHORT } else { otherwise };
    AgentSpec {
        name: "tried".into(),
        base_url: Some(format!("{base}/v1")),
        model: Some("m".into()),
        api: (form == Form::Responses).then_some(Api::Responses),
        price: case.is_priced.then(|| Price { input: 1, output: 1, ..Price::default() }),
        timeouts: Timeouts {
            first_byte: short(case.hurries, NEVER),
            idle: short(case.hurries, NEVER),
            call: NEVER,
            connect: NEVER,
        },
        ..AgentSpec::default()
    }
}

async fn tried(form: Form, case: &Case) -> Option<Seen> {
    let (base, asked) = server::serve((case.replies)(form)?).await;
    let services = AgentServices::new().with_jitter(Arc::new(NoJitter));
    let agent = build(form.kind(), spec(form, &base, case), &services).unwrap();
    let (result, observations) = called(&*agent, case, &asked).await;
    Some(Seen { result, observations, asked: asked.all() })
}

async fn called(
    agent: &dyn Agent,
    case: &Case,
    asked: &server::Asked,
) -> (Result<CallReply, CallError>, Vec<gadfly_engine::Observation>) {
    let (observe, mut observed) = observing(64);
    let (_tell, told) = mpsc::channel(1);
    let (cancel, heard) = (CancellationToken::new(), CancellationToken::new());
    let progress = Progress::to({
        let heard = heard.clone();
        move |_| heard.cancel()
    });
    let link = Link {
        observe,
        progress,
        cancel: cancel.clone(),
        told: Some(told),
        files: Files::none(),
        tmp: Files::none(),
    };
    let call = Call {
        max_output_tokens: 100,
        schema: case.has_schema.then(|| r#"{"type":"object"}"#.into()),
        tools: case
            .has_tools
            .then(|| r#"[{"name":"run_command","description":"d","schema":{"type":"object"}}]"#.into()),
        ..Call::new("run#1", Role::Worker, vec![Spoken::new(Speaker::User, "Task: write.")])
    };
    let cancelling = async {
        if case.is_cancelled {
            heard.cancelled().await;
            cancel.cancel();
        }
        std::future::pending::<()>().await;
    };
    let result = tokio::select! {
        result = agent.call(call, link) => result,
        () = cancelling => unreachable!("it waits for ever"),
        () = tokio::time::sleep(NEVER) => panic!("the call never ended; asked: {:?}", asked.all().len()),
    };
    let mut observations = Vec::new();
    while let Some(observation) = observed.try_recv() {
        observations.push(observation);
    }
    (result, observations)
}

#[tokio::test]
async fn every_case_means_the_same_in_every_form() {
    let mut wrong = Vec::new();
    let mut cells = 0;
    for case in CASES {
        for form in Form::ALL {
            let Some(seen) = tried(form, case).await else { continue };
            cells += 1;
            if let Err(why) = (case.check)(&seen) {
                wrong.push(format!("{} / {form:?}: {why}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cells} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(cells > CASES.len() * 2, "{cells} cells");
}

/// What careless translators make of a reply: nothing is read, everything is taken for an answer, nothing is counted.
fn careless() -> Vec<Seen> {
    let reply = |usage| CallReply {
        text: TEXT.into(),
        stop: StopReason::EndTurn,
        usage,
        model: None,
        session: None,
        calls: Vec::new(),
    };
    let failed = CallFailure {
        kind: FailureKind::BadReply,
        message: "the reply cannot be read".into(),
        usage: Usage::default(),
    };
    let seen = |result| Seen { result, observations: Vec::new(), asked: vec![String::new(); 4] };
    vec![seen(Ok(reply(Usage::default()))), seen(Err(CallError::Failed(failed)))]
}

#[test]
fn every_check_fails_for_who_gets_it_wrong() {
    for case in CASES {
        for (n, seen) in careless().iter().enumerate() {
            assert!(
                (case.check)(seen).is_err(),
                "{}: the check lets careless translator {n} pass",
                case.name
            );
        }
    }
}

#[test]
fn every_case_has_a_name_of_its_own() {
    let mut names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), CASES.len());
}
