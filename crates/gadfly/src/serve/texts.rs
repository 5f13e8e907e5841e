//! Texts of a run, a slice at a time, and how two of them differ, word by word. Everything has an end: a draft of many
//! megabytes is shown in parts, and a difference that would take minutes is cut.

mod by_file;
mod step;

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::{Path, State};
use gadfly_engine::{Digest, EffectKind};
use gadfly_journal::RunId;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::{ChangeTag, DiffOp, InlineChangeOptions, TextDiff};

use super::extract::QueryString;
use super::refusal::HttpRefusal;
use super::{Dashboard, page, questions};
use crate::output::brief;

/// One slice of a text, in bytes.
const SLICE: usize = 256 << 10;
/// Records among which a brief is looked for.
const SEARCHED: u32 = 4000;
/// Longer texts are not compared.
const COMPARED: usize = 2 << 20;
/// For the lines and the words of a whole comparison.
const PATIENCE: Duration = Duration::from_secs(1);
/// Lines that are longer, all that changed in one place, are not compared word by word.
const COMPARED_BY_WORD: usize = 16 << 10;
/// Lines of a difference that are shown.
const MOST_LINES: usize = 3000;
/// Pieces of lines, and all of their text.
const MOST_PIECES: usize = 12_000;
const MOST_BYTES: usize = 1 << 20;
/// Of one line.
const LONGEST_LINE: usize = 4 << 10;
/// A paragraph is one line: its words are compared also where most of them changed.
const ALIKE: f32 = 0.15;
const AROUND: usize = 3;

#[derive(Deserialize)]
pub struct From {
    #[serde(default)]
    from: usize,
}

pub async fn text(
    State(dashboard): State<Arc<Dashboard>>,
    Path((run, text)): Path<(String, String)>,
    QueryString(From { from }): QueryString<From>,
) -> Result<Json<Value>, HttpRefusal> {
    let run = page::named(&run)?;
    let read = tokio::task::spawn_blocking(move || {
        let brief = questions::brief_of(dashboard.gadfly(), &run, &text);
        let step = step::named(dashboard.gadfly().journal(), &run, &text);
        let whole = match (brief, step) {
            (Some(brief), _) => Arc::from(brief?.ok_or_else(missing)?),
            (_, Some(step)) => Arc::from(step?),
            (None, None) => match stored(&dashboard, &run, &text) {
                // What an agent was sent is no text of its own: it is put together again from its parts.
                Err(refusal) if refusal.is_gone() => sent(&dashboard, &run, &text)?.ok_or(refusal)?,
                other => other?,
            },
        };
        Ok(slice(&whole, from))
    });
    read.await.map_err(HttpRefusal::ours)?.map(Json)
}

fn missing() -> HttpRefusal {
    HttpRefusal::new(axum::http::StatusCode::NOT_FOUND, "there is no such text")
}

fn stored(dashboard: &Dashboard, run: &RunId, digest: &str) -> Result<Arc<str>, HttpRefusal> {
    // The run has to be there; its texts are named by what they are.
    dashboard.gadfly().journal().summary(run)?;
    let digest: Digest = digest.parse().map_err(|_| missing())?;
    dashboard.gadfly().journal().text(&digest)?.ok_or_else(missing)
}

/// The brief with this digest, among those of the newest calls.
fn sent(dashboard: &Dashboard, run: &RunId, digest: &str) -> Result<Option<Arc<str>>, HttpRefusal> {
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
    let from = whole.floor_char_boundary(from);
    let end = whole.floor_char_boundary(from.saturating_add(SLICE));
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
    QueryString(Two { old, new }): QueryString<Two>,
) -> Result<Json<Value>, HttpRefusal> {
    let run = page::named(&run)?;
    let read = tokio::task::spawn_blocking(move || {
        let (old, new) = (stored(&dashboard, &run, &old)?, stored(&dashboard, &run, &new)?);
        Ok(differing(&old, &new))
    });
    read.await.map_err(HttpRefusal::ours)?.map(Json)
}

fn differing(old: &str, new: &str) -> Value {
    if old == new {
        return json!({ "same": true, "cut": false, "hunks": [] });
    }
    if old.len() > COMPARED || new.len() > COMPARED {
        return json!({ "same": false, "cut": true, "hunks": [], "too_long": true });
    }
    let until = Instant::now() + PATIENCE;
    let diff = TextDiff::configure().deadline(until).diff_lines(old, new);
    let (mut hunks, mut room, mut cut) = (Vec::new(), Room::new(), false);
    for group in diff.grouped_ops(AROUND) {
        let Some(first) = group.first() else { continue };
        let (old_start, new_start) = (first.old_range().start + 1, first.new_range().start + 1);
        let mut shown = Vec::new();
        for op in &group {
            for (tag, words) in changes(&diff, op, until) {
                cut = cut || !room.take(&words);
                if cut {
                    break;
                }
                let kind = match tag {
                    ChangeTag::Equal => "same",
                    ChangeTag::Insert => "add",
                    ChangeTag::Delete => "del",
                };
                shown.push(json!({ "kind": kind, "words": words }));
            }
        }
        hunks.push(json!({ "old_start": old_start, "new_start": new_start, "lines": shown }));
        if cut {
            break;
        }
    }
    json!({ "same": false, "cut": cut, "hunks": hunks })
}

type ChangedWords = Vec<(bool, String)>;

