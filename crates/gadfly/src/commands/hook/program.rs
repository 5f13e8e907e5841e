//! The programs that call the hook: what each is called, where it is told to, and in what form it is answered. To add
//! one, add its arms here; what it says on standard input is read in `input`, its transcript in `transcript`.

use serde_json::{Value, json};

use crate::cli::HookProgram;
use crate::judged_session::TurnDecision;

/// Above what `hook stop` takes by itself, so that it says what it has before it is killed.
const TIMEOUT_SECONDS: u64 = 600;
/// As many ways back as `--rounds` can ask for: the loop's own cap is to end it.
const CURSOR_LOOPS: u64 = 20;

/// What the hook says.
pub struct HookOutput {
    /// On standard output.
    pub line: Option<Value>,
    /// On standard error: what the program has no field for.
    pub aside: Option<String>,
}

/// In titles and messages.
pub fn name(program: HookProgram) -> &'static str {
    match program {
        HookProgram::Claude => "Claude Code",
        HookProgram::Codex => "Codex",
        HookProgram::Copilot => "Copilot",
        HookProgram::Gemini => "Gemini CLI",
        HookProgram::Cursor => "Cursor",
    }
}

/// The events that mean that the session wants to stop.
pub fn stop_events(program: HookProgram) -> &'static [&'static str] {
    match program {
        HookProgram::Claude | HookProgram::Codex => &["Stop"],
        // The second where the settings use the names of other programs.
        HookProgram::Copilot => &["agentStop", "Stop"],
        HookProgram::Gemini => &["AfterAgent"],
        HookProgram::Cursor => &["stop"],
    }
}

pub fn settings_file(program: HookProgram) -> &'static str {
    match program {
        HookProgram::Claude => ".claude/settings.json",
        HookProgram::Codex => ".codex/hooks.json",
        HookProgram::Copilot => ".github/hooks/gadfly.json",
        HookProgram::Gemini => ".gemini/settings.json",
        HookProgram::Cursor => ".cursor/hooks.json",
    }
}

/// What stands in that file.
pub fn settings(program: HookProgram) -> Value {
    let command = |name: &str| format!("gadfly hook stop --for {name} --untrusted");
    match program {
        HookProgram::Claude => nested(
            "Stop",
            &json!({
                "type": "command", "command": "gadfly hook stop --untrusted", "timeout": TIMEOUT_SECONDS
            }),
        ),
        HookProgram::Codex => nested(
            "Stop",
            &json!({
                "type": "command", "command": command("codex"), "timeout": TIMEOUT_SECONDS
            }),
        ),
        HookProgram::Gemini => nested(
            "AfterAgent",
            &json!({
                "name": "gadfly", "type": "command", "command": command("gemini"), "timeout": TIMEOUT_SECONDS * 1000
            }),
        ),
        HookProgram::Copilot => json!({ "version": 1, "hooks": { "agentStop": [{
            "type": "command", "bash": command("copilot"), "timeoutSec": TIMEOUT_SECONDS
        }] } }),
        HookProgram::Cursor => json!({ "version": 1, "hooks": { "stop": [{
            "command": command("cursor"), "timeout": TIMEOUT_SECONDS, "loop_limit": CURSOR_LOOPS
        }] } }),
    }
}

fn nested(event: &str, hook: &Value) -> Value {
    json!({ "hooks": { event: [{ "hooks": [hook] }] } })
}

/// The decision in the program's own form.
pub fn said(program: HookProgram, decision: &TurnDecision) -> HookOutput {
    let line = |line| HookOutput { line: Some(line), aside: None };
    match (program, decision) {
        // Its documentation is of two minds about empty output.
        (HookProgram::Codex, TurnDecision::Silent) => line(json!({})),
        (_, TurnDecision::Silent) => HookOutput { line: None, aside: None },
        (HookProgram::Cursor, TurnDecision::Back(reason)) => line(json!({ "followup_message": reason })),
        (HookProgram::Gemini, TurnDecision::Back(reason)) => {
            line(json!({ "decision": "deny", "reason": reason }))
        }
        (_, TurnDecision::Back(reason)) => line(json!({ "decision": "block", "reason": reason })),
        (
            _,
            TurnDecision::Approved(message)
            | TurnDecision::Unapproved(message)
            | TurnDecision::Unjudged(message),
        ) => match program {
            // It has no field for the user; what hooks write is shown in a channel of its own.
            HookProgram::Cursor => HookOutput { line: Some(json!({})), aside: Some(message.clone()) },
            _ => line(json!({ "systemMessage": message })),
        },
    }
}
