//! A nubos-pilot project: `.nubos-pilot/` with milestones, slices and tasks. Reads a task's plan, its slice's UAT, its
//! milestone's context and the configuration into what an audit of the task goes by; `order` says which tasks a slice or
//! a milestone has. Their checkpoints and state are neither read nor written.

mod adapter;
mod criteria;
mod filling;
mod head;
mod order;
mod scope;
mod settings;
mod status;
mod tags;
#[cfg(test)]
mod tests;
mod verify;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gadfly_project::adapter::WorkQuery;
use gadfly_project::config::CriterionSetting;
use gadfly_project::file::{self, FileError};
use gadfly_project::markdown;
use gadfly_project::place::{Problem, SourceSpan, Sourced, brief, option};
use gadfly_project::title;
use head::PageHead;

pub use adapter::NubosPilot;
pub use order::{is_group_id, plan_path, row, slices};
pub use settings::NubosSettings;

/// The folder that makes a project one of nubos-pilot's.
pub const FOLDER: &str = ".nubos-pilot";
/// Where the project keeps its critics' reports; each run in a folder of its own.
const REPORTS: &str = ".nubos-pilot/.tmp";

/// Modules of the critic: never agents, whether their file is at hand or not.
const MODULES: [&str; 4] =
    ["np-critic-style", "np-critic-tests", "np-critic-acceptance", "np-critic-economy"];
/// Statuses of tasks that nobody is to work on.
const OVER: [&str; 3] = ["done", "skipped", "parked"];
const STATUSES: [&str; 5] = ["pending", "in-progress", "done", "skipped", "parked"];
const LARGEST: u64 = 512 * 1024;
const MOST_ITEMS: usize = 200;

/// What an audit of one task goes by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NubosTask {
    /// `M001-S001-T0001`.
    pub id: String,
    pub title: String,
    /// The plan without its front matter: what the executor is given.
    pub text: String,
    /// The plan, from the project's root.
    pub plan: PathBuf,
    pub verify: Vec<Sourced<String>>,
    pub criteria: Vec<Sourced<CriterionSetting>>,
    pub scope: Vec<Sourced<String>>,
    pub decisions: Vec<Sourced<String>>,
    /// The slice's plan and UAT and the milestone's context, where they are.
    pub references: Vec<PathBuf>,
    pub settings: NubosSettings,
    /// What was taken from where, for the person.
    pub notes: Vec<String>,
}

pub fn is_here(root: &Path) -> bool {
    root.join(FOLDER).is_dir()
}

/// `M001-S001-T0001`.
pub fn is_task_id(word: &str) -> bool {
    split(word).is_some()
}

fn split(id: &str) -> Option<(&str, &str, &str)> {
    let mut parts = id.split('-');
    let found = (part(parts.next()?, 'M', 3)?, part(parts.next()?, 'S', 3)?, part(parts.next()?, 'T', 4)?);
    parts.next().is_none().then_some(found)
}

/// A part of an id: its letter and at least so many digits.
fn part(word: &str, letter: char, digits: usize) -> Option<&str> {
    let number = word.strip_prefix(letter)?;
    ((digits..=9).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit())).then_some(word)
}

/// The names in a folder, as far as they are text; none if it cannot be read.
fn folder_entries(dir: &Path) -> Vec<String> {
    const MOST: usize = 2000;
    let Ok(found) = std::fs::read_dir(dir) else { return Vec::new() };
    found.take(MOST).flatten().filter_map(|e| e.file_name().into_string().ok()).collect()
}

/// Whether a name is that of a module, which no one can be.
pub fn is_module(root: &Path, name: &str) -> bool {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let marked = |home: &str| {
        let path = Path::new(home).join(format!("{name}.md"));
        read(root, &path).ok().is_some_and(|text| PageHead::read(&text).text("module") == Some("true"))
    };
    MODULES.contains(&name)
        || (plain && ["agents", ".claude/agents", ".nubos-pilot/agents"].into_iter().any(marked))
}

/// The refusal of a module where an agent is needed.
pub fn not_spawnable(name: &str) -> Problem {
    Problem::error(format!("agent-not-spawnable: `{}` is a module of the critic, not an agent", brief(name)))
        .help("name `np-critic`, or another agent of gadfly.toml: the critic judges every axis in one call")
}

