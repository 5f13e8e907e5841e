//! Which kinds of agents there are, and how each is built from its spec.
//!
//! To add a kind: one file with its `Agent`, one row in `KINDS`, one `mod` line in `lib.rs`.
//! To add a vendor of a compatible API: one row in `vendors.rs`.

mod http;

use std::sync::Arc;

use reqwest::Url;

use crate::acp::AcpAgent;
use crate::agent::Agent;
use crate::cli::{self, ClaudeCode, CliAgent, Codex, Dialect, Gemini, OpenCode};
use crate::command::{CommandAgent, OutputReader};
use crate::http::client::is_loopback;
use crate::process::{AgentProgram, clean_env};
use crate::scripted::Scripted;
use crate::services::AgentServices;
use crate::spec::{AgentSpec, OutputForm};
use crate::vendors::{VENDORS, Vendor};

pub struct AgentKindEntry {
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Whether an agent of it can change files of the folder it works in.
    pub edits_files: bool,
    build: fn(&AgentSpec, &AgentServices) -> Built,
}

type Built = Result<Arc<dyn Agent>, BuildError>;

pub const KINDS: &[AgentKindEntry] = &[
    AgentKindEntry {
        name: "openai",
        about: "OpenAI-compatible chat completions, or the Responses API",
        edits_files: false,
        build: |s, w| http::build(s, w, Vendor::by_name("openai")),
    },
    AgentKindEntry {
        name: "anthropic",
        about: "Anthropic Messages",
        edits_files: false,
        build: |s, w| http::build(s, w, Vendor::by_name("anthropic")),
    },
    AgentKindEntry {
        name: "google",
        about: "the Gemini API",
        edits_files: false,
        build: |s, w| http::build(s, w, Vendor::by_name("google")),
    },
    AgentKindEntry {
        name: "claude-code",
        about: "Claude Code",
        edits_files: true,
        build: |s, w| cli(s, w, &ClaudeCode),
    },
    AgentKindEntry { name: "codex", about: "Codex", edits_files: true, build: |s, w| cli(s, w, &Codex) },
    AgentKindEntry {
        name: "gemini",
        about: "Gemini CLI",
        edits_files: true,
        build: |s, w| cli(s, w, &Gemini),
    },
    AgentKindEntry {
        name: "opencode",
        about: "OpenCode",
        edits_files: true,
        build: |s, w| cli(s, w, &OpenCode),
    },
    AgentKindEntry {
        name: "command",
        about: "a program that prints its reply",
        edits_files: true,
        build: command,
    },
    AgentKindEntry {
        name: "acp",
        about: "any agent that speaks the Agent Client Protocol",
        edits_files: true,
        build: acp,
    },
    AgentKindEntry { name: "scripted", about: "replies from a file", edits_files: true, build: scripted },
];

