//! Does what a model asked for, or what tells whether a goal is reached: commands, files, pages, servers.
//!
//! The engine has read and judged the call; here its action is carried out, each in its bounds: a command in the sandbox
//! of a worker, a file below the run's folder and never through a link, an output of any length. An action that
//! cannot be done is a result like any other and says why; an effect fails only if there is no folder to work in.
//! It journals nothing and decides nothing.

pub(crate) mod area;
mod changing;
pub(crate) mod confined;
mod finding;
mod inside;
mod kept;
mod picture;
mod processes;
mod reading;
mod remote;
mod running;
mod walk;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gadfly_engine::tool::{Process, SHOWN, ToolAction, ToolDone, ToolEnd, ToolUse};
use gadfly_engine::{Digest, EffectId, Observation, Reply, Text};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::folder::{Folder, FolderError, Inside};
use crate::perform::{Back, Incoming};
use crate::process_env::ProcessEnv;
use crate::sandbox;
use area::Area;
use changing::TextEdit;
use kept::{KeptOutput, Outputs};
use processes::Processes;
use reading::LineWindow;
use remote::Remote;
use running::NotRun;
use walk::WalkStop;

/// How long a folder may take to be entered: the first to do so may have to make it.
const ENTERING: Duration = Duration::from_mins(20);
/// How long after its limit an action is given to end by itself: ending all of a command's processes takes a while.
const GRACE: Duration = Duration::from_secs(12);
const AHEAD: usize = 16;

/// The tools of one run, as long as it is driven.
pub struct Tools {
    outputs: Outputs,
    /// The home and the temporary files of the run's commands.
    own: PathBuf,
    remote: Remote,
    /// What holds commands was said.
    introduced: AtomicBool,
    processes: Processes,
}

impl Tools {
    /// `home` is the run's own directory. Nothing is started yet; without means no server ever is.
    pub fn new(home: &Path, process_env: Option<&ProcessEnv>) -> Self {
        Self {
            outputs: Outputs::at(home.join("outputs")),
            own: home.join("work").join("commands"),
            remote: Remote::new(process_env),
            introduced: AtomicBool::new(false),
            processes: Processes::default(),
        }
    }

    /// Ends the servers and processes that were started.
    pub async fn close(&self) {
        self.processes.close().await;
        self.remote.close().await;
    }
}

/// What there is to see.
enum ToolView {
    /// As much as fits; the rest is kept.
    Cut(KeptOutput),
    /// All of it: a picture, or what only the engine reads.
    Whole(String),
}

/// The result of an action; an error is a sentence for the model.
type ActionOutcome = Result<(ToolEnd, ToolView), String>;

fn done(text: Result<String, String>) -> ActionOutcome {
    text.map(|text| (ToolEnd::Done, ToolView::Cut(KeptOutput::text(text))))
}

/// An action, ready to be performed on a task of its own.
pub struct ToolTask {
    pub effect: EffectId,
    pub wanted: ToolUse,
    pub time_ms: Option<u64>,
    /// The texts that the action names.
    pub texts: Vec<(Digest, Arc<str>)>,
    pub tools: Arc<Tools>,
    /// The run's folder, or why there is none.
    pub folder: Result<Arc<Folder>, String>,
    pub cancel: CancellationToken,
    pub incoming: Back,
}

impl ToolTask {
    pub async fn run(self) {
        let began = Instant::now();
        // Dropped, it ends the programs it started; whoever enters the folder next waits for that.
        let came = tokio::select! {
            came = self.perform() => came,
            () = self.cancel.cancelled() => Err(FolderError::Cancelled),
        };
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (reply, texts) = match came {
            Ok(came) => {
                let (done, shown) = self.reply(came, took_ms).await;
                (Reply::Tool(done), vec![shown])
            }
            Err(error) => (error.reply(), Vec::new()),
        };
        self.incoming.send(Incoming::Replied { effect: self.effect, reply, texts }).await;
    }

    async fn reply(&self, came: ActionOutcome, took_ms: u64) -> (ToolDone, Text) {
        let (tools, number) = (Arc::clone(&self.tools), self.wanted.keep_as);
        let (end, shown, bytes) = match came {
            Ok((end, ToolView::Whole(text))) => {
                let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
                (end, text, bytes)
            }
            Ok((end, ToolView::Cut(output))) => {
                let shown = tokio::task::spawn_blocking(move || output.show(&tools.outputs, number)).await;
                let (shown, bytes) = shown.unwrap_or_default();
                (end, shown, bytes)
            }
            Err(mut why) => {
                why.truncate(why.floor_char_boundary(SHOWN));
                let bytes = u64::try_from(why.len()).unwrap_or(u64::MAX);
                (ToolEnd::Error, why, bytes)
            }
        };
        let shown = Text::new(shown);
        (ToolDone { end, shown: shown.digest(), bytes, took_ms }, shown)
    }

