//! A model behind a program that has tools, such as a coding agent: calls the program's own tools to do what
//! the brief asks, then says so. A worker writes the file its task names; a critic gives its verdict, and an
//! intruder tries to write first, although it is a critic. Who pursues a goal runs in circles until it is told so.
//!
//! To add a program's tool: one row in `writing` or `shell`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use crate::brief::{self, WantedReply};
use crate::conversation::{Conversation, LOCAL_SHELL, Tool, ToolKind};
use crate::wire::Format;

/// What such a model does next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Move {
    Call(ScriptedCall),
    /// A call that is none of this role's.
    Intrude(ScriptedCall),
    Say(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ScriptedCall {
    pub name: String,
    pub arguments: Arguments,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Arguments {
    Object(Value),
    Text(String),
    /// Of the local shell.
    Words(Vec<String>),
}

/// The tool through which a program takes an answer in a given form.
const STRUCTURED: &str = "StructuredOutput";
/// The verdicts of a critic that was given no pattern.
const PATTERN: &str = "R,A";

/// Whether a critic keeps to its role.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Temper {
    Honest,
    Intruder,
}

pub(crate) fn act(talk: &Conversation, format: Format, temper: Temper, pattern: &str) -> Move {
    let pattern = if pattern.is_empty() { PATTERN } else { pattern };
    let text = &talk.brief;
    match brief::wanted(text) {
        WantedReply::Work => work(talk),
        WantedReply::Goal => pursue(talk),
        wanted => {
            // Without tools it is a question on the side, as for a title.
            let may_try = temper == Temper::Intruder && !talk.tools.is_empty();
            if let Some(call) = intrusion(talk, format).filter(|_| may_try) {
                return Move::Intrude(call);
            }
            if wanted == WantedReply::Status {
                let nth = brief::number(text, "Iteration").unwrap_or(1);
                return Move::Say(crate::answer::verdict(pattern, nth));
            }
            let report = if wanted == WantedReply::StatusObject {
                brief::status_object(text, pattern)
            } else {
                brief::report(text, pattern)
            };
            if offered(talk, STRUCTURED).is_some() && !talk.has_called(STRUCTURED) {
                let arguments = Arguments::Object(report);
                return Move::Call(ScriptedCall { name: STRUCTURED.to_owned(), arguments });
            }
            Move::Say(report.to_string())
        }
    }
}

/// The same call over and over.
pub(crate) fn restless(talk: &Conversation, format: Format) -> Move {
    let all: Vec<Tool> = talk.tools.iter().cloned().chain(hidden(format)).collect();
    let call = all.iter().find_map(|tool| shell(tool, "true"));
    call.map_or_else(|| Move::Say("There is nothing to call.".to_owned()), Move::Call)
}

/// Does the same thing over and over until a critic notices; then does what the goal asks for, and claims it.
fn pursue(talk: &Conversation) -> Move {
    if !talk.brief.contains("CRITIC: You appear to be stuck") {
        let call = talk.tools.iter().find_map(|tool| shell(tool, "true"));
        return call.map_or_else(|| Move::Say("There is nothing to call.".to_owned()), Move::Call);
    }
    match work(talk) {
        Move::Say(said) => Move::Say(format!("{said}\n\nCLAIM_COMPLETE: {said}")),
        call => call,
    }
}

fn work(talk: &Conversation) -> Move {
    let digest = digest(&talk.brief);
    let Some(file) = brief::file(&talk.brief).filter(|_| !talk.tools.is_empty()) else {
        return Move::Say(format!(
            "# Draft\n\nThis text answers brief {digest:016x}. It has a first part, a second part and an end.\n"
        ));
    };
    if !talk.called.is_empty() {
        return Move::Say(format!("{file} is written."));
    }
    // Writers refuse to replace a file that was not read before; the shell does not.
    let content = format!("Hello, this is the answer to brief {digest:016x}.\nIt has a second line.\n");
    let by_writer = || talk.tools.iter().find_map(|tool| writing(tool, file, &content));
    let by_shell = || {
        let command = printing(file, &content);
        talk.tools.iter().find_map(|tool| shell(tool, &command))
    };
    let call = if brief::is_repeated(&talk.brief) {
        by_shell().or_else(by_writer)
    } else {
        by_writer().or_else(by_shell)
    };
    call.map_or_else(|| Move::Say("There is no tool to write with.".to_owned()), Move::Call)
}

/// What an intruder has not yet tried: the writer, then the shell, offered or not.
fn intrusion(talk: &Conversation, format: Format) -> Option<ScriptedCall> {
    const TEXT: &str = "written by a critic\n";
    // A writer would refuse to replace a file that was not read before: that would be no guard.
    const NEW: &str = "intruder.txt";
    let command = printing(brief::file(&talk.brief).unwrap_or(NEW), TEXT);
    let all: Vec<Tool> = talk.tools.iter().cloned().chain(hidden(format)).collect();
    let ways = [
        all.iter().find_map(|tool| writing(tool, NEW, TEXT)),
        all.iter().find_map(|tool| shell(tool, &command)),
    ];
    // Counted, not named: some clients put down a call of a tool they do not have under another name.
    ways.into_iter().flatten().nth(talk.called.len())
}

/// Tools that programs of this wire are known to have, though they may not offer them.
fn hidden(format: Format) -> Vec<Tool> {
    let names: &[&str] = match format {
        Format::Chat => &["write", "bash"],
        Format::Anthropic => &["Write", "Bash"],
        Format::Responses => &["exec_command"],
        Format::Gemini => &["write_file", "run_shell_command"],
    };
    names.iter().map(|name| Tool { name: (*name).to_owned(), kind: ToolKind::Function }).collect()
}

fn offered<'a>(talk: &'a Conversation, name: &str) -> Option<&'a Tool> {
    talk.tools.iter().find(|tool| tool.name == name)
}

