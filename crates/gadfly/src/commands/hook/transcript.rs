//! What the user asked in a session, from its transcript. The file is written while we read it and belongs to somebody
//! else: lines that are not understood are passed over, and none at all is no error. It is read through from its
//! beginning, line by line: one long result of a tool must not hide what was asked before it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use crate::judged_session::OWN_WORDS;

/// Of a file longer than this the end is looked at.
const LOOKED_AT: u64 = 512 << 20;
/// What is longer is taken in pieces, none of which is understood.
const LONGEST_LINE: u64 = 32 << 20;
/// The last words count; each is cut, so that one long paste leaves room for the others.
const MOST_WORDS: usize = 12;
const LONGEST_WORD: usize = 6_000;
/// What programs put into a user's mouth, and what we sent back.
const NOT_THEIRS: [&str; 14] = [
    OWN_WORDS,
    "<command-",
    "<local-command",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "<ide_",
    "Stop hook feedback",
    "Caveat: The messages below",
    "[Request interrupted",
    "<environment_context>",
    "<user_instructions>",
    "<hook_prompt",
    "# AGENTS.md instructions",
];

/// The user's words, oldest first.
pub fn asked(path: &Path) -> Vec<String> {
    opened(path).map(|file| words(BufReader::new(file))).unwrap_or_default()
}

fn opened(path: &Path) -> Option<std::io::Take<File>> {
    // A pipe or a device would be waited for.
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(LOOKED_AT))).ok()?;
    Some(file.take(LOOKED_AT))
}

fn words(mut lines: impl BufRead) -> Vec<String> {
    let mut last = VecDeque::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return last.into(),
            Ok(_) => {}
        }
        if let Some(word) = word(&line) {
            if last.len() == MOST_WORDS {
                last.pop_front();
            }
            last.push_back(word);
        }
    }
}

/// What the user said in this line, if it is that. Each program has a form of its own, and none of them is another's.
fn word(line: &[u8]) -> Option<String> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let is = |key: &str| line.get(key).and_then(Value::as_bool).unwrap_or(false);
    let said = match line.get("type").and_then(Value::as_str) {
        // Claude Code.
        Some("user") if !is("isMeta") && !is("isSidechain") && !is("isCompactSummary") => {
            line.get("message")?.get("content")?
        }
        // Codex.
        Some("response_item") if line.pointer("/payload/role")? == "user" => {
            line.pointer("/payload/content")?
        }
        // Copilot.
        Some("user.message") => line.pointer("/data/content")?,
        // Cursor.
        None if line.get("role")? == "user" => line.pointer("/message/content")?,
        _ => return None,
    };
    let texts: Vec<&str> = match said {
        Value::String(text) => vec![text.as_str()],
        Value::Array(blocks) => {
            let is_text = |kind: &str| kind == "text" || kind == "input_text";
            let texts = blocks.iter().filter(|b| b.get("type").and_then(Value::as_str).is_some_and(is_text));
            texts.filter_map(|b| b.get("text")?.as_str()).collect()
        }
        _ => return None,
    };
    let texts: Vec<&str> = texts.into_iter().filter(|text| is_theirs(text)).collect();
    theirs(&texts.join("\n"))
}

fn is_theirs(text: &str) -> bool {
    let text = unwrapped(text);
    !NOT_THEIRS.iter().any(|begin| text.starts_with(begin))
}

/// Cursor puts a tag around it.
fn unwrapped(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("<user_query>").and_then(|rest| rest.strip_suffix("</user_query>"));
    inside.unwrap_or(text).trim()
}

/// The text as it is kept, if it is the user's.
pub fn theirs(text: &str) -> Option<String> {
    let text = unwrapped(text);
    if text.is_empty() || !is_theirs(text) {
        return None;
    }
    Some(match text.char_indices().nth(LONGEST_WORD) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_said_is_taken() {
        let text = r#"
{"type":"user","message":{"role":"user","content":"add a test"}}
{"type":"assistant","message":{"content":[{"type":"text","text":"done"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"x"}]}}
{"type":"user","isMeta":true,"message":{"content":"meta"}}
{"type":"user","isSidechain":true,"message":{"content":"a sub-agent"}}
{"type":"user","message":{"content":"<command-name>/clear</command-name>"}}
{"type":"user","message":{"content":"<bash-input>ls</bash-input>"}}
{"type":"user","message":{"content":"<bash-stdout>a.rs</bash-stdout>"}}
{"type":"user","message":{"content":"<task-notification>over</task-notification>"}}
{"type":"user","message":{"content":"Stop hook feedback: fix it"}}
{"type":"user","message":{"content":[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"and a doc"}]}}
{"type":"user","message":{"content":"cut in the mid"#;
        assert_eq!(words(text.as_bytes()), ["add a test", "and a doc"]);
    }

    #[test]
    fn every_programs_form_is_understood() {
        let text = r#"
{"type":"session_meta","payload":{"id":"x"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"to codex"}]}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<hook_prompt hook_run_id=\"stop:0\">Gadfly"}]}}
{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"be good"}]}}
{"type":"event_msg","payload":{"type":"agent_message","message":"done"}}
{"type":"user.message","data":{"content":"to copilot"},"id":"1"}
{"type":"user.message","data":{"content":"Gadfly judged this turn. The critic x rejected the change"},"id":"2"}
{"type":"assistant.message","data":{"content":"done"}}
{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nto cursor\n</user_query>"}]}}
{"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nGadfly judged this turn. Nothing\n</user_query>"}]}}
{"role":"assistant","message":{"content":[{"type":"text","text":"done"}]}}
{"type":"event_msg","payload":7}
{"role":"user"}"#;
        assert_eq!(words(text.as_bytes()), ["to codex", "to copilot", "to cursor"]);
    }

    #[test]
    fn a_long_result_of_a_tool_hides_nothing() {
        let asked = r#"{"type":"user","message":{"content":"add a test"}}"#;
        let long = "x".repeat(12 << 20);
        let result = format!(
            r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":"{long}"}}]}}}}"#
        );
        assert_eq!(words(format!("{asked}\n{result}\n").as_bytes()), ["add a test"]);
    }

    #[test]
    fn a_hostile_transcript_is_bounded_and_harmless() {
        let long = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, "x".repeat(100_000));
        let nested = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        let many = format!("{long}\n").repeat(50);
        let text = format!("\0\u{1b}\n{nested}\n{{}}\nnull\n7\n{many}");
        let found = words(text.as_bytes());
        assert_eq!(found.len(), MOST_WORDS);
        assert!(found.iter().all(|word| word.chars().count() <= LONGEST_WORD + 2));
        assert!(asked(Path::new("/dev/zero")).is_empty() && asked(Path::new("/nowhere")).is_empty());
    }
}
