//! Texts of a run, a slice at a time, and how two of them differ, word by word. Everything has an end: a draft of many
//! megabytes is shown in parts, and a difference that would take minutes is cut.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::{Path, Query, State};
use gadfly_engine::{Digest, EffectKind};
use gadfly_journal::RunId;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::refusal::Refusal;
use super::{Dashboard, page, questions};
use crate::output::brief;

/// One slice of a text, in bytes.
const SLICE: usize = 256 << 10;
/// Records among which a brief is looked for.
const SEARCHED: u32 = 4000;
/// Longer texts are not compared.
const COMPARED: usize = 2 << 20;
const PATIENCE: Duration = Duration::from_millis(400);
/// Lines of a difference that are shown.
const MOST_LINES: usize = 3000;
/// Of one line.
const LONGEST_LINE: usize = 4 << 10;
const AROUND: usize = 3;

#[derive(Deserialize)]
pub struct From {
    #[serde(default)]
    from: usize,
}

pub async fn text(
    State(dashboard): State<Arc<Dashboard>>,
    Path((run, text)): Path<(String, String)>,
    Query(From { from }): Query<From>,
) -> Result<Json<Value>, Refusal> {
    let run = page::named(&run)?;
    let read = tokio::task::spawn_blocking(move || {
        let whole = match questions::brief_of(dashboard.gadfly(), &run, &text) {
            Some(brief) => Arc::from(brief?.ok_or_else(missing)?),
            None => match stored(&dashboard, &run, &text) {
                // What an agent was sent is no text of its own: it is put together again from its parts.
                Err(refusal) if refusal.is_gone() => sent(&dashboard, &run, &text)?.ok_or(refusal)?,
                other => other?,
            },
        };
        Ok(slice(&whole, from))
    });
    read.await.map_err(Refusal::ours)?.map(Json)
}

fn missing() -> Refusal {
    Refusal::new(axum::http::StatusCode::NOT_FOUND, "there is no such text")
}

fn stored(dashboard: &Dashboard, run: &RunId, digest: &str) -> Result<Arc<str>, Refusal> {
    // The run has to be there; its texts are named by what they are.
    dashboard.gadfly().journal().summary(run)?;
    let digest: Digest = digest.parse().map_err(|_| missing())?;
    dashboard.gadfly().journal().text(&digest)?.ok_or_else(missing)
}

/// The brief with this digest, among those of the newest calls.
fn sent(dashboard: &Dashboard, run: &RunId, digest: &str) -> Result<Option<Arc<str>>, Refusal> {
    let Ok(digest) = digest.parse::<Digest>() else { return Ok(None) };
    let journal = dashboard.gadfly().journal();
    let end = journal.next_seq(run)?;
    let from = end.saturating_sub(SEARCHED);
    for record in journal.records_without_texts(run, from, end - from)?.iter().rev() {
        for effect in &record.step.effects {
            let EffectKind::Turn(turn) = &effect.kind else { continue };
            let brief = brief::messages(journal, turn)?.join("\n");
            if Digest::of(brief.as_bytes()) == digest {
                return Ok(Some(brief.into()));
            }
        }
    }
    Ok(None)
}

fn slice(whole: &str, from: usize) -> Value {
    let boundary =
        |at: usize| (0..=at.min(whole.len())).rev().find(|at| whole.is_char_boundary(*at)).unwrap_or(0);
    let from = boundary(from);
    let end = boundary(from.saturating_add(SLICE));
    let next = (end < whole.len()).then_some(end);
    json!({ "text": &whole[from..end], "from": from, "next": next, "bytes": whole.len() })
}

#[derive(Deserialize)]
pub struct Two {
    old: String,
    new: String,
}

pub async fn diff(
    State(dashboard): State<Arc<Dashboard>>,
    Path(run): Path<String>,
    Query(Two { old, new }): Query<Two>,
) -> Result<Json<Value>, Refusal> {
    let run = page::named(&run)?;
    let read = tokio::task::spawn_blocking(move || {
        let (old, new) = (stored(&dashboard, &run, &old)?, stored(&dashboard, &run, &new)?);
        Ok(differing(&old, &new))
    });
    read.await.map_err(Refusal::ours)?.map(Json)
}

