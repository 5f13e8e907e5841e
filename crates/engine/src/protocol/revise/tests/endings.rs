//! How a loop goes and ends when everybody answers.

use insta::assert_snapshot;

use super::harness::Table;
use crate::effect::Reply;
use crate::outcome::Outcome;
use crate::turn::Role;

const YES: &str = "[STATUS: APPROVED]\nEvery number has a unit.";
const NO: &str = "[STATUS: REJECTED]\n- give the distance a unit";

#[test]
fn approval_at_once() {
    let mut t = Table::new().start();
    t.says("It is far.").says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is far.”
          run#2 ask critic cato
        > run#2 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
}

#[test]
fn a_revision_then_approval() {
    let mut t = Table::new().start();
    t.says("It is 384 away.").says(NO).says("It is 384 Mm away.").says(YES);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “It is 384 away.”
          run#2 ask critic cato
        > run#2 “[STATUS: REJECTED] - give the distance a unit”
          Rejected 1. give the distance a unit (since 1)
          round 2 of 3
          run#3 ask worker ann
        > run#3 “It is 384 Mm away.”
          run#4 ask critic cato
        > run#4 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          = approved
        "#);
    let brief = t.prompt(&t.effect("run#3"));
    let blocks = [
        "Task: ",
        "Phase: paper",
        "Rubric:\n- Every",
        "Mode: Revision",
        "Previous Draft:\nIt is 384 away.",
        "Critic Feedback:\n- give the distance a unit",
    ];
    let at: Vec<usize> =
        blocks.iter().map(|b| brief.find(b).unwrap_or_else(|| panic!("{b} in {brief}"))).collect();
    assert!(at.is_sorted(), "the blocks stand in their order: {brief}");
}

#[test]
fn the_third_rejection_halts_at_once_with_the_third_draft() {
    let mut t = Table::new().saving().start();
    t.says("v1").says(NO).says("v2").says("[STATUS: REJECTED]\n- 1: still none").says("v3");
    t.says("[STATUS: REJECTED]\n- 1: none to this day").saved();
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “v1”
          run#2 ask critic cato
        > run#2 “[STATUS: REJECTED] - give the distance a unit”
          Rejected 1. give the distance a unit (since 1)
          round 2 of 3
          run#3 ask worker ann
        > run#3 “v2”
          run#4 ask critic cato
        > run#4 “[STATUS: REJECTED] - 1: still none”
          Rejected 1. still none (since 1)
          round 3 of 3
          run#5 ask worker ann
        > run#5 “v3”
          run#6 ask critic cato
        > run#6 “[STATUS: REJECTED] - 1: none to this day”
          Rejected 1. none to this day (since 1)
          stalled: [Plateau]
          run#7 save unapproved
        > run#7 saved
          = halted(cap)
        "#);
    assert_eq!(t.calls(Role::Worker), 3);
    let Some(Outcome::Halted { draft: Some(draft), open, .. }) = t.engine.outcome() else { panic!() };
    assert_eq!(t.engine.texts().unwrap().get(draft), "v3");
    assert_eq!(*open, ["none to this day"]);
}

#[test]
fn a_critic_that_always_finds_something_new_in_old_text_is_told_on() {
    let mut t = Table::new().with(|s| (s.rounds, s.overrule) = (4, false)).start();
    t.says("far, high, wide").says("[STATUS: REJECTED]\n- \"far\" has no unit");
    t.says("9 km, high, wide")
        .says("[STATUS: REJECTED]\n- ✓ 1: done\n- say how \"high\" it rises above the plain");
    assert!(!t.log().contains("stalled"), "{}", t.log());
    t.says("9 km, 2 m, wide")
        .says("[STATUS: REJECTED]\n- ✓ 2: done\n- nobody knows what \"wide\" should mean here");
    assert!(t.log().contains("stalled: [Churn]"), "{}", t.log());
    // About what the worker just wrote it is no churn: that may be a new error.
    let mut t = Table::new().with(|s| (s.rounds, s.overrule) = (4, false)).start();
    t.says("far, high").says("[STATUS: REJECTED]\n- \"far\" has no unit");
    t.says("9 km, high").says("[STATUS: REJECTED]\n- ✓ 1: done\n- say how \"high\" it rises above the plain");
    t.says("9 km, 2 mm").says("[STATUS: REJECTED]\n- ✓ 2: done\n- \"2 mm\" cannot be right");
    assert!(!t.log().contains("stalled"), "{}", t.log());
}

