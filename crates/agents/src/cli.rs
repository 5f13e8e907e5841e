//! CLI agents: programs people already have, asked without a terminal and listened to line by line.
//!
//! This file does what is the same for all: it starts the program, bounds lines, steps and silence, tells what
//! is heard and says what the end means. What differs is a [`Dialect`]. To add a program: one file with its
//! dialect, its `mod` line here, one row in `registry.rs`.

mod claude;
mod codex;
mod dialect;
mod gemini;
mod opencode;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{
    CallFailure, FailureKind, Guard, Layer, Money, Observation, Permission, StopReason, Usage,
};
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

pub(crate) use claude::ClaudeCode;
pub(crate) use codex::Codex;
pub(crate) use dialect::{Dialect, StepResult, ends};
pub(crate) use gemini::Gemini;
pub(crate) use opencode::OpenCode;

use crate::agent::{Agent, Call, CallError, CallReply, Link, MAX_REPLY, Observer, Progress};
use crate::launcher::{Command, Exit, Finished, StdinSource};
use crate::lines::{Lines, ReadLine};
use crate::own::Unheld;
use crate::process::{AgentProgram, brief, hint, tail, tell_peak};
use crate::provider::Provider;
use crate::services::enter;
use dialect::{DialectCall, StreamLine, StreamReader, StreamResult, one_line};

/// What a program may write in one call: streams repeat every file an agent reads.
const MAX_STREAM: usize = 64 << 20;
/// How long a program may be silent once its result was read.
pub(crate) const QUIET: Duration = Duration::from_secs(5);
/// How long we wait to hear how a program ended that we stopped.
const ENDING: Duration = Duration::from_secs(10);
/// What is told of a call besides its steps.
const MAX_NOTES: u32 = 1000;

pub(crate) struct CliAgent {
    pub dialect: &'static dyn Dialect,
    pub program: AgentProgram,
    pub provider: Provider,
    pub model: Option<String>,
    pub system: Option<String>,
    pub max_usd: Option<Money>,
    /// [`QUIET`], but for tests.
    pub quiet: Duration,
}

impl Agent for CliAgent {
    fn call(&self, call: Call, link: Link) -> BoxFuture<'_, Result<CallReply, CallError>> {
        Box::pin(async move {
            let _permit = enter(self.program.gate.as_ref(), call.time, &link.cancel).await?;
            let cancel = link.cancel.clone();
            self.provider.call(&cancel, self.answer(call, link)).await
        })
    }

    fn works_in_a_folder(&self) -> bool {
        true
    }

    fn guards(&self, permission: Permission, sandboxed: bool) -> Vec<Guard> {
        let sandboxed = sandboxed && self.program.can_be_sandboxed();
        self.dialect.guards(permission, sandboxed, self.program.spec.confined_by)
    }

    fn keeps_from(&self, own: &OwnTools, sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
        self.dialect.keeps_from(own, sandboxed && self.program.can_be_sandboxed())
    }

    fn has_networked_commands(&self, own: &OwnTools, sandboxed: bool) -> bool {
        let sandboxed = sandboxed && self.program.can_be_sandboxed();
        self.dialect.has_networked_commands(own, sandboxed, self.program.spec.confined_by)
    }

    fn can_be_sandboxed(&self) -> bool {
        self.program.can_be_sandboxed()
    }
}

/// Why we stopped a program before it ended by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgramStopped {
    /// Its result was read and it did not go.
    Done,
    Steps,
    /// Its provider does not take its key, and it would try again for long.
    Refused,
}

/// What there is to say about a stream that had no result.
#[derive(Default)]
struct UnreadStream {
    lines: u32,
    no_json: u32,
    too_long: u32,
    first: Option<String>,
}

impl CliAgent {
    async fn answer(&self, call: Call, link: Link) -> Result<CallReply, CallError> {
        let began = Instant::now();
        // Who judges begins anew, whoever asks for what.
        let goes_on = call.permission == Permission::Write && self.program.spec.continues;
        if let Some(session) = call.session.clone().filter(|name| goes_on && is_name(name)) {
            if let Some(answer) = self.attempt(&call, &link, Some(&session), began).await {
                return answer;
            }
            let told = format!(
                "{} does not know the conversation of the round before any more: it begins anew",
                self.dialect.shown()
            );
            let _ = link.observe.send(Observation::Note { line: told }).await;
        }
        let answer = self.attempt(&call, &link, None, began).await;
        answer.unwrap_or_else(|| {
            Err(self.failed(FailureKind::BadReply, "ended without a result", Usage::default()))
        })
    }

