//! What the command line says about one goal, as the top layer of its table.

use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::budget::Limits;
use gadfly_engine::protocol::watch::Criterion;

use super::added;
use crate::config::flags::insert;
use crate::config::keys::Section;
use crate::config::value::{Table, Value};
use crate::place::{Layer, Problem, Sourced};

/// Absent means: as configured.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GoalFlags {
    pub goal: Option<String>,
    pub goal_file: Option<PathBuf>,
    pub until: Option<Criterion>,
    /// The time of every command of the criterion.
    pub check_timeout: Option<Duration>,
    pub worker: Option<String>,
    pub critic: Option<String>,
    pub judge: Option<String>,
    pub critic_interval: Option<u64>,
    pub strict_critic: Option<bool>,
    pub risk: Option<String>,
    /// Denied, and protected, besides what is configured: a flag takes nothing of that away.
    pub deny: Vec<String>,
    pub protect: Vec<String>,
    pub allow: Vec<String>,
    pub mcp: Vec<String>,
    pub protect_tests: Option<bool>,
    pub in_place: Option<bool>,
    pub commit: Option<bool>,
    pub branch: Option<String>,
    pub with: Vec<PathBuf>,
    /// Caps of the run: steps, turns and time, too.
    pub limits: Limits,
}

impl GoalFlags {
    /// The flags as the layer above `below`.
    pub(super) fn table(&self, below: &Table, problems: &mut Vec<Problem>) -> Table {
        let mut table = Table::new(Section::Goal, Layer::Flags, None);
        let texts = [
            ("goal", &self.goal),
            ("worker", &self.worker),
            ("critic", &self.critic),
            ("judge", &self.judge),
            ("risk", &self.risk),
            ("branch", &self.branch),
        ];
        for (key, value) in texts {
            match value {
                // An empty goal is no goal, and that is said once.
                Some(text) if key == "goal" && text.trim().is_empty() => {}
                Some(text) => insert(&mut table, key, Value::Text(text.clone()), problems),
                None => {}
            }
        }
        for (key, given) in [("deny", &self.deny), ("protect", &self.protect)] {
            if !given.is_empty() {
                insert(&mut table, key, added(below, key, given), problems);
            }
        }
        for (key, given) in [("allow", &self.allow), ("mcp", &self.mcp)] {
            if !given.is_empty() {
                let list = given.iter().cloned().map(Sourced::flag).collect();
                insert(&mut table, key, Value::Texts(list), problems);
            }
        }
        let flags = [
            ("strict_critic", self.strict_critic),
            ("protect_tests", self.protect_tests),
            ("in_place", self.in_place),
            ("commit", self.commit),
        ];
        for (key, flag) in flags {
            if let Some(flag) = flag {
                table.insert(key, Sourced::flag(Value::Flag(flag)));
            }
        }
        if let Some(interval) = self.critic_interval {
            insert(&mut table, "critic_interval", Value::Whole(interval), problems);
        }
        if let Some(until) = &self.until {
            table.insert("until", Sourced::flag(Value::Until(until.clone())));
        }
        if let Some(path) = &self.goal_file {
            table.insert("goal_file", Sourced::flag(Value::Path(path.clone())));
        }
        if !self.with.is_empty() {
            let paths = self.with.iter().cloned().map(Sourced::flag).collect();
            table.insert("with", Sourced::flag(Value::Paths(paths)));
        }
        table
    }
}
