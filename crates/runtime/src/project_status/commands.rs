//! The commands a gate asks, run in the user's checkout: bounded in time and in what is kept of their output, with
//! no secret in their environment and no process left behind.

use std::sync::Arc;

use gadfly_agents::launcher::Exit;
use gadfly_engine::pipeline::Gate;
use gadfly_engine::tree::RunEnd;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::folder::noted;
use crate::process_env::ProcessEnv;
use crate::setup::Setup;
use crate::tools::confined::OutputSink;

/// How one command of a gate ended.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct CommandRan {
    pub name: String,
    pub command: String,
    /// The exit code that passes.
    pub expected: i32,
    /// None if it could not be run.
    pub end: Option<RunEnd>,
    /// The end of what it said, or why it could not be run.
    pub said: String,
}

impl CommandRan {
    pub fn passes(&self) -> bool {
        self.end == Some(RunEnd::Code(self.expected))
    }

    /// Why the gate stays closed, in one line; none if the command passes.
    pub fn blocking(&self) -> Option<String> {
        let name = &self.name;
        match self.end {
            _ if self.passes() => None,
            Some(end) => Some(format!(
                "{name}: `{}` ended with {end}, needs exit code {}",
                self.command, self.expected
            )),
            None => Some(format!("{name}: `{}` could not be run: {}", self.command, self.said)),
        }
    }
}

impl Setup {
    /// Runs the commands of a gate, one after the other; all of them, whatever the first says.
    pub async fn gate_commands(&self, gate: &Gate) -> Vec<CommandRan> {
        let (resolver, dir) = (self.resolver(), &self.root.dir);
        let process_env = resolver
            .launcher
            .map(|launcher| ProcessEnv::new(Arc::clone(launcher), resolver.env, resolver.config));
        let time = self.config.project.verify.timeout.value;
        let mut all = Vec::with_capacity(gate.commands.len());
        for asked in &gate.commands {
            let ran = |end, said| CommandRan {
                name: asked.name.clone(),
                command: asked.command.clone(),
                expected: asked.exit,
                end,
                said,
            };
            let Some(process_env) = &process_env else {
                all.push(ran(None, "programs cannot be started here".to_owned()));
                continue;
            };
            let held = process_env.own_command(dir, true);
            let command = held.shell(&asked.command, dir, Some(time), OutputSink::EndKept);
            all.push(match process_env.launcher.launch(command, CancellationToken::new()).await {
                Err(error) => ran(None, error.to_string()),
                Ok(done) => {
                    let said = String::from_utf8_lossy(&done.stderr).into_owned();
                    let said = noted(said, done.beside.as_ref());
                    match done.exit {
                        Exit::Code(code) => ran(Some(RunEnd::Code(code)), said),
                        Exit::Signal(signal) => ran(Some(RunEnd::Signal(signal)), said),
                        Exit::TimedOut => ran(Some(RunEnd::TimedOut), said),
                        Exit::TooMuchMemory | Exit::TooManyProcesses => ran(Some(RunEnd::Signal(9)), said),
                        Exit::Cancelled => ran(None, "it was called off".to_owned()),
                        Exit::Overflowed => ran(None, "`sh` is no shell".to_owned()),
                    }
                }
            });
        }
        all
    }
}
