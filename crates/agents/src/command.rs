//! `command`: any program that reads a brief on standard input and writes a reply to standard output.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use gadfly_engine::{FailureKind, Permission, Speaker, StopReason, Usage};
use tokio::sync::Semaphore;

use crate::agent::{Agent, Answered, Call, Link, MAX_REPLY, Unanswered, shorter};
use crate::launcher::{Command, Exit, Finished, LaunchError, Launcher};
use crate::world::enter;

/// How much of standard error goes into a failure's message.
const STDERR_TAIL: usize = 2000;
/// Where git stops to look for a repository above the working directory.
const CEILING: &str = "GIT_CEILING_DIRECTORIES";
/// What every process needs and none is told in secret. Everything else must be listed in `env`.
const BASE_ENV: [&str; 5] = ["PATH", "HOME", "LANG", "TERM", "TMPDIR"];

pub(crate) struct CommandAgent {
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub system: Option<String>,
    pub time: Duration,
    pub launcher: Arc<dyn Launcher>,
    pub gate: Option<Arc<Semaphore>>,
}

/// The few variables every process gets, then the agent's own.
pub(crate) fn clean_env(base: &[(String, String)], own: &[(String, String)]) -> Vec<(String, String)> {
    let mut env: Vec<(String, String)> = base
        .iter()
        .filter(|(name, _)| BASE_ENV.contains(&name.as_str()) && !own.iter().any(|(o, _)| o == name))
        .cloned()
        .collect();
    env.extend_from_slice(own);
    env
}

impl Agent for CommandAgent {
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<Answered, Unanswered>> {
        Box::pin(async move {
            let _permit = enter(self.gate.as_ref(), call.time, &link.cancel).await?;
            let command = Command {
                program: self.program.clone(),
                args: self.args.clone(),
                env: self.env(&call),
                cwd: call.workdir.clone(),
                stdin: brief(self.system.as_deref(), &call).into_bytes(),
                time: shorter(call.time, Some(self.time)),
                max_output: MAX_REPLY,
            };
            let holding = call.lock.as_deref().and_then(|lock| self.launcher.holding(lock));
            let launcher = holding.as_ref().unwrap_or(&self.launcher);
            // A worker in a folder of its own gives its work as files: it need not say anything.
            let may_be_silent = call.permission == Permission::Write && call.lock.is_some();
            self.judge(launcher.launch(command, link.cancel.clone()).await, may_be_silent)
        })
    }

    fn works_in_a_folder(&self) -> bool {
        true
    }
}

impl CommandAgent {
    /// A folder of ours often lies inside the user's repository: git must not take it for a part of that.
    fn env(&self, call: &Call) -> Vec<(String, String)> {
        let mut env = self.env.clone();
        let above = call.workdir.as_deref().and_then(Path::parent).and_then(Path::to_str);
        if let Some(above) = above.filter(|_| env.iter().all(|(name, _)| name != CEILING)) {
            env.push((CEILING.to_owned(), above.to_owned()));
        }
        env
    }

    fn judge(
        &self,
        launched: Result<Finished, LaunchError>,
        may_be_silent: bool,
    ) -> Result<Answered, Unanswered> {
        let program = &self.program;
        let done = launched.map_err(|e| Unanswered::failed(FailureKind::Misconfigured, e.to_string()))?;
        let failed = |kind, what: String| Err(Unanswered::failed(kind, what + &tail(&done.stderr)));
        match done.exit {
            Exit::Code(0) => {}
            Exit::Cancelled => return Err(Unanswered::Cancelled { sent: true }),
            Exit::Code(code) => {
                return failed(FailureKind::Crashed, format!("`{program}` ended with exit code {code}"));
            }
            Exit::Signal(signal) => {
                return failed(FailureKind::Crashed, format!("`{program}` was ended by signal {signal}"));
            }
            Exit::TimedOut => {
                return failed(
                    FailureKind::Timeout,
                    format!(
                        "`{program}` did not end in time and was stopped; raise `timeout` if it needs longer"
                    ),
                );
            }
            Exit::Overflowed => {
                return failed(
                    FailureKind::BadReply,
                    format!("`{program}` wrote more than {MAX_REPLY} bytes and was stopped"),
                );
            }
        }
        let Ok(text) = String::from_utf8(done.stdout) else {
            return Err(Unanswered::failed(
                FailureKind::BadReply,
                format!("`{program}` wrote bytes that are not UTF-8 text"),
            ));
        };
        if text.trim().is_empty() && !may_be_silent {
            return Err(Unanswered::failed(
                FailureKind::BadReply,
                format!("`{program}` wrote nothing to standard output{}", tail(&done.stderr)),
            ));
        }
        Ok(Answered { text, stop: StopReason::EndTurn, usage: Usage::default(), model: None })
    }
}

/// The brief as plain text. A single message stands alone; several are labelled.
fn brief(own: Option<&str>, call: &Call) -> String {
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

fn tail(stderr: &[u8]) -> String {
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
            effect: "run#1".into(),
            role: Role::Worker,
            permission: Role::Worker.permission(),
            system: Some("Be brief.".into()),
            messages,
            nth: 0,
            max_output_tokens: 10,
            time: None,
            workdir: None,
            lock: None,
            schema: None,
        }
    }

    fn user(text: &str) -> Spoken {
        Spoken { from: Speaker::User, text: text.into() }
    }

    #[test]
    fn one_message_stands_alone_and_several_are_labelled() {
        assert_eq!(brief(Some("Write."), &call(vec![user("Task: x")])), "Be brief.\n\nWrite.\n\nTask: x");
        let reply = Spoken { from: Speaker::Assistant, text: "maybe".into() };
        assert_eq!(
            brief(None, &call(vec![user("a"), reply, user("b")])),
            "Be brief.\n\n--- Asked ---\na\n\n--- Your reply ---\nmaybe\n\n--- Asked ---\nb"
        );
    }

    #[test]
    fn a_child_gets_five_variables_and_what_its_agent_lists() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let base = [pair("PATH", "/bin"), pair("OPENAI_API_KEY", "sk-1"), pair("LANG", "C")];
        let own = [pair("LANG", "de"), pair("TOKEN", "t")];
        assert_eq!(clean_env(&base, &own), [pair("PATH", "/bin"), pair("LANG", "de"), pair("TOKEN", "t")]);
    }
}
