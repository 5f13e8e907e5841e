//! One agent's settings: typed, complete, each with its origin. How it is reached, not what it is asked.

use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::budget::{Limits, LongPrice, Money, Price};
use gadfly_engine::digest::Digest;
use gadfly_engine::masked::looks_like_key;

use super::budget;
use super::endpoint::{Endpoint, as_said};
use super::keys::{self, ConfigSection, KeyScope};
use super::names::{AgentKind, ArtifactSource, vendor_host};
use super::output_form::OutputSettings;
use super::value::ConfigTable;
use crate::file;
use crate::markdown;
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief};

#[derive(Clone, PartialEq, Debug)]
pub struct AgentConfig {
    pub name: String,
    pub place: Option<SourceSpan>,
    pub kind: Sourced<AgentKind>,
    /// Always there for HTTP kinds, never for others.
    pub base_url: Option<Sourced<Endpoint>>,
    pub model: Option<Sourced<String>>,
    pub vendor: Option<Sourced<String>>,
    pub key: Option<Sourced<KeySource>>,
    /// The named override: this host may get a key that belongs to another vendor.
    pub send_key_to: Option<Sourced<String>>,
    pub system: Option<Sourced<SystemPrompt>>,
    /// The program and its arguments, `args` included; empty for kinds that are no program.
    pub command: Vec<Sourced<String>>,
    /// Names of variables passed through to the command.
    pub env: Vec<Sourced<String>>,
    pub process: ProcessConfig,
    pub output_form: OutputSettings,
    /// The way to log in that an ACP agent is asked for.
    pub login: Option<Sourced<String>>,
    pub script: Option<Sourced<PathBuf>>,
    pub timeout: Sourced<Duration>,
    pub connect_timeout: Sourced<Duration>,
    pub first_byte_timeout: Sourced<Duration>,
    pub idle_timeout: Sourced<Duration>,
    pub max_tokens: Sourced<u64>,
    pub temperature: Option<Sourced<f64>>,
    /// `chat` or `responses`.
    pub api: Option<Sourced<String>>,
    pub api_version: Option<Sourced<String>>,
    pub effort: Option<Sourced<String>>,
    pub thinking_tokens: Option<Sourced<u64>>,
    /// `Name: value`, or `Name: $VARIABLE`.
    pub headers: Vec<Sourced<String>>,
    /// A JSON object.
    pub body: Option<Sourced<String>>,
    pub concurrent: Sourced<u64>,
    pub price: Option<Sourced<Price>>,
    pub max_usd_per_call: Option<Sourced<Money>>,
    pub max_tokens_per_call: Option<Sourced<u64>>,
    /// Tokens one call can take, brief and answer together; none if nobody knows.
    pub context: Option<Sourced<u64>>,
    pub output: Sourced<ArtifactSource>,
    pub limits: Limits,
}

/// What holds an agent's processes, and how much they may use. Without meaning for other kinds.
#[derive(Clone, PartialEq, Debug)]
pub struct ProcessConfig {
    pub sandbox: Sourced<SandboxChoice>,
    /// Paths it may read beside its workspace and the system, as written: `~/…`, absolute, or from the
    /// project's root.
    pub read: Vec<Sourced<String>>,
    /// Paths it may also write: its own state.
    pub state: Vec<Sourced<String>>,
    pub network: Sourced<bool>,
    /// Whether it may also listen on ports of this machine.
    pub listen: Sourced<bool>,
    pub max_memory_mb: Sourced<u64>,
    pub max_processes: Sourced<u64>,
    pub max_steps: Sourced<u64>,
    /// As a worker, go on with the conversation of the round before.
    pub continues: Sourced<bool>,
}

/// Who keeps an agent's processes from what they may not touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SandboxChoice {
    Landlock,
    Own,
    Off,
}

