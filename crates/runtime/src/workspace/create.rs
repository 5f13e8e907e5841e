//! Makes a workspace: takes the base from the project, then gives the worker a tree of exactly that.
//!
//! The facts file comes before the worker's tree is used, and its presence says that the base is whole; what
//! an interrupted attempt left behind is cleared away.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::bring::Bring;
use super::clone;
use super::dependencies;
use super::error::WorkspaceError;
use super::git::{Git, GitTarget, text, zero_ended, zero_separated};
use super::ignore_rules::add_rules;
use super::ignored::CountedOutputs;
use super::objects;
use super::repository::{Indexed, Repository, enclosing, global_excludes, rules_in};
use super::store::SnapshotStore;
use super::tree::{Excluded, FolderListing, IgnoreRules, off_thread, stands};
use super::{Created, OBJECTS, VERSION, WORK, Workspace, WorkspaceFacts, clear, home_of};
use crate::save::write_atomically;

/// The index the base of a private tree is taken with.
const BASE: &str = "base";

/// A base that was taken; what is made of it is still to come.
pub(super) struct TakenBase {
    home: PathBuf,
    project: ProjectTree,
    tracked: Vec<String>,
    /// Mode and name of every file of the base.
    files: HashMap<String, (u32, String)>,
    /// What git ignores and nobody asked for.
    not_brought: Vec<String>,
    /// Dependencies and submodules that are too large to be copied unasked.
    too_large: Vec<String>,
    pub facts: WorkspaceFacts,
}

/// A project as it is found: where its tree begins, and what its repository says.
pub(super) struct ProjectTree {
    pub root: PathBuf,
    below: String,
    /// With the place from which it is read.
    repository: Option<(Repository, GitTarget)>,
    pub indexed: Vec<Indexed>,
}

impl Workspace {
    /// Makes the workspace of a run in `<run>/tree`. The project is only read.
    pub async fn create(
        git: Git,
        project: &Path,
        run: &Path,
        bring: &Bring,
    ) -> Result<Created, WorkspaceError> {
        let TakenBase { home, project, tracked, files, not_brought, too_large, facts } =
            begin(&git, project, run, bring, false).await?;
        fs::create_dir(home.join("kept")).map_err(WorkspaceError::io("made", &home))?;
        let work = home.join("work");
        fs::create_dir(&work).map_err(WorkspaceError::io("made", &work))?;
        if let Some((repository, users)) = &project.repository {
            clone::make(&git, repository, users, &work, &home.join(OBJECTS)).await?;
        }
        let workspace = Self::over(git, home.clone(), facts, tracked);
        let place = workspace.store.place().with_index(&workspace.store.index(WORK)).over(&work);
        workspace.store.git.run(&place, &["read-tree", "--reset", "-u", &workspace.facts.base]).await?;
        if project.repository.is_some() {
            workspace.store.copy_index(WORK, &files, &project.indexed, &work).await?;
        }
        let (root, into, bring) = (project.root.clone(), work.clone(), workspace.facts.bring.clone());
        let missing = off_thread(move || bring.perform(&root, &into)).await?;
        fs::create_dir_all(workspace.dir()).map_err(WorkspaceError::io("made", &work))?;

        workspace.write_facts()?;
        let begun = workspace.snapshot().await?;
        if begun.tree != workspace.facts.base {
            let reason = "the worker's files are not the project's; take care that nothing changes them at the same time";
            return Err(WorkspaceError::Damaged { path: work, reason: reason.to_owned() });
        }
        Ok(Created { workspace, missing, not_brought, too_large, not_kept: Vec::new() })
    }

    /// The workspace of a run that works in the project itself: its base, and no tree of its own. The project is
    /// only read. `without` is left out of every snapshot.
    pub async fn create_in_place(
        git: Git,
        project: &Path,
        run: &Path,
        without: Vec<String>,
    ) -> Result<Created, WorkspaceError> {
        let bring = Bring { without, ..Bring::default() };
        let TakenBase { home, tracked, facts, .. } = begin(&git, project, run, &bring, true).await?;
        let workspace = Self::over(git, home, facts, tracked);
        let not_kept = workspace.note_beginning().await?;
        workspace.write_facts()?;
        let (missing, not_brought, too_large) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Created { workspace, missing, not_brought, too_large, not_kept })
    }

    /// Comes last: it says that all of it is there.
    pub(super) fn write_facts(&self) -> Result<(), WorkspaceError> {
        let path = self.home.join("workspace.json");
        let json = serde_json::to_vec_pretty(&self.facts)
            .map_err(|e| WorkspaceError::Damaged { path: self.home.clone(), reason: e.to_string() })?;
        write_atomically(&path, &json).map_err(WorkspaceError::io("written", &path))
    }
}

