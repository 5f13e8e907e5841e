//! Thirty agents with diamonds, conditionals and gates: everybody is dispatched when its conditions allow it and not
//! before, whatever order answers come in and wherever the run is cut off.

use std::collections::BTreeMap;

use super::stage::{Stage, entry, path, scored};
use crate::pipeline::RegistryEntry;
use crate::pipeline::registry::Need;

/// Layers of a lattice: an agent needs two of the layer above, so there are diamonds everywhere.
fn lattice() -> Vec<RegistryEntry> {
    let mut entries = Vec::new();
    for layer in 0..6_u32 {
        for at in 0..5_u32 {
            let name = format!("a{layer}{at}");
            let above = |at: u32| format!("a{}{}", layer - 1, at % 5);
            let requires = match layer {
                0 => Need::All(vec![]),
                3 => Need::All(vec![
                    scored(&format!("{}-critic", above(at))),
                    path(&format!("out/{}.md", above(at + 1))),
                ]),
                _ => Need::Any(vec![
                    Need::All(vec![
                        path(&format!("out/{}.md", above(at))),
                        path(&format!("out/{}.md", above(at + 2))),
                    ]),
                    path("out/never.md"),
                ]),
            };
            let mut agent = entry(&name, requires, 3);
            if layer == 1 {
                agent.group = Some("one".into());
            }
            if name == "a44" {
                agent.conditional = Some("only for theory papers".into());
            }
            entries.push(agent);
        }
    }
    entries
}

/// What an agent needs before it, by name.
fn required(entries: &[RegistryEntry]) -> BTreeMap<String, Vec<String>> {
    let mut required = BTreeMap::new();
    for entry in entries {
        let needed = entry.requires.atoms().into_iter().filter_map(|atom| {
            let name = atom.text.split(" score").next()?.trim_end_matches("-critic");
            let name = name.trim_start_matches("out/").trim_end_matches(".md");
            (name != "never").then(|| name.to_owned())
        });
        required.insert(entry.agent.clone(), needed.collect());
    }
    required
}

#[test]
fn everybody_is_dispatched_once_after_what_it_needs_and_never_more_than_there_are_jobs() {
    for (jobs, backwards) in [(1, false), (3, false), (3, true), (30, true)] {
        let mut stage = Stage::of(lattice());
        (stage.settings.jobs, stage.backwards) = (jobs, backwards);
        let stage = stage.plays();
        assert_eq!(stage.label(), "approved", "{}", stage.story());
        assert!(stage.at_once <= jobs as usize, "{} at once with {jobs} jobs", stage.at_once);
        assert!(jobs == 1 || stage.at_once > 1, "nobody worked beside another");
        let order = stage.dispatched();
        let required = required(&lattice());
        for (at, agent) in order.iter().enumerate() {
            for needed in &required[agent] {
                let before = order[..at].contains(needed);
                // The one that is off holds up whoever needs it.
                assert!(before, "{agent} was dispatched before {needed}: {order:?}");
            }
        }
        let mut once = order.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), order.len());
        assert!(!order.contains(&"a44".to_owned()), "it is not enabled");
        // a54 and a52 need a44.
        assert_eq!(order.len(), 27, "{order:?}");
    }
}

#[test]
fn cut_off_after_any_record_it_comes_to_the_same_end() {
    let mut begun = Stage::of(lattice().into_iter().take(12).collect());
    begun.settings.jobs = 3;
    let whole = begun.clone().plays();
    assert_eq!(whole.label(), "approved", "{}", whole.story());
    for at in 1..whole.records.len() {
        let resumed = whole.resumed_after(at, &begun);
        assert_eq!(resumed.label(), "approved", "cut after {at}: {}", resumed.story());
        assert_eq!(resumed.checkout, whole.checkout, "cut after {at}");
        let (mut order, mut expected) = (resumed.dispatched(), whole.dispatched());
        order.sort();
        expected.sort();
        assert_eq!(order, expected, "cut after {at}: everybody once");
    }
    let mut one = begun.clone();
    one.settings.jobs = 1;
    let whole = one.clone().plays();
    for at in (1..whole.records.len()).step_by(7) {
        assert_eq!(whole.resumed_after(at, &one).dispatched(), whole.dispatched(), "cut after {at}");
    }
}
