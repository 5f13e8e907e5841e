//! What differs between CLI agents, as one interface: how a call is put, what its lines say, what its end means.
//! Everything here is pure; `cli.rs` does the talking.

use std::path::PathBuf;

use gadfly_engine::goal::StepEnd;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{FailureKind, Guard, Money, Permission, StopReason, Usage};
use serde_json::Value;

use crate::agent::{Call, Edit};
use crate::launcher::Exit;
use crate::own::Unheld;
use crate::spec::{Confinement, ProcessSpec};

/// The longest line told of a step, and of anything else.
const STEP: usize = 1000;
const LINE: usize = 200;
/// How much is kept of the beginning and of the end of a result, in bytes.
const ENDS: usize = 1000;
/// The most of a program's own words in a failure's message.
const WORDS: usize = 2000;

/// One program's way to be asked and to answer.
pub(crate) trait Dialect: Send + Sync {
    /// Its name for people.
    fn shown(&self) -> &'static str;

    /// The variable that says where it keeps its settings: whose account it uses.
    fn home(&self) -> &'static str;

    fn start(&self, ask: &DialectCall<'_>) -> ProgramStart;

    fn reader(&self, ask: &DialectCall<'_>) -> Box<dyn StreamReader>;

    /// What of its own keeps a call from what it may not do. `sandboxed`: ours is around it.
    fn guards(&self, permission: Permission, sandboxed: bool, by: Confinement) -> Vec<Guard>;

    /// Holds a worker's call to a goal's policy, or says why it cannot be held to it.
    fn keeps_from(&self, own: &OwnTools, sandboxed: bool) -> Result<Vec<Guard>, Unheld>;

    /// Can it run commands under this policy that reach the network? Not where its shell is taken from it.
    fn has_networked_commands(&self, own: &OwnTools, _sandboxed: bool, _by: Confinement) -> bool {
        own.may("run_command")
    }
}

/// What one call is made of.
pub(crate) struct DialectCall<'a> {
    pub call: &'a Call,
    pub spec: &'a ProcessSpec,
    pub model: Option<&'a str>,
    pub max_usd: Option<Money>,
    /// The conversation to go on with.
    pub session: Option<&'a str>,
    /// Our sandbox is around this call.
    pub sandboxed: bool,
    /// Somebody listens to text as it comes.
    pub heard: bool,
}

impl DialectCall<'_> {
    pub fn may_write(&self) -> bool {
        self.call.permission == Permission::Write
    }

    /// What a goal's policy keeps from it.
    pub fn own(&self) -> Option<&OwnTools> {
        self.call.own.as_ref().filter(|_| self.may_write())
    }

    /// Whether a later call may go on with this conversation: who judges always begins anew.
    pub fn is_kept(&self) -> bool {
        self.may_write() && self.spec.continues
    }

    /// A file for this call alone, if it has a place for one.
    pub fn file(&self, name: &str, content: &str) -> Option<(String, Edit)> {
        let path: PathBuf = self.call.tmp.as_ref()?.join(name);
        let edit = Edit::Write { path: name.to_owned(), content: content.to_owned() };
        Some((path.to_str()?.to_owned(), edit))
    }
}

/// How the program is started for a call. The brief goes over its standard input.
#[derive(Default)]
pub(crate) struct ProgramStart {
    pub args: Vec<String>,
    /// Variables it gets unless the user passes his own.
    pub env: Vec<(&'static str, String)>,
    /// Variables it gets in any case: a role hangs on them.
    pub forced: Vec<(&'static str, String)>,
    /// Files below `Call::tmp` that the arguments name.
    pub files: Vec<Edit>,
}

impl ProgramStart {
    pub fn new<'a>(args: impl IntoIterator<Item = &'a str>) -> Self {
        Self { args: args.into_iter().map(str::to_owned).collect(), ..Self::default() }
    }

    pub fn add<'a>(&mut self, args: impl IntoIterator<Item = &'a str>) {
        self.args.extend(args.into_iter().map(str::to_owned));
    }

    /// Variables that are only switches.
    pub fn set(&mut self, names: &[&'static str]) {
        self.env.extend(names.iter().map(|name| (*name, "1".to_owned())));
    }
}

/// What a line said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StreamLine {
    /// A piece of text as it comes.
    Text(String),
    /// A tool was called: by which name its result will be told, if it has one, and in a line what it is.
    Step {
        call: Option<String>,
        line: String,
    },
    /// The result of a tool.
    Ended {
        call: String,
        came: StepResult,
    },
    /// Something worth a line that is no step.
    Note(String),
    /// All that was used so far in this call.
    Used(Usage),
    /// Its own mode stopped a tool.
    Stopped(String),
    Retrying {
        attempt: u32,
        kind: FailureKind,
        message: String,
    },
}

/// What came of a tool: how it ended, and what it gave, as much as is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct StepResult {
    pub end: StepEnd,
    pub said: String,
}

impl StepResult {
    pub fn new(end: StepEnd, said: &str) -> Self {
        Self { end, said: ends(said) }
    }

