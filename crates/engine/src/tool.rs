//! Tools: what a model may ask us to do, as typed actions. The engine reads a model's call into an action, judges it
//! and has it done; how it is done is the runtime's, and nothing a model wrote is carried out unread.

pub mod elsewhere;
pub mod guard;
pub mod json;
pub mod offered;
pub mod offline;
pub mod place;
pub mod policy;
pub mod request;
pub mod shown;
pub mod transcript;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::tree::RunEnd;

/// A model's call of a tool.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolCall {
    /// The model's own name for it; its result is given back under the same name.
    pub id: String,
    pub name: String,
    /// The arguments as the model wrote them, JSON in a stored text.
    pub args: Digest,
}

/// What a model is given back for one of its calls.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolResult {
    pub call: String,
    pub text: Digest,
    pub ok: bool,
}

/// A picture: base64 in a stored text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Image {
    /// `image/png`.
    pub media: String,
    pub data: Digest,
}

/// Something to be done for a model, or to find out whether a goal is reached. Paths are below the run's folder,
/// with `/`, unless [`ToolUse::beyond`] is set.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolAction {
    /// A line for `sh -c`, in the run's folder.
    RunCommand {
        line: String,
        timeout_ms: u64,
    },
    /// Some lines of a file, counted from 1, or of an output that was kept (`output:12`).
    ReadFile {
        path: String,
        from: u32,
        lines: u32,
    },
    WriteFile {
        path: String,
        content: Digest,
    },
    /// Replaces text that occurs exactly once, or everywhere.
    EditFile {
        path: String,
        old: Digest,
        new: Digest,
        all: bool,
    },
    /// Files below a folder; an empty path is the run's folder.
    ListFiles {
        path: String,
    },
    /// Lines that match a regular expression, in a file or below a folder.
    SearchFiles {
        pattern: String,
        path: String,
    },
    FetchUrl {
        url: String,
    },
    /// A tool of a server the user configured; `args` is JSON.
    Mcp {
        server: String,
        tool: String,
        args: Digest,
    },
    /// What these servers offer: a JSON array of [`Offered`].
    McpTools {
        servers: Vec<String>,
    },
    /// Something about what stays up beside the commands.
    Process(Process),
    /// Runs a command that makes a picture, and brings the picture as base64.
    Screenshot {
        line: String,
        file: String,
        timeout_ms: u64,
    },
}

/// What can be done about a process that stays up: a server, a watcher. It is known by its name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Process {
    /// A line for `sh -c`, in the run's folder.
    Start {
        name: String,
        line: String,
    },
    List,
    Log {
        name: String,
    },
    Stop {
        name: String,
    },
}

impl Process {
    /// The tool that does it, as a model names it.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::Start { .. } => "start_process",
            Self::List => "list_processes",
            Self::Log { .. } => "read_process_log",
            Self::Stop { .. } => "stop_process",
        }
    }

    /// The line it runs, or the name it is about.
    pub fn about(&self) -> &str {
        match self {
            Self::Start { line, .. } => line,
            Self::Log { name } | Self::Stop { name } => name,
            Self::List => "",
        }
    }
}

/// A tool as a model is told of it. Also one that a server offers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Offered {
    pub name: String,
    pub description: String,
    /// JSON Schema of its arguments.
    pub schema: serde_json::Value,
}

impl ToolAction {
    /// Changes nothing and may be done again.
    pub const fn only_reads(&self) -> bool {
        match self {
            Self::ReadFile { .. }
            | Self::ListFiles { .. }
            | Self::SearchFiles { .. }
            | Self::FetchUrl { .. }
            | Self::Process(Process::List | Process::Log { .. })
            | Self::McpTools { .. } => true,
            Self::Process(Process::Start { .. } | Process::Stop { .. })
            | Self::RunCommand { .. }
            | Self::WriteFile { .. }
            | Self::EditFile { .. }
            | Self::Mcp { .. }
            | Self::Screenshot { .. } => false,
        }
    }

