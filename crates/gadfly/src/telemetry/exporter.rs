//! Sends spans: one thread for each collector, with a bounded queue of records before it and a bounded number of spans
//! behind it. A run only ever puts a record into the queue. If there is no room, the record is read back from the
//! journal later; spans that cannot be sent are counted, and said once.

mod following;
mod wire;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gadfly_journal::{Journal, Record, RunId};

use super::client::Trouble;
use super::destination::Destination;
use super::span::Span;
use crate::output::safe;
use following::Follower;
use wire::OtlpWire;

/// Records that wait, and what their texts may weigh together.
const MOST_RECORDS: usize = 1024;
/// What waits in all: that a run was left takes next to nothing, and what was not taken of it is read back then.
const MOST_TOLD: usize = 64 * 1024;
const MOST_BYTES: usize = 32 << 20;
/// Spans that wait for a collector: more of them are worth less than the memory they take. Those with content are
/// long, so there are fewer.
const MOST_SPANS: usize = 4096;
const MOST_LONG_SPANS: usize = 512;
/// Spans of one request.
const BATCH: usize = 256;
const LONG_BATCH: usize = 32;
/// How long spans wait for others to be sent with.
const GATHER: Duration = Duration::from_secs(1);
/// How much longer than it may send the thread is waited for.
const GRACE: Duration = Duration::from_millis(500);
/// How long a collector is left alone that did not take spans.
const PAUSE: Duration = Duration::from_secs(5);

pub struct Exporter {
    shared: Arc<ExporterShared>,
    url: String,
}

#[derive(Default)]
struct ExporterShared {
    state: Mutex<ExporterState>,
    woken: Condvar,
    over: Condvar,
}

#[derive(Default)]
struct ExporterState {
    queue: VecDeque<ExporterMessage>,
    bytes: usize,
    /// Of runs that are driven here: the first record there was no room for.
    missed: HashMap<RunId, u32>,
    /// Runs of which nothing more can be told.
    runs_lost: u64,
    /// The process ends: nothing is sent after this.
    until: Option<Instant>,
    /// Nothing will be sent any more.
    is_over: bool,
    unsent: u64,
    because: Option<String>,
}

enum ExporterMessage {
    /// With the first record of the run that was not taken, if there is one since it was last told of.
    Recorded(RunId, Arc<Record>, Option<u32>),
    Left(RunId, Option<u32>),
}

impl ExporterShared {
    fn state(&self) -> MutexGuard<'_, ExporterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exporter {
    /// Nothing is sent, and the end of the process says why.
    pub fn refused(because: String) -> Self {
        let shared = Arc::new(ExporterShared::default());
        let mut state = shared.state();
        (state.is_over, state.because) = (true, Some(because));
        drop(state);
        Self { shared, url: String::new() }
    }

    pub fn begin(destination: Destination, journal: Journal) -> Self {
        let url = destination.url.clone();
        let shared = Arc::new(ExporterShared::default());
        let there = Arc::clone(&shared);
        let work = move || send_all(&there, &destination, journal);
        let started = std::thread::Builder::new().name("traces".to_owned()).spawn(work);
        match started {
            Ok(_) => Self { shared, url },
            Err(error) => Self::refused(format!("a thread could not be started: {error}")),
        }
    }

    pub fn recorded(&self, run: &RunId, record: &Arc<Record>) {
        let bytes = weight(record);
        let mut state = self.shared.state();
        if state.is_over {
            return;
        }
        if state.queue.len() >= MOST_RECORDS || state.bytes + bytes > MOST_BYTES {
            state.missed.entry(run.clone()).or_insert(record.seq);
            return;
        }
        state.bytes += bytes;
        let missed = state.missed.remove(run);
        state.queue.push_back(ExporterMessage::Recorded(run.clone(), Arc::clone(record), missed));
        drop(state);
        self.shared.woken.notify_one();
    }

    pub fn left(&self, run: &RunId) {
        let mut state = self.shared.state();
        let missed = state.missed.remove(run);
        if state.is_over {
            return;
        }
        if state.queue.len() >= MOST_TOLD {
            state.runs_lost += 1;
            return;
        }
        state.queue.push_back(ExporterMessage::Left(run.clone(), missed));
        drop(state);
        self.shared.woken.notify_one();
    }