#[test]
fn rounds_change_the_cap() {
    let mut t = Table::new().with(|s| s.rounds = 1).start();
    t.says("v1").says(NO);
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("halted(cap)", 1));

    let mut t = Table::new().with(|s| s.rounds = 5).start();
    t.says("v1").says(NO);
    for n in 2..=5 {
        assert_eq!(t.class(), "going");
        t.says(&format!("v{n}")).says("[STATUS: REJECTED]\n- 1: still none");
    }
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("halted(cap)", 5));
}

#[test]
fn a_given_draft_is_judged_first() {
    let mut t = Table::new();
    let draft = t.bring("It is 384 away.");
    let mut t = t.with(|s| s.draft = Some(draft)).saving().start();
    t.says(NO).says("It is 384 Mm away.").says(YES).saved();
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          draft given
          run#1 ask critic cato
        > run#1 “[STATUS: REJECTED] - give the distance a unit”
          Rejected 1. give the distance a unit (since 1)
          round 2 of 3
          run#2 ask worker ann
        > run#2 “It is 384 Mm away.”
          run#3 ask critic cato
        > run#3 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          run#4 save approved
        > run#4 saved
          = approved
        "#);
}

#[test]
fn approval_saves_exactly_what_was_judged() {
    let mut t = Table::new().saving().start();
    t.says("<think>a private thought</think>\nIt is far.\n").says(YES);
    let save = t.open();
    t.replies(Reply::Conflict { message: "out.md changed".into() });
    t.resume().saved();
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “<think>a private thought</think> It is far.”
          run#2 ask critic cato
        > run#2 “[STATUS: APPROVED] Every number has a unit.”
          Approved
          run#3 save approved
        > run#3 conflict
          save refused: out.md changed
          = failed
        > resume
          run#4 save approved
        > run#4 saved
          = approved
        "#);
    let crate::effect::EffectKind::Save(save) = save.kind else { panic!() };
    assert_eq!(t.engine.texts().unwrap().get(&save.content), "It is far.\n");
}

#[test]
fn a_verdict_of_the_worker_about_itself_counts_for_nothing_and_stays() {
    let mut t = Table::new().start();
    t.says("[STATUS: APPROVED]\nIt is 384 away.").says(NO);
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “[STATUS: APPROVED] It is 384 away.”
          self verdict: [STATUS: APPROVED]
          run#2 ask critic cato
        > run#2 “[STATUS: REJECTED] - give the distance a unit”
          Rejected 1. give the distance a unit (since 1)
          round 2 of 3
          run#3 ask worker ann
        "#);
    let draft = t.prompt(&t.effect("run#3"));
    assert!(draft.contains("Previous Draft:\n[STATUS: APPROVED]\nIt is 384 away."));
}

#[test]
fn a_reply_without_a_draft_is_a_failed_call() {
    for empty in ["", " \n", "<think>a private thought</think>\n", "<think>a private thought"] {
        let mut t = Table::new().start();
        t.says(empty);
        assert_eq!(t.class(), "failed", "{empty:?}");
        t.resume().says("It is far.").says(YES);
        assert_eq!(t.class(), "approved");
        assert_eq!(t.calls(Role::Worker), 2);
    }
}

#[test]
fn reasoning_is_no_part_of_a_draft() {
    for reply in [
        "<think>a private thought</think>\nIt is far.",
        "<thinking>a private thought</thinking><think>and a private thought</think>It is far.",
        "a private thought\n</think>\nIt is far.",
    ] {
        let mut t = Table::new().start();
        // The table checks every critic's prompt for the thought.
        t.says(reply).says(YES);
        let Some(Outcome::Approved { draft, .. }) = t.engine.outcome() else { panic!("{}", t.log()) };
        assert_eq!(t.engine.texts().unwrap().get(draft), "It is far.");
    }
}

#[test]
fn the_table_does_notice_a_thought_that_leaks() {
    let leak = || Table::new().start().says("It is far, says a private thought.").class();
    assert!(std::panic::catch_unwind(leak).is_err());
}

#[test]
fn a_review_asks_the_critic_once_and_nobody_works() {
    for (reply, class) in [(YES, "approved"), (NO, "rejected")] {
        let mut t = Table::new();
        let draft = t.bring("It is 384 away.");
        let mut t = t
            .with(|s| {
                s.draft = Some(draft);
                s.worker = None;
            })
            .start();
        t.says(reply);
        assert_eq!(t.class(), class, "{}", t.log());
        assert_eq!((t.calls(Role::Worker), t.calls(Role::Critic)), (0, 1), "{}", t.log());
    }
}
