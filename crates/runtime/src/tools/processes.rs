//! What stays up beside a worker's commands: servers, watchers. Each has a name, a bounded log, the sandbox of a command and
//! the run's own network. They end when they are stopped, when the run is not driven any more, and with this program.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gadfly_agents::launcher::{Exit, Launcher, StdinSource, Talk};
use tokio::io::AsyncReadExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::confined::{Confined, OutputSink};

/// How many may be up at once, and be remembered.
const MOST: usize = 8;
const REMEMBERED: usize = 32;
/// The most of a log that is kept: its end.
const LOG: usize = 256 << 10;
/// How long one is watched for an end right after its start.
const FIRST: Duration = Duration::from_millis(700);
/// How long one that is stopped may take to be gone.
const ENDING: Duration = Duration::from_secs(12);
const CHUNK: usize = 16 << 10;

/// The processes of one run, as long as it is driven.
#[derive(Default)]
pub struct Processes(Mutex<BTreeMap<String, HeldProcess>>);

#[derive(Clone)]
struct HeldProcess {
    line: String,
    stop: CancellationToken,
    log: Arc<Mutex<VecDeque<u8>>>,
    /// How it ended, once it has.
    ended: watch::Receiver<Option<String>>,
}

impl HeldProcess {
    fn is_up(&self) -> bool {
        self.ended.borrow().is_none()
    }

    fn standing(&self) -> String {
        self.ended.borrow().clone().unwrap_or_else(|| "running".to_owned())
    }

    fn log(&self) -> String {
        let log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&log.iter().copied().collect::<Vec<u8>>()).into_owned()
    }
}

impl Processes {
    /// Starts one. It fails if it ends at once.
    pub async fn start(
        &self,
        launcher: &dyn Launcher,
        (name, line): (&str, &str),
        dir: &Path,
        confined: Confined,
    ) -> Result<String, String> {
        self.may_start(name)?;
        let command = confined.shell(line, dir, None, OutputSink::Read);
        let stop = CancellationToken::new();
        let talk =
            launcher.talk(command, StdinSource::Given, stop.clone()).await.map_err(|e| e.to_string())?;
        let log = Arc::new(Mutex::new(VecDeque::new()));
        let (tell, ended) = watch::channel(None);
        tokio::spawn(attend(talk, Arc::clone(&log), tell));
        let mut held = HeldProcess { line: line.to_owned(), stop, log, ended };
        self.all().insert(name.to_owned(), held.clone());
        let _ = tokio::time::timeout(FIRST, held.ended.wait_for(Option::is_some)).await;
        if held.is_up() {
            let how = "it stays up until it is stopped or the goal ends";
            return Ok(format!("`{name}` is running; {how}. Its log: read_process_log."));
        }
        Err(format!("`{name}` ended at once, {}. Its log:\n{}", held.standing(), held.log()))
    }

    fn may_start(&self, name: &str) -> Result<(), String> {
        let mut all = self.all();
        if all.get(name).is_some_and(HeldProcess::is_up) {
            return Err(format!("`{name}` is running already: stop it first, or choose another name"));
        }
        if all.values().filter(|held| held.is_up()).count() >= MOST {
            return Err(format!("{MOST} processes are running, and more are not possible: stop one first"));
        }
        if all.len() >= REMEMBERED {
            all.retain(|_, held| held.is_up());
        }
        Ok(())
    }

    pub fn list(&self) -> String {
        let all = self.all();
        if all.is_empty() {
            return "no process was started".to_owned();
        }
        let line =
            |(name, held): (&String, &HeldProcess)| format!("{name}  {}  {}", held.standing(), held.line);
        all.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    pub fn log(&self, name: &str) -> Result<String, String> {
        let held = self.named(name)?;
        let log = held.log();
        let log = if log.is_empty() { "(it wrote nothing yet)".to_owned() } else { log };
        Ok(format!("`{name}`: {}\n{log}", held.standing()))
    }

    pub async fn stop(&self, name: &str) -> Result<String, String> {
        let mut held = self.named(name)?;
        if !held.is_up() {
            return Ok(format!("`{name}` had ended: {}", held.standing()));
        }
        held.stop.cancel();
        let _ = tokio::time::timeout(ENDING, held.ended.wait_for(Option::is_some)).await;
        if held.is_up() { Err(format!("`{name}` does not end")) } else { Ok(format!("`{name}` is stopped")) }
    }

    /// Nobody drives the run any more.
    pub async fn close(&self) {
        let names: Vec<String> = self.all().keys().cloned().collect();
        for name in &names {
            if let Some(held) = self.all().get(name) {
                held.stop.cancel();
            }
        }
        for name in names {
            let _ = self.stop(&name).await;
        }
    }

    fn named(&self, name: &str) -> Result<HeldProcess, String> {
        let all = self.all();
        all.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = all.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none was started".to_owned() } else { known.join(", ") };
            format!("there is no process `{name}` ({known}); after a restart of Gadfly all are gone")
        })
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, HeldProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads its output until it ends. Dropped with this program, it ends the process.
async fn attend(talk: Talk, log: Arc<Mutex<VecDeque<u8>>>, tell: watch::Sender<Option<String>>) {
    let Talk { input: _, output: mut said, end } = talk;
    let mut chunk = vec![0_u8; CHUNK];
    while let Ok(read @ 1..) = said.read(&mut chunk).await {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        log.extend(chunk.get(..read).unwrap_or_default());
        let over = log.len().saturating_sub(LOG);
        log.drain(..over);
    }
    let how = match end.await {
        Ok(done) => match done.exit {
            Exit::Code(code) => format!("ended with exit code {code}"),
            Exit::Signal(signal) => format!("ended by signal {signal}"),
            Exit::TooMuchMemory => "stopped: it used too much memory".to_owned(),
            Exit::TooManyProcesses => "stopped: it had too many processes".to_owned(),
            Exit::Cancelled | Exit::TimedOut | Exit::Overflowed => "stopped".to_owned(),
        },
        Err(why) => format!("could not be started: {why}"),
    };
    tell.send_replace(Some(how));
}
