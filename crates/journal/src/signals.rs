//! Signs that a loop makes no headway, told beside its verdicts. A fold over reviews; no decision reads it.

use std::collections::BTreeMap;

use gadfly_engine::review::{Review, Verdict};
use gadfly_engine::{Digest, NodePath};
use serde::{Deserialize, Serialize};

/// What the rounds so far have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// Two rounds in a row, no open item was fixed.
    Plateau,
    /// An earlier draft is back after another one, or an item that was fixed has returned twice.
    Oscillation,
}

impl Signal {
    /// In words, for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Plateau => "plateau: two rounds in a row fixed no open item",
            Self::Oscillation => "oscillation: an earlier draft, or an item that was fixed, has come back",
        }
    }
}

/// The reviews of each node so far.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signals(BTreeMap<NodePath, Vec<Round>>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Round {
    artifact: Digest,
    open: Vec<u32>,
}

impl Signals {
    /// Takes the next review in and says what it shows.
    pub fn reviewed(&mut self, node: &NodePath, review: &Review) -> Vec<Signal> {
        let rounds = self.0.entry(node.clone()).or_default();
        let open = review.open.iter().map(|item| item.number).collect();
        rounds.push(Round { artifact: review.binding.artifact, open });
        if review.verdict == Verdict::Approved {
            return Vec::new();
        }
        let found = [(Signal::Plateau, plateau(rounds)), (Signal::Oscillation, oscillation(rounds))];
        found.into_iter().filter(|(_, holds)| *holds).map(|(signal, _)| signal).collect()
    }
}

fn plateau(rounds: &[Round]) -> bool {
    let nothing_fixed = |pair: &[Round]| match pair {
        [old, new] => !old.open.is_empty() && old.open.iter().all(|n| new.open.contains(n)),
        _ => false,
    };
    rounds.len() >= 3 && rounds[rounds.len() - 3..].windows(2).all(nothing_fixed)
}

fn oscillation(rounds: &[Round]) -> bool {
    let Some((last, before)) = rounds.split_last() else { return false };
    let same = before.iter().position(|r| r.artifact == last.artifact);
    let back = same.is_some_and(|at| before[at..].iter().any(|r| r.artifact != last.artifact));
    back || last.open.iter().any(|number| returns(rounds, *number) >= 2)
}

/// How often an item is open again after a round in which it was not.
fn returns(rounds: &[Round], number: u32) -> usize {
    let open = rounds.iter().map(|r| r.open.contains(&number)).skip_while(|open| !open);
    let open: Vec<bool> = open.collect();
    open.windows(2).filter(|pair| matches!(pair, [false, true])).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The signals after the last of these rounds: a draft's name, and the numbers of the open items.
    fn after(rounds: &[(&str, &[u32])]) -> Vec<Signal> {
        let rounds: Vec<Round> = rounds
            .iter()
            .map(|(draft, open)| Round { artifact: Digest::of(draft.as_bytes()), open: open.to_vec() })
            .collect();
        let found = [(Signal::Plateau, plateau(&rounds)), (Signal::Oscillation, oscillation(&rounds))];
        found.into_iter().filter(|(_, holds)| *holds).map(|(signal, _)| signal).collect()
    }

    #[test]
    fn a_plateau_is_two_rounds_in_a_row_that_fix_nothing() {
        assert_eq!(after(&[("a", &[1, 2]), ("b", &[1, 2]), ("c", &[1, 2, 3])]), [Signal::Plateau]);
        assert_eq!(after(&[("a", &[1, 2]), ("b", &[1, 2])]), []);
        assert_eq!(after(&[("a", &[1, 2]), ("b", &[1, 2]), ("c", &[2])]), []);
        assert_eq!(after(&[("a", &[1, 2]), ("b", &[2]), ("c", &[2])]), []);
    }

    #[test]
    fn an_oscillation_is_a_draft_or_an_item_that_comes_back() {
        assert_eq!(after(&[("a", &[1]), ("b", &[2]), ("a", &[3])]), [Signal::Oscillation]);
        // The same draft again at once is no way back.
        assert_eq!(after(&[("a", &[1]), ("a", &[2])]), []);
        let swinging: [(&str, &[u32]); 5] =
            [("a", &[1]), ("b", &[2]), ("c", &[1, 2]), ("d", &[2]), ("e", &[1])];
        assert_eq!(after(&swinging), [Signal::Oscillation]);
        assert_eq!(after(&swinging[..3]), [], "once is not a swing");
    }
}
