//! `gadfly run` with the name of a skill or an agent of the project: whom it sends out, by the arguments it is given. A skill
//! that runs the others is the pipeline; one that sends nobody out is done by the usual worker.

use std::path::Path;

use gadfly_engine::pipeline::RegistryEntry;
use gadfly_project::config::keys::ConfigSection;
use gadfly_project::layout::{ProjectFiles, Skill};
use gadfly_project::{file, layout, suggest};
use gadfly_runtime::prepare::{PipelineRequest, PlanWanted};

use super::{asked_for, checked, start};
use crate::cli::RunArgs;
use crate::commands::run::{LaunchOptions, reports_have_a_place};
use crate::context::Context;
use crate::exit::Code;
use crate::output::{error, safe};

/// What `gadfly run` names, and the arguments that stand with it.
pub struct Alone {
    name: String,
    is_skill: bool,
    arguments: String,
    files: ProjectFiles,
}

/// What `name` is, if it is neither a loop, nor a phase, nor a task. `/review --code a.R` has its arguments with it.
pub fn alone(name: &str, context: &Context) -> Result<Option<Alone>, Code> {
    let is_command = name.starts_with('/');
    let plain = name.strip_prefix('/').unwrap_or(name).trim();
    let (plain, arguments) = match plain.split_once(char::is_whitespace) {
        Some((plain, arguments)) if is_command => (plain, arguments.trim()),
        Some(_) => return Ok(None),
        None => (plain, ""),
    };
    let files = layout::read(&context.root.dir, &context.config);
    let Some(registry) = files.registry.as_ref().filter(|_| !plain.is_empty()) else { return Ok(None) };
    let is_skill = files.skills.contains_key(plain);
    let is_agent =
        registry.registry.get(plain).is_some() || registry.registry.judged_by(plain).next().is_some();
    if is_skill || is_agent {
        let (name, arguments) = (plain.to_owned(), arguments.to_owned());
        return Ok(Some(Alone { name, is_skill, arguments, files }));
    }
    if is_command {
        let skills: Vec<&str> = files.skills.keys().map(String::as_str).collect();
        let near = suggest::did_you_mean(plain, &skills).map(|near| format!(": {near}")).unwrap_or_default();
        return Err(error::usage(&format!("there is no skill `{}`{near}", safe::line(plain, 60))));
    }
    nearly(plain, &files).map_or(Ok(None), Err)
}

/// A word that is nearly a name was hardly meant as a task.
fn nearly(word: &str, files: &ProjectFiles) -> Option<Code> {
    let agents = files.registry.iter().flat_map(|file| &file.registry.entries);
    let known = files.skills.keys().map(String::as_str).chain(agents.map(|entry| entry.agent.as_str()));
    let near = suggest::nearest(word, known)?;
    Some(error::usage(&format!("there is no skill or agent `{word}`: did you mean `{near}`?")))
}

/// Who takes part.
#[derive(Default)]
struct SentOut {
    only: Vec<String>,
    /// All of them judge what is there: nothing has to be asked for.
    is_review: bool,
    /// It is the pipeline.
    is_whole: bool,
    /// Nobody of the registry: the usual worker.
    is_simple: bool,
    reports: Vec<String>,
}

impl SentOut {
    fn agents(names: Vec<String>, files: &ProjectFiles) -> Self {
        let registry = files.registry.as_ref().map(|file| &file.registry);
        let entry = |name: &String| registry.and_then(|registry| registry.get(name));
        let works = |name: &&String| entry(name).is_some_and(|entry| entry.critic.is_some());
        let judges = |name: &&String| {
            let is_critic = registry.is_some_and(|registry| registry.judged_by(name).next().is_some());
            entry(name).map_or(is_critic, RegistryEntry::judges)
        };
        let workers: Vec<String> = names.iter().filter(works).cloned().collect();
        if !workers.is_empty() {
            // Whoever works is judged by its own critic.
            return Self { only: workers, ..Self::default() };
        }
        let is_review = names.iter().any(|name| judges(&name));
        let only = names.into_iter().filter(|name| judges(&name) || entry(name).is_some()).collect();
        Self { only, is_review, ..Self::default() }
    }

