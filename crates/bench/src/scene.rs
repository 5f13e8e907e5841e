//! A folder for one measured run: project file, tasks, store. Fresh each time, gone afterwards.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::baseline::BenchError;

/// Calls of one loop: three rounds of a worker and a critic.
pub const CALLS: u64 = 6;

pub struct Scene {
    dir: TempDir,
}

impl Scene {
    /// A project whose worker and critic talk to the server at `url`, with as many tasks as asked for.
    pub fn new(url: &str, tasks: usize) -> Result<Self, BenchError> {
        let dir = TempDir::with_prefix("gadfly-bench-")?;
        let agent = |name, model| {
            format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\n\n")
        };
        fs::write(dir.path().join("gadfly.toml"), agent("w", "worker") + &agent("c", "critic:R,R,A"))?;
        fs::write(dir.path().join("tasks.jsonl"), lines(tasks))?;
        Ok(Self { dir })
    }

    /// A project of scripted agents: the drafts in order, rejected until the last.
    pub fn scripted(drafts: &[String]) -> Result<Self, BenchError> {
        let scene = Self { dir: TempDir::with_prefix("gadfly-bench-")? };
        let mut script = verdicts(drafts.len())?;
        for (n, draft) in drafts.iter().enumerate() {
            fs::write(scene.path(&format!("draft-{n}.md")), draft)?;
            writeln!(script, "[[reply]]\nrole = \"worker\"\nfile = \"draft-{n}.md\"\n")?;
        }
        let agent = |name| format!("[agents.{name}]\nkind = \"scripted\"\nscript = \"replies.toml\"\n\n");
        fs::write(scene.path("replies.toml"), script)?;
        fs::write(scene.path("gadfly.toml"), agent("w") + &agent("c"))?;
        fs::write(scene.path("tasks.jsonl"), lines(1))?;
        Ok(scene)
    }

    /// A project whose worker is a program that prints this text of any length, under another heading each time.
    pub fn printing(text: &str, rounds: usize) -> Result<Self, BenchError> {
        let scene = Self { dir: TempDir::with_prefix("gadfly-bench-")? };
        fs::write(scene.path("draft.md"), text)?;
        fs::write(scene.path("replies.toml"), verdicts(rounds)?)?;
        let draft = scene.path("draft.md").display().to_string();
        let command = format!("cat >/dev/null; date '+# Version %N'; cat '{draft}'");
        let agents = format!(
            "[agents.w]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", {command:?}]\nread = [{draft:?}]\n\n\
             [agents.c]\nkind = \"scripted\"\nscript = \"replies.toml\"\n"
        );
        fs::write(scene.path("gadfly.toml"), agents)?;
        fs::write(scene.path("tasks.jsonl"), lines(1))?;
        Ok(scene)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `gadfly` in this folder; it reads nothing of the user's own.
    pub fn gadfly(&self, binary: &Path, command: &str) -> Command {
        let mut gadfly = Command::new(binary);
        gadfly.arg(command).args(["--worker", "w", "--critic", "c", "--trust", "--yes"]);
        let home = self.path("home");
        gadfly.current_dir(self.dir.path()).env("HOME", &home);
        gadfly.env("XDG_STATE_HOME", home.join("state")).env("XDG_CONFIG_HOME", home.join("config"));
        gadfly
    }

    pub fn batch(&self, binary: &Path, jobs: usize) -> Command {
        let mut batch = self.gadfly(binary, "batch");
        batch.arg("tasks.jsonl").args(["--jobs", &jobs.to_string()]);
        batch
    }

    /// Every line of the results says `approved`, and there are as many as tasks.
    pub fn all_approved(&self, tasks: usize) -> Result<(), BenchError> {
        let results = fs::read_to_string(self.path("tasks.results.jsonl"))?;
        let approved = results.lines().filter(|l| l.contains(r#""outcome":"approved""#)).count();
        if approved == tasks {
            Ok(())
        } else {
            Err(format!("{approved} of {tasks} loops were approved").into())
        }
    }
}

/// The replies of a critic that rejects until the last round.
fn verdicts(rounds: usize) -> Result<String, BenchError> {
    let mut script = String::new();
    for round in 1..=rounds {
        let verdict = if round == rounds {
            "[STATUS: APPROVED]\\nIt meets the rubric."
        } else if round == 1 {
            "[STATUS: REJECTED]\\n- Name the sample size."
        } else {
            "[STATUS: REJECTED]\\nStill unresolved:\\n- 1 Name the sample size."
        };
        writeln!(script, "[[reply]]\nrole = \"critic\"\ntext = \"{verdict}\"\n")?;
    }
    Ok(script)
}

/// Bytes of all files in a folder.
pub fn bytes(dir: &Path) -> Result<u64, BenchError> {
    let mut sum = 0;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let found = entry.metadata()?;
        sum += if found.is_dir() { bytes(&entry.path())? } else { found.len() };
    }
    Ok(sum)
}

fn lines(tasks: usize) -> String {
    let line = |n| {
        format!(
            r#"{{"id":"task-{n}","task":"Write an abstract about cohort {n}.","rubric":["The first sentence names the sample size.","It says what was measured, in which unit."]}}"#
        ) + "\n"
    };
    (0..tasks).map(line).collect()
}
