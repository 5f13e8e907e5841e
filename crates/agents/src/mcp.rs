//! The client of MCP servers that the user configured: what they offer, and calls of their tools. It judges nothing:
//! what may be called is the engine's business.
//!
//! This file keeps the servers of one run: each is started when it is first needed, has one connection, and is
//! started once more if that dies. `connection` makes and ends a connection, `pipe` and `http` carry messages,
//! `offers` and `said` read what a server says. Everything a server says is hostile: bounded, never believed.

mod connection;
mod http;
mod offers;
mod pipe;
mod said;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex as Held, PoisonError};
use std::time::Duration;

use gadfly_engine::tool::Offered;
use rmcp::model::{CallToolRequestParams, CallToolResponse, JsonObject};
use rmcp::{Peer, RoleClient, ServiceError};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::launcher::Launcher;
use connection::Connection;

/// How long a server may take to start and to greet us, and to list its tools.
const STARTING: Duration = Duration::from_secs(30);
const LISTING: Duration = Duration::from_secs(30);
/// How often a server is started in one run.
const STARTS: u32 = 2;

/// A server as it is configured.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct McpSpec {
    pub name: String,
    /// The program and its arguments; empty if it has a `url`.
    pub command: Vec<String>,
    /// The whole environment of the program: what every program gets, and the variables that its configuration
    /// lists. Nothing is inherited.
    pub env: Vec<(String, String)>,
    /// Where it is reached over HTTP, in place of `command`.
    pub url: Option<String>,
    pub cwd: Option<PathBuf>,
}

/// What a tool answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct McpSaid {
    pub text: String,
    /// The tool, or the server, says that it failed.
    pub is_error: bool,
}

/// The servers of one run. Dropped, it ends them all.
pub struct McpServers {
    servers: BTreeMap<String, ConnectedServer>,
    launcher: Arc<dyn Launcher>,
    notes: Held<BTreeSet<String>>,
    starting: Duration,
}

struct ConnectedServer {
    spec: McpSpec,
    state: Mutex<ConnectionState>,
}

#[derive(Default)]
struct ConnectionState {
    live: Option<Connection>,
    starts: u32,
    /// Why the last connection is no more.
    gone: String,
}

/// One connection, to ask through. It may be dead by the time it is used.
struct ConnectionHandle {
    peer: Peer<RoleClient>,
    over: CancellationToken,
    start: u32,
}

impl std::fmt::Debug for McpServers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("McpServers").field(&self.servers.keys()).finish()
    }
}

impl McpServers {
    /// Starts nothing yet.
    pub fn new(specs: impl IntoIterator<Item = McpSpec>, launcher: Arc<dyn Launcher>) -> Self {
        let server = |spec: McpSpec| (spec.name.clone(), ConnectedServer { spec, state: Mutex::default() });
        let servers = specs.into_iter().map(server).collect();
        Self { servers, launcher, notes: Held::default(), starting: STARTING }
    }

    /// How long a server may take to start and to greet us: 30 seconds if nothing is said.
    pub fn starting_within(mut self, time: Duration) -> Self {
        self.starting = time;
        self
    }

    /// What these servers offer, each tool as `server__tool`. If one of them cannot be asked, the error says so of
    /// each. What was left out is in [`Self::notes`].
    pub async fn tools(&self, names: &[String]) -> Result<Vec<Offered>, String> {
        let (mut offered, mut failed) = (Vec::new(), Vec::new());
        for name in names.iter().collect::<BTreeSet<_>>() {
            match self.tools_of(name).await {
                Ok(tools) => offered.extend(tools),
                Err(why) => failed.push(why),
            }
        }
        if failed.is_empty() { Ok(offered) } else { Err(failed.join("; ")) }
    }

