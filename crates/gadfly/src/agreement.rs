//! What the user agrees to: once, what a project's files may do; before each run, where things go.

use std::path::Path;

use gadfly_engine::Plan;
use gadfly_engine::manifest::{Contact, RunManifest};
use gadfly_engine::protocol::pipeline;
use gadfly_journal::{Journal, RunId};
use gadfly_project::adapter::DescribedWork;
use gadfly_project::config::{TelemetryConfig, WorkspaceConfig};
use gadfly_project::trust::{self, TrustEntry, judging, needs_trust, planned};
use gadfly_project::{GoalConfig, LoopConfig, landing};
use gadfly_runtime::consent::Consent;
use gadfly_runtime::save;
use gadfly_runtime::trust::Trust;

use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{ask, consent, error, next_command, print, terminal};

/// What a run is about to use of the project's files.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    pub agents: Vec<String>,
    /// Those of them whose word can let work pass.
    pub judges: Vec<String>,
    /// What the project's files, or a record, say of the loop, goal or pipeline itself: commands, and how it is judged.
    pub wanted: Vec<TrustEntry>,
    /// The worker gets a folder: what `[workspace]` does to it counts.
    pub folder: bool,
    /// Servers of tools.
    pub servers: Vec<String>,
    /// Files that a recorded run writes its result to.
    pub outputs: Vec<String>,
    /// Hooks, verify commands and gates of the project are used.
    pub pipeline: bool,
}

impl Uses {
    /// What a loop, or a review of it, uses.
    pub fn of(looped: &LoopConfig, review: bool, context: &Context) -> Self {
        let roles = if review { looped.judges() } else { looped.roles() };
        let folder = looped.options.protocol.value.card().edits_files && !review;
        let mut wanted = if folder { trust::of_loop(looped) } else { Vec::new() };
        wanted.extend(trust::written(looped, &context.root.dir).filter(|_| !review));
        wanted.extend(judging::of_loop(looped, context.files_root()));
        Self {
            agents: roles.into_iter().map(|(_, agent)| agent.value).collect(),
            judges: looped.judges().into_iter().map(|(_, agent)| agent.value).collect(),
            wanted,
            folder,
            ..Self::default()
        }
    }

    /// What else a phase or a task of another system wants.
    pub fn described(mut self, work: &dyn DescribedWork, context: &Context) -> Self {
        self.wanted.extend(work.needs_trust(&context.root.dir));
        self
    }

    /// What a goal uses.
    pub fn of_goal(goal: &GoalConfig, context: &Context) -> Self {
        let judges = goal.roles().into_iter().filter(|(role, _)| *role != "worker");
        let mut wanted = trust::goals::of_goal(goal, &context.root.dir);
        wanted.extend(judging::of_goal(goal, context.files_root()));
        Self {
            judges: judges.map(|(_, agent)| agent.value).collect(),
            agents: goal.roles().into_iter().map(|(_, agent)| agent.value).collect(),
            wanted,
            folder: true,
            servers: goal.options.mcp.iter().map(|server| server.value.clone()).collect(),
            ..Self::default()
        }
    }

    /// What a recorded run was planned with, whoever planned it: its record may come from somebody else.
    pub fn recorded(plan: &Plan) -> Self {
        let manifest = RunManifest::of(plan);
        let servers = manifest.contacts.iter().filter_map(|contact| match contact {
            Contact::Server(name) => Some(name.clone()),
            Contact::Url(_) => None,
        });
        // Those known only by their file are reached as somebody else.
        let reached = plan.agents.values().filter_map(|card| card.reached_as.clone());
        Self {
            agents: plan.agents.keys().cloned().chain(reached).collect(),
            judges: manifest.seats.iter().filter(|s| s.job.judges()).map(|s| s.agent.clone()).collect(),
            wanted: planned::of_manifest(&manifest),
            folder: false,
            servers: servers.collect(),
            outputs: planned::written_by(&manifest),
            pipeline: plan.root.protocol == pipeline::RULE_BOOK.name,
        }
    }

    /// A run that this machine recorded was agreed to when it began: nobody else can have written what it says.
    pub fn unless_made_here(mut self, journal: &Journal, run: &RunId) -> Self {
        if journal.counts_here(run).unwrap_or(false) {
            self.wanted.clear();
        }
        self
    }

    pub fn and(mut self, other: Self) -> Self {
        self.agents.extend(other.agents);
        self.judges.extend(other.judges);
        self.wanted.extend(other.wanted);
        self.folder |= other.folder;
        self.servers.extend(other.servers);
        self.outputs.extend(other.outputs);
        self.pipeline |= other.pipeline;
        self
    }
}

