//! Gemini CLI: `gemini --output-format stream-json`. Tried with 0.61.0.
//!
//! A critic runs in the default mode, in which nobody is there to allow a writing tool, and under a policy that
//! takes those tools away whatever the user's settings allow. Plan mode would turn its answer into a plan.

use std::collections::VecDeque;

use gadfly_engine::goal::StepEnd;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{FailureKind, Guard, Layer, Permission, StopReason, Usage};
use serde_json::Value;

use super::dialect::{
    Dialect, DialectCall, ProgramStart, StepResult, StreamLine, StreamReader, StreamResult, by_status, count,
    one_line, step, text,
};
use crate::launcher::Exit;
use crate::own::{OwnToolTable, Unheld, is_narrow};
use crate::spec::Confinement;

/// The tools that a critic does not get. They write, run programs, change its mode or ask others to.
const POLICY: [&str; 7] = [
    "write_file",
    "replace",
    "run_shell_command",
    "save_memory",
    "invoke_agent",
    "enter_plan_mode",
    "activate_skill",
];
/// Its tools, by those of ours that they stand for.
const TOOLS: OwnToolTable = OwnToolTable(&[
    ("read_file", &["read_file", "read_many_files"]),
    ("list_files", &["list_directory", "glob"]),
    ("search_files", &["grep_search", "search_file_content"]),
    ("write_file", &["write_file"]),
    ("edit_file", &["replace"]),
    ("run_command", &["run_shell_command"]),
    ("fetch_url", &["web_fetch", "google_web_search"]),
]);

/// What a goal's policy takes away. Who may not do everything may not ask others to, either.
fn kept_away(own: &OwnTools) -> Vec<&'static str> {
    let mut tools = TOOLS.kept_away(own);
    if is_narrow(own) {
        tools.extend(["save_memory", "invoke_agent", "enter_plan_mode", "activate_skill"]);
    }
    tools
}

/// A policy of its own kind, above the user's.
fn denying(tools: &[&str]) -> String {
    let names: Vec<String> = tools.iter().map(|tool| format!("\"{tool}\"")).collect();
    format!("[[rule]]\ntoolName = [{}]\ndecision = \"deny\"\npriority = 999\n", names.join(", "))
}
/// Its tool for commands, and what its result says of how one ended.
const SHELL: &str = "run_shell_command";
const EXITS: [&str; 2] = ["Command exited with code:", "Exit Code:"];
const ABNORMAL: [&str; 3] = ["Command terminated by signal", "Command failed:", "Command timed out"];
const SILENT: &str = "it did not say why";
/// Tool calls remembered, to say what was denied.
const REMEMBERED: usize = 64;

pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn shown(&self) -> &'static str {
        "Gemini CLI"
    }

    fn home(&self) -> &'static str {
        "GEMINI_CLI_HOME"
    }

    fn start(&self, ask: &DialectCall<'_>) -> ProgramStart {
        let mut start = ProgramStart::new(["--output-format", "stream-json", "--skip-trust"]);
        if ask.may_write() {
            start.add(["--approval-mode", "yolo"]);
            if ask.own().is_some_and(is_narrow) {
                start.add(["--extensions", "none", "--allowed-mcp-server-names", "none"]);
            }
            let kept_away = ask.own().map(kept_away).unwrap_or_default();
            if !kept_away.is_empty()
                && let Some((path, edit)) = ask.file("policy.toml", &denying(&kept_away))
            {
                start.add(["--admin-policy", &path]);
                start.files.push(edit);
            }
        } else {
            // No extension and no server has the name `none`.
            start.add(["--approval-mode", "default", "--extensions", "none"]);
            start.add(["--allowed-mcp-server-names", "none"]);
            if let Some((path, edit)) = ask.file("policy.toml", &denying(&POLICY)) {
                start.add(["--admin-policy", &path]);
                start.files.push(edit);
            }
        }
        if let Some(model) = ask.model {
            start.add(["--model", model]);
        }
        if let Some(session) = ask.session {
            start.add(["--resume", session]);
        }
        start.env.extend([("GEMINI_TELEMETRY_ENABLED", "false".to_owned()), ("NO_COLOR", "1".to_owned())]);
        start
    }

    fn reader(&self, _ask: &DialectCall<'_>) -> Box<dyn StreamReader> {
        Box::new(Stream::default())
    }

    fn guards(&self, permission: Permission, _sandboxed: bool, _by: Confinement) -> Vec<Guard> {
        match permission {
            Permission::ReadOnly => {
                vec![Guard::new(Layer::OwnMode, "--approval-mode default, writing tools denied by policy")]
            }
            Permission::Write => Vec::new(),
        }
    }

    fn keeps_from(&self, own: &OwnTools, _sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
        let tools = TOOLS.kept_away(own).join(", ");
        let how = format!("{tools} denied by policy");
        Ok(if tools.is_empty() { Vec::new() } else { vec![Guard::new(Layer::OwnMode, how)] })
    }
}

