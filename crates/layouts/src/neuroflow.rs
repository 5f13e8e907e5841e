//! A neuroflow project: `.neuroflow/` with one folder per phase. Reads what the loop of a phase goes by: its
//! rubric, its agents' words, its skill and context, where its draft and its log go. It chooses no agent and
//! writes nothing.

mod adapter;
mod filling;
mod output;
mod page;
mod plugin;
mod rubric;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use gadfly_project::file;
use gadfly_project::place::{Problem, brief, option};
use gadfly_project::rubric::RubricSource;
use gadfly_project::suggest;
use page::Page;

pub use adapter::Neuroflow;
pub use plugin::SourcedText;

/// The folder that makes a project one of neuroflow's.
pub const FOLDER: &str = ".neuroflow";
/// The log of a phase, in its folder.
pub const LOG_NAME: &str = "critic-log.md";

/// Every phase there is by name, whether a project has begun it or not.
const PHASES: [&str; 29] = [
    "ideation",
    "literature-review",
    "preregistration",
    "grant-proposal",
    "experiment",
    "tool-build",
    "tool-validate",
    "data",
    "data-preprocess",
    "data-analyze",
    "paper",
    "poster",
    "write-report",
    "notes",
    "finance",
    "review",
    "brain-build",
    "brain-optimize",
    "brain-run",
    "output",
    "hive",
    "flowie",
    "git",
    "meeting",
    "pipeline",
    "quiz",
    "search",
    "slideshow",
    "utility",
];

/// Folders of `.neuroflow/` that are no phases.
const NO_PHASES: [&str; 7] = ["sessions", "reasoning", "ethics", "fails", "tasks", "wiki", "meetings"];

/// Phases that have agents of their own: worker, critic.
const DEDICATED: [(&str, Option<&str>, Option<&str>); 3] = [
    ("paper", Some("paper-writer"), Some("paper-critic")),
    ("poster", None, Some("poster-critic")),
    ("literature-review", Some("literature-review"), Some("critic")),
];

/// The most files, and bytes of them, that a phase's folder adds to a brief.
const MOST_CONTEXT: (usize, usize) = (20, 256 * 1024);

/// The newest schema of `project_config.md` that is understood.
const SCHEMA: u64 = 1;

/// A project, and where the plugin is installed, the folder to be used first.
#[derive(Clone, Copy, Debug)]
pub struct NeuroflowProject<'a> {
    pub root: &'a Path,
    pub plugins: &'a [PathBuf],
}

/// What the loop of one phase goes by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PhaseSpec {
    pub name: String,
    /// From the project's configuration, the flow and the phase's flow, in that order.
    pub rubric: Vec<RubricSource>,
    pub worker: PhaseAgent,
    pub critic: PhaseAgent,
    /// For a worker that is not dedicated to the phase.
    pub skill: Option<NeuroflowSkill>,
    pub context: Vec<SourcedText>,
    /// Where the approved draft goes: a file, or a folder.
    pub output: Option<PathBuf>,
    /// The log that all loops of the phase share.
    pub log: PathBuf,
    /// What was taken from where, for the person.
    pub notes: Vec<String>,
}

/// A part in the loop that the phase wants given to an agent of this name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PhaseAgent {
    pub agent: Option<String>,
    /// Its file, if there is one.
    pub words: Option<SourcedText>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NeuroflowSkill {
    /// The phase it was written for: this one, or the closest that has a skill.
    pub phase: String,
    pub words: SourcedText,
}

pub fn is_here(root: &Path) -> bool {
    root.join(FOLDER).is_dir()
}

/// Whether the project knows a phase of this name.
pub fn is_phase(project: NeuroflowProject<'_>, name: &str) -> bool {
    let root = project.root;
    is_here(root) && is_name(name) && !NO_PHASES.contains(&name) && {
        PHASES.contains(&name)
            || root.join(FOLDER).join(name).is_dir()
            || plugin::phases(project).iter().any(|p| p == name)
    }
}

/// The phase that was meant by a word that is nearly its name.
pub fn nearest(project: NeuroflowProject<'_>, word: &str) -> Option<String> {
    if !is_here(project.root) {
        return None;
    }
    let known = plugin::phases(project);
    let all = PHASES.into_iter().chain(known.iter().map(String::as_str));
    suggest::nearest(word, all).map(ToOwned::to_owned)
}

/// The phase the project says it is in, if it is one.
pub fn active_phase(project: NeuroflowProject<'_>) -> Option<String> {
    let pages = ["project_config.md", "flow.md"].into_iter();
    let mut said =
        pages.filter_map(|name| Page::read(project.root, &Path::new(FOLDER).join(name), &mut Vec::new()));
    let phase = said.find_map(|page| page.values("active_phase").into_iter().next())?.value;
    let phase = phase.trim_start_matches('/').trim().to_lowercase().replace([' ', '_'], "-");
    is_phase(project, &phase).then_some(phase)
}

fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (1..=60).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(fits)
}

