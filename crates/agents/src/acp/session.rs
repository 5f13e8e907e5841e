//! One conversation from hello to the end of its prompt: initialize, a session, its mode and model, the prompt.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthenticateRequest, CancelNotification, ClientCapabilities, ContentBlock,
    FileSystemCapabilities, Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest,
    PromptRequest, PromptResponse, ResumeSessionRequest, SessionConfigKind, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOptions, SessionId, SessionModeState,
    SetSessionConfigOptionRequest, SetSessionModeRequest, TextContent,
};
use agent_client_protocol::{Agent, Error};
use gadfly_engine::{Guard, Layer, Observation, Permission};
use tokio_util::sync::CancellationToken;

use super::failure::{HELLO, RequestRefused};
use super::permission::{READING_MODES, READING_MODES_SANDBOXED, UNBOUND_MODE};
use super::serving::Serving;
use super::turn::line;
use crate::cli::is_name;

/// How long an agent may take to end a turn that was cancelled.
const GRACE: Duration = Duration::from_secs(3);
/// Ways to log in that are named to people.
const LOGINS: usize = 6;

/// What is asked, and how.
pub(super) struct PromptSpec {
    pub brief: String,
    pub folder: PathBuf,
    /// An earlier conversation to go on with.
    pub session: Option<String>,
    /// A later call may go on with this one.
    pub keeps: bool,
    pub model: Option<String>,
    /// The way to log in, by its id.
    pub login: Option<String>,
    /// How long each step before the prompt may take.
    pub starting: Duration,
    /// A sandbox of ours is around it.
    pub sandboxed: bool,
    pub cancel: CancellationToken,
}

/// How a conversation ended.
pub(super) enum SessionEnd {
    Answered {
        response: PromptResponse,
        session: SessionId,
        /// The model we chose.
        model: Option<String>,
    },
    Refused(RequestRefused),
    /// It did not answer this in time.
    Late(&'static str),
    Cancelled {
        sent: bool,
    },
    /// It said or did more than it may, and was stopped.
    Over,
}

impl SessionEnd {
    /// Whether the agent was gone before it answered.
    pub fn by_hanging_up(&self) -> bool {
        matches!(self, Self::Refused(refused) if refused.ends_the_connection())
    }
}

/// A session that was opened, and what it can be set to.
struct Opened {
    id: SessionId,
    modes: Option<SessionModeState>,
    options: Vec<SessionConfigOption>,
}

struct AcpConversation {
    cx: ConnectionTo<Agent>,
    serving: Arc<Serving>,
    asked: PromptSpec,
    logins: Vec<String>,
}

pub(super) async fn converse(
    cx: ConnectionTo<Agent>,
    serving: Arc<Serving>,
    asked: PromptSpec,
) -> SessionEnd {
    let mut conversation = AcpConversation { cx, serving, asked, logins: Vec::new() };
    match conversation.prepare().await {
        Ok((session, model)) => conversation.prompt(session, model).await,
        Err(ended) => ended,
    }
}

impl AcpConversation {
    async fn prepare(&mut self) -> Result<(SessionId, Option<String>), SessionEnd> {
        let can = self.hello().await?;
        let opened = self.open(&can).await?;
        let session = opened.id.0.to_string();
        if self.asked.keeps && is_name(&session) {
            // Told before the prompt: a call may be broken off at any time.
            let _ = self.serving.observe.send(Observation::Session { session }).await;
        }
        self.choose_mode(&opened).await?;
        let model = self.choose_model(&opened).await?;
        Ok((opened.id, model))
    }

    async fn hello(&mut self) -> Result<AgentCapabilities, SessionEnd> {
        let writes = self.serving.permission == Permission::Write;
        // A worker reads its folder by itself: Gemini CLI 0.61 cannot make a new file if it is told through the
        // protocol that there is none yet.
        let files = FileSystemCapabilities::new().read_text_file(!writes).write_text_file(writes);
        let hello = InitializeRequest::new(ProtocolVersion::V1)
            .client_capabilities(ClientCapabilities::new().fs(files).terminal(writes))
            .client_info(Implementation::new("gadfly", env!("CARGO_PKG_VERSION")));
        let said = self.ask(HELLO, self.cx.send_request(hello).block_task()).await?;
        let logins = said.auth_methods.iter().map(|method| match method {
            AuthMethod::Terminal(method) => line(&format!("{} (`{}`)", method.name, method.id.0)),
            AuthMethod::Agent(method) => line(&format!("{} (`{}`)", method.name, method.id.0)),
            _ => String::new(),
        });
        self.logins = logins.filter(|name| !name.is_empty()).take(LOGINS).collect();
        self.log_in().await?;
        Ok(said.agent_capabilities)
    }

