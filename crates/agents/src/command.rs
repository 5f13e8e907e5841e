//! `command`: any program that reads a brief on standard input and writes a reply to standard output.

use futures_util::future::BoxFuture;
use gadfly_engine::{FailureKind, Permission, StopReason, Usage};

use crate::agent::{Agent, Call, CallError, CallReply, Link};
use crate::launcher::Finished;
use crate::process::{AgentProgram, brief, tail, tell_peak};
use crate::services::enter;

pub(crate) struct CommandAgent {
    pub program: AgentProgram,
    pub system: Option<String>,
    /// Its calls cost something: what they use, which a command does not say, counts.
    pub is_priced: bool,
}

impl Agent for CommandAgent {
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let program = &self.program;
            let _permit = enter(program.gate.as_ref(), call.time, &link.cancel).await?;
            let stdin = brief(self.system.as_deref(), &call).into_bytes();
            let command = program.command(&call, Vec::new(), stdin);
            let done = program.launcher(&call).launch(command, link.cancel.clone()).await;
            let done = done.map_err(|e| AgentProgram::unstarted(&e))?;
            tell_peak(&link.observe, done.peak).await;
            // A worker in a folder of its own gives its work as files: it need not say anything.
            self.conclude(done, call.permission == Permission::Write && call.lock.is_some())
        })
    }

    fn works_in_a_folder(&self) -> bool {
        true
    }

    fn states_usage(&self) -> bool {
        self.is_priced
    }

    fn can_be_sandboxed(&self) -> bool {
        self.program.can_be_sandboxed()
    }
}

impl CommandAgent {
    fn conclude(&self, done: Finished, may_be_silent: bool) -> Result<CallReply, CallError> {
        let program = &self.program.name;
        self.program.ended(&done, Usage::default())?;
        let said = tail(&done.stderr);
        let Ok(text) = String::from_utf8(done.stdout) else {
            let message = format!("`{program}` wrote bytes that are not UTF-8 text");
            return Err(CallError::failed(FailureKind::BadReply, message));
        };
        if text.trim().is_empty() && !may_be_silent {
            let message = format!("`{program}` wrote nothing to standard output{said}");
            return Err(CallError::failed(FailureKind::BadReply, message));
        }
        Ok(CallReply {
            text,
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            model: None,
            session: None,
            calls: Vec::new(),
        })
    }
}
