//! Where a kill landed, told from outside: the system call the journal's thread is in, what the server has
//! answered, and what the journal holds afterwards.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::Reply;
use gadfly_engine::input::InputKind;
use gadfly_journal::{Journal, ListFilter};
use gadfly_testbed::{Calls, Server};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Landed {
    /// A call was on its way or being answered.
    BeforeReply,
    /// A reply had been sent and was not in the journal.
    BeforeCommit,
    /// The journal's thread was writing or syncing.
    InCommit,
    /// Everything answered was recorded and nothing was under way.
    After,
}

/// Is the thread that writes the journal in `pwrite64`, `fsync` or `fdatasync` right now?
pub fn is_committing(pid: u32) -> bool {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    tasks.flatten().any(|task| {
        let path = task.path();
        let name = fs::read_to_string(path.join("comm")).unwrap_or_default();
        if !name.starts_with("gadfly-journal") {
            return false;
        }
        let call = fs::read_to_string(path.join("syscall")).unwrap_or_default();
        let number = call.split_whitespace().next().and_then(|n| n.parse::<u32>().ok());
        let writes: &[u32] = if cfg!(target_arch = "aarch64") { &[68, 82, 83] } else { &[18, 74, 75] };
        number.is_some_and(|n| writes.contains(&n))
    })
}

/// Waits, within bounds, for the next moment in which the journal is being written.
pub fn await_commit(pid: u32) -> bool {
    let begun = std::time::Instant::now();
    while begun.elapsed() < Duration::from_millis(100) {
        if is_committing(pid) {
            return true;
        }
    }
    false
}

/// Waits, within bounds, until the killed process's requests are all in and dealt with.
fn settled(server: &Server) -> Calls {
    let mut last = server.calls();
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(15));
        let now = server.calls();
        if now.in_flight == 0 && now.total == last.total {
            return now;
        }
        last = now;
    }
    last
}

/// Compares the server's count with the journal's after each kill.
pub struct Observer {
    store: PathBuf,
    /// Answers the server gave that no journal record holds.
    unrecorded: u64,
    /// Calls whose client went away before the answer.
    unanswered: u64,
}

/// One kill as seen afterwards.
pub struct Aftermath {
    pub landed: Landed,
    /// Calls that may have to be made again: under way, or answered so shortly before the kill that the
    /// answer may not have reached the journal.
    pub excused: u64,
    /// Calls that must be made again: under way, or answered and not in the journal.
    pub lost: u64,
}

impl Observer {
    pub const fn new(store: PathBuf) -> Self {
        Self { store, unrecorded: 0, unanswered: 0 }
    }

    pub fn look(&mut self, server: &Server, committing: bool, killed_ms: u64, within_ms: u64) -> Aftermath {
        let calls = settled(server);
        let count = |holds: &dyn Fn(u64) -> bool| {
            calls.recent.iter().filter(|a| a.answered_ms.is_some_and(holds)).count() as u64
        };
        let answered_later = count(&|at| at > killed_ms);
        let just_answered = count(&|at| at <= killed_ms && at + within_ms >= killed_ms);
        let unanswered = calls.recent.iter().filter(|a| a.answered_ms.is_none()).count() as u64;
        let under_way = answered_later + (unanswered - self.unanswered);
        self.unanswered = unanswered;
        let lost = calls.answered.saturating_sub(self.recorded());
        let newly_lost = lost.saturating_sub(self.unrecorded).saturating_sub(answered_later);
        self.unrecorded = lost;
        let landed = if committing {
            Landed::InCommit
        } else if newly_lost > 0 {
            Landed::BeforeCommit
        } else if under_way > 0 {
            Landed::BeforeReply
        } else {
            Landed::After
        };
        Aftermath { landed, excused: under_way + just_answered, lost: under_way + newly_lost }
    }

    /// Answers the journal holds.
    pub fn recorded(&self) -> u64 {
        let Ok(journal) = Journal::open_existing(&self.store) else { return 0 };
        let filter = ListFilter { limit: 10_000, ..ListFilter::default() };
        let runs = journal.list(&filter).unwrap();
        let mut answers = 0;
        for run in runs {
            for record in journal.replay(&run.run) {
                let record = record.unwrap();
                answers +=
                    u64::from(matches!(record.input.what, InputKind::Replied { reply: Reply::Done(_), .. }));
            }
        }
        answers
    }
}
