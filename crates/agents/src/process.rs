//! What all agents that are programs share: how one is started for a call, in which environment and sandbox,
//! what its brief looks like as text, and what the way it ended means.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gadfly_engine::{CallFailure, FailureKind, Observation, Speaker, Usage};
use tokio::sync::Semaphore;

use crate::agent::{Call, CallError, MAX_REPLY, Observer, shorter};
use crate::environment::is_usual;
use crate::launcher::{Command, Exit, Finished, LaunchError, Launcher, Peak, Sandbox};
use crate::spec::{Confinement, ProcessSpec};

/// How much of standard error goes into a failure's message.
const STDERR_TAIL: usize = 2000;
/// Where git stops to look for a repository above the working directory.
const CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// A program that answers calls, as it is configured.
pub(crate) struct AgentProgram {
    /// Its name or path.
    pub name: String,
    /// Arguments the user gave it.
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub spec: ProcessSpec,
    pub time: Duration,
    pub launcher: Arc<dyn Launcher>,
    pub gate: Option<Arc<Semaphore>>,
}

impl AgentProgram {
    /// The command for one call: the user's arguments, then these.
    pub fn command(&self, call: &Call, args: Vec<String>, stdin: Vec<u8>) -> Command {
        Command {
            program: self.name.clone(),
            args: self.args.iter().cloned().chain(args).collect(),
            env: self.env(call),
            cwd: call.workdir.clone(),
            stdin,
            time: shorter(call.time, Some(self.time)),
            max_output: MAX_REPLY,
            sandbox: self.sandbox(call),
            most: self.spec.most,
        }
    }

    /// The launcher that holds the call's lock.
    pub fn launcher(&self, call: &Call) -> Arc<dyn Launcher> {
        let holding = call.lock.as_deref().and_then(|lock| self.launcher.holding(lock));
        holding.unwrap_or_else(|| Arc::clone(&self.launcher))
    }

    pub fn can_be_sandboxed(&self) -> bool {
        self.spec.confined_by == Confinement::Landlock
    }

    /// The call's sandbox, widened by what the program itself needs.
    fn sandbox(&self, call: &Call) -> Option<Sandbox> {
        let mut sandbox = call.sandbox.clone().filter(|_| self.can_be_sandboxed())?;
        sandbox.read.extend(self.spec.install.iter().cloned());
        sandbox.write.extend(self.spec.state.iter().cloned());
        sandbox.network = sandbox.network.max(self.spec.network);
        Some(sandbox)
    }

    /// A folder of ours often lies inside the user's repository: git must not take it for a part of that.
    fn env(&self, call: &Call) -> Vec<(String, String)> {
        let mut env = self.env.clone();
        let mut add = |name: &str, value: Option<&str>, over: bool| {
            let Some(value) = value else { return };
            match env.iter_mut().find(|(n, _)| n == name) {
                Some((_, old)) if over => value.clone_into(old),
                Some(_) => {}
                None => env.push((name.to_owned(), value.to_owned())),
            }
        };
        add(CEILING, call.workdir.as_deref().and_then(Path::parent).and_then(Path::to_str), false);
        // In a sandbox the usual place for temporary files is out of reach.
        let tmp = call.tmp.as_deref().and_then(Path::to_str).filter(|_| call.sandbox.is_some());
        add("TMPDIR", tmp, true);
        env
    }

    /// What a start that failed means.
    pub fn unstarted(error: &LaunchError) -> CallError {
        CallError::failed(FailureKind::Misconfigured, error.to_string())
    }

