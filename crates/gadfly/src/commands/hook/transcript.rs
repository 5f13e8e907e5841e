//! What the user asked in a session, from its transcript. The file is written while we read it and belongs to somebody
//! else: only its end is read, lines that are not understood are passed over, and none at all is no error.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

/// The end of the file that is looked at.
const TAIL: u64 = 8 << 20;
/// The last words count; each is cut, so that one long paste leaves room for the others.
const MOST_WORDS: usize = 12;
const LONGEST_WORD: usize = 6_000;
/// What Claude Code puts into a user's mouth.
const NOT_THEIRS: [&str; 5] = [
    "<command-",
    "<local-command",
    "Stop hook feedback",
    "Caveat: The messages below",
    "[Request interrupted",
];

/// The user's words, oldest first.
pub fn asked(path: &Path) -> Vec<String> {
    tail(path).map(|text| words(&text)).unwrap_or_default()
}

fn tail(path: &Path) -> Option<String> {
    // A pipe or a device would be waited for.
    let about = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(about.len().saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = text.lines().rev().filter_map(word).take(MOST_WORDS).collect();
    words.reverse();
    words
}

/// What the user said in this line, if it is that.
fn word(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    let is = |key: &str| line.get(key).and_then(Value::as_bool).unwrap_or(false);
    if line.get("type")?.as_str()? != "user" || is("isMeta") || is("isSidechain") || is("isCompactSummary") {
        return None;
    }
    let text = match line.get("message")?.get("content")? {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter(|b| b.get("type").and_then(Value::as_str) == Some("text"));
            texts.filter_map(|b| b.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => return None,
    };
    let text = text.trim();
    if text.is_empty() || NOT_THEIRS.iter().any(|begin| text.starts_with(begin)) {
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
{"type":"user","message":{"content":"Stop hook feedback: fix it"}}
{"type":"user","message":{"content":[{"type":"text","text":"and a doc"}]}}
{"type":"user","message":{"content":"cut in the mid"#;
        assert_eq!(words(text), ["add a test", "and a doc"]);
    }

    #[test]
    fn a_hostile_transcript_is_bounded_and_harmless() {
        let long = format!(r#"{{"type":"user","message":{{"content":"{}"}}}}"#, "x".repeat(100_000));
        let nested = format!("{}1{}", "[".repeat(50_000), "]".repeat(50_000));
        let many = format!("{long}\n").repeat(50);
        let text = format!("\0\u{1b}\n{nested}\n{{}}\nnull\n7\n{many}");
        let found = words(&text);
        assert_eq!(found.len(), MOST_WORDS);
        assert!(found.iter().all(|word| word.chars().count() <= LONGEST_WORD + 2));
        assert!(asked(Path::new("/dev/zero")).is_empty() && asked(Path::new("/nowhere")).is_empty());
    }
}
