//! What in a project's files a person must have agreed to once before it is used: commands, sandboxes that
//! are taken away, paths that are opened, keys that go to an address, agent files. It lists; asking and remembering is the runtime's job.
//!
//! The user's own config and the command line are trusted. What is the user's own a project cannot alter at all:
//! its words about such an agent are left out when the layers are laid over each other.

pub mod goals;
pub mod judging;
pub mod mcp;
pub mod pipeline;
pub mod planned;
pub mod telemetry;

use std::path::{Path, PathBuf};

use gadfly_engine::digest::Digest;
use gadfly_engine::masked::masked;

use crate::config::{
    AgentConfig, Config, HeaderSource, KeySource, LoopConfig, SandboxChoice, WorkspaceConfig,
};
use crate::file;
use crate::fingerprint::fingerprint;
use crate::landing;
use crate::place::{ConfigLayer, SourceSpan, Sourced, visible};

/// The class of what is trusted; the first part of its digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum What {
    Command,
    Key,
    /// An address that briefs are sent to.
    Host,
    AgentFile,
    /// A judge that is none: replies that were ready before the work was.
    Judge,
    /// A setting by which work is judged: who judges, by what, within which limits.
    Judging,
    /// Files of the user's: what git ignores given to workers, and paths that a program may use.
    Files,
    /// A file that a recorded run would replace.
    Output,
    /// What is told of runs to a collector.
    Traces,
}

impl What {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Key => "key",
            Self::Host => "host",
            Self::AgentFile => "agent-file",
            Self::Judge => "judge",
            Self::Judging => "judging",
            Self::Files => "files",
            Self::Output => "output",
            Self::Traces => "traces",
        }
    }
}

/// What is at stake, the gravest first: how a list of entries is grouped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum AtRisk {
    /// Something runs on this machine.
    Machine,
    /// Something leaves it.
    Secrets,
    /// The verdict itself.
    Judgement,
    /// The user's files.
    Files,
}

impl AtRisk {
    pub const ALL: [Self; 4] = [Self::Machine, Self::Secrets, Self::Judgement, Self::Files];

    /// How a group of a list begins.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Machine => "run programs",
            Self::Secrets => "send something away",
            Self::Judgement => "say how agents judge and work",
            Self::Files => "use files of yours",
        }
    }
}

impl What {
    pub const fn at_risk(self) -> AtRisk {
        match self {
            Self::Command => AtRisk::Machine,
            Self::Key | Self::Host | Self::Traces => AtRisk::Secrets,
            Self::AgentFile | Self::Judge | Self::Judging => AtRisk::Judgement,
            Self::Files | Self::Output => AtRisk::Files,
        }
    }
}

/// Entries that are told in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Group {
    /// An agent and the file that speaks to or for it: together with others of the folder.
    File { agent: String, path: PathBuf },
    /// One setting by which something is judged: together with the others of the same.
    Judging { whose: String, said: String },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrustEntry {
    pub what: What,
    /// What makes one line together with others of its group.
    pub group: Option<Group>,
    /// One line, complete, with nothing invisible in it.
    pub text: String,
    /// What is remembered: changes as soon as the text or, for a file, its content does.
    pub digest: Digest,
    pub place: Option<SourceSpan>,
}

impl TrustEntry {
    /// What it says the judging of, if it does.
    pub fn whose(&self) -> Option<&str> {
        match self.group.as_ref()? {
            Group::Judging { whose, .. } => Some(whose),
            Group::File { .. } => None,
        }
    }
}

/// Everything of the project that needs trust, each thing once, in the order of the agents' names.
pub fn needs_trust(config: &Config) -> Vec<TrustEntry> {
    let agents = config.agents.values().flat_map(of_agent);
    once(
        agents
            .chain(of_workspace(&config.workspace))
            .chain(config.loops.values().flat_map(of_loop))
            .chain(config.goals.values().flat_map(goals::checks_of))
            .chain(config.mcp.values().flat_map(mcp::of_server))
            .chain(pipeline::of_pipeline(config))
            .chain(telemetry::of_telemetry(&config.telemetry)),
    )
}

/// Each thing once.
pub fn once(entries: impl IntoIterator<Item = TrustEntry>) -> Vec<TrustEntry> {
    let mut all: Vec<TrustEntry> = Vec::new();
    for found in entries {
        if all.iter().all(|e| e.digest != found.digest) {
            all.push(found);
        }
    }
    all
}

