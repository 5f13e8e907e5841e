//! A snapshot: what a worker's tree holds at one moment, as changes against the base, with one digest.
//!
//! The digest names what is judged. It is taken over a text, the manifest, so that anyone can take it again:
//! the base's name, then every changed path with its mode and the digest of its content.

use std::fmt::Write as _;

use gadfly_engine::Digest;

use super::error::WorkspaceError;
use super::store::{LINK_MODE, SnapshotStore, TreeDifference};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Its name in the workspace's store.
    pub tree: String,
    pub digest: Digest,
    pub manifest: String,
    /// Against the base, sorted by path.
    pub changes: Vec<SnapshotChange>,
    /// Repositories inside the tree: their content is no part of the snapshot.
    pub left_out: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChangeStatus {
    Added,
    Modified,
    Deleted,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SnapshotChange {
    pub path: String,
    pub status: ChangeStatus,
    /// As git writes it: `100644`, `100755` or `120000`, octal. Of a deleted file the mode it had.
    pub mode: u32,
    /// Its content is where it leads.
    pub symlink: bool,
    pub binary: bool,
    /// Of the content after, or of the content before if it is deleted; so are `lines` and `binary`.
    pub bytes: u64,
    pub lines: u32,
    pub before: Option<Digest>,
    pub after: Option<Digest>,
}

impl SnapshotStore {
    pub async fn changes(&self, from: &str, to: &str) -> Result<Vec<SnapshotChange>, WorkspaceError> {
        let differences = self.between(from, to).await?;
        let sides = differences.iter().flat_map(|d| d.from.iter().chain(&d.to));
        let oids: Vec<&str> = sides.map(|s| s.oid.as_str()).collect();
        let facts = self.facts(oids).await?;
        differences
            .into_iter()
            .map(|TreeDifference { path, from, to }| {
                let status = match (&from, &to) {
                    (None, _) => ChangeStatus::Added,
                    (Some(_), None) => ChangeStatus::Deleted,
                    (Some(_), Some(_)) => ChangeStatus::Modified,
                };
                let of = |oid: &String| facts.get(oid).copied();
                let before = from.as_ref().and_then(|s| of(&s.oid));
                let after = to.as_ref().and_then(|s| of(&s.oid));
                let shown = after.or(before).ok_or_else(|| self.damaged("diff-tree", &path))?;
                let mode = to.or(from).map_or(0, |s| s.mode);
                Ok(SnapshotChange {
                    path,
                    status,
                    mode,
                    symlink: mode == LINK_MODE,
                    binary: shown.binary,
                    bytes: shown.bytes,
                    lines: shown.lines,
                    before: before.map(|f| f.digest),
                    after: after.map(|f| f.digest),
                })
            })
            .collect()
    }
}

/// The manifest of a tree that differs from `base` by these changes.
pub(super) fn manifest(base: &str, changes: &[SnapshotChange]) -> String {
    let mut text = format!("base {base}\n");
    for change in changes {
        let path = quoted(&change.path);
        let result = match change.after {
            Some(digest) => writeln!(text, "{:o} {digest} {path}", change.mode),
            None => writeln!(text, "deleted {path}"),
        };
        debug_assert!(result.is_ok(), "writing to a String cannot fail");
    }
    text
}

/// A path as git shows it: one with a quote, a backslash or a control character stands in quotes with
/// escapes. So no name can pretend to be two lines of a manifest.
pub(super) fn quoted(path: &str) -> String {
    if !path.bytes().any(special) {
        return path.to_owned();
    }
    let mut text = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\u{7}' => text.push_str("\\a"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{b}' => text.push_str("\\v"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            c if c.is_ascii_control() => {
                let _ = write!(text, "\\{:03o}", u32::from(c));
            }
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

const fn special(byte: u8) -> bool {
    byte < 0x20 || byte == 0x7f || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(path: &str) -> SnapshotChange {
        SnapshotChange {
            path: path.to_owned(),
            status: ChangeStatus::Added,
            mode: 0o100_644,
            symlink: false,
            binary: false,
            bytes: 1,
            lines: 1,
            before: None,
            after: Some(Digest::of(b"x")),
        }
    }

    #[test]
    fn a_name_with_a_line_break_cannot_pretend_to_be_two_files() {
        let digest = Digest::of(b"x");
        let forged = added(&format!("a\n100644 {digest} b"));
        let two = [added("a"), added("b")];
        // Sabotage: unquoted, the two manifests would be the same text.
        let unquoted = format!("base t\n100644 {digest} {}\n", forged.path);
        assert_eq!(unquoted, manifest("t", &two));
        assert_ne!(manifest("t", &[forged]), manifest("t", &two));
    }

    #[test]
    fn paths_are_quoted_as_git_quotes_them() {
        for (path, shown) in [
            ("plain ü", "plain ü"),
            ("a\tb", r#""a\tb""#),
            ("a\"b", r#""a\"b""#),
            ("a\\b", r#""a\\b""#),
            ("a\u{1}", r#""a\001""#),
        ] {
            assert_eq!(quoted(path), shown);
        }
    }
}
