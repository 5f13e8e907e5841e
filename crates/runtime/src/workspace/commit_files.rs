//! One commit on a new branch: HEAD, with exactly some files of the checkout in it. HEAD, index and files stay, and
//! what else is changed in the checkout is not in it.
//!
//! What was meant is written down before anything is made, with the commit it stands on; so whoever finds the
//! branch there later knows whether it is this one, although the user went on working.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use gadfly_engine::artifact::ArtifactFile;
use serde::{Deserialize, Serialize};

use super::blobs::LARGEST_FILE;
use super::checkout::{Checkout, PathContent};
use super::error::WorkspaceError;
use super::git::{Git, GitTarget, text};
use super::objects;
use super::repository::{Repository, enclosing};
use super::store::{EXECUTABLE_MODE, LINK_MODE, SnapshotStore, checked};
use super::tree::off_thread;
use crate::os::remove_tree;
use crate::save::write_atomically;

const FILE_MODE: u32 = 0o100_644;

/// A commit that is wanted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Intent {
    /// By their paths in the project.
    pub files: Vec<ArtifactFile>,
    #[serde(default)]
    pub deleted: Vec<String>,
    pub branch: String,
    pub message: String,
}

/// What was about to be made when it was last tried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct CommitAttempt {
    intent: Intent,
    /// What it stands on.
    head: Option<String>,
    tree: String,
}

impl CommitAttempt {
    fn read(path: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(path).ok()?).ok()
    }

    fn write(&self, path: &Path) -> Result<(), WorkspaceError> {
        let damaged =
            |e: serde_json::Error| WorkspaceError::Damaged { path: path.to_owned(), reason: e.to_string() };
        let bytes = serde_json::to_vec(self).map_err(damaged)?;
        write_atomically(path, &bytes).map_err(WorkspaceError::io("written", path))
    }
}

/// One commit under way.
struct Making<'a> {
    store: SnapshotStore,
    users: GitTarget,
    root: &'a Path,
    /// The project below the root, with a slash; empty if they are the same.
    below: String,
    /// Ours, and empty: contents on their way.
    desk: PathBuf,
}

impl Git {
    /// Makes the commit, once: its id. `home` is a folder of ours that lasts as long as the run.
    pub(crate) async fn commit_files(
        &self,
        project: &Path,
        home: &Path,
        wanted: Intent,
    ) -> Result<String, WorkspaceError> {
        let canonical = project.canonicalize().ok().filter(|p| p.is_dir());
        let project = canonical.ok_or_else(|| WorkspaceError::NotADirectory { path: project.to_owned() })?;
        let root = enclosing(&project).ok_or(WorkspaceError::NotARepository)?;
        let (repository, users) = Repository::read(self, root).await?;
        let below = text(project.strip_prefix(root).unwrap_or(Path::new("")))?;
        let below = if below.is_empty() { below } else { format!("{below}/") };
        let wanted = self.without_ignored(&users, &below, wanted).await?;
        let tried = home.join("branch.json");
        if let Some(earlier) = CommitAttempt::read(&tried).filter(|earlier| earlier.intent == wanted)
            && let Some(made) = self.made_before(&users, &earlier).await?
        {
            return Ok(made);
        }
        // Before the work of making a tree: it can be corrected.
        self.free_branch(&users, &wanted.branch).await?;
        let desk = home.join("commit");
        let fresh = desk.clone();
        off_thread(move || {
            remove_tree(&fresh);
            fs::create_dir_all(&fresh)
        })
        .await
        .map_err(WorkspaceError::io("made", &desk))?;
        let store = SnapshotStore::at(self.clone(), desk.join("store.git"));
        store.init(&repository.object_format).await?;
        store.configure(&[], &[])?;
        objects::borrow(&repository.shared.join("objects"), &store.dir.join("objects"))
            .map_err(WorkspaceError::io("written", &desk))?;
        if let Ok(shallow) = fs::read(repository.shared.join("shallow")) {
            fs::write(store.dir.join("shallow"), shallow).map_err(WorkspaceError::io("written", &desk))?;
        }
        let making = Making { store, users, root, below, desk: desk.clone() };
        let made = making.make(wanted, repository.head, &tried).await;
        off_thread(move || remove_tree(&desk)).await;
        made
    }

    /// What git ignores is in no commit, unless it tracks it.
    async fn without_ignored(
        &self,
        users: &GitTarget,
        below: &str,
        mut wanted: Intent,
    ) -> Result<Intent, WorkspaceError> {
        let mut place = users.clone();
        place.as_user = true;
        let whole = |path: &str| format!("{below}{path}");
        let files = wanted.files.iter().map(|file| whole(&file.path));
        let paths: Vec<String> = files.chain(wanted.deleted.iter().map(|path| whole(path))).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        let ignored = self.ignored_among(&place, &paths, false).await?;
        wanted.files.retain(|file| !ignored.contains(&whole(&file.path)));
        wanted.deleted.retain(|path| !ignored.contains(&whole(path)));
        Ok(wanted)
    }

    /// The commit the branch points at, if it is the one that was about to be made.
    async fn made_before(
        &self,
        users: &GitTarget,
        tried: &CommitAttempt,
    ) -> Result<Option<String>, WorkspaceError> {
        let reference = format!("refs/heads/{}", tried.intent.branch);
        let args = ["log", "-1", "--no-show-signature", "--format=%H%n%P%n%T%n%B", &reference, "--"];
        let Some(said) = self.line_if_any(users, &args).await? else { return Ok(None) };
        let mut lines = said.splitn(4, '\n');
        let mut next = || lines.next().unwrap_or_default();
        let (id, parent, tree, message) = (next(), next(), next(), next());
        let is_ours = parent == tried.head.as_deref().unwrap_or_default()
            && tree == tried.tree
            && message.trim() == tried.intent.message.trim();
        Ok(is_ours.then(|| id.to_owned()))
    }
}