/// What the project's part of a loop wants to run.
pub fn of_loop(looped: &LoopConfig) -> Vec<TrustEntry> {
    let project = looped.audit.verify.iter().filter(|v| v.layer == ConfigLayer::Project);
    project.map(|v| verify(&v.value, v.place.clone())).collect()
}

/// Where the project's part of a loop wants its result, if programs do by themselves what stands there.
pub fn written(looped: &LoopConfig, project: &Path) -> Option<TrustEntry> {
    let out = looped
        .options
        .out
        .as_ref()
        .or(looped.options.draft.as_ref())
        .filter(|out| out.layer == ConfigLayer::Project)?;
    obeyed(project, &out.value, out.place.clone())
}

/// A result that is written where programs run it, or do what it says, without being asked.
pub fn obeyed(project: &Path, target: &Path, place: Option<SourceSpan>) -> Option<TrustEntry> {
    if landing::kind(project, target) != landing::LandingKind::Obeyed {
        return None;
    }
    let path = target.display().to_string();
    let text = format!("write a result to {}, which programs run or obey by themselves", visible(&path));
    Some(entry(What::Output, text, &["obeyed", &path], place))
}

/// What the project wants done to every folder that a worker gets.
pub fn of_workspace(workspace: &WorkspaceConfig) -> Vec<TrustEntry> {
    let WorkspaceConfig { link, copy, prepare: command } = workspace;
    let project = |layer| layer == ConfigLayer::Project;
    let commands = command.iter().filter(|s| project(s.layer)).map(|s| prepare(&s.value, s.place.clone()));
    let linked = link.iter().filter(|l| project(l.layer)).map(|l| linked(&l.value, l.place.clone()));
    let copied = copy.iter().filter(|c| project(c.layer)).map(|c| copied(&c.value, c.place.clone()));
    commands.chain(linked).chain(copied).collect()
}

/// A command that verifies a worker's files. Whoever wrote it, it is the same thing to agree to.
pub fn verify(command: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("run {} to verify a worker's files", visible(command));
    entry(What::Command, text, &["verify", command], place)
}

/// The command that makes a worker's folder ready.
pub fn prepare(command: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("run {} to prepare workspaces", visible(command));
    entry(What::Command, text, &["prepare", command], place)
}

/// An ignored path that a worker can reach, and change, through a link.
pub fn linked(path: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("let workers use your {} through a link", visible(path));
    entry(What::Files, text, &["link", path], place)
}

/// An ignored path that a worker gets a copy of.
pub fn copied(path: &str, place: Option<SourceSpan>) -> TrustEntry {
    let text = format!("give workers a copy of your {}", visible(path));
    entry(What::Files, text, &["copy", path], place)
}

/// A run's plan names the file its result goes to. A run may come from somebody else, in a project's store or
/// by import: if that file lies in none of `folders`, or programs obey it, the user must have named it, or agree to it.
pub fn output(folders: &[&Path], target: &Path) -> Option<TrustEntry> {
    if folders.iter().any(|folder| file::inside(folder, target).is_ok()) {
        return folders.first().and_then(|project| obeyed(project, target, None));
    }
    let path = target.display().to_string();
    let text = format!("write the result of a recorded run to {}", visible(&path));
    Some(entry(What::Output, text, &[&path], None))
}

fn of_agent(agent: &AgentConfig) -> impl Iterator<Item = TrustEntry> {
    let held = [command(agent), unconfined(agent), networked(agent), listening(agent)];
    held.into_iter()
        .chain([key_command(agent), key(agent), host(agent), agent_file(agent)])
        .chain(headers(agent))
        .flatten()
        .chain(reached(agent))
}

/// A program that the project wants run: by naming it, an argument or a variable of it, or by making an agent
/// of a kind that is one.
fn command(agent: &AgentConfig) -> Option<TrustEntry> {
    let from_project = agent.command.iter().chain(&agent.env).find(|v| v.layer == ConfigLayer::Project);
    let kind = || (agent.kind.layer == ConfigLayer::Project).then(|| agent.kind.place.clone());
    let place = match from_project {
        Some(from_project) => from_project.place.clone(),
        None if agent.kind.value.is_process() => kind()?,
        None => return None,
    };
    let words: Vec<&str> = agent.command.iter().map(|w| w.value.as_str()).collect();
    let names: Vec<&str> = agent.env.iter().map(|n| n.value.as_str()).collect();
    let given = if names.is_empty() { "" } else { " with the variables " };
    let text = format!("run {}{given}{}", shown(&words), visible(&names.join(", ")));
    // The count keeps a word from passing as a variable's name.
    let count = words.len().to_string();
    let parts: Vec<&str> = std::iter::once(count.as_str()).chain(words).chain(names).collect();
    Some(entry(What::Command, text, &parts, place))
}