    /// What of the servers' tools was left out or shortened so far, as sentences.
    pub fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Calls a tool. An error is a sentence and means that nobody knows what the call did; what a tool says of its
    /// own failure is an answer.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        args_json: &str,
        time: Duration,
        cancel: &CancellationToken,
    ) -> Result<McpSaid, String> {
        let known = self.server(server)?;
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = arguments(tool, args_json)?;
        let cancelled = || format!("the call of `{tool}` of MCP server `{server}` was cancelled");
        let line = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(cancelled()),
            line = self.line(known) => line?,
        };
        tokio::select! {
            biased;
            answer = line.peer.call_tool_once(params) => match answer {
                Ok(CallToolResponse::Complete(result)) => Ok(said::of(&result)),
                Ok(_) => Err(format!(
                    "`{tool}` of MCP server `{server}` wants more than one exchange, which is not offered"
                )),
                Err(ServiceError::McpError(refused)) => Ok(said::refused(&refused)),
                Err(error) => Err(known.failed(&line, &format!("the call of `{tool}`"), &error).await),
            },
            () = line.over.cancelled() => Err(known.died(&line, &format!("the call of `{tool}`")).await),
            () = cancel.cancelled() => Err(cancelled()),
            () = tokio::time::sleep(time) => Err(format!(
                "`{tool}` of MCP server `{server}` did not answer within {time:?}"
            )),
        }
    }

    /// Ends all servers and sees them to their end. They may be used again after it, as far as starts are left.
    pub async fn close(&self) {
        let closing = self.servers.values().map(|server| async {
            let live = server.state.lock().await.live.take();
            if let Some(live) = live {
                live.close().await;
            }
        });
        futures_util::future::join_all(closing).await;
    }

    async fn tools_of(&self, name: &str) -> Result<Vec<Offered>, String> {
        let server = self.server(name)?;
        // Listing changes nothing: a server that dies of it is asked again.
        loop {
            let line = self.line(server).await?;
            let listed = tokio::select! {
                biased;
                listed = offers::list(&line.peer) => listed,
                () = line.over.cancelled() => {
                    let why = server.died(&line, "the list of its tools").await;
                    if line.start < STARTS {
                        continue;
                    }
                    return Err(why);
                }
                () = tokio::time::sleep(LISTING) => {
                    return Err(format!("MCP server `{name}` did not list its tools within {LISTING:?}"));
                }
            };
            let tools = match listed {
                Ok(tools) => tools,
                Err(error) => return Err(server.failed(&line, "the list of its tools", &error).await),
            };
            let (offered, notes) = offers::read(name, tools);
            self.notes.lock().unwrap_or_else(PoisonError::into_inner).extend(notes);
            return Ok(offered);
        }
    }

    /// The connection, made anew if there is none. Whoever asks at the same time waits for the same one.
    async fn line(&self, server: &ConnectedServer) -> Result<ConnectionHandle, String> {
        let name = &server.spec.name;
        let mut state = server.state.lock().await;
        if state.live.as_ref().is_some_and(Connection::is_over) {
            state.bury(name, "the time between two calls").await;
        }
        if state.live.is_none() {
            if state.starts >= STARTS {
                let gone = &state.gone;
                return Err(format!("MCP server `{name}` is not started a third time in one run: {gone}"));
            }
            state.starts += 1;
            match Connection::open(&server.spec, self.launcher.as_ref(), self.starting).await {
                Ok(live) => state.live = Some(live),
                Err(why) => {
                    state.gone.clone_from(&why);
                    return Err(why);
                }
            }
        }
        let start = state.starts;
        let live = state.live.as_ref().ok_or_else(|| format!("MCP server `{name}` is gone"))?;
        Ok(ConnectionHandle { peer: live.peer(), over: live.over(), start })
    }

    fn server(&self, name: &str) -> Result<&ConnectedServer, String> {
        self.servers.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.servers.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("there is no MCP server `{name}`; configured: {known}")
        })
    }
}

impl ConnectedServer {
    async fn failed(&self, line: &ConnectionHandle, during: &str, error: &ServiceError) -> String {
        if line.over.is_cancelled() || matches!(error, ServiceError::TransportClosed) {
            return self.died(line, during).await;
        }
        format!("MCP server `{}` failed in {during}: {}", self.spec.name, connection::chain(error))
    }

    async fn died(&self, line: &ConnectionHandle, during: &str) -> String {
        let mut state = self.state.lock().await;
        // Another call may have found it dead, and started it anew.
        if state.starts == line.start && state.live.is_some() {
            state.bury(&self.spec.name, during).await;
        }
        state.gone.clone()
    }
}

impl ConnectionState {
    async fn bury(&mut self, name: &str, during: &str) {
        if let Some(dead) = self.live.take() {
            self.gone = format!("MCP server `{name}` was lost in {during}: {}", dead.reason().await);
        }
    }
}

fn arguments(tool: &str, json: &str) -> Result<Option<JsonObject>, String> {
    if json.trim().is_empty() {
        return Ok(None);
    }
    serde_json::from_str(json).map_err(|e| format!("the arguments of `{tool}` must be a JSON object: {e}"))
}
