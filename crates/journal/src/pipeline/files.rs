//! Which files of a project show how its pipeline stands, and writing them. What cannot be written is told and costs
//! the run nothing: the journal has it all.

use std::path::{Path, PathBuf};
use std::{fs, io};

use gadfly_engine::manifest::{PlannedWrite, StatePlaces};
use gadfly_engine::{Plan, RunManifest};

use super::ProjectView;
use super::receipt::Receipt;
use super::text::{LocalZone, one_line};
use super::{entry, plans, series, session_report, state_file, trace};
use crate::journal::Journal;
use crate::run_id::RunId;
use crate::shared_file::{self, SharedFileError};
use crate::signature::Signature;
use crate::view::RunView;

const PROBLEMS: &str = "unwritten.txt";
const LONGEST_PROBLEMS: u64 = 64 << 10;
/// What a store of ours ignores: all of itself.
const IGNORES_ALL: &[u8] = b"*\n";
const IGNORES_BUT_RECEIPTS: &[u8] = b"*\n!/receipts/\n!/receipts/*.json\n";

/// Where the files of one project go, as absolute paths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateFiles {
    /// Nothing is written outside this folder.
    pub root: PathBuf,
    /// `quality_reports/` or `.gadfly/`.
    pub dir: PathBuf,
    /// `SESSION_REPORT.md`.
    pub session: PathBuf,
    /// The run is about the whole project: its state file tells of it.
    pub state: bool,
}

impl StateFiles {
    pub fn native(root: &Path) -> Self {
        let dir = root.join(".gadfly");
        Self { root: root.to_owned(), session: dir.join("SESSION_REPORT.md"), dir, state: true }
    }

    pub fn claude(root: &Path) -> Self {
        let dir = root.join("quality_reports");
        Self { root: root.to_owned(), session: root.join("SESSION_REPORT.md"), dir, state: true }
    }

    pub fn receipts(&self) -> PathBuf {
        self.dir.join("receipts")
    }

    /// As a plan names them.
    pub fn places(&self) -> StatePlaces {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        StatePlaces {
            root: path(&self.root),
            dir: path(&self.dir),
            session: path(&self.session),
            state: self.state,
        }
    }

    pub fn of(plan: &Plan) -> Option<Self> {
        RunManifest::of(plan).writes.into_iter().find_map(|write| match write {
            PlannedWrite::State(StatePlaces { root, dir, session, state }) => {
                Some(Self { root: root.into(), dir: dir.into(), session: session.into(), state })
            }
            _ => None,
        })
    }

    /// Removes what a process that was killed left of its unfinished writes beside these files.
    pub fn sweep(&self) {
        let below = ["plans", "specs", "receipts", "traces"].map(|name| self.dir.join(name));
        let folders = below.into_iter().chain([self.dir.clone()]);
        for folder in folders.chain(self.session.parent().map(Path::to_owned)).filter(|f| self.holds(f)) {
            shared_file::sweep(&folder);
        }
    }

    /// Whether a path lies in the project also after symbolic links.
    fn holds(&self, path: &Path) -> bool {
        let Ok(root) = self.root.canonicalize() else { return false };
        path.ancestors().find_map(|a| a.canonicalize().ok()).is_some_and(|real| real.starts_with(&root))
    }
}

/// Writes the files of one run.
pub struct ProjectFileWriter {
    journal: Journal,
    files: StateFiles,
    /// A folder of ours for what has to be remembered about shared files.
    memory: PathBuf,
    zone: LocalZone,
}

impl ProjectFileWriter {
    pub fn new(journal: &Journal, run: &RunId, files: StateFiles, zone: LocalZone) -> Self {
        let memory = journal.run_dir(run).join("project-files");
        Self { journal: journal.clone(), files, memory, zone }
    }

