//! Codex: `codex exec --json`. Tried with 0.166.0.
//!
//! Inside our sandbox its own must be off: it is built from mounts, and a process held by Landlock may not
//! mount. Its errors carry no type and no status, only words, so all failed turns are of one kind.

use std::collections::HashSet;

use gadfly_engine::goal::StepEnd;
use gadfly_engine::tool::policy::OwnTools;
use gadfly_engine::{FailureKind, Guard, Layer, Permission, StopReason, Usage};
use serde_json::Value;

use super::dialect::{
    Dialect, DialectCall, ProgramStart, StepResult, StreamLine, StreamReader, StreamResult, count, one_line,
    step, text,
};
use crate::launcher::Exit;
use crate::own::{Unheld, named};
use crate::spec::Confinement;

pub(crate) struct Codex;

const FULL: &str = "danger-full-access";
/// The tool of ours that its search of the web stands for, and how that is switched off.
const WEB: &str = "fetch_url";
const NO_WEB: &str = "web_search=\"disabled\"";

fn sandbox(permission: Permission, sandboxed: bool, by: Confinement) -> &'static str {
    match permission {
        _ if sandboxed => FULL,
        Permission::ReadOnly => "read-only",
        Permission::Write if by == Confinement::Nobody => FULL,
        Permission::Write => "workspace-write",
    }
}

impl Dialect for Codex {
    fn shown(&self) -> &'static str {
        "Codex"
    }

    fn home(&self) -> &'static str {
        "CODEX_HOME"
    }

    fn start(&self, ask: &DialectCall<'_>) -> ProgramStart {
        let sandbox = sandbox(ask.call.reach(), ask.sandboxed, ask.spec.confined_by);
        let mut start = ProgramStart::new(["exec", "--json", "--skip-git-repo-check", "--sandbox", sandbox]);
        start.add(["-c", "approval_policy=\"never\""]);
        start.add(["-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false"]);
        if ask.own().is_some_and(|own| !own.may(WEB)) {
            start.add(["-c", NO_WEB]);
        }
        if !ask.may_write() {
            // The notes and rules of the judged tree are no instructions for its critic.
            start.add(["-c", "project_doc_max_bytes=0", "--ignore-rules"]);
        }
        if !ask.is_kept() {
            start.add(["--ephemeral"]);
        }
        if let Some(model) = ask.model {
            start.add(["--model", model]);
        }
        let schema = ask.call.schema.as_deref().and_then(|schema| ask.file("schema.json", schema));
        if let Some((path, edit)) = schema {
            start.add(["--output-schema", &path]);
            start.files.push(edit);
        }
        if let Some(session) = ask.session {
            start.add(["resume", Thread::parse(session).id]);
        }
        start.add(["-"]);
        start
    }

    fn reader(&self, ask: &DialectCall<'_>) -> Box<dyn StreamReader> {
        let before = ask.session.map(|s| Thread::parse(s).before).unwrap_or_default();
        Box::new(Stream { before, ..Stream::default() })
    }

    fn guards(&self, permission: Permission, sandboxed: bool, by: Confinement) -> Vec<Guard> {
        match sandbox(permission, sandboxed, by) {
            FULL => Vec::new(),
            own => vec![Guard::new(Layer::OwnSandbox, format!("--sandbox {own}"))],
        }
    }

    /// Its shell cannot be taken from it; its own sandbox keeps the shell from the network, where it is on.
    fn has_networked_commands(&self, own: &OwnTools, sandboxed: bool, by: Confinement) -> bool {
        let reach = if own.reads_only() { Permission::ReadOnly } else { Permission::Write };
        sandbox(reach, sandboxed, by) == FULL
    }

    /// It has one tool for everything, its shell: what may be kept from it is the web, and writing altogether.
    fn keeps_from(&self, own: &OwnTools, sandboxed: bool) -> Result<Vec<Guard>, Unheld> {
        let denied: Vec<String> = own.denied.iter().filter(|tool| *tool != WEB).cloned().collect();
        if !denied.is_empty() {
            return Err(Unheld::new(
                format!(
                    "Codex reads, writes and runs by its shell, and {} cannot be taken from that",
                    named(&denied)
                ),
                "use --risk read_only, which can be held, or take a worker of kind claude-code or gemini, or a model \
                 behind an API",
            ));
        }
        let mut guards = Vec::new();
        if own.reads_only() {
            guards.push(if sandboxed {
                Guard::new(Layer::Landlock, "its folder only to be read")
            } else {
                Guard::new(Layer::OwnSandbox, "--sandbox read-only")
            });
        }
        if !own.may(WEB) {
            guards.push(Guard::new(Layer::OwnMode, NO_WEB));
        }
        Ok(guards)
    }
}

