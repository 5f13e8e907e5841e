//! `scripted`: replies from a file, with delays, observations, calls of tools and every fault the other kinds can have.
//! A real kind of agent, for demos, tests and dry runs. It costs nothing and remembers nothing: which
//! reply is used follows from the call's own number.

mod script;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_engine::goal::StepEnd;
use gadfly_engine::{FailureKind, Observation, StopReason};

pub use script::{Fault, Repeat, Script, ScriptError, ScriptedReply};

use crate::agent::{Agent, Call, CallError, CallReply, Link, shorter};
use crate::services::Clock;

pub(crate) struct Scripted {
    pub name: String,
    pub script: Arc<Script>,
    pub clock: Arc<dyn Clock>,
    /// The longest a call may take.
    pub time: Duration,
}

impl Agent for Scripted {
    /// What a script states is all there is.
    fn states_usage(&self) -> bool {
        false
    }

    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            if link.cancel.is_cancelled() {
                return Err(CallError::Cancelled { sent: false });
            }
            let Some(reply) = self.script.pick(call.role, call.nth) else {
                return Err(CallError::failed(
                    FailureKind::Misconfigured,
                    format!(
                        "the script of agent `{}` has no reply number {} for the {}; add a [[reply]] or `repeat = \"always\"`",
                        self.name,
                        call.nth.saturating_add(1),
                        call.role.name()
                    ),
                ));
            };
            let time = shorter(call.time, Some(self.time)).unwrap_or(self.time);
            tokio::select! {
                biased;
                () = link.cancel.cancelled() => Err(CallError::Cancelled { sent: true }),
                said = tokio::time::timeout(time, self.play(reply, &link)) => said.unwrap_or_else(|_| {
                    Err(CallError::failed(
                        FailureKind::Timeout,
                        format!("agent `{}` did not answer within {} ms", self.name, time.as_millis()),
                    ))
                }),
            }
        })
    }

    /// A folder is made only for a script that writes: most do not, and there may be thousands of calls.
    fn works_in_a_folder(&self) -> bool {
        self.script.edits_files()
    }

    fn is_offered_tools(&self) -> bool {
        self.script.calls_tools()
    }
}

/// A step as it is told. What stands behind an arrow came of it: `make → err: exit code 2`.
fn told(n: usize, line: &str) -> Vec<Observation> {
    let ended = line.rsplit_once(" → ").and_then(|(line, came)| {
        let (word, said) = came.split_once(": ").unwrap_or((came, ""));
        let end = [StepEnd::Ok, StepEnd::Err, StepEnd::Denied].into_iter().find(|end| end.name() == word)?;
        Some((line, end, said.to_owned()))
    });
    let Some((line, end, said)) = ended else { return vec![Observation::step(line)] };
    let call = n.to_string();
    let step = Observation::Step { line: line.to_owned(), call: Some(call.clone()) };
    vec![step, Observation::StepEnded { call, end, said }]
}