impl ProcessConfig {
    fn build(table: &ConfigTable, kind: AgentKind) -> Self {
        let whole = |key, default| table.whole(key).unwrap_or(Sourced::built_in(default));
        let texts = |key| table.texts(key).map(|list| list.value).unwrap_or_default();
        let sandbox = table.text("sandbox").map(|word| {
            word.map(|word| match word.as_str() {
                "own" => SandboxChoice::Own,
                "off" => SandboxChoice::Off,
                _ => SandboxChoice::Landlock,
            })
        });
        let converses = match kind {
            AgentKind::Command => OutputSettings::build(table).converses(),
            other => other.is_process(),
        };
        Self {
            sandbox: sandbox.unwrap_or(Sourced::built_in(SandboxChoice::Landlock)),
            read: texts("read"),
            state: texts("state"),
            network: table.flag("network").unwrap_or(Sourced::built_in(true)),
            listen: table.flag("listen").unwrap_or(Sourced::built_in(false)),
            max_memory_mb: whole("max_memory_mb", keys::MAX_MEMORY_MB),
            max_processes: whole("max_processes", keys::MAX_PROCESSES),
            max_steps: whole("max_steps", keys::MAX_STEPS),
            continues: table.flag("continue").unwrap_or(Sourced::built_in(converses)),
        }
    }
}

/// Where an agent's key comes from. The key itself is never here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeySource {
    Env(String),
    Command(Vec<String>),
}

/// What a header of the user's own says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeaderSource<'a> {
    Text(&'a str),
    /// The value of this variable.
    Env(&'a str),
}

/// Standing instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemPrompt {
    pub text: String,
    /// The agent file it was read from, and the digest of all its bytes, front matter included.
    pub file: Option<(PathBuf, Digest)>,
}

impl AgentConfig {
    /// Whether its key may go to its host: a known vendor's key goes to that vendor, or where the user's
    /// `send_key_to` says.
    pub fn may_send_key(&self) -> bool {
        let Some(base_url) = &self.base_url else { return false };
        let Some(key) = &self.key else { return false };
        let KeySource::Env(name) = &key.value else { return true };
        vendor_host(name).is_none_or(|host| host == base_url.value.host)
            || self.send_key_to.as_ref().is_some_and(|to| to.value.eq_ignore_ascii_case(&base_url.value.host))
    }

    /// Where briefs go, for people.
    pub fn sends_to(&self) -> &str {
        let elsewhere = || self.kind.value.usual_destination().unwrap_or("this machine");
        self.base_url.as_ref().map_or_else(elsewhere, |url| &url.value.host)
    }

    /// Calls cost nothing unless `price` says otherwise.
    pub fn is_free(&self) -> bool {
        self.price.is_none()
            && self.kind.value.usual_destination().is_none()
            && self.base_url.as_ref().is_none_or(|url| url.value.loopback)
    }