/// A conversation of Codex. What it reports is used by all of the conversation, so that a name of one has the
/// usage so far beside the id: `ID:input:cached:written:output`.
struct Thread<'a> {
    id: &'a str,
    before: [u64; 4],
}

impl<'a> Thread<'a> {
    fn parse(session: &'a str) -> Self {
        let mut parts = session.split(':');
        let id = parts.next().unwrap_or(session);
        let mut before = [0; 4];
        for (slot, part) in before.iter_mut().zip(parts) {
            *slot = part.parse().unwrap_or(0);
        }
        Self { id, before }
    }

    fn name(id: &str, totals: [u64; 4]) -> String {
        let [input, cached, written, output] = totals;
        format!("{id}:{input}:{cached}:{written}:{output}")
    }
}

#[derive(Default)]
struct Stream {
    before: [u64; 4],
    totals: [u64; 4],
    thread: Option<String>,
    /// Items that were told as steps.
    steps: HashSet<String>,
    /// The last message is the answer.
    message: Option<String>,
    /// An error that may be followed by another attempt.
    error: Option<String>,
    retries: u32,
    over: Option<Result<(), String>>,
}

impl StreamReader for Stream {
    fn read(&mut self, line: &Value, heard: &mut Vec<StreamLine>) {
        let kind = text(line, "type");
        if !matches!(kind, Some("turn.failed")) {
            self.retry(heard);
        }
        match kind {
            Some("thread.started") => self.thread = text(line, "thread_id").map(str::to_owned),
            Some("turn.started") => self.over = None,
            Some("item.started" | "item.updated" | "item.completed") => {
                if let Some(item) = line.get("item") {
                    self.item(item, kind == Some("item.completed"), heard);
                }
            }
            Some("error") => self.error = text(line, "message").map(str::to_owned),
            Some("turn.completed") => {
                if let Some(usage) = line.get("usage") {
                    self.count(usage);
                    heard.push(StreamLine::Used(self.usage()));
                }
                self.over = Some(Ok(()));
            }
            Some("turn.failed") => {
                let said = line.pointer("/error/message").and_then(Value::as_str).map(str::to_owned);
                let said = said.or(self.error.take()).unwrap_or_else(|| "it did not say why".to_owned());
                self.over = Some(Err(said));
            }
            _ => {}
        }
    }

    fn is_over(&self) -> bool {
        self.over.is_some()
    }

    fn usage(&self) -> Usage {
        let [input, cached, written, output] = self.totals;
        Usage {
            input: input.saturating_sub(cached).saturating_sub(written),
            output,
            cache_read: cached,
            cache_write: written,
            ..Usage::default()
        }
    }

    /// What a turn used is said at its end only: of one that is broken off, the next call in the same conversation
    /// is told, and pays.
    fn session(&self) -> Option<String> {
        let all = std::array::from_fn(|i| sum(self.before.get(i), self.totals.get(i)));
        self.thread.as_ref().map(|id| Thread::name(id, all))
    }

