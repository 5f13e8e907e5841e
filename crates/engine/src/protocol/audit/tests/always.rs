//! What holds in every task, whatever agents and people do.

use proptest::prelude::*;

use super::game::*;
use crate::effect::{EffectKind, FailureKind};
use crate::event::EventKind;
use crate::input::Input;
use crate::machine::Engine;
use crate::outcome::Outcome;
use crate::protocol::Protocols;
use crate::protocol::audit::MOST_ROUNDS;
use crate::replay::replay;
use crate::review::Verdict;
use crate::turn::Role;

/// One game by a list of dice: every open effect is answered by the next one.
fn play(dice: &[u8], rounds: u32) -> Game {
    let mut game = game().with(|s| s.rounds = rounds).start();
    for die in dice {
        if game.engine.outcome().is_some_and(Outcome::is_ended) {
            break;
        }
        if ["failed", "unverified", "unverified(partial)", "waiting(paused)"].contains(&game.class().as_str())
        {
            game.resume();
            continue;
        }
        let Some(effect) = game.engine.open_effects().next().cloned() else { break };
        let round = round_of(&game);
        match effect.kind {
            EffectKind::Look(look) if look.paths.is_empty() => {
                let trees: [Files<'_>; 4] = [WORK, MENDED, &[], &[("Cargo.toml", Some("x\n"))]];
                game.sees(trees[*die as usize % 4]);
            }
            EffectKind::Look(_) => _ = game.reads(&[]),
            EffectKind::Verify(_) => _ = game.verifies(i32::from(*die % 3 == 0), "output"),
            EffectKind::Ask(_) => {
                let answers =
                    ["grant 1", "replan else", "drop", "fixed", "stuck", "give-up", "80", "grant x"];
                let answer = crate::text::Text::new(answers[*die as usize % 8]);
                let (text, by) = (answer.digest(), "eve".to_owned());
                let what = crate::input::InputKind::Answered { effect: effect.id, text, by };
                // An answer that is none of the ways out is refused and changes nothing.
                let _ = game.try_put("person", what, vec![answer]);
            }
            EffectKind::Turn(turn) if turn.role == Role::Critic => {
                let categories = [
                    "style",
                    "information-missing",
                    "question-to-user",
                    "infrastructure-mismatch",
                    "critic-error",
                ];
                match die % 10 {
                    0..=2 => _ = game.reports(&clean(round)),
                    3 => _ = game.says("looks fine"),
                    4 => _ = game.fails(FailureKind::Timeout),
                    other => _ = game.reports(&finds(round, categories[usize::from(other) % 5])),
                }
            }
            EffectKind::Turn(_) if *die % 11 == 0 => _ = game.fails(FailureKind::Crashed),
            EffectKind::Turn(_) => _ = game.says("done"),
            EffectKind::Accept(_) => _ = game.accepted(),
            other => panic!("not expected: {other:?}"),
        }
    }
    game
}

fn round_of(game: &Game) -> u32 {
    let events = game.records.iter().flat_map(|(_, s)| &s.events);
    let mut rounds = events.filter_map(|e| match e.what {
        EventKind::RoundStarted { round, .. } => Some(round),
        _ => None,
    });
    rounds.next_back().unwrap_or(0)
}

fn check(game: &Game) {
    let events: Vec<&EventKind> = game.records.iter().flat_map(|(_, s)| &s.events).map(|e| &e.what).collect();
    let started = events.iter().filter(|e| matches!(e, EventKind::RoundStarted { .. })).count();
    assert!(started <= MOST_ROUNDS as usize);
    if let Some(Outcome::Approved { draft, .. }) = game.engine.outcome() {
        let last = events.iter().rev().find_map(|e| match e {
            EventKind::Reviewed { review, .. } => Some(review),
            _ => None,
        });
        let review = last.unwrap();
        assert_eq!(review.verdict, Verdict::Approved, "approved by a verdict");
        assert_eq!(review.binding.artifact, *draft, "about exactly the tree that is delivered");
        assert!(review.criteria.iter().all(|c| c.clean), "every criterion is satisfied");
        let green = events.iter().rev().find_map(|e| match e {
            EventKind::VerifyRan { green, .. } => Some(*green),
            _ => None,
        });
        assert_eq!(green, Some(true), "the last verify run, on that tree, was green");
    }
    let records = game.records.iter().map(|(input, step)| (input, step));
    replay(Protocols::shipped(), records).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_approval_needs_a_verdict_on_these_very_bytes(dice in proptest::collection::vec(any::<u8>(), 1..120), rounds in 1u32..5) {
        check(&play(&dice, rounds));
    }
}

#[test]
fn unattended_a_task_ends_or_waits_within_its_cap() {
    for category in ["style", "information-missing", "unmet-criterion"] {
        let mut game = game().begun();
        for round in 1..=10 {
            if game.class() != "going" {
                break;
            }
            let files: [Files<'_>; 2] = [WORK, MENDED];
            if matches!(game.open().kind, EffectKind::Turn(ref t) if t.agent == "emil") {
                game.says("nothing is known");
            }
            game.works(files[round as usize % 2]).reports(&finds(round, category));
        }
        assert_ne!(game.class(), "going", "{category}");
        assert!(game.calls(Role::Worker) <= 3, "{category}: three rounds are the cap");
    }
}

/// A run cut after any record, rebuilt from what is left and resumed, ends as it would have.
#[test]
fn a_task_cut_anywhere_goes_on_from_there() {
    let mut whole = game().begun();
    whole.works(WORK).reports(&finds(1, "information-missing")).says("it is 80");
    whole.works(MENDED).reports(&clean(2)).accepted();
    for cut in 1..whole.records.len() {
        let records: Vec<(Input, _)> = whole.records[..cut].to_vec();
        let rebuilt: Engine = replay(Protocols::shipped(), records.iter().map(|(i, s)| (i, s))).unwrap();
        let mut game = game();
        game.engine = rebuilt;
        game.records = records;
        game.resume();
        let mut left = 40;
        while !game.engine.outcome().is_some_and(Outcome::is_ended) && left > 0 {
            left -= 1;
            let round = round_of(&game);
            match game.open().kind {
                EffectKind::Look(_) if round == 0 => _ = game.sees(&[]),
                EffectKind::Look(_) if round == 1 => _ = game.sees(WORK),
                EffectKind::Look(_) => _ = game.sees(MENDED),
                EffectKind::Verify(_) => _ = game.verifies(0, "ok"),
                EffectKind::Turn(t) if t.role == Role::Critic && round == 1 => {
                    game.reports(&finds(1, "information-missing"));
                }
                EffectKind::Turn(t) if t.role == Role::Critic => _ = game.reports(&clean(round)),
                EffectKind::Turn(_) => _ = game.says("done"),
                EffectKind::Accept(_) => _ = game.accepted(),
                other => panic!("not expected: {other:?}"),
            }
        }
        assert_eq!(game.class(), "approved", "cut after record {cut}\n{}", game.log());
        check(&game);
    }
}
