//! Commands of the project that belong to no run's folder: hooks before a resume. Each runs in the checkout, with a limit
//! on time and on what is kept of its output, and leaves no process behind.
//!
//! Hooks inside a run are effects; the engine decides about them.

use std::path::Path;
use std::time::Duration;

use gadfly_agents::launcher::Exit;
use gadfly_engine::tree::RunEnd;
use gadfly_project::config::HookEvent;
use tokio_util::sync::CancellationToken;

use crate::folder::noted;
use crate::process_env::ProcessEnv;
use crate::service::Gadfly;
use crate::tools::confined::{OUTPUT_KEPT, OutputSink};

/// How a command of the project ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CommandEnded {
    pub end: RunEnd,
    /// The end of what it printed.
    pub output: String,
}

/// A hook that stands in the way, and what it printed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the {event} hook `{command}` failed: {why}")]
pub struct HookFailed {
    pub event: &'static str,
    pub command: String,
    pub why: String,
    pub output: String,
}

/// Runs a command of the project in a folder of the user's.
pub async fn run_in(
    process_env: &ProcessEnv,
    dir: &Path,
    line: &str,
    time: Duration,
) -> Result<CommandEnded, String> {
    let command = process_env.own_command(dir, false).shell(line, dir, Some(time), OutputSink::EndKept);
    let done = process_env.launcher.launch(command, CancellationToken::new()).await;
    let done = done.map_err(|e| format!("`{line}` could not be run: {e}"))?;
    let end = match done.exit {
        Exit::Code(code) => RunEnd::Code(code),
        Exit::Signal(signal) => RunEnd::Signal(signal),
        Exit::TimedOut => RunEnd::TimedOut,
        Exit::Cancelled => return Err(format!("`{line}` was cancelled")),
        Exit::TooMuchMemory | Exit::TooManyProcesses => RunEnd::Signal(9),
        Exit::Overflowed => return Err(format!("`{line}` could not be run: `sh` is no shell")),
    };
    let from = done.stderr.len().saturating_sub(OUTPUT_KEPT);
    let output = String::from_utf8_lossy(done.stderr.get(from..).unwrap_or_default()).into_owned();
    let output = noted(output, done.beside.as_ref());
    Ok(CommandEnded { end, output })
}

impl Gadfly {
    /// Runs what the project wants run before a pipeline is taken up again; the first that fails stands in the way.
    pub async fn before_resume(&self) -> Result<(), HookFailed> {
        let event = HookEvent::BeforeResume;
        let hooks = &self.config().hooks;
        for hook in hooks.of(event) {
            let failed = |why: String, output: String| HookFailed {
                event: event.name(),
                command: hook.value.clone(),
                why,
                output,
            };
            let Some(process_env) = self.process_env() else {
                return Err(failed("programs cannot be started here".to_owned(), String::new()));
            };
            let ended = run_in(&process_env, &self.root().dir, &hook.value, hooks.timeout.value).await;
            let ended = ended.map_err(|why| failed(why, String::new()))?;
            if ended.end != RunEnd::Code(0) {
                return Err(failed(ended.end.to_string(), ended.output));
            }
        }
        Ok(())
    }
}
