//! Runs as they stand, and one run record by record: what is recorded first, then what comes.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::{self, Stream};
use gadfly_journal::{Journal, ListFilter, ReadError, Record, RunId, Summary};

use super::Gadfly;

const POLL: Duration = Duration::from_millis(100);
const PAGE: u32 = 64;

impl Gadfly {
    /// The runs of this store and how each stands, the newest first.
    pub fn runs(&self, filter: &ListFilter) -> Result<Vec<Summary>, ReadError> {
        self.journal().list(filter)
    }

    /// The records of a run, from the first, as they become durable, whichever process drives the run. The stream ends when
    /// the run has ended, or nobody drives it any more; an error is its last item.
    pub fn follow(&self, run: &RunId) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        let state = RunFollower {
            journal: self.journal().clone(),
            run: run.clone(),
            next: 0,
            page: VecDeque::new(),
            is_over: false,
        };
        stream::unfold(state, |mut state| async move {
            let item = state.next().await?;
            state.is_over |= item.is_err();
            Some((item, state))
        })
    }
}

struct RunFollower {
    journal: Journal,
    run: RunId,
    next: u32,
    page: VecDeque<Record>,
    is_over: bool,
}

impl RunFollower {
    async fn next(&mut self) -> Option<Result<Record, ReadError>> {
        loop {
            if let Some(record) = self.page.pop_front() {
                self.next = record.seq + 1;
                return Some(Ok(record));
            }
            if self.is_over {
                return None;
            }
            match self.turn_page() {
                Ok(false) if self.page.is_empty() => return None,
                Ok(true) if self.page.is_empty() => tokio::time::sleep(POLL).await,
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    /// Reads on; false if nothing can come after it.
    fn turn_page(&mut self) -> Result<bool, ReadError> {
        // Asked first: what is recorded before this answer is read below.
        let is_driven = self.journal.is_owned(&self.run)?;
        let page = self.journal.records(&self.run, self.next, PAGE)?;
        self.page.extend(page);
        Ok(is_driven && (!self.page.is_empty() || !self.journal.summary(&self.run)?.ended))
    }
}
