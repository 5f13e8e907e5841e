//! `acp`: any agent that speaks the Agent Client Protocol, version 1, over its standard input and output.
//!
//! This file starts the program and says what its end means. `connection` ties it to us, `session` leads the conversation,
//! `serving` answers what the agent asks, `turn` listens, `permission` holds what a role may do.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::StopReason as AcpStop;
use futures_util::future::BoxFuture;
use gadfly_engine::{CallFailure, FailureKind, Guard, Layer, Permission, StopReason, Usage};
use tokio_util::sync::CancellationToken;

use crate::agent::{Agent, Call, CallError, CallReply, Link, MAX_REPLY};
use crate::launcher::{Exit, Finished, LaunchError, StdinSource};
use crate::process::{AgentProgram, brief, tail, tell_peak};
use crate::provider::Provider;
use crate::services::enter;
use connection::talk_with;
use folder::CallFolders;
use messages::Noise;
use serving::Serving;
use session::{PromptSpec, SessionEnd};
use terminals::Terminals;
use turn::{AcpTurn, Over};

mod connection;
mod failure;
mod folder;
mod messages;
mod permission;
mod serving;
mod session;
mod terminals;
mod turn;

/// What an agent may write in one call, all messages together.
const MAX_STREAM: usize = 256 << 20;
/// How long an agent may take to end by itself once it is done.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long we wait to hear how a program that was stopped ended.
const ENDING: Duration = Duration::from_secs(5);

pub(crate) struct AcpAgent {
    pub program: AgentProgram,
    pub provider: Provider,
    pub system: Option<String>,
    pub model: Option<String>,
    /// The way to log in that is asked for, by its id.
    pub login: Option<String>,
    /// How long it may take to say hello, and to open a session.
    pub starting: Duration,
}

impl Agent for AcpAgent {
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

    fn guards(&self, permission: Permission, _sandboxed: bool) -> Vec<Guard> {
        let how = match permission {
            Permission::ReadOnly => "edits and commands it asks for are refused",
            Permission::Write => "files outside of its folder that it asks for are refused",
        };
        vec![Guard::new(Layer::Protocol, how)]
    }

    fn can_be_sandboxed(&self) -> bool {
        self.program.can_be_sandboxed()
    }
}

impl AcpAgent {
    async fn answer(&self, call: Call, link: Link) -> Result<CallReply, CallError> {
        let program = &self.program;
        let Some(root) = call.workdir.clone() else {
            let message = "an ACP agent needs a folder to work in, and this call has none";
            return Err(CallError::failed(FailureKind::Misconfigured, message));
        };
        let folder = CallFolders { root, tmp: call.tmp.clone() };
        let like = program.command(&call, Vec::new(), Vec::new());
        let mut command = like.clone();
        command.max_output = MAX_STREAM;
        let launcher = program.launcher(&call);
        let stop = CancellationToken::new();
        let _stopped = stop.clone().drop_guard();
        let talk = launcher.talk(command, StdinSource::Open, stop.clone()).await;
        let mut talk = talk.map_err(|e| AgentProgram::unstarted(&e))?;
        let Some(input) = talk.input.take() else {
            let message = "the launcher gave no way to write to the agent";
            return Err(CallError::failed(FailureKind::Misconfigured, message));
        };
        let serving = Arc::new(Serving {
            permission: call.reach(),
            web: call.own.as_ref().is_none_or(|own| own.may("fetch_url")),
            terminals: Terminals::new(launcher, like, folder.clone()),
            turn: Mutex::new(AcpTurn::new(folder.clone(), program.spec.max_steps)),
            files: link.files,
            tmp: link.tmp,
            observe: link.observe.clone(),
            progress: link.progress,
            stopping: CancellationToken::new(),
            over: CancellationToken::new(),
            served: AtomicUsize::new(0),
            folder,
        });
        // A worker's next call may go on with this session.
        let keeps = call.permission == Permission::Write && program.spec.continues;
        let asked = PromptSpec {
            brief: brief(self.system.as_deref(), &call),
            folder: serving.folder.root.clone(),
            session: call.session.clone().filter(|_| call.permission == Permission::Write),
            keeps,
            model: self.model.clone(),
            login: self.login.clone(),
            starting: self.starting,
            sandboxed: call.sandbox.is_some() && self.can_be_sandboxed(),
            cancel: link.cancel,
        };
        let (ended, noise) = talk_with(input, &mut talk.output, Arc::clone(&serving), asked).await;
        let untold = serving.turn().untold();
        for step in untold {
            let _ = link.observe.send(step).await;
        }
        // The agent gets a moment to write down what a later call goes on with.
        let worth = matches!(ended, Ok(SessionEnd::Answered { .. } | SessionEnd::Cancelled { sent: true }));
        let done = end(talk.end, &stop, worth && keeps, &ended).await;
        if let Some(Ok(done)) = &done {
            tell_peak(&link.observe, done.peak).await;
        }
        // A worker in a folder of its own gives its work as files: it need not say anything.
        let silent = call.permission == Permission::Write && call.lock.is_some();
        self.conclude(ended, done, &noise, &serving, silent)
    }