    async fn observe(&self, observation: Observation) {
        self.incoming.send(Incoming::Observed { effect: self.effect.clone(), observation }).await;
    }

    async fn perform(&self) -> Result<ActionOutcome, FolderError> {
        let inside = match &self.folder {
            _ if !self.needs_the_folder() => None,
            Ok(folder) => Some((Arc::clone(folder), self.enter(folder).await?)),
            Err(why) => return Err(FolderError::Command(why.clone())),
        };
        let time = Duration::from_millis(self.wanted.action.time_ms().min(self.time_ms.unwrap_or(u64::MAX)));
        let doing = tokio::time::timeout(time.saturating_add(GRACE), self.carry_out(inside, time));
        doing.await.unwrap_or_else(|_| {
            Ok(Err(format!("it did not end within its time of {} s", time.as_secs_f64())))
        })
    }

    /// What is done elsewhere, or at a place outside that a person named, needs no folder.
    fn needs_the_folder(&self) -> bool {
        let ToolUse { action, begin, beyond, .. } = &self.wanted;
        begin.is_some()
            || match action {
                // Asked from within the run's own network, it is a command.
                ToolAction::FetchUrl { url } => self.is_asked_inside(url),
                ToolAction::Mcp { .. } | ToolAction::McpTools { .. } => false,
                ToolAction::Process(process) => matches!(process, Process::Start { .. }),
                ToolAction::RunCommand { .. } | ToolAction::Screenshot { .. } => true,
                ToolAction::ReadFile { path, .. } => !beyond && Outputs::number(path).is_none(),
                ToolAction::WriteFile { .. }
                | ToolAction::EditFile { .. }
                | ToolAction::ListFiles { .. }
                | ToolAction::SearchFiles { .. } => !beyond,
            }
    }

    async fn enter(&self, folder: &Folder) -> Result<Inside, FolderError> {
        let (observe, mut observed) = mpsc::channel(AHEAD);
        let tell = move |line: String| {
            let _ = observe.try_send(Observation::Note { line });
        };
        let entering = async {
            let inside = folder.enter_or_make(&tell).await?;
            let Some(begin) = &self.wanted.begin else { return Ok(inside) };
            drop(inside);
            folder.restored(begin).await
        };
        let entered = tokio::time::timeout(ENTERING, entering).await;
        drop(tell);
        while let Ok(observation) = observed.try_recv() {
            self.observe(observation).await;
        }
        entered.unwrap_or(Err(FolderError::Busy))
    }

    async fn carry_out(
        &self,
        inside: Option<(Arc<Folder>, Inside)>,
        time: Duration,
    ) -> Result<ActionOutcome, FolderError> {
        let remote = &self.tools.remote;
        match &self.wanted.action {
            ToolAction::FetchUrl { url } if self.is_asked_inside(url) => {
                self.ask_inside(inside, url, time).await
            }
            ToolAction::FetchUrl { url } if self.wanted.whole => {
                Ok(remote.page(url, time, &self.cancel).await)
            }
            ToolAction::FetchUrl { url } => Ok(remote.fetch(url, time, &self.cancel).await),
            ToolAction::Mcp { server, tool, args } => Ok(match text(&self.texts, args) {
                Ok(args) => remote.call(server, tool, &args, time, &self.cancel).await,
                Err(why) => Err(why),
            }),
            ToolAction::McpTools { servers } => Ok(match remote.offers(servers).await {
                Ok((offered, notes)) => {
                    for line in notes {
                        self.observe(Observation::Note { line }).await;
                    }
                    Ok((ToolEnd::Done, offered))
                }
                Err(why) => Err(why),
            }),
            ToolAction::RunCommand { line, .. } => self.command(inside, line, None, time).await,
            ToolAction::Process(process) => self.process(inside, process).await,
            ToolAction::Screenshot { line, file, .. } => self.command(inside, line, Some(file), time).await,
            ToolAction::ReadFile { .. }
            | ToolAction::WriteFile { .. }
            | ToolAction::EditFile { .. }
            | ToolAction::ListFiles { .. }
            | ToolAction::SearchFiles { .. } => Ok(self.files(inside, time).await),
        }
    }