impl Scripted {
    async fn play(&self, reply: &ScriptedReply, link: &Link) -> Result<CallReply, CallError> {
        // Nobody left to observe is no reason to stop: the caller decides with `cancel`.
        if let Some(session) = reply.session.clone() {
            let _ = link.observe.send(Observation::Session { session }).await;
        }
        for (n, line) in reply.observe.iter().enumerate() {
            for observation in told(n, line) {
                let _ = link.observe.send(observation).await;
            }
            if !reply.pace.is_zero() {
                tokio::time::sleep(reply.pace).await;
            }
        }
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        let failed = |kind, what: &str| {
            Err(CallError::failed(kind, format!("agent `{}` was scripted to {what}", self.name)))
        };
        let stop = match reply.fault {
            None if !reply.calls.is_empty() => StopReason::ToolUse,
            None => StopReason::EndTurn,
            Some(Fault::Length) => StopReason::Length,
            Some(Fault::Refused) => StopReason::Refusal,
            Some(Fault::Timeout) => return failed(FailureKind::Timeout, "time out"),
            Some(Fault::RateLimited) => return failed(FailureKind::RateLimited, "be rate limited"),
            Some(Fault::Unavailable) => return failed(FailureKind::Unavailable, "be unavailable"),
            Some(Fault::Unauthorised) => return failed(FailureKind::Unauthorised, "be unauthorised"),
            Some(Fault::TooLong) => return failed(FailureKind::TooLong, "find the brief too long"),
            Some(Fault::Misconfigured) => return failed(FailureKind::Misconfigured, "be misconfigured"),
            Some(Fault::Malformed) => return failed(FailureKind::BadReply, "send a malformed reply"),
            Some(Fault::Cut) => {
                return failed(FailureKind::BrokenOff, "break off in the middle of its reply");
            }
            Some(Fault::Empty) => return failed(FailureKind::BadReply, "send an empty reply"),
            Some(Fault::Huge) => return failed(FailureKind::BadReply, "send more than any reply may have"),
            Some(Fault::Crash) => return failed(FailureKind::Crashed, "crash"),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Quota) => {
                return Err(CallError::Quota {
                    until_ms: Some(self.clock.now_ms().saturating_add(3_600_000)),
                    message: format!("agent `{}` was scripted to have no quota for an hour", self.name),
                    usage: reply.usage,
                });
            }
        };
        if reply.text.trim().is_empty() && stop == StopReason::EndTurn {
            return failed(FailureKind::BadReply, "send an empty reply");
        }
        if let Err(why) = link.files.apply(reply.edits.clone()).await {
            let message = format!("the script of agent `{}` changes files: {why}", self.name);
            return Err(CallError::failed(FailureKind::Misconfigured, message));
        }
        link.progress.say(&reply.text);
        let calls = if stop == StopReason::ToolUse { reply.calls.clone() } else { Vec::new() };
        Ok(CallReply {
            text: reply.text.clone(),
            stop,
            usage: reply.usage,
            model: None,
            session: reply.session.clone(),
            calls,
        })
    }
}

#[cfg(test)]
mod tests {
    use gadfly_engine::Role;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::agent::{Edit, Files, FolderFiles, Progress, observing};
    use crate::{AgentServices, AgentSpec, build};

    struct Lent(Arc<std::sync::Mutex<Vec<Edit>>>);

    impl FolderFiles for Lent {
        fn apply(&self, edits: Vec<Edit>) -> BoxFuture<'static, Result<(), String>> {
            self.0.lock().unwrap().extend(edits);
            Box::pin(async { Ok(()) })
        }