    fn conclude(
        &self,
        ended: Result<SessionEnd, Error>,
        done: Option<Result<Finished, LaunchError>>,
        noise: &Noise,
        serving: &Serving,
        may_be_silent: bool,
    ) -> Result<CallReply, CallError> {
        let program = &self.program.name;
        let mut turn = serving.turn();
        let failed = |kind, message: String, usage: Usage| {
            Err(CallError::Failed(CallFailure { kind, message, usage }))
        };
        match ended {
            Ok(SessionEnd::Answered { response, session, model }) => {
                let usage = turn.usage(Some(&response));
                let stop = match response.stop_reason {
                    AcpStop::EndTurn => StopReason::EndTurn,
                    AcpStop::MaxTokens => StopReason::Length,
                    AcpStop::Refusal => StopReason::Refusal,
                    AcpStop::MaxTurnRequests => StopReason::Other("max_turn_requests".to_owned()),
                    AcpStop::Cancelled => StopReason::Other("cancelled".to_owned()),
                    _ => StopReason::Other("unknown".to_owned()),
                };
                let text = turn.text();
                if text.trim().is_empty() && stop == StopReason::EndTurn && !may_be_silent {
                    let message = format!("`{program}` ended its turn without a word");
                    return failed(FailureKind::BadReply, message, usage);
                }
                let session = Some(session.0.to_string()).filter(|_| self.program.spec.continues);
                Ok(CallReply {
                    text,
                    stop,
                    usage,
                    model: turn::model(&response).or(model),
                    session,
                    calls: Vec::new(),
                })
            }
            Ok(SessionEnd::Cancelled { sent }) => Err(CallError::Cancelled { sent }),
            Ok(SessionEnd::Late(asked)) => {
                let seconds = self.starting.as_secs();
                let message = format!(
                    "`{program}` did not answer {asked} within {seconds} s; does it speak ACP as configured?{}",
                    said(noise)
                );
                failed(FailureKind::Timeout, message, Usage::default())
            }
            Ok(SessionEnd::Over) => {
                let (kind, message) = match turn.over() {
                    Some(Over::Text) => (
                        FailureKind::BadReply,
                        format!("`{program}` wrote more than {MAX_REPLY} bytes and was stopped"),
                    ),
                    _ => (
                        FailureKind::StepsUsedUp,
                        format!(
                            "`{program}` took more than {} steps and was stopped; raise `max_steps` if it needs more",
                            self.program.spec.max_steps
                        ),
                    ),
                };
                failed(kind, message, turn.usage(None))
            }
            Ok(SessionEnd::Refused(refused)) if !refused.ends_the_connection() => {
                Err(refused.unanswered(program, turn.usage(None)))
            }
            Ok(SessionEnd::Refused(_)) | Err(_) => Err(self.hung_up(done, noise, turn.usage(None))),
        }
    }

    /// The program is gone, or its output cannot be followed.
    fn hung_up(&self, done: Option<Result<Finished, LaunchError>>, noise: &Noise, usage: Usage) -> CallError {
        let program = &self.program.name;
        let failed = |message: String| {
            let kind = FailureKind::BadReply;
            CallError::Failed(CallFailure { kind, message: message + &said(noise), usage })
        };
        if noise.overlong {
            return failed(format!("`{program}` sent a message of more than {} bytes", messages::MAX_LINE));
        }
        match done {
            Some(Ok(done)) if done.exit == Exit::Overflowed => {
                failed(format!("`{program}` wrote more than {MAX_STREAM} bytes and was stopped"))
            }
            Some(Ok(done)) if done.exit != Exit::Cancelled => match self.program.ended(&done, usage) {
                Err(ended) => ended,
                Ok(()) => failed(format!("`{program}` ended before it answered{}", tail(&done.stderr))),
            },
            Some(Err(error)) => AgentProgram::unstarted(&error),
            _ => failed(format!("`{program}` closed its output before it answered")),
        }
    }
}

fn said(noise: &Noise) -> String {
    noise.first.as_ref().map_or_else(String::new, |line| format!("; it wrote: {line}"))
}

/// Sees the program to its end. One that hung up is ending by itself; any other is stopped.
async fn end(
    end: BoxFuture<'static, Result<Finished, LaunchError>>,
    stop: &CancellationToken,
    farewell: bool,
    ended: &Result<SessionEnd, Error>,
) -> Option<Result<Finished, LaunchError>> {
    let gone = ended.as_ref().map_or(true, SessionEnd::by_hanging_up);
    let mut end = end;
    if farewell || gone {
        let by_itself = if gone { ENDING } else { FAREWELL };
        if let Ok(done) = tokio::time::timeout(by_itself, &mut end).await {
            return Some(done);
        }
    }
    stop.cancel();
    tokio::time::timeout(ENDING, end).await.ok()
}