    /// One run of the program; none if it could not go on with the session, before anything was paid for.
    async fn attempt(
        &self,
        call: &Call,
        link: &Link,
        session: Option<&str>,
        began: Instant,
    ) -> Option<Result<CallReply, CallError>> {
        let ask = DialectCall {
            call,
            spec: &self.program.spec,
            model: self.model.as_deref(),
            max_usd: self.max_usd,
            session,
            sandboxed: call.sandbox.is_some() && self.program.can_be_sandboxed(),
            heard: link.progress.is_heard(),
        };
        let command = match self.command(&ask, link, began).await {
            Ok(command) => command,
            Err(message) => return Some(Err(CallError::failed(FailureKind::Misconfigured, message))),
        };
        let stop = link.cancel.child_token();
        let talk = match self.program.launcher(call).talk(command, StdinSource::Given, stop.clone()).await {
            Ok(talk) => talk,
            Err(error) => return Some(Err(AgentProgram::unstarted(&error))),
        };
        let mut listener = Listener {
            reader: self.dialect.reader(&ask),
            observe: link.observe.clone(),
            progress: link.progress.clone(),
            steps: 0,
            max_steps: self.program.spec.max_steps,
            notes: 0,
            keeps: ask.is_kept(),
            session: None,
            unread: UnreadStream::default(),
            refused: None,
        };
        let stopped = listener.listen(talk.output, self.quiet).await;
        let Some((done, stopped)) =
            ended(talk.end, stopped, listener.reader.is_over(), self.quiet, &stop).await
        else {
            let message = "was stopped and could not be seen to end";
            return Some(Err(self.failed(FailureKind::Crashed, message, listener.reader.usage())));
        };
        let done = match done {
            Ok(done) => done,
            Err(error) => return Some(Err(AgentProgram::unstarted(&error))),
        };
        tell_peak(&link.observe, done.peak).await;
        self.conclude(&ask, link, listener, &done, stopped).await
    }

    async fn command(&self, ask: &DialectCall<'_>, link: &Link, began: Instant) -> Result<Command, String> {
        let start = self.dialect.start(ask);
        link.tmp.apply(start.files).await?;
        let stdin = brief(self.system.as_deref(), ask.call).into_bytes();
        let mut command = self.program.command(ask.call, start.args, stdin);
        command.max_output = MAX_STREAM;
        let spent = began.elapsed();
        command.time = command.time.map(|time| time.saturating_sub(spent));
        for (name, value) in start.env {
            if !command.env.iter().any(|(n, _)| n == name) {
                command.env.push((name.to_owned(), value));
            }
        }
        for (name, value) in start.forced {
            command.env.retain(|(n, _)| n != name);
            command.env.push((name.to_owned(), value));
        }
        Ok(command)
    }

