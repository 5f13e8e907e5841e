//! The honest project that every hostile one is made from, and a store that somebody else recorded.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::world::copy;

pub const CONFIG: &str = "\
[project]
name = \"reform\"
[loops.abstract]
task = \"Write the abstract.\"
rubric = [\"short\"]
out = \"abstract.md\"
[goals.fix]
goal = \"Make it.\"
max_turns = 1
until = { file = \"done.md\" }
";

pub const REGISTRY: &str = "\
## coder
- PHASE: Execution
- REQUIRES: None
- PRODUCES: `out/code.py`
- CRITIC: coder-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 100%
";

pub struct Honest {
    dir: tempfile::TempDir,
    /// The runs of the recorded store.
    pub runs: Vec<String>,
}

impl Honest {
    pub fn new() -> Self {
        let mut honest = Self { dir: tempfile::tempdir().unwrap(), runs: Vec::new() };
        let project = honest.project();
        fs::create_dir_all(project.join("src")).unwrap();
        fs::create_dir_all(honest.dir.path().join("home")).unwrap();
        for (name, text) in [
            ("gadfly.toml", CONFIG),
            ("permissions.md", REGISTRY),
            ("draft.md", "One.\n"),
            ("rubric.md", "- short\n"),
            ("src/a.txt", "one\n"),
            ("abstract.md", "Old.\n"),
            ("tasks.jsonl", "{\"id\": \"a\", \"task\": \"Write.\", \"rubric\": [\"short\"]}\n"),
            (".gitignore", ".gadfly/\nsecret\nother\n"),
        ] {
            fs::write(project.join(name), text).unwrap();
        }
        honest.git(&["init", "-q", "--template="]);
        honest.git(&["add", "-A"]);
        honest.git(&["commit", "-qm", "one"]);
        fs::write(project.join("draft.md"), "Two.\n").unwrap();
        honest.git(&["commit", "-qam", "two"]);
        fs::write(project.join("src/a.txt"), "two\n").unwrap();
        honest.record();
        honest
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// As somebody else recorded it, with runs that would go on.
    pub fn store(&self) -> PathBuf {
        self.dir.path().join("elsewhere/.gadfly")
    }

    /// The file that a run of the store would write.
    pub fn outside(&self) -> PathBuf {
        self.dir.path().join("outside.md")
    }

    fn git(&self, args: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
        let mut git = Command::new("git");
        git.args(who).args(args).current_dir(self.project()).env_clear().env("PATH", "/usr/bin:/bin");
        let done = git.env("HOME", self.dir.path().join("home")).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// Runs by another user's agents of the same names: one that only has to write its result, and one whose worker
    /// is done and whose commands come next.
    fn record(&mut self) {
        let (home, project) = (self.dir.path().join("theirs"), self.dir.path().join("elsewhere"));
        copy(&self.project(), &project);
        fs::create_dir_all(home.join(".config/gadfly")).unwrap();
        let script = home.join("s.toml");
        let reply =
            "[[reply]]\nrepeat = \"always\"\ntext = \"A draft.\"\nfiles = { \"src/a.txt\" = \"three\\n\" }\n";
        fs::write(&script, reply).unwrap();
        let own = format!(
            "[agents.pen]\nkind = \"scripted\"\nscript = {}\n[agents.judge]\nkind = \"person\"\n",
            json!(script)
        );
        fs::write(home.join(".config/gadfly/gadfly.toml"), own).unwrap();
        let gadfly = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
            command.args(args).current_dir(&project).env_clear().env("PATH", "/usr/bin:/bin");
            command.env("HOME", &home).stdin(std::process::Stdio::null()).output().unwrap()
        };
        let shared = ["--worker", "pen", "--critic", "judge", "--yes", "--unattended"];
        let outside = self.outside();
        let text = ["run", "Write.", "--criterion", "x", "--out", outside.to_str().unwrap()];
        let done = gadfly(&[&text[..], &shared].concat());
        assert_eq!(done.status.code(), Some(4), "{done:?}");
        let verify = "touch $HOME/../marks/m-store; printf RAN%s. -m-store";
        let audit = ["run", "Do it.", "--protocol", "audit", "--criterion", "x", "--verify", verify];
        let mut audit = [&audit[..], &shared].concat();
        let worker = audit.iter().position(|word| *word == "pen").unwrap();
        audit[worker] = "judge";
        audit[worker + 2] = "pen";
        let done = gadfly(&audit);
        assert_eq!(done.status.code(), Some(4), "{done:?}");
        let runs = gadfly(&["runs", "--json"]);
        let runs = String::from_utf8(runs.stdout).unwrap();
        let ids = runs.lines().map(|line| {
            let run: serde_json::Value = serde_json::from_str(line).unwrap();
            run["run"].as_str().unwrap().to_owned()
        });
        self.runs = ids.collect();
        for run in &self.runs {
            gadfly(&["answer", run, "[STATUS: APPROVED]"]);
        }
    }
}
