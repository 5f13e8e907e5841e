//! What tells a run of the hook's from one that only looks like it. Titles are words anybody may choose; this stands in
//! the plan as its caller, where no task, tool or option reaches, and proves itself by the run's own seed, which nobody
//! knows before the run exists. Whoever can write the journal itself is not kept out.

use gadfly_engine::{RunManifest, Start};
use gadfly_journal::RunId;

const PURPOSE: &str = "gadfly 2026 mark of a stop hook's run";

/// Marks the plan of a run as begun for this session.
pub fn set(start: &mut Start, run: &RunId, session: &str) {
    start.plan.caller = Some(proof(start, run, session));
}

/// Whether the hook began this run for this session.
pub fn is_set(start: &Start, run: &RunId, session: &str) -> bool {
    start.plan.caller.as_ref().is_some_and(|claimed| *claimed == proof(start, run, session))
}

fn proof(start: &Start, run: &RunId, session: &str) -> String {
    let key = blake3::derive_key(PURPOSE, start.seed.as_bytes());
    let task = RunManifest::of(&start.plan).task.map(|task| task.to_string()).unwrap_or_default();
    blake3::keyed_hash(&key, format!("{run}\n{session}\n{task}").as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gadfly_engine::input::FORMAT;
    use gadfly_engine::plan::NodePlan;
    use gadfly_engine::{Digest, Limits, Plan};
    use serde_json::json;

    use super::*;

    fn start() -> Start {
        let limits = Limits::default();
        let settings = json!({
            "task": Digest::of(b"t"), "phase": "", "rubric": ["is short"], "critic": "judge", "rounds": 3, "overrule": true,
        });
        let root = NodePlan { protocol: "revise".to_owned(), version: 1, limits, settings };
        let title = "Claude Code session s".to_owned();
        let plan =
            Plan { caller: None, title, root, agents: BTreeMap::new().into(), limits, workspace: None };
        Start { format: FORMAT, plan, seed: "seed".to_owned() }
    }

    #[test]
    fn a_mark_holds_for_its_run_session_task_and_seed_only() {
        let (run, mut mine) = (RunId::random().unwrap(), start());
        assert!(!is_set(&mine, &run, "s"), "nothing is marked by itself");
        set(&mut mine, &run, "s");
        assert!(is_set(&mine, &run, "s"));
        assert!(!is_set(&mine, &run, "another") && !is_set(&mine, &RunId::random().unwrap(), "s"));
        let mut other = mine.clone();
        other.seed = "another".to_owned();
        assert!(!is_set(&other, &run, "s"));
        let mut other = mine.clone();
        other.plan.root.settings["task"] = json!(Digest::of(b"another"));
        assert!(!is_set(&other, &run, "s"));
    }
}
