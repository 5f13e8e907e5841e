//! From what the user asked for to a plan: every problem at once, or a run ready to start.

use std::path::{Path, PathBuf};

use gadfly_engine::input::{FORMAT, Start};
use gadfly_engine::protocol::revise;
use gadfly_engine::{Digest, Limits, Plan, Target, Text, brief::Reference};
use gadfly_journal::{Journal, RunId};
use gadfly_project::config::Task;
use gadfly_project::rubric::{self, Contributor, Rubric, RubricSource};
use gadfly_project::{Config, Flags, LoopConfig, Problem, Sourced, title};

use crate::agents::Recruiter;
use crate::consent::Consent;
use crate::save;
use crate::team::Team;

/// A worker's reply may be as long, so a run can replace what an earlier one wrote.
const LARGEST_REPLACED: u64 = 16 * 1024 * 1024;

/// What `run` was asked to do.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A loop named in `gadfly.toml`.
    pub loop_name: Option<String>,
    pub flags: Flags,
    /// Rubric items the user gave beside the configured ones.
    pub criteria: Vec<Sourced<String>>,
    /// Start anew from another run's last draft; see [`Request::begin_from`].
    pub from: Option<Inherited>,
}

/// A run that can be started.
pub struct Prepared {
    pub run: RunId,
    pub start: Start,
    pub texts: Vec<Text>,
    pub team: Team,
    pub consent: Consent,
    /// Things worth saying that do not stop it.
    pub warnings: Vec<Problem>,
}

/// What an earlier run leaves to one that starts from it.
#[derive(Clone, Debug)]
pub struct Inherited {
    rubric: Vec<String>,
    draft: String,
    references: Vec<(Reference, Text)>,
}

impl Request {
    /// Begins with an earlier run's last draft. A request without a task or a loop of its own is the same
    /// loop again: the old task, references, phase, agents and output too, where no flag says otherwise.
    pub fn begin_from(&mut self, run: &RunId, journal: &Journal, config: &Config) -> Result<(), Problem> {
        let old = Old::read(journal, run)?;
        let flags = &mut self.flags;
        let mut references = Vec::new();
        if self.loop_name.is_none() && flags.task.is_none() && flags.task_file.is_none() {
            let known = |name: &String| config.agents.contains_key(name);
            let Old { settings, .. } = &old;
            flags.task = Some(old.text(journal, &settings.task)?);
            flags.phase.get_or_insert_with(|| settings.phase.clone());
            flags.worker = flags.worker.take().or_else(|| Some(settings.worker.clone()).filter(known));
            flags.critic = flags.critic.take().or_else(|| Some(settings.critic.clone()).filter(known));
            let fallback = settings.fallback_critic.clone().filter(known);
            flags.fallback_critic = flags.fallback_critic.take().or(fallback);
            flags.overrule = flags.overrule.or((!settings.overrule).then_some(false));
            if flags.out.is_none() && flags.draft.is_none() {
                flags.out = settings.out.as_ref().map(|target| PathBuf::from(&target.path));
            }
            if flags.with.is_empty() {
                for reference in &settings.references {
                    references.push((reference.clone(), Text::new(old.text(journal, &reference.text)?)));
                }
            }
        }
        let draft = old.text(journal, &old.draft)?;
        self.from = Some(Inherited { rubric: old.settings.rubric, draft, references });
        Ok(())
    }
}