    /// None if the agent cannot be used; the problems then say why, here or in its layer.
    pub(super) fn build(name: &str, table: &ConfigTable, problems: &mut Vec<Problem>) -> Option<Self> {
        let said_before = problems.len();
        let mut say = |problem: Problem, key: &str| problems.push(problem.at(table.place_of(key)));
        let Some(kind) = table.kind("kind") else {
            if !table.has("kind") {
                let kinds: Vec<_> = AgentKind::every().map(AgentKind::name).collect();
                let message = format!("agent `{name}` has no `kind`");
                say(Problem::error(message).help(format!("add one of: {}", kinds.join(", "))), "kind");
            }
            return None;
        };
        say_unused_and_missing(name, kind.value, table, &mut say);
        // What has no effect must have none: neither on calls nor on what needs trust.
        let whole = table;
        let table = &whole.filtered(|key| is_used(key, kind.value));
        let base_url = match table.text("base_url").filter(|_| kind.value.is_http()) {
            Some(text) => match Endpoint::parse(&text.value) {
                Ok(endpoint) => Some(text.with(endpoint)),
                Err(why) => {
                    let message = format!("{} is not a usable `base_url`: {why}", as_said(&text.value));
                    say(Problem::error(message), "base_url");
                    return None;
                }
            },
            None => kind.value.base_url().and_then(|url| Endpoint::parse(url).ok()).map(Sourced::built_in),
        };
        let system = match table.path("file") {
            Some(path) => match file::read_text(&path.value) {
                Ok(text) => {
                    let file = Some((path.value.clone(), Digest::of(text.as_bytes())));
                    Some(path.with(SystemPrompt { text: markdown::body(&text).trim().to_owned(), file }))
                }
                Err(error) => {
                    say(Problem::error(format!("agent `{name}`: {error}")), "file");
                    None
                }
            },
            None => table.text("system").map(|s| s.map(|text| SystemPrompt { text, file: None })),
        };
        let usual = kind.value.usual_program().filter(|_| !table.has("command"));
        let usual = usual.map(|program| vec![Sourced::built_in(program.to_owned())]);
        let given = [table.texts("command"), table.texts("args")];
        let command = usual.into_iter().chain(given.into_iter().flatten().map(|list| list.value)).flatten();
        let key_env = table.text("key_env").map(|k| k.map(KeySource::Env));
        let key_command = || {
            let list = table.texts("key_command")?;
            Some(list.map(|words| KeySource::Command(words.into_iter().map(|w| w.value).collect())))
        };
        let agent = Self {
            name: name.to_owned(),
            place: table.place.clone(),
            base_url,
            model: table.text("model"),
            vendor: table.text("vendor"),
            key: key_env.or_else(key_command),
            send_key_to: table.text("send_key_to"),
            system,
            command: command.collect(),
            env: table.texts("env").map(|list| list.value).unwrap_or_default(),
            process: ProcessConfig::build(table, kind.value),
            output_form: OutputSettings::build(table),
            login: table.text("login"),
            script: table.path("script"),
            timeout: table.time("timeout").unwrap_or(Sourced::built_in(keys::TIMEOUT)),
            connect_timeout: table
                .time("connect_timeout")
                .unwrap_or(Sourced::built_in(keys::CONNECT_TIMEOUT)),
            first_byte_timeout: table
                .time("first_byte_timeout")
                .unwrap_or(Sourced::built_in(keys::FIRST_BYTE_TIMEOUT)),
            idle_timeout: table.time("idle_timeout").unwrap_or(Sourced::built_in(keys::IDLE_TIMEOUT)),
            max_tokens: table.whole("max_tokens").unwrap_or(Sourced::built_in(keys::MAX_TOKENS)),
            temperature: table.number("temperature"),
            api: table.text("api"),
            api_version: table.text("api_version"),
            effort: table.text("effort"),
            thinking_tokens: table.whole("thinking_tokens"),
            headers: table.texts("headers").map(|list| list.value).unwrap_or_default(),
            body: table.text("body"),
            concurrent: table.whole("concurrent").unwrap_or(Sourced::built_in(keys::CONCURRENT)),
            price: table.table("price").and_then(|t| price(name, t, &mut say)),
            max_usd_per_call: table.number("max_usd_per_call").map(|n| n.map(Money::from_usd)),
            max_tokens_per_call: table.whole("max_tokens_per_call"),
            context: table
                .whole("context")
                .or_else(|| kind.value.is_http().then_some(Sourced::built_in(keys::CONTEXT))),
            output: table.output("output").unwrap_or(Sourced::built_in(ArtifactSource::default())),
            limits: table.table("budget").map(budget::limits).unwrap_or_default(),
            kind,
        };
        agent.check_names(&mut say);
        agent.check_headers(&mut say);
        if agent.output.value == ArtifactSource::Files && !agent.kind.value.edits_files() {
            let message = format!("agent `{name}` of kind `{}` cannot change files", agent.kind.value);
            say(Problem::error(message).help("remove `output`: what it replies is its work"), "output");
        }
        if agent.key.is_some() || !(table.has("key_env") || table.has("key_command")) {
            agent.check_key(&mut say);
        }
        let wrong = problems.iter().skip(said_before).any(Problem::is_error);
        (!wrong && !whole.is_spoiled()).then_some(agent)
    }

