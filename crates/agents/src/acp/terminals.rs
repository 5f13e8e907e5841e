//! Terminals: commands that a worker asks us to run. They run as the agent itself does, in its folder, in its
//! sandbox, holding its lock, and end with the call.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, TerminalExitStatus, TerminalId, TerminalOutputResponse,
};
use tokio::io::AsyncReadExt;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::folder::{Below, CallFolders};
use super::serving::refusal;
use crate::launcher::{Command, Exit, Finished, LaunchError, Launcher, StdinSource, Talk};

/// How many an agent may have at once.
const MOST: usize = 16;
/// How much of the output's end is kept, unless the agent wants less.
const KEPT: usize = 1 << 20;
/// What is written beyond this ends the command.
const MAX_OUTPUT: usize = 256 << 20;

pub(super) struct Terminals {
    launcher: Arc<dyn Launcher>,
    /// The agent's own command: environment, sandbox and limits are its own.
    like: Command,
    folder: CallFolders,
    open: Mutex<OpenTerminals>,
}

#[derive(Default)]
struct OpenTerminals {
    made: u64,
    terminals: HashMap<TerminalId, Terminal>,
}

struct Terminal {
    screen: Arc<Mutex<TerminalOutput>>,
    ended: watch::Receiver<Option<TerminalExitStatus>>,
    stop: CancellationToken,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// A command's output, both streams in the order they came; the end of it if it is long.
struct TerminalOutput {
    bytes: VecDeque<u8>,
    most: usize,
    truncated: bool,
}

/// What goes on after a terminal was made: it must be polled.
pub(super) struct TerminalWork {
    talk: Talk,
    screen: Arc<Mutex<TerminalOutput>>,
    ended: watch::Sender<Option<TerminalExitStatus>>,
}

impl Terminals {
    pub fn new(launcher: Arc<dyn Launcher>, like: Command, folder: CallFolders) -> Self {
        Self { launcher, like, folder, open: Mutex::default() }
    }

    /// Starts a command. Whoever gets the work must see it through.
    pub async fn create(&self, asked: CreateTerminalRequest) -> Result<(TerminalId, TerminalWork), Error> {
        if self.open().terminals.len() >= MOST {
            return Err(refusal(&format!("there are {MOST} terminals already: release one first")));
        }
        let most = asked.output_byte_limit.and_then(|most| usize::try_from(most).ok());
        let command = self.command(asked)?;
        let stop = CancellationToken::new();
        let talk = self.launcher.talk(command, StdinSource::Given, stop.clone()).await;
        let talk = talk.map_err(|error| refusal(&error.to_string()))?;
        let most = most.map_or(KEPT, |most| most.min(KEPT));
        let screen = Arc::new(Mutex::new(TerminalOutput { bytes: VecDeque::new(), most, truncated: false }));
        let (ended, seen) = watch::channel(None);
        let mut open = self.open();
        open.made += 1;
        let id = TerminalId::new(format!("terminal-{}", open.made));
        let terminal = Terminal { screen: Arc::clone(&screen), ended: seen, stop };
        open.terminals.insert(id.clone(), terminal);
        Ok((id, TerminalWork { talk, screen, ended }))
    }

    /// Through a shell, for both streams in one, and because many agents send a whole line as the command.
    fn command(&self, asked: CreateTerminalRequest) -> Result<Command, Error> {
        let cwd = asked.cwd.as_deref().unwrap_or(&self.folder.root);
        let Some(Below::Folder(name)) = self.folder.find(cwd) else {
            return Err(refusal("a terminal works in the session's folder, not outside of it"));
        };
        let mut command = self.like.clone();
        command.cwd = Some(self.folder.root.join(name));
        "/bin/sh".clone_into(&mut command.program);
        command.stdin = Vec::new();
        command.max_output = MAX_OUTPUT;
        command.args = if asked.args.is_empty() {
            vec!["-c".into(), format!("exec 2>&1\n{}", asked.command)]
        } else {
            let through = ["-c", "exec 2>&1\nexec \"$@\"", "sh"].map(str::to_owned);
            through.into_iter().chain([asked.command]).chain(asked.args).collect()
        };
        for variable in asked.env {
            command.env.retain(|(name, _)| *name != variable.name);
            command.env.push((variable.name, variable.value));
        }
        Ok(command)
    }

    pub fn output(&self, id: &TerminalId) -> Result<TerminalOutputResponse, Error> {
        let open = self.open();
        let terminal = open.terminals.get(id).ok_or_else(|| unknown(id))?;
        let screen = terminal.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = terminal.ended.borrow().clone();
        Ok(TerminalOutputResponse::new(screen.text(), screen.truncated).exit_status(ended))
    }

    /// To wait on until the command has ended.
    pub fn ended(&self, id: &TerminalId) -> Result<watch::Receiver<Option<TerminalExitStatus>>, Error> {
        self.open().terminals.get(id).map(|terminal| terminal.ended.clone()).ok_or_else(|| unknown(id))
    }

    /// Ends the command; what it wrote can still be read.
    pub fn kill(&self, id: &TerminalId) -> Result<(), Error> {
        self.open().terminals.get(id).map(|terminal| terminal.stop.cancel()).ok_or_else(|| unknown(id))
    }

