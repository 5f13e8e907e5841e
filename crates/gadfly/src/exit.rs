//! Exit codes, by class of outcome. They are public: scripts rely on them.

use gadfly_engine::Outcome;
use gadfly_runtime::Ended;

/// What the process reports to its caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Code(pub u8);

/// Approved; or a command that did what it was asked.
pub const OK: Code = Code(0);
/// A call failed for good (the run is parked), or a fault of ours.
pub const FAILED: Code = Code(1);
/// Usage, configuration or input error.
pub const USAGE: Code = Code(2);
/// Halted, with its reason.
pub const HALTED: Code = Code(3);
/// Waiting for a person or for quota.
pub const WAITING: Code = Code(4);
/// Unverified or partial.
pub const UNVERIFIED: Code = Code(5);
pub const OUT_OF_BUDGET: Code = Code(6);
pub const ABORTED: Code = Code(7);
pub const INTERRUPTED: Code = Code(130);

pub fn of_outcome(outcome: &Outcome) -> Code {
    match outcome {
        Outcome::Approved { .. } => OK,
        Outcome::Halted { .. } | Outcome::Rejected { .. } => HALTED,
        Outcome::Waiting(_) => WAITING,
        Outcome::Unverified { .. } => UNVERIFIED,
        Outcome::OutOfBudget { .. } => OUT_OF_BUDGET,
        Outcome::Aborted => ABORTED,
        Outcome::Failed { .. } => FAILED,
    }
}

pub fn of_ended(ended: &Ended) -> Code {
    match ended {
        Ended::Outcome(outcome) => of_outcome(outcome),
        Ended::Interrupted => INTERRUPTED,
    }
}

/// The code of several runs: 0 when every one was approved; else the code if it is the only kind,
/// otherwise 3.
pub fn of_many(codes: &[Code]) -> Code {
    if codes.contains(&INTERRUPTED) {
        return INTERRUPTED;
    }
    let mut kinds = codes.iter().filter(|c| **c != OK);
    match kinds.next() {
        None => OK,
        Some(first) if kinds.all(|c| c == first) => *first,
        Some(_) => HALTED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_runs_end_with_their_only_kind_or_with_three() {
        assert_eq!(of_many(&[OK, OK]), OK);
        assert_eq!(of_many(&[OK, WAITING, WAITING]), WAITING);
        assert_eq!(of_many(&[WAITING, FAILED]), HALTED);
        assert_eq!(of_many(&[OK, INTERRUPTED, FAILED]), INTERRUPTED);
    }
}
