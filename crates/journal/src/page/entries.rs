//! A window of a goal's steps and of the rail beside them.

use gadfly_engine::event::EventKind;

use super::Window;
use super::reader::PageReader;
use crate::read::{ReadError, Record};
use crate::record_index::RecordKind;
use crate::view::GoalState;

/// Gives the goal its steps and rail; says where to go on if there are older ones.
pub(super) fn read(
    reader: &mut PageReader<'_>,
    window: &Window,
    goal: &mut GoalState,
) -> Result<Option<u32>, ReadError> {
    let (end, most) = (window.entries_before.unwrap_or(u32::MAX), window.most_entries());
    let mut seqs = Vec::new();
    for kind in [RecordKind::Step, RecordKind::Rail, RecordKind::Pipeline] {
        seqs.extend(reader.newest(kind, 0..end, most + 1));
    }
    seqs.sort_unstable_by(|a, b| b.cmp(a));
    seqs.dedup();
    let mut older = seqs.len() > most;
    seqs.truncate(most);
    let fit = reader.fetch(&seqs)?;
    older |= fit < seqs.len();
    seqs.truncate(fit);
    let Some(oldest) = seqs.last().copied() else {
        (goal.steps, goal.rail) = (Vec::new(), Vec::new());
        return Ok(None);
    };
    let last_before = reader.newest(RecordKind::Step, 0..oldest, 1);
    let before = match last_before.first() {
        Some(seq) => steps(reader.record(*seq)?),
        None => 0,
    };
    (goal.steps, goal.rail) = goal.stretch(before, reader.fetched(seqs.iter().rev()));
    Ok(older.then_some(oldest))
}

/// The number of the last step of a record. Steps are counted in the order they are taken.
fn steps(record: &Record) -> u32 {
    let numbers = record.step.events.iter().filter_map(|event| match &event.what {
        EventKind::Stepped { step } => Some(step.n),
        _ => None,
    });
    numbers.max().unwrap_or(0)
}
