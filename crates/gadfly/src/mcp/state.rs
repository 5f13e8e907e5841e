//! What all calls of one client share: the project, the runs this process drives, and room for so many calls at
//! once. Holds nothing about a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gadfly_engine::{EffectId, Start};
use gadfly_journal::{MailKind, OpenError, RunId, Summary};
use gadfly_project::Problem;
use gadfly_runtime::setup::Setup;
use rmcp::task_manager::TaskManager;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::approval::Agreed;
use super::arguments::named;
use super::reply::{ToolError, refused};
use crate::background::Background;
use crate::cli::Global;
use crate::context::Context;
use crate::output::safe;

/// A client that asks for more at once is told to wait for answers.
const MOST_CALLS: usize = 32;
/// How many problems a refusal names.
const MOST_PROBLEMS: usize = 20;

pub struct ServerState {
    global: Global,
    /// What the user agreed to beforehand.
    pub agreed: Agreed,
    /// Made by the first call that needs it: a server that is merely started leaves nothing behind.
    open: Mutex<Option<Arc<Background>>>,
    /// What all configurations of this process share.
    origin: Setup,
    room: Semaphore,
    pub tasks: TaskManager,
}

impl ServerState {
    pub fn new(global: Global, agreed: Agreed) -> Arc<Self> {
        let origin = Context::read(global.clone()).setup();
        Arc::new(Self {
            global,
            agreed,
            open: Mutex::default(),
            origin,
            room: Semaphore::new(MOST_CALLS),
            tasks: TaskManager::new(),
        })
    }

    /// The project as it is now: its configuration may have been mended since the last call.
    pub fn context(&self) -> Context {
        Context::read(self.global.clone())
    }

    pub fn room(&self) -> Result<SemaphorePermit<'_>, ToolError> {
        self.room.try_acquire().map_err(|_| {
            refused(format!("{MOST_CALLS} calls are under way already: wait for one to be answered"))
        })
    }

    /// What makes plans, as the project is configured now.
    pub fn setup(&self, context: &Context) -> Setup {
        context.setup().beside(&self.origin)
    }

    /// The runs of this project; its store is made if there is none.
    pub fn opened(&self, context: &Context) -> Result<Arc<Background>, ToolError> {
        let mut open = locked(&self.open);
        // One that is not the user's can have become theirs since: by `gadfly own`.
        if let Some(open) = open.as_ref().filter(|open| foreign(open).is_none()) {
            return Ok(Arc::clone(open));
        }
        let gadfly = self.setup(context).open(&context.store()).map_err(|e| refused(e.to_string()))?;
        Ok(Arc::clone(open.insert(Background::new(gadfly))))
    }

    /// The runs of this project, if it has any.
    pub fn if_any(&self) -> Result<Option<Arc<Background>>, ToolError> {
        let context = self.context();
        if locked(&self.open).is_none()
            && let Err(why) = context.existing()
        {
            return match why {
                OpenError::Missing(_) => Ok(None),
                other => Err(refused(other.to_string())),
            };
        }
        self.opened(&context).map(Some)
    }

    /// As [`ServerState::if_any`], for what needs a run.
    pub fn existing(&self) -> Result<Arc<Background>, ToolError> {
        self.if_any()?.ok_or_else(|| refused("there are no runs here yet: begin with start_loop"))
    }

    /// The run a client means by an id or its beginning.
    pub fn run(&self, typed: &str) -> Result<(Arc<Background>, RunId), ToolError> {
        let background = self.existing()?;
        let run =
            background.gadfly().journal().find(typed).map_err(|e| {
                refused(format!("{}; list_runs has the ids", safe::line(&e.to_string(), 300)))
            })?;
        Ok((background, run))
    }

    /// Lets paid replies in flight come in, briefly; everything else can be taken up again.
    pub async fn close(&self) {
        self.tasks.shutdown();
        let open = locked(&self.open).take();
        if let Some(background) = open {
            background.close().await;
        }
    }
}

/// Why nothing in this store counts, if it is not the user's on this machine, and what they can do.
pub fn foreign(background: &Background) -> Option<String> {
    background.gadfly().journal().foreign().map(ToString::to_string)
}

/// How a run stands, in a line's worth of facts.
pub fn summary(background: &Background, run: &RunId) -> Result<Summary, ToolError> {
    background.gadfly().journal().summary(run).map_err(|e| refused(e.to_string()))
}

/// Whether an answer lies in the inbox that nobody has read yet: to this turn, or to any.
pub fn is_answered(background: &Background, run: &RunId, to: Option<&EffectId>) -> Result<bool, ToolError> {
    let mail = background.gadfly().journal().mail(run).map_err(|e| refused(e.to_string()))?;
    Ok(mail.iter().any(|(_, mail)| match &mail.what {
        MailKind::Answer { effect, .. } => to.is_none_or(|to| to == effect),
        MailKind::Pause | MailKind::Cancel | MailKind::Steer { .. } => false,
    }))
}

/// What a run was started with.
pub fn start(background: &Background, run: &RunId) -> Result<Start, ToolError> {
    background.gadfly().journal().start(run).map_err(|e| refused(e.to_string()))
}

/// Problems of a configuration or a request, as one text.
pub fn told(problems: &[Problem]) -> ToolError {
    let wrong = problems.iter().filter(|problem| problem.is_error());
    let mut lines: Vec<String> = wrong.clone().take(MOST_PROBLEMS).map(one).collect();
    let more = wrong.count().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        lines.push(format!("and {more} more: `gadfly check` has all"));
    }
    refused(lines.join("\n"))
}

fn one(problem: &Problem) -> String {
    let problem = problem.clone().in_words_of(named);
    let place = problem.at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default();
    let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{place}{}{help}", problem.message)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
