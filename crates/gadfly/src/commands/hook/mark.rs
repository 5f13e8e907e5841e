//! What tells a run of the hook's from one that only looks like it. Titles are words anybody may choose; this stands
//! among the settings of the plan, where no task, tool or option reaches, and proves itself by the run's own seed,
//! which nobody knows before the run exists. Whoever can write the journal itself is not kept out.

use gadfly_engine::Start;
use gadfly_journal::RunId;
use serde_json::Value;

const PURPOSE: &str = "gadfly 2026 mark of a stop hook's run";
/// The name among the settings. The protocol does not read it.
const NAME: &str = "stop_hook";

/// Marks the plan of a run as begun for this session.
pub fn set(start: &mut Start, run: &RunId, session: &str) {
    let proof = proof(start, run, session);
    if let Some(settings) = start.plan.root.settings.as_object_mut() {
        settings.insert(NAME.to_owned(), Value::String(proof));
    }
}

/// Whether the hook began this run for this session.
pub fn is_set(start: &Start, run: &RunId, session: &str) -> bool {
    let claimed = start.plan.root.settings.get(NAME).and_then(Value::as_str);
    claimed.is_some_and(|claimed| claimed == proof(start, run, session))
}

fn proof(start: &Start, run: &RunId, session: &str) -> String {
    let key = blake3::derive_key(PURPOSE, start.seed.as_bytes());
    let task = start.plan.root.settings.get("task").map(Value::to_string).unwrap_or_default();
    blake3::keyed_hash(&key, format!("{run}\n{session}\n{task}").as_bytes()).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use gadfly_engine::input::FORMAT;
    use gadfly_engine::plan::NodePlan;
    use gadfly_engine::{Limits, Plan};
    use serde_json::json;

    use super::*;

    fn start() -> Start {
        let limits = Limits::default();
        let settings = json!({ "task": "t", "critic": "judge" });
        let root = NodePlan { protocol: "revise".to_owned(), version: 1, limits, settings };
        let title = "Claude Code session s".to_owned();
        let plan = Plan { title, root, agents: BTreeMap::new(), limits, workspace: None };
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
        other.plan.root.settings["task"] = json!("another");
        assert!(!is_set(&other, &run, "s"));
    }
}