    pub fn release(&self, id: &TerminalId) -> Result<(), Error> {
        self.open().terminals.remove(id).map(drop).ok_or_else(|| unknown(id))
    }

    fn open(&self) -> MutexGuard<'_, OpenTerminals> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TerminalWork {
    /// Reads what the command writes until it has ended.
    pub async fn done(self) {
        let Self { mut talk, screen, ended } = self;
        let mut bytes = vec![0; 16 * 1024];
        loop {
            match talk.output.read(&mut bytes).await {
                Ok(0) | Err(_) => break,
                Ok(n) => {
                    let new = bytes.get(..n).unwrap_or_default();
                    screen.lock().unwrap_or_else(PoisonError::into_inner).add(new);
                }
            }
        }
        let status = status(&talk.end.await);
        let _ = ended.send(Some(status));
    }
}

impl TerminalOutput {
    fn add(&mut self, new: &[u8]) {
        let new = match new.len().checked_sub(self.most) {
            Some(over) if over > 0 => {
                self.truncated = true;
                new.get(over..).unwrap_or_default()
            }
            _ => new,
        };
        self.bytes.extend(new);
        let over = self.bytes.len().saturating_sub(self.most);
        if over > 0 {
            self.truncated = true;
            self.bytes.drain(..over);
        }
    }

    fn text(&self) -> String {
        let (a, b) = self.bytes.as_slices();
        let bytes = [a, b].concat();
        // The cut may have gone through a character.
        let from =
            if self.truncated { bytes.iter().take(3).take_while(|b| **b & 0xC0 == 0x80).count() } else { 0 };
        String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned()
    }
}

fn unknown(id: &TerminalId) -> Error {
    refusal(&format!("there is no terminal {}", id.0.chars().take(40).collect::<String>()))
}

fn status(end: &Result<Finished, LaunchError>) -> TerminalExitStatus {
    let none = TerminalExitStatus::new();
    match end.as_ref().map(|done| done.exit) {
        Ok(Exit::Code(code)) => none.exit_code(u32::try_from(code).ok()),
        Ok(Exit::Signal(signal)) => none.signal(format!("signal {signal}")),
        Ok(Exit::Cancelled) => none.signal("killed".to_owned()),
        Ok(Exit::TimedOut) => none.signal("out of time".to_owned()),
        Ok(Exit::Overflowed) => none.signal("too much output".to_owned()),
        Ok(Exit::TooMuchMemory) => none.signal("too much memory".to_owned()),
        Ok(Exit::TooManyProcesses) => none.signal("too many processes".to_owned()),
        Err(_) => none.signal("it could not be run".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use super::*;

    struct Nobody;

    impl Launcher for Nobody {
        fn launch(
            &self,
            command: Command,
            _cancel: CancellationToken,
        ) -> futures_util::future::BoxFuture<'_, Result<Finished, LaunchError>> {
            Box::pin(async move { Err(LaunchError::NotFound { program: command.program }) })
        }
    }

    fn terminals() -> Terminals {
        let folder = CallFolders { root: "/work/run".into(), tmp: None };
        let like = Command {
            program: "agent".into(),
            args: vec!["acp".into()],
            env: vec![("PATH".into(), "/bin".into())],
            sandbox: Some(crate::Sandbox::default()),
            ..Command::default()
        };
        Terminals::new(Arc::new(Nobody), like, folder)
    }

    #[test]
    fn a_command_runs_as_the_agent_does_in_its_folder_only() {
        let line = terminals().command(CreateTerminalRequest::new("s", "echo hi > x")).unwrap();
        assert_eq!(line.args, ["-c", "exec 2>&1\necho hi > x"]);
        assert_eq!(line.cwd.as_deref(), Some(Path::new("/work/run")));
        assert!(line.sandbox.is_some(), "a terminal is held by what holds the agent");
        let asked = CreateTerminalRequest::new("s", "ls").args(vec!["-l".into(), "a b".into()]);
        let plain = terminals().command(asked.cwd(Path::new("/work/run/src").to_owned())).unwrap();
        assert_eq!(plain.args, ["-c", "exec 2>&1\nexec \"$@\"", "sh", "ls", "-l", "a b"]);
        assert_eq!(plain.cwd.as_deref(), Some(Path::new("/work/run/src")));
        for outside in ["/", "/work", "/work/run/..", "/work/running", "../.."] {
            let asked = CreateTerminalRequest::new("s", "ls").cwd(Path::new(outside).to_owned());
            assert!(terminals().command(asked).is_err(), "{outside}");
        }
    }

    #[test]
    fn only_the_end_of_the_output_is_kept() {
        let mut screen = TerminalOutput { bytes: VecDeque::new(), most: 5, truncated: false };
        screen.add(b"abc");
        assert_eq!((screen.text().as_str(), screen.truncated), ("abc", false));
        screen.add(b"def");
        assert_eq!((screen.text().as_str(), screen.truncated), ("bcdef", true));
        screen.add("12é45".as_bytes());
        assert_eq!(screen.text(), "2é45");
        screen.add("é67".as_bytes());
        assert_eq!(screen.text(), "5é67");
        screen.add("xéyzw".as_bytes());
        assert_eq!(screen.text(), "éyzw");
        screen.add("q".as_bytes());
        assert_eq!(screen.text(), "yzwq", "half a character is left out");
    }
}
