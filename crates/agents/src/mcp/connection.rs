//! One connection to a server, from its start to its end: the program behind it, and why it is no more.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::RunningService;
use rmcp::transport::IntoTransport;
use rmcp::{Peer, RoleClient, ServiceExt};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::pipe::{self, Pipe, PipeReader, PipeWriter, StrayOutput};
use super::{McpSpec, http};
use crate::launcher::{Command, Exit, Finished, LaunchError, Launcher, StdinSource};
use crate::process::tail;

/// What a server may write in one run, all messages together.
const MAX_STREAM: usize = 1 << 30;
/// How long a server may take to end by itself once its input has ended, and once it was stopped.
const FAREWELL: Duration = Duration::from_secs(1);
const ENDING: Duration = Duration::from_secs(5);
/// How long one that could not be greeted is looked at.
const LINGERING: Duration = Duration::from_millis(300);

pub(super) struct Connection {
    service: RunningService<RoleClient, ClientConfig>,
    over: CancellationToken,
    heard: Arc<Mutex<StrayOutput>>,
    /// None behind a URL.
    program: Option<ServerProgram>,
}

/// Dropped, it ends the program.
struct ServerProgram {
    end: BoxFuture<'static, Result<Finished, LaunchError>>,
    stop: CancellationToken,
    _ends: DropGuard,
}

impl Connection {
    pub async fn open(spec: &McpSpec, launcher: &dyn Launcher, time: Duration) -> Result<Self, String> {
        let (over, heard) = (CancellationToken::new(), Arc::<Mutex<StrayOutput>>::default());
        if let Some(url) = &spec.url {
            let service = greet(http::transport(url, Arc::clone(&heard))?, time).await;
            let service = service.map_err(|why| format!("MCP server `{}` at {url} {why}", spec.name))?;
            return Ok(Self { service, over, heard, program: None });
        }
        let (input, output, mut program) = start(spec, launcher).await?;
        let pipe = Pipe::new(input, output, Arc::clone(&heard), over.clone());
        match greet(pipe, time).await {
            Ok(service) => Ok(Self { service, over, heard, program: Some(program) }),
            Err(why) if over.is_cancelled() => {
                let ended = program.ended(&heard).await;
                Err(format!("MCP server `{}` {why}: {ended}", spec.name))
            }
            // Its end may be seen a moment after what it no longer reads.
            Err(why) => Err(match tokio::time::timeout(LINGERING, &mut program.end).await {
                Ok(Ok(done)) => {
                    let ended = how(done.exit) + &tail(&done.stderr);
                    format!("MCP server `{}` {why}: {ended}{}", spec.name, noise(&heard))
                }
                _ => format!("MCP server `{}` {why}{}", spec.name, noise(&heard)),
            }),
        }
    }

    pub fn peer(&self) -> Peer<RoleClient> {
        self.service.peer().clone()
    }

    /// Cancelled when the server says nothing more.
    pub fn over(&self) -> CancellationToken {
        self.over.clone()
    }

    pub fn is_over(&self) -> bool {
        self.over.is_cancelled() || self.service.peer().is_transport_closed()
    }

    /// Why it is no more.
    pub async fn reason(mut self) -> String {
        match &mut self.program {
            Some(program) => program.ended(&self.heard).await,
            None => overlong(&self.heard).unwrap_or_else(|| "the connection was closed".to_owned()),
        }
    }

    pub async fn close(mut self) {
        let _ = self.service.close_with_timeout(FAREWELL).await;
        if let Some(mut program) = self.program
            && tokio::time::timeout(FAREWELL, &mut program.end).await.is_err()
        {
            program.stop.cancel();
            let _ = tokio::time::timeout(ENDING, program.end).await;
        }
    }
}

impl ServerProgram {
    /// How it ended; it is stopped if it has not.
    async fn ended(&mut self, heard: &Mutex<StrayOutput>) -> String {
        if let Some(why) = overlong(heard) {
            self.stop.cancel();
            return why;
        }
        let end = tokio::time::timeout(FAREWELL, &mut self.end).await;
        if end.is_err() {
            self.stop.cancel();
        }
        let how = match end {
            Ok(Ok(done)) => how(done.exit) + &tail(&done.stderr),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output and was stopped".to_owned(),
        };
        how + &noise(heard)
    }
}

fn overlong(heard: &Mutex<StrayOutput>) -> Option<String> {
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    heard.overlong.then(|| format!("it sent a message of more than {} bytes", pipe::MAX_LINE))
}

fn noise(heard: &Mutex<StrayOutput>) -> String {
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    heard.noise.as_ref().map_or_else(String::new, |line| format!("; it wrote: {line}"))
}

fn how(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("it ended with exit code {code}"),
        Exit::Signal(signal) => format!("it was ended by signal {signal}"),
        Exit::TimedOut => "its time was up".to_owned(),
        Exit::Cancelled => "it was stopped".to_owned(),
        Exit::Overflowed => format!("it wrote more than {MAX_STREAM} bytes and was stopped"),
        Exit::TooMuchMemory => "it used too much memory and was stopped".to_owned(),
        Exit::TooManyProcesses => "it had too many processes and was stopped".to_owned(),
    }
}

async fn start(
    spec: &McpSpec,
    launcher: &dyn Launcher,
) -> Result<(PipeWriter, PipeReader, ServerProgram), String> {
    let unstarted = |why: String| format!("MCP server `{}` could not be started: {why}", spec.name);
    let Some((program, args)) = spec.command.split_first() else {
        return Err(unstarted("it has neither a command nor a url".to_owned()));
    };
    let command = Command {
        program: program.clone(),
        args: args.to_vec(),
        env: spec.env.clone(),
        cwd: spec.cwd.clone(),
        max_output: MAX_STREAM,
        ..Command::default()
    };
    let stop = CancellationToken::new();
    let ends = stop.clone().drop_guard();
    let talk = launcher
        .talk(command, StdinSource::Open, stop.clone())
        .await
        .map_err(|e| unstarted(e.to_string()))?;
    let Some(input) = talk.input else {
        return Err(unstarted("the launcher gave no way to write to it".to_owned()));
    };
    Ok((input, talk.output, ServerProgram { end: talk.end, stop, _ends: ends }))
}

async fn greet<T, E, A>(
    transport: T,
    time: Duration,
) -> Result<RunningService<RoleClient, ClientConfig>, String>
where
    T: IntoTransport<RoleClient, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let us = Implementation::new("gadfly", env!("CARGO_PKG_VERSION"));
    let us = ClientConfig::new(ClientCapabilities::default(), us);
    match tokio::time::timeout(time, us.serve(transport)).await {
        Ok(greeted) => greeted.map_err(|e| format!("could not be greeted ({})", chain(&e))),
        Err(_) => Err(format!("did not greet us within {time:?}; does it speak MCP?")),
    }
}

/// An error with its causes, bounded: servers have a say in some of them.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let (mut said, mut cause) = (error.to_string(), error.source());
    while let Some(inner) = cause.filter(|_| said.len() < 1000) {
        let inner_said = inner.to_string();
        if !said.contains(&inner_said) {
            said = format!("{said}: {inner_said}");
        }
        cause = inner.source();
    }
    said.chars().take(1000).collect()
}
