//! Puts what was judged on a new branch of the user's repository, without touching anything else there.
//!
//! HEAD, index, files and stash stay; no hook runs. Objects are added, and one ref is created that must not
//! exist. What the workspace never held (repositories inside the project, files outside a sparse checkout)
//! is taken over from HEAD, and files that git keeps in another form than they have on disk (line ends)
//! are stored in that form.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;

use gadfly_agents::launcher::Exit;

use super::Workspace;
use super::error::WorkspaceError;
use super::git::{Git, GitTarget, failure, text, zero_ended, zero_separated};
use super::repository::{Repository, enclosing};
use super::store::{LINK_MODE, Side, SnapshotStore, checked};

/// The ref in the store that a commit waits under until the user's repository has fetched it.
const WAITING: &str = "refs/gadfly/commit";

impl Git {
    /// Whether work on this project can become a commit, on this branch if one is named: an error that would
    /// otherwise come when all the work is done.
    pub(crate) async fn could_commit(
        &self,
        project: &Path,
        branch: Option<&str>,
    ) -> Result<(), WorkspaceError> {
        let Some(root) = enclosing(project) else { return Err(WorkspaceError::NotARepository) };
        let (_, users) = Repository::read(self, root).await?;
        if let Some(branch) = branch {
            self.free_branch(&users, branch).await?;
        }
        self.identity(&users).await.map(drop)
    }

    /// The ref of a branch that there is not yet.
    pub(super) async fn free_branch(
        &self,
        users: &GitTarget,
        branch: &str,
    ) -> Result<String, WorkspaceError> {
        let reference = format!("refs/heads/{branch}");
        if branch.starts_with('-')
            || self.line_if_any(users, &["check-ref-format", &reference]).await?.is_none()
        {
            return Err(WorkspaceError::BadBranch { name: branch.to_owned() });
        }
        let taken = ["rev-parse", "--verify", "--quiet", &reference];
        if self.line_if_any(users, &taken).await?.is_some() {
            return Err(WorkspaceError::BranchExists { name: branch.to_owned() });
        }
        Ok(reference)
    }

    /// The user's name and address, as settings; an error if git would have to guess.
    async fn identity(&self, users: &GitTarget) -> Result<Vec<(String, String)>, WorkspaceError> {
        let mut place = users.clone();
        place.as_user = true;
        place.settings.push(("user.useConfigOnly".to_owned(), "true".to_owned()));
        let mut settings = Vec::new();
        for (variable, role) in [("GIT_AUTHOR_IDENT", "author"), ("GIT_COMMITTER_IDENT", "committer")] {
            let line = self.line_if_any(&place, &["var", variable]).await?;
            // `Name <address> time zone`
            let parsed = line.as_deref().and_then(|l| l.rsplit_once("> ")?.0.rsplit_once(" <"));
            let Some((name, address)) = parsed else { return Err(WorkspaceError::NoIdentity) };
            settings.push((format!("{role}.name"), name.to_owned()));
            settings.push((format!("{role}.email"), address.to_owned()));
        }
        Ok(settings)
    }

    /// Those of these paths whose attributes, or settings, ask for another form than they have on disk. A filter is
    /// a program and is not run; a file that needs one cannot be committed here.
    pub(super) async fn converted(
        &self,
        users: &GitTarget,
        paths: &[&str],
    ) -> Result<HashSet<String>, WorkspaceError> {
        let automatic = self.line_if_any(users, &["config", "--get", "core.autocrlf"]).await?;
        let automatic = automatic.is_some_and(|value| matches!(value.as_str(), "true" | "input" | "1"));
        let asked = [
            "check-attr",
            "-z",
            "--stdin",
            "filter",
            "text",
            "eol",
            "crlf",
            "ident",
            "working-tree-encoding",
        ];
        let listed = zero_ended(paths.iter().copied());
        let answer = zero_separated(&self.feed(users, &asked, listed).await?)?;
        let mut converted: HashMap<&str, bool> = HashMap::new();
        for attribute in answer.chunks_exact(3) {
            let [path, name, value] = attribute else { continue };
            let set = !matches!(value.as_str(), "unspecified" | "unset");
            if set && name == "filter" {
                let reason = format!(
                    "git keeps it through the filter `{value}`: accept without a branch and commit it yourself"
                );
                return Err(WorkspaceError::unusable(path, reason));
            }
            let fixed = name == "text" && value == "unset";
            let entry = converted.entry(path).or_insert(automatic);
            *entry = (*entry || set) && !fixed;
        }
        let is = |path: &&&str| converted.get(**path).copied().unwrap_or(automatic);
        Ok(paths.iter().filter(is).map(|path| (*path).to_owned()).collect())
    }
}

