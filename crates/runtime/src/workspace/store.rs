//! The private object store of one workspace: a bare repository whose own settings are the only ones that
//! apply. It keeps exact bytes: no line-end conversion, no filters, no keyword expansion.
//!
//! It knows trees and blobs, not what they mean to a run. Nothing in it is ever collected as garbage.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::blobs::BlobFacts;
use super::error::WorkspaceError;
use super::git::{Git, GitTarget, not_text, text, zero_separated};

pub(super) const EXECUTABLE_MODE: u32 = 0o100_755;
pub(super) const LINK_MODE: u32 = 0o120_000;
pub(super) const REPOSITORY_MODE: u32 = 0o160_000;

/// These overrule every `.gitattributes`: bytes stay what they are, and a text cannot be declared binary.
const ATTRIBUTES: &str =
    "* !diff !merge -text !eol !crlf -filter -ident -working-tree-encoding !export-subst !whitespace\n";

const SETTINGS: &str = "
[core]
\tautocrlf = false
\tsafecrlf = false
\tfileMode = true
\tsymlinks = true
\tignoreCase = false
\tprecomposeUnicode = false
\tquotePath = false
\thooksPath = /dev/null
\tfsmonitor = false
\tuntrackedCache = false
\tsparseCheckout = false
\tattributesFile = /dev/null
\tprotectHFS = true
\tprotectNTFS = true
\tlooseCompression = 1
[gc]
\tauto = 0
[maintenance]
\tauto = false
[index]
\tversion = 4
[checkout]
\tworkers = 0
[advice]
\taddEmbeddedRepo = false
";

#[derive(Clone)]
pub(super) struct SnapshotStore {
    pub git: Git,
    pub dir: PathBuf,
    pub known: Arc<Mutex<HashMap<String, BlobFacts>>>,
}

/// One file of a tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TreeEntry {
    pub path: String,
    pub mode: u32,
    pub oid: String,
    pub bytes: u64,
}

/// One difference between two trees; a side that does not have the path is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct TreeDifference {
    pub path: String,
    pub from: Option<Side>,
    pub to: Option<Side>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Side {
    pub mode: u32,
    pub oid: String,
}

impl SnapshotStore {
    pub fn at(git: Git, dir: PathBuf) -> Self {
        Self { git, dir, known: Arc::default() }
    }

    /// Makes the empty repository; its folder must not exist yet, the one above must.
    pub async fn init(&self, object_format: &str) -> Result<(), WorkspaceError> {
        let above = self.dir.parent().unwrap_or(Path::new("/"));
        let format = format!("--object-format={object_format}");
        let args = ["init", "--quiet", "--bare", "--template=", &format, &text(&self.dir)?];
        self.git.outside(above, &args).await
    }

    /// Writes its settings; what the user ignores everywhere and what the repository ignores go with them.
    pub fn configure(&self, user_excludes: &[u8], own_excludes: &[u8]) -> Result<(), WorkspaceError> {
        let info = self.dir.join("info");
        fs::create_dir_all(&info).map_err(WorkspaceError::io("made", &info))?;
        let ignored = info.join("user-exclude");
        let files = [
            (info.join("attributes"), ATTRIBUTES.as_bytes()),
            (ignored.clone(), user_excludes),
            (info.join("exclude"), own_excludes),
        ];
        for (path, bytes) in files {
            fs::write(&path, bytes).map_err(WorkspaceError::io("written", &path))?;
        }
        let config = self.dir.join("config");
        let mut settings = fs::read_to_string(&config).map_err(WorkspaceError::io("read", &config))?;
        settings.push_str(SETTINGS);
        settings.push_str("[core]\n\texcludesFile = ");
        settings.push_str(&quoted(&text(&ignored)?));
        settings.push('\n');
        fs::write(&config, settings).map_err(WorkspaceError::io("written", &config))
    }

    pub fn place(&self) -> GitTarget {
        GitTarget::bare(&self.dir)
    }

    pub fn index(&self, name: &str) -> PathBuf {
        self.dir.join(format!("index-{name}"))
    }

