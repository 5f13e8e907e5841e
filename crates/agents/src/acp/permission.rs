//! What an agent that asks for permission is told, by its role. The protocol is one layer of several: an agent
//! may lie about what it wants to do, or do it without asking.

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionId, PermissionOptionKind, RequestPermissionOutcome,
    SelectedPermissionOutcome, ToolCallContent, ToolCallUpdate, ToolKind,
};
use gadfly_engine::Permission;

use super::folder::CallFolders;

/// Modes in which an agent does not edit, by the id under which agents offer them: Codex says `read-only`, Claude,
/// Gemini and `OpenCode` say `plan`, others `ask`. The first that is offered is taken. Some still run commands in it.
pub(super) const READING_MODES: [&str; 4] = ["plan", "read-only", "readonly", "ask"];
/// The mode in which Codex leaves its own sandbox out: that needs mounts, and nobody mounts inside Landlock.
pub(super) const UNBOUND_MODE: &str = "agent-full-access";
pub(super) const READING_MODES_SANDBOXED: [&str; 5] = [UNBOUND_MODE, "plan", "read-only", "readonly", "ask"];

/// Whether this tool call may go on, or why not. `known` is what the agent called it before it asked.
pub(super) fn allowed(
    permission: Permission,
    asked: &ToolCallUpdate,
    known: Option<ToolKind>,
    folder: &CallFolders,
) -> Result<(), &'static str> {
    let changes = asked.fields.content.iter().flatten().filter_map(|content| match content {
        ToolCallContent::Diff(diff) => Some(diff.path.as_path()),
        _ => None,
    });
    let mut changes = changes.peekable();
    let kind = asked.fields.kind.or(known).unwrap_or_default();
    match permission {
        Permission::ReadOnly => {
            if changes.peek().is_some() || !reads(kind) || !known.is_none_or(reads) {
                return Err("it may only read");
            }
        }
        Permission::Write => {
            let places = asked.fields.locations.iter().flatten().map(|place| place.path.as_path());
            let writes = matches!(kind, ToolKind::Edit | ToolKind::Delete | ToolKind::Move);
            if changes.chain(places.filter(|_| writes)).any(|path| !folder.holds(path)) {
                return Err("it is outside of its folder");
            }
        }
    }
    Ok(())
}

const fn reads(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Search | ToolKind::Think)
}

/// The answer among those the agent offers: never more than this once, if it lets us choose.
pub(super) fn outcome(options: &[PermissionOption], allow: bool) -> RequestPermissionOutcome {
    let wanted = if allow {
        [PermissionOptionKind::AllowOnce, PermissionOptionKind::AllowAlways]
    } else {
        [PermissionOptionKind::RejectOnce, PermissionOptionKind::RejectAlways]
    };
    let offered = |kind: &PermissionOptionKind| -> Option<PermissionOptionId> {
        options.iter().find(|option| option.kind == *kind).map(|option| option.option_id.clone())
    };
    wanted.iter().find_map(offered).map_or(RequestPermissionOutcome::Cancelled, |id| {
        RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(id))
    })
}

/// The word for a kind of tool, as the protocol spells it.
pub(super) const fn word(kind: ToolKind) -> &'static str {
    match kind {
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Delete => "delete",
        ToolKind::Move => "move",
        ToolKind::Search => "search",
        ToolKind::Execute => "execute",
        ToolKind::Think => "think",
        ToolKind::Fetch => "fetch",
        ToolKind::SwitchMode => "switch mode",
        _ => "tool",
    }
}

#[cfg(test)]
mod tests;
