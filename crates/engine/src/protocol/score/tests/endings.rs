//! How loops end, and what the numbers are.

use insta::assert_snapshot;

use super::game::*;
use crate::deduction::Gravity;
use crate::event::EventKind;
use crate::finding::FindingStatus;
use crate::outcome::Outcome;
use crate::plan::Target;
use crate::protocol::score::settings::{EXPLORATION, EscalateTo};
use crate::review::Verdict;
use crate::turn::Role;
use crate::work::Work;

#[test]
fn too_few_points_send_the_work_back_and_enough_approve_it() {
    let mut t = table().start();
    t.says("v1")
        .says(&gaps(3, "no source"))
        .says("v2")
        .says(&report(&[("gap", 2, "no source"), ("typo", 0, "none")]));
    assert_snapshot!(t.log(), @r#"
    > start
      round 1 of 3
      run#1 ask worker ann
    > run#1 “v1”
      run#2 ask critic cato
    > run#2 “{"deductions":[{"fix":"mend no source","row":"gap","says":"no source","times":3}]}”
      Rejected 1. no source → mend no source (since 1)
      Score 70: below 80
      round 2 of 3
      run#3 ask worker ann
    > run#3 “v2”
      run#4 ask critic cato
    > run#4 “{"deductions":[{"fix":"mend no source","row":"gap","says":"no source","times":2},{"fix":"mend none","row":"typo","says":"none","times":0}]}”
      Approved
      Score 80: at least 80
      ✓ Score 80 of 100, 80 needed (2 rounds)
      = approved
    "#);
    let last = reviews(&t).pop().unwrap();
    assert_eq!(last.score.unwrap().arithmetic, ["100 − 2 × 10 (A gap) = 80"]);
    assert_eq!(last.findings[0].standing, FindingStatus::Recurring);
    let Some(Outcome::Approved { draft, notes, .. }) = t.engine.outcome() else { panic!() };
    assert_eq!(*draft, crate::digest::Digest::of(b"v2"));
    assert_eq!(notes[0], "no source → mend no source", "what is left is a note");
}

#[test]
fn the_threshold_decides_at_the_very_point() {
    for (threshold, typos, approved) in
        [(95, 5, true), (96, 5, false), (100, 0, true), (100, 1, false), (EXPLORATION, 40, true)]
    {
        let mut t = table().with(|s| s.threshold = threshold).start();
        t.says("v1").says(&report(&[("typo", typos, "teh")]));
        assert_eq!(t.class() == "approved", approved, "{threshold} with {typos} typos");
    }
}

#[test]
fn the_worker_is_told_the_findings_and_what_became_of_them() {
    let mut t = table().start();
    t.says("v1").says(&gaps(3, "no source for the distance"));
    t.says("v2").says(&report(&[("gap", 3, "no source for the distance"), ("typo", 1, "teh")]));
    let prompt = t.prompt(&t.open());
    assert!(prompt.contains("Mode: Revision\nRound: 3 of 3\nScore: 69; 80 passes\n"), "{prompt}");
    assert!(prompt.contains("Previous Draft:\nv2"));
    assert!(prompt.contains("- (still open since round 1) no source for the distance → mend"), "{prompt}");
    assert!(prompt.contains("- teh → mend teh"));
}

#[test]
fn a_critics_number_is_compared_and_never_counts() {
    let mut t = table().start();
    let stated = r#"{"deductions": [{"row": "gap", "times": 4, "says": "no source"}], "score": 95}"#;
    t.says("v1").says(stated);
    let review = reviews(&t).pop().unwrap();
    assert_eq!((review.verdict, review.score.as_ref().unwrap().value), (Verdict::Rejected, 60));
    assert_eq!(review.score.unwrap().stated, Some(95));
    assert_eq!(review.deviations, ["the critic states 95; by its deductions the score is 60"]);
}

#[test]
fn without_a_table_the_stated_number_counts_and_says_so() {
    let mut t = table().with(|s| s.table = None).start();
    t.says("v1").says("**Score:** 62/100\n\n- The distance is missing").says("v2").says("**Score:** 84/100");
    assert_eq!(t.class(), "approved");
    let scores: Vec<_> =
        reviews(&t).into_iter().filter_map(|r| r.score).map(|s| (s.value, s.computed)).collect();
    assert_eq!(scores, [(62, false), (84, false)]);
    assert!(t.log().contains("Score 62 (stated): below 80"));
    assert!(t.prompt(&t.effect("run#2")).contains("The rubric has no list of points"));
}

#[test]
fn severities_cost_what_is_configured() {
    let mut gravities = deductions();
    for gravity in Gravity::ALL {
        let row = crate::deduction::DeductionRow {
            id: gravity.name().into(),
            category: None,
            text: gravity.name().into(),
            points: crate::deduction::Points::Gravity(gravity),
            at: std::collections::BTreeMap::new(),
        };
        gravities.rows.push(row);
    }
    for (list, score) in
        [(vec![("critical", 1, "a")], "75"), (vec![("major", 1, "a"), ("minor", 2, "b")], "84")]
    {
        let mut t = table().with(|s| s.table = Some(gravities.clone())).start();
        t.says("v1").says(&report(&list));
        assert_eq!(scores(&t), score);
    }
}

#[test]
fn a_score_the_worker_gives_itself_is_noted_and_changes_nothing() {
    let mut t = table().start();
    t.says("The moon.\n\n**Score:** 98/100\n").says(&gaps(3, "no source"));
    assert!(t.log().contains("self verdict: **Score:** 98/100"));
    assert_eq!(scores(&t), "70");
    assert!(t.prompt(&t.effect("run#2")).contains("98/100"), "it is not cut from the draft");
}

#[test]
fn a_draft_the_user_brought_is_judged_first() {
    let mut t = table();
    let draft = t.bring(DRAFT);
    let mut t = t.with(|s| s.given = Some(Work::Draft(draft))).start();
    t.says(&gaps(1, "no source"));
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 0));
}

