//! From configuration to agents that can be called: keys are read here, from the environment or a
//! command, and go straight into the agent; nothing else ever sees them.

use std::cell::Cell;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, LaunchError, Launcher, Most};
use gadfly_agents::scripted::Script;
use gadfly_agents::{
    AgentServices, AgentSpec, Api, BriefAs, Confinement, ExtraHeader, OutputForm, ProcessSpec, Secret,
    Timeouts, is_usual,
};
use gadfly_engine::plan::NamedBy;
use gadfly_engine::{AgentCard, Limits, Price};
use gadfly_journal::Custody;
use gadfly_project::config::{HOST, HeaderSource, KeySource, SandboxChoice, keys};
use gadfly_project::place::ConfigLayer;
use gadfly_project::{AgentConfig, AgentKind, Config, Problem, Sourced};
use tokio_util::sync::CancellationToken;

use crate::agent_set::{AgentSet, Needs};
use crate::prepare::AliasedAgent;
use crate::sandbox;
use installed::Surroundings;
use startable::resolve_program;
use state_paths::state_paths;

pub(crate) mod installed;
pub(crate) mod startable;
mod state_paths;

/// How long a command that prints a key may take, and how much it may print.
const KEY_COMMAND_TIME: Duration = Duration::from_secs(30);
const KEY_COMMAND_OUTPUT: usize = 64 * 1024;
/// What all files that a script names may have together.
const SCRIPT_TEXTS: usize = 64 << 20;

/// The environment of this process, read once.
pub type Env = HashMap<String, String>;

/// Variables that are no text are left out: no setting can name them, and no agent could be given them.
pub fn environment() -> Env {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// Whether a program of this name is found by PATH.
pub fn is_installed(program: &str, env: &Env) -> bool {
    startable::on_path(program, env).is_some()
}

/// Builds agents of one project.
pub struct AgentResolver<'a> {
    pub config: &'a Config,
    pub root: &'a Path,
    pub env: &'a Env,
    pub services: &'a AgentServices,
    pub launcher: Option<&'a Arc<dyn Launcher>>,
    pub custody: &'a Custody,
}