#[derive(Default)]
struct Stream {
    session: Option<String>,
    model: Option<String>,
    /// What was said since the last tool call, and all that was said before it.
    text: String,
    before: String,
    calls: VecDeque<(String, String)>,
    usage: Usage,
    error: Option<String>,
    /// Whether it says of itself that it succeeded.
    result: Option<bool>,
}

impl StreamReader for Stream {
    fn read(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        match text(line, "type") {
            Some("init") => {
                self.session = text(line, "session_id").map(str::to_owned);
                self.model = text(line, "model").map(str::to_owned);
            }
            Some("message") if text(line, "role") == Some("assistant") => {
                if let Some(said) = text(line, "content") {
                    self.text.push_str(said);
                    heard.push(StreamLine::Text(said.to_owned()));
                }
            }
            Some("tool_use") => self.tool(line, heard),
            Some("tool_result") => self.tool_result(line, heard),
            Some("error") => {
                if let Some(message) = text(line, "message") {
                    heard.push(StreamLine::Note(one_line(message)));
                    self.error = Some(message.to_owned());
                }
            }
            Some("result") => {
                if let Some(stats) = line.get("stats") {
                    self.usage = tokens(stats);
                    heard.push(StreamLine::Used(self.usage));
                }
                let said = line.pointer("/error/message").and_then(Value::as_str);
                self.error = said.map(str::to_owned).or(self.error.take());
                self.result = Some(text(line, "status") == Some("success"));
            }
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        self.result.is_some()
    }

    fn usage(&self) -> Usage {
        self.usage
    }

    fn session(&self) -> Option<String> {
        self.session.clone()
    }

    fn told(&mut self, exit: Exit) -> StreamResult {
        if self.result == Some(true) {
            let last = std::mem::take(&mut self.text);
            let text = if last.trim().is_empty() { std::mem::take(&mut self.before) } else { last };
            let (model, session) = (self.model.take(), self.session.take());
            return StreamResult::Answer { text, stop: StopReason::EndTurn, model, session };
        }
        let said = self.error.take();
        match (exit, self.result) {
            (Exit::Code(code), _) if code != 0 && (said.is_some() || known(code)) => {
                by_exit(code, said.as_deref())
            }
            (_, Some(_)) => StreamResult::failed(FailureKind::Unavailable, said.as_deref().unwrap_or(SILENT)),
            _ => StreamResult::Nothing,
        }
    }
}

impl Stream {
    fn tool(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        let said = std::mem::take(&mut self.text);
        if !said.trim().is_empty() {
            self.before.push_str(&said);
            self.before.push('\n');
        }
        let input = line.get("parameters").unwrap_or(&Value::Null);
        let told = step(text(line, "tool_name").unwrap_or("a tool"), input);
        if let Some(id) = text(line, "tool_id") {
            if self.calls.iter().any(|(known, _)| known == id) {
                return;
            }
            if self.calls.len() == REMEMBERED {
                self.calls.pop_front();
            }
            self.calls.push_back((id.to_owned(), told.clone()));
        }
        heard.push(StreamLine::Step { call: text(line, "tool_id").map(str::to_owned), line: told });
    }

