//! An agent that speaks the Agent Client Protocol (version 1, the official crate's agent side) and does what
//! its words say. No model, no wits.
//!
//! What it is like:
//!
//! | word | means |
//! |---|---|
//! | `mute` | answers nothing, not even `initialize` |
//! | `exits-after-hello` | ends with exit code 3 after `initialize` |
//! | `needs-login` | answers `session/new` with the error for that |
//! | `login-by=ID` | does so until it was asked to log in that way |
//! | `session=ID` | the id of its new sessions (`session-1`) |
//! | `loads`, `resumes` | can do `session/load` (and tells the history again), `session/resume` |
//! | `refuses-resume` | says that it can, and does not know the method |
//! | `forgets` | but does not know the session |
//! | `lingers` | does not end when its input does |
//! | `modes=A,B` | offers modes; `mode-option=A,B`: as a config option |
//! | `models=A,B` | offers models as a config option |
//! | `usage=IN,OUT,CACHE_READ,CACHE_WRITE,THOUGHT,TOTAL` | says so at the end of its turn |
//! | `quota=IN,OUT,MODEL` | says so the way Gemini does |
//! | `stop=REASON` | ends its turn so (`end_turn`) |
//!
//! What it does when prompted, in this order:
//!
//! | word | does |
//! |---|---|
//! | `say=TEXT`, `message=ID:TEXT` | says it; the second with a message id |
//! | `think=TEXT` | thinks it |
//! | `echo` | says its prompt |
//! | `circumstances` | says its folder, mode, model, session and what its client can do |
//! | `tool=KIND:TITLE` | tells of a tool call; `announce=…`: of one that does not begin |
//! | `ask=KIND:TITLE` | asks for permission and says the answer; `ask-only-allow=…`: offers no refusal |
//! | `ask-late=KIND:TITLE` | asks once it was cancelled, and writes the answer to the file `told` |
//! | `read=PATH`, `read=PATH#LINE,LIMIT`, `write=PATH:TEXT` | through its client; says what came of it |
//! | `own-write=PATH:TEXT` | by itself, without asking; says what came of it |
//! | `run=COMMAND` | in a terminal of its client's; says output and exit; `leave=COMMAND`: does not wait |
//! | `hang`, `hang-hard` | until it is cancelled; for ever |
//! | `crash=CODE` | ends |
//! | `noise=TEXT` | writes a line that is no message |
//! | `huge=BYTES` | says so much; `long-line=BYTES`: a message of that size |
//! | `cost=USD` | says what the session cost so far |
//! | `unknown-update` | sends an update nobody knows |
//! | `error=CODE`, `error=CODE:KIND` | answers the prompt with this error, with `errorKind` |
//! | `when=TEXT` | does what follows, up to the next `when`, if its prompt holds this text; of several, the first that holds counts |

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthMethod, AuthMethodAgent, AuthenticateRequest, AuthenticateResponse,
    CancelNotification, ClientCapabilities, InitializeRequest, InitializeResponse, LoadSessionRequest,
    LoadSessionResponse, NewSessionRequest, NewSessionResponse, PromptRequest, ResumeSessionRequest,
    ResumeSessionResponse, SessionCapabilities, SessionConfigOption, SessionConfigOptionCategory,
    SessionConfigSelectOption, SessionMode, SessionModeState, SessionNotification, SessionResumeCapabilities,
    SessionUpdate, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::v1::{ConnectionTo, schema as acp};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, watch};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

pub use script::{AcpAction, AcpScript};

mod actions;
mod script;

type ToClient = ConnectionTo<Client>;

/// What the agent knows while it serves.
struct Life {
    script: AcpScript,
    client: Mutex<ClientCapabilities>,
    folder: Mutex<PathBuf>,
    mode: Mutex<String>,
    model: Mutex<String>,
    session: Mutex<String>,
    logged_in: AtomicBool,
    tools: AtomicU64,
    /// The turn under way was cancelled.
    cancelled: watch::Sender<bool>,
    /// Set to the exit code when it is to end.
    exit: watch::Sender<Option<i32>>,
    /// Lines for standard output that are no messages.
    raw: mpsc::Sender<Vec<u8>>,
}

