//! Work a user brings to have it judged: files as they are, or changes as git knows them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use gadfly_engine::protocol::audit::checks::scope::AuditScope;
use gadfly_engine::work::Work;
use gadfly_engine::{ArtifactFile, Text};
use gadfly_project::{Problem, file};

use super::Submission;
use crate::os::remove_tree;
use crate::workspace::{Git, Range, Reviewed};

/// What a review is asked to look at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReviewTarget {
    Paths(Vec<PathBuf>),
    Changes(Range),
}

/// How many names a message lists.
const NAMED: usize = 10;
/// What all files of a review may have together.
const LARGEST: u64 = 64 << 20;

/// Reads it. None if there is nothing to judge.
pub(crate) async fn load_submission(
    git: Option<Git>,
    root: &Path,
    wanted: &ReviewTarget,
    exclude: &[String],
) -> Result<Option<Submission>, Problem> {
    let excluded = AuditScope::new(exclude);
    let keep = |path: &str| exclude.is_empty() || !excluded.contains(path);
    // A single file needs no git, and may lie anywhere.
    if let ReviewTarget::Paths(paths) = wanted
        && let [path] = paths.as_slice()
        && path.is_file()
    {
        return one(path, root).map(Some);
    }
    let Some(git) = git else { return Err(unable(&"programs cannot be started here")) };
    let scratch = Scratch::new().map_err(|e| unable(&e))?;
    let reviewed = Reviewed::open(git, root, &scratch.0).await.map_err(|e| unable(&e))?;
    match wanted {
        ReviewTarget::Changes(range) => {
            changes(WatchedTree { reviewed, _scratch: scratch }, range, &keep).await
        }
        ReviewTarget::Paths(paths) => files(&reviewed, root, paths, &keep).await,
    }
}

/// A project's files as they are before the change under review. Gone when this is.
#[derive(Debug)]
pub struct BaseFiles {
    pub dir: PathBuf,
    _scratch: Scratch,
}

/// Writes them out.
pub(crate) async fn base_of(git: Option<Git>, root: &Path, range: &Range) -> Result<BaseFiles, Problem> {
    let Some(git) = git else { return Err(unable(&"programs cannot be started here")) };
    let scratch = Scratch::new().map_err(|e| unable(&e))?;
    let reviewed = Reviewed::open(git, root, &scratch.0).await.map_err(|e| unable(&e))?;
    let dir = reviewed.base(range, &scratch.0.join("base")).await.map_err(|e| unable(&e))?;
    Ok(BaseFiles { dir, _scratch: scratch })
}

/// A project whose states are compared while somebody else works in it. What is kept of them is gone when this is.
pub struct WatchedTree {
    reviewed: Reviewed,
    _scratch: Scratch,
}

impl WatchedTree {
    pub(crate) async fn open(git: Option<Git>, root: &Path) -> Result<Self, Problem> {
        let Some(git) = git else { return Err(unable(&"programs cannot be started here")) };
        let scratch = Scratch::new().map_err(|e| unable(&e))?;
        let reviewed = Reviewed::open(git, root, &scratch.0).await.map_err(|e| unable(&e))?;
        Ok(Self { reviewed, _scratch: scratch })
    }

    /// The state of this moment, to be compared later.
    pub async fn now(&self) -> Result<String, Problem> {
        self.reviewed.seen().await.map_err(|e| unable(&e))
    }

    /// What changed since a state; none if nothing did.
    pub async fn change_since(&self, state: &str, exclude: &[String]) -> Result<Option<Submission>, Problem> {
        let excluded = AuditScope::new(exclude);
        let keep = |path: &str| exclude.is_empty() || !excluded.contains(path);
        let now = self.now().await?;
        let compared = self.reviewed.changes_between(state, &now, &keep).await;
        let (tree, texts) = compared.map_err(|e| unable(&e))?;
        let what = "the changes of a turn".to_owned();
        let is_empty = tree.changes.is_empty();
        Ok((!is_empty).then_some(Submission {
            work: Work::Tree(tree),
            texts,
            what,
            file: None,
            reviewed: None,
        }))
    }
}

fn one(path: &Path, root: &Path) -> Result<Submission, Problem> {
    let text = file::read_text(path).map_err(|e| Problem::error(e.to_string()))?;
    let path = std::path::absolute(path).map_err(|e| Problem::error(format!("{}: {e}", path.display())))?;
    let what = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
    if text.contains('\0') {
        return Err(Problem::error(format!("{what} is no text: no critic can be shown it")));
    }
    if text.trim().is_empty() {
        return Err(Problem::error(format!("{what} is empty: there is nothing to judge")));
    }
    let text = Text::new(text);
    let entry = ArtifactFile { path: what.clone(), mode: 0o644, blob: text.digest() };
    Ok(Submission {
        work: Work::Files(vec![entry]),
        texts: vec![text],
        what,
        file: Some(path),
        reviewed: None,
    })
}

