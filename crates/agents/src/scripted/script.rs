//! The script of a scripted agent: a list of replies, from TOML or from Rust.
//!
//! ```toml
//! [[reply]]
//! role = "critic"                    # worker | critic; absent = either
//! text = "[STATUS: APPROVED]\nGood." # or file = "reply.md", beside the script
//! delay_ms = 50
//! observe = ["read the draft"]
//! pace_ms = 20                       # after each line it observes, so that somebody can answer it
//! session = "s-1"                    # named when it begins and with its answer
//! tokens = { input = 900, output = 40 }
//! repeat = 2                         # or "always"
//! files = { "src/a.rs" = "fn a() {}" } # written into the folder the call works in
//! delete = ["src/b.rs"]
//!
//! [[reply]]                          # of an agent that is offered tools; needs no text
//! calls = [
//!   { tool = "run_command", args = { command = "cargo test" } },
//!   { tool = "read_file", args = '{"path": ', id = "a" }, # a string is sent as it stands
//! ]
//!
//! [[reply]]
//! fault = "rate_limited"
//! ```

use std::collections::BTreeMap;
use std::time::Duration;

use gadfly_engine::{Role, Usage};
use serde::Deserialize;

use crate::agent::{Edit, RawToolCall};
use crate::http::tools::{MAX_CALLS, name_each};