    /// Only what the user named: a way to log in may open a browser, or wait for somebody.
    async fn log_in(&self) -> Result<(), SessionEnd> {
        let Some(login) = self.asked.login.clone() else { return Ok(()) };
        let request = self.cx.send_request(AuthenticateRequest::new(login)).block_task();
        self.ask("authenticate", request).await.map(drop)
    }

    async fn open(&self, can: &AgentCapabilities) -> Result<Opened, SessionEnd> {
        if let Some(before) = self.asked.session.clone() {
            match self.go_on(before.into(), can).await {
                Ok(Some(opened)) => return Ok(opened),
                Ok(None) => self.note("it cannot go on with an earlier session; a new one is begun").await,
                Err(SessionEnd::Refused(refused)) if !refused.ends_the_connection() => {
                    let why = line(&refused.error.message);
                    self.note(&format!(
                        "its earlier session could not be opened ({why}); a new one is begun"
                    ))
                    .await;
                }
                Err(ended) => return Err(ended),
            }
        }
        let new = NewSessionRequest::new(self.asked.folder.clone());
        let new = self.ask("session/new", self.cx.send_request(new).block_task()).await?;
        Ok(Opened { id: new.session_id, modes: new.modes, options: new.config_options.unwrap_or_default() })
    }

    /// None if the agent says that it cannot. Some say that they can resume, and refuse it: then it is loaded.
    async fn go_on(&self, id: SessionId, can: &AgentCapabilities) -> Result<Option<Opened>, SessionEnd> {
        let folder = self.asked.folder.clone();
        if can.session_capabilities.resume.is_some() {
            let resume = ResumeSessionRequest::new(id.clone(), folder.clone());
            match self.ask("session/resume", self.cx.send_request(resume).block_task()).await {
                Ok(said) => {
                    let options = said.config_options.unwrap_or_default();
                    return Ok(Some(Opened { id, modes: said.modes, options }));
                }
                Err(SessionEnd::Refused(refused)) if can.load_session && !refused.ends_the_connection() => {}
                Err(ended) => return Err(ended),
            }
        }
        if !can.load_session {
            return Ok(None);
        }
        let load = LoadSessionRequest::new(id.clone(), folder);
        let said = self.ask("session/load", self.cx.send_request(load).block_task()).await?;
        Ok(Some(Opened { id, modes: said.modes, options: said.config_options.unwrap_or_default() }))
    }

    /// Who may only read gets a mode in which the agent itself does not write, if it has one. In a sandbox of
    /// ours one whose own sandbox needs mounts could do nothing at all: ours is around it, its own is off.
    async fn choose_mode(&self, opened: &Opened) -> Result<(), SessionEnd> {
        let wanted: &[&'static str] = match (self.asked.sandboxed, self.serving.permission) {
            (true, Permission::ReadOnly) => &READING_MODES_SANDBOXED,
            (true, Permission::Write) => &[UNBOUND_MODE],
            (false, Permission::ReadOnly) => &READING_MODES,
            (false, Permission::Write) => return Ok(()),
        };
        let offered = opened.modes.as_ref().and_then(|modes| {
            let id = wanted.iter().find(|id| modes.available_modes.iter().any(|m| *m.id.0 == ***id))?;
            Some((*id, *modes.current_mode_id.0 == **id))
        });
        let (id, set) = if let Some((id, already)) = offered {
            if already {
                return self.moded(id).await;
            }
            let set = SetSessionModeRequest::new(opened.id.clone(), id);
            (id, self.ask("session/set_mode", self.cx.send_request(set).block_task()).await.map(drop))
        } else {
            let option = option(&opened.options, &SessionConfigOptionCategory::Mode, "mode");
            let found =
                option.and_then(|option| wanted.iter().find(|id| offers(option, id)).map(|id| (option, *id)));
            let Some((option, id)) = found else { return Ok(()) };
            let set = SetSessionConfigOptionRequest::new(opened.id.clone(), option.id.clone(), id);
            let set = self.cx.send_request(set).block_task();
            (id, self.ask("session/set_config_option", set).await.map(drop))
        };
        match set {
            Ok(()) => self.moded(id).await,
            Err(SessionEnd::Refused(refused)) if !refused.ends_the_connection() => {
                let why = line(&refused.error.message);
                self.note(&format!("its mode could not be set to `{id}` ({why})")).await;
                Ok(())
            }
            Err(ended) => Err(ended),
        }
    }

