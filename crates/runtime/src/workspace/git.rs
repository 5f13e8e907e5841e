//! Runs the `git` program through the launcher: bounded, in a fixed environment, with no configuration but
//! that of the repository it is pointed at.
//!
//! It knows nothing of workspaces. Nothing here runs hooks, filters, file-system monitors or pagers: where a
//! command must read the user's own repository, [`Git::reading`] switches off everything its configuration
//! could start.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Finished, LaunchError, Launcher};
use tokio_util::sync::CancellationToken;

use super::error::WorkspaceError;

/// Also enough for the first look at a very large project on a slow disk.
const LONGEST: Duration = Duration::from_mins(10);
/// Lists of paths and objects. A million files fit.
pub(super) const MOST_OUTPUT: usize = 512 << 20;
/// How much of what git said goes into an error.
const STDERR_SHOWN: usize = 2000;
const NEEDED: (u32, u32) = (2, 34);
const NEEDED_TEXT: &str = "2.34";
/// What git is given of the user's environment.
const PASSED_ON: [&str; 3] = ["PATH", "HOME", "TMPDIR"];
/// What says who the user is; given only to the commands that ask.
const WHO: [&str; 7] = [
    "XDG_CONFIG_HOME",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "EMAIL",
];

/// Where git says, in its hooks, that the index of the commit being made is. Read here, never passed on.
pub(super) const INDEX: &str = "GIT_INDEX_FILE";

/// The `git` program. Cheap to clone.
#[derive(Clone)]
pub struct Git {
    launcher: Arc<dyn Launcher>,
    env: Vec<(String, String)>,
    cancel: CancellationToken,
}

/// Where a command works: its repository, and if it needs them its index and the tree of files.
#[derive(Clone, Debug)]
pub(super) struct GitTarget {
    pub repository: PathBuf,
    pub index: Option<PathBuf>,
    pub tree: Option<PathBuf>,
    /// Settings above those of the repository.
    pub settings: Vec<(String, String)>,
    /// Lets the user's own configuration and identity in.
    pub as_user: bool,
    /// Where new objects go, if not into the repository.
    pub objects: Option<String>,
}

impl GitTarget {
    pub fn bare(repository: &Path) -> Self {
        Self {
            repository: repository.to_owned(),
            index: None,
            tree: None,
            settings: Vec::new(),
            as_user: false,
            objects: None,
        }
    }

    pub fn with_index(mut self, index: &Path) -> Self {
        self.index = Some(index.to_owned());
        self
    }

    pub fn over(mut self, tree: &Path) -> Self {
        self.tree = Some(tree.to_owned());
        self
    }
}

impl Git {
    /// `env` is the user's environment; git gets its search path and home, and nothing else of it.
    pub fn new(launcher: Arc<dyn Launcher>, env: impl IntoIterator<Item = (String, String)>) -> Self {
        let known = |name: &String| {
            PASSED_ON.contains(&name.as_str()) || WHO.contains(&name.as_str()) || name == INDEX
        };
        let env = env.into_iter().filter(|(name, _)| known(name)).collect();
        Self { launcher, env, cancel: CancellationToken::new() }
    }

