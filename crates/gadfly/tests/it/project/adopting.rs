//! `adopt`: a project that was worked on elsewhere. What it says about itself is told; only receipts prove.

use crate::project::desk::{Desk, MEMO, SCRIPT};

const STATE: &str = r#"{
  "project": "wages",
  "phase": "Execution",
  "agents_completed": [
    { "agent": "strategist", "critic": "strategist-critic", "score": 88, "rounds": 1 },
    { "agent": "coder", "critic": "coder-critic", "score": 91, "rounds": 2 }
  ]
}
"#;

fn foreign() -> Desk {
    let desk = Desk::new();
    desk.made();
    desk.write("quality_reports/pipeline_state.json", STATE);
    desk.write("SESSION_REPORT.md", "# Sessions\n\n## 2026-05-09 Robustness\n\nDone.\n");
    desk.write("quality_reports/plans/2026-05-01_first.md", "# Plan\n");
    desk.write("quality_reports/plans/2026-05-09_second.md", "# Plan\n");
    desk.receipt("strategist", 88, &[MEMO]);
    desk.committed();
    desk
}

#[test]
fn every_source_is_told_and_only_what_is_bound_to_bytes_counts() {
    let desk = foreign();
    let before = desk.read("quality_reports/pipeline_state.json");
    desk.gadfly(&["adopt"])
        .is(0)
        .says("quality_reports/pipeline_state.json, phase Execution")
        .says("SESSION_REPORT.md, last: 2026-05-09 Robustness")
        .says("quality_reports/plans/2026-05-09_second.md")
        .says("one uncommitted nothing")
        .says("strategist 88 by strategist-critic (receipt of run 0123456789")
        .says("coder 91 in quality_reports/pipeline_state.json:6: nothing says which bytes it was given for")
        .says("Can run now coder")
        .says("to go on from here: gadfly adopt --yes");
    assert_eq!(desk.read("quality_reports/pipeline_state.json"), before);
    assert!(!desk.path(".gadfly").exists(), "it only looks");
}

#[test]
fn gits_index_is_left_as_it_is() {
    let desk = foreign();
    // The same bytes with another time: `git diff` would note that in the index.
    let script = std::fs::File::options().append(true).open(desk.path(SCRIPT)).unwrap();
    script.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000)).unwrap();
    let index = || std::fs::read(desk.path(".git/index")).unwrap();
    let before = index();
    desk.gadfly(&["adopt"]).is(0).says("one uncommitted nothing");
    assert!(index() == before, "the index was written anew");
}

#[test]
fn a_receipt_for_other_bytes_is_listed_as_what_it_is() {
    let desk = foreign();
    desk.receipt("coder", 93, &[SCRIPT]);
    desk.write(SCRIPT, "changed\n");
    desk.gadfly(&["adopt"]).is(0).says(&format!("coder 93: {SCRIPT} changed since it was judged"));
    let adopted = desk.gadfly(&["adopt", "--json"]).is(0).json();
    assert_eq!(adopted["proved"].as_array().unwrap().len(), 1, "{adopted}");
    assert_eq!(adopted["unproved"].as_array().unwrap().len(), 2);
    assert_eq!(adopted["ready"], serde_json::json!(["coder"]));
}

#[test]
fn a_run_is_started_only_when_asked_for_and_agreed_to() {
    let desk = foreign();
    desk.configure(
        "[agents.planner]\nkind = \"command\"\ncommand = [\"/bin/echo\", \"First the scripts.\"]\n",
    );
    desk.gadfly(&["adopt", "--yes"]).is(2).says("agents with their files in").says("strategist");
    assert!(!desk.path(".gadfly/journal.db").exists());
    // The plan waits for a person's word.
    desk.gadfly(&["adopt", "--yes", "--trust"]).is(4).says("First the scripts.");
    desk.gadfly(&["runs"]).is(0).says("wages: Go on from where this project stands");
}

#[test]
fn artifacts_under_other_names_are_proposed() {
    let desk = Desk::new();
    desk.write("quality_reports/strategy/strategy_memo_wages.md", "# Memo\n");
    desk.gadfly(&["adopt"])
        .is(0)
        .says("quality_reports/strategy/strategy_memo_wages.md may be")
        .says("which strategist makes");
}
