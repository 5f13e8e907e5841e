//! `--proxy`: `gadfly acp` between two independent clients of the protocol (`src/editors`, on its TypeScript and its Python
//! SDK) and real agents. A person is played, and a critic; the model is the local server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use gadfly_testbed::Server;
use serde_json::{Value, json};

use crate::TrialError;
use crate::programs::{Family, LocatedProgram, write};
use crate::trial::{command, text};

/// The longest that one scene may take.
const LIMIT: Duration = Duration::from_mins(4);
const PROMPT: &str = "Write a greeting into `greeting.txt`.";
/// Asked for so, the model calls its shell until somebody stops it.
const ENDLESS: &str =
    "End with `CLAIM_COMPLETE: ` and a reason.\nGOAL:\nWrite a greeting into `greeting.txt`.\n";
const APPROVES: &str = "[STATUS: APPROVED]\nAll of it is there.";
const REJECTS: &str = "[STATUS: REJECTED]\n- write `second.txt`, too";

/// What is played, and what the critic does when its brief has come in.
pub struct ProxyScene {
    pub name: &'static str,
    /// As the editors call it.
    play: &'static str,
    prompt: &'static str,
    critic: &'static str,
    /// The agent is set so that it asks before it writes.
    asks: bool,
}

pub const SCENES: &[ProxyScene] = &[
    ProxyScene { name: "approved", play: "turn", prompt: PROMPT, critic: "say \"$yes\"", asks: false },
    ProxyScene {
        name: "mended",
        play: "turn",
        prompt: PROMPT,
        critic: "case $brief in *second.txt*second.txt*) say \"$yes\";; *) say \"$no\";; esac",
        asks: false,
    },
    ProxyScene { name: "cut", play: "cut", prompt: ENDLESS, critic: "say \"$yes\"", asks: false },
    ProxyScene { name: "asked", play: "turn", prompt: PROMPT, critic: "say \"$yes\"", asks: true },
    ProxyScene {
        name: "killed",
        play: "kill",
        prompt: PROMPT,
        critic: "while [ -e \"$hold\" ]; do sleep 0.2; done; say \"$yes\"",
        asks: false,
    },
];

/// A client of the protocol.
#[derive(Clone)]
pub struct ProxyEditor {
    pub name: &'static str,
    program: PathBuf,
    script: PathBuf,
    sdk: PathBuf,
}

impl ProxyEditor {
    /// Those that are installed in `dir`, or else those of PATH.
    pub fn all(dir: Option<&Path>) -> [Self; 2] {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/editors");
        let dir = dir.unwrap_or(Path::new("."));
        let own = dir.join("venv/bin/python");
        [
            Self {
                name: "TypeScript SDK",
                program: "node".into(),
                script: scripts.join("editor.mjs"),
                sdk: dir.join("node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js"),
            },
            Self {
                name: "Python SDK",
                program: if own.exists() { own } else { "python3".into() },
                script: scripts.join("editor.py"),
                sdk: PathBuf::new(),
            },
        ]
    }
}

pub struct ProxyTrial<'a> {
    pub found: &'a LocatedProgram,
    pub editor: &'a ProxyEditor,
    pub scene: &'a ProxyScene,
    pub gadfly: &'a Path,
    pub server: &'a Server,
    pub folder: PathBuf,
}

