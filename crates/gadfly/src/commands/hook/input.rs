//! What Claude Code says to its hooks on standard input. It is outside input: bounded, and only what is used is read.

use std::io::{Read as _, stdin};
use std::path::PathBuf;

use serde::Deserialize;

use crate::output::{safe, terminal};

const LONGEST: u64 = 1 << 20;
const LONGEST_ID: usize = 64;

#[derive(Deserialize)]
struct Raw {
    session_id: Option<String>,
    transcript_path: Option<PathBuf>,
    hook_event_name: Option<String>,
    stop_hook_active: Option<bool>,
}

/// A stop, as the hook is told of it.
#[derive(Debug, PartialEq, Eq)]
pub struct Stopping {
    pub session: String,
    pub transcript: Option<PathBuf>,
    /// It only works because a hook sent it back. None: not said.
    pub sent_back: Option<bool>,
}

/// Reads it, or says why that is not possible. Nothing at all is `None`.
pub fn read() -> Result<Option<Stopping>, String> {
    if terminal::person_at_stdin() {
        return Ok(None);
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
        return Ok(None);
    }
    parse(&bytes).map(Some)
}

fn parse(bytes: &[u8]) -> Result<Stopping, String> {
    let raw: Raw = serde_json::from_slice(bytes).map_err(|e| {
        format!("what the hook is told is not as Claude Code says it: {}", safe::line(&e.to_string(), 200))
    })?;
    if let Some(event) = raw.hook_event_name.filter(|event| event != "Stop") {
        return Err(format!(
            "this hook is for the event Stop, and was called for {}",
            safe::line(&event, 40)
        ));
    }
    let session = raw.session_id.unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if session.is_empty() || session.len() > LONGEST_ID || !session.chars().all(fits) {
        return Err("the session has no id that can be told again".to_owned());
    }
    Ok(Stopping { session, transcript: raw.transcript_path, sent_back: raw.stop_hook_active })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_read_and_unknown_fields_are_passed_over() {
        let told =
            br#"{"session_id":"abc-1","transcript_path":"/t.jsonl","cwd":"/x","hook_event_name":"Stop",
            "stop_hook_active":true,"permission_mode":"default","later":[1]}"#;
        let read = parse(told).unwrap();
        assert_eq!((read.session.as_str(), read.sent_back), ("abc-1", Some(true)));
        assert_eq!(parse(br#"{"session_id":"a"}"#).unwrap().sent_back, None);
    }

    #[test]
    fn what_is_no_stop_is_said_to_be_none() {
        let id = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(65));
        let bad = ["", "{}", "[]", "null", r#"{"session_id":"a\nb"}"#, r#"{"session_id":"../x"}"#, &id];
        for told in bad {
            assert!(parse(told.as_bytes()).is_err(), "{told}");
        }
        let other = parse(br#"{"session_id":"a","hook_event_name":"PreToolUse"}"#).unwrap_err();
        assert!(other.contains("PreToolUse"), "{other}");
    }
}