#[test]
fn critics_alone_approve_or_reject_and_ask_nobody() {
    for (times, class) in [(2, "approved"), (3, "rejected")] {
        let mut t = review_of(DRAFT).start();
        assert!(t.log().contains("round 1 of 1"));
        t.says(&gaps(times, "no source"));
        assert_eq!(t.class(), class);
        let summary = format!("Score {} of 100, 80 needed (1 round)", 100 - 10 * times);
        assert!(t.log().contains(&summary), "{}", t.log());
    }
    let mut t =
        review_of(DRAFT).with(|s| s.critics = vec![seat("cato", Some("a")), seat("dora", Some("b"))]).start();
    t.says_as("cato", &gaps(3, "no source")).says_as("dora", &gaps(4, "no end"));
    assert_eq!(t.class(), "rejected", "nobody is asked, even if both are below");
    let Some(Outcome::Rejected { open, .. }) = t.engine.outcome() else { panic!() };
    assert_eq!(open.len(), 2);
}

#[test]
fn an_approved_draft_is_saved_as_it_was_judged() {
    let mut t = table().with(|s| s.out = Some(Target { path: "out.md".into(), before: None })).start();
    t.says("v1").says(&gaps(0, "nothing"));
    assert!(t.log().contains("save approved"), "{}", t.log());
    t.saved();
    assert_eq!(t.class(), "approved");
}

#[test]
fn a_stalled_loop_stops_early_only_on_request() {
    for (stop_early, class) in [(false, "going"), (true, "halted(plateau)")] {
        let mut t = table().with(|s| (s.rounds, s.stop_early) = (6, stop_early)).start();
        for draft in ["v1", "v2", "v3"] {
            t.says(draft).says(&gaps(3, "no source for the distance"));
        }
        assert_eq!(t.class(), class);
        let stalled = t
            .records
            .iter()
            .flat_map(|(_, s)| &s.events)
            .any(|e| matches!(e.what, EventKind::Stalled { .. }));
        assert!(stalled, "it is reported in any case");
    }
}

#[test]
fn rounds_raised_on_resume_count() {
    let mut t = table().with(|s| s.rounds = 1).start();
    t.fails(crate::effect::FailureKind::Unavailable);
    t.resume_with(crate::budget::Limits::default(), Some(2));
    t.says("v1").says(&gaps(3, "no source"));
    assert!(t.log().contains("round 2 of 2"), "{}", t.log());
    t.says("v2").says(&gaps(3, "no source"));
    assert_eq!(t.class(), "waiting(question)");
    // A review has one round, whatever is said.
    let mut t = review_of(DRAFT).start();
    t.fails(crate::effect::FailureKind::Unavailable);
    t.resume_with(crate::budget::Limits::default(), Some(5)).says(&gaps(3, "no source"));
    assert_eq!(t.class(), "rejected");
}

#[test]
fn settings_by_which_no_loop_can_be_run_are_refused() {
    type Change = fn(&mut crate::protocol::score::settings::ScoreSettings);
    let cases: [(&str, Change); 9] = [
        ("`rounds` is 0", |s| s.rounds = 0),
        ("`threshold` is 101", |s| s.threshold = 101),
        ("`threshold` is 0", |s| s.threshold = 0),
        ("no critic", |s| s.critics.clear()),
        ("two different lenses", |s| s.critics.push(seat("dora", None))),
        ("at most two", |s| s.critics = ["a", "b", "c"].map(|l| seat("cato", Some(l))).to_vec()),
        ("neither a worker nor a work", |s| s.worker = None),
        ("no name", |s| s.escalate_to = EscalateTo::Agent(" ".into())),
        ("subtracts nothing", |s| {
            let rows = &mut s.table.as_mut().unwrap().rows;
            rows[0].points = crate::deduction::Points::Flat(crate::deduction::Amount::ZERO);
        }),
    ];
    for (problem, change) in cases {
        let settings = table().with(change).settings;
        let plan = settings.node_plan(crate::budget::Limits::default()).unwrap();
        let refused = crate::protocol::score::RULE_BOOK;
        let error = (refused.begin)(&plan).err().unwrap_or_default();
        assert!(error.contains(problem), "{problem}: {error}");
    }
}
