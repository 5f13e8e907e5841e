//! One cell of the matrix: a home, a cloned project and a place for marks, with what a command did to them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gadfly_journal::{Journal, ListFilter};
use serde_json::json;

use super::listener::Listener;

/// Stands in a file of the user's, outside the project.
pub const FILE_SECRET: &str = "CANARY-FILE-5e0f";
/// Stands in a variable of the user's.
pub const ENV_SECRET: &str = "CANARY-ENV-91ab";
pub const VARIABLE: &str = "DEPLOY_TOKEN";

/// Long enough for a busy machine; only a command that hangs uses it up.
const PATIENCE: Duration = Duration::from_secs(90);

/// The form in which a critic is asked to judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Words,
    Report,
    Points,
}

impl Form {
    /// What the user's own judge says of everything.
    const fn rejects(self) -> &'static str {
        match self {
            Self::Words => "[STATUS: REJECTED]\n- handle the empty list\n",
            Self::Report => {
                r#"{"criteria": [{"id": "SC-1", "verdict": "Unsatisfied", "evidence": "nothing is tested"}], "findings": [], "verdict": "issues_found", "partial": false}"#
            }
            Self::Points => {
                r#"{"deductions": [{"says": "worth 60", "fix": "mend it", "times": 1}], "score": 40, "notes": []}"#
            }
        }
    }

    /// What a critic of the project's says of everything.
    const fn approves(self) -> &'static str {
        match self {
            Self::Words => "[STATUS: APPROVED]\nGood.\n",
            Self::Report => {
                r#"{"criteria": [{"id": "SC-1", "verdict": "Satisfied", "evidence": "draft.md:1"}], "findings": [], "verdict": "passed", "partial": false}"#
            }
            Self::Points => r#"{"deductions": [], "score": 100, "notes": []}"#,
        }
    }
}

/// Every path with its mode and content; links by what they name.
pub type Snapshot = BTreeMap<PathBuf, (u32, Vec<u8>)>;

/// What a command said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn all(&self) -> String {
        format!("{}\n{}", self.out, self.err)
    }
}

pub struct World<'a> {
    dir: tempfile::TempDir,
    pub name: String,
    pub form: Form,
    listener: &'a Listener,
}

impl<'a> World<'a> {
    /// A copy of the honest project, and a home with a judge that rejects everything.
    pub fn new(name: String, form: Form, honest: &Path, listener: &'a Listener) -> Self {
        let world = Self { dir: tempfile::tempdir().unwrap(), name, form, listener };
        for sub in ["home/.ssh", "home/.local/state", "home/.config/gadfly", "bin", "marks"] {
            fs::create_dir_all(world.beside(sub)).unwrap();
        }
        copy(honest, &world.path(""));
        fs::write(world.beside("home/.ssh/id_rsa"), format!("{FILE_SECRET} = [\n{FILE_SECRET}\n")).unwrap();
        fs::write(world.beside("home/.bashrc"), "# mine\n").unwrap();
        fs::write(world.beside("bin/verdict"), form.rejects()).unwrap();
        let d = "d=$(dirname \"$0\")";
        world
            .program("judge", &format!("{d}\ncat >> \"$d/asked\"; echo >> \"$d/asked\"\ncat \"$d/verdict\""));
        world.program(
            "pen",
            &format!(
                "{d}\ncat >> \"$d/told\"\nmkdir -p out && echo 'print(1)' > out/code.py\necho 'A draft.'; echo 'CLAIM_COMPLETE: it is made'"
            ),
        );
        world.program("plan", &format!("{d}\ncat >> \"$d/told\"\necho '1. Have the coder write it.'"));
        fs::write(world.beside("bin/praise"), form.approves()).unwrap();
        world.program("easy", &format!("{d}\ncat >> \"$d/easy\"\ncat \"$d/praise\""));
        let mut own = String::from("[defaults]\nworker = \"pen\"\ncritic = \"judge\"\n");
        for (agent, program) in [
            ("judge", "judge"),
            ("pen", "pen"),
            ("coder", "pen"),
            ("coder-critic", "judge"),
            ("default", "plan"),
            ("default-critic", "judge"),
            ("easy", "easy"),
        ] {
            let program = world.beside(&format!("bin/{program}.sh"));
            writeln!(
                own,
                "[agents.{agent}]\nkind = \"command\"\ncommand = [{}]\nsandbox = \"off\"",
                json!(program)
            )
            .unwrap();
        }
        fs::write(world.beside("home/.config/gadfly/gadfly.toml"), own).unwrap();
        world
    }

