//! `next` and `why`: before anything is made, after it was judged, and after one byte of it changed.

use crate::project::desk::{Desk, MEMO, SCRIPT};

#[test]
fn at_the_beginning_only_who_requires_nothing_can_run() {
    let desk = Desk::new();
    let next = desk.gadfly(&["next", "--json"]).is(0).json();
    assert_eq!(next["ready"], serde_json::json!(["strategist"]));
    desk.gadfly(&["next"])
        .is(0)
        .says("no journal here and no receipt: nothing is scored yet")
        .says(&format!("coder missing {MEMO}"))
        .says("theorist it is conditional and not enabled");
    desk.gadfly(&["why", "coder"])
        .is(3)
        .says(&format!("Cannot dispatch [coder]: missing {MEMO}"))
        .says("→ Run /strategize first")
        .says(".claude/rules/permissions.md:14");
    desk.gadfly(&["why", "strategist"]).is(0).says("run now");
}

#[test]
fn a_template_folder_satisfies_nothing() {
    let desk = Desk::new();
    desk.write("scripts/.gitkeep", "");
    desk.write("quality_reports/strategy/wages/.gitkeep", "");
    let next = desk.gadfly(&["next", "--json"]).is(0).json();
    assert_eq!(next["ready"], serde_json::json!(["strategist"]));
    desk.gadfly(&["why", "writer"]).is(3).says("missing scripts/");
}

#[test]
fn who_was_judged_is_done_and_one_byte_undoes_it() {
    let desk = Desk::new();
    desk.made();
    desk.gadfly(&["why", "coder"]).is(3).says("strategist-critic has not judged strategist yet");
    desk.receipt("strategist", 88, &[MEMO]);
    desk.gadfly(&["why", "coder"]).is(0).says("strategist scored 88");
    desk.gadfly(&["why", "strategist"]).is(0).says("is done: score 88, by the receipt of run");
    let memo = desk.read(MEMO).replace("None.", "None,");
    desk.write(MEMO, &memo);
    desk.gadfly(&["why", "coder"])
        .is(3)
        .says(&format!(
            "Cannot dispatch [coder]: strategist-critic score is stale: {MEMO} changed since it was judged"
        ))
        .says("→ Run /strategize again");
    desk.gadfly(&["why", "strategist"]).is(0).says("its last score, 88, is stale");
    // The same bytes again are what was judged.
    desk.write(MEMO, &memo.replace("None,", "None."));
    desk.gadfly(&["why", "coder"]).is(0);
}

#[test]
fn a_low_score_and_a_missing_section_are_said_as_what_they_are() {
    let desk = Desk::new();
    desk.made();
    desk.receipt("strategist", 72, &[MEMO]);
    desk.gadfly(&["why", "coder"]).is(3).says("strategist-critic score is 72, needs 80");
    desk.write(MEMO, "# Memo\n\n## Estimand\n");
    desk.gadfly(&["why", "coder"]).is(3).says("missing section \"Threats\"");
}

#[test]
fn a_condition_for_people_is_asked_for_and_can_be_assumed() {
    let desk = Desk::new();
    desk.made();
    desk.gadfly(&["why", "writer"]).is(4).says("? the data may be published: a person has to say");
    desk.gadfly(&["why", "writer", "--assume-manual"]).is(0);
    let why = desk.gadfly(&["why", "writer", "--json"]).is(4).json();
    assert_eq!(why["is"]["standing"], "asking");
    assert_eq!(why["conditions"][0]["holds"], "yes");
}

#[test]
fn a_mistyped_agent_gets_the_nearest_name() {
    Desk::new().gadfly(&["why", "codr"]).is(2).says("no agent `codr`").says("`coder`");
}

#[test]
fn a_receipt_counts_where_the_journal_knows_nothing_and_no_journal_of_elsewhere_overrules_it() {
    let desk = Desk::new();
    desk.made();
    desk.receipt("strategist", 91, &[MEMO]);
    desk.gadfly(&["why", "coder"]).is(0).says("there is no journal here");
    desk.judged("coder", 85, &[SCRIPT]);
    desk.gadfly(&["why", "coder"])
        .is(0)
        .says("the journal here does not know these scores")
        .says("strategist");
    desk.judged("strategist", 60, &[MEMO]);
    desk.gadfly(&["why", "strategist"]).is(0);
    let gate = desk.gadfly(&["gate", "--json"]).json();
    assert_eq!(gate["report"]["aggregate"]["components"][0]["rows"][0]["score"], 91);
}

#[test]
fn without_a_registry_it_is_said_where_one_belongs() {
    Desk::bare().gadfly(&["next"]).is(2).says("no agent registry found").says("permissions.md");
}
