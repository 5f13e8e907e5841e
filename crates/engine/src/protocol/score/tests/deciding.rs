//! Escalations, and two critics.

use insta::assert_snapshot;

use super::game::*;
use crate::effect::EffectKind;
use crate::effect::FailureKind;
use crate::outcome::Outcome;
use crate::protocol::harness::Table;
use crate::protocol::score::settings::{EscalateTo, ScoreSettings};
use crate::turn::{Permission, Role};

/// Three rounds that do not reach the line.
fn exhausted(to: EscalateTo) -> Table<ScoreSettings> {
    let mut t = table().with(|s| s.escalate_to = to).start();
    t.says("draft one").says(&gaps(5, "no source for the distance"));
    t.says("draft two").says(&gaps(4, "no source for the distance"));
    t.says("draft three").says(&gaps(3, "no source for the distance"));
    t
}

#[test]
fn after_three_rounds_an_agent_decides_and_the_worker_starts_afresh() {
    let mut t = exhausted(EscalateTo::Agent("dora".into()));
    let asked = t.open();
    let EffectKind::Turn(turn) = &asked.kind else { panic!() };
    assert_eq!((turn.role, turn.permission), (Role::Advisor, Permission::ReadOnly));
    let prompt = t.prompt(&asked);
    assert!(prompt.contains("- (rounds 1, 2, 3) no source for the distance"), "{prompt}");
    t.says("<think>hm</think>Leave the distance out.").says("draft four").says(&gaps(1, "no end"));
    assert_snapshot!(t.log().split_once("draft three”").unwrap().1, @r#"

      run#6 ask critic cato
    > run#6 “{"deductions":[{"fix":"mend no source for the distance","row":"gap","says":"no source for the distance","times":3}]}”
      stalled: [Plateau]
      Rejected 1. no source for the distance → mend no source for the distance (since 1)
      Score 70: below 80
      escalated to dora: 3 rounds did not reach 80: 50, 60, 70
      run#7 ask advisor dora
    > run#7 “<think>hm</think>Leave the distance out.”
      dora decided
      round 4 of 6
      run#8 ask worker ann
    > run#8 “draft four”
      run#9 ask critic cato
    > run#9 “{"deductions":[{"fix":"mend no end","row":"gap","says":"no end","times":1}]}”
      Approved
      Score 90: at least 80
      ✓ Score 90 of 100, 80 needed (4 rounds, escalated once)
      = approved
    "#);
    let fresh = t.prompt(&t.effect("run#8"));
    assert!(fresh.contains("Decision:\nLeave the distance out."), "{fresh}");
    for old in ["draft one", "draft two", "draft three"] {
        assert!(!fresh.contains(old), "the worker does not start from its last attempt");
    }
}

#[test]
fn a_decision_without_words_is_no_decision() {
    let mut t = exhausted(EscalateTo::Agent("dora".into()));
    t.says("<think>I do not know</think>");
    assert_eq!(t.class(), "failed");
    t.resume().says("Leave it out.").says("draft four").says(&gaps(0, "-"));
    assert_eq!(t.class(), "approved");
}

#[test]
fn the_orchestrator_has_the_work_written_anew_with_all_findings() {
    let mut t = table().with(|s| s.escalate_to = EscalateTo::Orchestrator).start();
    t.says("draft one").says(&gaps(3, "no source for the distance"));
    t.says("draft two").says(&gaps(4, "the ending is missing"));
    t.says("draft three").says(&gaps(3, "the light is not explained"));
    assert!(t.log().contains("escalated to orchestrator: 3 rounds did not reach 80: 70, 60, 70"));
    let fresh = t.prompt(&t.open());
    for point in ["no source for the distance", "the ending is missing", "the light is not explained"] {
        assert!(fresh.contains(point), "{fresh}");
    }
    assert!(fresh.contains("another structure"));
    assert!(!["draft one", "draft two", "draft three"].iter().any(|d| fresh.contains(d)), "{fresh}");
}

#[test]
fn a_person_gets_a_concrete_question_with_ways_out() {
    let t = exhausted(EscalateTo::User);
    assert_eq!(t.class(), "waiting(question)");
    let EffectKind::Ask(question) = t.open().kind else { panic!() };
    assert_snapshot!(question.text, @"
    The work does not pass: 3 rounds did not reach 80: 50, 60, 70.
    These points were sent to the worker and raised again:
    - (rounds 1, 2, 3) no source for the distance → mend no source for the distance
    Which of these demands holds, which gives way, and what should the worker do instead? Your answer is what it starts afresh from.
    ");
    assert_eq!(question.shown_choices(), ["restructure", "give-up"]);
}

#[test]
fn a_persons_decision_starts_the_worker_afresh() {
    let mut t = exhausted(EscalateTo::User);
    t.answers("Sources are not needed here.");
    assert!(t.log().contains("eve decided\n  round 4 of 6"));
    let fresh = t.prompt(&t.open());
    assert!(fresh.contains("Decision:\nSources are not needed here."));
    assert!(!fresh.contains("draft three"));

    let mut t = exhausted(EscalateTo::User);
    t.answers("restructure");
    assert!(t.prompt(&t.open()).contains("another structure"));
}

#[test]
fn a_person_who_declines_ends_the_loop() {
    let mut t = exhausted(EscalateTo::User);
    t.answers("give-up");
    assert_eq!(t.class(), "halted(cap)");
    let Some(Outcome::Halted { draft, open, .. }) = t.engine.outcome() else { panic!() };
    assert_eq!(*draft, Some(crate::digest::Digest::of(b"draft three")));
    assert_eq!(open, &["no source for the distance → mend no source for the distance"]);
}

#[test]
fn there_is_one_escalation_and_then_the_loop_ends_with_what_remains() {
    let mut t = exhausted(EscalateTo::Agent("dora".into()));
    t.says("Leave it out.");
    for draft in ["draft four", "draft five", "draft six"] {
        assert_eq!(t.class(), "going");
        t.says(draft).says(&gaps(3, "no source for the distance"));
    }
    assert_eq!(t.class(), "halted(cap)");
    assert_eq!((t.calls(Role::Advisor), t.calls(Role::Worker)), (1, 6));
    assert!(t.log().ends_with("⚠ Score 70 of 100, 80 needed (6 rounds, escalated once)\n  = halted(cap)\n"));
    let Some(Outcome::Halted { open, .. }) = t.engine.outcome() else { panic!() };
    assert_eq!(open.len(), 1);
}

#[test]
fn two_critics_are_called_at_once_and_neither_sees_the_other() {
    let mut t = two_critics().start();
    t.says("draft one");
    let prompts = [t.prompt(&t.open_of("cato")), t.prompt(&t.open_of("dora"))];
    assert!(prompts[0].contains("looking in particular at facts") && !prompts[0].contains("style"));
    assert!(prompts[1].contains("looking in particular at style") && !prompts[1].contains("facts"));
    t.says_as("cato", &gaps(3, "a secret of cato"));
    assert!(!t.prompt(&t.open_of("dora")).contains("a secret of cato"));
    t.says_as("dora", &gaps(0, "-")).says("draft two");
    for critic in ["cato", "dora"] {
        assert!(!t.prompt(&t.open_of(critic)).contains("a secret of cato"), "nor in the next round");
    }
}

#[test]
fn both_at_the_line_pass_whoever_answers_first() {
    for order in [["cato", "dora"], ["dora", "cato"]] {
        let mut t = two_critics().start();
        t.says("draft one").says_as(order[0], &gaps(2, "no source")).says_as(order[1], &gaps(1, "no end"));
        assert_eq!(t.class(), "approved");
        let by: Vec<String> = reviews(&t).into_iter().map(|r| r.binding.critic).collect();
        assert_eq!(by, ["cato", "dora"], "the primary comes first");
    }
}

#[test]
fn one_critic_below_the_line_has_its_findings_mended_and_both_judge_again() {
    let mut t = two_critics().start();
    t.says("draft one").says_as("cato", &gaps(1, "no source")).says_as("dora", &gaps(3, "no end"));
    assert!(t.log().contains("Score 90 by cato (facts), 70 by dora (style): below 80\n  round 2 of 3"));
    let revision = t.prompt(&t.open());
    assert!(
        revision.contains("no end") && !revision.contains("no source"),
        "only the failing critic's: {revision}"
    );
    t.says("draft two").says_as("cato", &gaps(2, "no source")).says_as("dora", &gaps(1, "no end"));
    assert_eq!(t.class(), "approved");
    assert_eq!(t.calls(Role::Critic), 4);
}

#[test]
fn both_below_the_line_escalate_at_once_whatever_the_round() {
    let mut t = two_critics().with(|s| s.escalate_to = EscalateTo::Orchestrator).start();
    t.says("draft one").says_as("cato", &gaps(3, "no source")).says_as("dora", &gaps(4, "no end"));
    assert!(t.log().contains("escalated to orchestrator: both critics score below 80: 70 by cato (facts), 60 by dora (style)\n  round 2 of 4"), "{}", t.log());
    // The one escalation is used up: now the new counter runs.
    t.says("draft two").says_as("cato", &gaps(3, "no source")).says_as("dora", &gaps(4, "no end"));
    assert!(t.log().ends_with("round 3 of 4\n  run#7 ask worker ann\n"), "{}", t.log());
    t.says("draft three").says_as("cato", &gaps(3, "no source")).says_as("dora", &gaps(4, "no end"));
    t.says("draft four").says_as("cato", &gaps(3, "no source")).says_as("dora", &gaps(4, "no end"));
    assert_eq!(t.class(), "halted(cap)");
}

#[test]
fn two_critics_share_the_pairs_three_rounds() {
    let mut t = two_critics().start();
    for (draft, failing) in
        [("one", ["cato", "dora"]), ("two", ["dora", "cato"]), ("three", ["cato", "dora"])]
    {
        t.says(draft).says_as(failing[0], &gaps(3, "no source")).says_as(failing[1], &gaps(0, "-"));
    }
    assert_eq!(t.class(), "waiting(question)");
}

#[test]
fn a_point_both_critics_share_costs_each_of_them() {
    let mut t = two_critics().start();
    let same = r#"{"deductions": [{"row": "broken", "where": "draft:1", "says": "the claim is wrong"}]}"#;
    t.says("draft one").says_as("cato", same).says_as("dora", same);
    assert_eq!(scores(&t), "70 70", "merged as one point, it would have been taken off only once");
    let numbers: Vec<Vec<u32>> =
        reviews(&t).iter().map(|r| r.findings.iter().map(|f| f.number).collect()).collect();
    assert_eq!(numbers, [[1], [1]], "it is one point for the worker");
    // After the escalation both are below the line again: the worker is told once.
    t.answers("restructure").says("draft two").says_as("cato", same).says_as("dora", same);
    assert_eq!(t.prompt(&t.open()).matches("the claim is wrong").count(), 1, "{}", t.prompt(&t.open()));
}

#[test]
fn what_was_fixed_stands_in_the_review_of_the_critic_who_raised_it() {
    let mut t = two_critics().start();
    t.says("draft one").says_as("cato", &gaps(0, "-")).says_as("dora", &gaps(3, "no end"));
    let wrong = report(&[("broken", 1, "the claim is wrong")]);
    t.says("draft two").says_as("cato", &wrong).says_as("dora", &gaps(0, "-"));
    let fixed: Vec<Vec<u32>> = reviews(&t).into_iter().map(|r| r.fixed).collect();
    assert_eq!(fixed, [vec![], vec![], vec![], vec![1]], "listed once, not once per critic");
}

#[test]
fn a_failed_critic_of_two_parks_the_run_and_only_it_is_asked_again() {
    let mut t = two_critics().start();
    t.says("draft one").says_as("cato", &gaps(1, "no source"));
    t.fails(FailureKind::Timeout);
    assert_eq!(t.class(), "unverified");
    t.resume().says_as("dora", &gaps(1, "no end"));
    assert_eq!((t.class().as_str(), t.calls(Role::Critic)), ("approved", 3));
}
