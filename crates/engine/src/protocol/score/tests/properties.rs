//! What holds in every game, whatever agents and people do.

use proptest::prelude::*;

use super::game::*;
use crate::artifact::Manifest;
use crate::effect::{EffectKind, FailureKind};
use crate::event::EventKind;
use crate::machine::Engine;
use crate::outcome::Outcome;
use crate::protocol::Protocols;
use crate::protocol::harness::Table;
use crate::protocol::score::settings::{EscalateTo, ScoreSettings};
use crate::replay::replay;
use crate::review::Verdict;
use crate::turn::Role;

/// One game by a list of dice: every open effect is answered by the next one.
fn play(dice: &[u8], mut t: Table<ScoreSettings>) -> Table<ScoreSettings> {
    for (n, die) in dice.iter().enumerate() {
        if t.engine.outcome().is_some_and(Outcome::is_ended) {
            break;
        }
        if ["failed", "unverified", "waiting(paused)"].contains(&t.class().as_str()) {
            t.resume();
            continue;
        }
        let Some(effect) = t.engine.open_effects().next().cloned() else { break };
        match &effect.kind {
            EffectKind::Ask(_) => {
                let answers = ["restructure", "give-up", "leave the source out", "1"];
                t.answers(answers[usize::from(*die) % 4]);
            }
            EffectKind::Turn(turn) if turn.role == Role::Critic => {
                let agent = turn.agent.clone();
                let reply = match die % 12 {
                    0 => "looks fine".to_owned(),
                    1 => r#"{"deductions": [{"row": "broken", "where": "draft:77", "says": "nowhere"}]}"#
                        .to_owned(),
                    2 => r#"{"deductions": [], "score": 10}"#.to_owned(),
                    3 => "**Score:** 95/100".to_owned(),
                    other => gaps(u32::from(other) % 5, ["no source", "no end", "wrong"][n % 3]),
                };
                t.says_as(&agent, &reply);
            }
            EffectKind::Turn(turn) => {
                let agent = turn.agent.clone();
                let draft = ["v1", "v2", "<think>hm", "v3 **Score:** 100/100"][usize::from(*die) % 4];
                if die % 9 == 0 && t.engine.open_effects().count() == 1 {
                    t.fails(FailureKind::Crashed);
                } else {
                    t.says_as(&agent, draft);
                }
            }
            other => panic!("not expected: {other:?}"),
        }
    }
    t
}

fn check(t: &Table<ScoreSettings>) {
    let events: Vec<&EventKind> = t.records.iter().flat_map(|(_, s)| &s.events).map(|e| &e.what).collect();
    let started = events.iter().filter(|e| matches!(e, EventKind::RoundStarted { .. })).count();
    assert!(started <= 2 * t.settings.rounds as usize, "both attempts together are bounded");
    let escalated = events.iter().filter(|e| matches!(e, EventKind::Escalated { .. })).count();
    assert!(escalated <= 1);
    if let Some(Outcome::Approved { draft, .. }) = t.engine.outcome() {
        let reviews = reviews(t);
        let last: Vec<_> = reviews.iter().rev().take(t.settings.critics.len()).collect();
        for review in last {
            assert_eq!(review.verdict, Verdict::Approved, "every critic's last verdict approves");
            assert!(review.score.as_ref().unwrap().value >= t.settings.threshold);
            assert_eq!(review.binding.artifact, Manifest::of_text(*draft).digest(), "and judged these bytes");
        }
    }
    let records = t.records.iter().map(|(input, step)| (input, step));
    replay(Protocols::shipped(), records).unwrap();
}

fn settings(critics: usize, target: u8, rounds: u32) -> Table<ScoreSettings> {
    let base = if critics == 2 { two_critics() } else { table() };
    let target = match target % 3 {
        0 => EscalateTo::User,
        1 => EscalateTo::Orchestrator,
        _ => EscalateTo::Agent("emil".into()),
    };
    base.with(|s| (s.escalate_to, s.rounds) = (target, rounds)).start()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_approval_needs_the_points_on_these_very_bytes(
        dice in proptest::collection::vec(any::<u8>(), 1..100),
        critics in 1usize..=2,
        target in any::<u8>(),
        rounds in 1u32..5,
    ) {
        check(&play(&dice, settings(critics, target, rounds)));
    }
}

#[test]
fn a_process_that_dies_after_any_step_goes_on_where_it_was() {
    let dice: Vec<u8> = (4..90u8).map(|n| n % 13 * 7 % 13 + 4).collect();
    let whole = play(&dice, settings(2, 2, 3));
    for cut in 1..whole.records.len() {
        let records = || whole.records.iter().take(cut).map(|(input, step)| (input, step));
        let again: Engine = replay(Protocols::shipped(), records()).unwrap();
        let open = |engine: &Engine| engine.open_effects().map(|e| e.id.to_string()).collect::<Vec<_>>();
        let mut live = Engine::default();
        for (input, _) in whole.records.iter().take(cut) {
            live.on(input).unwrap();
        }
        assert_eq!(open(&again), open(&live), "after {cut} records the same is under way");
    }
    assert!(whole.records.len() > 5);
}
