//! A nubos-pilot project: `.nubos-pilot/` with milestones, slices and tasks. Reads a task's plan, its slice's UAT, its
//! milestone's context and the configuration into what an audit of the task goes by. Their checkpoints and state are
//! neither read nor written.

mod criteria;
mod head;
mod settings;
mod tags;
#[cfg(test)]
mod tests;

use std::path::{Component, Path, PathBuf};

use crate::config::CriterionSetting;
use crate::file::{self, FileError};
use crate::markdown;
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief, option};
use crate::title;
use head::PageHead;

pub use settings::NubosSettings;

/// The folder that makes a project one of nubos-pilot's.
pub const FOLDER: &str = ".nubos-pilot";

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
    /// The slice's UAT and the milestone's context, where they are.
    pub references: Vec<PathBuf>,
    pub settings: NubosSettings,
    /// What was taken from where, for the person.
    pub notes: Vec<String>,
}

/// How a task is asked for.
#[derive(Clone, Copy, Debug)]
pub struct TaskQuery<'a> {
    pub root: &'a Path,
    /// Also one that is done, skipped or parked.
    pub redo: bool,
    /// The user gives commands of their own: the plan may have none.
    pub verified: bool,
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
    let mut part = |letter: char, digits: usize| {
        let part = parts.next()?;
        let number = part.strip_prefix(letter)?;
        ((digits..=9).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit())).then_some(part)
    };
    let found = (part('M', 3)?, part('S', 3)?, part('T', 4)?);
    parts.next().is_none().then_some(found)
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
pub fn task(asked: TaskQuery<'_>, id: &str, problems: &mut Vec<Problem>) -> Option<NubosTask> {
    if !is_here(asked.root) {
        let message = format!("`{}` is a task of nubos-pilot, and there is no {FOLDER}/ here", brief(id));
        problems.push(Problem::error(message).help("run it in the project's root, or give --task-plan FILE"));
        return None;
    }
    let Some((milestone, slice, task)) = split(id) else {
        let message = format!("`{}` is no task id", brief(id));
        problems.push(Problem::error(message).help("a task id looks like M001-S001-T0001"));
        return None;
    };
    let folder = Path::new(FOLDER).join("milestones").join(milestone).join("slices").join(slice);
    let plan = folder.join("tasks").join(task).join(format!("{task}-PLAN.md"));
    planned(asked, Some(id), &plan, problems)
}

/// Reads a task by its plan, which lies in the project.
pub fn task_at(asked: TaskQuery<'_>, plan: &Path, problems: &mut Vec<Problem>) -> Option<NubosTask> {
    let plan = std::path::absolute(plan).unwrap_or_else(|_| plan.to_owned());
    let inner = plan.strip_prefix(asked.root).map(Path::to_owned).unwrap_or(plan);
    planned(asked, None, &inner, problems)
}

fn planned(
    asked: TaskQuery<'_>,
    id: Option<&str>,
    plan: &Path,
    problems: &mut Vec<Problem>,
) -> Option<NubosTask> {
    let root = asked.root;
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
    let verify = verify(plan, &text);
    if verify.is_empty() && !asked.verified {
        let message = format!("task-verify-cmd-no-verify-block: the plan of {id} has no verify command");
        let help = format!(
            "put one into <verify><automated>…</automated></verify>, or give {}",
            option("verify COMMAND")
        );
        problems.push(Problem::error(message).help(help).at(Some(&SourceSpan::new(plan, &text, 0..0))));
    }
    let around = TaskPages::of(plan, &id);
    let (criteria, from) = criteria::of(root, plan, &text, &around, problems);
    let scope = scope(&head, plan, &text, problems);
    let mut notes = Vec::new();
    if let Some(from) = from {
        notes.push(format!("{} success criteria from {}", criteria.len(), from.display()));
    }
    let mut decisions = Vec::new();
    let mut references = Vec::new();
    for path in [around.uat(), around.context()].into_iter().flatten() {
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
    let task = NubosTask {
        title,
        text: body.trim().to_owned(),
        plan: plan.to_owned(),
        verify,
        criteria,
        scope,
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
    asked: TaskQuery<'_>,
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

/// The commands of `<verify>`: what is automated, or, in older plans, its bare lines.
fn verify(plan: &Path, text: &str) -> Vec<Sourced<String>> {
    let Some(block) = tags::block(text, "verify", 0..text.len()) else { return Vec::new() };
    let manual = tags::blocks_or_rest(text, "manual", block.clone());
    let automated = tags::blocks(text, "automated", block.clone());
    let parts = if automated.is_empty() { vec![block] } else { automated };
    let mut commands = Vec::new();
    for part in parts {
        for span in tags::lines(text, part) {
            let line = text.get(span.clone()).unwrap_or_default().trim();
            let by_hand = manual.iter().any(|m| m.start <= span.start && span.start < m.end);
            let is_command = !line.is_empty() && !line.starts_with('#') && !line.starts_with("```");
            let is_tag = line.starts_with("<manual>") || line.starts_with("</");
            if by_hand || !is_command || is_tag || commands.len() == MOST_ITEMS {
                continue;
            }
            let place = Some(SourceSpan::new(plan, text, span));
            commands.push(Sourced { value: tags::decoded(line), layer: ConfigLayer::Project, place });
        }
    }
    commands
}

fn scope(head: &PageHead, plan: &Path, text: &str, problems: &mut Vec<Problem>) -> Vec<Sourced<String>> {
    let place = SourceSpan::new(plan, text, head.span("files_modified"));
    let listed = head.list("files_modified");
    if listed.is_empty() {
        let message = "the plan names no `files_modified`: the task may touch every file";
        problems.push(Problem::warning(message).at(Some(&place)));
    }
    let leaves = |path: &str| {
        !Path::new(path).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
    };
    for path in listed.iter().filter(|path| leaves(path)) {
        let message = format!("files_modified: `{}` leaves the project", brief(path));
        problems.push(Problem::error(message).at(Some(&place)));
    }
    let own = |value: String| Sourced { value, layer: ConfigLayer::Project, place: Some(place.clone()) };
    listed.into_iter().take(MOST_ITEMS).map(own).collect()
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
