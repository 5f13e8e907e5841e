//! One suite that every kind of agent passes. `cargo test -p gadfly-agents --test it conformance:: -- --nocapture`
//! prints the matrix of kinds and cases. A cell without a check has its reason in `EXEMPT`; a broken agent
//! per case shows that the check can fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

mod broken;
mod case;
mod folder;
mod launch;
mod stage;

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use case::{Case, RESULT, Seen, TOOLS};
use gadfly_agents::agent::observing;
use gadfly_agents::{Call, KINDS, Link, Progress, RawToolResult, Spoken};
use gadfly_engine::{Role, Speaker};
use stage::{BANNER, JSON, RESPONSES, Stage, When};
use tokio_util::sync::CancellationToken;

/// Longer than any call of the suite may take: reaching it is a failure, not a measurement.
const NEVER: Duration = Duration::from_secs(30);

/// (kind, case, why the case cannot arise there)
const EXEMPT: &[(&str, Case, &str)] = &[
    ("openai", Case::ReadsOnly, NO_HANDS),
    ("openai", Case::GoesOn, WHOLE),
    (RESPONSES, Case::ReadsOnly, NO_HANDS),
    (RESPONSES, Case::GoesOn, WHOLE),
    ("google", Case::ReadsOnly, NO_HANDS),
    ("google", Case::GoesOn, WHOLE),
    ("anthropic", Case::ReadsOnly, NO_HANDS),
    ("anthropic", Case::GoesOn, WHOLE),
    ("claude-code", Case::UsesTools, OWN_HANDS),
    ("codex", Case::UsesTools, OWN_HANDS),
    ("gemini", Case::UsesTools, OWN_HANDS),
    ("opencode", Case::UsesTools, OWN_HANDS),
    ("acp", Case::UsesTools, OWN_HANDS),
    ("command", Case::UsesTools, "a program has no way to ask for a tool: its answer is what it prints"),
    ("codex", Case::Refuses, "its stream does not say why a text ended"),
    ("codex", Case::Truncates, "its stream does not say why a text ended"),
    ("codex", Case::HasNoQuota, WORDS),
    ("codex", Case::Unauthorised, WORDS),
    ("codex", Case::TooLong, WORDS),
    ("gemini", Case::Refuses, "its stream does not say why a text ended"),
    ("gemini", Case::Truncates, "its stream does not say why a text ended"),
    ("gemini", Case::Retries, "its stream has no line for a request that it repeats"),
    (
        "gemini",
        Case::HasNoQuota,
        "its exit code has the provider's 429, which is a rate limit; that a day's quota is meant only its words say",
    ),
    ("gemini", Case::Structured, NO_SCHEMA),
    ("opencode", Case::Retries, "its stream has no line for a request that it repeats"),
    ("opencode", Case::Structured, NO_SCHEMA),
    ("command", Case::Streams, "its reply is read when the program has ended"),
    ("command", Case::StatesUsage, "a program does not say what it used"),
    ("command", Case::Refuses, "a program has no stop reason"),
    ("command", Case::Truncates, "a program has no stop reason"),
    ("command", Case::Retries, "a program is started once; whether again is the engine's decision"),
    ("command", Case::HasNoQuota, "a program has no provider"),
    ("command", Case::Unauthorised, "a program says so by its exit code"),
    ("command", Case::TooLong, "a program says so by its exit code"),
    ("command", Case::Structured, "its answer is what it prints; the brief shows the form"),
    (
        "command",
        Case::ReadsOnly,
        "a program has no mode that could be set; what holds it is the runtime's: Landlock and the comparison",
    ),
    ("command", Case::GoesOn, "a program is told everything each time; it has no conversations"),
    (JSON, Case::Streams, AS_COMMAND),
    (JSON, Case::Refuses, AS_COMMAND),
    (JSON, Case::Truncates, AS_COMMAND),
    (JSON, Case::Retries, AS_COMMAND),
    (JSON, Case::HasNoQuota, AS_COMMAND),
    (JSON, Case::Unauthorised, AS_COMMAND),
    (JSON, Case::TooLong, AS_COMMAND),
    (JSON, Case::Structured, AS_COMMAND),
    (JSON, Case::ReadsOnly, AS_COMMAND),
    (JSON, Case::UsesTools, AS_COMMAND),
    (BANNER, Case::Streams, AS_COMMAND),
    (BANNER, Case::Refuses, AS_COMMAND),
    (BANNER, Case::Truncates, AS_COMMAND),
    (BANNER, Case::Retries, AS_COMMAND),
    (BANNER, Case::HasNoQuota, AS_COMMAND),
    (BANNER, Case::Unauthorised, AS_COMMAND),
    (BANNER, Case::TooLong, AS_COMMAND),
    (BANNER, Case::Structured, AS_COMMAND),
    (BANNER, Case::ReadsOnly, AS_COMMAND),
    (BANNER, Case::UsesTools, AS_COMMAND),
    (BANNER, Case::GoesOn, "its form names no conversation; that of JSON does"),
    ("acp", Case::Retries, "the protocol has no message for a request that an agent repeats"),
    ("acp", Case::Structured, "the protocol has no schema for an answer; the brief shows the form"),
    ("scripted", Case::Retries, "it has nothing between itself and its answer"),
    ("scripted", Case::Structured, "its answers are written down beforehand"),
    (
        "scripted",
        Case::ReadsOnly,
        "it has no hands: its edits are made by whoever lends it a folder, and a critic is lent a copy",
    ),
    ("scripted", Case::GoesOn, "its answers are written down beforehand"),
];
const AS_COMMAND: &str = "as with `command`: only where its reply, its usage and its session stand is said";
const NO_HANDS: &str = "it has no tools of its own: the tools it asks for are used by whoever calls it, and a critic is offered none";
const OWN_HANDS: &str = "it has tools of its own, and is offered no others";
const WHOLE: &str = "the API keeps no conversation: every call is told everything";
const WORDS: &str = "its errors have neither type nor status, only words, and words decide nothing";
const NO_SCHEMA: &str = "the program has no flag for a schema; the brief shows the form";