impl AgentResolver<'_> {
    /// The agents of these names, or everything that is wrong with them.
    pub async fn resolve(&self, names: &[&str], money_capped: bool) -> Result<AgentSet, Vec<Problem>> {
        let mut agent_set = AgentSet::default();
        let mut problems = Vec::new();
        for name in names {
            if agent_set.get(name).is_some() {
                continue;
            }
            let Some(agent) = self.config.agents.get(*name) else {
                if *name == HOST {
                    agent_set.add(HOST, host(), None);
                } else {
                    problems.push(self.unknown(name));
                }
                continue;
            };
            if let Err(found) = self.resolve_one(agent, money_capped, &mut agent_set).await {
                problems.extend(found);
            }
        }
        if problems.is_empty() { Ok(agent_set) } else { Err(problems) }
    }

    /// As [`Self::resolve`], for agents some of which are known only by their file and reached as another.
    pub async fn resolve_aliased(
        &self,
        members: &[AliasedAgent],
        money_capped: bool,
    ) -> Result<AgentSet, Vec<Problem>> {
        let mut agent_set = AgentSet::default();
        let mut problems = Vec::new();
        for member in members {
            let Some(agent) = self.config.agents.get(&member.reached_as) else {
                if member.reached_as == HOST && member.name == HOST {
                    agent_set.add(HOST, host(), None);
                } else {
                    problems.push(self.unknown(&member.reached_as));
                }
                continue;
            };
            let mut agent = agent.clone();
            if member.name != member.reached_as {
                member.name.clone_into(&mut agent.name);
                let hint = member.model.clone().filter(|_| agent.model.is_none());
                agent.model = agent.model.or_else(|| hint.map(gadfly_project::Sourced::built_in));
            }
            if let Err(found) = self.resolve_one(&agent, money_capped, &mut agent_set).await {
                problems.extend(found);
            } else {
                agent_set.stand_in(&member.name, &member.reached_as, &member.withheld);
                agent_set.offer_all_if_unheld(&member.name);
            }
        }
        if problems.is_empty() { Ok(agent_set) } else { Err(problems) }
    }

    fn unknown(&self, name: &str) -> Problem {
        let known: Vec<&str> = self.config.agents.keys().map(String::as_str).collect();
        let help = gadfly_project::suggest::did_you_mean(name, &known)
            .unwrap_or_else(|| "no agents are configured; `gadfly doctor` says what this machine has".into());
        Problem::error(format!("there is no agent `{name}`")).help(help)
    }

    async fn resolve_one(
        &self,
        agent: &AgentConfig,
        money_capped: bool,
        agent_set: &mut AgentSet,
    ) -> Result<(), Vec<Problem>> {
        let card = card(agent);
        if money_capped && card.price.is_none() && card.per_call.money.is_none() {
            let model = agent.model.as_ref().map_or("its model", |m| m.value.as_str());
            let row = if agent.kind.value.is_process() {
                "max_usd_per_call = 0.5 (the most one call may cost; held back before it begins)"
            } else {
                "price = { input = 3.0, output = 15.0 } (dollars per million tokens)"
            };
            let problem =
                Problem::error(format!("the price of {model} is not known, and this run has a money cap"))
                    .help(format!("add to [agents.{}]: {row}", agent.name))
                    .at(agent.place.as_ref());
            return Err(vec![problem]);
        }
        if agent.kind.value == AgentKind::Person {
            agent_set.add(&agent.name, card, None);
            return Ok(());
        }
        if let Some(problem) = startable::unstartable_agent(agent, self.root, self.env) {
            return Err(vec![problem]);
        }
        let (spec, needs) = self.spec(agent).await.map_err(|p| vec![p])?;
        let built = gadfly_agents::build(agent.kind.value.name(), spec, self.services)
            .map_err(|e| vec![Problem::error(e.to_string()).at(agent.place.as_ref())])?;
        let card = AgentCard { tools: built.is_offered_tools(), ..card };
        agent_set.add_program(&agent.name, card, Some(built), needs);
        Ok(())
    }

    async fn spec(&self, agent: &AgentConfig) -> Result<(AgentSpec, Needs), Problem> {
        let key = match &agent.key {
            Some(key) if agent.may_send_key() => Some(self.key(agent, &key.value).await?),
            _ => None,
        };
        let script = match &agent.script {
            Some(path) => Some(Arc::new(read_script(agent, &path.value)?)),
            None => None,
        };
        let command = startable::words(&agent.command, self.root);
        let env = agent.env.iter().filter_map(|n| Some((n.value.clone(), self.env.get(&n.value)?.clone())));
        let (process, needs) = self.process(agent, &command);
        let spec = AgentSpec {
            name: agent.name.clone(),
            base_url: agent.base_url.as_ref().map(|u| u.value.url.clone()),
            model: agent.model.as_ref().map(|m| m.value.clone()),
            key,
            key_env: agent.key.as_ref().and_then(|k| match &k.value {
                KeySource::Env(name) => Some(name.clone()),
                KeySource::Command(_) => None,
            }),
            send_key_to: agent.send_key_to.as_ref().map(|h| h.value.clone()),
            system: agent.system.as_ref().map(|s| s.value.text.clone()),
            command,
            args: Vec::new(),
            env: env.collect(),
            process,
            output: output_form(agent),
            login: agent.login.as_ref().map(|login| login.value.clone()),
            script,
            timeouts: Timeouts {
                connect: agent.connect_timeout.value,
                idle: agent.idle_timeout.value,
                call: agent.timeout.value,
                first_byte: agent.first_byte_timeout.value,
            },
            temperature: agent.temperature.as_ref().map(|t| t.value),
            api: agent.api.as_ref().map(|api| match api.value.as_str() {
                "responses" => Api::Responses,
                _ => Api::Chat,
            }),
            api_version: agent.api_version.as_ref().map(|version| version.value.clone()),
            effort: agent.effort.as_ref().map(|effort| effort.value.clone()),
            thinking_tokens: agent.thinking_tokens.as_ref().map(|tokens| tokens.value),
            headers: self.headers(agent)?,
            body: agent.body.as_ref().map(|body| body.value.clone()),
            max_tokens: Some(agent.max_tokens.value),
            concurrent: usize::try_from(agent.concurrent.value).ok(),
            price: price(agent),
            max_usd_per_call: agent.max_usd_per_call.as_ref().map(|m| m.value),
            max_tokens_per_call: agent.max_tokens_per_call.as_ref().map(|m| m.value),
        };
        Ok((spec, needs))
    }

    /// The user's own headers, with the values of variables put in.
    fn headers(&self, agent: &AgentConfig) -> Result<Vec<ExtraHeader>, Problem> {
        let known = agent.headers.iter().filter_map(|text| Some((text, AgentConfig::header(&text.value)?)));
        let header = |(text, (name, value)): (&Sourced<String>, (&str, HeaderSource<'_>))| {
            let (value, is_secret) = match value {
                HeaderSource::Text(value) => (value, false),
                HeaderSource::Env(variable) => {
                    let value = self.env.get(variable).map(|value| value.trim()).filter(|v| !v.is_empty());
                    let unset = || {
                        let message = format!(
                            "agent `{}` sends the variable {variable} as a header, and it is not set",
                            agent.name
                        );
                        Problem::error(message).at(text.place.as_ref())
                    };
                    (value.ok_or_else(unset)?, true)
                }
            };
            Ok(ExtraHeader { name: name.to_owned(), value: Secret::new(value), is_secret })
        };
        known.map(header).collect()
    }

    /// What holds a program, and what of this machine it needs: what is configured, and what is known of it.
    fn process(&self, agent: &AgentConfig, command: &[String]) -> (ProcessSpec, Needs) {
        let kind = agent.kind.value;
        if !kind.is_process() {
            return (ProcessSpec::default(), Needs::default());
        }
        let configured = &agent.process;
        let home = self.env.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let meant = |text: &String| match (text.strip_prefix("~/"), &home) {
            (Some(below), Some(home)) => home.join(below),
            (None, Some(home)) if text == "~" => home.clone(),
            _ => self.root.join(text),
        };
        let surroundings = Surroundings {
            root: self.root,
            home: home.as_deref(),
            path: self.env.get("PATH").map_or("", String::as_str),
            toolchains: installed::toolchains(|name| self.env.get(name).cloned(), home.as_deref()),
        };
        let mut install = surroundings.installed(command);
        install.extend(configured.read.iter().map(|path| meant(&path.value)));
        // What it is given of our environment, and no more.
        let given = |name: &str| {
            let listed = agent.env.iter().any(|n| n.value == name);
            self.env.get(name).filter(|value| listed || is_usual(name, value)).cloned()
        };
        let known = state_paths(kind, command, &given);
        let own: Vec<PathBuf> = configured.state.iter().map(|path| meant(&path.value)).collect();
        // A name with an ending is a file's.
        let folders = known.folders.iter().chain(own.iter().filter(|path| path.extension().is_none()));
        let network = sandbox::network(configured.network.value, configured.listen.value);
        install.extend(known.read.iter().cloned());
        let needs = Needs { network, state: folders.cloned().collect(), settings: known.settings.clone() };
        let spec = ProcessSpec {
            confined_by: match configured.sandbox.value {
                SandboxChoice::Landlock => Confinement::Landlock,
                SandboxChoice::Own => Confinement::Own,
                SandboxChoice::Off => Confinement::Nobody,
            },
            install,
            state: known.folders.into_iter().chain(known.files).chain(own).collect(),
            network,
            continues: configured.continues.value,
            max_steps: u32::try_from(configured.max_steps.value).unwrap_or(u32::MAX),
            most: Most {
                memory_bytes: Some(configured.max_memory_mb.value.saturating_mul(1 << 20)),
                processes: Some(configured.max_processes.value),
            },
        };
        (spec, needs)
    }

    async fn key(&self, agent: &AgentConfig, key: &KeySource) -> Result<Secret, Problem> {
        let place = agent.key.as_ref().and_then(|k| k.place.as_ref());
        match key {
            KeySource::Env(name) => match self.env.get(name).map(|v| v.trim()).filter(|v| !v.is_empty()) {
                Some(value) => Ok(Secret::new(value)),
                None => Err(Problem::error(format!(
                    "agent `{}` needs a key in the variable {name}, which is not set",
                    agent.name
                ))
                .help(format!("export {name}=… in the shell you start gadfly from"))
                .at(place)),
            },
            KeySource::Command(words) => self.key_from_command(agent, words).await.map_err(|p| p.at(place)),
        }
    }

    async fn key_from_command(&self, agent: &AgentConfig, words: &[String]) -> Result<Secret, Problem> {
        let wrong = |message: String| {
            Problem::error(format!("the key command of agent `{}` {message}", agent.name))
                .help("run it by hand: it must print the key and nothing else")
        };
        let (Some(launcher), Some((program, args))) = (self.launcher, words.split_first()) else {
            return Err(wrong("cannot be run here".into()));
        };
        let base =
            ["PATH", "HOME", "LANG", "USER", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "GNUPGHOME"];
        let command = Command {
            program: resolve_program(program, self.root),
            args: args.to_vec(),
            env: base.iter().filter_map(|n| Some(((*n).to_owned(), self.env.get(*n)?.clone()))).collect(),
            cwd: Some(self.root.to_owned()),
            stdin: Vec::new(),
            time: Some(KEY_COMMAND_TIME),
            max_output: KEY_COMMAND_OUTPUT,
            ..Command::default()
        };
        let done =
            launcher.launch(command, CancellationToken::new()).await.map_err(|e| wrong(unstarted(&e)))?;
        // Its output may be part of a key, so none of it is shown.
        match done.exit {
            Exit::Code(0) => {}
            other => return Err(wrong(format!("failed ({other:?})"))),
        }
        let key = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        if key.is_empty() || key.contains('\n') {
            return Err(wrong("printed no single line".into()));
        }
        Ok(Secret::new(key))
    }
}