    /// Brings every file up to date. What could not be written comes back, and stays for [`Journal::unwritten`].
    pub fn write(&self, view: &RunView) -> Vec<String> {
        let Some(state) = view.project() else { return Vec::new() };
        let mut problems = Vec::new();
        let mut tried = |path: PathBuf, write: &dyn Fn(&Path) -> Result<(), SharedFileError>| {
            if !self.files.holds(&path) {
                problems.push(format!("{}: it leads out of the project", path.display()));
            } else if let Err(e) = write(&path) {
                problems.push(e.to_string());
            }
        };
        let dir = &self.files.dir;
        if self.files.state {
            tried(dir.join("pipeline_state.json"), &|path| {
                state_file::write(path, state, &self.zone).map(drop)
            });
        }
        tried(dir.join("research_journal.md"), &|path| {
            let entries: Vec<String> = state.history.entries.iter().map(|e| e.render(&self.zone)).collect();
            shared_file::append_entries(
                path,
                &self.memory.join("research-journal"),
                Some(entry::HEADING),
                &entries,
            )
        });
        for drafted in &state.history.drafted {
            tried(dir.join(plans::folder(drafted)), &|_| {
                let text = self.journal.text(&drafted.text).ok().flatten();
                text.map_or(Ok(()), |text| plans::write(dir, state, drafted, &text, &self.zone).map(drop))
            });
        }
        tried(self.files.session.clone(), &|path| {
            let (heading, entries) =
                (session_report::heading(state), session_report::entries(state, &self.zone));
            shared_file::append_entries(path, &self.memory.join("session-report"), Some(&heading), &entries)
        });
        if !state.history.verdicts.is_empty() {
            tried(self.files.receipts(), &|folder| self.receipts(folder, state));
        }
        if !state.history.invocations.is_empty()
            && (state.run.outcome.is_some() || state.pipeline.gate.is_some())
        {
            tried(dir.join("traces"), &|folder| self.trace(folder, state));
        }
        self.note(&problems);
        problems
    }

    pub fn places(&self) -> &StateFiles {
        &self.files
    }

    /// Puts a signature under a receipt.
    pub fn keep_receipt(&self, receipt: &Receipt, signature: &Signature) -> Result<(), SharedFileError> {
        let folder = self.files.receipts();
        if !self.files.holds(&folder) {
            let source = io::Error::other("it leads out of the project");
            return Err(SharedFileError::Io { path: folder, source });
        }
        self.unignore();
        receipt.write(&folder, Some(signature))
    }

    fn receipts(&self, folder: &Path, state: ProjectView<'_>) -> Result<(), SharedFileError> {
        self.unignore();
        state.receipts().iter().try_for_each(|receipt| receipt.write(folder, None))
    }

    /// A store ignores itself; receipts are there to be committed. An ignore file that somebody changed stays.
    fn unignore(&self) {
        let ignore = self.files.dir.join(".gitignore");
        if fs::read(&ignore).is_ok_and(|bytes| bytes == IGNORES_ALL) {
            let _ = shared_file::replace(&ignore, IGNORES_BUT_RECEIPTS);
        }
    }

    fn trace(&self, folder: &Path, state: ProjectView<'_>) -> Result<(), SharedFileError> {
        let fail = |source| SharedFileError::Io { path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(fail)?;
        let _lock = shared_file::lock(folder)?;
        let stem = format!("{}_trace", self.zone.date(state.run.summary.created_ms));
        let path = series::own_file(folder, &stem, &trace::marker(state.run.summary.run.as_str()))?;
        let text = trace::render(state, &self.zone);
        if shared_file::read(&path)?.is_some_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        shared_file::replace(&path, text.as_bytes())
    }

    fn note(&self, problems: &[String]) {
        let path = self.memory.join(PROBLEMS);
        if problems.is_empty() {
            let _ = fs::remove_file(path);
        } else {
            let lines: String = problems.iter().map(|problem| one_line(problem) + "\n").collect();
            let _ = shared_file::replace(&path, lines.as_bytes());
        }
    }
}

impl Journal {
    /// Files of the project that could not be written when they were last tried.
    pub fn unwritten(&self, run: &RunId) -> Vec<String> {
        use std::io::Read as _;
        let path = self.run_dir(run).join("project-files").join(PROBLEMS);
        let mut text = String::new();
        let file = fs::File::open(path).map(|file| file.take(LONGEST_PROBLEMS));
        if file.and_then(|mut file| file.read_to_string(&mut text)).is_err() {
            return Vec::new();
        }
        text.lines().map(str::to_owned).collect()
    }
}
