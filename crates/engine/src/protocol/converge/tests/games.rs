//! Games at random: whatever is said, a loop ends within its cap, approves only what its critic judged
//! clean, and its records replay to the same decisions wherever they are cut.

use proptest::prelude::*;

use super::{UNREALISTIC, lines, reply, reviews, table};
use crate::effect::EffectKind;
use crate::outcome::Outcome;
use crate::protocol::Protocols;
use crate::replay::replay;
use crate::review::Verdict;
use crate::turn::Role;
use crate::work::Work;

#[derive(Clone, Debug)]
struct Script {
    verdicts: Vec<(usize, usize, bool)>,
    drafts: Vec<usize>,
    answers: Vec<usize>,
    rounds: u32,
}

fn scripts() -> impl Strategy<Value = Script> {
    let verdict = (0..6usize, 0..6usize, prop::bool::weighted(0.2));
    (
        prop::collection::vec(verdict, 8),
        prop::collection::vec(0..4usize, 8),
        prop::collection::vec(0..5usize, 8),
        1..6u32,
    )
        .prop_map(|(verdicts, drafts, answers, rounds)| Script { verdicts, drafts, answers, rounds })
}

fn play(script: &Script) -> super::Table<super::ConvergeSettings> {
    const VERDICTS: [&str; 6] = [
        "PASS",
        "PASS",
        "FAIL (add the unit)",
        "FAIL (name the archive in May)",
        "ESCALATE",
        "DEFER (in May)",
    ];
    const ANSWERS: [&str; 5] = ["1", "skip", "skip\nskip", "in words of mine", "1\n2"];
    let mut t = table().with(|s| s.rounds = script.rounds).start();
    let (mut drafts, mut answers) = (script.drafts.iter().cycle(), script.answers.iter().cycle());
    for _ in 0..60 {
        if t.engine.outcome().is_some_and(Outcome::is_ended) {
            break;
        }
        match t.open().kind {
            EffectKind::Ask(_) => drop(t.answers(ANSWERS[*answers.next().unwrap()])),
            EffectKind::Turn(turn) if turn.role == Role::Worker => {
                let n = drafts.next().unwrap();
                t.says(&format!("draft {n}"));
            }
            EffectKind::Turn(_) => {
                let pass = u32::try_from(reviews(&t).len()).unwrap() + 1;
                let (units, sources, realistic) = script.verdicts[pass as usize - 1];
                // Nothing but DEFER is asked about, not decided on.
                let units = if VERDICTS[units].starts_with("DEFER") && VERDICTS[sources].starts_with("DEFER")
                {
                    0
                } else {
                    units
                };
                let realistic = if realistic { "Y → FAIL + fix: say kilometres" } else { UNREALISTIC };
                t.says(&reply(pass, VERDICTS[units], VERDICTS[sources], realistic));
            }
            other => panic!("{other:?}"),
        }
    }
    t
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_game_ends_within_its_cap_and_approves_only_what_was_judged_clean(script in scripts()) {
        let t = play(&script);
        let all = reviews(&t);
        prop_assert!(t.engine.outcome().is_some_and(Outcome::is_ended), "{}", t.log());
        prop_assert!(all.len() <= script.rounds as usize, "{}", t.log());
        prop_assert!(lines(&t).last().unwrap().starts_with(['✓', '⚠']), "{}", t.log());
        let last = all.last().unwrap();
        match t.engine.outcome() {
            Some(Outcome::Approved { draft, .. }) => {
                prop_assert_eq!(last.verdict, Verdict::Approved, "{}", t.log());
                prop_assert!(last.criteria.iter().all(|c| c.clean), "{}", t.log());
                prop_assert_eq!(last.binding.artifact, Work::Draft(*draft).artifact());
                prop_assert!(all.len() > 1 || last.criteria.iter().all(|c| c.verdict == "PASS"), "{}", t.log());
            }
            Some(Outcome::Halted { draft, .. }) => {
                prop_assert_eq!(Some(last.binding.artifact), draft.map(|d| Work::Draft(d).artifact()));
            }
            other => prop_assert!(false, "{:?}\n{}", other, t.log()),
        }
    }

    #[test]
    fn its_records_replay_wherever_they_are_cut(script in scripts()) {
        let t = play(&script);
        for cut in 1..=t.records.len() {
            let records = t.records[..cut].iter().map(|(input, step)| (input, step));
            let engine = replay(Protocols::shipped(), records).unwrap();
            if cut == t.records.len() {
                prop_assert_eq!(engine.outcome(), t.engine.outcome());
            }
        }
    }
}

/// Games that only ever fail, or only ever pass, would prove little.
#[test]
fn games_end_in_more_than_one_way() {
    use proptest::strategy::ValueTree as _;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut classes = std::collections::BTreeMap::<String, u32>::new();
    for _ in 0..300 {
        let script = scripts().new_tree(&mut runner).unwrap().current();
        *classes.entry(play(&script).class()).or_default() += 1;
    }
    for class in ["approved", "halted(cap)", "halted(plateau)", "halted(oscillation)"] {
        assert!(classes.contains_key(class), "{class}: {classes:?}");
    }
    assert!(classes["approved"] >= 50, "{classes:?}");
}
