//! Runs one command through the launcher: what an embedding program does, and what the tests re-execute.
//!
//! `launch-probe PROGRAM ARGS…` gives the command this process's `PATH`, closes its stdin and exits with its
//! code. The launcher's tests use this binary as supervisor, and kill it to see that nothing survives it.

use std::io::Write;
use std::process::ExitCode;

use gadfly_agents::launcher::{Command, Exit, Launcher};
use gadfly_runtime::os::{ProcessLauncher, supervise};
use tokio_util::sync::CancellationToken;

fn main() -> ExitCode {
    supervise();
    match run() {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "launch-probe: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("name a program to run")?;
    let env = std::env::var("PATH").map(|path| ("PATH".to_owned(), path)).into_iter().collect();
    let command = Command {
        program,
        args: args.collect(),
        env,
        cwd: Some(std::env::current_dir()?),
        stdin: Vec::new(),
        time: None,
        max_output: 1 << 20,
        ..Command::default()
    };
    let launcher = ProcessLauncher::this_program()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let finished = runtime.block_on(launcher.launch(command, CancellationToken::new()))?;
    std::io::stdout().write_all(&finished.stdout)?;
    std::io::stderr().write_all(&finished.stderr)?;
    Ok(match finished.exit {
        Exit::Code(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        _ => ExitCode::FAILURE,
    })
}