    pub(super) fn env(&self, name: &str) -> Option<&str> {
        self.env.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Fails with the sentence a user can act on if there is no git, or only one that is too old.
    pub(crate) async fn present(&self, cwd: &Path) -> Result<(), WorkspaceError> {
        let env = self.passed_on(false).collect();
        let finished = self.launch(&["version"], env, cwd, Vec::new(), 1 << 16).await?;
        let text = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
        let found = text.strip_prefix("git version ").unwrap_or(&text);
        let mut numbers = found.split('.').map(|n| n.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if version < NEEDED {
            return Err(WorkspaceError::OldGit { found: found.to_owned(), needed: NEEDED_TEXT });
        }
        Ok(())
    }

    /// A command that belongs to no repository yet.
    pub(super) async fn outside(&self, cwd: &Path, args: &[&str]) -> Result<(), WorkspaceError> {
        let mut env: Vec<_> = self.passed_on(false).collect();
        env.push(("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()));
        env.push(("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()));
        let finished = self.launch(args, env, cwd, Vec::new(), 1 << 20).await?;
        if finished.exit == Exit::Code(0) { Ok(()) } else { Err(failure(args, &finished)) }
    }

    fn passed_on(&self, as_user: bool) -> impl Iterator<Item = (String, String)> {
        let may = move |name: &str| (as_user && name != INDEX) || PASSED_ON.contains(&name);
        self.env.iter().filter(move |(name, _)| may(name)).cloned()
    }

    /// Output of a command that must succeed.
    pub(super) async fn run(&self, place: &GitTarget, args: &[&str]) -> Result<Vec<u8>, WorkspaceError> {
        self.feed(place, args, Vec::new()).await
    }

    pub(super) async fn feed(
        &self,
        place: &GitTarget,
        args: &[&str],
        stdin: Vec<u8>,
    ) -> Result<Vec<u8>, WorkspaceError> {
        let finished = self.try_feed(place, args, stdin, MOST_OUTPUT).await?;
        match finished.exit {
            Exit::Code(0) => Ok(finished.stdout),
            _ => Err(failure(args, &finished)),
        }
    }

    /// One line of output, without its end.
    pub(super) async fn line(&self, place: &GitTarget, args: &[&str]) -> Result<String, WorkspaceError> {
        let bytes = self.run(place, args).await?;
        let text = String::from_utf8(bytes).map_err(|_| WorkspaceError::GitFailed {
            command: args.join(" "),
            ended: "answered with something that is not text".to_owned(),
            stderr: String::new(),
        })?;
        Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
    }

    /// As `line`, with none where git says no (exit code 1 and its like).
    pub(super) async fn line_if_any(
        &self,
        place: &GitTarget,
        args: &[&str],
    ) -> Result<Option<String>, WorkspaceError> {
        let finished = self.try_feed(place, args, Vec::new(), MOST_OUTPUT).await?;
        if finished.exit != Exit::Code(0) {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        Ok(Some(text.strip_suffix('\n').unwrap_or(&text).to_owned()))
    }

    /// However the command ends by itself; time and output out of bounds are the caller's to look at.
    pub(super) async fn try_feed(
        &self,
        place: &GitTarget,
        args: &[&str],
        stdin: Vec<u8>,
        max_output: usize,
    ) -> Result<Finished, WorkspaceError> {
        let mut env = vec![("GIT_DIR".to_owned(), text(&place.repository)?)];
        if let Some(index) = &place.index {
            env.push(("GIT_INDEX_FILE".to_owned(), text(index)?));
        }
        if let Some(tree) = &place.tree {
            env.push(("GIT_WORK_TREE".to_owned(), text(tree)?));
        }
        if let Some(objects) = &place.objects {
            env.push(("GIT_OBJECT_DIRECTORY".to_owned(), objects.clone()));
        }
        if !place.as_user {
            env.push(("GIT_CONFIG_GLOBAL".to_owned(), "/dev/null".to_owned()));
            env.push(("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()));
        }
        env.push(("GIT_CONFIG_COUNT".to_owned(), place.settings.len().to_string()));
        for (n, (key, value)) in place.settings.iter().enumerate() {
            env.push((format!("GIT_CONFIG_KEY_{n}"), key.clone()));
            env.push((format!("GIT_CONFIG_VALUE_{n}"), value.clone()));
        }
        env.extend(self.passed_on(place.as_user));
        let cwd = place.tree.as_deref().unwrap_or(&place.repository);
        self.launch(args, env, cwd, stdin, max_output).await
    }

    async fn launch(
        &self,
        args: &[&str],
        mut env: Vec<(String, String)>,
        cwd: &Path,
        stdin: Vec<u8>,
        max_output: usize,
    ) -> Result<Finished, WorkspaceError> {
        for (name, value) in FIXED {
            env.push((name.to_owned(), value.to_owned()));
        }
        let command = Command {
            program: "git".to_owned(),
            args: args.iter().map(|&a| a.to_owned()).collect(),
            env,
            cwd: Some(cwd.to_owned()),
            stdin,
            time: Some(LONGEST),
            max_output,
            ..Command::default()
        };
        self.launcher.launch(command, self.cancel.clone()).await.map_err(|error| match error {
            LaunchError::NotFound { .. } => WorkspaceError::NoGit,
            other => WorkspaceError::Launch(other),
        })
    }

    /// The user's own repository, to be read: nothing that its configuration names is started.
    pub(super) async fn reading(&self, repository: &Path, tree: &Path) -> Result<GitTarget, WorkspaceError> {
        let mut place = GitTarget::bare(repository).over(tree);
        place.settings = vec![
            ("core.fsmonitor".to_owned(), "false".to_owned()),
            ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
            ("core.untrackedCache".to_owned(), "false".to_owned()),
            ("core.alternateRefsCommand".to_owned(), "true".to_owned()),
            ("core.sshCommand".to_owned(), "false".to_owned()),
            ("gc.auto".to_owned(), "0".to_owned()),
            ("maintenance.auto".to_owned(), "false".to_owned()),
            // `git diff` writes the index anew otherwise, whatever GIT_OPTIONAL_LOCKS says.
            ("diff.autoRefreshIndex".to_owned(), "false".to_owned()),
        ];
        // Asking for names starts nothing. Exit code 1: there are none.
        let asked = ["config", "--null", "--name-only", "--get-regexp", r"^filter\."];
        let names = self.try_feed(&place, &asked, Vec::new(), 1 << 20).await?;
        for key in names.stdout.split(|b| *b == 0) {
            let Ok(key) = std::str::from_utf8(key) else { continue };
            if let Some((driver, _)) = key.rsplit_once('.') {
                for what in ["clean", "smudge", "process"] {
                    place.settings.push((format!("{driver}.{what}"), String::new()));
                }
                place.settings.push((format!("{driver}.required"), "false".to_owned()));
            }
        }
        Ok(place)
    }
}

const FIXED: [(&str, &str); 7] = [
    ("LC_ALL", "C"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_ALLOW_PROTOCOL", "file"),
];

pub(super) fn failure(args: &[&str], finished: &Finished) -> WorkspaceError {
    let ended = match finished.exit {
        Exit::Code(code) => format!("ended with exit code {code}"),
        Exit::Signal(signal) => format!("was ended by signal {signal}"),
        Exit::TimedOut => format!("took longer than {} minutes", LONGEST.as_secs() / 60),
        Exit::Cancelled => "was called off".to_owned(),
        Exit::Overflowed => "said more than can be kept".to_owned(),
        Exit::TooMuchMemory | Exit::TooManyProcesses => "used too much of the machine".to_owned(),
    };
    let said = String::from_utf8_lossy(&finished.stderr);
    let skip = said.chars().count().saturating_sub(STDERR_SHOWN);
    WorkspaceError::GitFailed {
        command: args.join(" "),
        ended,
        stderr: said.chars().skip(skip).collect::<String>().trim().to_owned(),
    }
}

/// Paths go to git as text, so that they can stand in messages and records too.
pub(super) fn text(path: &Path) -> Result<String, WorkspaceError> {
    path.to_str().map(ToOwned::to_owned).ok_or_else(|| not_text(path.to_string_lossy()))
}

pub(super) fn not_text(path: impl Into<String>) -> WorkspaceError {
    WorkspaceError::unusable(path, "its name is not valid UTF-8: rename it, or have git ignore it")
}

/// The texts of a list that ends each with a zero byte.
pub(super) fn zero_separated(bytes: &[u8]) -> Result<Vec<String>, WorkspaceError> {
    bytes
        .split(|b| *b == 0)
        .filter(|name| !name.is_empty())
        .map(|name| String::from_utf8(name.to_vec()).map_err(|_| not_text(String::from_utf8_lossy(name))))
        .collect()
}

/// Zero bytes between, as `--stdin -z` wants it.
pub(super) fn zero_ended<'a>(paths: impl IntoIterator<Item = &'a str>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in paths {
        bytes.extend_from_slice(path.as_bytes());
        bytes.push(0);
    }
    bytes
}