    /// A reading mode is a guard of its own; the record names it beside those that were up before.
    async fn moded(&self, id: &str) -> Result<(), SessionEnd> {
        if READING_MODES.contains(&id) && self.serving.permission == Permission::ReadOnly {
            let guards = vec![Guard::new(Layer::OwnMode, format!("mode {id}"))];
            let _ = self.serving.observe.send(Observation::Guarded { guards }).await;
        } else {
            self.note(&format!("its mode is `{id}`")).await;
        }
        Ok(())
    }

    async fn choose_model(&self, opened: &Opened) -> Result<Option<String>, SessionEnd> {
        let Some(model) = self.asked.model.as_deref() else { return Ok(None) };
        let found = option(&opened.options, &SessionConfigOptionCategory::Model, "model");
        let Some(option) = found.filter(|option| offers(option, model)) else {
            self.note(&format!(
                "it does not offer the model `{model}` to choose; it works with the one it is configured for"
            ))
            .await;
            return Ok(None);
        };
        let set = SetSessionConfigOptionRequest::new(opened.id.clone(), option.id.clone(), model);
        match self.ask("session/set_config_option", self.cx.send_request(set).block_task()).await {
            Ok(_) => Ok(Some(model.to_owned())),
            Err(SessionEnd::Refused(refused)) if !refused.ends_the_connection() => {
                let why = line(&refused.error.message);
                self.note(&format!("its model could not be set to `{model}` ({why})")).await;
                Ok(None)
            }
            Err(ended) => Err(ended),
        }
    }

    async fn prompt(&mut self, session: SessionId, model: Option<String>) -> SessionEnd {
        if self.asked.cancel.is_cancelled() {
            return SessionEnd::Cancelled { sent: false };
        }
        self.serving.turn().begin(session.clone());
        let brief = ContentBlock::Text(TextContent::new(std::mem::take(&mut self.asked.brief)));
        let prompt = self.cx.send_request(PromptRequest::new(session.clone(), vec![brief])).block_task();
        let mut prompt = std::pin::pin!(prompt);
        let why = tokio::select! {
            biased;
            () = self.serving.over.cancelled() => SessionEnd::Over,
            answer = &mut prompt => return match answer {
                Ok(response) => SessionEnd::Answered { response, session, model },
                Err(error) => SessionEnd::Refused(self.refused("session/prompt", error)),
            },
            () = self.asked.cancel.cancelled() => SessionEnd::Cancelled { sent: true },
        };
        self.serving.stopping.cancel();
        // It is told before its end, so that it stops what it pays for.
        let _ = self.cx.send_notification(CancelNotification::new(session));
        let _ = tokio::time::timeout(GRACE, prompt).await;
        why
    }

    async fn ask<T>(
        &self,
        asked: &'static str,
        answer: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, SessionEnd> {
        tokio::select! {
            answer = tokio::time::timeout(self.asked.starting, answer) => match answer {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => Err(SessionEnd::Refused(self.refused(asked, error))),
                Err(_) => Err(SessionEnd::Late(asked)),
            },
            () = self.asked.cancel.cancelled() => Err(SessionEnd::Cancelled { sent: false }),
        }
    }

    fn refused(&self, asked: &'static str, error: Error) -> RequestRefused {
        RequestRefused { asked, error, logins: self.logins.clone() }
    }

    async fn note(&self, said: &str) {
        let _ = self.serving.observe.send(Observation::Note { line: line(said) }).await;
    }
}

/// The option of this category; some agents name only its id.
fn option<'a>(
    options: &'a [SessionConfigOption],
    category: &SessionConfigOptionCategory,
    id: &str,
) -> Option<&'a SessionConfigOption> {
    let of_category = options.iter().find(|option| option.category.as_ref() == Some(category));
    of_category.or_else(|| options.iter().find(|option| *option.id.0 == *id))
}

fn offers(option: &SessionConfigOption, value: &str) -> bool {
    let SessionConfigKind::Select(select) = &option.kind else { return false };
    match &select.options {
        SessionConfigSelectOptions::Ungrouped(options) => options.iter().any(|o| *o.value.0 == *value),
        SessionConfigSelectOptions::Grouped(groups) => {
            groups.iter().flat_map(|group| &group.options).any(|o| *o.value.0 == *value)
        }
        _ => false,
    }
}
