//! A window of a run's rounds: those that began in a stretch of it, so that one page joins the next. A round may be
//! begun more than once, and those of a pipeline's pairs overlap, so more is read at both ends. A round of an older
//! page that goes on while forty others begin is shown without its end; the newest page has all of it.

use gadfly_engine::Event;
use gadfly_engine::event::EventKind;

use super::Window;
use super::reader::PageReader;
use crate::read::{ReadError, Record};
use crate::record_index::RecordKind;
use crate::run_id::RunId;
use crate::view::{RoundState, RunView};

/// Beginnings of rounds read before the window, and after it.
const BEFORE: usize = 4;
const AFTER: usize = 40;
/// Records read at most for each round.
const RECORDS: usize = 24;

pub(super) struct Rounds {
    pub(super) kept: Vec<RoundState>,
    pub(super) before: Option<u32>,
}

pub(super) fn read(reader: &mut PageReader<'_>, window: &Window) -> Result<Rounds, ReadError> {
    let (end, most) = (window.rounds_before.unwrap_or(u32::MAX), window.most_rounds());
    let begun = reader.newest(RecordKind::Begun, 0..end, most + BEFORE);
    let mut first = begun.get(most - 1).copied().filter(|_| begun.len() > most);
    let from = begun.last().copied().filter(|_| begun.len() == most + BEFORE);
    let bound = (most + BEFORE) * RECORDS;
    let mut seqs = reader.newest(RecordKind::Round, from.unwrap_or(0)..end, bound);
    let fit = reader.fetch(&seqs)?;
    if fit < seqs.len() || seqs.len() == bound {
        seqs.truncate(fit);
        first = first.max(seqs.last().copied());
    }
    seqs.reverse();
    seqs.extend(after(reader, end)?);
    let mut fold = RoundsFold::new(reader.run());
    for record in reader.fetched(seqs.iter()) {
        fold.apply(record);
    }
    let stretch = first.unwrap_or(0)..end;
    let is_here = |round: &RoundStart| stretch.contains(&round.seq) && (round.seen || first.is_none());
    let kept = fold.state.rounds.into_iter().zip(&fold.begun);
    let kept = kept.filter(|(_, begun)| is_here(begun)).map(|(round, _)| round).collect();
    Ok(Rounds { kept, before: first })
}

/// What comes after the window and may belong to its rounds.
fn after(reader: &mut PageReader<'_>, end: u32) -> Result<Vec<u32>, ReadError> {
    let begun = reader.oldest(RecordKind::Begun, end..u32::MAX, AFTER);
    let until = begun.last().copied().filter(|_| begun.len() == AFTER).unwrap_or(u32::MAX);
    let mut seqs = reader.oldest(RecordKind::Round, end..until, AFTER * RECORDS);
    let fit = reader.fetch(&seqs)?;
    seqs.truncate(fit);
    Ok(seqs)
}

/// The record that a round came with, and whether that said it begins.
pub(super) struct RoundStart {
    pub(super) seq: u32,
    seen: bool,
}

/// Rounds, and where each began.
pub(super) struct RoundsFold {
    pub(super) state: RunView,
    pub(super) begun: Vec<RoundStart>,
}

impl RoundsFold {
    pub(super) fn new(run: &RunId) -> Self {
        Self { state: RunView::new(run.clone()), begun: Vec::new() }
    }

    pub(super) fn apply(&mut self, record: &Record) {
        self.state.apply(record);
        for round in &self.state.rounds[self.begun.len()..] {
            let begins = |event: &Event| {
                event.node == round.node
                    && matches!(event.what, EventKind::RoundStarted { round: n, .. } if n == round.round)
            };
            let seen = record.step.events.iter().any(begins);
            self.begun.push(RoundStart { seq: record.seq, seen });
        }
    }
}
