//! Claude Code: `claude -p --output-format stream-json`. Tried with 2.1.325.
//!
//! A critic gets a tools list without writers instead of plan mode: plan mode tells the model to write a plan
//! and to ask for leave, and that becomes the answer. Settings, hooks and notes of the judged tree are not
//! loaded for it, since whoever wrote the tree could speak to its critic there.

use std::collections::{HashSet, VecDeque};

use gadfly_engine::goal::StepEnd;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{FailureKind, Guard, Layer, Permission, StopReason, Usage};
use serde_json::Value;

use super::dialect::{
    Dialect, DialectCall, ProgramStart, StepResult, StreamLine, StreamReader, StreamResult, by_status, cost,
    count, cut, one_line, step, text,
};
use crate::launcher::Exit;
use crate::own::{OwnToolTable, Unheld, is_narrow};
use crate::spec::Confinement;

/// All a critic may use.
const READERS: &str = "Read,Grep,Glob";
/// What a worker need not ask for. `bypassPermissions` would be shorter, but is refused to root.
const WORKERS: &str =
    "Bash,Edit,MultiEdit,Write,NotebookEdit,Read,Grep,Glob,WebFetch,WebSearch,Task,TodoWrite";
/// Its tools, by those of ours that they stand for.
const TOOLS: OwnToolTable = OwnToolTable(&[
    ("read_file", &["Read"]),
    ("list_files", &["Glob"]),
    ("search_files", &["Grep"]),
    ("write_file", &["Write"]),
    ("edit_file", &["Edit", "MultiEdit", "NotebookEdit"]),
    ("run_command", &["Bash"]),
    ("fetch_url", &["WebFetch", "WebSearch"]),
]);
/// What helps it along and touches nothing by itself.
const ALONG: &str = "TodoWrite";
/// The tool by which a model gives its structured answer: no step.
const STRUCTURED: &str = "StructuredOutput";
/// Longer schemas do not fit into an argument.
const MAX_SCHEMA: usize = 100_000;
/// Tool calls remembered, to say what was denied.
const REMEMBERED: usize = 64;

pub(crate) struct ClaudeCode;

impl Dialect for ClaudeCode {
    fn shown(&self) -> &'static str {
        "Claude Code"
    }

    fn home(&self) -> &'static str {
        "CLAUDE_CONFIG_DIR"
    }

    fn start(&self, ask: &DialectCall<'_>) -> ProgramStart {
        let mut start = ProgramStart::new(["-p", "--output-format", "stream-json", "--verbose"]);
        if let Some(own) = ask.own() {
            let (allowed, kept_away) = (TOOLS.allowed(own), TOOLS.kept_away(own).join(","));
            if is_narrow(own) {
                let tools = [allowed, vec![ALONG]].concat().join(",");
                let mode = if own.reads_only() { "dontAsk" } else { "acceptEdits" };
                start.add(["--permission-mode", mode, "--tools", &tools, "--allowedTools", &tools]);
                start.add(["--strict-mcp-config"]);
            } else {
                let tools = [allowed, vec!["Task", ALONG]].concat().join(",");
                start.add(["--permission-mode", "acceptEdits", "--allowedTools", &tools]);
            }
            if !kept_away.is_empty() {
                start.add(["--disallowedTools", &kept_away]);
            }
        } else if ask.may_write() {
            start.add(["--permission-mode", "acceptEdits", "--allowedTools", WORKERS]);
        } else {
            start.add(["--permission-mode", "dontAsk", "--tools", READERS, "--strict-mcp-config"]);
            start.add(["--setting-sources", "user"]);
        }
        // Hooks are commands that come with a project: nobody was asked about them.
        start.add(["--settings", "{\"disableAllHooks\":true}"]);
        if ask.heard {
            start.add(["--include-partial-messages"]);
        }
        if let Some(model) = ask.model {
            start.add(["--model", model]);
        }
        // A turn may have several tool calls and never has less than one, but for the last.
        start.add(["--max-turns", &ask.spec.max_steps.saturating_add(1).to_string()]);
        if let Some(max) = ask.max_usd {
            start.add(["--max-budget-usd", &max.usd().to_string()]);
        }
        if let Some(schema) = ask.call.schema.as_deref().filter(|s| s.len() <= MAX_SCHEMA) {
            start.add(["--json-schema", schema]);
        }
        match ask.session {
            Some(session) => start.add(["--resume", session, "--fork-session"]),
            None if !ask.is_kept() => start.add(["--no-session-persistence"]),
            None => {}
        }
        start.set(&[
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        ]);
        if let Some(tmp) = ask.call.tmp.as_deref().and_then(|t| t.to_str()).filter(|_| ask.sandboxed) {
            start.env.push(("CLAUDE_CODE_TMPDIR", tmp.to_owned()));
        }
        start
    }

    fn reader(&self, ask: &DialectCall<'_>) -> Box<dyn StreamReader> {
        Box::new(Stream {
            reads_only: !ask.may_write() || ask.own().is_some_and(is_narrow),
            structured: ask.call.schema.is_some(),
            ..Stream::default()
        })
    }

    fn guards(&self, permission: Permission, _sandboxed: bool, _by: Confinement) -> Vec<Guard> {
        match permission {
            Permission::ReadOnly => {
                vec![Guard::new(Layer::OwnMode, format!("--tools {READERS} --permission-mode dontAsk"))]
            }
            Permission::Write => Vec::new(),
        }
    }

    fn keeps_from(&self, own: &OwnTools, _sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
        let kept_away = TOOLS.kept_away(own).join(",");
        let how = if is_narrow(own) {
            format!("--tools {}", TOOLS.allowed(own).join(","))
        } else {
            format!("--disallowedTools {kept_away}")
        };
        Ok(if kept_away.is_empty() { Vec::new() } else { vec![Guard::new(Layer::OwnMode, how)] })
    }
}

