//! What git ignores and a project's registry names all the same: data, mostly. What agents make there is work like any
//! other: it is in every snapshot and is delivered; no commit holds it, and no diff shows it. What they need is linked.
//!
//! A place of work in which git ignores a name here and there (`*.aux` beside a paper) stays as git has it. It counts where
//! git would ignore a name that no rule was made for, the very file that is named, or, in a folder, data.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use gadfly_agents::launcher::Exit;
use gadfly_engine::judging::data_endings;
use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::listing::Matcher;
use serde::{Deserialize, Serialize};

use super::bring::Bring;
use super::create::ProjectTree;
use super::error::WorkspaceError;
use super::git::{Git, GitTarget, failure, zero_ended, zero_separated};
use super::repository::{Repository, enclosing};
use super::store::SnapshotStore;
use super::tree::{Excluded, off_thread};
use super::{Workspace, WorkspaceFacts, caches, home_of};

/// Of all files together, and of one; more is named and does not count.
const MOST_FILES: usize = 2_000;
const MOST_BYTES: u64 = 128 << 20;
const LARGEST_FILE: u64 = 32 << 20;
/// What is linked one by one because the folder it lies in cannot be.
const MOST_LINKS: usize = 256;
const MOST_SEEN: usize = 10_000;
/// Names that are tried for one pattern.
const MOST_EXAMPLES: usize = 16;
/// Nobody makes a rule for it.
const NOBODYS: &str = "gadfly-nobodys-name";

/// What counts although git ignores it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct CountedOutputs {
    /// The project below the top of the tree, with a slash; empty if they are the same.
    below: String,
    /// From the project; with an ending only files that have it.
    of: Vec<(Pattern, Option<String>)>,
}

impl CountedOutputs {
    /// Those of these patterns, from the project, that name what git ignores in the folder `root`.
    pub(super) async fn of(
        git: &Git,
        place: &GitTarget,
        (root, below): (&Path, &str),
        patterns: &[Pattern],
    ) -> Result<Self, WorkspaceError> {
        let below = if below.is_empty() { String::new() } else { format!("{below}/") };
        let mut asked: Vec<(&Pattern, Option<&str>, String)> = Vec::new();
        for pattern in patterns.iter().filter(|pattern| stays_inside(pattern)) {
            for example in examples(&pattern.0) {
                let example = format!("{below}{example}");
                if pattern.0.ends_with(['/', '*']) {
                    let with = data_endings().map(|end| (pattern, Some(end), format!("{example}.{end}")));
                    asked.extend(with);
                }
                asked.push((pattern, None, example));
            }
        }
        // Git gives up at a name beyond a link, and such a name is in no tree.
        asked.retain(|(_, _, path)| {
            path.match_indices('/').all(|(at, _)| !root.join(&path[..at]).is_symlink())
        });
        let paths = asked.iter().map(|(_, _, path)| path.as_str()).collect::<Vec<_>>();
        let ignored = git.ignored_among(place, &paths, true).await?;
        asked.retain(|(_, _, path)| ignored.contains(path));
        let whole: HashSet<&Pattern> =
            asked.iter().filter(|(_, ending, _)| ending.is_none()).map(|(pattern, ..)| *pattern).collect();
        let mut of: Vec<(Pattern, Option<String>)> = asked
            .iter()
            .filter(|(pattern, ending, _)| ending.is_none() || !whole.contains(pattern))
            .map(|(pattern, ending, _)| ((*pattern).clone(), ending.map(str::to_owned)))
            .collect();
        of.sort_unstable();
        of.dedup();
        Ok(Self { below, of })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// The folders and files that are meant, from the project, each once.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self
            .of
            .iter()
            .map(|(pattern, ending)| match ending {
                Some(ending) => format!("{pattern}*.{ending}"),
                None => pattern.0.clone(),
            })
            .collect();
        names.dedup();
        names
    }