/// A failure's reason may quote what the command wrote, which may be part of a key.
fn unstarted(error: &LaunchError) -> String {
    match error {
        LaunchError::Failed { program, .. } => {
            format!("did not start, or was ended from outside: `{program}`")
        }
        LaunchError::NotFound { .. } | LaunchError::NotExecutable { .. } => format!("did not start: {error}"),
    }
}

/// Whoever talks to us through a door of its own, where nobody configured an agent of that name: its replies come
/// as a person's do.
fn host() -> AgentCard {
    AgentCard {
        named_by: NamedBy::User,
        kind: HOST.to_owned(),
        model: None,
        sends_to: "the MCP host".to_owned(),
        price: Some(Price { as_of: "free".to_owned(), ..Price::default() }),
        person: true,
        max_output_tokens: keys::MAX_TOKENS,
        timeout_ms: u64::try_from(keys::TIMEOUT.as_millis()).unwrap_or(u64::MAX),
        limits: Limits::default(),
        window: None,
        per_call: Limits::default(),
        continues: false,
        tools: false,
        withheld: Vec::new(),
        structured: false,
        reached_as: None,
    }
}

/// What the engine is told of an agent.
pub fn card(agent: &AgentConfig) -> AgentCard {
    AgentCard {
        named_by: match agent.kind.layer {
            ConfigLayer::BuiltIn => NamedBy::Program,
            ConfigLayer::User | ConfigLayer::Flags => NamedBy::User,
            ConfigLayer::Project => NamedBy::Project,
        },
        kind: agent.kind.value.name().to_owned(),
        model: agent.model.as_ref().map(|m| m.value.clone()),
        sends_to: agent.sends_to().to_owned(),
        price: price(agent),
        person: agent.kind.value == AgentKind::Person,
        // What it thinks is paid for like what it says.
        max_output_tokens: agent
            .max_tokens
            .value
            .saturating_add(agent.thinking_tokens.as_ref().map_or(0, |tokens| tokens.value)),
        timeout_ms: u64::try_from(agent.timeout.value.as_millis()).unwrap_or(u64::MAX),
        limits: agent.limits,
        window: agent.context.as_ref().map(|c| c.value),
        per_call: Limits {
            tokens: agent.max_tokens_per_call.as_ref().map(|t| t.value),
            money: agent.max_usd_per_call.as_ref().map(|m| m.value),
            ..Limits::default()
        },
        continues: agent.kind.value.is_process() && agent.process.continues.value,
        // Its agent knows better, once there is one.
        tools: false,
        withheld: Vec::new(),
        structured: agent.kind.value.is_http()
            || matches!(agent.kind.value, AgentKind::ClaudeCode | AgentKind::Codex),
        reached_as: None,
    }
}

