//! What a workspace must know of the user's repository. It only reads, and starts nothing that the
//! repository's configuration names.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use gadfly_journal::pipeline::Base;
use serde::{Deserialize, Serialize};

use super::error::WorkspaceError;
use super::git::{Git, GitTarget, zero_separated};
use super::store::REPOSITORY_MODE;

/// More than any list of ignore rules.
const LARGEST_RULES: u64 = 4 << 20;

/// The repository a project is in, as it was when the run began.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Repository {
    /// `.git` of the checkout; of a linked worktree its own part.
    pub dir: PathBuf,
    /// Where objects and branches are: the same folder, except in a linked worktree.
    pub shared: PathBuf,
    pub object_format: String,
    pub head: Option<String>,
    /// `refs/heads/…`; none if HEAD is detached.
    pub branch: Option<String>,
}

/// One entry of the user's index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Indexed {
    pub mode: u32,
    pub oid: String,
    pub stage: u8,
    /// Not on disk on purpose (a sparse checkout).
    pub skipped: bool,
    /// Git was told not to look at the file, or to take it for unchanged.
    pub hidden: bool,
    pub path: String,
}

/// The folder whose `.git` governs `project`, if there is one. Found by looking, not by asking git: the
/// configuration could name another folder.
pub(super) fn enclosing(project: &Path) -> Option<&Path> {
    project.ancestors().find(|dir| fs::symlink_metadata(dir.join(".git")).is_ok())
}

impl Git {
    /// The commit that is checked out in a project, with its tree; none where there is none.
    pub(crate) async fn checked_out(&self, project: &Path) -> Option<Base> {
        let project = project.canonicalize().ok()?;
        let (repository, place) = Repository::read(self, enclosing(&project)?).await.ok()?;
        let commit = repository.head?;
        let tree = format!("{commit}^{{tree}}");
        let tree = self.line_if_any(&place, &["rev-parse", "--verify", "--quiet", &tree]).await.ok()??;
        Some(Base { commit, tree })
    }
}

impl Repository {
    /// What it is now, and the place from which the rest of it is read.
    pub async fn read(git: &Git, root: &Path) -> Result<(Self, GitTarget), WorkspaceError> {
        let place = git.reading(&root.join(".git"), root).await?;
        let args =
            ["rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-object-format"];
        let answer = git.line(&place, &args).await?;
        let [dir, shared, object_format] = answer.split('\n').collect::<Vec<_>>()[..] else {
            return Err(WorkspaceError::unusable(".git", "git does not say where it keeps its objects"));
        };
        let head = git.line_if_any(&place, &["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).await?;
        let branch = git.line_if_any(&place, &["symbolic-ref", "--quiet", "HEAD"]).await?;
        let repository = Self {
            dir: PathBuf::from(dir),
            shared: PathBuf::from(shared),
            object_format: object_format.to_owned(),
            head,
            branch: branch.filter(|b| b.starts_with("refs/heads/")),
        };
        Ok((repository, place))
    }

    pub async fn place(&self, git: &Git, root: &Path) -> Result<GitTarget, WorkspaceError> {
        git.reading(&self.dir, root).await
    }

    pub async fn index(git: &Git, place: &GitTarget) -> Result<Vec<Indexed>, WorkspaceError> {
        let listed = git.run(place, &["ls-files", "--stage", "-v", "-z"]).await?;
        let damaged = |line: &str| {
            WorkspaceError::unusable(
                ".git/index",
                format!("git answered in a way we do not know: {line:.200}"),
            )
        };
        let mut entries = Vec::new();
        for line in zero_separated(&listed)? {
            let parsed = line.split_once('\t').and_then(|(head, path)| {
                let mut words = head.split(' ');
                let tag = words.next()?;
                // In small letters where it is taken for unchanged.
                let (skipped, hidden) = (tag.eq_ignore_ascii_case("S"), tag != "H");
                let mode = u32::from_str_radix(words.next()?, 8).ok()?;
                let oid = words.next()?.to_owned();
                let stage = words.next()?.parse().ok()?;
                Some(Indexed { mode, oid, stage, skipped, hidden, path: path.to_owned() })
            });
            entries.push(parsed.ok_or_else(|| damaged(&line))?);
        }
        Ok(entries)
    }

    /// Every branch, tag and remote branch, as a file of packed refs. The stash stays the user's own.
    pub async fn packed_refs(git: &Git, place: &GitTarget) -> Result<String, WorkspaceError> {
        let args = ["for-each-ref", "--format=%(objectname) %(refname)"];
        let refs = git.line(place, &args).await?;
        let mut text = String::from("# pack-refs with: sorted\n");
        for line in refs.lines() {
            let own = ["refs/stash", "refs/bisect/", "refs/worktree/", "refs/rewritten/"];
            if line.split_once(' ').is_some_and(|(_, name)| !own.iter().any(|o| name.starts_with(o))) {
                text.push_str(line);
                text.push('\n');
            }
        }
        Ok(text)
    }

    /// Settings that change how files are compared and who commits; nothing that could start a program.
    pub async fn harmless_settings(
        git: &Git,
        place: &GitTarget,
    ) -> Result<Vec<(String, String)>, WorkspaceError> {
        let listed = git.run(place, &["config", "--local", "--null", "--list"]).await?;
        let text = String::from_utf8_lossy(&listed).into_owned();
        // `section.name\nvalue`; without a value it means yes.
        let settings = text.split('\0').map(|entry| entry.split_once('\n').unwrap_or((entry, "true")));
        let harmless = settings.filter(|(key, _)| HARMLESS.contains(key));
        Ok(harmless.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    pub fn own_excludes(&self) -> Vec<u8> {
        rules_in(&self.shared.join("info/exclude"))
    }
}

/// As git lists them: in small letters.
const HARMLESS: [&str; 8] = [
    "user.name",
    "user.email",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.sparsecheckout",
];

impl Indexed {
    pub const fn is_repository(&self) -> bool {
        self.mode == REPOSITORY_MODE
    }
}

/// What the user has git ignore everywhere.
pub(super) async fn global_excludes(git: &Git, place: &GitTarget) -> Result<Vec<u8>, WorkspaceError> {
    let mut place = place.clone();
    place.as_user = true;
    let named = git.line_if_any(&place, &["config", "--type=path", "--get", "core.excludesFile"]).await?;
    let usual = || {
        let config = git.env("XDG_CONFIG_HOME").filter(|c| !c.is_empty()).map(PathBuf::from);
        let config = config.or_else(|| git.env("HOME").map(|home| Path::new(home).join(".config")));
        config.map(|c| c.join("git/ignore"))
    };
    Ok(named.map(PathBuf::from).or_else(usual).map_or_else(Vec::new, |path| rules_in(&path)))
}

/// The rules in a file; none if it is missing or no rule file at all.
pub(super) fn rules_in(path: &Path) -> Vec<u8> {
    let mut rules = Vec::new();
    if fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() <= LARGEST_RULES) {
        let read = File::open(path).and_then(|f| f.take(LARGEST_RULES).read_to_end(&mut rules));
        if read.is_err() {
            rules.clear();
        }
    }
    rules
}
