//! What a program says to its hooks on standard input. It is outside input: bounded, and only what is used is read.

use std::io::{Read as _, stdin};
use std::path::Path;

use serde_json::Value;

use super::{program, transcript};
use crate::cli::HookProgram;
use crate::judged_session::JudgedSession;
use crate::output::{safe, terminal};

const LONGEST: u64 = 1 << 20;
/// Some programs begin with it, and no reader of JSON likes it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the hook is called for.
#[derive(Debug, PartialEq, Eq)]
pub enum HookInput {
    /// Nothing was said: a person called.
    Nothing,
    /// A session wants to stop; with what its user asked, oldest first.
    Stop(JudgedSession, Vec<String>),
    /// A part of a session does.
    Subagent,
    /// The person or an error broke the turn off.
    BrokenOff,
}

/// Reads it, or says why that is not possible.
pub fn read(program: HookProgram) -> Result<HookInput, String> {
    if terminal::person_at_stdin() {
        return Ok(HookInput::Nothing);
    }
    let mut bytes = Vec::new();
    stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| format!("what the hook is told cannot be read: {e}"))?;
    if bytes.len() as u64 > LONGEST {
        return Err(format!("what the hook is told is longer than {LONGEST} bytes"));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(HookInput::Nothing);
    }
    parse(program, &bytes)
}

fn parse(program: HookProgram, bytes: &[u8]) -> Result<HookInput, String> {
    let name = program::name(program);
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let told: Value = serde_json::from_slice(bytes).map_err(|e| {
        format!("what the hook is told is not as {name} says it: {}", safe::line(&e.to_string(), 200))
    })?;
    let text = |keys: &[&str]| keys.iter().find_map(|key| told.get(key)?.as_str().filter(|t| !t.is_empty()));
    let event = text(&["hook_event_name", "hookEventName"]);
    if event.is_some_and(|event| event.eq_ignore_ascii_case("SubagentStop"))
        || is_of_a_subagent(program, &told)
    {
        return Ok(HookInput::Subagent);
    }
    let wanted = program::stop_events(program);
    if let Some(event) = event.filter(|event| !wanted.contains(event)) {
        return Err(format!(
            "`--for` says that {name} calls this hook, for its event {}, and it was called for {}",
            wanted.join(" or "),
            safe::line(event, 40)
        ));
    }
    if program == HookProgram::Cursor && text(&["status"]).is_some_and(|status| status != "completed") {
        return Ok(HookInput::BrokenOff);
    }
    let id = text(&["session_id", "sessionId", "conversation_id"]).unwrap_or_default();
    if !JudgedSession::is_id(id) {
        return Err("the session has no id that can be told again".to_owned());
    }
    let flag = |key: &str| told.get(key).and_then(Value::as_bool);
    let sent_back = match program {
        HookProgram::Cursor => told.get("loop_count").and_then(Value::as_u64).map(|count| count > 0),
        _ => flag("stop_hook_active").or(flag("stopHookActive")),
    };
    let words = if program == HookProgram::Gemini {
        // It says the last request itself, and in a retry what it was sent back with.
        text(&["prompt"]).and_then(transcript::theirs).into_iter().collect()
    } else {
        let path = text(&["transcript_path", "transcriptPath"]).map(Path::new);
        path.map(transcript::asked).unwrap_or_default()
    };
    Ok(HookInput::Stop(JudgedSession { program: name.to_owned(), id: id.to_owned(), sent_back }, words))
}