    fn check_names(&self, say: &mut impl FnMut(Problem, &str)) {
        let key = self.key.as_ref().and_then(|k| match &k.value {
            KeySource::Env(name) => Some(name.as_str()),
            KeySource::Command(_) => None,
        });
        if let Some(name) = key.filter(|n| !is_variable(n) || looks_like_key(n)) {
            // Not repeated in the message: it may be the key itself.
            let message = format!(
                "`key_env` of agent `{}` must be the name of a variable ({} characters, not a valid variable name)",
                self.name,
                name.chars().count()
            );
            let help = "put the key into a variable and its name here, like key_env = \"OPENAI_API_KEY\"";
            say(Problem::error(message).help(help), "key_env");
        }
        if let Some(model) = self.model.as_ref().filter(|model| model.value.starts_with('-')) {
            let message = format!(
                "`model` of agent `{}` is `{}`, which looks like a flag",
                self.name,
                brief(&model.value)
            );
            say(
                Problem::error(message).help("give the model's name; flags of a program go into `args`"),
                "model",
            );
        }
        if self.model.as_ref().is_some_and(|model| looks_like_key(&model.value)) {
            let message = format!("`model` of agent `{}` looks like a key", self.name);
            let help = "give the model's name; the key goes into a variable, and its name into `key_env`";
            say(Problem::error(message).help(help), "model");
        }
        for name in self.env.iter().filter(|n| !is_variable(&n.value) || looks_like_key(&n.value)) {
            // Not repeated either: a value may stand there.
            let message = format!(
                "`env` of agent `{}` has an entry of {} characters that is not a valid variable name",
                self.name,
                name.value.chars().count()
            );
            say(Problem::error(message).help("give names only, like env = [\"HOME\"]"), "env");
        }
    }

    /// A header with its value, or the variable that has it.
    pub fn header(text: &str) -> Option<(&str, HeaderSource<'_>)> {
        let (name, value) = text.split_once(':')?;
        let (name, value) = (name.trim(), value.trim());
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
        let is_value = !value.is_empty() && !value.chars().any(char::is_control);
        let value = value.strip_prefix('$').map_or(HeaderSource::Text(value), HeaderSource::Env);
        (is_name && is_value).then_some((name, value))
    }

    fn check_headers(&self, say: &mut impl FnMut(Problem, &str)) {
        let Some(base_url) = &self.base_url else { return };
        for header in &self.headers {
            // A value is not repeated: it may be a key.
            let (message, help) = match Self::header(&header.value) {
                None => {
                    ("an entry that is no `Name: value`".to_owned(), "like headers = [\"X-Title: review\"]")
                }
                Some((name, HeaderSource::Text(value))) if looks_like_key(value) => (
                    format!("a value of `{name}` that looks like a key"),
                    "put it into a variable: \"Name: $VARIABLE\"",
                ),
                Some((_, HeaderSource::Env(variable))) if !is_variable(variable) => (
                    "an entry whose `$` is followed by no name of a variable".to_owned(),
                    "like \"X-Org: $ORG_ID\"",
                ),
                Some((_, HeaderSource::Env(variable)))
                    if vendor_host(variable).is_some_and(|host| host != base_url.value.host) =>
                {
                    (format!("`{variable}`, another vendor's key"), "a key goes to its vendor only")
                }
                Some(_) => continue,
            };
            let message = format!("`headers` of agent `{}` has {message}", self.name);
            say(Problem::error(message).help(help), "headers");
        }
    }