async fn changes(
    watched: WatchedTree,
    range: &Range,
    keep: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Option<Submission>, Problem> {
    let (from, to) = watched.reviewed.states(range).await.map_err(|e| unable(&e))?;
    let compared = watched.reviewed.changes_between(&from, &to, keep).await;
    let (tree, texts) = compared.map_err(|e| unable(&e))?;
    let what = match range {
        Range::Since(base) => format!("the changes since {base}"),
        Range::Uncommitted => "the uncommitted changes".to_owned(),
        Range::Staged => "the staged changes".to_owned(),
        Range::Commit(rev) => format!("commit {rev}"),
    };
    if tree.changes.is_empty() {
        return Ok(None);
    }
    let reviewed = Some(ReviewedState { watched: Arc::new(watched), tree: to });
    Ok(Some(Submission { work: Work::Tree(tree), texts, what, file: None, reviewed }))
}

/// The project as it is with the change under review.
#[derive(Clone)]
pub struct ReviewedState {
    watched: Arc<WatchedTree>,
    tree: String,
}

impl ReviewedState {
    /// Writes it into a folder, which is made.
    pub(crate) async fn export(&self, to: &Path) -> Result<(), Problem> {
        fs::create_dir_all(to).map_err(|e| unable(&e))?;
        self.watched.reviewed.export(&self.tree, to).await.map_err(|e| unable(&e))
    }
}

impl PartialEq for ReviewedState {
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

impl Eq for ReviewedState {}

impl fmt::Debug for ReviewedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ReviewedState").field(&self.tree).finish()
    }
}

async fn files(
    reviewed: &Reviewed,
    root: &Path,
    paths: &[PathBuf],
    keep: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Option<Submission>, Problem> {
    let root = root.canonicalize().map_err(|e| unable(&e))?;
    let mut below = Vec::new();
    for path in paths {
        let shown = path.display();
        let real = path.canonicalize().map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => Problem::error(format!("`{shown}` does not exist")),
            _ => Problem::error(format!("{shown}: {e}")),
        })?;
        let inside = real.strip_prefix(&root).map_err(|_| {
            Problem::error(format!("{shown} lies outside the project {}", root.display()))
                .help("name files of the project, or a single file")
        })?;
        below.push(inside.to_owned());
    }
    let listed = reviewed.files().await.map_err(|e| unable(&e))?;
    let asked = |path: &String| below.iter().any(|b| Path::new(path).starts_with(b)) && keep(path);
    let (mut entries, mut texts, mut opaque, mut bytes) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for path in listed.into_iter().filter(asked) {
        match file::read_text(&root.join(&path)) {
            // As git does, a zero byte is taken for the mark of a binary file.
            Ok(text) if !text.contains('\0') => {
                bytes += text.len() as u64;
                let text = Text::new(text);
                entries.push(ArtifactFile { path, mode: 0o644, blob: text.digest() });
                texts.push(text);
            }
            _ => opaque.push(path),
        }
        if bytes > LARGEST {
            return Err(Problem::error(format!("these files have more than {LARGEST} bytes together"))
                .help("review a part of them, or leave some out with --exclude"));
        }
    }
    if !opaque.is_empty() {
        let message = format!("no critic can be shown these files, which are no text: {}", named(&opaque));
        return Err(Problem::error(message).help("leave them out with --exclude GLOB"));
    }
    let shown: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    let file = match entries.as_slice() {
        [only] => Some(root.join(&only.path)),
        _ => None,
    };
    let is_empty = entries.is_empty();
    Ok((!is_empty).then_some(Submission {
        work: Work::Files(entries),
        texts,
        what: named(&shown),
        file,
        reviewed: None,
    }))
}

fn named(paths: &[String]) -> String {
    let more = paths.len().saturating_sub(NAMED);
    let list = paths.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if more == 0 { list } else { format!("{list} and {more} more") }
}

fn unable(why: &dyn std::fmt::Display) -> Problem {
    Problem::error(format!("cannot review: {why}"))
}

/// A private folder that is gone when this is.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> std::io::Result<Self> {
        use std::os::unix::fs::DirBuilderExt as _;
        let name = super::seed().map_err(std::io::Error::other)?;
        let path = std::env::temp_dir().join(format!("gadfly-{name}"));
        fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove_tree(&self.0);
    }
}