/// The lines of one place, with the words that changed in them as long as there is time to look for those.
fn changes<'a>(
    diff: &'a TextDiff<'_, '_, str>,
    op: &DiffOp,
    until: Instant,
) -> Box<dyn Iterator<Item = (ChangeTag, ChangedWords)> + 'a> {
    let bytes: usize = diff.iter_changes(op).map(|change| change.value().len()).sum();
    if bytes > COMPARED_BY_WORD || Instant::now() >= until {
        let lines = diff
            .iter_changes(op)
            .map(|change| (change.tag(), vec![(false, short(without_end(change.tag(), change.value())))]));
        return Box::new(lines);
    }
    let mut options = InlineChangeOptions::default();
    options.min_ratio(ALIKE).semantic_cleanup(true);
    Box::new(diff.iter_inline_changes_with_options_deadline(op, options, Some(until)).map(|change| {
        let tag = change.tag();
        let words = change.iter_strings_lossy();
        let words = words.map(|(changed, words)| (changed, short(without_end(tag, &words))));
        (tag, words.filter(|(_, words)| !words.is_empty()).collect())
    }))
}

/// How a line ends is told of those that changed: it may be all that did.
fn without_end(tag: ChangeTag, text: &str) -> &str {
    if tag == ChangeTag::Equal { text.trim_end_matches(['\n', '\r']) } else { text }
}

/// What a difference may still have.
struct Room {
    lines: usize,
    pieces: usize,
    bytes: usize,
}

impl Room {
    const fn new() -> Self {
        Self { lines: MOST_LINES, pieces: MOST_PIECES, bytes: MOST_BYTES }
    }

    /// False if the line has no room any more.
    fn take(&mut self, words: &ChangedWords) -> bool {
        let bytes = words.iter().map(|(_, text)| text.len()).sum();
        let left =
            (self.lines.checked_sub(1), self.pieces.checked_sub(words.len()), self.bytes.checked_sub(bytes));
        let (Some(lines), Some(pieces), Some(bytes)) = left else { return false };
        *self = Self { lines, pieces, bytes };
        true
    }
}

/// What ends a line otherwise than the others is shown.
fn short(line: &str) -> String {
    let line = line.trim_end_matches('\n');
    if line.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(LONGEST_LINE);
    format!("{}…", &line[..end])
}

/// The stored difference of a folder, file by file.
pub async fn tree_diff(
    State(dashboard): State<Arc<Dashboard>>,
    Path((run, text)): Path<(String, String)>,
) -> Result<Json<Value>, HttpRefusal> {
    let run = page::named(&run)?;
    let read = tokio::task::spawn_blocking(move || Ok(by_file::by_file(&stored(&dashboard, &run, &text)?)));
    read.await.map_err(HttpRefusal::ours)?.map(Json)
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
    fn a_paragraph_that_was_mostly_rewritten_shows_what_stayed() {
        let shown = differing(
            "The change costs 40,000 euros. It pays for itself within a good while; customers like it. Limits: one warehouse.\n",
            "The change costs 40,000 euros and saves 3,100 euros a month, so it pays for itself in 13 months. Limits: one warehouse; nobody has asked customers.\n",
        );
        let added = shown["hunks"][0]["lines"][1]["words"].as_array().unwrap();
        assert!(
            added.iter().any(|word| word[0] == false && word[1].as_str().unwrap().contains("40,000")),
            "{shown:#}"
        );
        assert!(
            added.iter().any(|word| word[0] == true && word[1].as_str().unwrap().contains("3,100")),
            "{shown:#}"
        );
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
    fn a_line_that_only_ends_otherwise_says_so() {
        let shown = differing("same\r\none\n", "same\r\none\r\n");
        let lines = shown["hunks"][0]["lines"].as_array().unwrap();
        let text = |n: usize| {
            let words = lines[n]["words"].as_array().unwrap().iter();
            words.map(|word| word[1].as_str().unwrap()).collect::<String>()
        };
        assert_eq!((text(0), text(1), text(2)), ("same".into(), "one".into(), "one\r".into()));
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

    #[test]
    fn lines_full_of_other_words_are_not_taken_apart_without_end() {
        let page = |seed: usize| {
            let line = |n: usize| {
                let words =
                    (0..280).map(|w| format!("{:x} ", (n * 280 + w + 1) * 2_654_435_761 % (seed * 7919)));
                format!("the same {n}\n{}\n", words.collect::<String>())
            };
            (0..600).map(line).collect::<String>()
        };
        let (old, new) = (page(104_729), page(99_991));
        assert!(old.len() > 1 << 20 && old.len() < COMPARED, "{}", old.len());
        let shown = differing(&old, &new);
        let lines =
            shown["hunks"].as_array().unwrap().iter().flat_map(|hunk| hunk["lines"].as_array().unwrap());
        let pieces: usize = lines.map(|line| line["words"].as_array().unwrap().len()).sum();
        assert!(pieces > 0 && pieces <= MOST_PIECES, "{pieces}");
        assert!(shown.to_string().len() < 3 * MOST_BYTES);
        assert_eq!(shown["cut"], true);
    }

    #[test]
    fn a_long_line_is_shown_as_changed_and_not_compared_by_word() {
        let line = |word: &str| format!("{}{word}\n", "x ".repeat(COMPARED_BY_WORD / 2));
        let shown = differing(&line("a"), &line("b"));
        let lines = shown["hunks"][0]["lines"].as_array().unwrap();
        assert_eq!((&lines[0]["kind"], &lines[1]["kind"]), (&"del".into(), &"add".into()));
        assert_eq!(lines[0]["words"].as_array().unwrap().len(), 1);
    }
}