    /// A tool that is not there was taken away by its mode.
    fn tool_result(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        let denied = matches!(
            line.pointer("/error/type").and_then(Value::as_str),
            Some("tool_not_registered" | "policy_violation" | "path_not_in_workspace")
        );
        if denied {
            let id = text(line, "tool_id");
            let known = self.calls.iter().find(|(call, _)| Some(call.as_str()) == id);
            let what = known.map_or_else(|| one_line(id.unwrap_or("a tool")), |(_, told)| told.clone());
            heard.push(StreamLine::Stopped(what));
        }
        let Some(id) = text(line, "tool_id") else { return };
        let is_shell = self.calls.iter().any(|(call, told)| call == id && told.starts_with(SHELL));
        let came = if denied {
            let said = line.pointer("/error/message").and_then(Value::as_str);
            StepResult::new(StepEnd::Denied, said.or(text(line, "output")).unwrap_or_default())
        } else {
            came(line, is_shell)
        };
        heard.push(StreamLine::Ended { call: id.to_owned(), came });
    }
}

/// What came of a tool. `success` means of a command only that it was run: how it ended is said where it printed
/// nothing, and in its debug mode; otherwise nobody is told.
fn came(line: &Value, is_shell: bool) -> StepResult {
    let output = text(line, "output").unwrap_or_default();
    if text(line, "status") != Some("success") {
        let said = line.pointer("/error/message").and_then(Value::as_str);
        return StepResult::new(StepEnd::Err, said.unwrap_or(output));
    }
    if !is_shell || output.trim().is_empty() {
        return StepResult::new(StepEnd::Ok, output);
    }
    let exit = |line: &str| {
        let code = EXITS.iter().find_map(|begin| line.strip_prefix(begin))?;
        code.trim().parse::<i64>().ok()
    };
    match output.lines().find_map(exit) {
        Some(code) => StepResult::exit(code, output),
        None if ABNORMAL.iter().any(|begin| output.starts_with(begin)) => {
            StepResult::new(StepEnd::Err, output)
        }
        None => StepResult::new(StepEnd::Unknown, output),
    }
}

/// Exit codes with a meaning that need no word from the stream.
const fn known(code: i32) -> bool {
    matches!(code, 41 | 42 | 44 | 52 | 53 | 55)
}

/// Its exit codes. A status of the provider becomes one, as far as eight bits hold it: 401 is 145.
fn by_exit(code: i32, said: Option<&str>) -> StreamResult {
    let (kind, what) = match code {
        41 => (FailureKind::Unauthorised, "it is not signed in"),
        42 => (FailureKind::Misconfigured, "it refused its input"),
        44 | 52 | 55 => (FailureKind::Misconfigured, "it cannot work as it is set up"),
        53 => (FailureKind::BadReply, "it reached its own limit of turns"),
        _ => {
            let said = said.unwrap_or(SILENT);
            let status = u64::try_from(code).ok().map(|c| c + 256).filter(|s| (400..512).contains(s));
            return status.map_or_else(
                || StreamResult::failed(FailureKind::Unavailable, said),
                |s| by_status(s, said),
            );
        }
    };
    let said = said.map_or_else(String::new, |said| format!(": {said}"));
    StreamResult::failed(kind, &format!("{what} (exit code {code}){said}"))
}

fn tokens(stats: &Value) -> Usage {
    let (all, cached) = (count(stats, "input_tokens"), count(stats, "cached"));
    Usage {
        input: all.saturating_sub(cached),
        output: count(stats, "output_tokens"),
        cache_read: cached,
        ..Usage::default()
    }
}
