//! Projects of other systems, as the core knows them: what one can be asked, and the table of those there are. Their
//! formats are in `gadfly-layouts`, a module each; the program hands the table in before it reads anything.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gadfly_engine::digest::Digest;
use gadfly_engine::protocol::revise::ProjectPhase;

use crate::config::{Config, LoopConfig, Overrides};
use crate::layout::Layout;
use crate::place::Problem;
use crate::rubric::RubricSource;
use crate::trust::TrustEntry;

static DECLARED: OnceLock<&'static [&'static dyn Adapter]> = OnceLock::new();

/// Says which systems there are, once, before anything is read. False if that was done before.
pub fn declare(adapters: &'static [&'static dyn Adapter]) -> bool {
    DECLARED.set(adapters).is_ok()
}

/// The systems there are; none in a program that declared none.
pub fn all() -> impl Iterator<Item = &'static dyn Adapter> {
    DECLARED.get().copied().unwrap_or_default().iter().copied()
}

/// The system whose layout this is.
pub fn of(layout: Layout) -> Option<&'static dyn Adapter> {
    all().find(|adapter| adapter.name() == layout.name())
}

/// The first system that knows a word as the name of work here.
pub fn named(at: ProjectPlace<'_>, word: &str) -> Option<(&'static dyn Adapter, WorkName)> {
    all().find_map(|adapter| Some((adapter, adapter.named(at, word)?)))
}

/// One system that projects are made with. Reads; what is to be written it says, and the core writes it.
pub trait Adapter: fmt::Debug + Sync {
    /// Its name, as that of its layout.
    fn name(&self) -> &'static str;

    /// A command that does something in such a project, and what it does.
    fn first_command(&self) -> (&'static str, &'static str);

    /// What a word names in this project, if it is the name of work.
    fn named(&self, at: ProjectPlace<'_>, word: &str) -> Option<WorkName>;

    /// Reads work by its name. None only with a problem that is an error.
    fn work(
        &self,
        query: WorkQuery<'_>,
        name: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Arc<dyn DescribedWork>>;

    /// The phase that was meant by a word that is nearly its name.
    fn nearest(&self, _at: ProjectPlace<'_>, _word: &str) -> Option<String> {
        None
    }

    /// The phase the project says it is in.
    fn active(&self, _at: ProjectPlace<'_>) -> Option<String> {
        None
    }

    /// Tasks are described by plans, which can be named as files.
    fn has_plans(&self) -> bool {
        false
    }

    /// Reads a task by its plan. None only with a problem that is an error.
    fn work_at(
        &self,
        _query: WorkQuery<'_>,
        _plan: &Path,
        _problems: &mut Vec<Problem>,
    ) -> Option<Arc<dyn DescribedWork>> {
        None
    }

    /// The groups of tasks that a name stands for, in the order they are done.
    fn groups(&self, _root: &Path, _name: &str, _problems: &mut Vec<Problem>) -> Vec<TaskGroup> {
        Vec::new()
    }

    /// How a task stands now.
    fn row(&self, _root: &Path, _task: &str) -> Option<TaskRow> {
        None
    }

    /// Why nobody can be given a part under this name.
    fn no_agent(&self, _root: &Path, _name: &str) -> Option<Problem> {
        None
    }

    /// The plugin of Claude Code it comes as.
    fn plugin(&self, _at: ProjectPlace<'_>) -> Option<InstalledPlugin> {
        None
    }

    /// The folder it keeps reports of its critics in, below the project's root.
    fn reports(&self) -> Option<&'static str> {
        None
    }

    /// What is to be written so that a task has this status. None if that is no task of its, or has it already. `now` is
    /// in RFC 3339.
    fn written_status(
        &self,
        _root: &Path,
        _task: &str,
        _status: &str,
        _now: &str,
        _run: &str,
    ) -> Option<WrittenStatus> {
        None
    }
}

/// Work that a project's own files describe.
pub trait DescribedWork: fmt::Debug + Send + Sync {
    /// What was taken from where, for the person.
    fn notes(&self) -> &[String];

    /// What the user has to agree to: whom the project's files instruct, and how they want the work judged.
    fn needs_trust(&self, root: &Path) -> Vec<TrustEntry>;

    /// Fills in what the user did not say.
    fn fill(&self, config: &Config, given: &mut Overrides, problems: &mut Vec<Problem>);

    /// Adds what no option can say, or what has to stay the project's.
    fn lay_over(&self, _config: &Config, _given: &Overrides, _looped: &mut LoopConfig) {}

    /// What the work is judged by, beside what the user says.
    fn rubric(&self) -> &[RubricSource] {
        &[]
    }

    /// What the agents of a `revise` loop are told first, and where its log goes. `keep` stores a text with the run.
    fn phase(&self, _looped: &LoopConfig, _keep: &mut dyn FnMut(String) -> Digest) -> ProjectPhase {
        ProjectPhase::default()
    }

    /// Where the draft goes stands in the project's files, and may be a folder that is not there yet.
    fn names_output(&self) -> bool {
        false
    }

    /// The folder the project wants reports in, below its root.
    fn reports(&self) -> Option<&'static str> {
        None
    }

    /// The project has a list of its own with the work's status.
    fn keeps_status(&self) -> bool {
        false
    }
}

/// Where a project is, and where Claude Code keeps what is the user's.
#[derive(Clone, Copy, Debug)]
pub struct ProjectPlace<'a> {
    pub root: &'a Path,
    pub claude: Option<&'a Path>,
}

/// What a name of work stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkName {
    /// What is to be drafted in it, the user says.
    Phase,
    Task,
    /// Several tasks, a run each.
    Group,
}

/// How work is asked for.
#[derive(Clone, Copy, Debug)]
pub struct WorkQuery<'a> {
    pub at: ProjectPlace<'a>,
    /// Also a task that is over.
    pub redo: bool,
    /// The user gives commands of their own: the plan may have none.
    pub verified: bool,
    /// The user gives criteria of their own: those of the plan may be unfinished.
    pub judged: bool,
}

/// A task as far as its order is concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskRow {
    pub id: String,
    /// In the system's own word.
    pub status: String,
    pub depends_on: Vec<String>,
    /// Nobody waits for it any more.
    pub is_settled: bool,
    /// Somebody said that it is not to be worked on, or it is done.
    pub is_over: bool,
}

/// Tasks that belong together, those first that others depend on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TaskGroup {
    pub id: String,
    pub tasks: Vec<TaskRow>,
}

/// A plugin of Claude Code, and where the user has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstalledPlugin {
    pub name: &'static str,
    pub folder: Option<PathBuf>,
}

/// Files as they are to stand, from the project's root; the history is a line to be added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenStatus {
    pub plan: (PathBuf, String),
    pub history: (PathBuf, String),
    pub todo: (PathBuf, String),
}
