//! The words that say what the scripted agent does.

use agent_client_protocol::v1::schema::{StopReason, ToolKind};

/// What an agent is like, and what it does when it is prompted.
#[derive(Clone, Debug, Default)]
pub struct AcpScript {
    pub mute: bool,
    pub exits_after_hello: bool,
    pub needs_login: bool,
    pub login_by: Option<String>,
    pub refuses_resume: bool,
    pub loads: bool,
    pub resumes: bool,
    pub forgets: bool,
    pub lingers: bool,
    pub session: String,
    pub modes: Vec<String>,
    pub mode_option: Vec<String>,
    pub models: Vec<String>,
    pub actions: Vec<AcpAction>,
    pub usage: Vec<u64>,
    pub quota: Option<(u64, u64, String)>,
    pub stop: Option<StopReason>,
}

/// One thing done in answer to a prompt.
#[derive(Clone, Debug)]
pub enum AcpAction {
    Say(String),
    Message(String, String),
    Think(String),
    Tool(ToolKind, String),
    Announce(ToolKind, String),
    Ask(ToolKind, String),
    AskOnlyAllow(ToolKind, String),
    AskLate(ToolKind, String),
    Read(String),
    Write(String, String),
    OwnWrite(String, String),
    Run(String),
    Leave(String),
    Hang,
    HangHard,
    Crash(i32),
    Noise(String),
    Huge(usize),
    LongLine(usize),
    Cost(f64),
    UnknownUpdate,
    Error(i32, Option<String>),
    When(String),
    Echo,
    Circumstances,
}

impl AcpScript {
    /// Reads the words, or says which of them is none.
    pub fn parse(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut script = Self { session: "session-1".to_owned(), ..Self::default() };
        for word in words {
            let (name, value) = word.split_once('=').unwrap_or((&word, ""));
            let bad = || format!("cannot make sense of `{word}`");
            script.take(name, value).ok_or_else(bad)?;
        }
        Ok(script)
    }

    fn take(&mut self, name: &str, value: &str) -> Option<()> {
        if !self.is_set(name, value)? {
            self.actions.push(action(name, value)?);
        }
        Some(())
    }

    /// Whether the word says what the agent is like; none if it says so badly.
    fn is_set(&mut self, name: &str, value: &str) -> Option<bool> {
        match name {
            "mute" => self.mute = true,
            "exits-after-hello" => self.exits_after_hello = true,
            "needs-login" => self.needs_login = true,
            "login-by" => self.login_by = Some(value.to_owned()),
            "refuses-resume" => (self.resumes, self.refuses_resume) = (true, true),
            "loads" => self.loads = true,
            "resumes" => self.resumes = true,
            "forgets" => self.forgets = true,
            "lingers" => self.lingers = true,
            "session" => value.clone_into(&mut self.session),
            "modes" => self.modes = list(value),
            "mode-option" => self.mode_option = list(value),
            "models" => self.models = list(value),
            "usage" => self.usage = value.split(',').filter_map(|n| n.parse().ok()).collect(),
            "quota" => {
                let mut parts = value.splitn(3, ',');
                let (input, output) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
                self.quota = Some((input, output, parts.next()?.to_owned()));
            }
            "stop" => self.stop = Some(stop(value)?),
            _ => return Some(false),
        }
        Some(true)
    }
}

fn action(name: &str, value: &str) -> Option<AcpAction> {
    let text = || value.to_owned();
    let pair = || value.split_once(':').map(|(a, b)| (a.to_owned(), b.to_owned()));
    let tool = || value.split_once(':').and_then(|(k, title)| Some((kind(k)?, title.to_owned())));
    Some(match name {
        "say" => AcpAction::Say(text()),
        "message" => pair().map(|(id, text)| AcpAction::Message(id, text))?,
        "think" => AcpAction::Think(text()),
        "tool" => tool().map(|(kind, title)| AcpAction::Tool(kind, title))?,
        "announce" => tool().map(|(kind, title)| AcpAction::Announce(kind, title))?,
        "ask" => tool().map(|(kind, title)| AcpAction::Ask(kind, title))?,
        "ask-only-allow" => tool().map(|(kind, title)| AcpAction::AskOnlyAllow(kind, title))?,
        "ask-late" => tool().map(|(kind, title)| AcpAction::AskLate(kind, title))?,
        "read" => AcpAction::Read(text()),
        "write" => pair().map(|(path, text)| AcpAction::Write(path, text))?,
        "own-write" => pair().map(|(path, text)| AcpAction::OwnWrite(path, text))?,
        "run" => AcpAction::Run(text()),
        "leave" => AcpAction::Leave(text()),
        "hang" => AcpAction::Hang,
        "hang-hard" => AcpAction::HangHard,
        "crash" => AcpAction::Crash(value.parse().ok()?),
        "noise" => AcpAction::Noise(text()),
        "huge" => AcpAction::Huge(value.parse().ok()?),
        "long-line" => AcpAction::LongLine(value.parse().ok()?),
        "cost" => AcpAction::Cost(value.parse().ok()?),
        "unknown-update" => AcpAction::UnknownUpdate,
        "error" => {
            let (code, kind) = value.split_once(':').map_or((value, None), |(c, k)| (c, Some(k)));
            AcpAction::Error(code.parse().ok()?, kind.map(str::to_owned))
        }
        "when" => AcpAction::When(text()),
        "echo" => AcpAction::Echo,
        "circumstances" => AcpAction::Circumstances,
        _ => return None,
    })
}

fn list(value: &str) -> Vec<String> {
    value.split(',').map(str::to_owned).collect()
}

/// As the protocol spells it.
fn kind(word: &str) -> Option<ToolKind> {
    serde_json::from_value(word.into()).ok()
}

fn stop(word: &str) -> Option<StopReason> {
    serde_json::from_value(word.into()).ok()
}