impl Making<'_> {
    async fn make(
        &self,
        intent: Intent,
        head: Option<String>,
        tried: &Path,
    ) -> Result<String, WorkspaceError> {
        let tree = self.tree(&intent, head.as_deref()).await?;
        let trying = CommitAttempt { intent, head, tree };
        trying.write(tried)?;
        let CommitAttempt { intent, head, tree } = trying;
        self.store.commit(&self.users, &tree, head.as_deref(), &intent.branch, &intent.message).await
    }

    fn whole(&self, path: &str) -> String {
        format!("{}{path}", self.below)
    }

    /// HEAD's tree with the files in it, in the form the user's repository would keep them.
    async fn tree(&self, intent: &Intent, head: Option<&str>) -> Result<String, WorkspaceError> {
        let (git, store) = (&self.store.git, &self.store);
        let files: Vec<ArtifactFile> = intent
            .files
            .iter()
            .map(|file| ArtifactFile { path: self.whole(&file.path), ..file.clone() })
            .collect();
        let (root, contents) = (self.root.to_owned(), self.desk.join("contents"));
        let (wanted, to) = (files.clone(), contents.clone());
        let changed = off_thread(move || copy_out(&root, &wanted, &to))
            .await
            .map_err(WorkspaceError::io("read", self.root))?;
        if !changed.is_empty() {
            return Err(WorkspaceError::Conflict { paths: changed });
        }
        let oids = self.taken_in(&files, &contents).await?;
        let place = store.place().with_index(&store.index("commit"));
        match head {
            Some(head) => git.run(&place, &["read-tree", checked(head)?]).await?,
            None => git.run(&place, &["read-tree", "--empty"]).await?,
        };
        let mut lines = Vec::new();
        for (file, oid) in files.iter().zip(&oids) {
            lines.extend_from_slice(format!("{:o} {oid}\t{}\0", mode(file), file.path).as_bytes());
        }
        let deleted: Vec<String> = intent.deleted.iter().map(|path| self.whole(path)).collect();
        for path in &deleted {
            lines.extend_from_slice(
                format!("0 {}\t{path}\0", "0".repeat(head.map_or(40, str::len))).as_bytes(),
            );
        }
        git.feed(&place, &["update-index", "-z", "--index-info"], lines).await?;
        let tree = git.line(&place, &["write-tree", "--missing-ok"]).await?;
        if let Some(head) = head {
            let named = files.iter().map(|file| file.path.as_str()).chain(deleted.iter().map(String::as_str));
            let named: HashSet<&str> = named.collect();
            let between = store.between(head, &tree).await?;
            if let Some(other) = between.iter().find(|d| !named.contains(d.path.as_str())) {
                let reason = "a file would take its place in the commit: commit these files yourself";
                return Err(WorkspaceError::unusable(&other.path, reason));
            }
        }
        Ok(tree)
    }

    async fn taken_in(&self, files: &[ArtifactFile], contents: &Path) -> Result<Vec<String>, WorkspaceError> {
        let git = &self.store.git;
        let mut oids = self.store.take_in(contents, files.len()).await?;
        let plain: HashMap<&str, usize> = files
            .iter()
            .enumerate()
            .filter(|(_, file)| mode(file) != LINK_MODE)
            .map(|(at, file)| (file.path.as_str(), at))
            .collect();
        let paths: Vec<&str> = plain.keys().copied().collect();
        let with_attributes = self.store.with_attributes(&self.users)?;
        for path in git.converted(&self.users, &paths).await? {
            let Some(at) = plain.get(path.as_str()).copied() else { continue };
            let from = contents.join(at.to_string());
            let bytes = fs::read(&from).map_err(WorkspaceError::io("read", &from))?;
            let args = ["hash-object", "-w", "--stdin", &format!("--path={path}")];
            let oid = git.feed(&with_attributes, &args, bytes).await?;
            if let Some(known) = oids.get_mut(at) {
                String::from_utf8_lossy(&oid).trim().clone_into(known);
            }
        }
        Ok(oids)
    }
}

fn mode(file: &ArtifactFile) -> u32 {
    if file.mode & 0o170_000 == LINK_MODE {
        LINK_MODE
    } else if file.mode & 0o100 == 0 {
        FILE_MODE
    } else {
        EXECUTABLE_MODE
    }
}

/// Puts what the checkout holds of these files into the folder, as `0`, `1`, …; says which are not what was judged.
fn copy_out(root: &Path, files: &[ArtifactFile], to: &Path) -> io::Result<Vec<String>> {
    fs::create_dir_all(to)?;
    let checkout = Checkout::open(root)?;
    let mut changed = Vec::new();
    for (at, file) in files.iter().enumerate() {
        let content = match checkout.look(&file.path)? {
            PathContent::Link(target) if mode(file) == LINK_MODE => Some(target),
            PathContent::File { bytes, .. } if mode(file) != LINK_MODE && bytes <= LARGEST_FILE => {
                checkout.read(&file.path, bytes)?
            }
            _ => None,
        };
        match content.filter(|content| Digest::of(content) == file.blob) {
            Some(content) => fs::write(to.join(at.to_string()), content)?,
            None => changed.push(file.path.clone()),
        }
    }
    Ok(changed)
}