/// When an account's limit is lifted, in milliseconds since 1970, if that was said.
#[derive(Clone, Copy)]
struct Reset(Option<u64>);

#[derive(Default)]
struct Stream {
    reads_only: bool,
    structured: bool,
    session: Option<String>,
    model: Option<String>,
    /// The tools it said it has.
    tools: HashSet<String>,
    /// The last tool calls: id and line.
    calls: VecDeque<(String, String)>,
    denied: HashSet<String>,
    /// Text comes in pieces: whole messages repeat it.
    in_pieces: bool,
    /// The message whose usage was counted last.
    counted: Option<String>,
    usage: Usage,
    /// What earlier results stated; a stream may have several.
    settled: Usage,
    /// The latest word on the account's limit, if it was that it is reached.
    rejected: Option<Reset>,
    /// The type of the last error of the provider.
    error: Option<String>,
    result: Option<Value>,
}

impl StreamReader for Stream {
    fn read(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        if self.session.is_none() {
            self.session = text(line, "session_id").map(str::to_owned);
        }
        match text(line, "type") {
            Some("system") => self.system(line, heard),
            Some("assistant") => self.assistant(line, heard),
            Some("user") => self.results(line, heard),
            Some("stream_event") => self.piece(line, heard),
            Some("rate_limit_event") => self.limit(line, heard),
            Some("result") => self.result(line, heard),
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
        // A program that cannot begin says so in a result with an id that leads nowhere.
        self.session.clone().filter(|_| self.result.is_none())
    }

    fn told(&mut self, _exit: Exit) -> StreamResult {
        let Some(result) = self.result.take() else { return self.without_result() };
        let failed = result.get("is_error").and_then(Value::as_bool).unwrap_or(false)
            || text(&result, "subtype").is_some_and(|s| s != "success");
        let reason = text(&result, "stop_reason");
        let api_error = text(&result, "api_error").or(self.error.as_deref());
        let stop = match reason {
            Some("refusal") => StopReason::Refusal,
            Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
            _ if failed && api_error == Some("max_output_tokens") => StopReason::Length,
            _ => StopReason::EndTurn,
        };
        if failed && stop == StopReason::EndTurn {
            return self.failure(&result);
        }
        let structured = result.get("structured_output").filter(|s| self.structured && !s.is_null());
        let text = match structured {
            Some(value) => value.to_string(),
            None => text(&result, "result").unwrap_or_default().to_owned(),
        };
        StreamResult::Answer { text, stop, model: self.model.take(), session: self.session.take() }
    }
}

impl Stream {
    fn system(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        match text(line, "subtype") {
            Some("init") => {
                self.session = text(line, "session_id").map(str::to_owned).or(self.session.take());
                self.model = text(line, "model").map(str::to_owned);
                let tools = line.get("tools").and_then(Value::as_array);
                self.tools =
                    tools.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
            }
            Some("permission_denied") => {
                let (tool, id) = (text(line, "tool_name"), text(line, "tool_use_id"));
                self.deny(id, tool.unwrap_or("a tool"), &Value::Null, heard);
            }
            Some("api_retry") => {
                let status = line.get("error_status").and_then(Value::as_u64);
                let error = text(line, "error").unwrap_or("unknown");
                let kind = status
                    .map(|status| by_status(status, error))
                    .or_else(|| by_type(error, error))
                    .and_then(|told| match told {
                        StreamResult::Failed { kind, .. } => Some(kind),
                        _ => None,
                    });
                heard.push(StreamLine::Retrying {
                    attempt: u32::try_from(count(line, "attempt")).unwrap_or(u32::MAX),
                    kind: kind.unwrap_or(FailureKind::Unavailable),
                    message: status.map_or_else(|| one_line(error), |s| one_line(&format!("{error} ({s})"))),
                });
            }
            _ => {}
        }
    }

