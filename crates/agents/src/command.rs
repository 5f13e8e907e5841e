//! `command`: any program. The brief comes on standard input, as an argument or as a file; the reply is what it prints, or
//! what in that is said to be the reply.

mod output;

use std::path::Path;

use futures_util::future::BoxFuture;
use gadfly_engine::{CallFailure, FailureKind, Observation, Permission, StopReason};

use crate::agent::{Agent, Call, CallError, CallReply, Link};
use crate::cli::is_name;
use crate::launcher::Finished;
use crate::process::{AgentProgram, brief, tail, tell_peak};
use crate::services::enter;
use crate::spec::BriefAs;

pub(crate) use output::OutputReader;
use output::SaidOutput;

/// The longest argument that Linux hands on, its end included.
const MAX_ARGUMENT: usize = 128 * 1024;
/// Where the brief is, in the call's folder for temporary files.
const BRIEF: &str = "brief.md";

pub(crate) struct CommandAgent {
    pub program: AgentProgram,
    pub system: Option<String>,
    /// What its calls use counts, whether it says so or not.
    pub states_usage: bool,
    pub brief: BriefAs,
    /// Before the name of a conversation to go on with.
    pub resume: Vec<String>,
    pub output: OutputReader,
}

impl Agent for CommandAgent {
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let program = &self.program;
            let _permit = enter(program.gate.as_ref(), call.time, &link.cancel).await?;
            let (args, stdin) = self.put(&call).await?;
            let command = program.command(&call, args, stdin);
            let done = program.launcher(&call).launch(command, link.cancel.clone()).await;
            let done = done.map_err(|e| AgentProgram::unstarted(&e))?;
            tell_peak(&link.observe, done.peak).await;
            // A worker in a folder of its own gives its work as files: it need not say anything.
            let reply = self.conclude(done, call.permission == Permission::Write && call.lock.is_some())?;
            if let Some(session) = &reply.session {
                let _ = link.observe.send(Observation::Session { session: session.clone() }).await;
            }
            Ok(reply)
        })
    }

    fn works_in_a_folder(&self) -> bool {
        true
    }

    fn states_usage(&self) -> bool {
        self.states_usage
    }

    fn can_be_sandboxed(&self) -> bool {
        self.program.can_be_sandboxed()
    }
}

impl CommandAgent {
    /// Its last arguments, and its standard input.
    async fn put(&self, call: &Call) -> Result<(Vec<String>, Vec<u8>), CallError> {
        let before =
            call.session.as_ref().filter(|_| call.permission == Permission::Write && self.continues());
        let mut args: Vec<String> =
            before.into_iter().flat_map(|session| self.resume.iter().chain([session])).cloned().collect();
        let brief = brief(self.system.as_deref(), call);
        let misconfigured = |message: String| Err(CallError::failed(FailureKind::Misconfigured, message));
        match self.brief {
            BriefAs::Stdin => return Ok((args, brief.into_bytes())),
            BriefAs::Argument if brief.len() >= MAX_ARGUMENT => {
                let message = format!(
                    "the brief has {} bytes, and an argument at most {MAX_ARGUMENT}: set `brief = \"file\"` or \"stdin\"",
                    brief.len()
                );
                return Err(CallError::failed(FailureKind::TooLong, message));
            }
            BriefAs::Argument if brief.contains('\0') => {
                return misconfigured("the brief has a NUL, which no argument may have".to_owned());
            }
            BriefAs::Argument => args.push(brief),
            BriefAs::File => {
                let Some(tmp) = call.tmp.as_deref().map(Path::to_owned) else {
                    return misconfigured("this call has no folder for its brief".to_owned());
                };
                let at = tmp.join(BRIEF);
                if let Err(error) = tokio::fs::write(&at, brief).await {
                    return misconfigured(format!(
                        "its brief cannot be written to {}: {error}",
                        at.display()
                    ));
                }
                args.push(at.to_string_lossy().into_owned());
            }
        }
        Ok((args, Vec::new()))
    }

    const fn continues(&self) -> bool {
        self.program.spec.continues && !self.resume.is_empty()
    }

    fn conclude(&self, done: Finished, may_be_silent: bool) -> Result<CallReply, CallError> {
        let program = &self.program.name;
        // What it used counts however it ended.
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let used = self.output.used_in(&said);
        self.program.ended(&done, used)?;
        let heard = tail(&done.stderr);
        let bad = |message: String| {
            CallError::Failed(CallFailure { kind: FailureKind::BadReply, message, usage: used })
        };
        let Ok(output) = String::from_utf8(done.stdout) else {
            return Err(bad(format!("`{program}` wrote bytes that are not UTF-8 text")));
        };
        let said = match self.output.read(output) {
            Ok(said) => said,
            Err(_) if may_be_silent => SaidOutput { text: String::new(), session: None },
            Err(why) => return Err(bad(format!("`{program}`: {why}{heard}"))),
        };
        if said.text.trim().is_empty() && !may_be_silent {
            return Err(bad(format!("`{program}` wrote nothing to standard output{heard}")));
        }
        Ok(CallReply {
            text: said.text,
            stop: StopReason::EndTurn,
            usage: used,
            model: None,
            session: said.session.filter(|session| self.continues() && is_name(session)),
            calls: Vec::new(),
        })
    }
}
