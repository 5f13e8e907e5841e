//! What all runs of this process share: the journal, and one watcher that carries mail to the runs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use gadfly_journal::{Delivery, Journal, RunId};
use tokio::sync::mpsc;

/// How often the inbox is looked at: one question, however many runs there are.
const POLL: Duration = Duration::from_millis(100);
/// Mail a run may have waiting in memory; the rest stays in the inbox and comes with a later look.
const MAILBOX: usize = 16;

pub struct Host {
    journal: Journal,
    mailboxes: Mutex<HashMap<RunId, mpsc::Sender<Box<Delivery>>>>,
}

impl Host {
    /// Starts the watcher; it ends when the host is dropped.
    pub fn new(journal: Journal) -> std::io::Result<Arc<Self>> {
        let host = Arc::new(Self { journal, mailboxes: Mutex::default() });
        let watched = Arc::downgrade(&host);
        std::thread::Builder::new().name("gadfly-inbox".into()).spawn(move || watch(&watched))?;
        Ok(host)
    }

    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Opens the mailbox of a run that is about to be driven here.
    pub fn mailbox(&self, run: &RunId) -> mpsc::Receiver<Box<Delivery>> {
        let (tell, told) = mpsc::channel(MAILBOX);
        self.boxes().insert(run.clone(), tell);
        told
    }

    pub fn close_mailbox(&self, run: &RunId) {
        self.boxes().remove(run);
    }

    fn boxes(&self) -> std::sync::MutexGuard<'_, HashMap<RunId, mpsc::Sender<Box<Delivery>>>> {
        self.mailboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) {
        if self.boxes().is_empty() {
            return;
        }
        // A failing read is tried again at the next look; the mail stays where it is.
        let Ok(Some(found)) = self.journal.poll_mail() else { return };
        let boxes = self.boxes();
        for delivery in found {
            if let Some(mailbox) = boxes.get(&delivery.run) {
                let _ = mailbox.try_send(Box::new(delivery));
            }
        }
    }
}

fn watch(host: &Weak<Host>) {
    while let Some(host) = host.upgrade() {
        host.look();
        drop(host);
        std::thread::sleep(POLL);
    }
}