    fn check_key(&self, say: &mut impl FnMut(Problem, &str)) {
        let Some(base_url) = &self.base_url else { return };
        let host = &base_url.value.host;
        let Some(key) = &self.key else {
            if let Some(to) = self
                .kind
                .value
                .base_url()
                .filter(|_| base_url.layer == ConfigLayer::BuiltIn && !base_url.value.loopback)
            {
                let message = format!("agent `{}` sends no key to {to}", self.name);
                let help = "add `key_env = \"…\"` with the name of the variable that holds it";
                say(Problem::warning(message).help(help), "kind");
            }
            return;
        };
        if let Some(to) = &self.send_key_to
            && !to.value.eq_ignore_ascii_case(host)
        {
            let message = format!("`send_key_to` names `{}`, but the key goes to `{host}`", brief(&to.value));
            say(
                Problem::error(message).help(format!("write send_key_to = \"{host}\" or remove it")),
                "send_key_to",
            );
        } else if let KeySource::Env(name) = &key.value
            && let Some(vendor) = vendor_host(name)
            && !self.may_send_key()
        {
            let message = format!("`{name}` is a key for {vendor} and is not sent to {host}");
            let help = format!("name another variable, or say that you mean it: send_key_to = \"{host}\"");
            // A server on this machine usually wants no key at all, so the agent works without it.
            let problem =
                if base_url.value.loopback { Problem::warning(message) } else { Problem::error(message) };
            say(problem.help(help), "key_env");
        }
        if !base_url.value.tls && !base_url.value.loopback {
            let message = format!("the key of agent `{}` goes to {host} unencrypted", self.name);
            say(Problem::warning(message).help("use https://"), "base_url");
        }
    }
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_used(key: &str, kind: AgentKind) -> bool {
    match keys::find(ConfigSection::Agent, key).map(|k| k.used) {
        Some(KeyScope::Kinds(kinds)) => kinds.contains(&kind.form()),
        _ => true,
    }
}

fn say_unused_and_missing(
    name: &str,
    kind: AgentKind,
    table: &ConfigTable,
    say: &mut impl FnMut(Problem, &str),
) {
    for (key, _) in table.keys() {
        if let Some(KeyScope::Kinds(kinds)) = keys::find(ConfigSection::Agent, key).map(|k| k.used)
            && !is_used(key, kind)
        {
            let list: Vec<_> = kinds.iter().map(|k| k.name()).collect();
            let message = format!("`{key}` has no effect on agent `{name}` of kind `{kind}`");
            say(Problem::warning(message).help(format!("it is for: {}", list.join(", "))), key);
        }
    }
    let required = match kind {
        AgentKind::OpenAi | AgentKind::Anthropic | AgentKind::Google | AgentKind::Vendor(_) => {
            Some(("model", "model = \"the model's name\""))
        }
        AgentKind::Command => Some(("command", "command = [\"./critic.sh\"]")),
        AgentKind::Scripted => Some(("script", "script = \"replies.toml\"")),
        AgentKind::Acp => Some(("command", "command = [\"gemini\", \"--acp\"]")),
        AgentKind::ClaudeCode
        | AgentKind::Codex
        | AgentKind::Gemini
        | AgentKind::OpenCode
        | AgentKind::Person => None,
    };
    match required {
        Some((key, example)) if !table.has(key) => {
            let message = format!("agent `{name}` of kind `{kind}` needs `{key}`");
            say(Problem::error(message).help(format!("add {example}")), "kind");
        }
        _ => {}
    }
}

fn price(name: &str, table: &ConfigTable, say: &mut impl FnMut(Problem, &str)) -> Option<Sourced<Price>> {
    let (Some(input), Some(output)) = (table.number("input"), table.number("output")) else {
        if !table.has("input") || !table.has("output") {
            let message = format!("the price of agent `{name}` needs `input` and `output`");
            say(
                Problem::error(message)
                    .help("dollars per million tokens, like { input = 3.0, output = 15.0 }"),
                "price",
            );
        }
        return None;
    };
    // Dollars per million tokens are micro-dollars per token.
    let per_token = |usd: f64| Money::from_usd(usd / 1e6).0;
    let or_input = |key| table.number(key).map_or(input.value, |n| n.value);
    let price = Price {
        input: per_token(input.value),
        output: per_token(output.value),
        // What is not stated is charged like any other input.
        cache_read: per_token(or_input("cache_read")),
        cache_write: per_token(or_input("cache_write")),
        as_of: "config".to_owned(),
        long: table.whole("long_above").map(|above| {
            let long_input = table.number("long_input").map_or(input.value, |n| n.value);
            LongPrice {
                above: above.value,
                input: per_token(long_input),
                output: per_token(table.number("long_output").map_or(output.value, |n| n.value)),
                cache_read: per_token(long_input),
                cache_write: per_token(long_input),
            }
        }),
    };
    Some(Sourced { value: price, layer: table.layer, place: table.place.clone() })
}
