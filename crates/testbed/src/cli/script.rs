//! The words that say what the stand-in does.

use super::Program;

/// How an answer ends, if not by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScriptStop {
    Refusal,
    Length,
}

/// What the program is like, and what it does.
#[derive(Clone, Debug)]
pub struct CliScript {
    pub program: Program,
    pub session: String,
    pub forgets: bool,
    /// Input, output, and what of the input was cached.
    pub usage: [u64; 3],
    pub stop: Option<ScriptStop>,
    pub status: Option<u16>,
    pub no_result: bool,
    pub lingers: bool,
    pub actions: Vec<CliAction>,
}

/// One thing it does.
#[derive(Clone, Debug)]
pub enum CliAction {
    Say(String),
    Echo,
    Circumstances,
    Env,
    Form(String),
    Step(String),
    Does(String),
    Parts(u32, String),
    Write(String, String),
    Run(String),
    Retry,
    Quota(u64),
    Noise(String),
    Huge(usize),
    Pause(u64),
    Hang,
    Crash(i32),
    When(String),
}

impl CliScript {
    /// Reads the words up to `--`, or says which of them is none; the rest are the real flags.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<(Self, Vec<String>), String> {
        let mut words = words.into_iter();
        let program = match words.next().as_deref() {
            Some("claude-code") => Program::ClaudeCode,
            Some("codex") => Program::Codex,
            Some("gemini") => Program::Gemini,
            Some("opencode") => Program::OpenCode,
            other => return Err(format!("{other:?} is no program that it can stand in for")),
        };
        let mut script = Self {
            program,
            session: "fake-session".to_owned(),
            forgets: false,
            usage: [11, 7, 3],
            stop: None,
            status: None,
            no_result: false,
            lingers: false,
            actions: Vec::new(),
        };
        for word in words.by_ref().take_while(|word| word != "--") {
            let (name, value) = word.split_once('=').unwrap_or((&word, ""));
            script.take(name, value).ok_or_else(|| format!("cannot make sense of `{word}`"))?;
        }
        Ok((script, words.collect()))
    }

    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "session" => value.clone_into(&mut self.session),
            "forgets" => self.forgets = true,
            "usage" => {
                let counts: Vec<u64> = value.split(',').filter_map(|n| n.parse().ok()).collect();
                self.usage = counts.try_into().ok()?;
            }
            "stop" => {
                self.stop = Some(match value {
                    "refusal" => ScriptStop::Refusal,
                    "length" => ScriptStop::Length,
                    _ => return None,
                });
            }
            "status" => self.status = Some(value.parse().ok()?),
            "no-result" => self.no_result = true,
            "lingers" => self.lingers = true,
            _ => self.actions.push(action(name, value)?),
        }
        Some(())
    }
}

fn action(name: &str, value: &str) -> Option<CliAction> {
    let text = || value.to_owned();
    Some(match name {
        "say" => CliAction::Say(text()),
        "echo" => CliAction::Echo,
        "circumstances" => CliAction::Circumstances,
        "env" => CliAction::Env,
        "form" => CliAction::Form(text()),
        "step" => CliAction::Step(text()),
        "does" => CliAction::Does(text()),
        "parts" => {
            let (count, command) = value.split_once(':')?;
            CliAction::Parts(count.parse().ok()?, command.to_owned())
        }
        "write" => value.split_once(':').map(|(path, text)| CliAction::Write(path.into(), text.into()))?,
        "run" => CliAction::Run(text()),
        "retry" => CliAction::Retry,
        "quota" => CliAction::Quota(value.parse().ok()?),
        "noise" => CliAction::Noise(text()),
        "huge" => CliAction::Huge(value.parse().ok()?),
        "pause" => CliAction::Pause(value.parse().ok()?),
        "hang" => CliAction::Hang,
        "crash" => CliAction::Crash(value.parse().ok()?),
        "when" => CliAction::When(text()),
        _ => return None,
    })
}