        fn read(&self, path: String) -> BoxFuture<'static, Result<String, String>> {
            Box::pin(async move { Err(format!("`{path}` is not lent")) })
        }
    }

    async fn ask(script: Script, nth: u32) -> (Result<CallReply, CallError>, Vec<Observation>) {
        ask_with(script, nth, &Files::none()).await
    }

    async fn ask_with(
        script: Script,
        nth: u32,
        files: &Files,
    ) -> (Result<CallReply, CallError>, Vec<Observation>) {
        let spec = AgentSpec { name: "actor".into(), script: Some(script.into()), ..AgentSpec::default() };
        let agent = build("scripted", spec, &AgentServices::new()).unwrap();
        let (observe, mut observed) = observing(8);
        let link = Link {
            observe,
            progress: Progress::none(),
            cancel: CancellationToken::new(),
            told: None,
            files: files.clone(),
            tmp: Files::none(),
        };
        let call = Call { nth, max_output_tokens: 1, ..Call::new("run#1", Role::Critic, Vec::new()) };
        let result = agent.call(call, link).await;
        let mut seen = Vec::new();
        while let Some(observation) = observed.try_recv() {
            seen.push(observation);
        }
        (result, seen)
    }

    #[tokio::test]
    async fn what_it_observes_is_told_before_it_answers() {
        let reply = ScriptedReply::text("yes").observed("read the draft").observed("thought").tokens(9, 2);
        let (result, seen) = ask(Script::new([reply]), 0).await;
        let step = |line: &str| Observation::step(line);
        assert_eq!(seen, [step("read the draft"), step("thought")]);
        assert_eq!(result.map(|a| (a.text, a.usage.tokens())), Ok(("yes".into(), 11)));
    }

    #[tokio::test]
    async fn it_names_its_session_before_anything_else_and_asks_for_its_tools() {
        let reply = ScriptedReply::text("").observed("looks").in_session("s").calling("list_files", "{}");
        let (result, seen) = ask(Script::new([reply.clone()]), 0).await;
        let session = Observation::Session { session: "s".into() };
        assert_eq!(seen, [session, Observation::step("looks")]);
        let answered = result.unwrap();
        assert_eq!((answered.stop, answered.session.as_deref()), (StopReason::ToolUse, Some("s")));
        let asked: Vec<_> = answered.calls.iter().map(|c| (c.id.as_str(), c.name.as_str())).collect();
        assert_eq!(asked, [("call_1", "list_files")]);
        // A reply that is cut asks for nothing: its last call may be half a call.
        let cut = ScriptedReply { fault: Some(Fault::Length), ..reply };
        let answered = ask(Script::new([cut]), 0).await.0.unwrap();
        assert_eq!((answered.stop, answered.calls), (StopReason::Length, Vec::new()));
    }

    #[tokio::test]
    async fn between_the_lines_it_observes_it_can_be_stopped() {
        let reply =
            ScriptedReply::text("late").observed("one").observed("two").paced(Duration::from_hours(1));
        let spec = AgentSpec {
            name: "actor".into(),
            script: Some(Script::new([reply]).into()),
            timeouts: crate::Timeouts { call: Duration::from_hours(2), ..crate::Timeouts::default() },
            ..AgentSpec::default()
        };
        let agent = build("scripted", spec, &AgentServices::new()).unwrap();
        let (observe, mut observed) = observing(8);
        let cancel = CancellationToken::new();
        let link = Link {
            observe,
            progress: Progress::none(),
            cancel: cancel.clone(),
            told: None,
            files: Files::none(),
            tmp: Files::none(),
        };
        let call = Call::new("run#1", Role::Worker, Vec::new());
        let (result, seen) = tokio::join!(agent.call(call, link), async {
            let seen = observed.recv().await;
            cancel.cancel();
            seen
        });
        assert_eq!(seen, Some(Observation::step("one")));
        assert_eq!(result, Err(CallError::Cancelled { sent: true }));
        assert!(observed.recv().await.is_none(), "the second line was said all the same");
    }

    #[tokio::test]
    async fn its_edits_are_carried_out_by_whoever_lends_the_folder_and_fail_the_call_where_there_is_none() {
        let reply = ScriptedReply::text("done").writing("a.txt", "x").deleting("b");
        let script = Script::new([reply]);
        assert!(script.edits_files());
        let made = Arc::new(std::sync::Mutex::new(Vec::new()));
        let carried = Arc::clone(&made);
        let lent = Files::of(Arc::new(Lent(carried)));
        let (result, _) = ask_with(script.clone(), 0, &lent).await;
        assert!(result.is_ok(), "{result:?}");
        let expected =
            [Edit::Write { path: "a.txt".into(), content: "x".into() }, Edit::Delete { path: "b".into() }];
        assert_eq!(*made.lock().unwrap(), expected);
        let (result, _) = ask(script, 0).await;
        assert!(matches!(result, Err(CallError::Failed(_))), "{result:?}");
    }

    #[tokio::test]
    async fn a_script_that_is_at_its_end_says_so() {
        let (result, _) = ask(Script::new([ScriptedReply::text("only one")]), 1).await;
        let Err(CallError::Failed(failure)) = result else { panic!("{result:?}") };
        assert_eq!(failure.kind, FailureKind::Misconfigured);
        assert!(
            failure.message.starts_with("the script of agent `actor` has no reply number 2 for the critic")
        );
    }
}