fn call(stage: &Stage, role: Role) -> Call {
    Call {
        max_output_tokens: 1000,
        time: stage.time,
        workdir: Some(stage.folder.work()),
        schema: stage.schema.map(Into::into),
        tmp: Some(stage.folder.tmp()),
        session: stage.session.map(Into::into),
        tools: stage.tools.then(|| TOOLS.into()),
        ..Call::new("run#1", role, vec![Spoken::new(Speaker::User, "Task: write a fine draft.")])
    }
}

/// Plays one case against one agent and writes down what could be seen from outside.
async fn play(stage: &Stage, case: Case) -> Seen {
    let first = call(stage, Role::Worker);
    let mut seen = play_as(stage, first.clone()).await;
    if case == Case::UsesTools {
        seen.once_told = Some(Box::new(play_as(stage, once_told(first, &seen)).await));
    }
    if case.compares_roles() {
        stage.folder.forget();
        seen.as_critic = Some(Box::new(play_as(stage, call(stage, Role::Critic)).await));
    }
    seen
}

/// The call after the first, in which the tools that were asked for have been used.
fn once_told(first: Call, seen: &Seen) -> Call {
    let (text, calls) = match &seen.result {
        Some(Ok(answered)) => (answered.text.clone(), answered.calls.clone()),
        _ => Default::default(),
    };
    let told = |id: &String| RawToolResult { call: id.clone(), text: RESULT.into(), ok: true };
    let results = calls.iter().map(|wish| told(&wish.id)).collect();
    let mut messages = first.messages.clone();
    messages.push(Spoken { calls, ..Spoken::new(Speaker::Assistant, text) });
    messages.push(Spoken { results, ..Spoken::new(Speaker::User, "") });
    Call { messages, nth: 1, ..first }
}

async fn play_as(stage: &Stage, call: Call) -> Seen {
    let role = call.role;
    let (observe, mut observed) = observing(64);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let progress = {
        let heard = Arc::clone(&heard);
        Progress::to(move |text| heard.lock().unwrap().push(text.to_owned()))
    };
    let cancel = CancellationToken::new();
    if stage.cancel == When::Before {
        cancel.cancel();
    }
    let (files, tmp) = stage.folder.files();
    let link = Link { observe, progress, cancel: cancel.clone(), told: None, files, tmp };
    let mut calling = stage.agent.call(call, link);
    let result = tokio::time::timeout(NEVER, async {
        if stage.cancel == When::During {
            let begun = stage.has_begun(|| !heard.lock().unwrap().is_empty());
            tokio::select! {
                biased;
                ended = &mut calling => return ended,
                () = begun => cancel.cancel(),
            }
        }
        calling.await
    })
    .await
    .ok();
    let mut observations = Vec::new();
    while let Some(observation) = observed.try_recv() {
        observations.push(observation);
    }
    let progress = heard.lock().unwrap().clone();
    Seen {
        result,
        observations,
        progress,
        shown: stage.shown(),
        handed: stage.handed(),
        arrived: stage.arrived(),
        due: stage.due,
        timeless: stage.timeless,
        denies_silently: stage.denies_silently,
        wrote: stage.folder.has_made(),
        guards: stage.agent.guards(role.permission(), false),
        is_offered: stage.agent.is_offered_tools(),
        once_told: None,
        as_critic: None,
    }
}

/// All kinds, and the forms of one that has several.
fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.name).chain([RESPONSES, JSON, BANNER])
}

#[tokio::test]
async fn every_kind_passes_every_case() {
    let mut matrix = format!("{:<16}", "");
    for kind in kinds() {
        let _ = write!(matrix, "{kind:<12}");
    }
    let mut failures = Vec::new();
    for case in Case::ALL {
        let _ = write!(matrix, "\n{:<16}", format!("{case:?}"));
        for kind in kinds() {
            let exempt = EXEMPT.iter().find(|(k, c, _)| (*k, *c) == (kind, case));
            let cell = if exempt.is_some() {
                "n/a"
            } else {
                let stage = stage::set(kind, case).await;
                match case.check(&play(&stage, case).await) {
                    Ok(()) => "ok",
                    Err(why) => {
                        failures.push(format!("{kind} · {case:?}: {why}"));
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
        let seen = play(&broken::stage(case), case).await;
        assert!(case.check(&seen).is_err(), "{case:?} let a broken agent pass: {seen:?}");
    }
}

#[tokio::test]
async fn no_cell_is_exempt_without_need() {
    for (kind, case, why) in EXEMPT {
        assert!(kinds().any(|k| k == *kind), "{kind} is no kind");
        assert!(why.len() > 10, "{kind} · {case:?} needs a reason");
        let same = EXEMPT.iter().filter(|(k, c, _)| (k, c) == (kind, case)).count();
        assert_eq!(same, 1, "{kind} · {case:?} stands twice");
        let stage = stage::set(kind, *case).await;
        let checked = case.check(&play(&stage, *case).await);
        assert!(checked.is_err(), "{kind} · {case:?} passes: it needs no exemption");
    }
}
