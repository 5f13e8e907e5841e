//! Git's merge of three texts, and the places where it finds no way. It works on files of its own folder and
//! touches neither the checkout nor the worker's tree.

use std::fs;
use std::path::Path;

use gadfly_agents::launcher::Exit;

use super::error::WorkspaceError;
use super::git::failure;
use super::store::{Side, SnapshotStore, checked};

/// Larger texts are nothing a person merges by looking at them.
pub(super) const LARGEST_MERGED: u64 = 8 << 20;
/// What is shown of one file.
const MOST_SHOWN: usize = 60;
const LONGEST_SHOWN: usize = 300;
/// Lines before a conflict, to find it by.
const CONTEXT: usize = 2;

const YOURS: &str = "yours";
const BEGUN: &str = "when the run began";
const RUNS: &str = "the run's";

/// What git makes of three texts.
pub(super) enum MergeResult {
    Clean(Vec<u8>),
    /// The conflicting places, cut if long.
    Conflicting(String),
}

impl SnapshotStore {
    /// Merges the files `here`, `base` and `run` of this folder.
    pub async fn merge(&self, folder: &Path) -> Result<MergeResult, WorkspaceError> {
        let args = [
            "merge-file",
            "-p",
            "-q",
            "--diff3",
            "--marker-size=7",
            "-L",
            YOURS,
            "-L",
            BEGUN,
            "-L",
            RUNS,
            "here",
            "base",
            "run",
        ];
        let place = self.place().over(folder);
        let most = usize::try_from(LARGEST_MERGED * 4).unwrap_or(usize::MAX);
        let finished = self.git.try_feed(&place, &args, Vec::new(), most).await?;
        match finished.exit {
            Exit::Code(0) => Ok(MergeResult::Clean(finished.stdout)),
            // The number of conflicts; from 128 on it is an error.
            Exit::Code(1..=127) => Ok(MergeResult::Conflicting(conflicting(&finished.stdout))),
            Exit::Overflowed => Ok(MergeResult::Conflicting(String::new())),
            _ => Err(failure(&args, &finished)),
        }
    }

    /// Takes the files `0`, `1`, … of a folder of ours into the store.
    pub async fn take_in(&self, folder: &Path, count: usize) -> Result<Vec<String>, WorkspaceError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let names: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        let names = names.join("\n") + "\n";
        let args = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
        let answer = self.git.feed(&self.place().over(folder), &args, names.into_bytes()).await?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let oids: Vec<String> = answer.lines().map(ToOwned::to_owned).collect();
        if oids.len() != count {
            return Err(self.damaged("hash-object", answer.trim()));
        }
        Ok(oids)
    }

    /// A tree with these paths put there or taken out.
    pub async fn tree_with(
        &self,
        tree: &str,
        changed: &[(&str, Option<Side>)],
    ) -> Result<String, WorkspaceError> {
        let index = self.index("offer");
        let _ = fs::remove_file(&index);
        let place = self.place().with_index(&index);
        self.git.run(&place, &["read-tree", checked(tree)?]).await?;
        let zero = "0".repeat(tree.len());
        let mut lines = Vec::new();
        // What goes before what comes: a file may take its folder's place.
        for (path, _) in changed.iter().filter(|(_, side)| side.is_none()) {
            lines.extend_from_slice(format!("0 {zero}\t{path}\0").as_bytes());
        }
        for (path, side) in changed {
            if let Some(Side { mode, oid }) = side {
                lines.extend_from_slice(format!("{mode:o} {oid}\t{path}\0").as_bytes());
            }
        }
        if !lines.is_empty() {
            self.git.feed(&place, &["update-index", "-z", "--index-info"], lines).await?;
        }
        let made = self.git.line(&place, &["write-tree"]).await;
        let _ = fs::remove_file(&index);
        made
    }
}

/// The marked places of a merge, with a little before each.
fn conflicting(merged: &[u8]) -> String {
    let text = String::from_utf8_lossy(merged);
    let (begin, end) = (format!("<<<<<<< {YOURS}"), format!(">>>>>>> {RUNS}"));
    let mut shown: Vec<String> = Vec::new();
    let mut before: Vec<&str> = Vec::new();
    let (mut inside, mut more) = (false, false);
    for line in text.lines() {
        if line == begin {
            inside = true;
            shown.extend(before.drain(..).map(cut));
        }
        if !inside {
            if before.len() == CONTEXT {
                before.remove(0);
            }
            before.push(line);
        } else if shown.len() < MOST_SHOWN {
            shown.push(cut(line));
        } else {
            more = true;
            break;
        }
        if line == end {
            inside = false;
        }
    }
    if more {
        shown.push("…".to_owned());
    }
    shown.join("\n")
}

fn cut(line: &str) -> String {
    line.chars().take(LONGEST_SHOWN).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_conflicting_places_are_shown_with_a_little_before_each() {
        let merged =
            "1\n2\n3\n<<<<<<< yours\na\n||||||| when the run began\nb\n=======\nc\n>>>>>>> the run's\n4\n5\n";
        let shown = conflicting(merged.as_bytes());
        assert_eq!(
            shown,
            "2\n3\n<<<<<<< yours\na\n||||||| when the run began\nb\n=======\nc\n>>>>>>> the run's"
        );
    }

    #[test]
    fn a_conflict_of_any_size_is_cut() {
        let long = format!("<<<<<<< yours\n{}\n", format!("{}\n", "x".repeat(10_000)).repeat(1000));
        let shown = conflicting(long.as_bytes());
        assert_eq!(shown.lines().count(), MOST_SHOWN + 1);
        assert!(shown.ends_with('…') && shown.len() < 30_000);
    }
}
