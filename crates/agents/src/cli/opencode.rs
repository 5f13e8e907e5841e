//! `opencode`, the agent: `opencode run --format json`. Tried with 1.18.33.
//!
//! Its stream has no result line: the text of the last step is the answer, and its end with exit code 0 is the
//! end. For a critic the settings of the judged tree are not read: they could allow what is denied here.

use gadfly_engine::goal::StepEnd;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{FailureKind, Guard, Layer, Money, Permission, StopReason, Usage};
use serde_json::Value;

use super::dialect::{
    Dialect, DialectCall, ProgramStart, StepResult, StreamLine, StreamReader, StreamResult, by_status, cost,
    count, step, text,
};
use crate::launcher::Exit;
use crate::own::{OwnToolTable, Unheld, is_narrow};
use crate::spec::Confinement;

/// Everything is denied but reading. The writers stand there by name: the user's own settings may name them, and
/// a name outweighs the star. `invalid` is its way to tell the model that a tool is not there.
const READ_ONLY: &str = r#"{"*":"deny","bash":"deny","edit":"deny","write":"deny","patch":"deny","apply_patch":"deny","task":"deny","skill":"deny","webfetch":"deny","websearch":"deny","todowrite":"deny","question":"deny","external_directory":"deny","read":"allow","grep":"allow","glob":"allow","list":"allow","invalid":"allow"}"#;
/// What `READ_ONLY` leaves.
const READERS: [&str; 5] = ["read", "grep", "glob", "list", "invalid"];
/// Whatever is not denied is allowed with `--auto`; nobody is there to be asked.
const IN_ITS_FOLDER: &str = r#"{"external_directory":"deny","question":"deny"}"#;

/// Its tools, by those of ours that they stand for.
const TOOLS: OwnToolTable = OwnToolTable(&[
    ("read_file", &["read"]),
    ("list_files", &["list", "glob"]),
    ("search_files", &["grep"]),
    ("edit_file", &["edit", "write", "patch", "apply_patch"]),
    ("run_command", &["bash"]),
    ("fetch_url", &["webfetch", "websearch"]),
]);

pub(crate) struct OpenCode;

impl Dialect for OpenCode {
    fn shown(&self) -> &'static str {
        "OpenCode"
    }

    fn home(&self) -> &'static str {
        "XDG_CONFIG_HOME"
    }

    fn start(&self, ask: &DialectCall<'_>) -> ProgramStart {
        // With a title it does not pay a model for one.
        let mut start = ProgramStart::new(["run", "--format", "json", "--title", "gadfly"]);
        let kept_away = ask.own().map(|own| TOOLS.kept_away(own)).unwrap_or_default();
        if !kept_away.is_empty() {
            start.add(["--auto"]);
            if ask.own().is_some_and(is_narrow) {
                start.add(["--pure"]);
            }
            start.forced.push(("OPENCODE_PERMISSION", denying(&kept_away)));
            // The settings of the tree could allow by name what is denied here.
            start.forced.push(("OPENCODE_DISABLE_PROJECT_CONFIG", "1".to_owned()));
        } else if ask.may_write() {
            start.add(["--auto"]);
            start.env.push(("OPENCODE_PERMISSION", IN_ITS_FOLDER.to_owned()));
        } else {
            start.add(["--pure"]);
            start.forced.push(("OPENCODE_PERMISSION", READ_ONLY.to_owned()));
            start.forced.push(("OPENCODE_DISABLE_PROJECT_CONFIG", "1".to_owned()));
            start.forced.push(("OPENCODE_DISABLE_CLAUDE_CODE", "1".to_owned()));
        }
        if let Some(model) = ask.model {
            start.add(["--model", model]);
        }
        if let Some(session) = ask.session {
            start.add(["--session", session, "--fork"]);
        }
        start.set(&["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_LSP_DOWNLOAD"]);
        start
    }

    fn reader(&self, ask: &DialectCall<'_>) -> Box<dyn StreamReader> {
        let reads_only = !ask.may_write() || ask.own().is_some_and(OwnTools::reads_only);
        Box::new(Stream { reads_only, ..Stream::default() })
    }

    fn guards(&self, permission: Permission, _sandboxed: bool, _by: Confinement) -> Vec<Guard> {
        match permission {
            Permission::ReadOnly => {
                vec![Guard::new(Layer::OwnMode, "OPENCODE_PERMISSION denies all but reading")]
            }
            // Its own tools keep to the folder, its shell does not: that is no guard.
            Permission::Write => Vec::new(),
        }
    }

    /// Writing and editing are one thing to it.
    fn keeps_from(&self, own: &OwnTools, _sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
        if own.may("write_file") != own.may("edit_file") {
            return Err(Unheld::new(
                "OpenCode knows one permission for `write_file` and `edit_file`",
                "deny both, or neither",
            ));
        }
        let tools = TOOLS.kept_away(own).join(", ");
        let how = format!("OPENCODE_PERMISSION denies {tools}");
        Ok(if tools.is_empty() { Vec::new() } else { vec![Guard::new(Layer::OwnMode, how)] })
    }
}

