//! A goal at the table: Ann works with our tools, Cato watches her, Dora judges.

use crate::budget::Limits;
use crate::digest::Digest;
use crate::effect::EffectKind;
use crate::plan::NodePlan;
use crate::protocol::goal::{Criterion, GoalSettings, Policy};
use crate::protocol::harness::{Plays, TASK, Table};
use crate::tool::ToolEnd;
use crate::tree::{Acceptance, RunEnd, WorkspacePlan};
use crate::turn::Role;

pub type Goal = Table<Play>;

/// Settings with the caps of their node.
pub struct Play {
    pub settings: GoalSettings,
    pub limits: Limits,
}

impl Plays for Play {
    fn root(&self) -> NodePlan {
        NodePlan {
            protocol: "goal".into(),
            version: super::super::RULE_BOOK.version,
            limits: self.limits,
            settings: serde_json::to_value(&self.settings).unwrap(),
        }
    }
}

pub fn settings() -> GoalSettings {
    GoalSettings {
        goal: Digest::of(TASK.as_bytes()),
        worker: "ann".into(),
        critic: Some("cato".into()),
        interval: 3,
        strict_critic: false,
        judge: None,
        until: Criterion::Shell {
            command: "make test".into(),
            exit_code: 0,
            timeout_ms: 1000,
            evidence: Vec::new(),
        },
        policy: Policy::default(),
        protect: Vec::new(),
        protect_tests: true,
        references: Vec::new(),
        servers: Vec::new(),
        root: "/w".into(),
        below: String::new(),
        held: true,
        already: None,
        examine: false,
        acceptance: Some(Acceptance::Checkout),
    }
}

/// A goal that was not begun.
pub fn seated(change: impl FnOnce(&mut GoalSettings)) -> Goal {
    let mut settings = settings();
    change(&mut settings);
    let mut table = Table::seated(Play { settings, limits: Limits::default() });
    table.workspace = Some(WorkspacePlan { project: "/p".into(), ..WorkspacePlan::default() });
    table.agents.entry("ann".into()).and_modify(|card| card.tools = true);
    table
}

/// A goal whose worker is asked for its first turn.
pub fn goal() -> Goal {
    begun(seated(|_| {}))
}

pub fn begun(table: Goal) -> Goal {
    let mut table = table.start();
    table.sees(&[]);
    table
}

pub trait Plays2 {
    /// The worker reads a file, and gets it: a step that is new every time.
    fn reads_something(&mut self, n: u32) -> &mut Self;
    fn runs(&mut self, command: &str, code: i32, output: &str) -> &mut Self;
    fn claims(&mut self) -> &mut Self;
    /// The critic has looked at the whole change, and nothing is wrong with it.
    fn agrees(&mut self) -> &mut Self;
    /// The events and effects after the last line that contains this.
    fn since(&self, fence: &str) -> String;
    fn asked(&self, role: Role) -> bool;
}

impl Plays2 for Goal {
    fn reads_something(&mut self, n: u32) -> &mut Self {
        self.wants(&[("read_file", &format!(r#"{{"path":"f{n}"}}"#))]);
        self.did(ToolEnd::Done, &format!("content {n}"))
    }

    fn runs(&mut self, command: &str, code: i32, output: &str) -> &mut Self {
        self.wants(&[("run_command", &format!(r#"{{"command":"{command}"}}"#))]);
        self.did(ToolEnd::Ran(RunEnd::Code(code)), output)
    }

    fn claims(&mut self) -> &mut Self {
        self.wants(&[("claim_complete", r#"{"rationale":"all green"}"#)])
    }

    fn agrees(&mut self) -> &mut Self {
        self.says_as("cato", "YES\nIt does what was asked for.")
    }

    fn since(&self, fence: &str) -> String {
        self.log().rsplit_once(fence).map_or_else(|| self.log().to_owned(), |(_, after)| after.to_owned())
    }

    fn asked(&self, role: Role) -> bool {
        self.engine.open_effects().any(|e| matches!(&e.kind, EffectKind::Turn(t) if t.role == role))
    }
}

/// A text of the run, by what it contains.
pub fn told(table: &Goal) -> String {
    let open = table.engine.open_effects().next().unwrap().clone();
    table.prompt(&open)
}