/// Why an agent cannot be built. Each names what to change.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("agent `{agent}`: there is no kind `{kind}`; there are {known}")]
    UnknownKind { agent: String, kind: String, known: String },
    #[error("agent `{agent}` needs `{field}`")]
    Missing { agent: String, field: &'static str },
    #[error("agent `{agent}`: `base_url` is not usable: {reason}")]
    BadUrl { agent: String, reason: String },
    #[error(
        "agent `{agent}`: the key in {key_env} belongs to {vendor} and is not sent to {host}; \
         if that is meant, add `send_key_to = \"{host}\"`"
    )]
    KeyToOtherHost { agent: String, key_env: String, vendor: &'static str, host: String },
    #[error(
        "agent `{agent}`: a key is not sent unencrypted to {host}; use https://, or add `send_key_to = \"{host}\"`"
    )]
    KeyInClear { agent: String, host: String },
    #[error(
        "agent `{agent}`: its key has characters that no HTTP header may have; look for a line break at its end"
    )]
    BadKey { agent: String },
    #[error("agent `{agent}`: this program was started without {what}, which its kind needs")]
    Unsupported { agent: String, what: &'static str },
    #[error("agent `{agent}`: `{option}` is not usable: {reason}")]
    BadOption { agent: String, option: &'static str, reason: String },
    #[error("agent `{agent}`: no HTTP client can be made: {reason}")]
    Client { agent: String, reason: String },
}

/// Builds an agent. `kind` is one of `KINDS` or the name of a vendor.
#[allow(clippy::needless_pass_by_value)] // a spec, with its key, is used up by its agent
pub fn build(kind: &str, spec: AgentSpec, services: &AgentServices) -> Built {
    let spec = &spec;
    if let Some(found) = KINDS.iter().find(|k| k.name == kind) {
        return (found.build)(spec, services);
    }
    if let Some(vendor) = Vendor::by_name(kind) {
        http::build(spec, services, Some(vendor))
    } else {
        let known = KINDS
            .iter()
            .map(|k| k.name)
            .chain(VENDORS.iter().map(|v| v.name).filter(|name| KINDS.iter().all(|k| k.name != *name)));
        Err(BuildError::UnknownKind {
            agent: spec.name.clone(),
            kind: kind.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        })
    }
}

/// Whether an agent of this kind can be a worker that changes files. A vendor's API answers with text only.
pub fn kind_edits_files(kind: &str) -> bool {
    KINDS.iter().any(|k| k.name == kind && k.edits_files)
}

/// Where briefs go, for people: a host, or `this machine`.
pub fn sends_to(kind: &str, base_url: Option<&str>) -> String {
    let url = base_url.or_else(|| Vendor::by_name(kind).map(|v| v.base_url)).map(Url::parse);
    match url {
        Some(Ok(url)) if is_loopback(&url) => "this machine".to_owned(),
        Some(Ok(url)) => url.host_str().unwrap_or("an unknown host").to_owned(),
        Some(Err(_)) => "an unknown host".to_owned(),
        None => "this machine".to_owned(),
    }
}

fn need<'a, T>(spec: &AgentSpec, field: &'static str, value: Option<&'a T>) -> Result<&'a T, BuildError> {
    value.ok_or_else(|| BuildError::Missing { agent: spec.name.clone(), field })
}

fn command(spec: &AgentSpec, services: &AgentServices) -> Built {
    let output = output_reader(&spec.name, &spec.output)?;
    Ok(Arc::new(CommandAgent {
        program: program(spec, services)?,
        system: spec.system.clone(),
        states_usage: is_priced(spec) || output.states_usage(),
        brief: spec.output.brief,
        resume: spec.output.resume.clone(),
        output,
    }))
}

/// Whether what a command is said to write can be looked for.
pub fn check_output(agent: &str, form: &OutputForm) -> Result<(), BuildError> {
    output_reader(agent, form).map(drop)
}

fn output_reader(agent: &str, form: &OutputForm) -> Result<OutputReader, BuildError> {
    OutputReader::new(form).map_err(|(option, reason)| BuildError::BadOption {
        agent: agent.to_owned(),
        option,
        reason,
    })
}

/// Whether a call of it costs anything by its price.
fn is_priced(spec: &AgentSpec) -> bool {
    spec.price.as_ref().is_some_and(|price| price.at_most(1).0 > 0)
}

fn acp(spec: &AgentSpec, services: &AgentServices) -> Built {
    let program = program(spec, services)?;
    let home = program.env.iter().find(|(name, _)| name == "HOME").map_or("-", |(_, value)| value.as_str());
    let account = format!("{} {:?} {home}", program.name, program.args);
    Ok(Arc::new(AcpAgent {
        provider: services.provider(&account, &program.name),
        program,
        system: spec.system.clone(),
        model: spec.model.clone(),
        login: spec.login.clone(),
        starting: spec.timeouts.first_byte,
    }))
}

fn cli(spec: &AgentSpec, services: &AgentServices, dialect: &'static dyn Dialect) -> Built {
    let program = program(spec, services)?;
    // Whose account it is: that of the program's own settings.
    let value = |name: &str| program.env.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    let home = value(dialect.home()).or(value("HOME")).unwrap_or("-");
    Ok(Arc::new(CliAgent {
        provider: services.provider(&format!("{} {home}", dialect.shown()), dialect.shown()),
        dialect,
        program,
        model: spec.model.clone(),
        system: spec.system.clone(),
        max_usd: spec.max_usd_per_call,
        quiet: cli::QUIET,
    }))
}

/// The program of a process agent.
fn program(spec: &AgentSpec, services: &AgentServices) -> Result<AgentProgram, BuildError> {
    let named = need(spec, "command", spec.command.first())?.clone();
    let launcher = services.launcher.clone().ok_or_else(|| BuildError::Unsupported {
        agent: spec.name.clone(),
        what: "a launcher for commands",
    })?;
    Ok(AgentProgram {
        gate: services.gate(&format!("{:?} {:?}", spec.command, spec.args), spec.concurrent),
        name: named,
        args: spec.command.iter().skip(1).chain(&spec.args).cloned().collect(),
        env: clean_env(&services.base_env, &spec.env),
        spec: spec.process.clone(),
        time: spec.timeouts.call,
        launcher,
    })
}

fn scripted(spec: &AgentSpec, services: &AgentServices) -> Built {
    Ok(Arc::new(Scripted {
        name: spec.name.clone(),
        script: Arc::clone(need(spec, "script", spec.script.as_ref())?),
        clock: Arc::clone(&services.clock),
        time: spec.timeouts.call,
    }))
}

#[cfg(test)]
mod tests;