/// The permissions of a worker without these.
fn denying(tools: &[&str]) -> String {
    let kept_away = tools.iter().copied().chain(["external_directory", "question"]);
    let rules: Vec<String> = kept_away.map(|tool| format!("\"{tool}\":\"deny\"")).collect();
    format!("{{{}}}", rules.join(","))
}

#[derive(Default)]
struct Stream {
    reads_only: bool,
    session: Option<String>,
    /// The text of this step, and of the last one that had any.
    text: String,
    before: String,
    usage: Usage,
    usd: f64,
    /// The last tool call that was told.
    last_call: Option<String>,
    /// Why the last step ended, if it was not to use a tool.
    stop: Option<StopReason>,
    failure: Option<StreamResult>,
}

impl StreamReader for Stream {
    fn read(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        if self.session.is_none() {
            self.session = text(line, "sessionID").map(str::to_owned);
        }
        let part = line.get("part").unwrap_or(&Value::Null);
        match text(line, "type") {
            Some("step_start") => {
                let said = std::mem::take(&mut self.text);
                if !said.trim().is_empty() {
                    self.before = said;
                }
                self.stop = None;
            }
            Some("text") => {
                if let Some(said) = text(part, "text") {
                    if !self.text.is_empty() {
                        self.text.push('\n');
                    }
                    self.text.push_str(said);
                    heard.push(StreamLine::Text(said.to_owned()));
                }
            }
            Some("tool_use") => self.tool(part, heard),
            Some("step_finish") => self.step_finish(part, heard),
            Some("error") => self.failure = line.get("error").map(failure),
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        self.stop.is_some() || self.failure.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn session(&self) -> Option<String> {
        self.session.clone()
    }

    fn told(&mut self, exit: Exit) -> StreamResult {
        if let Some(failure) = self.failure.take() {
            return failure;
        }
        // There is no result line, so a failed end fails the call; if we ended it, the last step counts.
        let well = matches!(exit, Exit::Code(0)) || (self.stop.is_some() && !matches!(exit, Exit::Code(_)));
        if !well || (self.stop.is_none() && self.text.trim().is_empty()) {
            return StreamResult::Nothing;
        }
        let last = std::mem::take(&mut self.text);
        let text = if last.trim().is_empty() { std::mem::take(&mut self.before) } else { last };
        let stop = self.stop.take().unwrap_or(StopReason::EndTurn);
        StreamResult::Answer { text, stop, model: None, session: self.session.take() }
    }
}

impl Stream {
    fn tool(&mut self, part: &Value, heard: &mut Vec<StreamLine>) {
        let state = part.get("state").unwrap_or(&Value::Null);
        let input = state.get("input").unwrap_or(&Value::Null);
        let named = text(part, "tool").unwrap_or("a tool");
        // A call of a tool that is not there is told as a call of `invalid`, with the name in its input.
        let tool = text(input, "tool").filter(|_| named == "invalid").unwrap_or(named);
        let line = step(tool, input);
        let id = text(part, "callID").or_else(|| text(part, "id"));
        let call = id.unwrap_or_default().to_owned();
        if id.is_none() || id != self.last_call.as_deref() {
            heard.push(StreamLine::Step { call: Some(call.clone()), line: line.clone() });
        }
        self.last_call = id.map(str::to_owned);
        let failed = named == "invalid" || text(state, "status") == Some("error");
        let denied = self.reads_only && failed && !READERS.contains(&tool);
        if let Some(came) = came(state, failed, denied) {
            heard.push(StreamLine::Ended { call, came });
        }
        if denied {
            heard.push(StreamLine::Stopped(line));
        }
    }

    fn step_finish(&mut self, part: &Value, heard: &mut Vec<StreamLine>) {
        self.stop = match text(part, "reason") {
            Some("tool-calls") => None,
            Some("length") => Some(StopReason::Length),
            Some("content-filter") => Some(StopReason::Refusal),
            _ => Some(StopReason::EndTurn),
        };
        let tokens = part.get("tokens").unwrap_or(&Value::Null);
        let cache = tokens.get("cache").unwrap_or(&Value::Null);
        let (input, read, write) = (count(tokens, "input"), count(cache, "read"), count(cache, "write"));
        // Whether `output` has the reasoning in it depends on the provider; the total always has.
        let listed = count(tokens, "output");
        let left = count(tokens, "total").saturating_sub(input.saturating_add(read).saturating_add(write));
        let used = &mut self.usage;
        used.input = used.input.saturating_add(input);
        used.output = used.output.saturating_add(listed.max(left));
        used.cache_read = used.cache_read.saturating_add(read);
        used.cache_write = used.cache_write.saturating_add(write);
        self.usd += part.get("cost").and_then(Value::as_f64).filter(|usd| *usd > 0.0).unwrap_or(0.0);
        used.cost = cost(self.usd).filter(|cost| *cost < Money(u64::MAX));
        heard.push(StreamLine::Used(self.usage));
    }
}

/// What came of a tool, if it is through.
fn came(state: &Value, failed: bool, denied: bool) -> Option<StepResult> {
    let said = text(state, "error").or_else(|| text(state, "output")).unwrap_or_default();
    let code = state.pointer("/metadata/exit").and_then(Value::as_i64);
    match (text(state, "status"), code) {
        (Some("completed" | "error"), _) if denied => Some(StepResult::new(StepEnd::Denied, said)),
        (Some("completed" | "error"), _) if failed => Some(StepResult::new(StepEnd::Err, said)),
        (Some("completed"), Some(code)) => Some(StepResult::exit(code, said)),
        (Some("completed"), None) => Some(StepResult::new(StepEnd::Ok, said)),
        _ => None,
    }
}

fn failure(error: &Value) -> StreamResult {
    let data = error.get("data").unwrap_or(&Value::Null);
    let name = text(error, "name").unwrap_or("an error");
    let said = text(data, "message").unwrap_or(name);
    if let Some(status) = data.get("statusCode").and_then(Value::as_u64) {
        return by_status(status, said);
    }
    let kind = match name {
        "ProviderAuthError" => FailureKind::Unauthorised,
        "ContentFilterError" => FailureKind::Refused,
        "ContextOverflowError" => FailureKind::TooLong,
        "MessageOutputLengthError" => FailureKind::BadReply,
        "ProviderModelNotFoundError" | "ConfigInvalidError" | "ConfigJsonError" => FailureKind::Misconfigured,
        _ => FailureKind::Unavailable,
    };
    StreamResult::failed(kind, said)
}