    /// What it all came to.
    ///
    /// A result counts however the program ended after it: the work is done and paid for, and what fails later
    /// (a hook, the way out, a process that does not go) takes nothing from it. An exit that is no success is
    /// told as a note.
    async fn conclude(
        &self,
        ask: &DialectCall<'_>,
        link: &Link,
        mut listener: Listener,
        done: &Finished,
        stopped: Option<ProgramStopped>,
    ) -> Option<Result<CallReply, CallError>> {
        let usage = listener.reader.usage();
        if stopped == Some(ProgramStopped::Steps) {
            let message = format!(
                "made more than {} tool calls in one call and was stopped; raise `max_steps` if it needs more",
                self.program.spec.max_steps
            );
            return Some(Err(self.failed(FailureKind::StepsUsedUp, &message, usage)));
        }
        if stopped == Some(ProgramStopped::Refused) {
            let said = listener.refused.take().unwrap_or_default();
            let message =
                format!("is not let in: {said}; sign in with it, or check its key; trying again cannot help");
            return Some(Err(self.failed(FailureKind::Unauthorised, &message, usage)));
        }
        let cancelled = link.cancel.is_cancelled() || (done.exit == Exit::Cancelled && stopped.is_none());
        let told = listener.reader.told(done.exit);
        let untouched = listener.unread.lines == 0 && matches!(done.exit, Exit::Code(code) if code != 0);
        let gone = match &told {
            StreamResult::NoSuchSession { .. } => true,
            StreamResult::Nothing => untouched,
            StreamResult::Failed { kind, .. } => untouched && *kind != FailureKind::Unauthorised,
            StreamResult::Answer { .. } | StreamResult::Quota { .. } => false,
        };
        if gone && ask.session.is_some() && !cancelled {
            return None;
        }
        Some(match told {
            StreamResult::Answer { text, stop, model, session } => {
                // A program that says why it has no whole answer may well say so by its exit code, too.
                let odd = stop == StopReason::EndTurn && stopped != Some(ProgramStopped::Done);
                if let Some(how) = odd.then(|| odd_end(done.exit)).flatten() {
                    let told = one_line(&format!("`{}` {how} after its result", self.program.name));
                    let _ = link.observe.send(Observation::Note { line: told }).await;
                }
                let silent = text.trim().is_empty() && stop == StopReason::EndTurn;
                if text.len() > MAX_REPLY {
                    let message = format!("gave an answer of more than {MAX_REPLY} bytes");
                    Err(self.failed(FailureKind::BadReply, &message, usage))
                } else if silent && !(ask.may_write() && ask.call.lock.is_some()) {
                    Err(self.failed(FailureKind::BadReply, "gave an empty answer", usage))
                } else {
                    Ok(CallReply {
                        text,
                        stop,
                        usage,
                        model,
                        session: session.filter(|_| ask.is_kept()),
                        calls: Vec::new(),
                    })
                }
            }
            _ if cancelled => Err(CallError::Cancelled { sent: true }),
            StreamResult::Failed { kind, message } => {
                let said = if untouched { tail(&done.stderr) } else { String::new() };
                Err(self.failed(kind, &format!("failed: {message}{said}{}", hint(done)), usage))
            }
            StreamResult::NoSuchSession { message } => {
                Err(self.failed(FailureKind::Crashed, &format!("failed: {message}"), usage))
            }
            StreamResult::Quota { until_ms, message } => Err(CallError::Quota { until_ms, message, usage }),
            StreamResult::Nothing if done.exit == Exit::Overflowed => {
                let message = format!("wrote more than {} MB and was stopped", MAX_STREAM >> 20);
                Err(self.failed(FailureKind::BadReply, &message, usage))
            }
            StreamResult::Nothing => self.program.ended(done, usage).and_then(|()| {
                let message = format!("ended without a result{}{}", listener.unread, tail(&done.stderr));
                Err(self.failed(FailureKind::BadReply, &message, usage))
            }),
        })
    }

    fn failed(&self, kind: FailureKind, what: &str, usage: Usage) -> CallError {
        let message = format!("`{}` {what}", self.program.name);
        CallError::Failed(CallFailure { kind, message, usage })
    }
}

/// Whether a session's name can be an argument. It was read from a stream, and must not be taken for a flag.
pub(crate) fn is_name(session: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    (1..=200).contains(&session.len()) && !session.starts_with('-') && session.chars().all(fits)
}

/// An end that is worth a line although there is a result.
fn odd_end(exit: Exit) -> Option<String> {
    match exit {
        Exit::Code(0) | Exit::Cancelled => None,
        Exit::Code(code) => Some(format!("ended with exit code {code}")),
        Exit::Signal(signal) => Some(format!("was ended by signal {signal}")),
        Exit::TimedOut => Some("ran out of time".to_owned()),
        Exit::Overflowed => Some("wrote too much".to_owned()),
        Exit::TooMuchMemory => Some("used too much memory".to_owned()),
        Exit::TooManyProcesses => Some("had too many processes".to_owned()),
    }
}

type ProgramExit = BoxFuture<'static, Result<Finished, crate::launcher::LaunchError>>;

/// How the program ended, if it can be seen to. One whose result was read is given little time for it.
async fn ended(
    mut end: ProgramExit,
    stopped: Option<ProgramStopped>,
    over: bool,
    quiet: Duration,
    stop: &CancellationToken,
) -> Option<(Result<Finished, crate::launcher::LaunchError>, Option<ProgramStopped>)> {
    if stopped.is_none() {
        if !over {
            return Some((end.await, None));
        }
        if let Ok(done) = timeout(quiet, &mut end).await {
            return Some((done, None));
        }
    }
    stop.cancel();
    let done = timeout(ENDING, end).await.ok()?;
    Some((done, Some(stopped.unwrap_or(ProgramStopped::Done))))
}

