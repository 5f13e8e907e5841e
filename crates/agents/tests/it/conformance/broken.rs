//! For every case an agent that gets exactly that case wrong, as a careless translator would.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gadfly_agents::{Agent, AgentSpec, Call, CallError, CallReply, Edit, Link, RawToolCall};
use gadfly_engine::{FailureKind, Guard, Layer, Permission, StopReason, Usage};

use crate::conformance::case::{ASKED, Case, KEY, SESSION, TEXT};
use crate::conformance::folder::MADE;
use crate::conformance::stage::{Around, Stage, When};

struct Broken(Case);

pub fn stage(case: Case) -> Stage {
    let cancel = match case {
        Case::CancelledBefore => When::Before,
        Case::CancelledDuring => When::During,
        _ => When::Never,
    };
    let spec = AgentSpec::default();
    let agent = Arc::new(Broken(case));
    Stage { cancel, spec: Some(spec), ..Stage::of(agent, Around::Nobody) }
}

impl Agent for Broken {
    // It says that it is held, and is not.
    fn guards(&self, permission: Permission, _: bool) -> Vec<Guard> {
        let held = permission == Permission::ReadOnly;
        held.then(|| Guard::new(Layer::OwnMode, "--read-only")).into_iter().collect()
    }

    fn is_offered_tools(&self) -> bool {
        true
    }

    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        let usage = Usage { input: 1, output: 1, ..Usage::default() };
        let plain = CallReply {
            text: TEXT.into(),
            stop: StopReason::EndTurn,
            usage,
            model: None,
            session: None,
            calls: Vec::new(),
        };
        let result = match self.0 {
            Case::Answers => Ok(CallReply { text: TEXT[..5].into(), ..plain }),
            // A streamed reply of which the last piece is lost.
            Case::Streams => {
                link.progress.say(&TEXT[..5]);
                Ok(plain)
            }
            Case::StatesUsage => Ok(CallReply { usage: Usage::default(), ..plain }),
            Case::Garbage => Ok(CallReply { text: "\u{fffd}\u{fffd}".into(), ..plain }),
            Case::Empty => Ok(CallReply { text: String::new(), ..plain }),
            Case::Huge => Ok(CallReply { text: "x".repeat(9 << 20), ..plain }),
            // Sent although it was cancelled before.
            Case::CancelledBefore => Err(CallError::Cancelled { sent: true }),
            // Money may have been spent, and it says not.
            Case::CancelledDuring => Err(CallError::Cancelled { sent: false }),
            Case::KeepsItsKey => {
                Err(CallError::failed(FailureKind::Unauthorised, format!("the key {KEY} is not valid")))
            }
            Case::HasNoQuota => {
                Err(CallError::failed(FailureKind::RateLimited, "the quota is used up, it says"))
            }
            Case::Unauthorised => {
                Err(CallError::failed(FailureKind::Unavailable, "the server answered with 401"))
            }
            Case::TooLong => Err(CallError::failed(FailureKind::BadReply, "the server answered with 400")),
            // Goes on with whatever conversation it is handed, whoever it is called as.
            Case::GoesOn => {
                let session = call.session.clone();
                Ok(CallReply { text: format!("session={SESSION}"), session, ..plain })
            }
            // Asks for its tool again: what came of it was not sent.
            Case::UsesTools => {
                let wish = RawToolCall { id: "a".into(), name: ASKED.0.into(), args: ASKED.1.into() };
                Ok(CallReply { text: String::new(), stop: StopReason::ToolUse, calls: vec![wish], ..plain })
            }
            // Takes whatever came for a reply that ended well.
            Case::Refuses
            | Case::Truncates
            | Case::TimesOut
            | Case::Breaks
            | Case::Retries
            | Case::Structured
            | Case::ReadsOnly => Ok(plain),
        };
        let writes = self.0 == Case::ReadsOnly;
        Box::pin(async move {
            if writes {
                // It writes in every role.
                let content = TEXT.to_owned();
                let edits = vec![Edit::Write { path: MADE.into(), content }];
                link.files.apply(edits).await.map_err(|why| CallError::failed(FailureKind::Crashed, why))?;
            }
            result
        })
    }
}
