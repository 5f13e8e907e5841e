//! What takes place in the run's own network beside its commands: processes that stay up, and the question whether a server
//! answers that only the run can reach.

use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Network};
use gadfly_agents::local_get;
use gadfly_engine::tool::{Process, ToolEnd, WHOLE};

use super::{ActionOutcome, ToolTask, ToolView, done};
use crate::folder::{Folder, FolderError, Inside};
use crate::os;
use crate::sandbox;

impl ToolTask {
    pub(super) async fn process(
        &self,
        inside: Option<(Arc<Folder>, Inside)>,
        process: &Process,
    ) -> Result<ActionOutcome, FolderError> {
        let processes = &self.tools.processes;
        let (name, line) = match process {
            Process::List => return Ok(done(Ok(processes.list()))),
            Process::Log { name } => return Ok(done(processes.log(name))),
            Process::Stop { name } => return Ok(done(processes.stop(name).await)),
            Process::Start { name, line } => (name.as_str(), line.as_str()),
        };
        let Some((folder, inside)) = inside else { return Ok(Err("there is no folder for it".to_owned())) };
        let dir = inside.workspace.dir();
        // Where commands use the network of this machine a server must, too.
        let network = sandbox::network(self.wanted.network, true);
        let confined = if self.wanted.beyond {
            folder.unconfined(&inside)
        } else {
            folder.confined(&inside, &self.tools.own, network)?
        };
        drop(inside);
        let launcher = folder.launcher_of_processes();
        Ok(done(processes.start(&*launcher, (name, line), &dir, confined).await))
    }

    /// A check asks a server on this machine: it may be one that the worker started.
    pub(super) fn is_asked_inside(&self, url: &str) -> bool {
        let has = self.folder.as_ref().is_ok_and(|folder| folder.has_own_network());
        self.wanted.whole && has && local_get::local(url).is_some()
    }

    /// Asks from within the run's network. If nobody listens there it is asked from here, as it would be otherwise.
    pub(super) async fn ask_inside(
        &self,
        inside: Option<(Arc<Folder>, Inside)>,
        url: &str,
        time: Duration,
    ) -> Result<ActionOutcome, FolderError> {
        let outside = || self.tools.remote.page(url, time, &self.cancel);
        let (Some((folder, inside)), Some(program)) = (inside, os::own_program()) else {
            return Ok(outside().await);
        };
        let dir = inside.workspace.dir();
        let mut confined = folder.confined(&inside, &self.tools.own, Network::None)?;
        drop(inside);
        if let Some(sandbox) = &mut confined.sandbox {
            sandbox.read.push(program.clone());
        }
        let command = Command {
            program: program.to_string_lossy().into_owned(),
            args: vec![os::SUPERVISE.to_owned(), local_get::GET.to_owned(), url.to_owned()],
            env: confined.env,
            cwd: Some(dir),
            time: Some(time),
            max_output: WHOLE,
            sandbox: confined.sandbox,
            most: confined.most,
            ..Command::default()
        };
        let launcher = folder.launcher_of_processes();
        let asked = match launcher.launch(command, self.cancel.clone()).await {
            Ok(asked) => asked,
            Err(why) => return Ok(Err(why.to_string())),
        };
        Ok(match (asked.exit, local_get::answer(&asked.stdout)) {
            (Exit::Cancelled, _) => return Err(FolderError::Cancelled),
            (Exit::Code(local_get::NOBODY), _) => outside().await,
            (Exit::Code(0), Some((status, body))) => Ok((ToolEnd::Status(status), ToolView::Whole(body))),
            (Exit::Code(0), None) => Err("what answers there is no web server".to_owned()),
            _ => Err(String::from_utf8_lossy(&asked.stderr).trim().to_owned()),
        })
    }
}
