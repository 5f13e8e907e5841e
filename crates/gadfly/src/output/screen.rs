//! The view on a thread of its own: a reader that is slow or stuck holds up that thread and not the run.

use std::thread;

use gadfly_journal::{Record, RunId};
use gadfly_runtime::Update;
use tokio::sync::mpsc::error::{SendError, TrySendError};
use tokio::sync::mpsc::{self, Permit};
use tokio::sync::oneshot;

use super::view::View;

/// What may wait to be shown.
const QUEUE: usize = 64;

/// Something to be shown.
pub enum ScreenItem {
    Update(Update),
    /// Lines that stay.
    Lines(Vec<String>),
    Frame,
}

pub struct Screen {
    queue: mpsc::Sender<ScreenItem>,
    shown: oneshot::Receiver<()>,
    is_live: bool,
}

impl Screen {
    /// `earlier` are records that were shown before, of a run that goes on.
    pub fn new(run: RunId, json: bool, earlier: impl Iterator<Item = Record>) -> Self {
        let mut view = View::new(run, json);
        earlier.filter(|_| !json).for_each(|record| view.remember(&record));
        let is_live = view.is_live();
        let (queue, waiting) = mpsc::channel(QUEUE);
        let (tell, shown) = oneshot::channel();
        // Without the thread nothing is shown, which is no reason not to run.
        let _ = thread::Builder::new().name("gadfly-screen".into()).spawn(move || {
            show(view, waiting);
            let _ = tell.send(());
        });
        Self { queue, shown, is_live }
    }

    /// Whether there is something to redraw from time to time.
    pub const fn is_live(&self) -> bool {
        self.is_live
    }

    /// Shows it if there is room; else gives it back.
    pub fn offer(&self, what: ScreenItem) -> Option<ScreenItem> {
        match self.queue.try_send(what) {
            Err(TrySendError::Full(back)) => Some(back),
            Ok(()) | Err(TrySendError::Closed(_)) => None,
        }
    }

    /// Waits for room.
    pub async fn room(&self) -> Result<Permit<'_, ScreenItem>, SendError<()>> {
        self.queue.reserve().await
    }

    /// A line that stays. With a reader that is stuck it is lost.
    pub fn say(&self, line: &str) {
        let _ = self.offer(ScreenItem::Lines(vec![line.to_owned()]));
    }

    /// Shows what is left and waits until all of it was taken.
    pub async fn close(self, rest: impl Iterator<Item = ScreenItem>) {
        for what in rest {
            let _ = self.queue.send(what).await;
        }
        drop(self.queue);
        let _ = self.shown.await;
    }
}

fn show(mut view: View, mut waiting: mpsc::Receiver<ScreenItem>) {
    while let Some(what) = waiting.blocking_recv() {
        match what {
            // A reader that went away does not stop a run.
            ScreenItem::Update(update) => drop(view.update(&update)),
            ScreenItem::Lines(lines) => lines.iter().for_each(|line| view.say(line)),
            ScreenItem::Frame => view.tick(),
        }
    }
    view.close();
}