/// Reads a task by its id. None only with a problem that is an error.
pub fn task(asked: WorkQuery<'_>, id: &str, problems: &mut Vec<Problem>) -> Option<NubosTask> {
    if !is_here(asked.at.root) {
        let message = format!("`{}` is a task of nubos-pilot, and there is no {FOLDER}/ here", brief(id));
        problems.push(Problem::error(message).help("run it in the project's root, or give --task-plan FILE"));
        return None;
    }
    let Some(plan) = plan_path(id) else {
        let message = format!("`{}` is no task id", brief(id));
        problems.push(Problem::error(message).help("a task id looks like M001-S001-T0001"));
        return None;
    };
    planned(asked, Some(id), &plan, problems)
}

/// Reads a task by its plan, which lies in the project.
pub fn task_at(asked: WorkQuery<'_>, plan: &Path, problems: &mut Vec<Problem>) -> Option<NubosTask> {
    let plan = std::path::absolute(plan).unwrap_or_else(|_| plan.to_owned());
    let inner = plan.strip_prefix(asked.at.root).map(Path::to_owned).unwrap_or(plan);
    planned(asked, None, &inner, problems)
}

fn planned(
    asked: WorkQuery<'_>,
    id: Option<&str>,
    plan: &Path,
    problems: &mut Vec<Problem>,
) -> Option<NubosTask> {
    let root = asked.at.root;
    let known = problems.len();
    let text = match read(root, plan) {
        Ok(text) => text,
        Err(error) => {
            let what = id.map_or_else(|| "the task plan".to_owned(), |id| format!("the plan of task {id}"));
            problems.push(Problem::error(format!("{what} cannot be used: {error}")));
            return None;
        }
    };
    let head = PageHead::read(&text);
    let id = identity(id, &head, plan, &text, problems)?;
    status(asked, &id, &head, plan, &text, problems);
    let body = markdown::body(&text);
    problems.extend(
        order::unmet(root, &id, &head)
            .into_iter()
            .map(|problem| problem.at(Some(&SourceSpan::new(plan, &text, head.span("depends_on"))))),
    );
    let verify = verify::commands(plan, &text);
    if verify.is_empty() && !asked.verified {
        let message = format!("task-verify-cmd-no-verify-block: the plan of {id} has no verify command");
        let help = format!(
            "put one into <verify><automated>…</automated></verify>, or give {}",
            option("verify COMMAND")
        );
        problems.push(Problem::error(message).help(help).at(Some(&SourceSpan::new(plan, &text, 0..0))));
    }
    let around = TaskPages::of(plan, &id);
    let (criteria, from) = criteria::of(asked, plan, &text, &around, problems);
    let scope = scope::of(&head, plan, &text, problems);
    let mut notes = Vec::new();
    if let Some(from) = from {
        notes.push(format!("{} success criteria from {}", criteria.len(), from.display()));
    }
    let mut decisions = Vec::new();
    let mut references = Vec::new();
    for path in [around.slice_plan(), around.uat(), around.context()].into_iter().flatten() {
        match read(root, &path) {
            Ok(found) => {
                decisions.extend(decided(&path, &found));
                references.push(root.join(&path));
                notes.push(format!("context: {}", path.display()));
            }
            Err(FileError::Missing { .. }) => {}
            Err(error) => problems.push(Problem::warning(error.to_string()).help("it was left out")),
        }
    }
    let settings = settings::read(root, problems);
    let title = title::title(body);
    let text = told(body, &scope.demanded);
    let task = NubosTask {
        title,
        text,
        plan: plan.to_owned(),
        verify,
        criteria,
        scope: scope.files,
        decisions,
        references,
        settings,
        notes,
        id,
    };
    problems.iter().skip(known).all(|p| !p.is_error()).then_some(task)
}

/// The pages around a task's plan.
struct TaskPages {
    slice: Option<(PathBuf, String)>,
    milestone: Option<(PathBuf, String)>,
}

