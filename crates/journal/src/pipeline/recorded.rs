//! What earlier pipelines of a store said that later ones build on: verdicts, words about conditions, suggestions.
//! Only runs of pipelines are read, without their texts, and of those only the records that can hold such a thing.

use std::collections::BTreeMap;

use gadfly_engine::Event;
use gadfly_engine::event::EventKind;
use gadfly_engine::pipeline::learning::Suggestion;
use gadfly_engine::pipeline::{PairVerdict, PipelineEvent};

use super::PROTOCOL;
use super::judges::{Judges, VerdictJudge};
use crate::body::OwnedPair;
use crate::journal::Journal;
use crate::read::{ReadError, Walker, run_number};
use crate::run_id::RunId;

/// A verdict, with the run that came to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    pub run: RunId,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    pub judge: VerdictJudge,
    pub verdict: PairVerdict,
}

/// What one run suggests to learn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct SuggestedLearning {
    pub(super) run: RunId,
    pub(super) at_ms: u64,
    pub(super) suggestions: Vec<Suggestion>,
}

/// A record can only hold an event that its text names.
const SCORED: &str = "\"pipeline\":\"scored\"";
const SAID: &str = "\"pipeline\":\"condition_said\"";
const LEARNED: &str = "\"pipeline\":\"learned\"";
const CHARGED: &str = "\"event\":\"charged\"";
const CHANGED: &str = "\"event\":\"agent_changed\"";

impl Journal {
    /// Every verdict that counts, of work that was delivered or rejected, of all runs of the store, the oldest first.
    pub fn verdicts(&self) -> Result<Vec<Recorded>, ReadError> {
        let mut all = Vec::new();
        for run in self.pipelines()? {
            let mut judges = Judges::default();
            let mut found = Vec::new();
            self.each(&run, &[SCORED, CHARGED, CHANGED], |pair| {
                judges.follow(&pair.input, &pair.step);
                for event in &pair.step.events {
                    if let EventKind::Pipeline(PipelineEvent::Scored { verdict, delivered }) = &event.what
                        && (*delivered || verdict.rejected)
                    {
                        let judge = judges.judge(&verdict.critic);
                        let (at_ms, verdict) = (pair.input.at.wall_ms, verdict.as_ref().clone());
                        found.push(Recorded { run: run.clone(), at_ms, judge, verdict });
                    }
                }
            })?;
            all.append(&mut found);
        }
        // Runs overlap: what counts is which verdict came last.
        all.sort_by_key(|recorded| recorded.at_ms);
        Ok(all)
    }

    /// The conditions only people can judge of which they said, in all runs, that they hold; the last word counts.
    /// A "no" is not kept: what did not hold then may hold now, and the next run asks again.
    pub fn conditions_said(&self) -> Result<BTreeMap<String, bool>, ReadError> {
        let mut said: Vec<(u64, String, bool)> = Vec::new();
        for run in self.pipelines()? {
            self.each(&run, &[SAID], |pair| {
                for event in &pair.step.events {
                    if let EventKind::Pipeline(PipelineEvent::ConditionSaid { text, holds, .. }) = &event.what
                    {
                        said.push((pair.input.at.wall_ms, text.clone(), *holds));
                    }
                }
            })?;
        }
        said.sort_by_key(|(at_ms, ..)| *at_ms);
        let mut last: BTreeMap<String, bool> =
            said.into_iter().map(|(_, text, holds)| (text, holds)).collect();
        last.retain(|_, holds| *holds);
        Ok(last)
    }

    pub(super) fn noted(&self) -> Result<Vec<SuggestedLearning>, ReadError> {
        let mut all = Vec::new();
        for run in self.pipelines()? {
            let mut last = None;
            self.each(&run, &[LEARNED], |pair| {
                for Event { what, .. } in &pair.step.events {
                    if let EventKind::Pipeline(PipelineEvent::Learned { suggestions }) = what {
                        last = Some((pair.input.at.wall_ms, suggestions.clone()));
                    }
                }
            })?;
            all.extend(last.map(|(at_ms, suggestions)| SuggestedLearning { run, at_ms, suggestions }));
        }
        Ok(all)
    }

    /// The runs that are pipelines, the oldest first.
    fn pipelines(&self) -> Result<Vec<RunId>, ReadError> {
        let sql = "SELECT id FROM runs WHERE protocol = ?1 ORDER BY created, number";
        self.read(|conn| {
            let mut rows = conn.prepare_cached(sql)?;
            let ids = rows.query_map([PROTOCOL], |row| row.get::<_, String>(0))?;
            let ids: Vec<String> = ids.collect::<rusqlite::Result<_>>()?;
            Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
        })
    }

    /// The first record of a run and every one whose text holds one of the needles.
    fn each(&self, run: &RunId, needles: &[&str], mut take: impl FnMut(&OwnedPair)) -> Result<(), ReadError> {
        self.read(|conn| {
            let number = run_number(conn, run)?;
            Walker::new(conn, self.check(), run, number, 0)?.each(conn, |walked| {
                let text = std::str::from_utf8(walked.json).unwrap_or_default();
                if walked.seq == 0 || needles.iter().any(|needle| text.contains(needle)) {
                    take(&walked.pair()?);
                }
                Ok(())
            })
        })
    }
}