    fn assistant(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        if let Some(error) = text(line, "error").or_else(|| text(line, "api_error")) {
            self.error = Some(error.to_owned());
        }
        let Some(message) = line.get("message").filter(|m| m.is_object()) else { return };
        let own = line.get("parent_tool_use_id").is_none_or(Value::is_null);
        let blocks = message.get("content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            match text(block, "type") {
                Some("text") if own && !self.in_pieces => {
                    heard.extend(text(block, "text").map(|t| StreamLine::Text(t.to_owned())));
                }
                Some("tool_use" | "server_tool_use") => self.tool(block, heard),
                _ => {}
            }
        }
        self.count(message, heard);
    }

    fn tool(&mut self, block: &Value, heard: &mut Vec<StreamLine>) {
        let name = text(block, "name").unwrap_or("a tool");
        if name == STRUCTURED {
            return;
        }
        let input = block.get("input").unwrap_or(&Value::Null);
        let line = step(name, input);
        let id = text(block, "id");
        if let Some(id) = id {
            if self.calls.iter().any(|(known, _)| known == id) {
                return;
            }
            if self.calls.len() == REMEMBERED {
                self.calls.pop_front();
            }
            self.calls.push_back((id.to_owned(), line.clone()));
        }
        heard.push(StreamLine::Step { call: id.map(str::to_owned), line });
        // A tool it was not given is answered with an error, and nothing else in the stream says so.
        if self.reads_only && !self.tools.is_empty() && !self.tools.contains(name) {
            self.deny(id, name, input, heard);
        }
    }

    /// What its tools gave: they answer it as a user would.
    fn results(&self, line: &Value, heard: &mut Vec<StreamLine>) {
        let blocks = line.pointer("/message/content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten().filter(|b| text(b, "type") == Some("tool_result")) {
            let Some(call) = text(block, "tool_use_id") else { continue };
            let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
            let end = match failed {
                true if self.denied.contains(call) => StepEnd::Denied,
                true => StepEnd::Err,
                false => StepEnd::Ok,
            };
            let came = StepResult::new(end, &said(block.get("content").unwrap_or(&Value::Null)));
            heard.push(StreamLine::Ended { call: call.to_owned(), came });
        }
    }

    fn deny(&mut self, id: Option<&str>, tool: &str, input: &Value, heard: &mut Vec<StreamLine>) {
        if let Some(id) = id
            && !self.denied.insert(id.to_owned())
        {
            return;
        }
        let known = id.and_then(|id| self.calls.iter().find(|(call, _)| call == id));
        heard.push(StreamLine::Stopped(known.map_or_else(|| step(tool, input), |(_, line)| line.clone())));
    }

    /// Blocks of one message come in lines of their own, each with the message's usage.
    fn count(&mut self, message: &Value, heard: &mut Vec<StreamLine>) {
        let id = text(message, "id");
        let Some(used) = message.get("usage").filter(|_| id != self.counted.as_deref()) else { return };
        self.counted = id.map(str::to_owned);
        let more = tokens(used);
        if more.tokens() > 0 {
            self.usage = plus(self.usage, more);
            heard.push(StreamLine::Used(self.usage));
        }
    }

    fn piece(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        self.in_pieces = true;
        let own = line.get("parent_tool_use_id").is_none_or(Value::is_null);
        let piece = line.pointer("/event/delta/text").and_then(Value::as_str);
        heard.extend(piece.filter(|_| own).map(|t| StreamLine::Text(t.to_owned())));
    }

    fn limit(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        let Some(info) = line.get("rate_limit_info") else { return };
        let until = info.get("resetsAt").and_then(moment);
        let which = text(info, "rateLimitType").unwrap_or("account");
        self.rejected = (text(info, "status") == Some("rejected")).then_some(Reset(until));
        if text(info, "status") == Some("allowed_warning") {
            let used = info.get("utilization").and_then(Value::as_f64);
            let used = used.map_or_else(String::new, |u| format!(": {:.0} % used", u * 100.0));
            heard.push(StreamLine::Note(one_line(&format!("the {which} limit is near{used}"))));
        }
    }

    fn result(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        let denials = line.get("permission_denials").and_then(Value::as_array);
        for denial in denials.into_iter().flatten() {
            let tool = text(denial, "tool_name").unwrap_or("a tool");
            let input = denial.get("tool_input").unwrap_or(&Value::Null);
            self.deny(text(denial, "tool_use_id"), tool, input, heard);
        }
        self.session = text(line, "session_id").map(str::to_owned).or(self.session.take());
        // `total_cost_usd` goes on from the conversation before; what is new in it stands elsewhere.
        if let Some(models) = line.get("model_usage_since_last_result").and_then(Value::as_object) {
            self.settled = models.values().map(since_last).fold(self.settled, plus);
            self.usage = self.settled;
        } else {
            let stated = line.get("usage").map(tokens).unwrap_or_default();
            let usd = line.get("total_cost_usd").and_then(Value::as_f64);
            self.usage = Usage { cost: usd.and_then(cost), ..stated };
        }
        heard.push(StreamLine::Used(self.usage));
        self.result = Some(line.clone());
    }