impl TaskPages {
    /// By the folders the plan lies in, if they are named as the id says.
    fn of(plan: &Path, id: &str) -> Self {
        let up = |n: usize, name: &str| {
            let dir = plan.ancestors().nth(n)?;
            (dir.file_name()?.to_str()? == name).then(|| (dir.to_owned(), name.to_owned()))
        };
        let Some((milestone, slice, _)) = split(id) else { return Self { slice: None, milestone: None } };
        Self { slice: up(3, slice), milestone: up(5, milestone) }
    }

    fn uat(&self) -> Option<PathBuf> {
        self.slice.as_ref().map(|(dir, name)| dir.join(format!("{name}-UAT.md")))
    }

    fn slice_plan(&self) -> Option<PathBuf> {
        self.slice.as_ref().map(|(dir, name)| dir.join(format!("{name}-PLAN.md")))
    }

    fn context(&self) -> Option<PathBuf> {
        self.milestone.as_ref().map(|(dir, name)| dir.join(format!("{name}-CONTEXT.md")))
    }

    fn roadmap(&self, ending: &str) -> Option<PathBuf> {
        self.milestone.as_ref().map(|(dir, name)| dir.join(format!("{name}-{ending}")))
    }
}

fn identity(
    asked: Option<&str>,
    head: &PageHead,
    plan: &Path,
    text: &str,
    problems: &mut Vec<Problem>,
) -> Option<String> {
    let said = head.text("id");
    let place = SourceSpan::new(plan, text, head.span("id"));
    let whole = |short: &str| {
        let (milestone, slice) = (head.text("milestone")?, head.text("slice")?);
        let slice = slice.rsplit('-').next().unwrap_or(slice);
        Some(format!("{milestone}-{slice}-{short}")).filter(|id| is_task_id(id))
    };
    let said = said.map(|id| if is_task_id(id) { id.to_owned() } else { whole(id).unwrap_or(id.to_owned()) });
    match (asked, said) {
        (Some(asked), Some(said)) if is_task_id(&said) && said != asked => {
            let message = format!("the plan of task {asked} says that it is the plan of {}", brief(&said));
            problems.push(Problem::error(message).at(Some(&place)));
            None
        }
        (Some(asked), _) => Some(asked.to_owned()),
        (None, Some(said)) if is_task_id(&said) => Some(said),
        (None, _) => {
            let message = "the task plan has no `id` like M001-S001-T0001 in its front matter";
            problems.push(Problem::error(message).at(Some(&place)));
            None
        }
    }
}

fn status(
    asked: WorkQuery<'_>,
    id: &str,
    head: &PageHead,
    plan: &Path,
    text: &str,
    problems: &mut Vec<Problem>,
) {
    let place = SourceSpan::new(plan, text, head.span("status"));
    let Some(status) = head.text("status") else {
        let message = format!("the plan of {id} has no `status`: it is taken for pending");
        return problems.push(Problem::warning(message).at(Some(&place)));
    };
    let word = status.to_ascii_lowercase();
    if OVER.contains(&word.as_str()) && !asked.redo {
        let message = format!("task {id} is {word}");
        let help = "add --allow-redo to run it all the same";
        problems.push(Problem::error(message).help(help).at(Some(&place)));
    } else if !STATUSES.contains(&word.as_str()) {
        let message = format!("status `{}` of {id} is none there is: it is taken for pending", brief(status));
        problems.push(Problem::warning(message).at(Some(&place)));
    }
}

/// The plan as the executor is told it: with the places of what it demands, and what it need not do itself.
fn told(body: &str, demanded: &[String]) -> String {
    let mut text = body.trim().to_owned();
    if !demanded.is_empty() {
        let _ = write!(text, "\n\nWhat <output> asks for goes to: {}.", demanded.join(", "));
    }
    text.push_str(
        "\n\nVerifying, committing, checkpoints and the task's status are taken care of: run no np-tools for them.",
    );
    text
}

/// What the milestone has decided, and what it has put off.
fn decided(path: &Path, text: &str) -> Vec<Sourced<String>> {
    let items = |tag: &str| tags::items(path, text, tag).into_iter().take(MOST_ITEMS);
    let mut all: Vec<_> = items("decisions").collect();
    all.extend(items("deferred").map(|i| i.map(|text| format!("Deferred, so not to be built now: {text}"))));
    all
}

fn read(root: &Path, path: &Path) -> Result<String, FileError> {
    file::read_text_up_to(&file::inside(root, path)?, LARGEST)
}
