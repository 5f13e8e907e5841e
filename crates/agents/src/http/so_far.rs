//! What a call has used by now, for when it is stopped in the middle: what its server said, and the bytes from which the rest
//! is estimated.

use std::sync::{Mutex, MutexGuard, PoisonError};

use gadfly_engine::Usage;

#[derive(Default)]
pub(crate) struct SoFar(Mutex<Counted>);

#[derive(Clone, Copy, Default)]
struct Counted {
    /// Of attempts before this one.
    lost: Usage,
    /// Bytes of the brief under way; 0 before anything was sent.
    sent: u64,
    came: u64,
    stated: Usage,
}

impl SoFar {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn sending(&self, bytes: usize) {
        let mut counted = self.counted();
        *counted = Counted { lost: counted.lost, sent: bytes as u64, ..Counted::default() };
    }

    pub fn heard(&self, came: usize, stated: Usage) {
        let mut counted = self.counted();
        (counted.came, counted.stated) = (came as u64, stated);
    }

    /// The attempt is over, and used this much for nothing.
    pub fn lost(&self, usage: Usage) {
        let mut counted = self.counted();
        *counted = Counted { lost: counted.lost.plus(usage), ..Counted::default() };
    }

    /// This, with what was not stated of it estimated.
    pub fn completed(&self, usage: Usage) -> Usage {
        let Counted { sent, came, .. } = *self.counted();
        usage.or_estimated(sent, came)
    }

    /// What was used for nothing, and this.
    pub fn with(&self, usage: Usage) -> Usage {
        self.counted().lost.plus(usage)
    }

    /// All of it, if it is stopped now. None if nothing was sent.
    pub fn stopped(&self) -> Option<Usage> {
        let Counted { lost, sent, came, stated } = *self.counted();
        if sent == 0 {
            return (lost != Usage::default()).then_some(lost);
        }
        Some(Usage { estimated: true, ..lost.plus(stated.or_estimated(sent, came)) })
    }
}
