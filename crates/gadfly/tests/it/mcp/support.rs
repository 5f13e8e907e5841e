//! A project in a temporary folder, and independent MCP clients that start the binary in it.

use crate::kit::agreed;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

pub const APPROVE: &str = "[STATUS: APPROVED]\\nGood.";
pub const REJECT: &str = "[STATUS: REJECTED]\\n- name the sample size";

pub struct Project {
    dir: TempDir,
}

impl Project {
    /// With a worker `writer` and a critic `judge` who give these replies, and `gadfly.toml` going on with `more`.
    pub fn new(worker: &[&str], critic: &[&str], more: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        for sub in ["home/.config/gadfly", "project/.git"] {
            std::fs::create_dir_all(dir.path().join(sub)).unwrap();
        }
        let project = Self { dir };
        project.write("writer.toml", &script(worker));
        project.write("judge.toml", &script(critic));
        project.user_config("");
        project.write("gadfly.toml", &format!("[defaults]\ncritic = \"judge\"\n{more}"));
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("project").join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A program in the project; whoever starts it has to be told to.
    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(name, text);
        std::fs::set_permissions(self.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
        self.path(name)
    }

    /// The user's own configuration, beside worker and critic: what stands there nobody has to agree to.
    pub fn user_config(&self, text: &str) {
        let agent = |name: &str, script: &str| {
            let script = self.path(script).display().to_string();
            format!("[agents.{name}]\nkind = \"scripted\"\nscript = {script:?}\n")
        };
        let agents = agent("writer", "writer.toml") + &agent("judge", "judge.toml");
        let file = self.dir.path().join("home/.config/gadfly/gadfly.toml");
        std::fs::write(file, agents + text).unwrap();
    }

    /// By a user who agrees to how the project's files want work judged.
    pub fn command(&self, program: &str) -> Command {
        agreed::to_judging(&self.path(""), &self.dir.path().join("home"));
        let mut command = Command::new(program);
        command.current_dir(self.path("")).env_clear().env("HOME", self.dir.path().join("home"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TZ", "UTC");
        command
    }

    pub fn gadfly(&self, args: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_gadfly")).args(args).output().unwrap()
    }

    /// Plays a scenario with the official TypeScript SDKs. Skipped, loudly, where there is no node.
    pub fn play(&self, scenario: &str) {
        self.play_with(scenario, &[]);
    }

    /// The same, with a server that is started with these flags.
    pub fn play_with(&self, scenario: &str, flags: &[&str]) {
        if !clients_are_there() {
            eprintln!("SKIPPED: `{scenario}` needs node and the packages of tests/node (npm ci)");
            return;
        }
        let script = node().join("mcp").join(scenario);
        let mut node = self.command("node");
        let played = node.arg(script).arg(env!("CARGO_BIN_EXE_gadfly")).args(flags).output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&played.stdout), String::from_utf8_lossy(&played.stderr));
        assert!(played.status.success(), "{scenario}:\n{out}\n{err}");
    }
}

fn script(replies: &[&str]) -> String {
    let mut text = String::new();
    for reply in replies {
        match reply.strip_prefix('!') {
            Some(fault) => writeln!(text, "[[reply]]\nfault = \"{fault}\"").unwrap(),
            None => writeln!(text, "[[reply]]\ntext = \"{reply}\"").unwrap(),
        }
    }
    text
}

pub fn node() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node")
}

/// Installs the clients once, under a lock that other test programs respect, too.
pub fn clients_are_there() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    *THERE.get_or_init(|| {
        let runs =
            |program: &str| Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
        if !runs("node") {
            return false;
        }
        let lock = std::fs::File::create(std::env::temp_dir().join("gadfly-tests-node.lock")).unwrap();
        lock.lock().unwrap();
        if node().join("node_modules/@modelcontextprotocol").is_dir() {
            return true;
        }
        let install =
            Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(node()).output();
        install.is_ok_and(|output| output.status.success())
    })
}
