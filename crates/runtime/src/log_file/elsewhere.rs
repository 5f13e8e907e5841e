//! Where a project's own layout wants a run's log and reports, beside the run's folder: a log that many loops share,
//! and reports in a folder of its system. Only places inside the run's project, and only what the plan names.

use std::path::{Path, PathBuf};

use gadfly_engine::input::Start;
use gadfly_engine::manifest::{PlannedWrite, RunManifest};
use gadfly_journal::critic_log::CriticLog;
use gadfly_journal::report_files::ReportFile;
use gadfly_journal::{RunId, shared_file};
use gadfly_project::{adapter, file, landing};

use crate::task_status::KeptStatus;

/// Which bytes of a shared log are ours is remembered in the run's folder.
const MEMORY: &str = "shared-log.json";

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ReportPaths {
    log: Option<PathBuf>,
    reports: Option<PathBuf>,
    status: Option<KeptStatus>,
}

impl ReportPaths {
    pub fn of(start: &Start, run: &RunId) -> Self {
        let writes = RunManifest::of(&start.plan).writes;
        let log = writes.iter().find_map(|write| match write {
            PlannedWrite::SharedLog(path) => Some(PathBuf::from(path)),
            _ => None,
        });
        let log = log.filter(|path| path.is_absolute() && !landing::is_git(path));
        // The folder follows from the run: a plan can want it or not, and name no other.
        let mut folders = adapter::all().filter_map(|it| Some(format!("{}/{run}", it.reports()?)));
        let wanted = folders.find(|folder| writes.contains(&PlannedWrite::Reports(folder.clone())));
        let project = start.plan.workspace.as_ref().map(|w| Path::new(&w.project));
        let reports =
            project.zip(wanted).and_then(|(project, folder)| file::inside(project, Path::new(&folder)).ok());
        Self { log, reports, status: KeptStatus::among(&writes, start, run) }
    }

    /// The work is with the user: the project's own list says so, too.
    pub fn is_done(&self, wall_ms: u64) {
        if let Some(status) = &self.status {
            status.done(wall_ms);
        }
    }

    pub fn has_log(&self) -> bool {
        self.log.is_some()
    }

    /// What stands in the shared log, if there is one.
    pub fn block(&self, log: &CriticLog) -> Option<SharedBlock> {
        let path = self.log.clone()?;
        Some(SharedBlock { path, heading: log.heading(), block: log.block() })
    }

    pub fn copy(&self, reports: &[ReportFile]) {
        let Some(dir) = self.reports.as_ref().filter(|_| !reports.is_empty()) else { return };
        let _ = std::fs::create_dir_all(dir);
        for report in reports {
            let _ = std::fs::write(dir.join(&report.name), &report.content);
        }
    }
}

/// A block of ours in a file that others write, too.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SharedBlock {
    path: PathBuf,
    heading: String,
    block: String,
}

impl SharedBlock {
    pub fn write(&self, run_dir: &Path) {
        let _ = shared_file::write_block(&self.path, &run_dir.join(MEMORY), Some(&self.heading), &self.block);
    }
}