    /// All files of a tree, sorted by path.
    pub async fn entries(&self, tree: &str) -> Result<Vec<TreeEntry>, WorkspaceError> {
        let listed = self.git.run(&self.place(), &["ls-tree", "-r", "-l", "-z", checked(tree)?]).await?;
        let mut entries = Vec::new();
        for line in listed.split(|b| *b == 0).filter(|l| !l.is_empty()) {
            let line = std::str::from_utf8(line).map_err(|_| not_text(String::from_utf8_lossy(line)))?;
            let parsed = line.split_once('\t').and_then(|(head, path)| {
                let mut words = head.split_ascii_whitespace();
                let mode = u32::from_str_radix(words.next()?, 8).ok()?;
                let oid = words.nth(1)?.to_owned();
                // Of a repository within there is no size: a dash.
                let bytes = words.next()?.parse().unwrap_or(0);
                Some(TreeEntry { path: path.to_owned(), mode, oid, bytes })
            });
            entries.push(parsed.ok_or_else(|| self.damaged("ls-tree", line))?);
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(entries)
    }

    /// Mode and name of every file of a tree: quicker than [`Self::entries`], which knows sizes too.
    pub async fn files(&self, tree: &str) -> Result<HashMap<String, (u32, String)>, WorkspaceError> {
        let listed = self.git.run(&self.place(), &["ls-tree", "-r", "-z", checked(tree)?]).await?;
        let read = |line: &String| {
            let (head, path) = line.split_once('\t')?;
            let mut words = head.split(' ');
            let mode = u32::from_str_radix(words.next()?, 8).ok()?;
            Some((path.to_owned(), (mode, words.nth(1)?.to_owned())))
        };
        zero_separated(&listed)?
            .iter()
            .map(|line| read(line).ok_or_else(|| self.damaged("ls-tree", line)))
            .collect()
    }

    /// Sorted by path. A tree's name says what it holds: two of one name do not differ, and git is not asked.
    pub async fn between(&self, from: &str, to: &str) -> Result<Vec<TreeDifference>, WorkspaceError> {
        if checked(from)? == checked(to)? {
            return Ok(Vec::new());
        }
        let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", checked(from)?, checked(to)?];
        let listed = self.git.run(&self.place(), &args).await?;
        let mut fields = listed.split(|b| *b == 0);
        let mut found = BTreeMap::new();
        while let (Some(head), Some(path)) = (fields.next(), fields.next()) {
            let head = String::from_utf8_lossy(head).into_owned();
            let path =
                String::from_utf8(path.to_vec()).map_err(|_| not_text(String::from_utf8_lossy(path)))?;
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let [from_mode, to_mode, from_oid, to_oid, _] = words[..] else {
                return Err(self.damaged("diff-tree", &head));
            };
            let side = |mode: &str, oid: &str| {
                let mode = u32::from_str_radix(mode, 8).ok().filter(|m| *m != 0)?;
                Some(Side { mode, oid: oid.to_owned() })
            };
            let difference = TreeDifference {
                path: path.clone(),
                from: side(from_mode, from_oid),
                to: side(to_mode, to_oid),
            };
            found.insert(path, difference);
        }
        Ok(found.into_values().collect())
    }

    /// Puts the files of a tree into an empty folder.
    pub async fn export(&self, tree: &str, to: &Path) -> Result<(), WorkspaceError> {
        let mut random = [0_u8; 8];
        getrandom::fill(&mut random).map_err(|e| WorkspaceError::Io {
            doing: "named",
            path: self.dir.clone(),
            source: std::io::Error::other(e),
        })?;
        let index = self.index(&format!("export-{:016x}", u64::from_le_bytes(random)));
        let place = self.place().with_index(&index).over(to);
        let result = async {
            self.git.run(&place, &["read-tree", checked(tree)?]).await?;
            self.git.run(&place, &["checkout-index", "--all", "--force", "--quiet"]).await
        }
        .await;
        let _ = fs::remove_file(&index);
        result.map(drop)
    }

    pub fn damaged(&self, command: &str, line: &str) -> WorkspaceError {
        WorkspaceError::Damaged {
            path: self.dir.clone(),
            reason: format!("`git {command}` answered in a way we do not know: {line:.200}"),
        }
    }
}

/// A tree's name from a record, before it becomes an argument.
pub(super) fn checked(oid: &str) -> Result<&str, WorkspaceError> {
    if matches!(oid.len(), 40 | 64) && oid.bytes().all(|b| b.is_ascii_hexdigit()) {
        Ok(oid)
    } else {
        Err(WorkspaceError::unusable(oid, "this is not the name of a snapshot"))
    }
}

/// A value as git's configuration files write it.
pub(super) fn quoted(value: &str) -> String {
    let mut text = String::from("\"");
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}
