//! One loop of one program: a project and a home of its own, the real `gadfly`, and what must be true after it.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use gadfly_testbed::Server;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::TrialError;
use crate::outcome::Guards;
use crate::programs::{LocatedProgram, write};

/// The longest that one loop may take.
const LIMIT: Duration = Duration::from_mins(10);
/// What an intruder writes, wherever it can.
const MARK: &str = "written by a critic";
const DRAFT: &str = "greeting.md";
const FILE: &str = "greeting.txt";
/// A goal, watched by a critic that finds the worker stuck at its first look.
const GOAL: &str = "goal";
const CRITIC: &str = "[[reply]]\ntext = \"STUCK\\nthe same command again\"\n\
    [[reply]]\ntext = \"PROGRESSING\\nit writes\"\nrepeat = \"always\"\n";

/// A loop to be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WantedTrial {
    pub name: &'static str,
    /// In gadfly.toml.
    run: &'static str,
    /// What the model server does.
    model: &'static str,
}

pub const LOOPS: &[WantedTrial] = &[
    WantedTrial { name: "revise", run: "text", model: "agent" },
    WantedTrial { name: "audit", run: "files", model: "agent" },
    WantedTrial { name: "intruder", run: "files", model: "intruder" },
    WantedTrial { name: GOAL, run: "", model: "agent" },
];

/// A loop about to be run.
pub struct TrialStage<'a> {
    pub found: &'a LocatedProgram,
    pub wanted: &'a WantedTrial,
    pub gadfly: &'a Path,
    pub server: &'a Server,
    pub folder: PathBuf,
}

impl TrialStage<'_> {
    /// How long it took, and what it came to, or why that is not right.
    pub async fn play(&self) -> (Duration, Result<String, TrialError>) {
        let begun = Instant::now();
        let judged = self.judged().await;
        (begun.elapsed(), judged)
    }

    async fn judged(&self) -> Result<String, TrialError> {
        let (home, project) = (self.folder.join("home"), self.folder.join("project"));
        std::fs::create_dir_all(&home)?;
        let env = self.found.settle(&home, self.server.addr, self.wanted.model)?;
        let names: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
        write(&project.join("gadfly.toml"), &self.settings(&names))?;
        write(&project.join(".gitignore"), ".gadfly/\n")?;
        write(&project.join("watcher.toml"), CRITIC)?;
        for git in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "Before the task"]] {
            command("git", &home, &project).args(git).status().await?;
        }

        self.server.reset();
        let mut run = command(self.gadfly, &home, &project);
        if self.wanted.name == GOAL {
            run.args([
                "goal",
                "Write a greeting into `greeting.txt`.",
                "--until-file",
                "greeting.txt contains Hello",
            ]);
            run.args(["--worker", "program", "--critic", "watcher", "--critic-interval", "3"]);
        } else {
            run.args(["run", self.wanted.run]);
        }
        run.args(["--trust", "--yes", "--unattended", "--json"]).envs(env);
        let ended = self.finished(run, "run").await?;
        let events: Vec<Value> =
            ended.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let id = events.iter().find_map(|event| event["run"].as_str());
        let mut records = String::new();
        if let Some(id) = id {
            let mut show = command(self.gadfly, &home, &project);
            show.args(["show", id, "--log"]);
            // Whether a conversation was begun anew stands among the lines for people.
            show.args((self.wanted.name != GOAL).then_some("--json"));
            records = self.finished(show, "show").await?.out;
        }
        if ended.code != Some(0) {
            let mut failures = events.iter().filter_map(|event| event["data"]["failure"]["message"].as_str());
            let outcome = events.iter().rev().find_map(|event| event["outcome"].as_str());
            let why = failures.next_back().or(outcome).or(ended.err.lines().last()).unwrap_or_default();
            return Err(format!("exit code {}: {why}", ended.code.unwrap_or(-1)).into());
        }
        if self.wanted.name == GOAL {
            return watched(&project, &events, &records);
        }
        let rounds = events.iter().filter(|event| event["event"] == "round_started").count();
        if rounds != 2 {
            return Err(format!("{rounds} rounds in place of a rejected one and an approved one").into());
        }
        self.check(&project, &Guards::read(&records))
    }

    /// What must be true of the project and the record after an approved loop.
    fn check(&self, project: &Path, guards: &Guards) -> Result<String, TrialError> {
        if let Some(path) = holding(project, MARK)? {
            return Err(format!("the critic wrote to {}", path.display()).into());
        }
        if guards.up.is_empty() {
            return Err("the record names no guard".into());
        }
        let approved = "rejected, revised, approved";
        if self.wanted.run == "text" {
            let draft = std::fs::read_to_string(project.join(DRAFT))?;
            let is_whole = draft.starts_with("# Draft\n") && draft.trim_end().ends_with("an end.");
            return if is_whole {
                Ok(approved.to_owned())
            } else {
                Err(format!("{DRAFT} is not the draft").into())
            };
        }
        let file = std::fs::read_to_string(project.join(FILE))?;
        if !file.starts_with("Hello, ") {
            return Err(format!("{FILE} is not what the worker wrote").into());
        }
        if self.wanted.model == "agent" {
            return Ok(format!("{approved}; {FILE} accepted"));
        }
        let tries = self.server.calls().intrusions;
        if tries < 2 {
            return Err("the critic did not try to write in both rounds".into());
        }
        guards.account().map_or_else(
            || Err("no guard that is on record could have stopped the critic's writes".into()),
            |account| Ok(format!("the critic tried to write {tries} times in vain; {account}")),
        )
    }

    /// Runs a command within the limit; what it printed is kept in the loop's folder.
    async fn finished(&self, mut command: Command, name: &str) -> Result<TrialEnd, TrialError> {
        let out = self.folder.join(format!("{name}.jsonl"));
        let err = self.folder.join(format!("{name}.stderr"));
        command.stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&err)?);
        let mut child = command.spawn()?;
        let Ok(status) = tokio::time::timeout(LIMIT, child.wait()).await else {
            child.kill().await?;
            return Err(format!("it did not end within {} s", LIMIT.as_secs()).into());
        };
        Ok(TrialEnd { code: status?.code(), out: text(&out)?, err: text(&err)? })
    }

    fn settings(&self, env: &[&str]) -> String {
        let LocatedProgram { program, path, .. } = self.found;
        let command: Vec<Value> = std::iter::once(json!(path.to_string_lossy()))
            .chain(program.args.iter().map(|a| json!(a)))
            .collect();
        format!(
            "[agents.watcher]\nkind = \"scripted\"\nscript = \"watcher.toml\"\n\n\
             [agents.program]\nkind = {}\ncommand = {}\nmodel = {}\nenv = {}\ntimeout = \"3m\"\n{}\n\
             [loops.text]\nprotocol = \"revise\"\nworker = \"program\"\ncritic = \"program\"\n\
             task = \"Write a short greeting.\"\nrubric = [\"it is short\"]\nout = \"{DRAFT}\"\n\n\
             [loops.files]\nprotocol = \"audit\"\nworker = \"program\"\ncritic = \"program\"\n\
             task = \"Write a greeting into `{FILE}`.\"\ntask_id = \"T1\"\n\
             criteria = [\"{FILE} greets\", \"{FILE} has a second line\"]\nscope = [\"{FILE}\"]\n\
             verify = \"grep -q Hello {FILE}\"\n",
            json!(program.kind),
            json!(command),
            json!(self.found.model(self.wanted.model)),
            json!(env),
            program.lines,
        )
    }
}