    /// Has the rest sent until then. What is to be said about it, if anything.
    pub fn finish(&self, until: Instant) -> Option<String> {
        let mut state = self.shared.state();
        state.until = Some(until);
        self.shared.woken.notify_one();
        while !state.is_over {
            // The thread itself gives up at that moment, and then says how much was left.
            let left = (until + GRACE).saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            state = self.shared.over.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let is_late = !state.is_over;
        let because = state.because.clone();
        if self.url.is_empty() {
            return because.map(|because| format!("traces were not sent: {because}"));
        }
        // What was not even made into spans cannot be counted.
        let is_more = is_late || state.runs_lost > 0;
        if state.unsent == 0 && !is_more {
            return None;
        }
        let least = if is_more { "at least " } else { "" };
        let how_many = match state.unsent {
            0 => "some spans".to_owned(),
            1 => format!("{least}1 span"),
            n => format!("{least}{n} spans"),
        };
        let because = because.unwrap_or_else(|| "no answer in time".to_owned());
        Some(format!("traces: {how_many} could not be sent to {}: {because}", safe::line(&self.url, 300)))
    }
}

/// What a record holds in memory, roughly: its texts.
fn weight(record: &Record) -> usize {
    let texts = record.input.texts.iter().chain(&record.step.texts);
    1024 + texts.map(|text| text.as_str().len()).sum::<usize>()
}

/// Spans on their way out.
struct Outgoing {
    spans: VecDeque<Span>,
    most: usize,
    batch: usize,
    /// When what waits is sent at the latest.
    due: Option<Instant>,
    /// The first of them were refused once.
    refused_once: bool,
    quiet_until: Option<Instant>,
}

/// The thread: takes what runs tell, makes spans of it, sends them.
fn send_all(shared: &ExporterShared, destination: &Destination, journal: Journal) {
    let trouble = Trouble::default();
    let wire = match OtlpWire::new(destination, trouble.clone()) {
        Ok(wire) => wire,
        Err(why) => {
            let mut state = shared.state();
            (state.is_over, state.because, state.unsent) = (true, Some(safe::line(&why, 300)), 1);
            state.queue.clear();
            shared.over.notify_all();
            return;
        }
    };
    let mut following = Follower::new(journal, destination.content);
    let (most, batch) = if destination.content { (MOST_LONG_SPANS, LONG_BATCH) } else { (MOST_SPANS, BATCH) };
    let mut outgoing =
        Outgoing { spans: VecDeque::new(), most, batch, due: None, refused_once: false, quiet_until: None };
    loop {
        let (told, until) = next(shared, outgoing.wakes());
        let mut found = Vec::new();
        match told {
            Some(ExporterMessage::Recorded(run, record, missed)) => {
                following.recorded(&run, &record, missed, &mut found);
            }
            Some(ExporterMessage::Left(run, missed)) => following.left(&run, missed, &mut found),
            None => {}
        }
        let is_last = until.is_some() && shared.state().queue.is_empty();
        if is_last {
            following.end(&mut found);
        }
        let dropped = outgoing.take(found);
        let failed = outgoing.send(&wire, until.filter(|_| is_last));
        let mut state = shared.state();
        state.unsent += dropped + failed;
        if dropped + failed > 0 && state.because.is_none() {
            state.because = trouble.said();
        }
        if is_last && state.queue.is_empty() {
            state.is_over = true;
            drop(state);
            shared.over.notify_all();
            return;
        }
    }
}

/// The next thing that was told; none if it is time to send, or the process ends and nothing more waits.
fn next(shared: &ExporterShared, wakes: Option<Instant>) -> (Option<ExporterMessage>, Option<Instant>) {
    let mut state = shared.state();
    loop {
        if let Some(told) = state.queue.pop_front() {
            if let ExporterMessage::Recorded(_, record, _) = &told {
                state.bytes = state.bytes.saturating_sub(weight(record));
            }
            return (Some(told), state.until);
        }
        if state.until.is_some() {
            return (None, state.until);
        }
        state = match wakes {
            None => shared.woken.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return (None, None);
                }
                shared.woken.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0
            }
        };
    }
}