    /// Where something that counts can lie, from the top of the tree.
    fn places(&self) -> Vec<String> {
        let mut places: Vec<String> =
            self.of.iter().filter_map(|(pattern, _)| self.place_of(pattern)).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Where a pattern begins, from the top of the tree.
    fn place_of(&self, pattern: &Pattern) -> Option<String> {
        let start = if pattern.is_plain_file() { &pattern.0 } else { pattern.fixed() };
        (!start.is_empty()).then(|| format!("{}{}", self.below, start.trim_end_matches('/')))
    }

    fn matchers(&self) -> Vec<(Matcher<'_>, Option<&str>)> {
        self.of.iter().map(|(pattern, ending)| (pattern.matcher(), ending.as_deref())).collect()
    }

    fn has(&self, matchers: &[(Matcher<'_>, Option<&str>)], path: &str) -> bool {
        let ends =
            |ending: &str| path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(ending));
        path.strip_prefix(self.below.as_str()).is_some_and(|inner| {
            matchers.iter().any(|(matcher, ending)| ending.is_none_or(ends) && matcher.matches(inner))
        })
    }

    /// By their paths from the project: the ones that are meant.
    pub(crate) fn among<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let matchers = self.matchers();
        paths.filter(|path| self.has(&matchers, &format!("{}{path}", self.below))).collect()
    }

    /// A path without what counts below it and what git tracks: itself, or what lies in it.
    fn around(&self, root: &Path, path: &str, tracked: &HashSet<&str>) -> Vec<String> {
        let (places, matchers) = (self.places(), self.matchers());
        let is_below = |path: &str, folder: &str| {
            folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        };
        let (mut found, mut waiting, mut seen) = (Vec::new(), vec![path.to_owned()], 0);
        while let Some(path) = waiting.pop() {
            seen += 1;
            if seen > MOST_SEEN || tracked.contains(path.as_str()) || self.has(&matchers, &path) {
                continue;
            }
            let there = root.join(&path);
            let is_folder = fs::symlink_metadata(&there).is_ok_and(|meta| meta.is_dir());
            let is_mixed = places.iter().any(|p| is_below(p, &path) || is_below(&path, p) || *p == path)
                || tracked.iter().any(|tracked| is_below(tracked, &path));
            if !is_folder || !is_mixed {
                found.push(path);
                continue;
            }
            let names = fs::read_dir(&there).into_iter().flatten().flatten();
            let names = names.filter_map(|entry| entry.file_name().into_string().ok());
            // What is hidden is nobody's work, and keeps a folder for git.
            waiting.extend(names.filter(|name| !name.starts_with('.')).map(|name| format!("{path}/{name}")));
        }
        found.sort_unstable();
        found
    }

    /// Whether a path that git ignores, or something in it, counts.
    pub(super) fn touches(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.places().iter().any(|place| caches::is_below(place, path) || caches::is_below(path, place))
    }

    /// The paths, around which links and copies must go.
    pub(super) fn split(&self, root: &Path, paths: &mut Vec<String>) {
        if !self.is_empty() {
            let none = HashSet::new();
            *paths = paths
                .iter()
                .flat_map(|path| {
                    if self.touches(path) { self.around(root, path, &none) } else { vec![path.clone()] }
                })
                .collect();
        }
    }
}

impl ProjectTree {
    /// What git ignores of the project and entries need: links for it, from the top of the tree.
    pub(super) async fn needed(
        &self,
        store: &SnapshotStore,
        (counted, needs): (&CountedOutputs, &[Pattern]),
        ignored: &[String],
        brought: &Bring,
    ) -> Result<Vec<String>, WorkspaceError> {
        let root = self.root.as_path();
        let tracked: HashSet<&str> = self.indexed.iter().map(|entry| entry.path.as_str()).collect();
        let mut found = Vec::new();
        let needs = needs.iter().filter(|pattern| stays_inside(pattern));
        let starts: Vec<String> = needs.filter_map(|pattern| counted.place_of(pattern)).collect();
        // In a folder of which git keeps something the list of all that is ignored does not look.
        let whole: HashSet<&str> = ignored.iter().filter_map(|path| path.strip_suffix('/')).collect();
        let mut inside = store.ignored_below(root, &starts).await?;
        inside.retain(|path| !path.match_indices('/').any(|(at, _)| whole.contains(&path[..at])));
        inside.truncate(MOST_SEEN);
        for start in starts {
            for path in ignored.iter().chain(&inside).map(|path| path.trim_end_matches('/')) {
                if caches::is_below(path, &start) {
                    found.extend(counted.around(root, path, &tracked));
                } else if caches::is_below(&start, path) && root.join(&start).exists() {
                    found.extend(counted.around(root, &start, &tracked));
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        // What is in a folder that is linked whole is there already.
        let whole = found.clone();
        found.retain(|path| {
            !path.match_indices('/').any(|(at, _)| whole.binary_search(&path[..at].to_owned()).is_ok())
        });
        found.retain(|path| !brought.overlaps(path));
        // A link that leads elsewhere is for a person to name.
        found.retain(|path| root.join(path).canonicalize().is_ok_and(|real| real.starts_with(root)));
        found.truncate(MOST_LINKS);
        Ok(found)
    }
}

impl SnapshotStore {
    /// Every ignored file at or below these paths.
    async fn ignored_below(&self, folder: &Path, paths: &[String]) -> Result<Vec<String>, WorkspaceError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let paths: Vec<String> = paths.iter().map(|path| format!(":(literal){path}")).collect();
        let mut args = vec!["ls-files", "--others", "--ignored", "-z", "--exclude-standard", "--"];
        args.extend(paths.iter().map(String::as_str));
        zero_separated(&self.git.run(&self.unindexed(folder), &args).await?)
    }

    /// The files in a folder that count although git ignores them, and those that are too many or too large to.
    pub(super) async fn counted(
        &self,
        folder: &Path,
        counted: &CountedOutputs,
        excluded: &Excluded,
    ) -> Result<(Vec<String>, Vec<String>), WorkspaceError> {
        if counted.is_empty() {
            return Ok(Default::default());
        }
        let places: Vec<String> = counted.places().iter().map(|place| format!(":(literal){place}")).collect();
        let mut args = vec!["ls-files", "--others", "-z", "--"];
        args.extend(places.iter().map(String::as_str));
        let finished =
            self.git.try_feed(&self.unindexed(folder), &args, Vec::new(), super::git::MOST_OUTPUT).await?;
        if finished.exit != Exit::Code(0) || !finished.stderr.is_empty() {
            return Err(failure(&args, &finished));
        }
        let matchers = counted.matchers();
        let mut paths = zero_separated(&finished.stdout)?;
        paths.retain(|path| !path.ends_with('/') && !excluded.contains(path) && counted.has(&matchers, path));
        paths.sort_unstable();
        drop(matchers);
        let root = folder.to_owned();
        Ok(off_thread(move || within(&root, paths)).await)
    }
}

/// Those that count, and the others. Waits for the disk.
fn within(root: &Path, paths: Vec<String>) -> (Vec<String>, Vec<String>) {
    let (mut files, mut left) = (0, MOST_BYTES);
    paths.into_iter().partition(|path| {
        let bytes = fs::symlink_metadata(root.join(path)).map_or(0, |meta| meta.len());
        let fits = bytes <= LARGEST_FILE.min(left) && files < MOST_FILES;
        if fits {
            (files, left) = (files + 1, left - bytes);
        }
        fits
    })
}

impl Git {
    /// Those of these paths that git ignores; with `tracked` also where it tracks them.
    pub(super) async fn ignored_among(
        &self,
        place: &GitTarget,
        paths: &[&str],
        tracked: bool,
    ) -> Result<HashSet<String>, WorkspaceError> {
        if paths.is_empty() {
            return Ok(HashSet::new());
        }
        let mut args = vec!["check-ignore", "-z", "--stdin"];
        if tracked {
            args.push("--no-index");
        }
        let listed = zero_ended(paths.iter().copied());
        let finished = self.try_feed(place, &args, listed, super::git::MOST_OUTPUT).await?;
        match finished.exit {
            Exit::Code(0 | 1) => Ok(zero_separated(&finished.stdout)?.into_iter().collect()),
            _ => Err(failure(&args, &finished)),
        }
    }

    /// What of these patterns git ignores in the user's own project.
    pub(crate) async fn counted(
        &self,
        project: &Path,
        patterns: &[Pattern],
    ) -> Result<CountedOutputs, WorkspaceError> {
        let project = project.canonicalize().map_err(WorkspaceError::io("found", project))?;
        let Some(root) = enclosing(&project) else { return Ok(CountedOutputs::default()) };
        let (_, mut place) = Repository::read(self, root).await?;
        place.as_user = true;
        let below = super::git::text(project.strip_prefix(root).unwrap_or(Path::new("")))?;
        CountedOutputs::of(self, &place, (root, &below), patterns).await
    }
}

impl Workspace {
    /// What counts in it although git ignores it.
    pub(crate) const fn counted(&self) -> &CountedOutputs {
        &self.facts.counted
    }

    /// What would count in it, was it not too large or too many, and is not in this tree.
    pub(crate) async fn too_large(&self, tree: &str) -> Result<Vec<String>, WorkspaceError> {
        let (_, mut over) = self.store.counted(&self.work(), &self.facts.counted, &self.excluded).await?;
        if !over.is_empty() {
            let entries = self.store.entries(tree).await?;
            let there: HashSet<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
            over.retain(|path| !there.contains(path.as_str()));
        }
        Ok(over)
    }

    /// Those of these paths that no diff shows: as git itself has it.
    pub(super) fn not_in_diffs<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let matchers = self.facts.counted.matchers();
        let tracked: HashSet<&str> = self.tracked.iter().map(String::as_str).collect();
        paths.filter(|path| !tracked.contains(path) && self.facts.counted.has(&matchers, path)).collect()
    }
}

/// What a reader beside the folder of a run, or of a node of it, is to find of what git ignores: where it is, and its path
/// from the top of the tree and from the project.
pub fn ignored_and_needed(run: &Path) -> Vec<(PathBuf, String, String)> {
    let Ok(home) = home_of(run) else { return Vec::new() };
    let Ok(facts) = WorkspaceFacts::read(&home) else { return Vec::new() };
    let needs: Vec<String> =
        facts.bring.needs.iter().filter_map(|need| facts.counted.place_of(need)).collect();
    // What a person has linked is not linked again, and is needed as well.
    let linked =
        facts.bring.link.iter().filter(|path| {
            needs.iter().any(|need| caches::is_below(path, need) || caches::is_below(need, path))
        });
    let linked = facts.bring.needed.iter().chain(linked);
    let linked = linked.map(|path| (facts.root.join(path), path.clone()));
    let work = home.join("work");
    // As the worker has it: what the work was made from.
    let counted = facts.counted.places().into_iter().map(|path| (work.join(&path), path));
    let below = facts.counted.below.clone();
    let inner = |path: &str| path.strip_prefix(below.as_str()).map(str::to_owned);
    let all = counted.chain(linked).filter(|(from, _)| from.exists());
    all.filter_map(|(from, path)| inner(&path).map(|inner| (from, path, inner))).collect()
}

/// A path that leaves the project, or enters a folder of git's or of ours, names nothing.
fn stays_inside(pattern: &Pattern) -> bool {
    let text = pattern.0.strip_suffix('/').unwrap_or(&pattern.0);
    let has_place = pattern.is_plain_file() || !pattern.fixed().is_empty();
    let is_fine = |part: &str| {
        let is_private = part.eq_ignore_ascii_case(".git") || part == ".gadfly";
        !matches!(part, "" | "." | "..") && !part.contains(['\0', '\n']) && !is_private
    };
    has_place && text.split('/').all(is_fine)
}

/// Names that a pattern stands for, for which nobody made a rule but for what the pattern says itself.
fn examples(pattern: &str) -> Vec<String> {
    if let Some((before, choices, after)) = pattern
        .split_once('{')
        .and_then(|(before, rest)| rest.split_once('}').map(|(choices, after)| (before, choices, after)))
    {
        let each = choices.split(',').flat_map(|choice| examples(&format!("{before}{choice}{after}")));
        return each.take(MOST_EXAMPLES).collect();
    }
    let mut name = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => {
                while chars.next_if_eq(&'*').is_some() {}
                name.push_str(NOBODYS);
            }
            '?' => name.push('x'),
            '[' => {
                let _ = chars.by_ref().find(|c| *c == ']');
                name.push('x');
            }
            c => name.push(c),
        }
    }
    if name.ends_with('/') {
        name.push_str(NOBODYS);
    }
    vec![name]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_what_a_pattern_stands_for() {
        for (pattern, names) in [
            ("data/cleaned/", vec![format!("data/cleaned/{NOBODYS}")]),
            ("data/x.csv", vec!["data/x.csv".to_owned()]),
            (
                "data/**/*.{csv,rds}",
                vec![format!("data/{NOBODYS}/{NOBODYS}.csv"), format!("data/{NOBODYS}/{NOBODYS}.rds")],
            ),
            ("a[12]/b?", vec!["ax/bx".to_owned()]),
        ] {
            assert_eq!(examples(pattern), names, "{pattern}");
        }
        for pattern in ["../data/", "/etc/", "*.csv", "**/x", ".git/x", "a/.gadfly/", "a//b"] {
            assert!(!stays_inside(&Pattern::new(pattern)), "{pattern}");
        }
    }

    #[test]
    fn what_is_too_large_or_too_many_does_not_count() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "x").unwrap();
        let large = fs::File::create(dir.path().join("b")).unwrap();
        large.set_len(LARGEST_FILE + 1).unwrap();
        let each = fs::File::create(dir.path().join("c")).unwrap();
        each.set_len(LARGEST_FILE).unwrap();
        let paths = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(within(dir.path(), paths(&["a", "b"])), (paths(&["a"]), paths(&["b"])));
        let all = paths(&["c", "c", "c", "c", "c", "a"]);
        assert_eq!(within(dir.path(), all), (paths(&["c"; 4]), paths(&["c", "a"])));
        let many = vec!["a".to_owned(); MOST_FILES + 1];
        assert_eq!(within(dir.path(), many).1, ["a"]);
    }
}
