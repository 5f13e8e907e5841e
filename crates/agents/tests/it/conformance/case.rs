//! The cases, and what must be seen in each. Nothing here knows how an agent works.

use gadfly_agents::{CallError, CallReply, RawToolCall};
use gadfly_engine::{CallFailure, FailureKind, Guard, Observation, StopReason};

/// What every agent is staged to say where the case is not about something else.
pub const TEXT: &str = "A fine draft: short, and true.";
/// What every answer is to follow where the case is about that.
pub const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"],"additionalProperties":false}"#;
/// The key every agent that takes one is given.
pub const KEY: &str = "sk-conformance-7f3a9c";
/// The conversation of the round before.
pub const SESSION: &str = "before-7f3a";

/// What every agent is offered where the case is about tools, what it is to ask for, and what it is told.
pub const TOOLS: &str = r#"[{"name":"run_command","description":"Runs a command.","schema":{"type":"object","properties":{"command":{"type":"string"}}}}]"#;
pub const ASKED: (&str, &str) = ("run_command", r#"{"command":"cargo test"}"#);
pub const RESULT: &str = "3 passed, 0 failed";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Case {
    Answers,
    Streams,
    StatesUsage,
    Refuses,
    Truncates,
    TimesOut,
    Breaks,
    Garbage,
    Empty,
    Huge,
    CancelledBefore,
    CancelledDuring,
    KeepsItsKey,
    Retries,
    HasNoQuota,
    Unauthorised,
    TooLong,
    Structured,
    ReadsOnly,
    GoesOn,
    UsesTools,
}

/// Everything that could be seen of one call.
#[derive(Debug)]
pub struct Seen {
    /// None if the call never ended.
    pub result: Option<Result<CallReply, CallError>>,
    pub observations: Vec<Observation>,
    pub progress: Vec<String>,
    /// What is printed of the agent's spec.
    pub shown: String,
    /// Everything that programs were started with.
    pub handed: String,
    /// Calls that the other side counted, where there is one that counts.
    pub arrived: Option<u64>,
    /// What must have been counted if two requests had to be repeated.
    pub due: u64,
    /// Whoever answers has no way to say when its quota is back.
    pub timeless: bool,
    /// The agent's own program says nothing of a tool that its mode denied.
    pub denies_silently: bool,
    /// Whether the file that it is staged to write was there afterwards.
    pub wrote: bool,
    pub guards: Vec<Guard>,
    /// Whether it says that it is offered tools.
    pub is_offered: bool,
    /// The same agent, told what came of the tools it asked for.
    pub once_told: Option<Box<Seen>>,
    /// The same agent, called by the same words as a critic, if the case compares the two.
    pub as_critic: Option<Box<Seen>>,
}

impl Case {
    pub const ALL: [Self; 21] = [
        Self::Answers,
        Self::Streams,
        Self::StatesUsage,
        Self::Refuses,
        Self::Truncates,
        Self::TimesOut,
        Self::Breaks,
        Self::Garbage,
        Self::Empty,
        Self::Huge,
        Self::CancelledBefore,
        Self::CancelledDuring,
        Self::KeepsItsKey,
        Self::Retries,
        Self::HasNoQuota,
        Self::Unauthorised,
        Self::TooLong,
        Self::Structured,
        Self::ReadsOnly,
        Self::GoesOn,
        Self::UsesTools,
    ];

    /// Whether the same agent is called as a worker and then as a critic.
    pub fn compares_roles(self) -> bool {
        matches!(self, Self::ReadsOnly | Self::GoesOn)
    }

    pub fn check(self, seen: &Seen) -> Result<(), String> {
        let Some(result) = &seen.result else { return Err("the call never ended".into()) };
        match self {
            Self::Answers => {
                let answered = answer(result, &StopReason::EndTurn)?;
                must(answered.text == TEXT, || format!("it said {:?}", answered.text))
            }
            Self::Streams => {
                let answered = answer(result, &StopReason::EndTurn)?;
                must(!answered.text.is_empty() && seen.progress.concat() == answered.text, || {
                    format!("what was heard on the way is not the reply: {:?}", seen.progress)
                })
            }
            Self::StatesUsage => {
                let usage = answer(result, &StopReason::EndTurn)?.usage;
                must(usage.input + usage.cache_read > 0 && usage.output > 0, || format!("usage is {usage:?}"))
            }
            // With what was said so far, or without.
            Self::Refuses => answer(result, &StopReason::Refusal)
                .map(drop)
                .or_else(|why| failure(result, &[FailureKind::Refused]).map_err(|_| why)),
            Self::Truncates => answer(result, &StopReason::Length).map(drop),
            Self::TimesOut => failure(result, &[FailureKind::Timeout]),
            Self::Breaks => failure(result, &[FailureKind::Crashed, FailureKind::Unavailable]),
            Self::Garbage | Self::Empty | Self::Huge => failure(result, &[FailureKind::BadReply]),
            Self::CancelledBefore => {
                must(*result == Err(CallError::Cancelled { sent: false }), || {
                    format!("it ended as {result:?}")
                })?;
                must(seen.arrived.unwrap_or(0) == 0, || "the brief was sent all the same".into())
            }
            Self::CancelledDuring => must(*result == Err(CallError::Cancelled { sent: true }), || {
                format!("it ended as {result:?}")
            }),
            Self::KeepsItsKey => {
                let said = format!("{result:?} {:?} {} {}", seen.observations, seen.shown, seen.handed);
                must(!said.contains(KEY), || format!("the key is in {said}"))
            }
            Self::Retries => {
                answer(result, &StopReason::EndTurn)?;
                let told =
                    seen.observations.iter().filter(|o| matches!(o, Observation::Retrying { .. })).count();
                must(told == 2 && seen.arrived == Some(seen.due), || {
                    format!("{told} retries were told, {:?} calls arrived", seen.arrived)
                })
            }
            Self::HasNoQuota => match result {
                Err(CallError::Quota { until_ms, .. }) => {
                    must(until_ms.is_some() != seen.timeless, || format!("it is back {until_ms:?}"))
                }
                other => Err(format!("it ended as {other:?}")),
            },
            Self::Unauthorised => {
                failure(result, &[FailureKind::Unauthorised])?;
                must(seen.arrived.unwrap_or(1) == 1, || "a wrong key was tried again".into())
            }
            Self::TooLong => failure(result, &[FailureKind::TooLong]),
            Self::Structured => {
                let answered = answer(result, &StopReason::EndTurn)?;
                must(answered.text.starts_with('{'), || {
                    format!("it was held to no schema: {}", answered.text)
                })
            }
            Self::ReadsOnly => reads_only(seen),
            Self::GoesOn => goes_on(seen),
            Self::UsesTools => uses_tools(seen, result),
        }
    }
}

/// Who works has written; who judges by the same words has not, by the agent's own doing, and the record says
/// both what held and what was stopped.
fn reads_only(seen: &Seen) -> Result<(), String> {
    let critic = seen.as_critic.as_deref().ok_or("it was not called as a critic")?;
    must(seen.wrote, || "as a worker it has no hands".into())?;
    must(!critic.wrote, || "as a critic it wrote".into())?;
    let result = critic.result.as_ref().ok_or("as a critic it never ended")?;
    must(answer(result, &StopReason::EndTurn)?.text == TEXT, || "what was denied failed the call".into())?;
    let more: Vec<&Guard> = critic.guards.iter().filter(|guard| !seen.guards.contains(guard)).collect();
    must(!more.is_empty(), || "nothing is said to hold a critic that does not hold a worker".into())?;
    let named = critic.observations.iter().any(|o| match o {
        Observation::Stopped { layer, what } => {
            what.to_lowercase().contains("write") && more.iter().any(|guard| guard.layer == *layer)
        }
        _ => false,
    });
    must(named != critic.denies_silently, || format!("what was stopped: {:?}", critic.observations))
}

/// Who works goes on with the conversation of the round before, and names the one it had; who judges begins
/// anew, even if it is handed one.
fn goes_on(seen: &Seen) -> Result<(), String> {
    let critic = seen.as_critic.as_deref().ok_or("it was not called as a critic")?;
    let here = format!("session={SESSION}");
    let text = |seen: &Seen| match &seen.result {
        Some(result) => answer(result, &StopReason::EndTurn).cloned(),
        None => Err("the call never ended".into()),
    };
    let (worker, critic) = (text(seen)?, text(critic)?);
    must(worker.text.contains(&here), || format!("a worker begins anew: {}", worker.text))?;
    must(worker.session.is_some(), || "a worker's answer names no session".into())?;
    must(!critic.text.contains(SESSION), || format!("a critic goes on: {}", critic.text))
}

/// Offered a tool it asks for it, by an id; told under that id what came of it, it goes on from there.
fn uses_tools(seen: &Seen, result: &Result<CallReply, CallError>) -> Result<(), String> {
    must(seen.is_offered, || "it is offered no tools".into())?;
    let [RawToolCall { id, name, args }] = answer(result, &StopReason::ToolUse)?.calls.as_slice() else {
        return Err(format!("one tool was to be asked for: {result:?}"));
    };
    must((name.as_str(), args.as_str()) == ASKED && !id.is_empty(), || format!("it asks for {name} {args}"))?;
    let told =
        seen.once_told.as_deref().and_then(|told| told.result.as_ref()).ok_or("it was told nothing")?;
    let answered = answer(told, &StopReason::EndTurn)?;
    must(answered.text.contains(RESULT) && answered.calls.is_empty(), || {
        format!("what it was told did not reach it: {answered:?}")
    })
}

fn must(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn answer<'a>(result: &'a Result<CallReply, CallError>, stop: &StopReason) -> Result<&'a CallReply, String> {
    match result {
        Ok(answered) if answered.stop == *stop => Ok(answered),
        other => Err(format!("an answer that ends with {stop:?} was due; it ended as {other:?}")),
    }
}

fn failure(result: &Result<CallReply, CallError>, kinds: &[FailureKind]) -> Result<(), String> {
    match result {
        Err(CallError::Failed(CallFailure { kind, message, .. })) if kinds.contains(kind) => {
            must(message.len() > 15, || format!("the message {message:?} helps nobody"))
        }
        Ok(answered) => Err(format!("{} bytes were taken for an answer", answered.text.len())),
        Err(other) => Err(format!("one of {kinds:?} was due; it ended as {other:?}")),
    }
}