/// Where the event's name does not say it.
fn is_of_a_subagent(program: HookProgram, told: &Value) -> bool {
    let says = |key: &str| told.get(key).is_some_and(|id| !id.is_null() && id != "");
    match program {
        HookProgram::Claude | HookProgram::Codex => says("agent_id"),
        HookProgram::Copilot => says("agentName") || says("agentId"),
        HookProgram::Gemini | HookProgram::Cursor => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [HookProgram; 5] = [
        HookProgram::Claude,
        HookProgram::Codex,
        HookProgram::Copilot,
        HookProgram::Gemini,
        HookProgram::Cursor,
    ];

    fn stop(program: HookProgram, told: &str) -> (String, String, Option<bool>) {
        match parse(program, told.as_bytes()).unwrap() {
            HookInput::Stop(session, _) => (session.program, session.id, session.sent_back),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_stop_is_read_as_each_program_says_it_and_unknown_fields_are_passed_over() {
        let claude = r#"{"session_id":"abc-1","transcript_path":"/t.jsonl","cwd":"/x","hook_event_name":"Stop",
            "stop_hook_active":true,"permission_mode":"default","later":[1]}"#;
        assert_eq!(stop(HookProgram::Claude, claude), ("Claude Code".into(), "abc-1".into(), Some(true)));
        assert_eq!(stop(HookProgram::Claude, r#"{"session_id":"a"}"#).2, None);
        let codex = r#"{"session_id":"0199","turn_id":"1","transcript_path":null,"cwd":"/x","hook_event_name":"Stop",
            "model":"m","permission_mode":"default","stop_hook_active":false,"last_assistant_message":null}"#;
        assert_eq!(stop(HookProgram::Codex, codex).2, Some(false));
        let copilot = r#"{"timestamp":1704614750000,"cwd":"/x","sessionId":"01H","transcriptPath":"/t","stopReason":"end_turn",
            "stop_hook_active":true}"#;
        assert_eq!(stop(HookProgram::Copilot, copilot), ("Copilot".into(), "01H".into(), Some(true)));
        let cursor = "\u{feff}{\"conversation_id\":\"c-1\",\"hook_event_name\":\"stop\",\"status\":\"completed\",\"loop_count\":0}";
        assert_eq!(stop(HookProgram::Cursor, cursor), ("Cursor".into(), "c-1".into(), Some(false)));
        let gemini = r#"{"session_id":"g","hook_event_name":"AfterAgent","prompt":"add a test","prompt_response":"done",
            "stop_hook_active":false}"#;
        let HookInput::Stop(_, words) = parse(HookProgram::Gemini, gemini.as_bytes()).unwrap() else {
            panic!()
        };
        assert_eq!(words, ["add a test"]);
    }

    #[test]
    fn what_is_no_stop_is_said_to_be_none() {
        let id = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(65));
        let bad = [
            "",
            "{}",
            "[]",
            "null",
            "7",
            r#"{"session_id":"a\nb"}"#,
            r#"{"session_id":"../x"}"#,
            r#"{"session_id":7}"#,
            &id,
        ];
        for told in bad {
            for program in ALL {
                assert!(parse(program, told.as_bytes()).is_err(), "{told}");
            }
        }
        for program in ALL {
            let other = parse(program, br#"{"session_id":"a","hook_event_name":"PreToolUse"}"#).unwrap_err();
            assert!(other.contains("PreToolUse"), "{other}");
        }
    }

    #[test]
    fn what_is_not_the_sessions_own_stop_is_told_apart() {
        let subagent = br#"{"session_id":"a","hook_event_name":"SubagentStop","agent_id":"x"}"#;
        let nameless = br#"{"sessionId":"a","agentName":"explore","stopReason":"end_turn"}"#;
        assert_eq!(parse(HookProgram::Claude, subagent), Ok(HookInput::Subagent));
        assert_eq!(parse(HookProgram::Codex, subagent), Ok(HookInput::Subagent));
        assert_eq!(parse(HookProgram::Copilot, nameless), Ok(HookInput::Subagent));
        let cursor = br#"{"conversation_id":"a","hook_event_name":"subagentStop"}"#;
        assert_eq!(parse(HookProgram::Cursor, cursor), Ok(HookInput::Subagent));
        let aborted = br#"{"conversation_id":"a","hook_event_name":"stop","status":"aborted"}"#;
        assert_eq!(parse(HookProgram::Cursor, aborted), Ok(HookInput::BrokenOff));
    }
}
