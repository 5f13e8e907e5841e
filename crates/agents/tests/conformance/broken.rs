//! For every case an agent that gets exactly that case wrong, as a careless translator would.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gadfly_agents::{Agent, AgentSpec, Answered, Call, Link, Unanswered};
use gadfly_engine::{FailureKind, StopReason, Usage};

use crate::case::{Case, KEY, TEXT};
use crate::stage::{Around, Stage, When};

struct Broken(Case);

pub fn stage(case: Case) -> Stage {
    let cancel = match case {
        Case::CancelledBefore => When::Before,
        Case::CancelledDuring => When::During,
        _ => When::Never,
    };
    let spec = AgentSpec::default();
    let agent = Arc::new(Broken(case));
    Stage { agent, cancel, time: None, schema: None, spec: Some(spec), around: Around::Nobody }
}

impl Agent for Broken {
    fn call(&self, _: Call, link: Link) -> BoxFuture<'_, Result<Answered, Unanswered>> {
        let usage = Usage { input: 1, output: 1, ..Usage::default() };
        let plain =
            Answered { text: TEXT.into(), stop: StopReason::EndTurn, usage, model: None, session: None };
        let result = match self.0 {
            Case::Answers => Ok(Answered { text: TEXT[..5].into(), ..plain }),
            // A streamed reply of which the last piece is lost.
            Case::Streams => {
                link.progress.say(&TEXT[..5]);
                Ok(plain)
            }
            Case::StatesUsage => Ok(Answered { usage: Usage::default(), ..plain }),
            Case::Garbage => Ok(Answered { text: "\u{fffd}\u{fffd}".into(), ..plain }),
            Case::Empty => Ok(Answered { text: String::new(), ..plain }),
            Case::Huge => Ok(Answered { text: "x".repeat(9 << 20), ..plain }),
            // Sent although it was cancelled before.
            Case::CancelledBefore => Err(Unanswered::Cancelled { sent: true }),
            // Money may have been spent, and it says not.
            Case::CancelledDuring => Err(Unanswered::Cancelled { sent: false }),
            Case::KeepsItsKey => {
                Err(Unanswered::failed(FailureKind::Unauthorised, format!("the key {KEY} is not valid")))
            }
            Case::HasNoQuota => {
                Err(Unanswered::failed(FailureKind::RateLimited, "the quota is used up, it says"))
            }
            Case::Unauthorised => {
                Err(Unanswered::failed(FailureKind::Unavailable, "the server answered with 401"))
            }
            Case::TooLong => Err(Unanswered::failed(FailureKind::BadReply, "the server answered with 400")),
            // Takes whatever came for a reply that ended well.
            Case::Refuses
            | Case::Truncates
            | Case::TimesOut
            | Case::Breaks
            | Case::Retries
            | Case::Structured => Ok(plain),
        };
        Box::pin(async move { result })
    }
}