/// Serves until its input ends; the exit code of the process it should be.
pub async fn serve(
    script: AcpScript,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin,
) -> i32 {
    let (raw, raws) = mpsc::channel(16);
    let (exit, mut exits) = watch::channel(None);
    let lingers = script.lingers;
    let life = Arc::new(Life {
        session: Mutex::new(script.session.clone()),
        logged_in: AtomicBool::new(!script.needs_login && script.login_by.is_none()),
        script,
        client: Mutex::default(),
        folder: Mutex::default(),
        mode: Mutex::default(),
        model: Mutex::default(),
        tools: AtomicU64::new(0),
        cancelled: watch::channel(false).0,
        exit,
        raw,
    });
    let (near, far) = tokio::io::duplex(64 * 1024);
    let serving = async {
        let served = connect(input, near, life).await;
        if lingers {
            std::future::pending::<()>().await;
        }
        i32::from(served.is_err())
    };
    let writing = write_all(output, far, raws);
    let exiting = async {
        let code = exits.wait_for(Option::is_some).await.ok().and_then(|code| *code);
        match code {
            Some(code) => code,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        code = serving => code,
        code = exiting => code,
        () = writing => 0,
    }
}

/// Messages and raw lines, one after the other.
async fn write_all(
    mut output: impl AsyncWrite + Unpin,
    messages: impl AsyncRead + Unpin,
    mut raws: mpsc::Receiver<Vec<u8>>,
) {
    let mut messages = BufReader::new(messages);
    let mut line = Vec::new();
    loop {
        let wrote = tokio::select! {
            biased;
            Some(raw) = raws.recv() => output.write_all(&raw).await,
            // What was read of a line stays in `line` if the other branch is first.
            read = messages.read_until(b'\n', &mut line) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let wrote = output.write_all(&line).await;
                    line.clear();
                    wrote
                }
            },
        };
        if wrote.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

impl Life {
    fn hello(&self, hello: InitializeRequest) -> InitializeResponse {
        *self.client.lock().unwrap_or_else(PoisonError::into_inner) = hello.client_capabilities;
        let mut sessions = SessionCapabilities::new();
        if self.script.resumes {
            sessions = sessions.resume(SessionResumeCapabilities::new());
        }
        let can = AgentCapabilities::new().load_session(self.script.loads).session_capabilities(sessions);
        InitializeResponse::new(hello.protocol_version)
            .agent_capabilities(can)
            .auth_methods(vec![AuthMethod::Agent(AuthMethodAgent::new("login", "acp-agent login"))])
    }

    fn enter(&self, folder: PathBuf, session: Option<&acp::SessionId>) {
        *self.folder.lock().unwrap_or_else(PoisonError::into_inner) = folder;
        if let Some(session) = session {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = session.0.to_string();
        }
    }

    fn modes(&self) -> Option<SessionModeState> {
        let modes: Vec<_> =
            self.script.modes.iter().map(|id| SessionMode::new(id.clone(), id.clone())).collect();
        let first = self.script.modes.first()?.clone();
        Some(SessionModeState::new(first, modes))
    }

    fn options(&self) -> Vec<SessionConfigOption> {
        let select = |id: &str, values: &[String], category| {
            let options: Vec<_> = values
                .iter()
                .map(|value| SessionConfigSelectOption::new(value.clone(), value.clone()))
                .collect();
            let first = values.first()?.clone();
            let option = SessionConfigOption::select(id.to_owned(), id.to_owned(), first, options);
            Some(option.category(category))
        };
        let mode = select("mode", &self.script.mode_option, SessionConfigOptionCategory::Mode);
        let model = select("model", &self.script.models, SessionConfigOptionCategory::Model);
        mode.into_iter().chain(model).collect()
    }

    fn set(&self, asked: &SetSessionConfigOptionRequest) {
        let Some(value) = asked.value.as_value_id() else { return };
        let option = if *asked.config_id.0 == *"mode" { &self.mode } else { &self.model };
        *option.lock().unwrap_or_else(PoisonError::into_inner) = value.0.to_string();
    }

    fn known(&self, session: &acp::SessionId) -> Result<(), Error> {
        if self.script.forgets { Err(acp::Error::session_not_found(session.clone()).into()) } else { Ok(()) }
    }

    fn next(&self) -> u64 {
        self.tools.fetch_add(1, Ordering::Relaxed)
    }
}

async fn connect(
    input: impl AsyncRead + Send + 'static,
    output: impl AsyncWrite + Send + 'static,
    life: Arc<Life>,
) -> Result<(), Error> {
    let of = || Arc::clone(&life);
    let agent = Agent.v1().name("acp-agent");
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: InitializeRequest, responder, cx: ToClient| {
                if life.script.mute {
                    return cx.spawn(async move {
                        let _kept = responder;
                        std::future::pending().await
                    });
                }
                let done = responder.respond(life.hello(asked));
                if life.script.exits_after_hello {
                    let _ = life.exit.send(Some(3));
                }
                done
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: AuthenticateRequest, responder, _cx| {
                if life.script.login_by.as_deref() != Some(&*asked.method_id.0) {
                    return responder.respond_with_error(Error::auth_required());
                }
                life.logged_in.store(true, Ordering::SeqCst);
                responder.respond(AuthenticateResponse::new())
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: NewSessionRequest, responder, _cx| {
                if !life.logged_in.load(Ordering::SeqCst) {
                    return responder.respond_with_error(Error::auth_required());
                }
                life.enter(asked.cwd, None);
                let new = NewSessionResponse::new(life.script.session.clone());
                responder.respond(new.modes(life.modes()).config_options(life.options()))
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: LoadSessionRequest, responder, cx: ToClient| {
                if let Err(error) = life.known(&asked.session_id) {
                    return responder.respond_with_error(error);
                }
                let id = asked.session_id.clone();
                life.enter(asked.cwd, Some(&id));
                for update in actions::history() {
                    cx.send_notification(SessionNotification::new(id.clone(), update))?;
                }
                responder
                    .respond(LoadSessionResponse::new().modes(life.modes()).config_options(life.options()))
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: ResumeSessionRequest, responder, _cx| {
                if life.script.refuses_resume {
                    return responder.respond_with_error(Error::method_not_found());
                }
                if let Err(error) = life.known(&asked.session_id) {
                    return responder.respond_with_error(error);
                }
                life.enter(asked.cwd, Some(&asked.session_id));
                let same = ResumeSessionResponse::new();
                responder.respond(same.modes(life.modes()).config_options(life.options()))
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: SetSessionModeRequest, responder, _cx| {
                *life.mode.lock().unwrap_or_else(PoisonError::into_inner) = asked.mode_id.0.to_string();
                responder.respond(SetSessionModeResponse::new())
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: SetSessionConfigOptionRequest, responder, _cx| {
                life.set(&asked);
                responder.respond(SetSessionConfigOptionResponse::new(life.options()))
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_request(
        {
            let life = of();
            async move |asked: PromptRequest, responder, cx: ToClient| {
                let turn = actions::Prompted::new(of_turn(&life), cx.clone(), asked);
                cx.spawn(async move {
                    let _ = responder.respond_with_result(turn.answer().await);
                    Ok(())
                })
            }
        },
        on_receive_request!(),
    );
    let agent = agent.on_receive_notification(
        {
            let life = of();
            async move |_cancel: CancelNotification, _cx| {
                life.cancelled.send_replace(true);
                Ok(())
            }
        },
        on_receive_notification!(),
    );
    agent.connect_to(ByteStreams::new(output.compat_write(), input.compat())).await
}

fn of_turn(life: &Arc<Life>) -> Arc<Life> {
    life.cancelled.send_replace(false);
    Arc::clone(life)
}

/// An update of one piece of text.
fn said(text: impl Into<String>) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(acp::ContentChunk::new(acp::ContentBlock::Text(acp::TextContent::new(
        text,
    ))))
}