/// Makes the plan of one loop.
pub async fn prepare(request: &Request, recruiter: &Recruiter<'_>) -> Result<Prepared, Vec<Problem>> {
    let (config, mut problems) = recruiter.config.loop_for(request.loop_name.as_deref(), &request.flags);
    let rubric = build_rubric(&config, request, &mut problems);
    let material = Material::read(&config, request.from.as_ref(), &mut problems);
    let (Some(rubric), Some(material), Some(worker), Some(critic)) =
        (rubric, material, &config.worker, &config.critic)
    else {
        return Err(problems);
    };
    if problems.iter().any(Problem::is_error) {
        return Err(problems);
    }
    let fallback = config.fallback_critic.as_ref().map(|f| f.value.as_str());
    let names: Vec<&str> =
        [Some(worker.value.as_str()), Some(critic.value.as_str()), fallback].into_iter().flatten().collect();
    let run_limits = recruiter.config.limits.with(request.flags.limits);
    let capped = run_limits.money.is_some() || config.limits.money.is_some();
    let team = match recruiter.team(&names, capped).await {
        Ok(team) => team,
        Err(found) => {
            problems.extend(found);
            return Err(problems);
        }
    };
    let settings = revise::Settings {
        task: material.task.digest(),
        phase: config.phase.as_ref().map_or_else(|| "general".to_owned(), |p| p.value.clone()),
        rubric: rubric.items.iter().map(|i| i.value.clone()).collect(),
        references: material.references.iter().map(|(r, _)| r.clone()).collect(),
        draft: material.draft.as_ref().map(Text::digest),
        worker: worker.value.clone(),
        critic: critic.value.clone(),
        fallback_critic: fallback.map(ToOwned::to_owned),
        rounds: u32::try_from(config.rounds.value).unwrap_or(u32::MAX),
        overrule: config.overrule.value,
        out: material.target.clone(),
    };
    let title = config.name.clone().map_or_else(
        || title::title(material.task.as_str()),
        |name| format!("{name}: {}", title::title(material.task.as_str())),
    );
    assemble(&settings, title, team, run_limits, config.limits, material.texts(), problems)
        .map_err(|p| vec![p])
}

/// Puts a plan together from settings and a team.
pub fn assemble(
    settings: &revise::Settings,
    title: String,
    team: Team,
    run_limits: Limits,
    loop_limits: Limits,
    texts: Vec<Text>,
    warnings: Vec<Problem>,
) -> Result<Prepared, Problem> {
    let wrong = |e: &dyn std::fmt::Display| Problem::error(e.to_string());
    let root = settings.node_plan(loop_limits).map_err(|e| wrong(&e))?;
    let plan = Plan { title, root, agents: team.cards(), limits: run_limits, workspace: None };
    let given: u64 = texts.iter().map(|t| t.as_str().len() as u64).sum();
    let consent = Consent::of(&plan, settings, given);
    let run = RunId::random().map_err(|e| wrong(&e))?;
    let mut seed = [0u8; 16];
    getrandom::fill(&mut seed).map_err(|e| wrong(&e))?;
    let seed = u128::from_le_bytes(seed);
    let start = Start { format: FORMAT, plan, seed: format!("{seed:032x}") };
    Ok(Prepared { run, start, texts, team, consent, warnings })
}

fn build_rubric(config: &LoopConfig, request: &Request, problems: &mut Vec<Problem>) -> Option<Rubric> {
    let mut sources = Vec::new();
    if let Some(setting) = &config.rubric {
        match rubric::from_setting(setting) {
            Ok(items) => sources.push(RubricSource { from: Contributor::Config, items }),
            Err(problem) => {
                problems.push(problem);
                return None;
            }
        }
    }
    sources.push(RubricSource { from: Contributor::User, items: request.criteria.clone() });
    if let Some(old) = &request.from
        && sources.iter().all(|s| s.items.is_empty())
    {
        let items = old.rubric.iter().cloned().map(Sourced::built_in).collect();
        sources.push(RubricSource { from: Contributor::User, items });
    }
    let (rubric, found) = Rubric::build(sources);
    problems.extend(found);
    rubric
}

/// The texts a run begins with.
struct Material {
    task: Text,
    draft: Option<Text>,
    references: Vec<(Reference, Text)>,
    target: Option<Target>,
    /// The target's content before the run, kept so that nothing is lost when it is replaced.
    replaced: Option<Text>,
}