/// Takes the base of a run into `<run>/tree`. The project is only read.
pub(super) async fn begin(
    git: &Git,
    project: &Path,
    run: &Path,
    bring: &Bring,
    in_place: bool,
) -> Result<TakenBase, WorkspaceError> {
    let given = project;
    let project = project.canonicalize().ok().filter(|p| p.is_dir());
    let project = project.ok_or_else(|| WorkspaceError::NotADirectory { path: given.to_owned() })?;
    git.present(&project).await?;
    fs::create_dir_all(run).map_err(WorkspaceError::io("made", run))?;
    let home = home_of(run)?;
    if home.join("workspace.json").exists() {
        let reason = "there is one already: open it, or remove it first".to_owned();
        return Err(WorkspaceError::Damaged { path: home, reason });
    }
    let old = home.clone();
    off_thread(move || clear(&old)).await;
    fs::create_dir(&home).map_err(WorkspaceError::io("made", &home))?;

    let bring = bring.checked()?;
    let project = ProjectTree::find(git, &project).await?;
    let bring = project.seen_from_root(&bring);
    let store = SnapshotStore::at(git.clone(), home.join("store.git"));
    project.prepare(&store, in_place).await?;

    let mut own = bring.clone();
    if let Some(inside) = home.strip_prefix(&project.root).ok().and_then(Path::to_str) {
        own.without.push(inside.to_owned());
    }
    let at = (project.root.as_path(), project.below.as_str());
    let counted = CountedOutputs::of(git, &store.unindexed(&project.root), at, &own.makes).await?;
    counted.split(&project.root, &mut own.link);
    counted.split(&project.root, &mut own.copy);
    let excluded = Excluded::new(own.all().cloned());
    let mut listing = store.listing(&project.root, IgnoreRules::OfFolder, &excluded).await?;
    let (also, over) = store.counted(&project.root, &counted, &excluded).await?;
    listing.add(also);
    project.refuse_links_over_tracked(&own.link)?;
    let tracked = project.tracked_beside(&listing, &Excluded::new(own.without.iter().cloned()));
    let index = if in_place { WORK } else { BASE };
    if let Some((repository, users)) = project.repository.as_ref().filter(|_| !in_place) {
        let counted = listing.files.iter().chain(&tracked).map(String::as_str).collect();
        store.seed(index, (repository, users, &project.root), &project.indexed, &counted).await;
    }
    let base = store.take(&project.root, index, &listing.files, &tracked).await?;
    let ignored = store.ignored(&project.root).await?;
    let rules = project.rules(&store, &listing, &tracked, &ignored);
    let mut too_large = Vec::new();
    own.needed = project.needed(&store, (&counted, &own.needs), &ignored, &own).await?;
    own.needed.extend(over.into_iter().filter(|path| !tracked.contains(path)));
    if !in_place {
        let stays = ignored.iter().filter(|path| !own.prepared && !own.covers(path)).cloned().collect();
        let (root, modules) = (project.root.clone(), project.submodules(&listing));
        let found = off_thread(move || dependencies::among(&root, stays, modules)).await;
        own.dependencies = found.copied;
        own.submodules = found.submodules;
        too_large = found.too_large;
    }
    write(&home.join("rules"), rules.as_bytes())?;
    write(&home.join("tracked"), &zero_ended(tracked.iter().map(String::as_str)))?;
    write(&home.join("unseen"), &zero_ended(project.unseen(&tracked, &listing)))?;
    let files = store.files(&base).await?;
    write(&home.join("converted"), &project.converted(&store, &files).await?)?;
    let copied = own.submodules.clone();
    let facts = WorkspaceFacts {
        version: VERSION,
        root: project.root.clone(),
        project: project.below.clone(),
        repository: project.repository.as_ref().map(|(r, _)| r.clone()),
        base,
        bring: own,
        counted,
        left_out: listing.repositories.iter().filter(|path| !copied.contains(path)).cloned().collect(),
        in_place,
    };
    let stays = |path: &String| {
        !facts.bring.covers(path) && !facts.counted.touches(path) && !too_large.contains(path)
    };
    let not_brought = ignored.into_iter().filter(stays).collect();
    Ok(TakenBase { home, project, tracked, files, not_brought, too_large, facts })
}

