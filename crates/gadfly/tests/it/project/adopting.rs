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

#[test]
fn a_person_vouches_for_a_score_from_elsewhere_and_it_is_said_to_be_their_word() {
    let desk = foreign();
    desk.gadfly(&["gate"]).is(3).says("was never judged");
    desk.gadfly(&["adopt", "--vouch", "coder"])
        .is(0)
        .says("coder 91 (quality_reports/pipeline_state.json:6): your word, for scripts/main.R");
    desk.gadfly(&["gate"])
        .is(0)
        .says("coder: nobody judged it here; a person vouches for the score (receipt, not signed)");
    desk.gadfly(&["gate", "--strict"]).is(3);
    desk.write(SCRIPT, "changed\n");
    desk.gadfly(&["gate"]).is(3).says("changed since it was judged");
}

#[test]
fn a_word_binds_only_work_that_is_there_and_overrules_no_verdict() {
    let desk = foreign();
    desk.gadfly(&["adopt", "--vouch", "writer=99"]).is(2).says("[writer] has no work here");
    desk.gadfly(&["adopt", "--vouch", "writer"]).is(2).says("state one: --vouch writer=SCORE");
    desk.gadfly(&["adopt", "--vouch", "coder=101"]).is(2).says("101 is no score");
    desk.gadfly(&["adopt", "--vouch", "nobody=9"]).is(2).says("the registry has no agent `nobody`");
    desk.write(MEMO, "# Memo\n\n## Estimand\n");
    desk.gadfly(&["adopt", "--vouch", "strategist=90"]).is(2).says("missing section \"Threats\"");
}

/// As projects are that were begun before there was a registry.
fn old() -> Desk {
    let desk = Desk::bare();
    for pair in ["strategist", "coder", "writer", "librarian"] {
        for name in [pair.to_owned(), format!("{pair}-critic")] {
            let text = format!("---\nname: {name}\n---\nYou are {name}.");
            desk.write(&format!(".claude/agents/{name}.md"), &text);
        }
    }
    desk.write("CLAUDE.md", "# Wages\n\n**Project:** The Long Title of a Paper\n");
    desk.write("quality_reports/strategy_memo_wages.md", "# Memo\n");
    desk.write(
        "quality_reports/research_journal.md",
        "### 2026-02-19 — Strategy (Strategist-Critic Round 2)\n\n**Score:** 76/100 (Round 1) → 90/100 (Round 2)\n\n\
         ### 2026-02-20 — Editor\n\n**Score:** 86/100\n",
    );
    desk
}

#[test]
fn a_project_from_before_the_registry_is_adopted() {
    let desk = old();
    desk.gadfly(&["adopt"])
        .is(0)
        .says("strategist 90 in quality_reports/research_journal.md:3")
        .says("`editor` is the critic of nobody here")
        .does_not_say("nobody scores their own work");
    desk.gadfly(&["adopt", "--vouch", "strategist"]).is(0);
    desk.gadfly(&["gate"]).is(0).says("a person vouches for the score");
    desk.gadfly(&["check"])
        .says("there is no registry: what agents of these names usually need and make is assumed");
}

#[test]
fn the_folder_that_is_there_names_the_project_and_a_title_does_not() {
    let desk = Desk::new();
    desk.write("CLAUDE.md", "# Wages\n\n**Project:** A Title <!-- [confirm exact title] -->\n");
    desk.write(
        "quality_reports/strategy/cif-brazil/strategy_memo.md",
        "## Section 1 — Estimand\n\n## Threats\n",
    );
    desk.gadfly(&["next"]).does_not_say("missing quality_reports/strategy");
    desk.gadfly(&["check"]).says("project cif-brazil (from the only folder there is)");
}