    async fn command(
        &self,
        inside: Option<(Arc<Folder>, Inside)>,
        line: &str,
        picture: Option<&str>,
        time: Duration,
    ) -> Result<ActionOutcome, FolderError> {
        let Some((folder, inside)) = inside else { return Ok(Err("there is no folder for it".to_owned())) };
        let dir = inside.workspace.dir();
        let network = sandbox::network(self.wanted.network, false);
        // Whatever was put in its place, it must be the folder.
        let area = match folder.area(&inside) {
            Ok(area) => area,
            Err(why) => return Ok(Err(why)),
        };
        let confined = if self.wanted.beyond {
            folder.unconfined(&inside)
        } else {
            folder.confined(&inside, &self.tools.own, network)?
        };
        if self.wanted.beyond || !self.tools.introduced.swap(true, Ordering::Relaxed) {
            for observation in confined.said() {
                self.observe(observation).await;
            }
        }
        let before = picture.map(|file| picture::before(&area, file));
        let ran = running::run(&*folder.launcher(), line, &dir, confined, time, &self.cancel).await;
        let ran = match ran {
            Ok(ran) => ran,
            Err(NotRun::Cancelled) => return Err(FolderError::Cancelled),
            Err(why @ NotRun::Failed(_)) => return Ok(Err(why.to_string())),
        };
        let is_good = ran.end == gadfly_engine::tree::RunEnd::Code(0);
        if let (Some(file), Some(before), true) = (picture, before, is_good) {
            let file = file.to_owned();
            return Ok(blocking(move || {
                let _held = inside;
                picture::bring(&area, &file, before).map(|base64| (ToolEnd::Done, ToolView::Whole(base64)))
            })
            .await);
        }
        Ok(Ok((ToolEnd::Ran(ran.end), ToolView::Cut(ran.output))))
    }

    /// The folder is held until the last byte is written, even if nobody waits for it any more.
    async fn files(&self, inside: Option<(Arc<Folder>, Inside)>, time: Duration) -> ActionOutcome {
        let stop = WalkStop { until: Instant::now() + time, cancel: self.cancel.clone() };
        let ToolUse { action, beyond, whole, .. } = self.wanted.clone();
        let (texts, tools) = (self.texts.clone(), Arc::clone(&self.tools));
        blocking(move || {
            let area = match &inside {
                _ if beyond => Area::Beyond,
                Some((folder, inside)) => folder.area(inside)?,
                None => Area::Beyond,
            };
            match &action {
                ToolAction::ReadFile { path, .. } if whole => {
                    let said = |why| format!("`{}`: {why}", area::clipped(path));
                    let file = area.spot(path, false)?.open().map_err(said)?;
                    reading::whole(file).map_err(said).map(|text| (ToolEnd::Done, ToolView::Whole(text)))
                }
                action => done(with_files(action, &area, &texts, &tools.outputs, &stop)),
            }
        })
        .await
    }
}

async fn blocking(work: impl FnOnce() -> ActionOutcome + Send + 'static) -> ActionOutcome {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|e| Err(format!("it was broken off: {e}")))
}

fn text(texts: &[(Digest, Arc<str>)], digest: &Digest) -> Result<Arc<str>, String> {
    let known = texts.iter().find(|(known, _)| known == digest).map(|(_, text)| Arc::clone(text));
    known.ok_or_else(|| "the text for it is not in memory".to_owned())
}

fn with_files(
    action: &ToolAction,
    area: &Area,
    texts: &[(Digest, Arc<str>)],
    outputs: &Outputs,
    stop: &WalkStop,
) -> Result<String, String> {
    let text = |digest| text(texts, digest);
    match action {
        ToolAction::ReadFile { path, from, lines } => {
            let window = LineWindow { from: *from, lines: *lines };
            if let Some(number) = Outputs::number(path) {
                return reading::read(outputs.open(number?)?, window, true, stop);
            }
            let said = |why| format!("`{}`: {why}", area::clipped(path));
            let file = area.spot(path, false)?.open().map_err(said)?;
            reading::read(file, window, false, stop).map_err(said)
        }
        ToolAction::WriteFile { path, content } => changing::write(area, path, &text(content)?),
        ToolAction::EditFile { path, old, new, all } => {
            let (old, new) = (text(old)?, text(new)?);
            changing::edit(area, path, TextEdit { old: &old, new: &new, all: *all })
        }
        ToolAction::ListFiles { path } => finding::list(area, path, stop),
        ToolAction::SearchFiles { pattern, path } => finding::search(area, pattern, path, stop),
        other => Err(format!("{} has nothing to do with files", other.tool())),
    }
}
