//! Ctrl-C and the signal a service manager sends: both mean stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

pub struct Interrupts {
    int: Option<Signal>,
    term: Option<Signal>,
}

impl Interrupts {
    /// From here on the process is not ended by these signals.
    pub fn catch() -> Self {
        Self { int: signal(SignalKind::interrupt()).ok(), term: signal(SignalKind::terminate()).ok() }
    }

    pub async fn next(&mut self) {
        match (&mut self.int, &mut self.term) {
            (Some(int), Some(term)) => {
                tokio::select! { _ = int.recv() => {} _ = term.recv() => {} }
            }
            (Some(one), None) | (None, Some(one)) => {
                one.recv().await;
            }
            (None, None) => std::future::pending().await,
        }
    }
}