/// Where a command finds the brief, and what in its output is what.
pub(crate) fn output_form(agent: &AgentConfig) -> OutputForm {
    let form = &agent.output_form;
    let text = |key: &Option<Sourced<String>>| key.as_ref().map(|key| key.value.clone());
    OutputForm {
        brief: match form.brief.as_ref().map(|word| word.value.as_str()) {
            Some("argument") => BriefAs::Argument,
            Some("file") => BriefAs::File,
            _ => BriefAs::Stdin,
        },
        reply: text(&form.reply),
        usage: text(&form.usage_in),
        cost: text(&form.cost_in),
        session: text(&form.session_in),
        resume: form.resume.iter().map(|word| word.value.clone()).collect(),
    }
}

fn price(agent: &AgentConfig) -> Option<Price> {
    if let Some(price) = &agent.price {
        // A program makes many requests in one call: how long the prompt of each was is not known.
        let long = price.value.long.filter(|_| agent.kind.value.is_http());
        return Some(Price { long, ..price.value.clone() });
    }
    if agent.is_free() {
        return Some(Price { as_of: "free".to_owned(), ..Price::default() });
    }
    let url = agent.base_url.as_ref().map(|u| u.value.url.as_str());
    let model = agent.model.as_ref()?;
    gadfly_agents::price(agent.kind.value.name(), url, &model.value)
}

pub(crate) fn read_script(agent: &AgentConfig, path: &Path) -> Result<Script, Problem> {
    let place = agent.script.as_ref().and_then(|s| s.place.as_ref());
    let text = gadfly_project::file::read_text(path)
        .map_err(|e| Problem::error(format!("agent `{}`: {e}", agent.name)).at(place))?;
    let beside = path.parent().unwrap_or(Path::new("."));
    let left = Cell::new(SCRIPT_TEXTS);
    // A script may come with somebody's project: it gives out only what lies beside it.
    let read = |file: &str| {
        let path = gadfly_project::file::inside(beside, Path::new(file)).map_err(io::Error::other)?;
        let text = gadfly_project::file::read_text(&path).map_err(io::Error::other)?;
        left.set(left.get().checked_sub(text.len()).ok_or_else(|| {
            io::Error::other(format!("with it the script's files have more than {SCRIPT_TEXTS} bytes"))
        })?);
        Ok(text)
    };
    Script::parse(&text, read)
        .map_err(|e| Problem::error(format!("script {}: {e}", path.display())).at(place))
}