    fn program(&self, name: &str, script: &str) {
        let file = self.beside(&format!("bin/{name}.sh"));
        fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
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
        let _ = fs::remove_file(&path);
        fs::write(path, text).unwrap();
    }

    /// Adds to the project's own configuration.
    pub fn config(&self, more: &str) {
        let before = fs::read_to_string(self.path("gadfly.toml")).unwrap();
        self.write("gadfly.toml", &format!("{before}{more}"));
    }

    pub fn link(&self, name: &str, to: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path).unwrap();
        }
        let _ = fs::remove_file(&path);
        symlink(to, path).unwrap();
    }

    /// Programs of the project's that would be run by others.
    pub fn executable(&self, name: &str, line: &str) {
        self.write(name, &format!("#!/bin/sh\n{line}\n"));
        fs::set_permissions(self.path(name), Permissions::from_mode(0o755)).unwrap();
    }

    /// A verdict of the project's own, as a shell prints it.
    pub fn approving(&self, mark: &str) -> String {
        format!("{}; echo; echo '{}'", self.touching(mark), self.form.approves().trim_end())
    }

    /// A line for a shell that leaves a mark: a file where it can write, and a word where its output goes.
    pub fn touching(&self, mark: &str) -> String {
        format!("touch {}; printf RAN%s. -{mark}", self.beside("marks").join(mark).display())
    }

    /// A script of replies that let everything pass.
    pub fn replies(&self) -> String {
        format!("[[reply]]\nrepeat = \"always\"\ntext = {}\n", json!(self.form.approves()))
    }

    /// An address of the listener's that is this cell's own.
    pub fn url(&self, what: &str) -> String {
        format!("{}/{}/{what}", self.listener.url(), self.name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
        command.args(args).current_dir(self.path("")).env_clear().stdin(Stdio::null());
        command.env("HOME", self.beside("home")).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
        command.env(VARIABLE, format!("key={ENV_SECRET}"));
        command
    }

    pub fn spawn(&self, args: &[&str], stdin: Stdio, stdout: Stdio) -> Child {
        let err = File::create(self.beside("err")).unwrap();
        self.command(args).stdin(stdin).stdout(stdout).stderr(err).spawn().unwrap()
    }

    /// The command with this on its standard input, to its end.
    pub fn gadfly(&self, args: &[&str], input: &str) -> Said {
        fs::write(self.beside("in"), input).unwrap();
        let stdin = File::open(self.beside("in")).unwrap();
        let out = File::create(self.beside("out")).unwrap();
        let child = self.spawn(args, stdin.into(), out.into());
        let code = self.ended(child);
        Said { code, out: lossy(&self.beside("out")), err: lossy(&self.beside("err")) }
    }

    pub fn ended(&self, mut child: Child) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            if begun.elapsed() > PATIENCE {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{} does not end", self.name);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Everything but what is Gadfly's own, and what this test keeps.
    pub fn snapshot(&self) -> Snapshot {
        let own =
            ["marks", "in", "out", "err", "bin/asked", "bin/easy", "bin/told", "home/.local/state/gadfly"];
        let mut skipped: Vec<PathBuf> = own.iter().map(|name| self.beside(name)).collect();
        if !self.path(".gadfly").is_symlink() {
            skipped.push(self.path(".gadfly"));
        }
        let mut found = Snapshot::new();
        walk(self.dir.path(), &mut |path, mode, bytes| {
            if skipped.iter().any(|own| path.starts_with(own)) {
                return false;
            }
            let name = path.strip_prefix(self.dir.path()).unwrap().to_owned();
            found.insert(name, (mode, bytes.to_vec()));
            true
        });
        found
    }

    /// Forgets what agents were told so far.
    pub fn forget(&self) {
        for name in ["bin/asked", "bin/easy", "bin/told"] {
            let _ = fs::remove_file(self.beside(name));
        }
    }

    /// The marks that commands left, by file or by what they printed, wherever that went.
    pub fn marks(&self, everything: &str) -> BTreeSet<String> {
        let files = fs::read_dir(self.beside("marks")).unwrap();
        let mut marks: BTreeSet<String> =
            files.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        let printed = everything.split("RAN-").skip(1).filter_map(|part| part.split_once('.'));
        marks.extend(printed.map(|(mark, _)| mark.to_owned()));
        marks
    }

    /// What arrived at this cell's addresses.
    pub fn sent(&self) -> Vec<String> {
        self.listener.heard(&self.name)
    }

    /// What the user's judge was asked.
    pub fn asked(&self) -> String {
        lossy(&self.beside("bin/asked"))
    }

    /// What the user's other agent was asked, who lets everything pass and whom only a project chooses.
    pub fn asked_easy(&self) -> String {
        lossy(&self.beside("bin/easy"))
    }

    /// All that was printed, told to an agent, sent away or recorded.
    pub fn everything(&self, said: &str) -> String {
        let mut all = said.to_owned();
        all.push_str(&self.asked());
        all.push_str(&lossy(&self.beside("bin/told")));
        all.extend(self.sent());
        if !self.path(".gadfly").is_symlink() {
            walk(&self.path(".gadfly"), &mut |_, _, bytes| {
                all.push_str(&String::from_utf8_lossy(bytes));
                true
            });
            all.push_str(&self.recorded());
        }
        all
    }

    /// Every text of the journal.
    fn recorded(&self) -> String {
        let Ok(journal) = Journal::open_existing(&self.path(".gadfly")) else { return String::new() };
        let mut all = String::new();
        for run in journal.list(&ListFilter::default()).unwrap_or_default() {
            for record in journal.records(&run.run, 0, u32::MAX).unwrap_or_default() {
                let texts = record.input.texts.iter().chain(&record.step.texts);
                all.extend(texts.map(|text| format!("{}\n", text.as_str())));
                write!(all, "{:?}{:?}", record.input, record.step).unwrap();
            }
        }
        all
    }
}

/// What is there now and was not, or is another, or is gone.
pub fn changed(before: &Snapshot, after: &Snapshot) -> Vec<PathBuf> {
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let other = after.iter().filter(|(path, now)| before.get(*path) != Some(now)).map(|(path, _)| path);
    gone.chain(other).cloned().collect()
}

/// Calls with every file, link and folder below a folder; false does not go further down.
fn walk(folder: &Path, see: &mut dyn FnMut(&Path, u32, &[u8]) -> bool) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, meta) = (entry.path(), entry.path().symlink_metadata().unwrap());
        let mode = meta.permissions().mode();
        if meta.is_dir() {
            if see(&path, mode, b"a folder") {
                walk(&path, see);
            }
        } else if meta.is_symlink() {
            see(&path, mode, fs::read_link(&path).unwrap().as_os_str().as_encoded_bytes());
        } else if meta.is_file() {
            see(&path, mode, &fs::read(&path).unwrap());
        }
    }
}

/// A folder with all that is in it, links as links.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            copy(&source, &target);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source).unwrap(), target).unwrap();
        } else {
            fs::copy(&source, &target).unwrap();
        }
    }
}

pub fn lossy(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}