    fn without_result(&self) -> StreamResult {
        match self.rejected {
            Some(Reset(until_ms)) => {
                StreamResult::Quota { until_ms, message: "the account's limit is reached".to_owned() }
            }
            None => StreamResult::Nothing,
        }
    }

    fn failure(&self, result: &Value) -> StreamResult {
        let errors = result.get("errors").and_then(Value::as_array);
        let errors: Vec<&str> = errors.into_iter().flatten().filter_map(Value::as_str).collect();
        let said = if errors.is_empty() {
            cut(text(result, "result").unwrap_or("it did not say why"), 2000)
        } else {
            cut(&errors.join("; "), 2000)
        };
        if let Some(Reset(until_ms)) = self.rejected {
            return StreamResult::Quota { until_ms, message: said };
        }
        let nothing_done = count(result, "num_turns") == 0 && self.usage.tokens() == 0;
        match text(result, "subtype") {
            Some("error_during_execution") if nothing_done => {
                return StreamResult::NoSuchSession { message: said };
            }
            Some("error_max_turns") => {
                return StreamResult::failed(FailureKind::StepsUsedUp, &format!("{said}; raise `max_steps`"));
            }
            Some("error_max_budget_usd") => {
                return StreamResult::failed(
                    FailureKind::BadReply,
                    &format!("{said}; raise `max_usd_per_call`"),
                );
            }
            _ => {}
        }
        if text(result, "terminal_reason") == Some("prompt_too_long") {
            return StreamResult::failed(FailureKind::TooLong, &said);
        }
        let status = result.get("api_error_status").and_then(Value::as_u64);
        let types = [text(result, "api_error"), self.error.as_deref()];
        status
            .map(|status| by_status(status, &said))
            .or_else(|| types.into_iter().flatten().find_map(|error| by_type(error, &said)))
            .unwrap_or_else(|| StreamResult::failed(FailureKind::BadReply, &said))
    }
}

/// The text of a result: one, or several beside pictures.
fn said(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let texts = content.as_array().into_iter().flatten().filter_map(|part| text(part, "text"));
    texts.collect::<Vec<_>>().join("\n")
}

/// What a type of error means; none if it says too little.
fn by_type(error: &str, said: &str) -> Option<StreamResult> {
    let kind = match error {
        "authentication_failed" | "oauth_org_not_allowed" => FailureKind::Unauthorised,
        "billing_error" => return Some(StreamResult::Quota { until_ms: None, message: said.to_owned() }),
        "rate_limit" => FailureKind::RateLimited,
        "server_error" | "overloaded" | "connection_failed" => FailureKind::Unavailable,
        "invalid_request" | "model_not_found" => FailureKind::Misconfigured,
        _ => return None,
    };
    Some(StreamResult::failed(kind, said))
}

/// Milliseconds since 1970 from a time in seconds or milliseconds: no second of our age has twelve digits.
fn moment(value: &Value) -> Option<u64> {
    let at = value.as_f64().filter(|at| *at >= 1.0)?;
    let ms = if at < 1e11 { at * 1000.0 } else { at };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // positive, and saturating
    Some(ms as u64)
}

fn tokens(usage: &Value) -> Usage {
    Usage {
        input: count(usage, "input_tokens"),
        output: count(usage, "output_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_write: count(usage, "cache_creation_input_tokens"),
        ..Usage::default()
    }
}

fn since_last(model: &Value) -> Usage {
    Usage {
        input: count(model, "inputTokens"),
        output: count(model, "outputTokens"),
        cache_read: count(model, "cacheReadInputTokens"),
        cache_write: count(model, "cacheCreationInputTokens"),
        cost: model.get("costUSD").and_then(Value::as_f64).and_then(cost),
        ..Usage::default()
    }
}

fn plus(a: Usage, b: Usage) -> Usage {
    use gadfly_engine::Money;
    let cost = match (a.cost, b.cost) {
        (Some(a), Some(b)) => Some(Money(a.0.saturating_add(b.0))),
        (one, None) | (None, one) => one,
    };
    Usage {
        input: a.input.saturating_add(b.input),
        output: a.output.saturating_add(b.output),
        cache_read: a.cache_read.saturating_add(b.cache_read),
        cache_write: a.cache_write.saturating_add(b.cache_write),
        cost,
        estimated: a.estimated || b.estimated,
    }
}