impl ProxyTrial<'_> {
    /// How long it took, and what it came to, or why that is not right.
    pub async fn play(&self) -> (Duration, Result<String, TrialError>) {
        let begun = Instant::now();
        let judged = self.judged().await;
        (begun.elapsed(), judged)
    }

    async fn judged(&self) -> Result<String, TrialError> {
        let (home, project) = (self.folder.join("home"), self.folder.join("project"));
        std::fs::create_dir_all(&home)?;
        let mut env = self.found.settle(&home, self.server.addr, "agent")?;
        if self.scene.asks {
            env.push(("ACP_MODE".to_owned(), self.asking(&project)?.to_owned()));
        }
        write(&project.join("gadfly.toml"), &settings())?;
        write(&project.join("critic.sh"), &critic(self.scene.critic, &self.folder.join("hold")))?;
        write(&project.join(".gitignore"), ".gadfly/\n.gemini/\n")?;
        write(&self.folder.join("hold"), "")?;
        for git in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "Before the turn"]] {
            command("git", &home, &project).args(git).status().await?;
        }
        self.server.reset();
        let seen = self.seen(&home, &project, env).await?;
        let mut list = command(self.gadfly, &home, &project);
        let listed = list.args(["runs", "--json"]).stdout(Stdio::piped()).output().await?;
        let runs = String::from_utf8_lossy(&listed.stdout).into_owned();
        self.check(&project, &seen, &runs)
    }

    /// What the editor saw.
    async fn seen(
        &self,
        home: &Path,
        project: &Path,
        env: Vec<(String, String)>,
    ) -> Result<Value, TrialError> {
        let (out, err) = (self.folder.join("editor.json"), self.folder.join("editor.stderr"));
        let mut editor = command(&self.editor.program, home, project);
        editor.arg(&self.editor.script).arg(self.scene.play).arg(project).args([self.scene.prompt, "--"]);
        editor.arg(self.gadfly).args(["acp", "--trust", "--"]).arg(&self.found.path);
        editor.args(self.found.program.args).envs(env).env("ACP_SDK", &self.editor.sdk);
        editor.stdout(std::fs::File::create(&out)?).stderr(std::fs::File::create(&err)?);
        let mut child = editor.spawn()?;
        let Ok(status) = tokio::time::timeout(LIMIT, child.wait()).await else {
            child.kill().await?;
            return Err(format!("it did not end within {} s", LIMIT.as_secs()).into());
        };
        if !status?.success() {
            let err = text(&err)?;
            return Err(format!("the editor failed: {}", err.lines().last().unwrap_or_default()).into());
        }
        Ok(serde_json::from_str(text(&out)?.lines().last().unwrap_or_default())?)
    }

    fn check(&self, project: &Path, seen: &Value, runs: &str) -> Result<String, TrialError> {
        let said = seen["said"].as_str().unwrap_or_default();
        let stop = seen["stop"].as_str().unwrap_or("none");
        let approved = runs.matches("\"state\":\"approved\"").count();
        let is_there = |file: &str| project.join(file).is_file();
        let wrong = |what: &str| Err(format!("{what}; stopped as {stop}; said: {said}").into());
        let count = |what: &str| seen[what].as_u64().unwrap_or_default();
        let ways = format!(
            "{} permissions, {} files read and {} written by the editor, {} terminals",
            count("permissions"),
            count("reads"),
            count("writes"),
            count("terminals")
        );
        if self.scene.play == "cut" {
            let is_cut = stop == "cancelled" && approved == 0 && !said.contains("approved by judge");
            return if is_cut {
                Ok("cancelled, nothing approved".to_owned())
            } else {
                wrong("it was not cut")
            };
        }
        // The run that was cut off is heard to its end first, too.
        let is_counted = approved == 1 || (approved == 2 && self.scene.play == "kill");
        if stop != "end_turn" || !is_counted || !said.contains("approved by judge") {
            return wrong(&format!("{approved} approved runs in place of one"));
        }
        match self.scene.name {
            "mended" if !said.contains("asks for more") || !is_there("second.txt") => wrong("not mended"),
            "killed" if !said.contains("was not judged to its end") || !is_there("second.txt") => {
                wrong("what was cut off is not told")
            }
            "asked" if count("permissions") == 0 => wrong("nobody was asked"),
            _ if !is_there("greeting.txt") => wrong("greeting.txt is not there"),
            "mended" => Ok(format!("sent back, mended, approved; {ways}")),
            "killed" => {
                Ok("loaded again: the cut turn is named as not judged; the next one approved".to_owned())
            }
            _ => Ok(format!("approved; {ways}")),
        }
    }

    /// Has the agent ask before it writes: the mode to put it into, if that does it. Claude Code and Gemini CLI ask by
    /// themselves.
    fn asking(&self, project: &Path) -> Result<&'static str, TrialError> {
        match self.found.program.family {
            Family::Codex => Ok("read-only"),
            Family::OpenCode => {
                let asks = json!({ "permission": { "edit": "ask", "bash": "ask" } });
                write(&project.join("opencode.json"), &asks.to_string())?;
                Ok("")
            }
            _ => Ok(""),
        }
    }
}

fn settings() -> String {
    "[agents.judge]\nkind = \"command\"\ncommand = [\"sh\", \"critic.sh\"]\n[defaults]\ncritic = \"judge\"\n"
        .to_owned()
}

fn critic(acts: &str, hold: &Path) -> String {
    let hold = hold.display();
    format!(
        "hold='{hold}'\nbrief=$(cat)\nyes='{APPROVES}'\nno='{REJECTS}'\nsay() {{ printf '%s\\n' \"$1\"; }}\n{acts}\n"
    )
}
