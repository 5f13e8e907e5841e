//! Ctrl-C, the signal a service manager sends, and a terminal that closes or is lost: all mean stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The bit of SIGHUP in a mask of signals.
const HANGUP_BIT: u64 = 1;

pub struct Interrupts {
    int: Option<Signal>,
    term: Option<Signal>,
    /// Told once: a shell that ends and the terminal that goes with it both send it, and the second says nothing new.
    hangup: Option<Signal>,
}

impl Interrupts {
    /// From here on the process is not ended by these signals.
    pub fn catch() -> Self {
        let caught = |kind| signal(kind).ok();
        let hangup = if hangup_is_ignored() { None } else { caught(SignalKind::hangup()) };
        Self { int: caught(SignalKind::interrupt()), term: caught(SignalKind::terminate()), hangup }
    }

    pub async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.int) => {}
            () = received(&mut self.term) => {}
            () = received(&mut self.hangup) => self.hangup = None,
        }
    }
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whoever started this with `nohup` wants it to outlive the terminal. Where that cannot be known, nothing is changed.
fn hangup_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    is_ignored(&status).unwrap_or(true)
}

fn is_ignored(status: &str) -> Option<bool> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    Some(u64::from_str_radix(mask.trim(), 16).ok()? & HANGUP_BIT != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nohup_says_is_read_from_the_mask_of_ignored_signals() {
        assert_eq!(is_ignored("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n"), Some(false));
        assert_eq!(is_ignored("SigIgn:\t0000000000001001\n"), Some(true));
        assert_eq!(is_ignored("SigIgn:\tx\n"), None);
        assert_eq!(is_ignored(""), None);
    }
}