impl Workspace {
    /// A commit of exactly this tree on top of the commit the run began with, as a new branch. Returns its id.
    pub async fn commit(&self, judged: &str, branch: &str, message: &str) -> Result<String, WorkspaceError> {
        let Some(repository) = &self.facts.repository else { return Err(WorkspaceError::NotARepository) };
        let git = &self.store.git;
        let users = repository.place(git, &self.facts.root).await?;
        // Before the work of making a tree: these can be corrected.
        git.free_branch(&users, branch).await?;
        git.identity(&users).await?;
        let tree = self.commit_tree(repository, &users, checked(judged)?).await?;
        self.store.commit(&users, &tree, repository.head.as_deref(), branch, message).await
    }

    /// The commit a branch points at, if it is one that `commit` made.
    pub async fn committed(&self, branch: &str, message: &str) -> Result<Option<String>, WorkspaceError> {
        let Some(repository) = &self.facts.repository else { return Ok(None) };
        let git = &self.store.git;
        let users = repository.place(git, &self.facts.root).await?;
        let reference = format!("refs/heads/{branch}");
        let args = ["log", "-1", "--no-show-signature", "--format=%H%n%P%n%B", &reference, "--"];
        let Some(said) = git.line_if_any(&users, &args).await? else { return Ok(None) };
        let mut lines = said.splitn(3, '\n');
        let mut next = || lines.next().unwrap_or_default();
        let (id, parent, said) = (next(), next(), next());
        let is_ours =
            parent == repository.head.as_deref().unwrap_or_default() && said.trim() == message.trim();
        Ok(is_ours.then(|| id.to_owned()))
    }

    /// The judged tree as the user's repository would keep it.
    async fn commit_tree(
        &self,
        repository: &Repository,
        users: &GitTarget,
        judged: &str,
    ) -> Result<String, WorkspaceError> {
        let mut entries: BTreeMap<String, Side> = BTreeMap::new();
        for entry in self.store.entries(judged).await? {
            entries.insert(entry.path, Side { mode: entry.mode, oid: entry.oid });
        }
        self.convert(users, judged, &mut entries).await?;
        for (path, raw, stored) in self.kept_in_another_form()? {
            if let Some(side) = entries.get_mut(&path).filter(|side| side.oid == raw) {
                side.oid = stored;
            }
        }
        if let Some(head) = &repository.head {
            let unseen = self.unseen()?;
            for entry in self.store.entries(head).await? {
                if unseen.contains(&entry.path) {
                    let side = Side { mode: entry.mode, oid: entry.oid };
                    entries.entry(entry.path).or_insert(side);
                }
            }
        }
        let place = self.store.place().with_index(&self.store.index("commit"));
        let git = &self.store.git;
        git.run(&place, &["read-tree", "--empty"]).await?;
        let mut lines = Vec::new();
        for (path, Side { mode, oid }) in &entries {
            lines.extend_from_slice(format!("{mode:o} {oid}\t{path}\0").as_bytes());
        }
        git.feed(&place, &["update-index", "-z", "--index-info"], lines).await?;
        // A commit inside another repository is not an object of this one.
        git.line(&place, &["write-tree", "--missing-ok"]).await
    }

