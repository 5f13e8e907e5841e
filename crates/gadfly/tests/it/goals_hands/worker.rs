//! A worker of every kind with tools of its own: this very program, started once more as the stand-in for a CLI
//! agent or as the agent that speaks ACP, and what a goal of its came to.
//!
//! To add a kind: a row.

use std::io::Read as _;

use gadfly_testbed::{acp, cli};
use serde_json::{Value, json};

use crate::goals_hands::desk::{Desk, Said};

/// How a kind says that it did something, that it wrote the file, and that it claims the goal.
pub struct Kind {
    pub name: &'static str,
    step: fn(&str) -> String,
    write: fn(&str) -> Vec<String>,
    /// The conversation as the program names it.
    pub session: &'static str,
}

pub const KINDS: [Kind; 5] = [
    Kind { name: "claude-code", step: cli_step, write: cli_write, session: "fake-session" },
    Kind { name: "codex", step: cli_step, write: cli_write, session: "fake-session" },
    Kind { name: "gemini", step: cli_step, write: cli_write, session: "fake-session" },
    Kind { name: "opencode", step: cli_step, write: cli_write, session: "fake-session" },
    Kind { name: "acp", step: acp_step, write: acp_write, session: "session-1" },
];

fn cli_step(what: &str) -> String {
    format!("step={what}")
}

fn acp_step(what: &str) -> String {
    format!("tool=execute:{what}")
}

fn cli_write(file: &str) -> Vec<String> {
    vec![format!("write={file}:done")]
}

/// Its own words about it are no part of the answer: a step follows them.
fn acp_write(file: &str) -> Vec<String> {
    vec![format!("own-write={file}:done"), format!("tool=edit:{file}")]
}

/// What a worker does in one call.
pub enum Does<'a> {
    Step(&'a str),
    /// Runs a command, and says how it ended. Not over ACP.
    Run(&'a str),
    /// Runs it once for every part, and remembers in its conversation which it has begun. Not over ACP.
    Parts(u32, &'a str),
    Write(&'a str),
    Say(&'a str),
    /// Claims the goal; its reason says in which conversation it is.
    Claim,
    /// Until it is ended.
    Hang,
}

impl Kind {
    /// Makes the agent `w`. It does what stands beside the first text that its brief holds.
    pub fn hire(&self, desk: &Desk, calls: &[(&str, &[Does<'_>])]) {
        let mut words = vec![self.name.to_owned()];
        if self.name == "acp" {
            words.push("resumes".to_owned());
        }
        for (told, actions) in calls {
            words.push(format!("when={told}"));
            for action in *actions {
                match action {
                    Does::Step(what) => words.push((self.step)(what)),
                    Does::Run(command) => words.push(format!("does={command}")),
                    Does::Parts(count, command) => words.push(format!("parts={count}:{command}")),
                    Does::Write(file) => words.extend((self.write)(file)),
                    Does::Say(text) => words.push(format!("say={text}")),
                    Does::Claim => {
                        words.extend(["say=CLAIM_COMPLETE: ".to_owned(), "circumstances".to_owned()]);
                    }
                    Does::Hang => words.push("hang".to_owned()),
                }
            }
        }
        let own = std::env::current_exe().unwrap();
        let started = [own.to_str().unwrap(), PLAYER, "--exact", "--ignored", "--nocapture", "--"];
        let mut command: Vec<String> = started.map(str::to_owned).to_vec();
        command.append(&mut words);
        if self.name != "acp" {
            command.push("--".to_owned());
        }
        let kind = self.name;
        desk.configure(&format!("[agents.w]\nkind = \"{kind}\"\ncommand = {}\n", json!(command)));
    }
}

const PLAYER: &str = "goals_hands::worker::plays_a_worker";

/// Not a test: what [`Kind::hire`] starts. The words stand behind the first `--`, the program's flags behind the
/// second.
#[test]
#[ignore = "plays a worker for the tests"]
fn plays_a_worker() {
    let mut words = std::env::args().skip_while(|word| word != "--").skip(1).peekable();
    let Some(kind) = words.peek().cloned() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let code = runtime.block_on(async {
        if kind == "acp" {
            let script = acp::AcpScript::parse(words.skip(1)).unwrap();
            return acp::serve(script, tokio::io::stdin(), tokio::io::stdout()).await;
        }
        let (script, flags) = cli::CliScript::parse(words).unwrap();
        let mut brief = String::new();
        std::io::stdin().read_to_string(&mut brief).unwrap();
        let (env, folder) = (std::env::vars().collect(), std::env::current_dir().unwrap());
        cli::play(script, cli::ProgramInvocation { flags, env, brief, folder }, tokio::io::stdout())
            .await
            .code
    });
    // Not by returning: a thread that reads standard input would hold the process.
    std::process::exit(code);
}

/// The flags of a goal whose worker is `w`, whose critic is `c`, and that is reached when `done.txt` is there.
pub const GOAL: [&str; 14] = [
    "goal",
    "Write the file.",
    "--worker",
    "w",
    "--critic",
    "c",
    "--critic-interval",
    "2",
    "--until-file",
    "done.txt",
    "--yes",
    "--trust",
    "--unattended",
    "--json",
];

/// What a goal came to, event by event.
#[derive(Debug)]
pub struct Pursued {
    pub said: Said,
    pub events: Vec<Value>,
}

impl Pursued {
    pub fn run(desk: &Desk) -> Self {
        Self::read(desk.gadfly(&GOAL))
    }

    pub fn read(said: Said) -> Self {
        let events = said.out.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        Self { said, events }
    }

    fn data<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["event"] == name).map(|event| &event["data"])
    }

    /// Number and line of each step.
    pub fn steps(&self) -> Vec<(u64, &str)> {
        let steps = self.data("stepped").map(|data| &data["step"]);
        steps.map(|step| (step["n"].as_u64().unwrap(), step["args"].as_str().unwrap())).collect()
    }

    /// How each step ended, and what came of it.
    pub fn ends(&self) -> Vec<(&str, &str)> {
        let steps = self.data("stepped").map(|data| &data["step"]);
        steps.map(|step| (step["end"].as_str().unwrap(), step["preview"].as_str().unwrap())).collect()
    }

    /// Why it went on where it was, each time.
    pub fn went_on(&self) -> Vec<&str> {
        self.data("went_on").map(|data| data["because"].as_str().unwrap()).collect()
    }

    pub fn nudges(&self) -> Vec<&str> {
        self.data("nudged").map(|data| data["why"].as_str().unwrap()).collect()
    }

    /// By whom, and for what reason.
    pub fn claims(&self) -> Vec<(&str, &str)> {
        self.data("claimed")
            .map(|data| (data["by"].as_str().unwrap(), data["rationale"].as_str().unwrap()))
            .collect()
    }

    /// The conversation that each turn of the worker is to go on with.
    pub fn turns(&self) -> Vec<Option<&str>> {
        let turns = self.data("effect_requested").map(|data| &data["kind"]["turn"]);
        turns.filter(|turn| turn["role"] == "worker").map(|turn| turn["session"].as_str()).collect()
    }

    /// The names of all events, in their order, a turn of the worker as `worker`.
    pub fn order(&self) -> Vec<&str> {
        self.events
            .iter()
            .map(|event| match event["data"]["kind"]["turn"]["role"].as_str() {
                Some("worker") => "worker",
                _ => event["event"].as_str().unwrap_or_default(),
            })
            .collect()
    }

    pub fn is_reached(&self) -> bool {
        self.said.code == 0 && self.data("goal_verified").count() == 1
    }
}
