//! A project in a temporary folder with agents beside it, and the binary at work in it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

pub struct Desk {
    dir: TempDir,
}

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Desk {
    pub fn with(files: &[(&str, &str)]) -> Self {
        let desk = Self { dir: tempfile::tempdir().unwrap() };
        for sub in ["home", "bin", "project"] {
            fs::create_dir(desk.dir.path().join(sub)).unwrap();
        }
        for (name, text) in files {
            desk.write(name, text);
        }
        desk.git(&["init", "-q"]);
        desk.git(&["config", "user.name", "A"]);
        desk.git(&["config", "user.email", "a@b.c"]);
        desk.write(".gitignore", ".gadfly/\n");
        desk.git(&["add", "-A"]);
        desk.git(&["commit", "-q", "-m", "one"]);
        desk
    }

    fn git(&self, args: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "init.defaultBranch=main"]).args(args).current_dir(self.path("")).env_clear();
        let done = git.env("PATH", "/usr/bin:/bin").env("HOME", self.beside("home")).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    pub fn beside(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// An agent `name` that is this shell script. What it is told goes to `bin/NAME.N` first, N counting its calls.
    pub fn program(&self, name: &str, script: &str) {
        let file = self.beside(&format!("bin/{name}.sh"));
        let brief = self.beside(&format!("bin/{name}"));
        let keep = format!("n=1; while [ -e {0}.$n ]; do n=$((n+1)); done; cat > {0}.$n", brief.display());
        fs::write(&file, format!("#!/bin/sh\n{keep}\n{script}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        self.configure(&format!(
            "[agents.{name}]\nkind = \"command\"\ncommand = [{}]\nsandbox = \"off\"\n",
            json!(file)
        ));
    }

    /// What the agent was told at its `n`th call.
    pub fn told(&self, name: &str, n: u32) -> String {
        fs::read_to_string(self.beside(&format!("bin/{name}.{n}")))
            .unwrap_or_else(|e| panic!("{name}.{n}: {e}"))
    }

    pub fn was_called(&self, name: &str) -> bool {
        self.beside(&format!("bin/{name}.1")).exists()
    }

    /// Adds to the user's own configuration: it is trusted, and no part of the project.
    pub fn configure(&self, more: &str) {
        let file = self.beside("home/.config/gadfly/gadfly.toml");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&file).unwrap_or_default();
        fs::write(file, format!("{before}{more}")).unwrap();
    }

    pub fn gadfly(&self, args: &[&str]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.path("")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.beside("home")).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        let done = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
    }

    /// `run` with nobody to ask, agreed to.
    pub fn run(&self, args: &[&str]) -> Said {
        self.gadfly(&[&["run"], args, &["--unattended", "--yes", "--trust"]].concat())
    }
}

impl Said {
    pub fn went_well(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// It was refused with this in its words.
    pub fn refused(self, why: &str) -> Self {
        assert_ne!(self.code, 0, "{self:?}");
        let words = self.err.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(why), "`{why}` is not in:\n{}", self.err);
        self
    }
}