/// Listens to one run of a program.
struct Listener {
    reader: Box<dyn StreamReader>,
    observe: Observer,
    progress: Progress,
    steps: u32,
    max_steps: u32,
    notes: u32,
    /// A later call may go on with this conversation.
    keeps: bool,
    /// The conversation's name as it was told last.
    session: Option<String>,
    unread: UnreadStream,
    /// What its provider said of the key it does not take.
    refused: Option<String>,
}

impl Listener {
    /// Reads to the end of the output, or until the program has to be stopped.
    async fn listen(&mut self, output: impl AsyncRead + Unpin, quiet: Duration) -> Option<ProgramStopped> {
        let mut lines = Lines::new(output, MAX_REPLY);
        loop {
            let line = if self.reader.is_over() {
                match timeout(quiet, lines.next()).await {
                    Ok(line) => line?,
                    Err(_) => return Some(ProgramStopped::Done),
                }
            } else {
                lines.next().await?
            };
            let stopped = self.hear(line).await;
            if stopped.is_some() {
                return stopped;
            }
        }
    }

    /// Why the program has to be stopped, if it has.
    async fn hear(&mut self, line: ReadLine) -> Option<ProgramStopped> {
        let ReadLine::Whole(bytes) = line else {
            self.unread.too_long = self.unread.too_long.saturating_add(1);
            return None;
        };
        let bytes = bytes.trim_ascii();
        if bytes.is_empty() {
            return None;
        }
        let line = match serde_json::from_slice::<Value>(bytes) {
            Ok(line) if line.is_object() => line,
            _ => {
                self.unread.no_json = self.unread.no_json.saturating_add(1);
                self.unread.first.get_or_insert_with(|| one_line(&String::from_utf8_lossy(bytes)));
                return None;
            }
        };
        self.unread.lines = self.unread.lines.saturating_add(1);
        let mut heard = Vec::new();
        self.reader.read(&line, &mut heard);
        for heard in heard {
            if matches!(heard, StreamLine::Step { .. }) {
                self.steps = self.steps.saturating_add(1);
                if self.steps > self.max_steps {
                    return Some(ProgramStopped::Steps);
                }
            }
            if let StreamLine::Retrying { kind: FailureKind::Unauthorised, message, .. } = &heard {
                self.refused = Some(message.clone());
                return Some(ProgramStopped::Refused);
            }
            self.tell(heard).await;
        }
        self.tell_session().await;
        None
    }

    /// As soon as it is known: a call may be broken off at any time.
    async fn tell_session(&mut self) {
        let known = self.reader.session().filter(|name| self.keeps && is_name(name));
        if let Some(session) = known.filter(|name| self.session.as_ref() != Some(name)) {
            self.session = Some(session.clone());
            self.note(Observation::Session { session }).await;
        }
    }

    async fn tell(&mut self, heard: StreamLine) {
        let observation = match heard {
            StreamLine::Text(text) => return self.progress.say(&text),
            StreamLine::Step { call, line } => {
                let _ = self.observe.send(Observation::Step { line, call }).await;
                return;
            }
            StreamLine::Ended { call, came: StepResult { end, said } } => {
                let _ = self.observe.send(Observation::StepEnded { call, end, said }).await;
                return;
            }
            StreamLine::Note(line) => Observation::Note { line },
            StreamLine::Used(usage) => Observation::Usage { usage },
            StreamLine::Stopped(what) => Observation::Stopped { layer: Layer::OwnMode, what },
            StreamLine::Retrying { attempt, kind, message } => {
                Observation::Retrying { attempt, kind, message }
            }
        };
        self.note(observation).await;
    }

    /// What is no step is told as long as it is not too much.
    async fn note(&mut self, observation: Observation) {
        self.notes = self.notes.saturating_add(1);
        if self.notes <= MAX_NOTES {
            let _ = self.observe.send(observation).await;
        }
    }
}

impl std::fmt::Display for UnreadStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.too_long > 0 {
            write!(f, "; {} lines were longer than {MAX_REPLY} bytes", self.too_long)?;
        }
        match &self.first {
            Some(first) => write!(f, "; {} lines were no JSON, the first: {first}", self.no_json),
            None => Ok(()),
        }
    }
}
