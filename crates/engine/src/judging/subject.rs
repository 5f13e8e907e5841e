//! What is judged: the pieces of an artifact, in order, as a critic is shown them.

use super::shown;
use crate::artifact::{ArtifactFile, Manifest};
use crate::digest::Digest;
use crate::review::{CoveredFile, Unseen};
use crate::slice::{Slice, SliceStyle};
use crate::text::Texts;
use crate::tree::Tree;

const NO_TEXT: &str = "it is no text, or too long, so no critic can be shown it; where that is as it should be, \
                       `unjudged` in [project] leaves it out";

/// Lines of one entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub path: String,
    pub slice: Slice,
}

impl Piece {
    /// How it stands in a review's coverage.
    pub(super) fn seen(&self, subject: &Subject) -> CoveredFile {
        // Of a table that is sampled there are several pieces.
        let parts = subject.pieces.iter().filter(|p| p.path == self.path).count();
        let whole = parts == 1 && subject.pieces.iter().any(|p| p == self);
        CoveredFile {
            path: self.path.clone(),
            lines: self.slice.lines(),
            from: (!whole).then_some(self.slice.from),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    /// The digest verdicts are bound to.
    pub artifact: Digest,
    pub pieces: Vec<Piece>,
    /// What is in scope and cannot be shown to anybody.
    pub hidden: Vec<Unseen>,
    /// What is shown in part by a stated rule, or only named as not judged.
    pub noted: Vec<Unseen>,
}

impl Subject {
    /// A draft that is one text.
    pub fn of_draft(draft: Digest, texts: &Texts) -> Self {
        let slice = whole(draft, texts, SliceStyle::Plain);
        Self {
            artifact: Manifest::of_text(draft).digest(),
            pieces: vec![Piece { path: "draft".to_owned(), slice }],
            hidden: Vec::new(),
            noted: Vec::new(),
        }
    }

    /// Files as they are, with line numbers; long tables by a sample.
    pub fn of_files(files: &[ArtifactFile], texts: &Texts) -> Self {
        let manifest = Manifest::new(files.to_vec());
        let (mut pieces, mut hidden, mut noted) = (Vec::new(), Vec::new(), Vec::new());
        for entry in manifest.entries() {
            let what = entry.path.clone();
            let mut show = |slice| pieces.push(Piece { path: entry.path.clone(), slice });
            if !texts.contains(&entry.blob) {
                match shown::named_only(&what) {
                    Some(because) => noted.push(Unseen { what, because: because.to_owned() }),
                    None => hidden.push(Unseen { what, because: NO_TEXT.to_owned() }),
                }
                continue;
            }
            let slice = whole(entry.blob, texts, SliceStyle::Numbered);
            if shown::is_table(&what) && texts.get(&entry.blob).len() > shown::LARGEST_TABLE {
                let sample = shown::sample(&slice);
                noted.push(Unseen { what, because: shown::rule(&slice, &sample) });
                sample.into_iter().for_each(&mut show);
            } else {
                show(slice);
            }
        }
        Self { artifact: manifest.digest(), pieces, hidden, noted }
    }

    /// Where nothing else is shown, what is only named is not judged by anybody.
    pub fn without_pieces_nothing_is_judged(&mut self) {
        if self.pieces.is_empty() {
            self.hidden.append(&mut self.noted);
        }
    }

    /// What critics and people are told of what is not shown whole.
    pub fn told_of_noted(&self) -> Option<String> {
        let lines: Vec<String> = self.noted.iter().map(|n| format!("{}: {}", n.what, n.because)).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// A tree by its diff: one piece per changed file. What is binary can be shown to nobody.
    pub fn of_tree(tree: &Tree, texts: &Texts) -> Self {
        let starts = file_starts(texts.get(&tree.diff));
        let lines = count(texts.get(&tree.diff));
        let mut pieces = Vec::new();
        let mut hidden = Vec::new();
        for change in &tree.changes {
            if change.binary {
                let because =
                    "it is binary, so no critic can be shown it; a review leaves it out with --exclude"
                        .to_owned();
                hidden.push(Unseen { what: change.path.clone(), because });
                continue;
            }
            let Some(at) = starts.iter().position(|(path, _)| *path == change.path) else {
                let because = "its change is not in the diff".to_owned();
                hidden.push(Unseen { what: change.path.clone(), because });
                continue;
            };
            let from = starts[at].1;
            let to = starts.get(at + 1).map_or(lines, |(_, next)| next.saturating_sub(1));
            let slice = Slice { text: tree.diff, from, to, style: SliceStyle::Diff };
            pieces.push(Piece { path: change.path.clone(), slice });
        }
        Self { artifact: tree.digest, pieces, hidden, noted: Vec::new() }
    }
}

fn whole(text: Digest, texts: &Texts, style: SliceStyle) -> Slice {
    Slice { text, from: 1, to: count(texts.get(&text)), style }
}

fn count(text: &str) -> u32 {
    u32::try_from(text.lines().count()).unwrap_or(u32::MAX)
}

/// Where each file's part of a diff begins: its path, and the line from 1. A path is read from the line
/// that names it without a prefix to guess at: `+++ b/PATH`, or `--- a/PATH` for a deleted file.
fn file_starts(diff: &str) -> Vec<(String, u32)> {
    let mut starts: Vec<(String, u32)> = Vec::new();
    let mut in_header = false;
    for (number, line) in (1_u32..).zip(diff.lines()) {
        if let Some(names) = line.strip_prefix("diff --git ") {
            starts.push((same_name(names), number));
            in_header = true;
        } else if line.starts_with("@@ ") {
            in_header = false;
        } else if in_header {
            let named = line.strip_prefix("+++ b/").or_else(|| line.strip_prefix("--- a/"));
            if let (Some(path), Some(last)) = (named, starts.last_mut()) {
                path.trim_end_matches('\t').clone_into(&mut last.0);
            }
        }
    }
    starts
}

/// The path of `a/PATH b/PATH`, both being the same.
fn same_name(names: &str) -> String {
    let half = names.len() / 2;
    names.get(..half).and_then(|a| a.strip_prefix("a/")).unwrap_or(names).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_cut_where_its_files_begin() {
        let diff = "diff --git a/x y.rs b/x y.rs\n--- a/x y.rs\n+++ b/x y.rs\n@@ -1 +1 @@\n-a\n+b\n\
                    diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-+++ b/trap\n\
                    diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n";
        assert_eq!(
            file_starts(diff),
            [("x y.rs".to_owned(), 1), ("gone".to_owned(), 7), ("mode".to_owned(), 13)]
        );
    }
}
