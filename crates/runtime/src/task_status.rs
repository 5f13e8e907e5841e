//! The status of a task in its project's own list: `done` once its work is with the user, `pending` again where that was
//! taken back. A rendering: if it cannot be written, the run's record has the same.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use gadfly_engine::input::Start;
use gadfly_engine::manifest::{PlannedWrite, RunManifest};
use gadfly_journal::RunId;
use gadfly_journal::critic_log;
use gadfly_project::{adapter, file};

use crate::save::write_atomically;

/// A task whose status a run keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeptStatus {
    project: PathBuf,
    task: String,
    run: RunId,
}

impl KeptStatus {
    pub fn of(start: &Start, run: &RunId) -> Option<Self> {
        Self::among(&RunManifest::of(&start.plan).writes, start, run)
    }

    /// As `of`, where it is known what the plan writes.
    pub fn among(writes: &[PlannedWrite], start: &Start, run: &RunId) -> Option<Self> {
        let task = writes.iter().find_map(|write| match write {
            PlannedWrite::TaskStatus(task) => Some(task.clone()),
            _ => None,
        })?;
        let project = PathBuf::from(&start.plan.workspace.as_ref()?.project);
        Some(Self { project, task, run: run.clone() })
    }

    pub fn done(&self, wall_ms: u64) {
        self.set("done", wall_ms);
    }

    pub fn pending(&self, wall_ms: u64) {
        self.set("pending", wall_ms);
    }

    fn set(&self, status: &str, wall_ms: u64) {
        let (root, now) = (&self.project, critic_log::time(wall_ms));
        let run = self.run.as_str();
        let found = adapter::all().find_map(|it| it.written_status(root, &self.task, status, &now, run));
        let Some(found) = found else { return };
        let inside = |path: &Path| file::inside(root, path).ok();
        let (Some(plan), Some(history), Some(todo)) =
            (inside(&found.plan.0), inside(&found.history.0), inside(&found.todo.0))
        else {
            return;
        };
        if write_atomically(&plan, found.plan.1.as_bytes()).is_err() {
            return;
        }
        let line = OpenOptions::new().create(true).append(true).open(history);
        let _ = line.and_then(|mut file| file.write_all(found.history.1.as_bytes()));
        let _ = write_atomically(&todo, found.todo.1.as_bytes());
    }
}
