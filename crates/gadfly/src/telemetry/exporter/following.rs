//! The runs that are followed, each with its fold. What was missed of one, or happened before this process drove it, is
//! read from the journal.

use std::collections::HashMap;

use gadfly_engine::Digest;
use gadfly_engine::input::InputKind;
use gadfly_journal::{Journal, Record, RunId};

use super::super::fold::{ContentPolicy, TraceFold};
use super::super::span::Span;

/// Runs followed at once; of more, the one that was quiet longest is told of as far as it is known.
const MOST_RUNS: usize = 256;
/// What ended so shortly before a process died may not have been sent. Telling of a span twice does no harm.
const UNSURE_MS: u64 = 5000;
/// Records read back at once.
const PAGE: u32 = 8;

pub struct Follower {
    journal: Journal,
    content: bool,
    runs: HashMap<RunId, Followed>,
    ticks: u64,
}

struct Followed {
    fold: TraceFold,
    next: u32,
    /// When it was last heard of, counted in records of all runs.
    heard: u64,
}

impl Follower {
    pub fn new(journal: Journal, content: bool) -> Self {
        Self { journal, content, runs: HashMap::new(), ticks: 0 }
    }

    /// `missed` is the first record that was not told of since the last time, if there is one.
    pub fn recorded(&mut self, run: &RunId, record: &Record, missed: Option<u32>, out: &mut Vec<Span>) {
        self.ticks += 1;
        if !self.runs.contains_key(run) {
            self.follow(run, missed.unwrap_or(record.seq), out);
        }
        self.read(run, Some(record.seq), out);
        self.fold(run, record, out);
    }

    /// From this record on the run is driven here.
    fn follow(&mut self, run: &RunId, first: u32, out: &mut Vec<Span>) {
        self.make_room(out);
        self.runs.insert(run.clone(), Followed { fold: TraceFold::new(run.clone()), next: 0, heard: 0 });
        // Whoever drove it before has told of this, but for the last moments of a process that died.
        let mut before = Vec::new();
        self.read(run, Some(first), &mut before);
        if let Some(followed) = self.runs.get_mut(run) {
            if followed.fold.is_settled() {
                followed.fold.finish(ContentPolicy::Nothing, &mut before);
            } else {
                let since = followed.fold.last_ms().saturating_sub(UNSURE_MS);
                out.extend(before.into_iter().filter(|span| span.end_ms >= since));
            }
        }
    }

    /// A run is not driven here any more.
    pub fn left(&mut self, run: &RunId, missed: Option<u32>, out: &mut Vec<Span>) {
        if let Some(first) = missed.filter(|_| !self.runs.contains_key(run)) {
            self.follow(run, first, out);
            self.read(run, Some(first.saturating_add(1)), out);
        }
        if self.runs.contains_key(run) {
            self.read(run, None, out);
            self.close(run, out);
        }
    }

    /// Nothing more will be heard of any.
    pub fn end(&mut self, out: &mut Vec<Span>) {
        let runs: Vec<RunId> = self.runs.keys().cloned().collect();
        for run in runs {
            self.read(&run, None, out);
            self.close(&run, out);
        }
    }

    /// Reads what there is of a run before this record; without one, what was recorded before somebody resumed it.
    fn read(&mut self, run: &RunId, before: Option<u32>, out: &mut Vec<Span>) {
        while let Some(next) = self.runs.get(run).map(|followed| followed.next) {
            let wanted = before.map_or(PAGE, |seq| seq.saturating_sub(next).min(PAGE));
            let Some(page) =
                Some(wanted).filter(|n| *n > 0).and_then(|n| self.journal.records(run, next, n).ok())
            else {
                return;
            };
            let goes_on = |record: &&Record| {
                before.is_some() || !matches!(record.input.what, InputKind::Resumed { .. })
            };
            let taken: Vec<&Record> = page.iter().take_while(goes_on).collect();
            if taken.is_empty() {
                return;
            }
            for record in taken {
                self.fold(run, record, out);
            }
        }
    }

    fn fold(&mut self, run: &RunId, record: &Record, out: &mut Vec<Span>) {
        let texts = |digest: &Digest| self.journal.text(digest).ok().flatten();
        let content = if self.content { ContentPolicy::All(&texts) } else { ContentPolicy::Nothing };
        let Some(followed) = self.runs.get_mut(run) else { return };
        if record.seq >= followed.next {
            followed.fold.take(record, content, out);
            (followed.next, followed.heard) = (record.seq.saturating_add(1), self.ticks);
        }
    }

    fn close(&mut self, run: &RunId, out: &mut Vec<Span>) {
        if let Some(mut followed) = self.runs.remove(run) {
            let content = if self.content { ContentPolicy::Words } else { ContentPolicy::Nothing };
            followed.fold.finish(content, out);
        }
    }

    fn make_room(&mut self, out: &mut Vec<Span>) {
        if self.runs.len() < MOST_RUNS {
            return;
        }
        let quietest = self.runs.iter().min_by_key(|(_, followed)| followed.heard);
        if let Some(run) = quietest.map(|(run, _)| run.clone()) {
            self.close(&run, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::fold::tests::{a_round, folded, run};

    fn journal(dir: &std::path::Path, records: &[Record]) -> Journal {
        let journal = Journal::open(dir).unwrap();
        let mut writer = journal.create(run()).unwrap();
        for record in records {
            writer.append_and_wait(&record.input, &record.step, None).unwrap();
        }
        journal
    }

    fn ids(spans: &[Span]) -> Vec<String> {
        let mut ids: Vec<String> = spans.iter().map(|span| span.id.hex()).collect();
        ids.sort();
        ids
    }

    #[test]
    fn records_that_were_not_taken_are_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let records = a_round();
        let journal = journal(dir.path(), &records);
        let whole = ids(&folded(&records, ContentPolicy::Nothing));
        for heard in [vec![0, 1, 2, 3], vec![0, 3], vec![0], vec![0, 2]] {
            let mut following = Follower::new(journal.clone(), false);
            let mut out = Vec::new();
            for at in &heard {
                following.recorded(&run(), &records[*at], None, &mut out);
            }
            following.left(&run(), None, &mut out);
            assert_eq!(ids(&out), whole, "heard of {heard:?}");
            following.end(&mut out);
            assert_eq!(out.len(), whole.len(), "and told of once");
        }
    }

    #[test]
    fn of_runs_that_are_never_left_a_bounded_number_is_followed() {
        let dir = tempfile::tempdir().unwrap();
        let mut following = Follower::new(Journal::open(dir.path()).unwrap(), false);
        let first = &a_round()[0];
        let mut out = Vec::new();
        for _ in 0..MOST_RUNS + 10 {
            following.recorded(&RunId::random().unwrap(), first, None, &mut out);
        }
        assert_eq!((following.runs.len(), out.len()), (MOST_RUNS, 10));
    }
}