/// Lets a run use these things if the project's part in them is trusted, was asked for here, or is agreed
/// to with `--trust`. The files that recorded runs write must be this project's, or named before.
pub fn trust(context: &Context, uses: &Uses, agreed: bool) -> Result<(), Code> {
    let missing = missing(context, uses).map_err(|why| error::usage(&why))?;
    if missing.is_empty() {
        return Ok(());
    }
    if !agreed {
        print::err("this project's files want to:");
        print::err_lines(&consent::wanted(&missing));
        if !terminal::can_ask() {
            let again = next_command::command_line();
            return Err(error::usage(&format!(
                "you have not agreed to this yet. To agree, once:\n  {again} --trust"
            )));
        }
        if !ask::yes("Allow this here from now on?", false) {
            return Err(error::usage("not allowed, so nothing was started"));
        }
    }
    remember(context, &missing).map_err(|why| error::usage(&why))
}

/// What these uses need that nobody has agreed to yet.
pub fn missing(context: &Context, uses: &Uses) -> Result<Vec<TrustEntry>, String> {
    if let Some(path) = uses.outputs.iter().find(|path| landing::is_git(Path::new(path))) {
        return Err(save::in_git(Path::new(path)).message);
    }
    let mut entries = entries(context, uses);
    entries.extend(uses.outputs.iter().filter_map(|path| elsewhere(context, path)));
    let entries = trust::once(entries);
    if entries.is_empty() {
        return Ok(entries);
    }
    Ok(known(context)?.missing(entries))
}

/// Notes that the user allows this here from now on.
pub fn remember(context: &Context, entries: &[TrustEntry]) -> Result<(), String> {
    if entries.is_empty() {
        return Ok(());
    }
    known(context)?.remember(entries).map_err(|e| e.to_string())
}

fn known(context: &Context) -> Result<Trust, String> {
    let Some(state) = &context.user.state else {
        return Err("what you agree to cannot be remembered: set HOME or XDG_STATE_HOME".to_owned());
    };
    Trust::load(state, &context.root.dir).map_err(|e| e.to_string())
}

/// The user named these here, or they are the user's own, so that a later `resume` need not ask. If they
/// cannot be remembered, it asks.
pub fn named(context: &Context, plan: &Plan) {
    let uses = Uses::recorded(plan);
    let mut entries = uses.wanted.clone();
    entries.extend(uses.outputs.iter().filter_map(|path| elsewhere(context, path)));
    if let Some(state) = &context.user.state
        && !entries.is_empty()
        && let Ok(mut known) = Trust::load(state, &context.root.dir)
    {
        let missing = known.missing(entries);
        if !missing.is_empty() {
            let _ = known.remember(&missing);
        }
    }
}

fn elsewhere(context: &Context, output: &str) -> Option<TrustEntry> {
    let store = std::path::absolute(context.store()).unwrap_or_default();
    let beside = store.parent().unwrap_or(&context.root.dir);
    trust::output(&[&context.root.dir, beside], Path::new(output))
}

/// Only what this run needs.
fn entries(context: &Context, uses: &Uses) -> Vec<TrustEntry> {
    let mut config = context.config.clone();
    config.agents.retain(|name, _| uses.agents.contains(name));
    config.loops.clear();
    config.goals.clear();
    config.mcp.retain(|name, _| uses.servers.contains(name));
    if !uses.folder {
        config.workspace = WorkspaceConfig::default();
    }
    if !uses.pipeline {
        config.hooks.commands.clear();
        config.gates.clear();
        config.project.verify.commands.clear();
        config.project.verify_of.clear();
    }
    if uses.agents.is_empty() {
        // Nothing is driven, so nothing is told of it.
        config.telemetry = TelemetryConfig::default();
    }
    let mut entries = needs_trust(&config);
    let judges = config.agents.values().filter(|agent| uses.judges.contains(&agent.name));
    entries.extend(judges.filter_map(trust::canned));
    entries.extend(uses.wanted.iter().cloned());
    let whose = uses.wanted.iter().find_map(TrustEntry::whose).unwrap_or(judging::WORK);
    entries.extend(judging::of_judges(whose, &uses.judges, &context.config, context.files_root()));
    entries
}

/// Says where a run will send what, and asks if that is not free and local.
pub fn start(said: &Consent, yes: bool) -> Result<(), Code> {
    print::err_lines(&consent::lines(said));
    if yes || !consent::needs_a_word(said) || !terminal::can_ask() || ask::yes("Start?", true) {
        return Ok(());
    }
    print::err("not started; nothing was sent");
    Err(exit::USAGE)
}