/// The words by which a program is known to whoever agrees to something about it.
fn program(agent: &AgentConfig) -> Vec<&str> {
    agent.command.iter().map(|word| word.value.as_str()).collect()
}

/// A sandbox that the project takes away.
fn unconfined(agent: &AgentConfig) -> Option<TrustEntry> {
    let sandbox = &agent.process.sandbox;
    if sandbox.layer != ConfigLayer::Project || !agent.kind.value.is_process() {
        return None;
    }
    let (word, instead) = match sandbox.value {
        SandboxChoice::Landlock => return None,
        SandboxChoice::Own => ("own", "in its own sandbox only"),
        SandboxChoice::Off => ("off", "without a sandbox"),
    };
    let words = program(agent);
    let text = format!("run {} {instead}", shown(&words));
    let parts: Vec<&str> = ["sandbox", word].into_iter().chain(words).collect();
    Some(entry(What::Command, text, &parts, sandbox.place.clone()))
}

/// A network that the project opens to a program.
fn networked(agent: &AgentConfig) -> Option<TrustEntry> {
    let network = Some(&agent.process.network).filter(|n| n.layer == ConfigLayer::Project && n.value)?;
    let words = program(agent);
    let text = format!("let {} use the network", shown(&words));
    let parts: Vec<&str> = std::iter::once("network").chain(words).collect();
    Some(entry(What::Command, text, &parts, network.place.clone()))
}

/// Ports of this machine that the project lets a program hold.
fn listening(agent: &AgentConfig) -> Option<TrustEntry> {
    let listen = Some(&agent.process.listen).filter(|n| n.layer == ConfigLayer::Project && n.value)?;
    let words = program(agent);
    let text = format!("let {} listen on ports of this machine", shown(&words));
    let parts: Vec<&str> = std::iter::once("listen").chain(words).collect();
    Some(entry(What::Command, text, &parts, listen.place.clone()))
}

/// Paths that the project opens to a program.
fn reached(agent: &AgentConfig) -> impl Iterator<Item = TrustEntry> {
    let words = program(agent);
    let process = &agent.process;
    let paths = process.read.iter().map(|path| ("read", path));
    let paths = paths.chain(process.state.iter().map(|path| ("write", path)));
    let paths = paths.filter(|(_, path)| path.layer == ConfigLayer::Project && agent.kind.value.is_process());
    paths.map(move |(how, path)| {
        let text = format!("let {} {how} {}", shown(&words), visible(&path.value));
        let parts: Vec<&str> = [how, &path.value].into_iter().chain(words.iter().copied()).collect();
        entry(What::Files, text, &parts, path.place.clone())
    })
}

fn key_command(agent: &AgentConfig) -> Option<TrustEntry> {
    let key = agent.key.as_ref().filter(|k| k.layer == ConfigLayer::Project)?;
    let KeySource::Command(words) = &key.value else { return None };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let text = format!("run {} to get the key of agent `{}`", shown(&words), agent.name);
    let parts: Vec<&str> = std::iter::once("key").chain(words).collect();
    Some(entry(What::Command, text, &parts, key.place.clone()))
}

fn key(agent: &AgentConfig) -> Option<TrustEntry> {
    let (base_url, key) = (agent.base_url.as_ref()?, agent.key.as_ref()?);
    let override_layer = agent.send_key_to.as_ref().map(|s| (s.layer, s.place.clone()));
    let parts = [
        Some((base_url.layer, base_url.place.clone())),
        Some((key.layer, key.place.clone())),
        Some((agent.kind.layer, agent.kind.place.clone())),
        override_layer,
    ];
    let (_, place) = parts.into_iter().flatten().find(|(layer, _)| *layer == ConfigLayer::Project)?;
    let (from, source) = match &key.value {
        KeySource::Env(name) => (format!("the key in {}", visible(name)), vec![name.as_str()]),
        KeySource::Command(words) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            (format!("the key that {} prints", shown(&words)), words)
        }
    };
    let url = &base_url.value.url;
    let over = agent.send_key_to.as_ref().map_or("", |s| s.value.as_str());
    let parts: Vec<&str> = [url.as_str(), over].into_iter().chain(source).collect();
    Some(entry(What::Key, format!("send {from} to {}", visible(url)), &parts, place))
}