impl Outgoing {
    fn wakes(&self) -> Option<Instant> {
        self.due.map(|due| self.quiet_until.map_or(due, |quiet| quiet.max(due)))
    }

    /// Takes spans in; how many others had to give way, the oldest first.
    fn take(&mut self, found: Vec<Span>) -> u64 {
        if !found.is_empty() && self.due.is_none() {
            self.due = Some(Instant::now() + GATHER);
        }
        self.spans.extend(found);
        let over = self.spans.len().saturating_sub(self.most);
        self.spans.drain(..over);
        over as u64
    }

    /// Sends what is due, or at the end everything that time allows. How many are given up.
    fn send(&mut self, wire: &OtlpWire, until: Option<Instant>) -> u64 {
        let mut lost = 0;
        loop {
            let now = Instant::now();
            let is_due = self.due.is_some_and(|due| now >= due) || self.spans.len() >= self.batch;
            let is_quiet = self.quiet_until.is_some_and(|quiet| now < quiet);
            if self.spans.is_empty() {
                self.due = None;
                return lost;
            }
            if until.is_none() && (!is_due || is_quiet) {
                return lost;
            }
            let some: Vec<Span> = self.spans.iter().take(self.batch).cloned().collect();
            let left = until.map(|until| until.saturating_duration_since(now));
            if left.is_none_or(|left| !left.is_zero()) && wire.send(&some, left) {
                self.spans.drain(..some.len());
                (self.refused_once, self.quiet_until) = (false, None);
                continue;
            }
            // Once more after a while; then others have to have a chance.
            if self.refused_once || until.is_some() {
                self.spans.drain(..some.len());
                lost += some.len() as u64;
                self.refused_once = false;
            } else {
                self.refused_once = true;
            }
            self.quiet_until = Some(Instant::now() + PAUSE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fold::ContentPolicy;
    use super::super::fold::tests::{a_round, folded, run};
    use super::*;

    #[test]
    fn a_run_that_found_no_room_is_read_back_when_it_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let records: Vec<Arc<Record>> = a_round().into_iter().map(Arc::new).collect();
        let mut writer = journal.create(run()).unwrap();
        for record in &records {
            writer.append_and_wait(&record.input, &record.step, None).unwrap();
        }
        // Nobody takes anything out: as if a collector were waited for.
        let exporter =
            Exporter { shared: Arc::new(ExporterShared::default()), url: "http://localhost".to_owned() };
        let other = RunId::random().unwrap();
        for _ in 0..MOST_RECORDS {
            exporter.recorded(&other, &records[0]);
        }
        for record in &records {
            exporter.recorded(&run(), record);
        }
        exporter.left(&run());
        let mut state = exporter.shared.state();
        assert_eq!(state.queue.len(), MOST_RECORDS + 1, "no more than there is room for");
        let Some(ExporterMessage::Left(left, missed)) = state.queue.pop_back() else { panic!() };
        assert!(state.missed.is_empty(), "nothing is kept of a run that was left");
        let mut out = Vec::new();
        Follower::new(journal, false).left(&left, missed, &mut out);
        let ids = |spans: &[Span]| spans.iter().map(|span| span.id).collect::<Vec<_>>();
        assert_eq!(ids(&out), ids(&folded(&a_round(), ContentPolicy::Nothing)));
    }

    #[test]
    fn runs_there_was_no_room_for_at_all_are_not_passed_over_in_silence() {
        let exporter =
            Exporter { shared: Arc::new(ExporterShared::default()), url: "http://localhost".to_owned() };
        for _ in 0..=MOST_TOLD {
            exporter.left(&run());
        }
        exporter.shared.state().is_over = true;
        let said = exporter.finish(Instant::now()).unwrap();
        assert!(said.contains("some spans could not be sent"), "{said}");
        exporter.shared.state().unsent = 7;
        let said = exporter.finish(Instant::now()).unwrap();
        assert!(said.contains("at least 7 spans"), "{said}");
    }
}
