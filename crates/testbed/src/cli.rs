//! A stand-in for CLI agents: it takes the flags of the real program, keeps to the mode they set, answers in its
//! stream, and does what its words say. No model, no wits. The streams follow those recorded from the programs.
//!
//! First the program: `claude-code`, `codex`, `gemini` or `opencode`. Then what it is like:
//!
//! | word | means |
//! |---|---|
//! | `session=ID` | the id of its new sessions (`fake-session`) |
//! | `forgets` | does not know the session it is to go on with |
//! | `usage=IN,OUT,CACHED` | says so at its end; the cached tokens are a part of the input |
//! | `stop=refusal`, `stop=length` | ends its answer so, if its stream can say that |
//! | `status=N` | its provider answers with this HTTP status, and it says so the way it does |
//! | `no-result` | ends well without a result |
//! | `lingers` | does not end after its result |
//!
//! What it does, in this order:
//!
//! | word | does |
//! |---|---|
//! | `say=TEXT` | says it |
//! | `echo` | says its brief |
//! | `circumstances` | says whether it may write, which session it goes on with, and its folder |
//! | `env` | says its environment |
//! | `form=JSON` | gives this answer in the form it was asked for, or says that there was none |
//! | `step=COMMAND` | tells of a tool call that went well |
//! | `does=COMMAND` | runs it in a shell, if its mode has one, and tells of it and of how it ended |
//! | `parts=N:COMMAND` | as `does`, N times, with the number in `PART`. Its conversation remembers which was begun last: going on with it, it goes on with that. Without its conversation it begins with the first |
//! | `write=PATH:TEXT` | with its own tool, if its mode allows that |
//! | `run=COMMAND` | in a shell, whatever its mode: nothing of this is told |
//! | `retry` | tells that its provider has to be asked again |
//! | `quota=SECONDS` | tells that its account is used up until then (since 1970), if its stream can say that |
//! | `noise=TEXT` | writes a line that is no event |
//! | `huge=BYTES` | says so much |
//! | `pause=MS` | waits |
//! | `hang` | for ever |
//! | `crash=CODE` | ends |
//! | `when=TEXT` | does what follows, up to the next `when`, if its brief holds this text; of several, the first that holds counts |
//!
//! After its words come `--` and the real flags.

mod flags;
mod script;
mod speech;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncWrite, AsyncWriteExt};

use flags::Mode;
pub use script::{CliAction, CliScript, ScriptStop};
use speech::Speech;

/// The program that it stands in for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Program {
    ClaudeCode,
    Codex,
    Gemini,
    OpenCode,
}

/// How it was started.
#[derive(Clone, Debug)]
pub struct ProgramInvocation {
    pub flags: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub brief: String,
    pub folder: PathBuf,
}

/// How it ended: with this exit code, and these last words on standard error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramEnd {
    pub code: i32,
    pub said: String,
}

impl ProgramEnd {
    fn quietly(code: i32) -> Self {
        Self { code, said: String::new() }
    }
}

/// One call of it.
pub async fn play(
    script: CliScript,
    asked: ProgramInvocation,
    output: impl AsyncWrite + Unpin,
) -> ProgramEnd {
    let mode = match Mode::read(script.program, &asked) {
        Ok(mode) => mode,
        Err(why) => return ProgramEnd { code: 1, said: format!("error: {why}") },
    };
    if script.forgets && mode.session.is_some() {
        return speech::forgotten(script.program);
    }
    let speech = Speech::new(&script, &mode);
    let mut play = Play { script, asked, mode, speech, output };
    play.play().await.unwrap_or_else(|_| ProgramEnd::quietly(141))
}

struct Play<W> {
    script: CliScript,
    asked: ProgramInvocation,
    mode: Mode,
    speech: Speech,
    output: W,
}

type Written<T> = Result<T, std::io::Error>;

impl<W: AsyncWrite + Unpin> Play<W> {
    async fn play(&mut self) -> Written<ProgramEnd> {
        let begin = self.speech.begin();
        self.tell(begin).await?;
        let (mut does, mut has_held) = (true, false);
        for action in self.script.actions.clone() {
            if let CliAction::When(text) = &action {
                does = !has_held && self.asked.brief.contains(text.as_str());
                has_held |= does;
            }
            if !does {
                continue;
            }
            if let Some(code) = self.act(action).await? {
                return Ok(ProgramEnd::quietly(code));
            }
        }
        if self.script.no_result {
            self.flush().await?;
            return Ok(ProgramEnd::quietly(0));
        }
        let (lines, code) = self.speech.end(self.script.stop, self.script.status);
        self.tell(lines).await?;
        if self.script.lingers {
            std::future::pending::<()>().await;
        }
        Ok(ProgramEnd::quietly(code))
    }

