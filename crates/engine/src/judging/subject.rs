//! What is judged: the pieces of an artifact, in order, as a critic is shown them.

use crate::artifact::{ArtifactFile, Manifest};
use crate::digest::Digest;
use crate::review::{CoveredFile, Unseen};
use crate::slice::{Slice, SliceStyle};
use crate::text::Texts;
use crate::tree::Tree;

/// Lines of one entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    pub path: String,
    pub slice: Slice,
}

impl Piece {
    /// How it stands in a review's coverage.
    pub(super) fn seen(&self, subject: &Subject) -> CoveredFile {
        let whole = subject.pieces.iter().any(|p| p == self);
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
}

impl Subject {
    /// A draft that is one text.
    pub fn of_draft(draft: Digest, texts: &Texts) -> Self {
        let slice = whole(draft, texts, SliceStyle::Plain);
        Self {
            artifact: Manifest::of_text(draft).digest(),
            pieces: vec![Piece { path: "draft".to_owned(), slice }],
            hidden: Vec::new(),
        }
    }

    /// Files as they are, with line numbers.
    pub fn of_files(files: &[ArtifactFile], texts: &Texts) -> Self {
        let manifest = Manifest::new(files.to_vec());
        let (known, unknown): (Vec<&ArtifactFile>, Vec<&ArtifactFile>) =
            manifest.entries().iter().partition(|e| texts.contains(&e.blob));
        let piece = |e: &ArtifactFile| Piece {
            path: e.path.clone(),
            slice: whole(e.blob, texts, SliceStyle::Numbered),
        };
        let hidden = |e: &ArtifactFile| Unseen {
            what: e.path.clone(),
            because:
                "it is no text, or too long, so no critic can be shown it; where that is as it should be, \
                      `unjudged` in [project] leaves it out"
                    .to_owned(),
        };
        Self {
            artifact: manifest.digest(),
            pieces: known.into_iter().map(piece).collect(),
            hidden: unknown.into_iter().map(hidden).collect(),
        }
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
        Self { artifact: tree.digest, pieces, hidden }
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