    fn told(&mut self, _exit: Exit) -> StreamResult {
        match (self.over.take(), self.error.take()) {
            (Some(Ok(())), _) => StreamResult::Answer {
                text: self.message.take().unwrap_or_default(),
                stop: StopReason::EndTurn,
                model: None,
                session: self.session(),
            },
            (Some(Err(said)), _) | (None, Some(said)) => {
                StreamResult::failed(FailureKind::Unavailable, &said)
            }
            (None, None) => StreamResult::Nothing,
        }
    }
}

/// What came of an item that is through. What neither states an exit code nor how it stands is not known.
fn came(item: &Value) -> StepResult {
    let printed = text(item, "aggregated_output").unwrap_or_default();
    let error = item.pointer("/error/message").and_then(Value::as_str);
    match (text(item, "status"), item.get("exit_code").and_then(Value::as_i64)) {
        (Some("declined"), _) => StepResult::new(StepEnd::Denied, printed),
        (_, Some(code)) => StepResult::exit(code, printed),
        (Some("completed"), None) => StepResult::new(StepEnd::Ok, printed),
        (Some("failed"), None) => StepResult::new(StepEnd::Err, error.unwrap_or(printed)),
        _ => StepResult::new(StepEnd::Unknown, printed),
    }
}

fn sum(a: Option<&u64>, b: Option<&u64>) -> u64 {
    a.copied().unwrap_or(0).saturating_add(b.copied().unwrap_or(0))
}

impl Stream {
    /// An error was followed by something other than the end.
    fn retry(&mut self, heard: &mut Vec<StreamLine>) {
        if let Some(error) = self.error.take() {
            self.retries = self.retries.saturating_add(1);
            heard.push(StreamLine::Retrying {
                attempt: self.retries,
                kind: FailureKind::Unavailable,
                message: one_line(&error),
            });
        }
    }

    fn item(&mut self, item: &Value, completed: bool, heard: &mut Vec<StreamLine>) {
        let (Some(kind), id) = (text(item, "type"), text(item, "id").unwrap_or_default()) else { return };
        let line = match kind {
            "agent_message" => {
                if let Some(said) = text(item, "text").filter(|_| completed) {
                    heard.push(StreamLine::Text(said.to_owned()));
                    self.message = Some(said.to_owned());
                }
                return;
            }
            "error" => {
                heard.extend(
                    text(item, "message").filter(|_| completed).map(|m| StreamLine::Note(one_line(m))),
                );
                return;
            }
            "reasoning" | "todo_list" => return,
            "command_execution" => step("command", item),
            "file_change" => {
                let paths = item.get("changes").and_then(Value::as_array);
                let paths = paths.into_iter().flatten().take(20).filter_map(|change| text(change, "path"));
                one_line(&format!("edit: {}", paths.collect::<Vec<_>>().join(", ")))
            }
            "mcp_tool_call" => {
                let (server, tool) = (text(item, "server"), text(item, "tool"));
                one_line(&format!("{}: {}", server.unwrap_or("mcp"), tool.unwrap_or("a tool")))
            }
            other => step(other, item),
        };
        // An item is told when it is first seen: not all of them are seen to start, and of one without an id only
        // the end is.
        let new = if id.is_empty() { completed } else { self.steps.insert(id.to_owned()) };
        if new {
            heard.push(StreamLine::Step { call: Some(id.to_owned()), line: line.clone() });
        }
        if !completed {
            return;
        }
        heard.push(StreamLine::Ended { call: id.to_owned(), came: came(item) });
        if text(item, "status") == Some("declined") {
            heard.push(StreamLine::Stopped(line));
        }
    }

    /// Totals of the conversation: what was used before this call is taken off, if they include it.
    fn count(&mut self, usage: &Value) {
        let stated = ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"]
            .map(|key| count(usage, key));
        let goes_on = stated.iter().zip(&self.before).all(|(now, before)| now >= before);
        self.totals = stated;
        if goes_on {
            for (total, before) in self.totals.iter_mut().zip(self.before) {
                *total -= before;
            }
        } else {
            self.before = [0; 4];
        }
    }
}