    /// Some exit code if it ends here.
    async fn act(&mut self, action: CliAction) -> Written<Option<i32>> {
        match action {
            CliAction::Say(text) => self.say(&text).await?,
            CliAction::Echo => self.say(&self.asked.brief.clone()).await?,
            CliAction::Circumstances => {
                let Mode { may_write, session, .. } = &self.mode;
                let session = session.as_deref().unwrap_or("none");
                let folder = self.asked.folder.display();
                let said = format!("writes={may_write} session={session} folder={folder}");
                self.say(&said).await?;
            }
            CliAction::Env => {
                let all: Vec<String> = self.asked.env.iter().map(|(k, v)| format!("{k}={v}")).collect();
                self.say(&all.join("\n")).await?;
            }
            CliAction::Form(json) => {
                if self.mode.has_form {
                    self.speech.form(&json);
                } else {
                    self.say("No form was asked for.").await?;
                }
            }
            CliAction::Step(command) => {
                let lines = self.speech.step(&command);
                self.tell(lines).await?;
            }
            CliAction::Does(command) => self.does(&command).await?,
            CliAction::Parts(count, command) => self.parts(count, &command).await?,
            CliAction::Write(path, text) => self.write(&path, &text).await?,
            CliAction::Run(command) => self.run(&command).await?,
            CliAction::Retry => {
                let lines = self.speech.retry();
                self.tell(lines).await?;
            }
            CliAction::Quota(until) => {
                let lines = self.speech.quota(until);
                self.tell(lines).await?;
            }
            CliAction::Noise(text) => self.output.write_all(format!("{text}\n").as_bytes()).await?,
            CliAction::Huge(size) => {
                let piece = "x".repeat(size.min(1 << 20));
                for _ in 0..size.div_ceil(1 << 20) {
                    let lines = self.speech.say_apart(&piece);
                    self.tell(lines).await?;
                }
            }
            CliAction::Pause(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            CliAction::Hang => {
                self.flush().await?;
                std::future::pending::<()>().await;
            }
            CliAction::Crash(code) => return Ok(Some(code)),
            CliAction::When(_) => {}
        }
        Ok(None)
    }

    async fn say(&mut self, text: &str) -> Written<()> {
        let lines = self.speech.say(text);
        self.tell(lines).await
    }

    async fn flush(&mut self) -> Written<()> {
        let lines = self.speech.flush();
        self.tell(lines).await
    }

    async fn write(&mut self, path: &str, text: &str) -> Written<()> {
        let wrote = self.mode.may_write && std::fs::write(self.asked.folder.join(path), text).is_ok();
        let lines = self.speech.write(path, wrote);
        self.tell(lines).await
    }

    async fn run(&mut self, command: &str) -> Written<()> {
        self.shell(command).stdout(Stdio::null()).status().await.map(drop)
    }

    /// Begins it, and says what came of it.
    async fn does(&mut self, command: &str) -> Written<()> {
        let (id, lines) = self.speech.begins(command);
        self.tell(lines).await?;
        if self.mode.no_shell {
            let lines = self.speech.ended(&id, command, 1, "No such tool available");
            return self.tell(lines).await;
        }
        let done = self.shell(command).output().await?;
        let mut printed = String::from_utf8_lossy(&done.stdout).into_owned();
        printed.push_str(&String::from_utf8_lossy(&done.stderr));
        let lines = self.speech.ended(&id, command, done.status.code().unwrap_or(-1), &printed);
        self.tell(lines).await
    }

    async fn parts(&mut self, count: u32, command: &str) -> Written<()> {
        let home = self.asked.env.get("HOME").cloned().unwrap_or_default();
        let memory = PathBuf::from(home).join(".claude").join(format!("{}.parts", self.script.session));
        let goes_on = self.mode.session.is_some();
        let known = std::fs::read_to_string(&memory).ok().filter(|_| goes_on);
        let last: u32 = known.and_then(|last| last.trim().parse().ok()).unwrap_or(1);
        for part in last..=count {
            std::fs::write(&memory, part.to_string())?;
            self.does(&format!("PART={part}; {command}")).await?;
        }
        Ok(())
    }

    fn shell(&self, command: &str) -> tokio::process::Command {
        let mut shell = tokio::process::Command::new("/bin/sh");
        shell.args(["-c", command]).current_dir(&self.asked.folder).env_clear().envs(&self.asked.env);
        shell.stdin(Stdio::null());
        shell
    }

    async fn tell(&mut self, lines: Vec<Value>) -> Written<()> {
        for line in lines {
            self.output.write_all(format!("{line}\n").as_bytes()).await?;
        }
        self.output.flush().await
    }
}