/// Reads a phase. None only with a problem that is an error.
pub fn phase(project: NeuroflowProject<'_>, name: &str, problems: &mut Vec<Problem>) -> Option<PhaseSpec> {
    let root = project.root;
    if !is_phase(project, name) {
        let help = nearest(project, name).map(|near| format!("did you mean `{near}`?"));
        problems.push(Problem::error(format!("there is no phase `{}`", brief(name))).maybe_help(help));
        return None;
    }
    let known = problems.len();
    let folder = Path::new(FOLDER);
    let own = folder.join(name);
    // The phase's own folder, or its log, may be a link to somewhere else.
    if let Err(error) = file::inside(root, &own.join(LOG_NAME)) {
        problems.push(Problem::error(error.to_string()));
        return None;
    }
    let mut page = |path: PathBuf| Page::read(root, &path, problems);
    let config = page(folder.join("project_config.md"));
    let objectives = page(folder.join("objectives.md"));
    let flow = page(folder.join("flow.md"));
    let phase_flow = page(own.join("flow.md"));
    let checklist = page(folder.join("review_checklist.md"));
    problems.extend(config.as_ref().and_then(newer_schema));
    let (rubric, mut notes) = rubric::of(
        name,
        &rubric::Pages {
            config: config.as_ref(),
            objectives: objectives.as_ref(),
            flow: flow.as_ref(),
            phase_flow: phase_flow.as_ref(),
            checklist: checklist.as_ref(),
        },
    );
    let pages = [phase_flow.as_ref(), flow.as_ref(), config.as_ref()];
    let output = output::of(root, name, pages, &mut notes, problems);
    let dedicated = DEDICATED.iter().find(|(phase, ..)| *phase == name);
    let mut part = |agent: Option<&str>| PhaseAgent {
        agent: agent.map(ToOwned::to_owned),
        words: agent.and_then(|agent| plugin::agent(project, agent, problems)),
    };
    let worker = part(dedicated.and_then(|d| d.1));
    let critic = part(dedicated.and_then(|d| d.2));
    let skill = plugin::skill(project, name, problems);
    for words in [&worker.words, &critic.words].into_iter().flatten() {
        notes.push(format!("agent: {}", words.path.display()));
    }
    match &skill {
        Some(skill) => notes.push(format!("the phase's skill: {}", skill.words.path.display())),
        None => notes.push(format!(
            "no skill for phase `{name}` was found: install neuroflow, or add skills/phase-{name}/SKILL.md"
        )),
    }
    let context = context(root, &own, problems);
    let log = root.join(&own).join(LOG_NAME);
    let name = name.to_owned();
    problems.iter().skip(known).all(|p| !p.is_error()).then_some(PhaseSpec {
        name,
        rubric,
        worker,
        critic,
        skill,
        context,
        output,
        log,
        notes,
    })
}

/// A schema that this program does not know yet may mean other things by the same keys.
fn newer_schema(config: &Page) -> Option<Problem> {
    let said = config.values("nf_schema").into_iter().next()?;
    let number = said.value.split('.').next()?.parse::<u64>().ok().filter(|n| *n > SCHEMA)?;
    let message = format!("project_config.md has nf_schema {number}; this version understands {SCHEMA}");
    Some(Problem::error(message).help("use a newer version of gadfly").at(said.place.as_ref()))
}

/// The pages a worker goes by: those of the phase's folder, `flow.md` first, then the project's own and those of other
/// phases. Logs are not shown to anybody.
fn context(root: &Path, own: &Path, problems: &mut Vec<Problem>) -> Vec<SourcedText> {
    let folder = Path::new(FOLDER);
    let mut pages = pages_in(root, own);
    let top = ["project_config.md", "flow.md", "objectives.md"].map(|name| folder.join(name));
    pages.extend(top.into_iter().filter(|path| root.join(path).is_file()));
    let mut others: Vec<String> = plugin::entries(&root.join(folder));
    others.retain(|name| is_name(name) && !NO_PHASES.contains(&name.as_str()) && own != folder.join(name));
    others.sort_by_key(|name| (PHASES.iter().position(|phase| phase == name), name.clone()));
    pages.extend(others.iter().flat_map(|name| pages_in(root, &folder.join(name))));
    let (mut all, mut bytes, mut left) = (Vec::new(), 0, Vec::new());
    for path in pages {
        let name = path.display().to_string();
        let Some(page) = Page::read(root, &path, problems) else { continue };
        if page.text.trim().is_empty() {
            continue;
        }
        if all.len() == MOST_CONTEXT.0 || bytes + page.text.len() > MOST_CONTEXT.1 {
            left.push(name);
            continue;
        }
        bytes += page.text.len();
        let text = page.text.clone();
        all.push(SourcedText::of(page, text));
    }
    if !left.is_empty() {
        let message = format!(
            "{} of the project's pages do not fit into a brief: {}",
            left.len(),
            brief(&left.join(", "))
        );
        problems.push(
            Problem::warning(message).help(format!("name what is needed with {}", option("with FILE"))),
        );
    }
    all
}

/// The Markdown files of a folder, `flow.md` first.
fn pages_in(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut names: Vec<String> = plugin::entries(&root.join(folder));
    names.retain(|n| {
        n != LOG_NAME && !n.starts_with('.') && Path::new(n).extension().is_some_and(|e| e == "md")
    });
    names.sort_by_key(|n| (n != "flow.md", n.clone()));
    names.into_iter().map(|name| folder.join(name)).collect()
}