    /// Of a command whose exit code is known.
    pub fn exit(code: i64, printed: &str) -> Self {
        let end = if code == 0 { StepEnd::Ok } else { StepEnd::Err };
        Self::new(end, &format!("exit code {code}\n{printed}"))
    }
}

/// A result, or how a long one begins and ends: what failed stands at the end.
pub(crate) fn ends(text: &str) -> String {
    let text = text.trim();
    if text.len() <= 2 * ENDS {
        return text.to_owned();
    }
    let (head, tail) = (text.floor_char_boundary(ENDS), text.ceil_char_boundary(text.len() - ENDS));
    let (head, tail) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{head}\n…\n{tail}")
}

/// Reads the lines of one call. Lines it does not know say nothing.
pub(crate) trait StreamReader: Send {
    fn read(&mut self, line: &Value, heard: &mut Vec<StreamLine>);

    /// Whether the result has been read: what the program does from now on adds nothing.
    fn is_over(&self) -> bool;

    /// What was used so far.
    fn usage(&self) -> Usage;

    /// The name of the conversation as far as it has come: if the call is broken off, another can go on with it.
    fn session(&self) -> Option<String>;

    fn told(&mut self, exit: Exit) -> StreamResult;
}

/// What a whole stream came to.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum StreamResult {
    Answer {
        text: String,
        stop: StopReason,
        model: Option<String>,
        session: Option<String>,
    },
    Failed {
        kind: FailureKind,
        message: String,
    },
    Quota {
        until_ms: Option<u64>,
        message: String,
    },
    /// The conversation to go on with does not exist; nothing was paid for.
    NoSuchSession {
        message: String,
    },
    /// The stream said nothing that counts: the way the program ended does.
    Nothing,
}

impl StreamResult {
    pub fn failed(kind: FailureKind, message: &str) -> Self {
        Self::Failed { kind, message: cut(message.trim(), WORDS) }
    }
}

/// What an HTTP status of the program's provider means.
pub(crate) fn by_status(status: u64, message: &str) -> StreamResult {
    let kind = match status {
        401 | 403 => FailureKind::Unauthorised,
        402 => return StreamResult::Quota { until_ms: None, message: cut(message, WORDS) },
        413 => FailureKind::TooLong,
        429 => FailureKind::RateLimited,
        400..=499 if status != 408 => FailureKind::Misconfigured,
        _ => FailureKind::Unavailable,
    };
    StreamResult::failed(kind, message)
}

/// A tool call in one line: its name and the argument that tells most.
pub(crate) fn step(tool: &str, input: &Value) -> String {
    const TELLING: [&str; 12] = [
        "command",
        "cmd",
        "file_path",
        "filePath",
        "absolute_path",
        "path",
        "pattern",
        "query",
        "url",
        "prompt",
        "description",
        "title",
    ];
    let told = TELLING.iter().find_map(|key| input.get(key).and_then(Value::as_str));
    match told {
        Some(told) => in_line(&format!("{tool}: {}", head(told)), STEP),
        None => one_line(tool),
    }
}

/// One line of at most [`LINE`] characters.
pub(crate) fn one_line(text: &str) -> String {
    in_line(text, LINE)
}

fn in_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = head(text).split(|c: char| c.is_whitespace() || c.is_control()).collect();
    cut(&words.into_iter().filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "), most)
}

/// Enough of a text for one line, so that a long one is not looked through.
fn head(text: &str) -> &str {
    text.get(..text.floor_char_boundary(4 * STEP)).unwrap_or_default()
}

pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default().trim_end()),
    }
}

pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// A count; zero where there is none.
pub(crate) fn count(value: &Value, key: &str) -> u64 {
    value.get(key).and_then(Value::as_u64).unwrap_or(0)
}

/// A stated cost. Programs state zero for models whose price they do not know: then nothing is stated.
pub(crate) fn cost(usd: f64) -> Option<Money> {
    Some(Money::from_usd(usd)).filter(|cost| cost.0 > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_is_one_short_line_whatever_the_tool_was_given() {
        assert_eq!(step("Bash", &json!({"description": "d", "command": "a\n  b\tc"})), "Bash: a b c");
        assert_eq!(step("Odd", &json!(["x"])), "Odd");
        let long = step("Bash", &json!({"command": "é".repeat(5_000_000)}));
        assert_eq!(long.chars().count(), STEP + 1);
    }

    #[test]
    fn a_status_says_what_the_caller_can_do() {
        let table = [
            (400, FailureKind::Misconfigured),
            (401, FailureKind::Unauthorised),
            (403, FailureKind::Unauthorised),
            (404, FailureKind::Misconfigured),
            (408, FailureKind::Unavailable),
            (413, FailureKind::TooLong),
            (429, FailureKind::RateLimited),
            (500, FailureKind::Unavailable),
            (529, FailureKind::Unavailable),
        ];
        for (status, kind) in table {
            assert_eq!(by_status(status, "m"), StreamResult::failed(kind, "m"), "{status}");
        }
        assert_eq!(by_status(402, "m"), StreamResult::Quota { until_ms: None, message: "m".into() });
    }
}
