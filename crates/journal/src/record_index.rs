//! What a record tells, as kinds that can be found without reading it. A page reads the newest records of a
//! kind, so that a run of any length opens alike. A function of the record alone; what a kind means for a
//! reader is the reader's business.

use std::ops::Range;

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::{EffectKind, Input, Reply, Step};

use crate::view::belongs_on_rail;

/// Stored as these numbers: a new kind is a new number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum RecordKind {
    /// Seldom and of lasting interest: the plan, warnings, files saved, decisions, outcomes.
    Told = 0,
    /// A question to a person, or what they said.
    Asked = 1,
    Pipeline = 2,
    /// Something of a round; `Begun` if one starts.
    Round = 3,
    Begun = 4,
    Step = 5,
    Rail = 6,
    /// The folder was looked at.
    Looked = 7,
}

/// The kinds of one record.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct RecordIndex(u8);

impl RecordIndex {
    pub(crate) fn of(input: &Input, step: &Step) -> Self {
        let mut index = Self::default();
        match &input.what {
            InputKind::Started(_) | InputKind::Resumed { .. } => index.add(RecordKind::Told),
            InputKind::Answered { .. } => index.add(RecordKind::Asked),
            InputKind::Replied { reply: Reply::Looked(looked), .. } if looked.tree.is_some() => {
                index.add(RecordKind::Looked);
            }
            InputKind::Replied { .. } | InputKind::Observed { .. } | InputKind::Controlled(_) => {}
        }
        for event in &step.events {
            index.happened(&event.what);
        }
        if step.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Ask(_))) {
            index.add(RecordKind::Asked);
        }
        if step.outcome.is_some() {
            index.add(RecordKind::Told);
        }
        index
    }

    fn happened(&mut self, what: &EventKind) {
        if matches!(what, EventKind::Pipeline(_)) {
            return self.add(RecordKind::Pipeline);
        }
        if belongs_on_rail(what) {
            self.add(RecordKind::Rail);
        }
        match what {
            EventKind::RoundStarted { .. } => {
                self.add(RecordKind::Round);
                self.add(RecordKind::Begun);
            }
            // The try before the first paid call is no part of a round.
            EventKind::VerifyRan { round: 0, .. }
            | EventKind::Saved { .. }
            | EventKind::Warned { .. }
            | EventKind::Decided { .. }
            | EventKind::Summarised { .. }
            | EventKind::Violated { .. }
            | EventKind::Reported { .. }
            | EventKind::Accepted { .. }
            | EventKind::GoalSet { .. }
            | EventKind::LimitsRaised { .. }
            | EventKind::AgentChanged { .. } => self.add(RecordKind::Told),
            EventKind::DraftMade { .. }
            | EventKind::ChangedUnasked { .. }
            | EventKind::Reviewed { .. }
            | EventKind::Stalled { .. }
            | EventKind::RejectionOverruled { .. }
            | EventKind::VerifyRan { .. }
            | EventKind::Routed { .. }
            | EventKind::Escalated { .. }
            | EventKind::Deferred { .. }
            | EventKind::RoundEnded { .. } => self.add(RecordKind::Round),
            EventKind::Asked { .. } | EventKind::PersonSaid { .. } => self.add(RecordKind::Asked),
            EventKind::Stepped { .. } => self.add(RecordKind::Step),
            _ => {}
        }
    }

    const fn add(&mut self, kind: RecordKind) {
        self.0 |= 1 << kind as u8;
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    const fn is(self, kind: RecordKind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// Up to `most` records of a kind in `within`, the newest first.
pub(crate) fn newest(kinds: &[RecordIndex], kind: RecordKind, within: Range<u32>, most: usize) -> Vec<u32> {
    found(kinds, kind, within).rev().take(most).collect()
}

/// Up to `most` records of a kind in `within`, the oldest first.
pub(crate) fn oldest(kinds: &[RecordIndex], kind: RecordKind, within: Range<u32>, most: usize) -> Vec<u32> {
    found(kinds, kind, within).take(most).collect()
}

fn found(
    kinds: &[RecordIndex],
    kind: RecordKind,
    within: Range<u32>,
) -> impl DoubleEndedIterator<Item = u32> {
    let end = within.end.min(u32::try_from(kinds.len()).unwrap_or(u32::MAX));
    (within.start..end).filter(move |seq| kinds[*seq as usize].is(kind))
}
