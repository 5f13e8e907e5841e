//! The cases, and what must be seen in each. Nothing here knows how an agent works.

use gadfly_agents::{Answered, Unanswered};
use gadfly_engine::{CallFailure, FailureKind, Observation, StopReason};

/// What every agent is staged to say where the case is not about something else.
pub const TEXT: &str = "A fine draft: short, and true.";
/// What every answer is to follow where the case is about that.
pub const SCHEMA: &str = r#"{"type":"object","properties":{"verdict":{"type":"string"}},"required":["verdict"],"additionalProperties":false}"#;
/// The key every agent that takes one is given.
pub const KEY: &str = "sk-conformance-7f3a9c";

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
}

/// Everything that could be seen of one call.
#[derive(Debug)]
pub struct Seen {
    /// None if the call never ended.
    pub result: Option<Result<Answered, Unanswered>>,
    pub observations: Vec<Observation>,
    pub progress: Vec<String>,
    /// What is printed of the agent's spec.
    pub shown: String,
    /// Calls that the other side counted, where there is one that counts.
    pub arrived: Option<u64>,
}

impl Case {
    pub const ALL: [Self; 18] = [
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
    ];

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
            Self::Refuses => answer(result, &StopReason::Refusal).map(drop),
            Self::Truncates => answer(result, &StopReason::Length).map(drop),
            Self::TimesOut => failure(result, &[FailureKind::Timeout]),
            Self::Breaks => failure(result, &[FailureKind::Crashed, FailureKind::Unavailable]),
            Self::Garbage | Self::Empty | Self::Huge => failure(result, &[FailureKind::BadReply]),
            Self::CancelledBefore => {
                must(*result == Err(Unanswered::Cancelled { sent: false }), || {
                    format!("it ended as {result:?}")
                })?;
                must(seen.arrived.unwrap_or(0) == 0, || "the brief was sent all the same".into())
            }
            Self::CancelledDuring => must(*result == Err(Unanswered::Cancelled { sent: true }), || {
                format!("it ended as {result:?}")
            }),
            Self::KeepsItsKey => {
                let said = format!("{result:?} {:?} {}", seen.observations, seen.shown);
                must(!said.contains(KEY), || format!("the key is in {said}"))
            }
            Self::Retries => {
                answer(result, &StopReason::EndTurn)?;
                let told =
                    seen.observations.iter().filter(|o| matches!(o, Observation::Retrying { .. })).count();
                must(told == 2 && seen.arrived == Some(3), || {
                    format!("{told} retries were told, {:?} calls arrived", seen.arrived)
                })
            }
            Self::HasNoQuota => match result {
                Err(Unanswered::Quota { until_ms: Some(_), .. }) => Ok(()),
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
        }
    }
}

fn must(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

fn answer<'a>(result: &'a Result<Answered, Unanswered>, stop: &StopReason) -> Result<&'a Answered, String> {
    match result {
        Ok(answered) if answered.stop == *stop => Ok(answered),
        other => Err(format!("an answer that ends with {stop:?} was due; it ended as {other:?}")),
    }
}

fn failure(result: &Result<Answered, Unanswered>, kinds: &[FailureKind]) -> Result<(), String> {
    match result {
        Err(Unanswered::Failed(CallFailure { kind, message, .. })) if kinds.contains(kind) => {
            must(message.len() > 15, || format!("the message {message:?} helps nobody"))
        }
        Ok(answered) => Err(format!("{} bytes were taken for an answer", answered.text.len())),
        Err(other) => Err(format!("one of {kinds:?} was due; it ended as {other:?}")),
    }
}