fn differing(old: &str, new: &str) -> Value {
    if old == new {
        return json!({ "same": true, "cut": false, "hunks": [] });
    }
    if old.len() > COMPARED || new.len() > COMPARED {
        return json!({ "same": false, "cut": true, "hunks": [], "too_long": true });
    }
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    let (mut hunks, mut lines, mut cut) = (Vec::new(), 0, false);
    'all: for group in diff.grouped_ops(AROUND) {
        let Some(first) = group.first() else { continue };
        let (old_start, new_start) = (first.old_range().start + 1, first.new_range().start + 1);
        let mut shown = Vec::new();
        for op in &group {
            for change in diff.iter_inline_changes(op) {
                if lines == MOST_LINES {
                    cut = true;
                    hunks.push(json!({ "old_start": old_start, "new_start": new_start, "lines": shown }));
                    break 'all;
                }
                lines += 1;
                let kind = match change.tag() {
                    ChangeTag::Equal => "same",
                    ChangeTag::Insert => "add",
                    ChangeTag::Delete => "del",
                };
                let words = change.iter_strings_lossy().map(|(changed, words)| (changed, short(&words)));
                let words: Vec<(bool, String)> = words.filter(|(_, words)| !words.is_empty()).collect();
                shown.push(json!({ "kind": kind, "words": words }));
            }
        }
        hunks.push(json!({ "old_start": old_start, "new_start": new_start, "lines": shown }));
    }
    json!({ "same": false, "cut": cut, "hunks": hunks })
}

fn short(line: &str) -> String {
    let line = line.trim_end_matches(['\n', '\r']);
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let end = (0..=LONGEST_LINE).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    format!("{}…", &line[..end])
}

/// The stored difference of a folder, file by file.
pub async fn tree_diff(
    State(dashboard): State<Arc<Dashboard>>,
    Path((run, text)): Path<(String, String)>,
) -> Result<Json<Value>, Refusal> {
    let run = page::named(&run)?;
    let read = tokio::task::spawn_blocking(move || Ok(by_file(&stored(&dashboard, &run, &text)?)));
    read.await.map_err(Refusal::ours)?.map(Json)
}

fn by_file(diff: &str) -> Value {
    let mut files: Vec<(String, Vec<Value>)> = Vec::new();
    let mut cut = false;
    for (n, line) in diff.lines().enumerate() {
        if n == MOST_LINES {
            cut = true;
            break;
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            files.push((path_in(names), Vec::new()));
            continue;
        }
        let kind = match line.as_bytes().first() {
            _ if line.starts_with("+++") || line.starts_with("---") => continue,
            Some(b'+') => "add",
            Some(b'-') => "del",
            Some(b' ') | None => "same",
            Some(_) => "hunk",
        };
        let text = short(if matches!(kind, "hunk") { line } else { line.get(1..).unwrap_or_default() });
        if files.is_empty() {
            files.push((String::new(), Vec::new()));
        }
        if let Some((_, lines)) = files.last_mut() {
            lines.push(json!({ "kind": kind, "text": text }));
        }
    }
    let files = files.into_iter().map(|(path, lines)| json!({ "path": path, "lines": lines }));
    json!({ "cut": cut, "files": files.collect::<Vec<_>>() })
}

/// `a/src/x.rs b/src/x.rs`: the later name.
fn path_in(names: &str) -> String {
    let later = names.rfind(" b/").map_or(names, |at| &names[at + 3..]);
    short(later.trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_a_text_are_the_text_and_break_no_letter() {
        let whole = "ä".repeat(SLICE);
        let (mut from, mut read) = (0, String::new());
        loop {
            let part = slice(&whole, from);
            assert!(part["text"].as_str().unwrap().len() <= SLICE);
            read.push_str(part["text"].as_str().unwrap());
            match part["next"].as_u64() {
                Some(next) => from = usize::try_from(next).unwrap(),
                None => break,
            }
        }
        assert_eq!(read, whole);
        assert_eq!(slice(&whole, 1)["from"], 0);
        assert_eq!(slice(&whole, usize::MAX)["text"], "");
    }

    #[test]
    fn words_that_changed_are_told_from_words_that_did_not() {
        let shown = differing("one two three\nsame\n", "one 2 three\nsame\n");
        let lines = shown["hunks"][0]["lines"].as_array().unwrap();
        assert_eq!(lines[0]["kind"], "del");
        assert!(lines[0]["words"].as_array().unwrap().contains(&json!([true, "two"])));
        assert!(lines[1]["words"].as_array().unwrap().contains(&json!([true, "2"])));
        assert_eq!(differing("a", "a")["same"], true);
    }

    #[test]
    fn a_difference_has_an_end() {
        let many = "x\n".repeat(MOST_LINES * 2);
        let shown = differing("", &many);
        assert_eq!(shown["cut"], true);
        assert_eq!(shown["hunks"][0]["lines"].as_array().unwrap().len(), MOST_LINES);
        let long = "x".repeat(COMPARED + 1);
        assert_eq!(differing(&long, "x")["too_long"], true);
    }
}
