//! Runs a command to its end and remembers a bounded part of what it says, both streams in the order they were
//! written. Nothing it started survives it: that is the launcher's business.

use std::path::Path;
use std::time::Duration;

use gadfly_agents::launcher::{ErrorNote, Exit, LaunchError, Launcher, StdinSource, Talk};
use gadfly_engine::tree::RunEnd;
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use super::confined::{self, Confined};
use super::kept::KeptOutput;

const CHUNK: usize = 32 << 10;

/// How a command ended.
pub struct EndedCommand {
    pub end: RunEnd,
    pub output: KeptOutput,
}

#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    #[error("called off")]
    Cancelled,
    #[error("the command could not be run: {0}")]
    Failed(#[from] LaunchError),
}

pub async fn run(
    launcher: &dyn Launcher,
    line: &str,
    dir: &Path,
    confined: Confined,
    time: Duration,
    cancel: &CancellationToken,
) -> Result<EndedCommand, NotRun> {
    let held = confined.sandbox.clone();
    let command = confined.shell(line, dir, Some(time), confined::OutputSink::Read);
    let Talk { input: _, output: mut said, end } =
        launcher.talk(command, StdinSource::Given, cancel.clone()).await?;
    let mut output = KeptOutput::of_a_command();
    let mut chunk = vec![0_u8; CHUNK];
    // An error on a pipe of ours means the same as its end: nothing more will come.
    while let Ok(read @ 1..) = said.read(&mut chunk).await {
        output.add(chunk.get(..read).unwrap_or_default());
    }
    let done = end.await?;
    let (end, note) = match done.exit {
        Exit::Code(code) => (RunEnd::Code(code), None),
        Exit::Signal(signal) => (RunEnd::Signal(signal), None),
        Exit::TimedOut => {
            let seconds = (time.as_secs_f64() * 10.0).round() / 10.0;
            (RunEnd::TimedOut, Some(format!("it did not end within {seconds} s and was stopped")))
        }
        Exit::Cancelled => return Err(NotRun::Cancelled),
        Exit::TooMuchMemory => {
            let used = done.peak.memory_bytes >> 20;
            (
                RunEnd::Signal(9),
                Some(format!("it used {used} MB of memory, which is too much, and was stopped")),
            )
        }
        Exit::TooManyProcesses => {
            let processes = done.peak.processes;
            (
                RunEnd::Signal(9),
                Some(format!("it had {processes} processes, which is too many, and was stopped")),
            )
        }
        Exit::Overflowed => (RunEnd::Signal(9), Some("it wrote too much and was stopped".to_owned())),
    };
    let beside = held.and_then(|sandbox| sandbox.beside(done.exit, output.end()));
    if let Some(ErrorNote { text, .. }) = beside.filter(|beside| beside.complains) {
        let newline = if output.end().is_empty() || output.end().ends_with(b"\n") { "" } else { "\n" };
        output.add(format!("{newline}[{text}]\n").as_bytes());
    }
    if let Some(note) = note {
        output.add(format!("\n[{note}, with everything it started]\n").as_bytes());
    }
    Ok(EndedCommand { end, output })
}
