//! The names a configuration may choose from: kinds of agents, protocols of loops, outputs.

use std::fmt;

/// The agent that is there without being configured: whoever talks to us through a door of its own (an MCP host, a
/// hook) and answers as a person does, through the inbox.
pub const HOST: &str = "host";

/// How an agent is reached.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AgentKind {
    OpenAi,
    Anthropic,
    /// The Gemini API; `Gemini` is the program.
    Google,
    ClaudeCode,
    Codex,
    Gemini,
    OpenCode,
    Acp,
    Command,
    Person,
    Scripted,
    /// A vendor whose API is like `OpenAI`'s, by its name.
    Vendor(&'static str),
}

/// Vendors and servers that speak as `OpenAI` does, and where.
const VENDORS: [(&str, &str); 12] = [
    ("mistral", "https://api.mistral.ai/v1"),
    ("groq", "https://api.groq.com/openai/v1"),
    ("openrouter", "https://openrouter.ai/api/v1"),
    ("deepseek", "https://api.deepseek.com/v1"),
    ("xai", "https://api.x.ai/v1"),
    ("together", "https://api.together.xyz/v1"),
    ("fireworks", "https://api.fireworks.ai/inference/v1"),
    ("cerebras", "https://api.cerebras.ai/v1"),
    ("ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vllm", "http://127.0.0.1:8000/v1"),
    ("lmstudio", "http://127.0.0.1:1234/v1"),
];

impl AgentKind {
    /// All that work in a way of their own.
    pub const ALL: [Self; 11] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::Google,
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::OpenCode,
        Self::Acp,
        Self::Command,
        Self::Person,
        Self::Scripted,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Vendor(name) => name,
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
            Self::Acp => "acp",
            Self::Command => "command",
            Self::Person => "person",
            Self::Scripted => "scripted",
        }
    }

    /// All that can be named, vendors included.
    pub fn every() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().chain(VENDORS.iter().map(|(name, _)| Self::Vendor(name)))
    }

    /// The kind whose options it has.
    pub const fn form(self) -> Self {
        match self {
            Self::Vendor(_) => Self::OpenAi,
            other => other,
        }
    }

    /// Reached over HTTP, with a model and perhaps a key.
    pub const fn is_http(self) -> bool {
        matches!(self, Self::OpenAi | Self::Anthropic | Self::Google | Self::Vendor(_))
    }

    /// It can work in a folder and change its files.
    pub const fn edits_files(self) -> bool {
        self.is_process() || matches!(self, Self::Person | Self::Scripted)
    }

    /// A program of the user's machine.
    pub const fn is_process(self) -> bool {
        matches!(self, Self::Acp | Self::Command) || self.usual_program().is_some()
    }

    /// The program that is started if `command` is not given.
    pub const fn usual_program(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("claude"),
            Self::Codex => Some("codex"),
            Self::Gemini => Some("gemini"),
            Self::OpenCode => Some("opencode"),
            _ => None,
        }
    }

    /// Where a program of this kind sends its briefs, for people: it is set up by itself, not by us.
    pub const fn usual_destination(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("where Claude Code is set up to send (usually Anthropic)"),
            Self::Codex => Some("where Codex is set up to send (usually OpenAI)"),
            Self::Gemini => Some("where Gemini CLI is set up to send (usually Google)"),
            Self::OpenCode => Some("where OpenCode is set up to send"),
            Self::Acp => Some("where the program is set up to send"),
            _ => None,
        }
    }

    /// Where an agent of this kind is reached if its `base_url` is not given.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Google => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Vendor(name) => VENDORS.iter().find(|(known, _)| *known == name).map(|(_, url)| *url),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com"),
            _ => None,
        }
    }
}

/// What to do in place of a loop that watches.
pub(super) const GOALS_ARE_NO_LOOPS: &str =
    "a watched worker is a goal: `gadfly goal`, or a table [goals.NAME]";

/// Where a worker's artifact is found.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum ArtifactSource {
    #[default]
    Reply,
    /// The files it changes in its folder.
    Files,
}

impl ArtifactSource {
    pub const ALL: [Self; 2] = [Self::Reply, Self::Files];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Reply => "reply",
            Self::Files => "files",
        }
    }
}

macro_rules! display_by_name {
    ($($name:ty),*) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )*};
}
display_by_name!(AgentKind, ArtifactSource);

/// A known vendor's key goes to this host and, without a named override, to no other.
pub fn vendor_host(key_env: &str) -> Option<&'static str> {
    const HOSTS: [(&str, &str); 12] = [
        ("ANTHROPIC_API_KEY", "api.anthropic.com"),
        ("CEREBRAS_API_KEY", "api.cerebras.ai"),
        ("DEEPSEEK_API_KEY", "api.deepseek.com"),
        ("FIREWORKS_API_KEY", "api.fireworks.ai"),
        ("GEMINI_API_KEY", "generativelanguage.googleapis.com"),
        ("GOOGLE_API_KEY", "generativelanguage.googleapis.com"),
        ("GROQ_API_KEY", "api.groq.com"),
        ("MISTRAL_API_KEY", "api.mistral.ai"),
        ("OPENAI_API_KEY", "api.openai.com"),
        ("OPENROUTER_API_KEY", "openrouter.ai"),
        ("TOGETHER_API_KEY", "api.together.xyz"),
        ("XAI_API_KEY", "api.x.ai"),
    ];
    HOSTS.iter().find(|(name, _)| *name == key_env).map(|(_, host)| *host)
}