    /// Changed files whose attributes ask for it get the form `git add` would give them. A filter is a program
    /// and is not run; a changed file that needs one cannot be committed here.
    async fn convert(
        &self,
        users: &GitTarget,
        judged: &str,
        entries: &mut BTreeMap<String, Side>,
    ) -> Result<(), WorkspaceError> {
        let git = &self.store.git;
        let changed: Vec<(String, Side)> = self
            .store
            .between(&self.facts.base, judged)
            .await?
            .into_iter()
            .filter_map(|d| Some((d.path, d.to.filter(|to| to.mode != LINK_MODE)?)))
            .collect();
        let paths: Vec<&str> = changed.iter().map(|(path, _)| path.as_str()).collect();
        let converted = git.converted(users, &paths).await?;
        for (path, side) in &changed {
            if !converted.contains(path.as_str()) {
                continue;
            }
            let bytes =
                self.store.contents(&[side.oid.as_str()]).await?.into_iter().next().unwrap_or_default();
            let option = format!("--path={path}");
            let oid = git
                .feed(&self.store.with_attributes(users)?, &["hash-object", "-w", "--stdin", &option], bytes)
                .await?;
            let oid = String::from_utf8_lossy(&oid).trim().to_owned();
            if let Some(entry) = entries.get_mut(path) {
                entry.oid = oid;
            }
        }
        Ok(())
    }
}

impl SnapshotStore {
    /// The user's attributes and settings, with new objects going to our store.
    pub(super) fn with_attributes(&self, users: &GitTarget) -> Result<GitTarget, WorkspaceError> {
        let mut place = users.clone();
        place.objects = Some(text(&self.dir.join("objects"))?);
        Ok(place)
    }

    /// A commit of a tree of this store, as a new branch of the user's repository. Returns its id.
    pub(super) async fn commit(
        &self,
        users: &GitTarget,
        tree: &str,
        parent: Option<&str>,
        branch: &str,
        message: &str,
    ) -> Result<String, WorkspaceError> {
        let git = &self.git;
        let reference = git.free_branch(users, branch).await?;
        let who = git.identity(users).await?;
        let mut ours = self.place();
        ours.settings.extend(who.clone());
        let mut args = vec!["commit-tree", "-F", "-"];
        if let Some(parent) = parent {
            args.extend(["-p", checked(parent)?]);
        }
        args.push(checked(tree)?);
        let commit = git.feed(&ours, &args, message.as_bytes().to_vec()).await?;
        let commit = String::from_utf8_lossy(&commit).trim().to_owned();
        git.run(&ours, &["update-ref", WAITING, checked(&commit)?]).await?;
        self.hand_over(users, &reference, &commit, who, branch).await?;
        Ok(commit)
    }

    /// Makes a commit that waits in this store one of the user's repository, under a ref that must not exist.
    async fn hand_over(
        &self,
        users: &GitTarget,
        reference: &str,
        commit: &str,
        who: Vec<(String, String)>,
        branch: &str,
    ) -> Result<(), WorkspaceError> {
        let git = &self.git;
        let mut place = users.clone();
        place.settings.extend(who);
        for (key, value) in [("protocol.file.allow", "always"), ("fetch.writeCommitGraph", "false")] {
            place.settings.push((key.to_owned(), value.to_owned()));
        }
        let from = text(&self.dir)?;
        let fetch = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
            "--no-prune",
            &from,
            WAITING,
        ];
        git.run(&place, &fetch).await?;
        let zero = "0".repeat(commit.len());
        // Only if there is no such ref: git checks and creates it in one step.
        let create = ["update-ref", "-m", "gadfly: commit", reference, commit, &zero];
        let finished = git.try_feed(&place, &create, Vec::new(), 1 << 16).await?;
        if finished.exit == Exit::Code(0) {
            return Ok(());
        }
        let exists = ["rev-parse", "--verify", "--quiet", reference];
        if git.line_if_any(&place, &exists).await?.is_some() {
            return Err(WorkspaceError::BranchExists { name: branch.to_owned() });
        }
        Err(failure(&create, &finished))
    }
}
