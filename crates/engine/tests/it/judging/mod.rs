//! What holds for every protocol that judges, whatever critics, workers and persons say: a loop ends within
//! its caps, replays to the same decisions, and approves only what critics passed, to the byte.

#![allow(clippy::unwrap_used, clippy::panic)]

mod chance;
mod replies;
mod world;

use gadfly_engine::Outcome;
use gadfly_engine::event::EventKind;
use gadfly_engine::review::Verdict;

use world::{Game, World};

const GAMES: [Game; 3] = [Game::Score, Game::Audit, Game::Converge];
const SEEDS: u64 = 250;

/// Plays every game with every seed.
fn played(mut see: impl FnMut(Game, u64, &World)) {
    for game in GAMES {
        for seed in 0..SEEDS {
            let mut world = World::start(game, seed);
            world.play();
            see(game, seed, &world);
        }
    }
}

#[test]
fn every_loop_ends_within_its_caps() {
    played(|game, seed, world| {
        let outcome = world.engine.outcome();
        assert!(outcome.is_some_and(Outcome::is_ended), "{game:?} {seed}: {outcome:?}\n{}", world.log());
        assert!(
            world.worker_calls <= world.most_worker_calls(),
            "{game:?} {seed}: {} worker calls\n{}",
            world.worker_calls,
            world.log()
        );
    });
}

#[test]
fn every_loop_replays_to_the_same_decisions() {
    played(|game, seed, world| {
        let records = world.records.iter().map(|(input, step)| (input, step));
        for (index, (input, step)) in records.clone().enumerate() {
            assert!(input.texts.len() < 100, "{game:?} {seed}: record {index} of {step:?}");
        }
        let mut engine = gadfly_engine::Engine::default();
        for (index, (input, step)) in records.enumerate() {
            let again = engine.on(input).unwrap();
            let (live, again) =
                (gadfly_engine::replay::decisions(step), gadfly_engine::replay::decisions(&again));
            assert_eq!(live, again, "{game:?} {seed}: record {index}");
        }
    });
}

#[test]
fn nothing_is_approved_without_a_verdict_on_exactly_these_bytes() {
    let mut approved = 0;
    played(|game, seed, world| {
        let Some(Outcome::Approved { draft, .. }) = world.engine.outcome() else { return };
        approved += 1;
        let made = world.events().filter_map(|e| match e {
            EventKind::DraftMade { artifact, blob, round, .. } => Some((*artifact, *blob, *round)),
            _ => None,
        });
        let (artifact, blob, round) = made.last().unwrap();
        assert_eq!(blob, *draft, "{game:?} {seed}: another draft than the last was delivered");
        let last: Vec<_> = world
            .events()
            .filter_map(|e| match e {
                EventKind::Reviewed { review, .. } if review.binding.artifact == artifact => Some(review),
                _ => None,
            })
            .collect();
        let critics = world.critics();
        assert!(last.len() >= critics, "{game:?} {seed}: {} reviews\n{}", last.len(), world.log());
        for review in &last[last.len() - critics..] {
            assert_eq!(review.verdict, Verdict::Approved, "{game:?} {seed}\n{}", world.log());
            assert!(review.coverage.unseen.is_empty());
            assert!(review.criteria.iter().all(|c| c.clean), "{game:?} {seed}: {:?}", review.criteria);
            assert!(round >= review.binding.round);
            if let Some(score) = &review.score {
                assert!(score.value >= score.threshold, "{game:?} {seed}: {score:?}");
            }
        }
        // A delivery whose reply was lost is made again: it must be the same.
        let mut delivered: Vec<_> = world.delivered().collect();
        delivered.dedup();
        assert_eq!(delivered, [*draft], "{game:?} {seed}: what was delivered is not what was approved");
    });
    assert!(approved > 30, "only {approved} of the loops were approved: the games are too hard to say much");
}

/// The properties above say little if nothing ever happens.
#[test]
fn the_games_are_eventful() {
    let mut met = std::collections::BTreeMap::<String, u32>::new();
    played(|game, _, world| {
        let outcome = world.engine.outcome().map_or_else(String::new, Outcome::label);
        *met.entry(format!("{game:?} {outcome}")).or_default() += 1;
        for event in world.events() {
            let name = serde_json::to_value(event).unwrap()["event"].as_str().unwrap().to_owned();
            *met.entry(format!("{game:?} {name}")).or_default() += 1;
        }
    });
    let summary: Vec<String> = met.iter().map(|(what, times)| format!("{what} {times}")).collect();
    for wanted in [
        "Score approved",
        "Score halted(cap)",
        "Score escalated",
        "Score reply_malformed",
        "Audit approved",
        "Audit halted(stuck)",
        "Audit verify_ran",
        "Audit asked",
        "Audit routed",
        "Audit stepped",
        "Audit outcome_unknown",
        "Converge approved",
        "Converge halted(cap)",
        "Converge asked",
        "Converge deferred",
        "Converge reply_malformed",
    ] {
        assert!(met.contains_key(wanted), "`{wanted}` never happened:\n{}", summary.join("\n"));
    }
}