impl ProjectTree {
    async fn find(git: &Git, project: &Path) -> Result<Self, WorkspaceError> {
        let plain =
            || Self { root: project.to_owned(), below: String::new(), repository: None, indexed: Vec::new() };
        text(project)?;
        let Some(root) = enclosing(project) else { return Ok(plain()) };
        let below = text(project.strip_prefix(root).unwrap_or(Path::new("")))?;
        let (repository, users) = Repository::read(git, root).await?;
        let indexed = Repository::index(git, &users).await?;
        // A folder below somebody's repository of other things, a home folder under version control, say, is
        // not part of it.
        let part_of = |path: &str| path.strip_prefix(below.as_str()).is_some_and(|p| p.starts_with('/'));
        if !below.is_empty() && !indexed.iter().any(|e| part_of(&e.path)) {
            return Ok(plain());
        }
        Ok(Self { root: root.to_owned(), below, repository: Some((repository, users)), indexed })
    }

    /// The same paths, seen from the root of the tree.
    fn seen_from_root(&self, bring: &Bring) -> Bring {
        let moved = |paths: &[String]| -> Vec<String> {
            let below =
                |p: &String| if self.below.is_empty() { p.clone() } else { format!("{}/{p}", self.below) };
            paths.iter().map(below).collect()
        };
        let (link, copy, without) = (moved(&bring.link), moved(&bring.copy), moved(&bring.without));
        let (makes, needs) = (bring.makes.clone(), bring.needs.clone());
        Bring { link, copy, without, prepared: bring.prepared, makes, needs, ..Bring::default() }
    }

    /// The store: the user's objects, and the ignore rules that hold outside the tree.
    async fn prepare(&self, store: &SnapshotStore, in_place: bool) -> Result<(), WorkspaceError> {
        let format = self.repository.as_ref().map_or("sha1", |(r, _)| r.object_format.as_str());
        store.init(format).await?;
        let (excludes, own) = match &self.repository {
            None => (global_excludes(&store.git, &store.place()).await?, Vec::new()),
            Some((repository, users)) => {
                // A worker in place may overwrite any byte of the user's repository: nothing is shared with it.
                if !in_place {
                    share_objects(repository, store).await?;
                }
                (global_excludes(&store.git, users).await?, repository.own_excludes())
            }
        };
        store.configure(&excludes, &own)
    }

    /// What the user's repository tracks and the listing does not show, because it is ignored.
    fn tracked_beside(&self, listing: &FolderListing, excluded: &Excluded) -> Vec<String> {
        let listed: HashSet<&str> = listing.files.iter().map(String::as_str).collect();
        let mut tracked: Vec<String> = self
            .indexed
            .iter()
            .filter(|e| {
                !e.is_repository() && !listed.contains(e.path.as_str()) && !excluded.contains(&e.path)
            })
            .filter(|e| stands(&self.root, &e.path))
            .map(|e| e.path.clone())
            .collect();
        tracked.sort_unstable();
        tracked.dedup();
        tracked
    }

    /// Repositories inside the tree that are part of it.
    fn submodules(&self, listing: &FolderListing) -> Vec<String> {
        let registered: HashSet<&str> =
            self.indexed.iter().filter(|e| e.is_repository()).map(|e| e.path.as_str()).collect();
        listing.repositories.iter().filter(|path| registered.contains(path.as_str())).cloned().collect()
    }

    /// A link in the place of tracked files would make them look deleted.
    fn refuse_links_over_tracked(&self, links: &[String]) -> Result<(), WorkspaceError> {
        for link in links {
            let below = |path: &str| {
                path.strip_prefix(link.as_str()).is_some_and(|p| p.is_empty() || p.starts_with('/'))
            };
            if self.indexed.iter().any(|e| below(&e.path)) {
                let reason = "it holds files that git tracks, and `link` is for what git ignores: remove it from there";
                return Err(WorkspaceError::unusable(link, reason));
            }
        }
        Ok(())
    }

