//! Which kinds of agents there are, and how each is built from its spec.
//!
//! To add a kind: one file with its `Agent`, one row in `KINDS`, one `mod` line in `lib.rs`.
//! To add a vendor of a compatible API: one row in `vendors.rs`.

use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex};

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::acp::AcpAgent;
use crate::agent::Agent;
use crate::anthropic::{self, Anthropic};
use crate::cli::{self, ClaudeCode, CliAgent, Codex, Dialect, Gemini, OpenCode};
use crate::command::CommandAgent;
use crate::http::client::{ClientRoute, is_loopback};
use crate::http::{HttpAgent, Reach};
use crate::openai::OpenAi;
use crate::process::{AgentProgram, clean_env};
use crate::provider::account;
use crate::scripted::Scripted;
use crate::services::AgentServices;
use crate::spec::AgentSpec;
use crate::vendors::{LengthField, VENDORS, Vendor, Wire};

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
        about: "OpenAI-compatible chat completions",
        edits_files: false,
        build: |s, w| chat(s, w, Vendor::by_name("openai")),
    },
    AgentKindEntry {
        name: "anthropic",
        about: "Anthropic Messages",
        edits_files: false,
        build: |s, w| messages(s, w, Vendor::by_name("anthropic")),
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
        about: "a program: brief on stdin, reply on stdout",
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
    match Vendor::by_name(kind) {
        Some(v) if v.wire == Wire::OpenAi => chat(spec, services, Some(v)),
        Some(v) => messages(spec, services, Some(v)),
        None => {
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

fn chat(spec: &AgentSpec, services: &AgentServices, vendor: Option<&Vendor>) -> Built {
    let url = base_url(spec, vendor)?;
    // The dialect follows the host: a compatible server is asked in the older, wider known way first.
    let host = url.host_str().and_then(Vendor::by_host);
    let length = host.map_or(LengthField::MaxTokens, |v| v.length);
    let dialect = OpenAi {
        model: need(spec, "model", spec.model.as_ref())?.clone(),
        system: spec.system.clone(),
        temperature: spec.temperature,
        max_tokens: spec.max_tokens,
        length,
        cache_key: host.is_some_and(|v| v.cache_key),
        without: AtomicU8::new(0),
    };
    let endpoint = below(&url, "chat/completions");
    let key = |key: &str| (AUTHORIZATION, format!("Bearer {key}"));
    Ok(Arc::new(HttpAgent { dialect, reach: reach(spec, services, endpoint, key)? }))
}

fn messages(spec: &AgentSpec, services: &AgentServices, vendor: Option<&Vendor>) -> Built {
    let url = base_url(spec, vendor)?;
    let dialect = Anthropic {
        model: need(spec, "model", spec.model.as_ref())?.clone(),
        system: spec.system.clone(),
        temperature: spec.temperature,
        max_tokens: spec.max_tokens,
    };
    let endpoint = below(&url, "messages");
    let key = |key: &str| (HeaderName::from_static("x-api-key"), key.to_owned());
    let mut reach = reach(spec, services, endpoint, key)?;
    reach.headers.insert("anthropic-version", HeaderValue::from_static(anthropic::VERSION));
    Ok(Arc::new(HttpAgent { dialect, reach }))
}

fn base_url(spec: &AgentSpec, vendor: Option<&Vendor>) -> Result<Url, BuildError> {
    let bad = |reason: &str| BuildError::BadUrl { agent: spec.name.clone(), reason: reason.to_owned() };
    let text = spec.base_url.as_deref().or(vendor.map(|v| v.base_url));
    let text = text.ok_or(BuildError::Missing { agent: spec.name.clone(), field: "base_url" })?;
    let mut url = Url::parse(text).map_err(|e| bad(&e.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(bad("it must begin with http:// or https:// and name a host"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(bad("it must carry no user, password or query; give a key with `key_env`"));
    }
    if url.path() == "/" {
        url.set_path("/v1");
    }
    Ok(url)
}

fn below(url: &Url, path: &str) -> Url {
    let mut url = url.clone();
    url.set_path(&format!("{}/{path}", url.path().trim_end_matches('/')));
    url
}

fn reach(
    spec: &AgentSpec,
    services: &AgentServices,
    endpoint: Url,
    header: impl Fn(&str) -> (HeaderName, String),
) -> Result<Reach, BuildError> {
    let agent = || spec.name.clone();
    let bare = endpoint.host_str().unwrap_or_default().to_owned();
    let host = endpoint.port().map_or_else(|| bare.clone(), |port| format!("{bare}:{port}"));
    let local = is_loopback(&endpoint);
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if let Some(key) = &spec.key {
        let named = spec.send_key_to.as_deref().is_some_and(|to| {
            let to = to.trim();
            to.eq_ignore_ascii_case(&bare) || to.eq_ignore_ascii_case(&host)
        });
        if let Some((key_env, vendor)) =
            spec.key_env.as_deref().and_then(|name| Vendor::by_key_env(name).map(|v| (name, v)))
            && !vendor.owns(&bare)
            && !named
        {
            return Err(BuildError::KeyToOtherHost {
                agent: agent(),
                key_env: key_env.to_owned(),
                vendor: vendor.name,
                host: bare,
            });
        }
        if endpoint.scheme() == "http" && !local && !named {
            return Err(BuildError::KeyInClear { agent: agent(), host: bare });
        }
        let (name, value) = header(key.expose());
        let mut value = HeaderValue::from_str(&value).map_err(|_| BuildError::BadKey { agent: agent() })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    let route = ClientRoute { connect: spec.timeouts.connect, local, plain: endpoint.scheme() == "http" };
    let client =
        services.client(route).map_err(|e| BuildError::Client { agent: agent(), reason: e.to_string() })?;
    let way = format!("{endpoint} {}", spec.model.as_deref().unwrap_or_default());
    Ok(Reach {
        client,
        headers,
        key: spec.key.clone(),
        timeouts: spec.timeouts,
        provider: services.provider(&account(&host, spec.key_env.as_deref(), spec.key.as_ref()), &host),
        gate: services.gate(&way, spec.concurrent),
        schemaless: services.schemaless(&way),
        schema: Mutex::default(),
        clock: Arc::clone(&services.clock),
        jitter: Arc::clone(&services.jitter),
        host,
        endpoint,
    })
}

fn command(spec: &AgentSpec, services: &AgentServices) -> Built {
    Ok(Arc::new(CommandAgent { program: program(spec, services)?, system: spec.system.clone() }))
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
