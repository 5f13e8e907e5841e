//! A page of a run without marks: all of it is read, and then cut to the window. It takes as long as the run is.

use gadfly_engine::input::What;

use super::rounds::{Begun, Fold};
use super::{RunPage, Window};
use crate::journal::Journal;
use crate::meters::Meters;
use crate::read::ReadError;
use crate::run_id::RunId;
use crate::state::{GoalState, RoundState};

impl Journal {
    pub(super) fn whole(&self, run: &RunId, window: &Window) -> Result<RunPage, ReadError> {
        let (mut fold, mut meters) = (Fold::new(run), Meters::default());
        let (mut plan, mut active_ms, mut next) = (None, 0, 0);
        for record in self.replay_without_texts(run) {
            let record = record?;
            if let What::Started(start) = &record.input.what {
                plan = Some(start.plan.clone());
            }
            active_ms = record.input.at.active_ms.max(active_ms);
            next = record.seq.saturating_add(1);
            meters.apply(record.seq, &record.input, &record.step);
            fold.apply(&record);
        }
        let message = "it has no plan".to_owned();
        let plan = plan.ok_or_else(|| ReadError::Record { run: run.clone(), seq: 0, message })?;
        let Fold { mut state, begun } = fold;
        state.summary = self.summary(run)?;
        let rounds_before = cut_rounds(&mut state.rounds, &begun, window);
        let entries_before = state.goal.as_mut().and_then(|goal| cut_entries(goal, window));
        Ok(RunPage {
            state,
            plan,
            next,
            rounds_before,
            entries_before,
            all_told: true,
            limits: meters.limits,
            shares: meters.shares,
            active_ms,
            records_read: next,
        })
    }
}

fn cut_rounds(rounds: &mut Vec<RoundState>, begun: &[Begun], window: &Window) -> Option<u32> {
    let end = window.rounds_before.unwrap_or(u32::MAX);
    let until = begun.partition_point(|begun| begun.seq < end);
    let first = begun.get(until.saturating_sub(window.most_rounds())).map_or(0, |begun| begun.seq);
    // Rounds that began in one record have one place in the order: a cursor cannot part them.
    let from = begun.partition_point(|begun| begun.seq < first);
    rounds.truncate(until);
    rounds.drain(..from.min(until));
    (from > 0 && from < until).then_some(first)
}

fn cut_entries(goal: &mut GoalState, window: &Window) -> Option<u32> {
    let end = window.entries_before.unwrap_or(u32::MAX);
    let seqs = goal.steps.iter().map(|step| step.seq).chain(goal.rail.iter().map(|entry| entry.seq));
    let mut seqs: Vec<u32> = seqs.filter(|seq| *seq < end).collect();
    seqs.sort_unstable_by(|a, b| b.cmp(a));
    seqs.dedup();
    let older = seqs.len() > window.most_entries();
    seqs.truncate(window.most_entries());
    let from = seqs.last().copied().unwrap_or(end);
    goal.steps.retain(|step| (from..end).contains(&step.seq));
    goal.rail.retain(|entry| (from..end).contains(&entry.seq));
    older.then_some(from)
}