/// A tool's own name, without the server's that some clients put before it.
fn short(name: &str) -> &str {
    name.rsplit("__").next().unwrap_or(name)
}

fn called(tool: &Tool, arguments: Arguments) -> ScriptedCall {
    ScriptedCall { name: tool.name.clone(), arguments }
}

fn writing(tool: &Tool, file: &str, content: &str) -> Option<ScriptedCall> {
    let arguments = match short(&tool.name) {
        "Write" | "write_file" => Arguments::Object(json!({"file_path": file, "content": content})),
        "write" => Arguments::Object(json!({"filePath": file, "content": content})),
        "apply_patch" if tool.kind == ToolKind::Custom => Arguments::Text(patch(file, content)),
        "apply_patch" => Arguments::Object(json!({"input": patch(file, content)})),
        _ => return None,
    };
    Some(called(tool, arguments))
}

fn shell(tool: &Tool, command: &str) -> Option<ScriptedCall> {
    let words = || ["bash", "-lc", command].map(str::to_owned).to_vec();
    let arguments = match short(&tool.name) {
        LOCAL_SHELL if tool.kind == ToolKind::LocalShell => Arguments::Words(words()),
        "Bash" | "bash" | "run_shell_command" => {
            Arguments::Object(json!({"command": command, "description": "Writes the file."}))
        }
        "exec_command" => Arguments::Object(json!({"cmd": command})),
        "shell" => Arguments::Object(json!({"command": words()})),
        "shell_command" => Arguments::Object(json!({"command": command})),
        _ => return None,
    };
    Some(called(tool, arguments))
}

/// A file that is new, in the form of `apply_patch`.
fn patch(file: &str, content: &str) -> String {
    let lines: Vec<String> = content.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {file}\n{}*** End Patch\n", lines.concat())
}

/// A shell command that writes the text; neither it nor the name needs more than these quotes.
fn printing(file: &str, content: &str) -> String {
    let folder =
        file.rsplit_once('/').map(|(folder, _)| format!("mkdir -p '{folder}' && ")).unwrap_or_default();
    format!("{folder}printf '%s' '{content}' > '{file}'")
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
