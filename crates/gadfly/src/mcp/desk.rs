//! What all calls of one client share: the project, the runs this process drives, and room for so many calls at
//! once. Holds nothing about a run.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gadfly_engine::input::What;
use gadfly_engine::{EffectId, Start};
use gadfly_journal::{Journal, MailKind, OpenError, RunId, Summary};
use gadfly_project::{Config, Problem};
use rmcp::task_manager::TaskManager;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::allowing::Agreed;
use super::said::{Stopped, refused};
use super::wording;
use crate::background::Background;
use crate::cli::Global;
use crate::context::Context;
use crate::output::safe;

/// A client that asks for more at once is told to wait for answers.
const MOST_CALLS: usize = 32;
/// Configurations whose runs are waited for at the end; runs of even older ones are taken up later.
const MOST_BEFORE: usize = 8;
/// How many problems a refusal names.
const MOST_PROBLEMS: usize = 20;
/// Records that are read at once.
const PAGE: u32 = 256;

pub struct Desk {
    global: Global,
    /// What the user agreed to beforehand.
    pub agreed: Agreed,
    /// Made by the first call that needs it: a server that is merely started leaves nothing behind.
    open: Mutex<Option<Open>>,
    /// Held from the look whether a turn was answered to the posting of the answer.
    posting: Mutex<()>,
    room: Semaphore,
    pub tasks: TaskManager,
}

/// The runs of the project under one configuration.
struct Open {
    config: Config,
    now: Arc<Background>,
    /// Under earlier configurations; what they drive goes on.
    before: VecDeque<Arc<Background>>,
}

impl Desk {
    pub fn new(global: Global, agreed: Agreed) -> Arc<Self> {
        Arc::new(Self {
            global,
            agreed,
            open: Mutex::default(),
            posting: Mutex::default(),
            room: Semaphore::new(MOST_CALLS),
            tasks: TaskManager::new(),
        })
    }

    /// The project as it is now: its configuration may have been mended since the last call.
    pub fn context(&self) -> Context {
        Context::read(self.global.clone())
    }

    pub fn room(&self) -> Result<SemaphorePermit<'_>, Stopped> {
        self.room.try_acquire().map_err(|_| {
            refused(format!("{MOST_CALLS} calls are under way already: wait for one to be answered"))
        })
    }

    /// The runs of this project; its store is made if there is none. A configuration that was mended counts from now
    /// on, also for runs that are taken up; a broken one does not.
    pub fn opened(&self, context: &Context) -> Result<Arc<Background>, Stopped> {
        let mut open = locked(&self.open);
        let is_broken = context.problems.iter().any(Problem::is_error);
        if let Some(open) = open.as_ref().filter(|open| is_broken || open.config == context.config) {
            return Ok(Arc::clone(&open.now));
        }
        let gadfly = context.setup().open(&context.store()).map_err(|e| refused(e.to_string()))?;
        let now = Background::new(gadfly);
        let mut before = VecDeque::new();
        if let Some(old) = open.take() {
            before = old.before;
            before.push_back(old.now);
            if before.len() > MOST_BEFORE {
                before.pop_front();
            }
        }
        *open = Some(Open { config: context.config.clone(), now: Arc::clone(&now), before });
        Ok(now)
    }

    /// The runs of this project, if it has any.
    pub fn if_any(&self) -> Result<Option<Arc<Background>>, Stopped> {
        let context = self.context();
        if locked(&self.open).is_none()
            && let Err(why) = Journal::open_existing(&context.store())
        {
            return match why {
                OpenError::Missing(_) => Ok(None),
                other => Err(refused(other.to_string())),
            };
        }
        self.opened(&context).map(Some)
    }

    /// As [`Desk::if_any`], for what needs a run.
    pub fn existing(&self) -> Result<Arc<Background>, Stopped> {
        self.if_any()?.ok_or_else(|| refused("there are no runs here yet: begin with start_loop"))
    }

    /// The run a client means by an id or its beginning.
    pub fn run(&self, typed: &str) -> Result<(Arc<Background>, RunId), Stopped> {
        let background = self.existing()?;
        let run =
            background.gadfly().journal().find(typed).map_err(|e| {
                refused(format!("{}; list_runs has the ids", safe::line(&e.to_string(), 300)))
            })?;
        Ok((background, run))
    }

    pub fn posting(&self) -> MutexGuard<'_, ()> {
        locked(&self.posting)
    }

    /// Lets paid replies in flight come in, briefly; everything else can be taken up again.
    pub async fn close(&self) {
        self.tasks.shutdown();
        let open = locked(&self.open).take();
        let all = open.into_iter().flat_map(|open| open.before.into_iter().chain([open.now]));
        let closing = all.map(|background| async move { background.close().await });
        futures_util::future::join_all(closing).await;
    }
}

/// How a run stands, in a line's worth of facts.
pub fn summary(background: &Background, run: &RunId) -> Result<Summary, Stopped> {
    background.gadfly().journal().summary(run).map_err(|e| refused(e.to_string()))
}

/// Whether an answer lies in the inbox that nobody has read yet: to this turn, or to any.
pub fn is_answered(background: &Background, run: &RunId, to: Option<&EffectId>) -> Result<bool, Stopped> {
    let mail = background.gadfly().journal().mail(run).map_err(|e| refused(e.to_string()))?;
    Ok(mail.iter().any(|(_, mail)| match &mail.what {
        MailKind::Answer { effect, .. } => to.is_none_or(|to| to == effect),
        MailKind::Pause | MailKind::Cancel | MailKind::Steer { .. } => false,
    }))
}

/// What a run was started with.
pub fn start(background: &Background, run: &RunId) -> Result<Start, Stopped> {
    let records = background.gadfly().journal().records(run, 0, 1).map_err(|e| refused(e.to_string()))?;
    match records.into_iter().next().map(|record| record.input.what) {
        Some(What::Started(start)) => Ok(*start),
        _ => Err(refused(format!("run `{run}` has no beginning"))),
    }
}

/// Goes through everything a run took in, in order and without its texts.
pub fn each_input(background: &Background, run: &RunId, mut look: impl FnMut(&What)) -> Result<(), Stopped> {
    let mut from = 0;
    loop {
        let page = background.gadfly().journal().records_without_texts(run, from, PAGE);
        let page = page.map_err(|e| refused(e.to_string()))?;
        for record in &page {
            look(&record.input.what);
        }
        match page.last() {
            Some(last) if page.len() >= PAGE as usize => from = last.seq.saturating_add(1),
            _ => return Ok(()),
        }
    }
}

/// Problems of a configuration or a request, as one text.
pub fn told(problems: &[Problem]) -> Stopped {
    let wrong = problems.iter().filter(|problem| problem.is_error());
    let mut lines: Vec<String> = wrong.clone().take(MOST_PROBLEMS).map(one).collect();
    let more = wrong.count().saturating_sub(MOST_PROBLEMS);
    if more > 0 {
        lines.push(format!("and {more} more: `gadfly check` has all"));
    }
    refused(lines.join("\n"))
}

fn one(problem: &Problem) -> String {
    let place = problem.at.as_ref().map(|at| format!("{at}: ")).unwrap_or_default();
    let help = problem.help.as_ref().map(|help| format!(" ({help})")).unwrap_or_default();
    wording::for_model(&format!("{place}{}{help}", problem.message))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
