//! One suite that every kind of agent passes. `cargo test -p gadfly-agents --test conformance -- --nocapture`
//! prints the matrix of kinds and cases. A cell without a check has its reason in `EXEMPT`; a broken agent
//! per case shows that the check can fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

mod broken;
mod case;
mod launch;
mod stage;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use case::{Case, Seen};
use gadfly_agents::{Call, Files, KINDS, Link, Progress, Spoken};
use gadfly_engine::{Role, Speaker};
use stage::{Stage, When};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Longer than any call of the suite may take: reaching it is a failure, not a measurement.
const NEVER: Duration = Duration::from_secs(30);

/// (kind, case, why the case cannot arise there)
const EXEMPT: &[(&str, Case, &str)] = &[
    ("command", Case::Streams, "its reply is read when the program has ended"),
    ("command", Case::StatesUsage, "a program does not say what it used"),
    ("command", Case::Refuses, "a program has no stop reason"),
    ("command", Case::Truncates, "a program has no stop reason"),
    ("command", Case::Retries, "a program is started once; whether again is the engine's decision"),
    ("command", Case::HasNoQuota, "a program has no provider"),
    ("command", Case::Unauthorised, "a program says so by its exit code"),
    ("command", Case::TooLong, "a program says so by its exit code"),
    ("scripted", Case::KeepsItsKey, "it is given no key"),
    ("scripted", Case::Retries, "it has nothing between itself and its answer"),
    ("command", Case::Structured, "its answer is what it prints; the brief shows the form"),
    ("scripted", Case::Structured, "its answers are written down beforehand"),
    (
        "anthropic",
        Case::TooLong,
        "the API answers 400 invalid_request_error, as for any bad request; only its text tells, and text decides nothing",
    ),
];

fn call(time: Option<Duration>, schema: Option<&str>) -> Call {
    Call {
        effect: "run#1".into(),
        role: Role::Worker,
        permission: Role::Worker.permission(),
        system: None,
        messages: vec![Spoken { from: Speaker::User, text: "Task: write a fine draft.".into() }],
        nth: 0,
        max_output_tokens: 1000,
        time,
        workdir: None,
        lock: None,
        schema: schema.map(Into::into),
        tmp: None,
        session: None,
        sandbox: None,
    }
}

/// Plays one case against one agent and writes down what could be seen from outside.
async fn play(stage: Stage) -> Seen {
    let (observe, mut observed) = mpsc::channel(64);
    let (_tell, told) = mpsc::channel(1);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let progress = {
        let heard = Arc::clone(&heard);
        Progress::to(move |text| heard.lock().unwrap().push(text.to_owned()))
    };
    let cancel = CancellationToken::new();
    if stage.cancel == When::Before {
        cancel.cancel();
    }
    let link =
        Link { observe, progress, cancel: cancel.clone(), told, files: Files::none(), tmp: Files::none() };
    let mut calling = stage.agent.call(call(stage.time, stage.schema), link);
    let result = tokio::time::timeout(NEVER, async {
        if stage.cancel == When::During {
            tokio::select! {
                biased;
                ended = &mut calling => return ended,
                () = stage.has_begun() => cancel.cancel(),
            }
        }
        calling.await
    })
    .await
    .ok();
    let mut observations = Vec::new();
    while let Ok(observation) = observed.try_recv() {
        observations.push(observation);
    }
    let progress = heard.lock().unwrap().clone();
    Seen { result, observations, progress, shown: stage.shown(), arrived: stage.arrived() }
}

#[tokio::test]
async fn every_kind_passes_every_case() {
    let mut matrix = format!("{:<16}", "");
    for kind in KINDS {
        let _ = write!(matrix, "{:<12}", kind.name);
    }
    let mut failures = Vec::new();
    for case in Case::ALL {
        let _ = write!(matrix, "\n{:<16}", format!("{case:?}"));
        for kind in KINDS {
            let exempt = EXEMPT.iter().find(|(k, c, _)| (*k, *c) == (kind.name, case));
            let cell = if exempt.is_some() {
                "n/a"
            } else {
                let stage = stage::set(kind.name, case).await;
                match case.check(&play(stage).await) {
                    Ok(()) => "ok",
                    Err(why) => {
                        failures.push(format!("{} · {case:?}: {why}", kind.name));
                        "FAILED"
                    }
                }
            };
            let _ = write!(matrix, "{cell:<12}");
        }
    }
    // Not by `println!`, which the runner captures: the matrix is worth seeing in every run.
    let mut said = format!("{matrix}\n");
    for (kind, case, why) in EXEMPT {
        let _ = writeln!(said, "n/a {kind} · {case:?}: {why}");
    }
    let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn a_broken_agent_fails_the_check_of_its_case() {
    for case in Case::ALL {
        let seen = play(broken::stage(case)).await;
        assert!(case.check(&seen).is_err(), "{case:?} let a broken agent pass: {seen:?}");
    }
}

#[test]
fn no_cell_is_exempt_without_need() {
    for (kind, case, why) in EXEMPT {
        assert!(KINDS.iter().any(|k| k.name == *kind), "{kind} is no kind");
        assert!(why.len() > 10, "{kind} · {case:?} needs a reason");
        let same = EXEMPT.iter().filter(|(k, c, _)| (k, c) == (kind, case)).count();
        assert_eq!(same, 1, "{kind} · {case:?} stands twice");
    }
}
