//! The machine under any host: whatever order replies come in, wherever the process dies, the records
//! replay to the same decisions and lead to the same end.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test: failing is how it speaks

mod fan;
mod world;

use fan::Shape;
use gadfly_engine::input::{Input, InputKind};
use gadfly_engine::replay::{ReplayError, replay};
use gadfly_engine::{EffectKind, Step};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use world::{Host, PER_CALL, World, protocols};

fn shapes() -> impl Strategy<Value = Shape> {
    let node = (1..=3u32, 1..=2u32, prop::bool::weighted(0.2), any::<bool>(), any::<bool>());
    let shape = |(calls, rounds, early, person, saves)| Shape {
        name: String::new(),
        calls,
        rounds,
        early,
        person,
        saves,
        children: Vec::new(),
    };
    node.prop_map(shape)
        .prop_recursive(2, 5, 2, move |inner| {
            (inner.clone(), prop::collection::vec(inner, 0..=2))
                .prop_map(|(node, children)| Shape { children, ..node })
        })
        .prop_map(|mut root| {
            name(&mut root, "root");
            root
        })
}

/// Names are unique in the tree, because the world answers by what it is asked.
fn name(shape: &mut Shape, path: &str) {
    shape.name = path.replace('/', ".");
    for (n, child) in shape.children.iter_mut().enumerate() {
        name(child, &format!("{path}.{n}"));
    }
}

fn prefix(records: &[(Input, Step)]) -> impl Iterator<Item = (&Input, &Step)> {
    records.iter().map(|(input, step)| (input, step))
}

/// As it is stored and read again: JSON for the record, texts beside it.
fn stored((input, step): &(Input, Step)) -> (Input, Step) {
    let mut read: Input = serde_json::from_str(&serde_json::to_string(input).unwrap()).unwrap();
    read.texts.clone_from(&input.texts);
    let mut again: Step = serde_json::from_str(&serde_json::to_string(step).unwrap()).unwrap();
    again.texts.clone_from(&step.texts);
    assert_eq!((&read, &again), (input, step));
    (read, again)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_cut_anywhere_goes_on_to_the_same_end(shape in shapes(), seed: u64, spare in 1..12u64) {
        let cap = spare * 3 * PER_CALL;
        let mut world = World::start(&shape, seed, cap);
        let end = world.run(Host::Unruly);
        let records: Vec<(Input, Step)> = world.records.iter().map(stored).collect();
        for cut in 1..=records.len() {
            let engine = replay(protocols(), prefix(&records[..cut])).unwrap();
            let mut other = World::take_up(engine, &records[..cut], seed, cap);
            if cut < records.len() {
                other.resume();
            }
            prop_assert_eq!(&other.run(Host::Diligent), &end, "cut after record {} of {}", cut, records.len());
        }
    }

    #[test]
    fn a_cancelled_run_ends_however_it_is_cut(shape in shapes(), seed: u64) {
        let mut world = World::start(&shape, seed, 100 * PER_CALL);
        let end = world.run(Host::Cancelling);
        let cancelled = world.records.iter().position(|(i, _)| {
            matches!(i.what, InputKind::Controlled(gadfly_engine::Control::Cancel))
        });
        for cut in 1..=world.records.len() {
            let engine = replay(protocols(), prefix(&world.records[..cut])).unwrap();
            let mut other = World::take_up(engine, &world.records[..cut], seed, 100 * PER_CALL);
            if cut < world.records.len() {
                other.resume();
            }
            let other = other.run(Host::Diligent);
            if cancelled.is_some_and(|at| cut > at) {
                prop_assert_eq!(&other, &end);
            }
        }
    }

    #[test]
    fn a_tampered_record_is_named_with_both_sides(shape in shapes(), seed: u64, pick: prop::sample::Index) {
        let mut world = World::start(&shape, seed, 100 * PER_CALL);
        world.run(Host::Unruly);
        let mut records = world.records;
        let telling: Vec<usize> = (0..records.len()).filter(|i| decides(&records[*i].1)).collect();
        let at = telling[pick.index(telling.len())];
        tamper(&mut records[at].1);
        match replay(protocols(), prefix(&records)) {
            Err(ReplayError::Differs(difference)) => {
                prop_assert_eq!(difference.index, at as u64);
                prop_assert_ne!(difference.recorded, difference.computed);
            }
            Err(other) => prop_assert!(false, "{}", other),
            Ok(_) => prop_assert!(false, "record {} was tampered with and nobody noticed", at),
        }
    }
}

fn decides(step: &Step) -> bool {
    !step.effects.is_empty() || step.outcome.is_some()
}

/// Changes one decision, as little as possible.
fn tamper(step: &mut Step) {
    match step.effects.first_mut() {
        Some(effect) => match &mut effect.kind {
            EffectKind::Turn(turn) => turn.agent.push('x'),
            EffectKind::Tell { text, .. } => text.push('!'),
            EffectKind::Save(save) => save.approved = !save.approved,
            EffectKind::Look(look) => look.paths.push("x".into()),
            EffectKind::Examine(examine) => examine.tree = gadfly_engine::Digest::of(b"x"),
            EffectKind::Verify(verify) => verify.command.push('x'),
            EffectKind::Ask(question) => question.text.push('x'),
            EffectKind::Accept(accept) => accept.tree = gadfly_engine::Digest::of(b"x"),
            EffectKind::Tool(tool) => tool.keep_as += 1,
            EffectKind::Survey(survey) => survey.patterns.clear(),
            EffectKind::Commit(commit) => commit.message.push('x'),
            EffectKind::Cancel { target } => target.n += 1,
        },
        None => step.outcome = None,
    }
}

/// The properties above say little if nothing ever happens: every kind of event must have been met.
#[test]
fn the_worlds_are_eventful() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut met = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..200 {
        let shape = shapes().new_tree(&mut runner).unwrap().current();
        let mut world = World::start(&shape, seed, 12 * PER_CALL);
        world.run(if seed % 5 == 0 { Host::Cancelling } else { Host::Unruly });
        for (_, step) in &world.records {
            for effect in &step.effects {
                let again = if effect.repeats.is_some() { " again" } else { "" };
                *met.entry(format!("{}{again}", effect.kind.name())).or_default() += 1;
            }
            if let Some(outcome) = &step.outcome {
                *met.entry(outcome.label()).or_default() += 1;
            }
        }
    }
    eprintln!("{met:?}");
    for kind in [
        "turn",
        "turn again",
        "save",
        "cancel",
        "tell",
        "approved",
        "halted(stuck)",
        "aborted",
        "unverified",
        "failed",
        "out_of_budget",
        "waiting(quota)",
        "waiting(paused)",
        "waiting(question)",
    ] {
        assert!(met.get(kind).is_some_and(|n| *n >= 5), "`{kind}` is hardly met: {met:?}");
    }
}
