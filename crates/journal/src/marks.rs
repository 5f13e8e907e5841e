//! What a record tells, as kinds that can be found without reading it. A page reads the newest records of a
//! kind, so that a run of any length opens alike. A function of the record alone; what a kind means for a
//! reader is the reader's business.

use std::ops::Range;

use gadfly_engine::event::Happened;
use gadfly_engine::input::What;
use gadfly_engine::{EffectKind, Input, Reply, Step};

use crate::state::belongs_on_rail;

/// Stored as these numbers: a new kind is a new number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Kind {
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
pub(crate) struct Marks(u8);

impl Marks {
    pub(crate) fn of(input: &Input, step: &Step) -> Self {
        let mut marks = Self::default();
        match &input.what {
            What::Started(_) | What::Resumed { .. } => marks.add(Kind::Told),
            What::Answered { .. } => marks.add(Kind::Asked),
            What::Replied { reply: Reply::Looked(looked), .. } if looked.tree.is_some() => {
                marks.add(Kind::Looked);
            }
            What::Replied { .. } | What::Observed { .. } | What::Controlled(_) => {}
        }
        for event in &step.events {
            marks.happened(&event.what);
        }
        if step.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Ask(_))) {
            marks.add(Kind::Asked);
        }
        if step.outcome.is_some() {
            marks.add(Kind::Told);
        }
        marks
    }

    fn happened(&mut self, what: &Happened) {
        if matches!(what, Happened::Pipeline(_)) {
            return self.add(Kind::Pipeline);
        }
        if belongs_on_rail(what) {
            self.add(Kind::Rail);
        }
        match what {
            Happened::RoundStarted { .. } => {
                self.add(Kind::Round);
                self.add(Kind::Begun);
            }
            // The try before the first paid call is no part of a round.
            Happened::VerifyRan { round: 0, .. }
            | Happened::Saved { .. }
            | Happened::Warned { .. }
            | Happened::Decided { .. }
            | Happened::Summarised { .. }
            | Happened::Violated { .. }
            | Happened::Reported { .. }
            | Happened::Accepted { .. }
            | Happened::GoalSet { .. }
            | Happened::LimitsRaised { .. }
            | Happened::AgentChanged { .. } => self.add(Kind::Told),
            Happened::DraftMade { .. }
            | Happened::ChangedUnasked { .. }
            | Happened::Reviewed { .. }
            | Happened::Stalled { .. }
            | Happened::RejectionOverruled { .. }
            | Happened::VerifyRan { .. }
            | Happened::Routed { .. }
            | Happened::Escalated { .. }
            | Happened::Deferred { .. }
            | Happened::RoundEnded { .. } => self.add(Kind::Round),
            Happened::Asked { .. } | Happened::PersonSaid { .. } => self.add(Kind::Asked),
            Happened::Stepped { .. } => self.add(Kind::Step),
            _ => {}
        }
    }

    const fn add(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    pub(crate) const fn bits(self) -> u8 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u8) -> Self {
        Self(bits)
    }

    const fn is(self, kind: Kind) -> bool {
        self.0 & (1 << kind as u8) != 0
    }
}

/// Up to `most` records of a kind in `within`, the newest first.
pub(crate) fn newest(kinds: &[Marks], kind: Kind, within: Range<u32>, most: usize) -> Vec<u32> {
    found(kinds, kind, within).rev().take(most).collect()
}

/// Up to `most` records of a kind in `within`, the oldest first.
pub(crate) fn oldest(kinds: &[Marks], kind: Kind, within: Range<u32>, most: usize) -> Vec<u32> {
    found(kinds, kind, within).take(most).collect()
}

fn found(kinds: &[Marks], kind: Kind, within: Range<u32>) -> impl DoubleEndedIterator<Item = u32> {
    let end = within.end.min(u32::try_from(kinds.len()).unwrap_or(u32::MAX));
    (within.start..end).filter(move |seq| kinds[*seq as usize].is(kind))
}