/// More than this and a script is not one.
const MAX_REPLIES: usize = 10_000;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    replies: Vec<ScriptedReply>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptedReply {
    pub role: Option<Role>,
    pub text: String,
    pub delay: Duration,
    pub observe: Vec<String>,
    /// The pause after each line it observes.
    pub pace: Duration,
    /// Its name for the conversation.
    pub session: Option<String>,
    /// The tools it wants to be used.
    pub calls: Vec<RawToolCall>,
    pub usage: Usage,
    pub fault: Option<Fault>,
    pub repeat: Repeat,
    /// Made before it answers, in the folder of the call.
    pub edits: Vec<Edit>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repeat {
    Times(u32),
    Always,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    Timeout,
    RateLimited,
    Unavailable,
    Unauthorised,
    TooLong,
    Misconfigured,
    Refused,
    Length,
    Malformed,
    /// Breaks off after its first bytes.
    Cut,
    Crash,
    Empty,
    Huge,
    /// Never answers: ends by the call's time or by cancelling.
    Hang,
    Quota,
}

/// What is wrong with a script. The caller shows it with the script's path.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("the script is not valid: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("reply {number} has {what}")]
    Reply { number: usize, what: String },
    #[error("the script has {0} replies; at most {MAX_REPLIES} are allowed")]
    TooMany(usize),
    #[error("the script has no [[reply]]")]
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScript {
    #[serde(default)]
    reply: Vec<RawReply>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReply {
    role: Option<Role>,
    text: Option<String>,
    file: Option<String>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    observe: Vec<String>,
    #[serde(default)]
    pace_ms: u64,
    session: Option<String>,
    #[serde(default)]
    calls: Vec<RawCall>,
    #[serde(default)]
    tokens: RawTokens,
    fault: Option<Fault>,
    repeat: Option<RawRepeat>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    #[serde(default)]
    delete: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCall {
    tool: String,
    args: Option<toml::Value>,
    #[serde(default)]
    id: String,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct RawTokens {
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RawRepeat {
    Times(u32),
    Word(String),
}

impl ScriptedReply {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            role: None,
            text: text.into(),
            delay: Duration::ZERO,
            observe: Vec::new(),
            pace: Duration::ZERO,
            session: None,
            calls: Vec::new(),
            usage: Usage::default(),
            fault: None,
            repeat: Repeat::Times(1),
            edits: Vec::new(),
        }
    }

    pub fn fault(fault: Fault) -> Self {
        Self { fault: Some(fault), ..Self::text("") }
    }

    pub fn by(self, role: Role) -> Self {
        Self { role: Some(role), ..self }
    }

    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub fn observed(mut self, line: impl Into<String>) -> Self {
        self.observe.push(line.into());
        self
    }

    pub fn paced(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }

    pub fn in_session(self, name: impl Into<String>) -> Self {
        Self { session: Some(name.into()), ..self }
    }

    /// `args` is JSON, or what stands in place of it.
    pub fn calling(mut self, tool: impl Into<String>, args: impl Into<String>) -> Self {
        self.calls.push(RawToolCall { id: String::new(), name: tool.into(), args: args.into() });
        name_each(&mut self.calls);
        self
    }

    pub fn tokens(self, input: u64, output: u64) -> Self {
        Self { usage: Usage { input, output, ..Usage::default() }, ..self }
    }

    pub fn writing(mut self, path: impl Into<String>, content: impl Into<String>) -> Self {
        self.edits.push(Edit::Write { path: path.into(), content: content.into() });
        self
    }

    pub fn deleting(mut self, path: impl Into<String>) -> Self {
        self.edits.push(Edit::Delete { path: path.into() });
        self
    }

    pub fn repeated(self, repeat: Repeat) -> Self {
        Self { repeat, ..self }
    }
}

impl Script {
    pub fn new(replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        Self { replies: replies.into_iter().collect() }
    }

    /// Reads a script. `read` gives the text of a file that a reply names; agents touch no files.
    pub fn parse(toml: &str, read: impl Fn(&str) -> std::io::Result<String>) -> Result<Self, ScriptError> {
        let raw: RawScript = toml::from_str(toml)?;
        if raw.reply.is_empty() {
            return Err(ScriptError::None);
        }
        if raw.reply.len() > MAX_REPLIES {
            return Err(ScriptError::TooMany(raw.reply.len()));
        }
        let replies = raw.reply.into_iter().enumerate().map(|(i, r)| typed(i + 1, r, &read));
        Ok(Self { replies: replies.collect::<Result<_, _>>()? })
    }

    /// Whether any of its replies changes files.
    pub fn edits_files(&self) -> bool {
        self.replies.iter().any(|r| !r.edits.is_empty())
    }

    /// Whether any of its replies wants a tool to be used.
    pub fn calls_tools(&self) -> bool {
        self.replies.iter().any(|r| !r.calls.is_empty())
    }

    /// The reply for the call with this number, counted from 0 within its role.
    pub fn pick(&self, role: Role, nth: u32) -> Option<&ScriptedReply> {
        let mut left = nth;
        for reply in self.replies.iter().filter(|r| r.role.is_none_or(|of| of == role)) {
            match reply.repeat {
                Repeat::Always => return Some(reply),
                Repeat::Times(n) if left < n => return Some(reply),
                Repeat::Times(n) => left -= n,
            }
        }
        None
    }
}

fn typed(
    number: usize,
    raw: RawReply,
    read: &impl Fn(&str) -> std::io::Result<String>,
) -> Result<ScriptedReply, ScriptError> {
    let wrong = |what: String| ScriptError::Reply { number, what };
    let text = match (raw.text, raw.file) {
        (Some(_), Some(_)) => return Err(wrong("both `text` and `file`; keep one".into())),
        (Some(text), None) => text,
        (None, Some(file)) => {
            read(&file).map_err(|e| wrong(format!("a file that cannot be read, `{file}`: {e}")))?
        }
        (None, None) if raw.fault.is_some() || !raw.calls.is_empty() => String::new(),
        (None, None) => return Err(wrong("no `text`, `file`, `calls` or `fault`".into())),
    };
    let calls = raw_calls(raw.calls).map_err(wrong)?;
    let repeat = match raw.repeat {
        None => Repeat::Times(1),
        Some(RawRepeat::Times(0)) => return Err(wrong("`repeat = 0`; leave the reply out instead".into())),
        Some(RawRepeat::Times(n)) => Repeat::Times(n),
        Some(RawRepeat::Word(w)) if w == "always" => Repeat::Always,
        Some(RawRepeat::Word(w)) => {
            return Err(wrong(format!("`repeat = \"{w}\"`; a number or \"always\" is needed")));
        }
    };
    let written = raw.files.into_iter().map(|(path, content)| Edit::Write { path, content });
    let deleted = raw.delete.into_iter().map(|path| Edit::Delete { path });
    let edits: Vec<Edit> = written.chain(deleted).collect();
    for edit in &edits {
        let (Edit::Write { path, .. } | Edit::Delete { path }) = edit;
        if !stays_below(path) {
            return Err(wrong(format!(
                "the path `{path}`; a path below the folder is needed, without `..`, not beginning with `/`"
            )));
        }
    }
    Ok(ScriptedReply {
        role: raw.role,
        text,
        delay: Duration::from_millis(raw.delay_ms),
        observe: raw.observe,
        pace: Duration::from_millis(raw.pace_ms),
        session: raw.session,
        calls,
        usage: Usage { input: raw.tokens.input, output: raw.tokens.output, ..Usage::default() },
        fault: raw.fault,
        repeat,
        edits,
    })
}

fn raw_calls(raw: Vec<RawCall>) -> Result<Vec<RawToolCall>, String> {
    if raw.len() > MAX_CALLS {
        return Err(format!("{} calls; at most {MAX_CALLS} are allowed", raw.len()));
    }
    let mut raw_calls = Vec::with_capacity(raw.len());
    for RawCall { tool, args, id } in raw {
        let args = match args {
            None => "{}".to_owned(),
            Some(toml::Value::String(text)) => text,
            Some(args @ toml::Value::Table(_)) => json(args).to_string(),
            Some(_) => return Err(format!("a call of `{tool}` whose `args` is no table and no string")),
        };
        raw_calls.push(RawToolCall { id, name: tool, args });
    }
    name_each(&mut raw_calls);
    Ok(raw_calls)
}

/// How deep it goes is bounded by the parser of the script.
fn json(value: toml::Value) -> serde_json::Value {
    match value {
        toml::Value::String(text) => text.into(),
        toml::Value::Integer(n) => n.into(),
        toml::Value::Float(n) => n.into(),
        toml::Value::Boolean(b) => b.into(),
        toml::Value::Datetime(at) => at.to_string().into(),
        toml::Value::Array(list) => list.into_iter().map(json).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, json(value))).collect(),
    }
}

/// Whether a path is one below a folder, by its text alone. Links are the business of whoever writes.
fn stays_below(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | "..")) && !path.contains('\0')
}

#[cfg(test)]
mod tests;