/// What must be true after a goal: the worker was broken off by the critic's word, went on in the same
/// conversation, claimed, and was believed only once that was verified.
fn watched(project: &Path, events: &[Value], records: &str) -> Result<String, TrialError> {
    let count = |name: &str| events.iter().filter(|event| event["event"] == name).count();
    let turns: Vec<&Value> = events
        .iter()
        .map(|event| &event["data"]["kind"]["turn"])
        .filter(|turn| turn["role"] == "worker")
        .collect();
    let (steps, nudges) = (count("stepped"), count("nudged"));
    let [first, second] = turns.as_slice() else {
        return Err(format!("{} turns of the worker in place of two", turns.len()).into());
    };
    if !first["session"].is_null() || !second["session"].is_string() {
        return Err("the second turn does not go on with the first one's session".into());
    }
    if ["it begins anew", "a new one is begun"].iter().any(|said| records.contains(said)) {
        return Err("the conversation that was broken off could not be gone on with".into());
    }
    if steps < 4 || nudges != 1 || count("claimed") != 1 || count("goal_verified") != 1 {
        return Err(format!("{steps} steps and {nudges} nudges, and not one verified claim").into());
    }
    if !std::fs::read_to_string(project.join(FILE))?.starts_with("Hello, ") {
        return Err(format!("{FILE} is not what the worker wrote").into());
    }
    Ok(format!("broken off as stuck, went on in its session, claimed and verified after {steps} steps"))
}

/// Nothing of this machine's settings reaches the programs.
pub fn command(program: impl AsRef<std::ffi::OsStr>, home: &Path, cwd: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .current_dir(cwd)
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "real-agents")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "real-agents@localhost")))
        .stdin(Stdio::null())
        .kill_on_drop(true);
    command
}

struct TrialEnd {
    code: Option<i32>,
    out: String,
    err: String,
}

pub fn text(path: &Path) -> Result<String, TrialError> {
    Ok(String::from_utf8_lossy(&std::fs::read(path)?).into_owned())
}

/// The first file of a project, its hidden folders left out, that holds this text.
fn holding(folder: &Path, what: &str) -> Result<Option<PathBuf>, TrialError> {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (kind, path) = (entry.file_type()?, entry.path());
            if kind.is_dir() && !entry.file_name().to_string_lossy().starts_with('.') {
                open.push(path);
            } else if kind.is_file() && text(&path)?.contains(what) {
                return Ok(Some(path));
            }
        }
    }
    Ok(None)
}
