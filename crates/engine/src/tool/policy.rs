//! What may be done for a goal without asking: the deny list forbids, the allow list, the risk ceiling and the
//! folder's bounds each make it a question for a person. How a goal ends is never ruled: `claim_complete` and
//! `abort_with_report` are no actions.

mod in_full;
mod lasting;
mod own;

use super::elsewhere::names_elsewhere;
use super::{Process, Risk, ToolAction};
use crate::protocol::goal::{Policy, ToolServer};

pub use in_full::in_full;
pub use lasting::Lasting;
pub use own::OwnTools;

/// The most of a line or path that is named in a reason.
const NAMED: usize = 200;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ruling {
    Allow,
    /// Never, and nobody is asked. A sentence for the worker.
    Deny(String),
    /// A person decides. A sentence to decide on, and what they would allow for good.
    Ask(String, Lasting),
}

/// What is ruled on.
#[derive(Clone, Copy, Debug)]
pub struct Ruled<'a> {
    /// The tool as the model named it.
    pub name: &'a str,
    pub action: &'a ToolAction,
    /// The place outside the folder its path leads to.
    pub outside: Option<&'a str>,
    /// The kernel holds commands to the folder.
    pub held: bool,
    /// The run's folder, absolute.
    pub root: &'a str,
    pub servers: &'a [ToolServer],
}

/// What doing it counts as.
pub fn risk(action: &ToolAction, servers: &[ToolServer]) -> Risk {
    match action {
        ToolAction::ReadFile { .. }
        | ToolAction::ListFiles { .. }
        | ToolAction::SearchFiles { .. }
        | ToolAction::McpTools { .. }
        | ToolAction::Process(Process::List | Process::Log { .. }) => Risk::ReadOnly,
        ToolAction::Process(Process::Start { .. } | Process::Stop { .. })
        | ToolAction::WriteFile { .. }
        | ToolAction::EditFile { .. }
        | ToolAction::RunCommand { .. }
        | ToolAction::Screenshot { .. } => Risk::WriteLocal,
        ToolAction::FetchUrl { .. } => Risk::NetworkGet,
        ToolAction::Mcp { server, .. } => {
            servers.iter().find(|known| known.name == *server).map_or(Risk::NetworkWrite, |known| known.risk)
        }
    }
}

/// Whether a tool is never used, whoever asks.
pub fn is_denied(policy: &Policy, name: &str) -> bool {
    policy.deny.iter().any(|denied| names(denied, name))
}

/// Rules on an action.
pub fn rule(policy: &Policy, it: &Ruled<'_>) -> Ruling {
    let Ruled { name, action, outside, held, root, servers } = *it;
    if is_denied(policy, name) {
        return Ruling::Deny(format!("{} is denied by this goal's policy.", quoted(name)));
    }
    let mut why = Vec::new();
    if !policy.allow.is_empty() && !policy.allow.iter().any(|allowed| names(allowed, name)) {
        why.push("the tool is not on the list of those that may be used".to_owned());
    }
    let risk = risk(action, servers);
    if risk > policy.risk {
        why.push(format!("it counts as {risk}, and only up to {} goes without asking", policy.risk));
    }
    let place = match action {
        // Held by the kernel, it cannot get anywhere else, whatever it names.
        ToolAction::RunCommand { .. } | ToolAction::Process(_) if held => None,
        ToolAction::RunCommand { line, .. } | ToolAction::Process(Process::Start { line, .. }) => {
            names_elsewhere(line, root)
        }
        _ => outside.map(ToOwned::to_owned),
    };
    if let Some(place) = place {
        // A worker without a goal knows its folder by no name.
        let folder =
            if root.is_empty() { "its folder".to_owned() } else { format!("the folder {}", quoted(root)) };
        why.push(format!("{} is outside {folder}", quoted(&place)));
    }
    if why.is_empty() {
        return Ruling::Allow;
    }
    let why = why.join("; and ");
    let lasting = Lasting::of(name, &why, action);
    Ruling::Ask(format!("{} wants to {}: {why}.", quoted(name), purpose(action)), lasting)
}

/// A tool's name in a list; `github__*` names all of a server.
fn names(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or_else(|| pattern == name, |begin| name.starts_with(begin))
}

fn purpose(action: &ToolAction) -> String {
    match action {
        ToolAction::RunCommand { line, .. } => format!("run {}", quoted(line)),
        ToolAction::Process(process @ Process::Start { .. }) => {
            format!("start {}, which stays up", quoted(process.about()))
        }
        ToolAction::Process(Process::List) => "list its processes".to_owned(),
        ToolAction::Process(Process::Log { name }) => format!("read the log of {}", quoted(name)),
        ToolAction::Process(Process::Stop { name }) => format!("stop {}", quoted(name)),
        ToolAction::ReadFile { path, .. } => format!("read {}", quoted(path)),
        ToolAction::WriteFile { path, .. } => format!("write {}", quoted(path)),
        ToolAction::EditFile { path, .. } => format!("change {}", quoted(path)),
        ToolAction::ListFiles { path } if path.is_empty() => "list the project's files".to_owned(),
        ToolAction::ListFiles { path } => format!("list the files in {}", quoted(path)),
        ToolAction::SearchFiles { pattern, path } if path.is_empty() => {
            format!("search for {}", quoted(pattern))
        }
        ToolAction::SearchFiles { pattern, path } => {
            format!("search for {} in {}", quoted(pattern), quoted(path))
        }
        ToolAction::FetchUrl { url } => format!("fetch {}", quoted(url)),
        ToolAction::Mcp { server, tool, .. } => {
            format!("use {} of the server {}", quoted(tool), quoted(server))
        }
        ToolAction::McpTools { servers } => format!("ask {} for their tools", quoted(&servers.join(", "))),
        ToolAction::Screenshot { line, .. } => format!("make a picture with {}", quoted(line)),
    }
}

/// A model's words in a sentence of ours: one line, no control characters, no quote that ends early. Where a line
/// ends is shown: behind it a comment is none any more.
fn quoted(text: &str) -> String {
    let plain = text.trim().replace('\n', " ⏎ ");
    let plain: String = plain.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    let end = plain.char_indices().nth(NAMED).map(|(end, _)| end);
    end.map_or_else(|| format!("`{plain}`"), |end| format!("`{}…`", &plain[..end]))
}

/// One line for prompts and people.
pub fn describe(policy: &Policy, root: &str) -> String {
    let mut line = format!("risk={}", policy.risk);
    if !root.is_empty() {
        line += "; folder=";
        line += root;
    }
    for (what, tools) in [("denied", &policy.deny), ("allowed", &policy.allow)] {
        if !tools.is_empty() {
            line += &["; ", what, ": ", &tools.join(", ")].concat();
        }
    }
    line
}

#[cfg(test)]
mod tests;
