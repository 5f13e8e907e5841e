//! An agent that somebody else talks to: started under a supervisor like every child, so that it ends when we do, but with
//! the environment, folder and rights of the user, whose agent it is. Its streams are handed on as they are.

use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use gadfly_agents::launcher::{Command, Exit, Launcher, StdinSource};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::agents::Env;
use crate::os::NoSupervisor;

/// How much of its last words is told.
const LAST_WORDS: usize = 2_000;

/// An agent at work. Dropped, it ends with all it started.
pub struct AgentStreams {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// How it ended, if not well: in words, with the end of its standard error.
    pub end: BoxFuture<'static, Option<String>>,
}

pub(crate) async fn start(
    launcher: Option<&Arc<dyn Launcher>>,
    env: &Env,
    words: &[String],
) -> Result<AgentStreams, String> {
    let launcher = launcher.ok_or_else(|| NoSupervisor.to_string())?;
    let (program, args) = words.split_first().ok_or("no agent is named")?;
    let here = std::env::current_dir().map_err(|e| format!("the working directory cannot be read: {e}"))?;
    let command = Command {
        program: program.clone(),
        args: args.to_vec(),
        env: env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        cwd: Some(here),
        max_output: usize::MAX,
        ..Command::default()
    };
    let talk = launcher.talk(command, StdinSource::Open, CancellationToken::new()).await;
    let talk = talk.map_err(|e| e.to_string())?;
    let input = talk.input.ok_or("the launcher gave no way to write to the agent")?;
    let name = program.clone();
    let end = talk.end.map(move |ended| match ended {
        Ok(ended) if ended.exit == Exit::Code(0) => None,
        Ok(ended) => {
            let said = String::from_utf8_lossy(&ended.stderr);
            let from = said.char_indices().rev().nth(LAST_WORDS).map_or(0, |(at, _)| at);
            let how = match ended.exit {
                Exit::Code(code) => format!("exit code {code}"),
                other => format!("{other:?}"),
            };
            Some(format!("`{name}` ended with {how}. {}", said[from..].trim()))
        }
        Err(e) => Some(e.to_string()),
    });
    Ok(AgentStreams { input, output: talk.output, end: end.boxed() })
}