    /// Nothing if the program ended by itself and well; else what its end means.
    pub fn ended(&self, done: &Finished, usage: Usage) -> Result<(), CallError> {
        let program = &self.name;
        let failed = |kind, what: String| {
            let message = what + &tail(&done.stderr) + &hint(done);
            Err(CallError::Failed(CallFailure { kind, message, usage }))
        };
        match done.exit {
            Exit::Code(0) => Ok(()),
            Exit::Cancelled => Err(CallError::Cancelled { sent: true }),
            Exit::Code(code) => {
                failed(FailureKind::Crashed, format!("`{program}` ended with exit code {code}"))
            }
            Exit::Signal(signal) => {
                failed(FailureKind::Crashed, format!("`{program}` was ended by signal {signal}"))
            }
            Exit::TimedOut => failed(
                FailureKind::Timeout,
                format!(
                    "`{program}` did not end in time and was stopped; raise `timeout` if it needs longer"
                ),
            ),
            Exit::Overflowed => failed(
                FailureKind::BadReply,
                format!("`{program}` wrote more than {MAX_REPLY} bytes and was stopped"),
            ),
            Exit::TooMuchMemory => failed(
                FailureKind::Crashed,
                format!(
                    "`{program}` and what it started used {} MB of memory and were stopped; \
                     raise `max_memory_mb` if they need more",
                    done.peak.memory_bytes >> 20
                ),
            ),
            Exit::TooManyProcesses => failed(
                FailureKind::Crashed,
                format!(
                    "`{program}` had {} processes and was stopped; raise `max_processes` if it needs more",
                    done.peak.processes
                ),
            ),
        }
    }
}

/// A program that fails in a sandbox may fail because of it.
pub(crate) fn hint(done: &Finished) -> String {
    let beside = done.beside.as_ref();
    beside.map_or_else(String::new, |beside| {
        let text = &beside.text;
        format!("; {text}; name what else it needs in `read` and `state`, or set `network`, `listen`")
    })
}

/// Tells what the processes of a call used.
pub(crate) async fn tell_peak(observe: &Observer, peak: Peak) {
    if peak != Peak::default() {
        let Peak { memory_bytes, processes } = peak;
        let _ = observe.send(Observation::Used { memory_bytes, processes }).await;
    }
}

/// The variables every process gets, then the agent's own.
pub(crate) fn clean_env(base: &[(String, String)], own: &[(String, String)]) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = base
        .iter()
        .filter(|(name, value)| is_usual(name, value) && !own.iter().any(|(o, _)| o == name))
        .cloned()
        .collect();
    env.extend_from_slice(own);
    env
}

/// The brief as plain text. A single message stands alone; several are labelled.
pub(crate) fn brief(own: Option<&str>, call: &Call) -> String {
    let mut out = String::new();
    for system in [call.system.as_deref(), own].into_iter().flatten() {
        out.push_str(system.trim_end());
        out.push_str("\n\n");
    }
    let labelled = call.messages.len() > 1;
    for (i, message) in call.messages.iter().enumerate() {
        if labelled {
            out.push_str(match message.from {
                Speaker::User => "--- Asked ---\n",
                Speaker::Assistant => "--- Your reply ---\n",
            });
        }
        out.push_str(&message.text);
        if labelled && i + 1 < call.messages.len() {
            out.push_str("\n\n");
        }
    }
    out
}

pub(crate) fn tail(stderr: &[u8]) -> String {
    let from = stderr.len().saturating_sub(STDERR_TAIL);
    let text = String::from_utf8_lossy(&stderr[from..]);
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("; it said: {text}") }
}

#[cfg(test)]
mod tests {
    use gadfly_engine::Role;

    use super::*;
    use crate::agent::Spoken;

    fn call(messages: Vec<Spoken>) -> Call {
        Call {
            system: Some("Be brief.".into()),
            max_output_tokens: 10,
            ..Call::new("run#1", Role::Worker, messages)
        }
    }

    fn user(text: &str) -> Spoken {
        Spoken::new(Speaker::User, text)
    }

    #[test]
    fn one_message_stands_alone_and_several_are_labelled() {
        assert_eq!(brief(Some("Write."), &call(vec![user("Task: x")])), "Be brief.\n\nWrite.\n\nTask: x");
        let reply = Spoken::new(Speaker::Assistant, "maybe");
        assert_eq!(
            brief(None, &call(vec![user("a"), reply, user("b")])),
            "Be brief.\n\n--- Asked ---\na\n\n--- Your reply ---\nmaybe\n\n--- Asked ---\nb"
        );
    }

    #[test]
    fn a_child_gets_the_usual_variables_and_what_its_agent_lists() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let base = [pair("PATH", "/bin"), pair("OPENAI_API_KEY", "sk-1"), pair("LANG", "C")];
        let own = [pair("LANG", "de"), pair("TOKEN", "t")];
        assert_eq!(clean_env(&base, &own), [pair("PATH", "/bin"), pair("LANG", "de"), pair("TOKEN", "t")]);
    }
}