    /// The tool that does it, as a model names it.
    pub const fn tool(&self) -> &'static str {
        match self {
            Self::RunCommand { .. } => "run_command",
            Self::ReadFile { .. } => "read_file",
            Self::WriteFile { .. } => "write_file",
            Self::EditFile { .. } => "edit_file",
            Self::ListFiles { .. } => "list_files",
            Self::SearchFiles { .. } => "search_files",
            Self::FetchUrl { .. } => "fetch_url",
            Self::Mcp { .. } => "mcp",
            Self::McpTools { .. } => "mcp_tools",
            Self::Process(process) => process.tool(),
            Self::Screenshot { .. } => "screenshot",
        }
    }

    /// The texts it names.
    pub fn texts(&self) -> Vec<Digest> {
        match self {
            Self::WriteFile { content, .. } => vec![*content],
            Self::EditFile { old, new, .. } => vec![*old, *new],
            Self::Mcp { args, .. } => vec![*args],
            _ => Vec::new(),
        }
    }

    /// The most time it gets.
    pub const fn time_ms(&self) -> u64 {
        match self {
            Self::RunCommand { timeout_ms, .. } | Self::Screenshot { timeout_ms, .. } => *timeout_ms,
            Self::Mcp { .. } | Self::McpTools { .. } => 300_000,
            Self::FetchUrl { .. } => 60_000,
            _ => 120_000,
        }
    }
}

/// An action with what it is allowed, as an effect.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolUse {
    pub action: ToolAction,
    /// The state the run's folder is put into first. None: it is left as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<Digest>,
    /// Its processes may use TCP.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// A person allowed this path outside the run's folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub beyond: bool,
    /// All of it is wanted, as it is, up to [`WHOLE`] bytes: for a check, not for a model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// The name under which the whole of a long output is kept: `output:12` is read by [`ToolAction::ReadFile`].
    pub keep_as: u32,
}

impl ToolUse {
    pub const fn new(action: ToolAction, keep_as: u32) -> Self {
        Self { action, begin: None, network: false, beyond: false, whole: false, keep_as }
    }
}

/// The result of an action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolDone {
    pub end: ToolEnd,
    /// What there is to see of it, never more than [`SHOWN`] bytes; a picture has [`LARGEST_IMAGE`], what servers
    /// offer and what is wanted whole [`WHOLE`].
    pub shown: Digest,
    /// How long the whole is; more than is shown if it was cut, and then it is kept.
    pub bytes: u64,
    pub took_ms: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolEnd {
    Done,
    /// A command ended, whichever way: that is a result, not a fault of the tool.
    Ran(RunEnd),
    /// A server answered.
    Status(u16),
    /// The tool itself could not do it; `shown` says why.
    Error,
}

/// The most of an output that is shown at once, and of an output that is kept.
pub const SHOWN: usize = 6 * 1024;
pub const KEPT: usize = 4 * 1024 * 1024;
/// The most of a file or a page that a check is given.
pub const WHOLE: usize = 1024 * 1024;
/// The largest picture, as base64.
pub const LARGEST_IMAGE: usize = 8 * 1024 * 1024;

impl ToolDone {
    pub const fn is_error(&self) -> bool {
        matches!(self.end, ToolEnd::Error)
    }
}

/// How far a goal may go without asking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    ReadOnly,
    #[default]
    WriteLocal,
    NetworkGet,
    NetworkWrite,
    SpendsMoney,
}

impl Risk {
    pub const ALL: [Self; 5] =
        [Self::ReadOnly, Self::WriteLocal, Self::NetworkGet, Self::NetworkWrite, Self::SpendsMoney];

    pub const fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WriteLocal => "write_local",
            Self::NetworkGet => "network_get",
            Self::NetworkWrite => "network_write",
            Self::SpendsMoney => "spends_money",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|risk| risk.name() == name)
    }
}

impl std::fmt::Display for Risk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