impl Material {
    fn read(config: &LoopConfig, inherited: Option<&Inherited>, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut read = |what: &str, path: &Path, place: Option<&gadfly_project::Place>| {
            gadfly_project::file::read_text(path)
                .map_err(|e| problems.push(Problem::error(format!("{what}: {e}")).at(place)))
                .ok()
        };
        let task = config.task.as_ref().and_then(|t| match &t.value {
            Task::Text(text) => Some(text.clone()),
            Task::File(path) => read("task", path, t.place.as_ref()),
        });
        let draft = match &config.draft {
            Some(path) => Some(read("draft", &path.value, path.place.as_ref())),
            None => inherited.map(|old| Some(old.draft.clone())),
        };
        let references: Vec<_> = config
            .with
            .iter()
            .map(|path| {
                let text = Text::new(read("with", &path.value, path.place.as_ref())?);
                let name = path
                    .value
                    .file_name()
                    .map_or_else(|| path.value.display().to_string(), |n| n.to_string_lossy().into_owned());
                Some((Reference { name, text: text.digest() }, text))
            })
            .collect();
        let task = task.filter(|t| {
            let given = !t.trim().is_empty();
            if !given {
                problems.push(Problem::error("the task is empty").help("say what the worker should write"));
            }
            given
        });
        if let Some(Some(text)) = &draft
            && text.trim().is_empty()
        {
            problems.push(Problem::error("the draft is empty").help("leave --draft out to have one written"));
        }
        let out = config.out.as_ref().or(config.draft.as_ref());
        let (target, replaced) = match out {
            Some(path) => match target(&path.value) {
                Ok((target, replaced)) => (Some(target), replaced),
                Err(problem) => {
                    problems.push(problem.at(path.place.as_ref()));
                    return None;
                }
            },
            None => (None, None),
        };
        let mut references = references.into_iter().collect::<Option<Vec<_>>>()?;
        references.extend(inherited.into_iter().flat_map(|old| old.references.clone()));
        let draft = match draft {
            Some(text) => Some(Text::new(text?)),
            None => None,
        };
        Some(Self { task: Text::new(task?), draft, references, target, replaced })
    }

    fn texts(self) -> Vec<Text> {
        let mut all = vec![self.task];
        all.extend(self.draft);
        all.extend(self.references.into_iter().map(|(_, t)| t));
        all.extend(self.replaced);
        all
    }
}

/// Checks that the result can be written, before anything is paid for.
fn target(path: &Path) -> Result<(Target, Option<Text>), Problem> {
    let path = absolute(path)?;
    let shown = path.display();
    if path.is_dir() {
        return Err(Problem::error(format!("the output {shown} is a directory"))
            .help(format!("name a file in it, like {}", path.join("draft.md").display())));
    }
    if let Some(parent) = path.parent().filter(|p| !p.is_dir()) {
        return Err(Problem::error(format!("the output's folder {} does not exist", parent.display()))
            .help(format!("create it first: mkdir -p {}", parent.display())));
    }
    if path.exists() {
        let text = gadfly_project::file::read_text_up_to(&path, LARGEST_REPLACED).map_err(|e| {
            Problem::error(format!("the output {shown} cannot be replaced: {e}"))
                .help("what a run replaces is kept, as text: move the file away, or choose another --out")
        })?;
        let text = Text::new(text);
        let before = Some(text.digest());
        return Ok((Target { path: path.to_string_lossy().into_owned(), before }, Some(text)));
    }
    let probe = path.with_file_name(format!(".gadfly-probe-{}", std::process::id()));
    if let Err(error) = save::write_atomically(&probe, b"") {
        return Err(Problem::error(format!("the output {shown} cannot be written: {error}"))
            .help("choose another --out, or change the folder's permissions"));
    }
    let _ = std::fs::remove_file(probe);
    Ok((Target { path: path.to_string_lossy().into_owned(), before: None }, None))
}

fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|e| Problem::error(format!("{}: {e}", path.display())))
}

/// An earlier run, as its journal knows it.
struct Old<'a> {
    run: &'a RunId,
    settings: revise::Settings,
    draft: Digest,
}

impl<'a> Old<'a> {
    fn read(journal: &Journal, run: &'a RunId) -> Result<Self, Problem> {
        let wrong = |e: String| Problem::error(format!("run {run} cannot be started from: {e}"));
        let records = journal.records(run, 0, 1).map_err(|e| wrong(e.to_string()))?;
        let start = records.first().and_then(|r| match &r.input.what {
            gadfly_engine::input::What::Started(start) => Some(start),
            _ => None,
        });
        let start = start.ok_or_else(|| wrong("its first record is missing".into()))?;
        let settings =
            serde_json::from_value(start.plan.root.settings.clone()).map_err(|e| wrong(e.to_string()))?;
        let summary = journal.summary(run).map_err(|e| wrong(e.to_string()))?;
        let draft = summary.last_draft.ok_or_else(|| wrong("it has no draft yet".into()))?;
        Ok(Self { run, settings, draft })
    }

    fn text(&self, journal: &Journal, digest: &Digest) -> Result<String, Problem> {
        let wrong = |e: String| Problem::error(format!("run {} cannot be started from: {e}", self.run));
        let text = journal.text(digest).map_err(|e| wrong(e.to_string()))?;
        Ok(text.ok_or_else(|| wrong(format!("text {} is missing", digest.short())))?.to_string())
    }
}