/// Variables whose values go out as headers, where the project says so or says where to.
fn headers(agent: &AgentConfig) -> Vec<Option<TrustEntry>> {
    let Some(base_url) = &agent.base_url else { return Vec::new() };
    let url = &base_url.value.url;
    let of = |header: &Sourced<String>| {
        let (_, HeaderSource::Env(name)) = AgentConfig::header(&header.value)? else { return None };
        let parts = [
            (header.layer, &header.place),
            (base_url.layer, &base_url.place),
            (agent.kind.layer, &agent.kind.place),
        ];
        let (_, place) = parts.into_iter().find(|(layer, _)| *layer == ConfigLayer::Project)?;
        let text = format!("send the value of {} to {}", visible(name), visible(url));
        Some(entry(What::Key, text, &["header", url, name], place.clone()))
    };
    agent.headers.iter().map(of).collect()
}

/// An address that only the project names, or an agent that only it has, without a key: what is judged goes there all the
/// same, to a service of this machine as well.
fn host(agent: &AgentConfig) -> Option<TrustEntry> {
    let base_url = agent.base_url.as_ref().filter(|_| agent.key.is_none())?;
    let parts = [(base_url.layer, &base_url.place), (agent.kind.layer, &agent.kind.place)];
    let (_, place) = parts.into_iter().find(|(layer, _)| *layer == ConfigLayer::Project)?;
    let url = &base_url.value.url;
    let text = format!("send work to {}", visible(url));
    Some(entry(What::Host, text, &[url], place.clone()))
}

/// The longest words of a project to an agent that are shown whole, in characters.
const LONGEST_WORDS: usize = 300;

/// A judge whose replies stand in a file, and that only the project names. Agreed to by the file's content.
pub fn canned(agent: &AgentConfig) -> Option<TrustEntry> {
    let script = agent.script.as_ref().filter(|_| agent.kind.layer == ConfigLayer::Project)?;
    // Bounded, and no device: the project names the path. What cannot be read gives no replies either.
    let content = Digest::of(file::read_text(&script.value).unwrap_or_default().as_bytes()).to_string();
    let path = visible(&script.value.display().to_string());
    let text = format!("let the ready-made replies in {path} judge work, as `{}`", agent.name);
    let group = Some(Group::File { agent: agent.name.clone(), path: script.value.clone() });
    let parts = ["canned", &agent.name, &content];
    Some(TrustEntry { group, ..entry(What::Judge, text, &parts, script.place.clone()) })
}

fn agent_file(agent: &AgentConfig) -> Option<TrustEntry> {
    let system = agent.system.as_ref().filter(|s| s.layer == ConfigLayer::Project)?;
    let Some((file, content)) = system.value.file.as_ref() else {
        let words = &system.value.text;
        let more = if words.chars().count() > LONGEST_WORDS { "…" } else { "" };
        let shown: String = words.chars().take(LONGEST_WORDS).collect();
        let text = format!("instruct agent `{}` with the words {}{more}", agent.name, visible(&shown));
        return Some(entry(What::AgentFile, text, &["words", words], system.place.clone()));
    };
    let path = visible(&file.display().to_string());
    let text = format!("instruct agent `{}` with the file {path}", agent.name);
    let group = Some(Group::File { agent: agent.name.clone(), path: file.clone() });
    Some(TrustEntry { group, ..entry(What::AgentFile, text, &[&content.to_string()], system.place.clone()) })
}

#[allow(clippy::needless_pass_by_value)] // every caller has just made it
fn entry(what: What, text: String, parts: &[&str], place: Option<SourceSpan>) -> TrustEntry {
    let digest = fingerprint(std::iter::once(what.name()).chain(parts.iter().copied()));
    let text = masked(&text);
    TrustEntry { what, group: None, text, digest, place }
}

/// Words as a shell would need them, so that borders between arguments are seen.
fn shown(words: &[&str]) -> String {
    let plain =
        |w: &str| !w.is_empty() && w.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c));
    let quoted = |w: &&str| {
        if plain(w) { (*w).to_owned() } else { format!("'{}'", visible(w).replace('\'', "'\\''")) }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
