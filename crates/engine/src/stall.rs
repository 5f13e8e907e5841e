//! Signs that a loop makes no headway: computed here once for every protocol. A protocol that allows an
//! early stop decides by them; `revise` only reports them beside its verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::outcome::Halt;

/// What the rounds so far have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stall {
    /// Two rounds in a row, no open item was fixed.
    Plateau,
    /// An earlier draft is back after another one, or an item that was fixed has returned twice.
    Oscillation,
    /// Every round since the first brought only new items, about text the worker did not just change.
    Churn,
}

impl Stall {
    /// How a loop that stops for this reason ends.
    pub const fn halt(self) -> Halt {
        match self {
            Self::Plateau => Halt::Plateau,
            Self::Oscillation => Halt::Oscillation,
            Self::Churn => Halt::Churn,
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plateau => "plateau: two rounds in a row fixed no open item",
            Self::Oscillation => "oscillation: an earlier draft, or an item that was fixed, has come back",
            Self::Churn => "churn: every round brings only new items about text that did not change",
        })
    }
}

/// One rejected round, as far as headway is concerned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    pub artifact: Digest,
    /// Numbers of the open items.
    pub open: Vec<u32>,
    /// Every open item is new and quotes only text that the draft before had, too. An item without a
    /// quote is unsure, which is not churn.
    pub only_new_about_old_text: bool,
}

/// The rejected rounds of one loop, and the artifacts of all its rounds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Headway {
    rounds: Vec<Rejected>,
    artifacts: Vec<Digest>,
}

impl Headway {
    /// Notes the artifact of a round that no critic judged: it may lie between two equal ones.
    pub fn pass_by(&mut self, artifact: Digest) {
        self.artifacts.push(artifact);
    }

    /// Takes the next rejection in and says what it shows.
    pub fn rejected(&mut self, round: Rejected) -> Vec<Stall> {
        self.artifacts.push(round.artifact);
        self.rounds.push(round);
        let rounds = &self.rounds;
        let found = [
            (Stall::Plateau, plateau(rounds)),
            (Stall::Oscillation, is_back(&self.artifacts) || swings(rounds)),
            (Stall::Churn, churn(rounds)),
        ];
        found.into_iter().filter(|(_, holds)| *holds).map(|(stall, _)| stall).collect()
    }
}

fn plateau(rounds: &[Rejected]) -> bool {
    let nothing_fixed = |pair: &[Rejected]| match pair {
        [old, new] => !old.open.is_empty() && old.open.iter().all(|n| new.open.contains(n)),
        _ => false,
    };
    rounds.len() >= 3 && rounds[rounds.len() - 3..].windows(2).all(nothing_fixed)
}

/// Is the last artifact an earlier one, with another in between?
fn is_back(artifacts: &[Digest]) -> bool {
    let Some((last, before)) = artifacts.split_last() else { return false };
    let since = before.iter().position(|artifact| artifact == last).and_then(|at| before.get(at..));
    since.is_some_and(|since| since.iter().any(|artifact| artifact != last))
}

fn swings(rounds: &[Rejected]) -> bool {
    rounds.last().is_some_and(|last| last.open.iter().any(|number| returns(rounds, *number) >= 2))
}

/// How often an item is open again after a round in which it was not.
fn returns(rounds: &[Rejected], number: u32) -> usize {
    let open = rounds.iter().map(|r| r.open.contains(&number)).skip_while(|open| !open);
    let open: Vec<bool> = open.collect();
    open.windows(2).filter(|pair| matches!(pair, [false, true])).count()
}

fn churn(rounds: &[Rejected]) -> bool {
    rounds.len() >= 3 && rounds[1..].iter().all(|r| r.only_new_about_old_text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the last of these rounds shows: a draft's name, the open items, whether all are new about old
    /// text.
    fn after(rounds: &[(&str, &[u32], bool)]) -> Vec<Stall> {
        let mut headway = Headway::default();
        let mut shown = Vec::new();
        for (draft, open, only_new_about_old_text) in rounds {
            shown = headway.rejected(Rejected {
                artifact: Digest::of(draft.as_bytes()),
                open: open.to_vec(),
                only_new_about_old_text: *only_new_about_old_text,
            });
        }
        shown
    }

    #[test]
    fn a_plateau_is_two_rounds_in_a_row_that_fix_nothing() {
        assert_eq!(
            after(&[("a", &[1, 2], false), ("b", &[1, 2], false), ("c", &[1, 2, 3], false)]),
            [Stall::Plateau]
        );
        assert_eq!(after(&[("a", &[1, 2], false), ("b", &[1, 2], false)]), []);
        assert_eq!(after(&[("a", &[1, 2], false), ("b", &[1, 2], false), ("c", &[2], false)]), []);
        assert_eq!(after(&[("a", &[1, 2], false), ("b", &[2], false), ("c", &[2], false)]), []);
    }

    #[test]
    fn an_oscillation_is_a_draft_or_an_item_that_comes_back() {
        assert_eq!(
            after(&[("a", &[1], false), ("b", &[2], false), ("a", &[3], false)]),
            [Stall::Oscillation]
        );
        assert_eq!(
            after(&[("a", &[1], false), ("a", &[2], false)]),
            [],
            "the same draft at once is no way back"
        );
        let swinging: [(&str, &[u32], bool); 5] = [
            ("a", &[1], false),
            ("b", &[2], false),
            ("c", &[1, 2], false),
            ("d", &[2], false),
            ("e", &[1], false),
        ];
        assert_eq!(after(&swinging), [Stall::Oscillation]);
        assert_eq!(after(&swinging[..3]), [], "once is not a swing");
    }

    #[test]
    fn a_draft_that_no_critic_judged_lies_between_two_equal_ones() {
        let round = |draft: &str| Rejected {
            artifact: Digest::of(draft.as_bytes()),
            open: vec![],
            only_new_about_old_text: false,
        };
        let mut headway = Headway::default();
        assert_eq!(headway.rejected(round("a")), []);
        headway.pass_by(Digest::of(b"b"));
        assert_eq!(headway.rejected(round("a")), [Stall::Oscillation]);
    }

    #[test]
    fn churn_is_ever_new_items_about_text_that_stood_there_before() {
        assert_eq!(after(&[("a", &[1], false), ("b", &[2], true), ("c", &[3], true)]), [Stall::Churn]);
        assert_eq!(
            after(&[("a", &[1], false), ("b", &[2], true), ("c", &[3], false)]),
            [],
            "the last is about new text"
        );
        assert_eq!(after(&[("a", &[1], false), ("b", &[2], true)]), [], "twice is too early");
    }
}
