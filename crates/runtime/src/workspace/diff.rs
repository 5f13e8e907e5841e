//! The difference of two trees as a text for people and critics.
//!
//! No setting of the user and no attribute in the tree has a say: the same two trees give the same text.

use std::collections::HashMap;
use std::fmt::Write as _;

use gadfly_agents::launcher::Exit;

use super::error::WorkspaceError;
use super::git::failure;
use super::snapshot::quoted;
use super::store::{SnapshotStore, checked};

impl SnapshotStore {
    /// Unified, with three lines of context. Bytes that are not UTF-8 are shown by a replacement character.
    /// Longer than `max` is an error: a cut diff would look like a whole one.
    pub async fn diff(
        &self,
        from: &str,
        to: &str,
        without: &[&str],
        max: u64,
    ) -> Result<String, WorkspaceError> {
        if checked(from)? == checked(to)? {
            return Ok(String::new());
        }
        let without: Vec<String> = without.iter().map(|path| format!(":(exclude,literal){path}")).collect();
        let mut args = vec![
            "diff-tree",
            "-p",
            "-r",
            "-U3",
            "--inter-hunk-context=0",
            "--diff-algorithm=myers",
            "--no-indent-heuristic",
            "--no-ext-diff",
            "--no-textconv",
            "--no-renames",
            "--no-color",
            "--no-relative",
            "--ignore-submodules=none",
            "--submodule=short",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            checked(from)?,
            checked(to)?,
            "--",
        ];
        args.extend(without.iter().map(String::as_str));
        let limit = usize::try_from(max).unwrap_or(usize::MAX);
        let finished = self.git.try_feed(&self.place(), &args, Vec::new(), limit).await?;
        match finished.exit {
            Exit::Code(0) => {}
            Exit::Overflowed => {
                return Err(WorkspaceError::TooLarge { what: "the diff".to_owned(), limit: max });
            }
            _ => return Err(failure(&args, &finished)),
        }
        let text = String::from_utf8_lossy(&finished.stdout);
        if !text.contains("\nBinary files ") {
            return Ok(text.into_owned());
        }
        Ok(with_sizes(&text, &self.binary_lines(from, to).await?))
    }

    /// What git says of a binary file → what we say.
    async fn binary_lines(&self, from: &str, to: &str) -> Result<HashMap<String, String>, WorkspaceError> {
        let differences = self.between(from, to).await?;
        let sides = differences.iter().flat_map(|d| d.from.iter().chain(&d.to));
        let oids: Vec<&str> = sides.map(|s| s.oid.as_str()).collect();
        let facts = self.facts(oids).await?;
        let mut lines = HashMap::new();
        for difference in differences {
            let [from, to] = [&difference.from, &difference.to]
                .map(|side| side.as_ref().and_then(|s| facts.get(&s.oid)).copied());
            let name = |side: &str, there: bool| {
                if there { quoted(&format!("{side}/{}", difference.path)) } else { "/dev/null".to_owned() }
            };
            let path = quoted(&difference.path);
            // A file that became a link, or the other way round, is shown as one gone and one new.
            for (old, new) in [(from, to), (from, None), (None, to)] {
                let said = format!(
                    "Binary files {} and {} differ",
                    name("a", old.is_some()),
                    name("b", new.is_some())
                );
                let ours = match (old, new) {
                    (Some(old), Some(new)) => {
                        format!(
                            "Binary file {path} changed: {} bytes before, {} bytes after",
                            old.bytes, new.bytes
                        )
                    }
                    (None, Some(new)) => format!("Binary file {path} added: {} bytes", new.bytes),
                    (Some(old), None) => format!("Binary file {path} deleted: {} bytes", old.bytes),
                    (None, None) => continue,
                };
                lines.insert(said, ours);
            }
        }
        Ok(lines)
    }
}

/// Lines of content begin with a space, a plus, a minus or a backslash, so none of them is replaced.
fn with_sizes(text: &str, lines: &HashMap<String, String>) -> String {
    let mut result = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match lines.get(line.trim_end_matches('\n')) {
            Some(ours) => drop(writeln!(result, "{ours}")),
            None => result.push_str(line),
        }
    }
    result
}
