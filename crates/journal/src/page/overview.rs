//! What a run tells as a whole: its plan, what was seldom and lasts, questions, and what happened in a pipeline.
//! The oldest few and the newest few hundred of each; numbers are not taken from here.

use std::collections::BTreeSet;

use gadfly_engine::input::InputKind;
use gadfly_engine::{Outcome, Plan};

use super::reader::PageReader;
use crate::read::ReadError;
use crate::record_index::RecordKind;
use crate::view::RunView;

/// What a run begins with, before anything repeats itself: a goal's words, the try of the verify commands.
const FIRST: usize = 24;
const NEWEST: usize = 200;
/// How the agents of a pipeline came to stand as they do needs more of them.
const NEWEST_OF_PIPELINE: usize = 400;

pub(super) struct RunOverview {
    pub(super) state: RunView,
    pub(super) plan: Plan,
    /// The last outcome there was, whether it still holds or not.
    pub(super) outcome: Option<Outcome>,
    pub(super) all: bool,
}

pub(super) fn read(reader: &mut PageReader<'_>) -> Result<RunOverview, ReadError> {
    let mut seqs = BTreeSet::from([0]);
    let mut all = true;
    seqs.extend(reader.oldest(RecordKind::Told, 0..u32::MAX, FIRST));
    // The last look at the folder is all that is shown of it.
    seqs.extend(reader.newest(RecordKind::Looked, 0..u32::MAX, 1));
    let parts =
        [(RecordKind::Told, NEWEST), (RecordKind::Asked, NEWEST), (RecordKind::Pipeline, NEWEST_OF_PIPELINE)];
    for (kind, most) in parts {
        let mut newest = reader.newest(kind, 0..u32::MAX, most);
        let fit = reader.fetch(&newest)?;
        let is_cut = newest.len() == most || fit < newest.len();
        newest.truncate(fit);
        if let Some(oldest) = newest.last().filter(|_| is_cut) {
            let before = reader.newest(kind, 0..*oldest, FIRST + 1);
            all &= before.iter().all(|seq| seqs.contains(seq));
        }
        seqs.extend(newest);
    }
    let mut state = RunView::new(reader.run().clone());
    let (mut plan, mut outcome) = (None, None);
    for seq in seqs {
        let record = reader.record(seq)?;
        if let InputKind::Started(start) = &record.input.what {
            plan = Some(start.plan.clone());
        }
        if record.step.outcome.is_some() {
            outcome.clone_from(&record.step.outcome);
        }
        state.apply(record);
    }
    let unplanned =
        || ReadError::Record { run: reader.run().clone(), seq: 0, message: "it has no plan".to_owned() };
    Ok(RunOverview { state, plan: plan.ok_or_else(unplanned)?, outcome, all })
}
