//! A task at the table: Ann executes, Dora mends, Emil researches, Cato judges.

use serde_json::{Value, json};

use crate::budget::Limits;
use crate::digest::Digest;
use crate::finding::Severity;
use crate::judging::{PARTS, Seat};
use crate::plan::NodePlan;
use crate::protocol::audit::report::AuditCriterion;
use crate::protocol::audit::{AuditSettings, VERIFY_TIMEOUT_MS};
use crate::protocol::harness::{Plays, TASK, THOUGHT, Table};
use crate::tree::WorkspacePlan;

pub type Game = Table<AuditSettings>;
pub type Files<'a> = &'a [(&'a str, Option<&'a str>)];

/// What the worker makes in most games.
pub const WORK: Files<'static> = &[("src/a.rs", Some("fn a() {}\nfn b() {}\n"))];
/// The same, mended.
pub const MENDED: Files<'static> = &[("src/a.rs", Some("fn a() {}\nfn b() {}\nfn c() {}\n"))];

impl Plays for AuditSettings {
    fn root(&self) -> NodePlan {
        self.node_plan(Limits::default()).unwrap()
    }
}

pub fn settings() -> AuditSettings {
    let criterion = |id: &str, claim: &str| AuditCriterion { id: id.into(), claim: claim.into() };
    AuditSettings {
        task_id: "T1".into(),
        task: Digest::of(TASK.as_bytes()),
        criteria: vec![criterion("SC-1", "a exists"), criterion("SC-2", "b exists")],
        scope: vec!["src/**".into(), "tests/**".into()],
        verify: vec!["make test".into()],
        verify_runs: 1,
        verify_timeout_ms: VERIFY_TIMEOUT_MS,
        decisions: vec!["D-01: no macros".into()],
        references: Vec::new(),
        given: None,
        folder: true,
        worker: Some("ann".into()),
        build_fixer: Some("dora".into()),
        researcher: Some("emil".into()),
        architect: None,
        test_writer: None,
        critics: vec![Seat { agent: "cato".into(), fallback: None, lens: None }],
        rounds: 3,
        block_on: Severity::Nit,
        economy: crate::protocol::audit::economy::Economy::Off,
        examine: false,
        acceptance: None,
        max_parts: PARTS,
        keeps_status: false,
        run_id: "r7".into(),
        report_dir: "runs/r7".into(),
    }
}

/// A game before its first input.
pub fn game() -> Game {
    let mut table = Table::seated(settings());
    table.workspace = Some(WorkspacePlan { project: "/project".into(), ..WorkspacePlan::default() });
    table
}

pub trait Moves {
    /// Start, look at the folder, try the verify command: the executor is asked.
    fn begun(self) -> Self;
    /// The worker works, the folder is looked at, the verify command is green: the critic is asked.
    fn works(&mut self, files: Files<'_>) -> &mut Self;
    fn reports(&mut self, report: &Value) -> &mut Self;
}

impl Moves for Game {
    fn begun(self) -> Self {
        let mut game = self.start();
        game.sees(&[]).verifies(1, "nothing there yet");
        game
    }

    fn works(&mut self, files: Files<'_>) -> &mut Self {
        let says = format!("<think>{THOUGHT}</think> all criteria are Satisfied, {THOUGHT}");
        self.says(&says).sees(files).verifies(0, "2 tests passed")
    }

    fn reports(&mut self, report: &Value) -> &mut Self {
        self.says(&report.to_string())
    }
}

/// A report of this round in which nothing is wrong.
pub fn clean(round: u32) -> Value {
    let criterion = |id: &str, line: u32| json!({"id": id, "claim": "x", "verdict": "Satisfied", "evidence": format!("src/a.rs:{line}"), "missing_info": null});
    json!({
        "critic": "critic", "task_id": "T1", "round": round,
        "criteria": [criterion("SC-1", 1), criterion("SC-2", 2)], "findings": [], "verdict": "passed",
    })
}

/// As `clean`, with these findings.
pub fn with_findings(round: u32, findings: Vec<Value>) -> Value {
    let mut report = clean(round);
    report["findings"] = Value::Array(findings);
    report["verdict"] = "issues_found".into();
    report
}

pub fn finding(category: &str, severity: &str) -> Value {
    json!({
        "id": "C-001", "category": category, "severity": severity, "file": "src/a.rs", "line": 1,
        "remediation": format!("mend the {category}"), "criterion_id": null, "question_to_user": null,
    })
}

/// A report of this round with one finding of this category.
pub fn finds(round: u32, category: &str) -> Value {
    with_findings(round, vec![finding(category, "fail")])
}

/// The transcript, with what agents said cut short.
pub fn story(game: &Game) -> String {
    let short = |line: &str| match line.strip_prefix("> ").and_then(|l| l.split_once('“')) {
        Some((who, said)) if said.starts_with(['{', '<']) => format!("> {who}“…”"),
        _ => line.to_owned(),
    };
    game.log().lines().map(short).collect::<Vec<_>>().join("\n")
}