    /// Tracked, and in no tree of ours: repositories inside, files outside a sparse checkout, what is left out.
    fn unseen<'a>(&'a self, tracked: &[String], listing: &FolderListing) -> Vec<&'a str> {
        let seen: HashSet<&str> = tracked.iter().chain(&listing.files).map(String::as_str).collect();
        let hidden = |e: &&Indexed| e.is_repository() || e.skipped || stands(&self.root, &e.path);
        self.indexed
            .iter()
            .filter(|e| !seen.contains(e.path.as_str()))
            .filter(hidden)
            .map(|e| e.path.as_str())
            .collect()
    }

    /// Unchanged files that the repository keeps in another form than they have on disk: three texts each,
    /// path, content as it is, content as it is kept.
    async fn converted(
        &self,
        store: &SnapshotStore,
        base: &HashMap<String, (u32, String)>,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let Some((_, users)) = &self.repository else { return Ok(Vec::new()) };
        let other = |e: &Indexed| base.get(&e.path).map(|(_, oid)| oid).filter(|oid| **oid != e.oid);
        let differ = self.indexed.iter().filter(|e| e.stage == 0);
        let differ: Vec<_> = differ.filter_map(|e| other(e).map(|oid| (e, oid))).collect();
        if differ.is_empty() {
            return Ok(Vec::new());
        }
        let raw = store.git.run(users, &["diff-files", "--name-only", "-z", "--no-renames"]).await?;
        let dirty: HashSet<String> = zero_separated(&raw)?.into_iter().collect();
        let clean = differ.iter().filter(|(e, _)| !dirty.contains(&e.path));
        Ok(clean.flat_map(|(e, oid)| zero_ended([e.path.as_str(), oid, &e.oid])).collect())
    }

    /// Every ignore rule that holds in the project now, as one list.
    fn rules(
        &self,
        store: &SnapshotStore,
        listing: &FolderListing,
        tracked: &[String],
        ignored: &[String],
    ) -> String {
        let mut rules = String::new();
        for name in ["info/user-exclude", "info/exclude"] {
            add_rules(&mut rules, "", &String::from_utf8_lossy(&rules_in(&store.dir.join(name))));
        }
        // A folder that ignores itself (`*` in its own ignore file) is listed as ignored, not its ignore file.
        let own = ignored.iter().filter(|p| p.ends_with('/')).map(|p| format!("{p}.gitignore"));
        let mut files: Vec<String> = own.collect();
        let named = |p: &&String| *p == ".gitignore" || p.ends_with("/.gitignore");
        files.extend(listing.files.iter().chain(tracked).chain(ignored).filter(named).cloned());
        files.sort_by_key(|path| (path.matches('/').count(), path.clone()));
        files.dedup();
        for path in files {
            // Git does not follow a link here either.
            if fs::symlink_metadata(self.root.join(&path)).is_ok_and(|m| m.is_file()) {
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                add_rules(&mut rules, folder, &String::from_utf8_lossy(&rules_in(&self.root.join(&path))));
            }
        }
        rules
    }
}

impl Git {
    /// Where a project lies below the top of the tree its worker will have; empty if it is the top.
    pub(crate) async fn lies_below(&self, project: &Path) -> Result<String, WorkspaceError> {
        ProjectTree::find(self, project).await.map(|found| found.below)
    }
}

async fn share_objects(repository: &Repository, store: &SnapshotStore) -> Result<(), WorkspaceError> {
    let shared = store.dir.with_file_name(OBJECTS);
    fs::create_dir(&shared).map_err(WorkspaceError::io("made", &shared))?;
    clone::share(repository.shared.join("objects"), shared.clone()).await?;
    objects::borrow(&shared, &store.dir.join("objects"))
        .map_err(WorkspaceError::io("written", &store.dir))?;
    if let Ok(shallow) = fs::read(repository.shared.join("shallow")) {
        write(&store.dir.join("shallow"), &shallow)?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), WorkspaceError> {
    fs::write(path, bytes).map_err(WorkspaceError::io("written", path))
}
