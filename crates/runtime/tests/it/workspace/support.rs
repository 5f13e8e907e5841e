//! Projects of all kinds, and how the tests look at them. Everything lives below one temporary folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use gadfly_runtime::os::ProcessLauncher;
use gadfly_runtime::workspace::{Bring, Created, Git, Workspace, WorkspaceError};
use tempfile::TempDir;

pub const PROBE: &str = env!("CARGO_BIN_EXE_launch-probe");

/// A user's home and one project in it.
pub struct Desk {
    _dir: TempDir,
    pub project: PathBuf,
}

impl Desk {
    /// A plain folder.
    pub fn plain() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        fs::write(home.join(".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.org\n").unwrap();
        let project = home.join("project");
        fs::create_dir(&project).unwrap();
        Self { _dir: dir, project }
    }

    /// A repository without a commit.
    pub fn repository() -> Self {
        let desk = Self::plain();
        desk.git(&["init", "-q", "-b", "main"]);
        desk
    }

    pub fn home(&self) -> PathBuf {
        self.project.parent().unwrap().to_owned()
    }

    /// A repository with one commit, a stash, and every kind of file and of uncommitted change.
    pub fn busy() -> Self {
        let desk = Self::repository();
        desk.write(".gitignore", "ignored/\n*.log\n.env\n");
        desk.write(".gitattributes", "*.dos text eol=crlf\n*.secret filter=evil\n*.id ident\n");
        desk.write("kept.txt", "kept\n");
        desk.write("modified.txt", "old\n");
        desk.write("staged.txt", "old\n");
        desk.write("deleted.txt", "old\n");
        desk.write("deep/er/file.rs", "fn main() {}\n");
        desk.write("lines.dos", "one\r\ntwo\r\n");
        desk.write("crlf.txt", "one\r\ntwo\n");
        desk.write("x.secret", "as it is\n");
        desk.write("x.id", "$Id$\n");
        desk.write("tracked.log", "tracked although ignored\n");
        desk.write("name with spaces é.txt", "x\n");
        desk.write("line\nbreak.txt", "x\n");
        desk.write("tool.sh", "#!/bin/sh\n");
        desk.chmod("tool.sh", 0o755);
        desk.write("binary.bin", "a\0b");
        std::os::unix::fs::symlink("kept.txt", desk.path("link")).unwrap();
        desk.git(&["add", "-A"]);
        desk.git(&["add", "-f", "tracked.log"]);
        desk.git(&["commit", "-q", "-m", "first"]);
        desk.git(&["tag", "v1"]);
        desk.write("kept.txt", "stashed\n");
        desk.git(&["stash", "-q"]);
        desk.write("modified.txt", "new\n");
        desk.write("staged.txt", "new\n");
        desk.git(&["add", "staged.txt"]);
        desk.write("staged.txt", "newer\n");
        fs::remove_file(desk.path("deleted.txt")).unwrap();
        desk.write("untracked.txt", "u\n");
        desk.write("ignored/cache", "c");
        desk.write("some.log", "l");
        desk.write(".env", "KEY=1\n");
        desk.write(".gadfly/runs/x", "own");
        desk
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.project.join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        put(&self.path(path), text);
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub fn chmod(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub fn git(&self, args: &[&str]) -> String {
        git_in(&self.project, &self.home(), args)
    }

    pub fn runner(&self) -> Git {
        runner(&self.home())
    }

    pub fn run(&self, name: &str) -> PathBuf {
        self.home().join("runs").join(name)
    }

    pub async fn try_create(&self, name: &str, bring: &Bring) -> Result<Created, WorkspaceError> {
        Workspace::create(self.runner(), &self.project, &self.run(name), bring).await
    }

    pub async fn workspace(&self) -> Workspace {
        self.try_create("r1", &Bring::default()).await.unwrap().workspace
    }

    /// All files of the project outside `.git`.
    pub fn files(&self) -> BTreeMap<String, (u32, Vec<u8>)> {
        files_below(&self.project, &[".git"])
    }

    /// What must never change: index, HEAD, refs, stash, settings; everything but the objects.
    pub fn repository_state(&self) -> BTreeMap<String, (u32, Vec<u8>)> {
        files_below(&self.path(".git"), &["objects"])
    }
}

pub fn runner(home: &Path) -> Git {
    let path = std::env::var("PATH").unwrap();
    let env = [("PATH".to_owned(), path), ("HOME".to_owned(), home.to_str().unwrap().to_owned())];
    Git::new(Arc::new(ProcessLauncher::with_supervisor(PROBE)), env)
}

pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn git_in(dir: &Path, home: &Path, args: &[&str]) -> String {
    let done = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var("PATH").unwrap())
        .env("HOME", home)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Path → mode and content (of a link, where it leads).
pub fn files_below(root: &Path, without: &[&str]) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if without.contains(&name.as_str()) {
                continue;
            }
            let meta = fs::symlink_metadata(&path).unwrap();
            if meta.is_dir() {
                waiting.push(path);
            } else if meta.is_symlink() {
                let to = fs::read_link(&path).unwrap().to_str().unwrap().as_bytes().to_vec();
                found.insert(name, (0, to));
            } else if meta.is_file() {
                found.insert(name, (meta.permissions().mode() & 0o111, fs::read(&path).unwrap()));
            }
        }
    }
    found
}