    fn of_skill(skill: &Skill, arguments: &str, files: &ProjectFiles) -> Result<Self, Code> {
        if skill.leads(&files.skills) {
            return Ok(Self { is_whole: true, ..Self::default() });
        }
        let route = skill.route(arguments, &files.agents);
        let mut names = route.agents;
        if route.all_critics {
            let critics = files.registry.iter().flat_map(|file| &file.registry.entries);
            let critics =
                critics.filter(|entry| entry.conditional.is_none()).filter_map(|entry| entry.critic.clone());
            names = critics.collect();
            names.sort();
            names.dedup();
        }
        if names.is_empty() && !route.is_chosen && !route.modes.is_empty() {
            let (name, modes) = (&skill.name, route.modes.join(", "));
            let say =
                format!("skill `{name}` sends out nobody for that; begin its arguments with one of: {modes}");
            return Err(error::usage(&safe::line(&say, 400)));
        }
        let sent = Self::agents(names, files);
        if sent.only.is_empty() {
            return Ok(Self { is_simple: true, ..Self::default() });
        }
        Ok(Self { reports: route.saves, ..sent })
    }
}

/// Some agents without dependencies, each with its critic; or critics, on what is there.
pub async fn run_alone(alone: Alone, args: &RunArgs, context: &Context) -> Result<Code, Code> {
    reports_have_a_place(&args.report, context.global.json)?;
    leave_out(args)?;
    let given = checked(args.options.overrides(ConfigSection::Pipeline), context)?;
    let task_file = args.options.word(ConfigSection::Loop, "task_file").map(Path::new);
    let text = match (&args.task_text, task_file) {
        (None, None) => String::new(),
        (text, path) => asked_for(text.as_deref(), path)?,
    };
    let arguments = format!("{} {text}", alone.arguments);
    let arguments = arguments.trim();
    let skill = alone.files.skills.get(&alone.name).filter(|_| alone.is_skill);
    let sent = match skill {
        Some(skill) => SentOut::of_skill(skill, arguments, &alone.files)?,
        None => SentOut::agents(vec![alone.name.clone()], &alone.files),
    };
    if arguments.is_empty() && !sent.is_review {
        let name = args.task.as_deref().unwrap_or_default();
        return Err(error::usage(&format!("what is it to do? Say it: gadfly run {name} --task \"…\"")));
    }
    let asked = if arguments.is_empty() { "Judge the work that is there." } else { arguments };
    let request = PipelineRequest {
        request: asked.to_owned(),
        reviews: sent.is_review,
        judged: if sent.is_review { named_files(arguments, context) } else { Vec::new() },
        only: sent.only,
        simple: sent.is_simple,
        reports: sent.reports,
        skill: skill.filter(|_| !sent.is_whole).map(|skill| skill.name.clone()),
        planning: if sent.is_whole { PlanWanted::Drafted } else { PlanWanted::No },
        yes: args.consent.yes,
        commit: args.options.overrides(ConfigSection::Loop).has("commit"),
        branch: args.options.word(ConfigSection::Loop, "branch").map(str::to_owned),
        limits: given.limits(),
        store: Some(context.store()),
        ..PipelineRequest::default()
    };
    let how = LaunchOptions {
        yes: args.consent.yes,
        dry_run: args.consent.dry_run,
        attended: !args.unattended,
        print_draft: false,
        reports: &args.report,
        patience: args.patience,
    };
    Box::pin(start(request, how, args.consent.trust, context)).await
}

/// Files of the project that the arguments name.
fn named_files(arguments: &str, context: &Context) -> Vec<String> {
    let root = &context.root.dir;
    let words =
        arguments.split_whitespace().map(|word| word.trim_matches(['`', '"', '\'']).trim_start_matches("./"));
    let is_there = |word: &&str| file::inside(root, Path::new(word)).is_ok_and(|real| real.is_file());
    words.filter(|word| !word.starts_with(['-', '/'])).filter(is_there).map(str::to_owned).collect()
}

/// The registry says who works, who judges and what is made: flags that say otherwise would be passed over.
fn leave_out(args: &RunArgs) -> Result<(), Code> {
    let kept = ["--task-file", "--commit", "--branch"];
    let mut given = args.options.flags(ConfigSection::Loop);
    given.retain(|flag| !kept.contains(&flag.as_str()));
    let others = [
        ("--rubric", !args.rubric.is_empty()),
        ("--criterion", !args.criterion.is_empty()),
        ("--from", args.from.is_some()),
    ];
    given.extend(others.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag.to_owned()));
    if given.is_empty() {
        return Ok(());
    }
    let why = "the registry, gadfly.toml and the agent's own files say this";
    Err(error::usage(&format!("leave {} out: {why}", given.join(", "))))
}
