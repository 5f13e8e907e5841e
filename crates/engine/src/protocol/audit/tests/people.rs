//! Questions and their ways out: each answered, each declined, and what stays visible.

use super::game::*;
use crate::effect::{EffectKind, Reply};
use crate::finding::{ENGINE, Finding, Location, Severity};
use crate::question::Question;
use crate::tree::Examined;
use crate::turn::Role;

fn question(game: &Game) -> Question {
    assert_eq!(game.class(), "waiting(question)", "{}", game.log());
    match game.open().kind {
        EffectKind::Ask(question) => question,
        other => panic!("a question expected, not {other:?}"),
    }
}

#[test]
fn a_question_to_the_user_waits_and_its_answer_is_part_of_the_task() {
    let mut game = game().begun();
    let mut asks = finding("question-to-user", "fail");
    asks["question_to_user"] = "Which port?".into();
    game.works(WORK).reports(&with_findings(1, vec![asks]));
    assert!(question(&game).text.contains("Which port?"));
    game.answers("Port 80.");
    assert!(game.prompt(&game.open()).contains("eve answered: Port 80."), "the worker knows");
    game.works(MENDED);
    assert!(game.prompt(&game.open_of("cato")).contains("eve answered: Port 80."), "and so does the critic");
    game.reports(&clean(2)).accepted();
    insta::assert_snapshot!(story(&game), @r"
    > start
      run#1 look
    > run#1 looked
      run#2 verify `make test`
    > run#2 verify exit 1
      verify `make test` red
      round 1 of 3
      run#3 ask worker ann
    > run#3 “…”
      run#4 look
    > run#4 looked
      run#5 verify `make test` in a fresh folder
    > run#5 verify exit 0
      verify `make test` green
      run#6 ask critic cato
    > run#6 “…”
      report critic-T1-r1.json
      Rejected 1. src/a.rs:1: mend the question-to-user (since 1)
      route askuser: 1 finding, decided by `question-to-user`
      run#7 question askuser: give-up (person)
      = waiting(question)
    > run#7 person “Port 80.”
      eve answered
      round 2 of 3
      run#8 ask worker dora
    > run#8 “…”
      run#9 look
    > run#9 looked
      run#10 verify `make test` in a fresh folder
    > run#10 verify exit 0
      verify `make test` green
      run#11 ask critic cato
    > run#11 “…”
      report critic-T1-r2.json
      Approved
      route commit: every criterion is satisfied, nothing was found
      run#12 accept
    > run#12 accepted
      accepted a
      = approved
    ");
}

#[test]
fn every_question_can_be_declined() {
    for (category, answer, ends) in [
        ("question-to-user", "give-up", "halted(stuck)"),
        ("infrastructure-mismatch", "give-up", "halted(plan)"),
        ("locked-decision-violation", "3", "halted(plan)"),
        ("stuck-detected", "stuck", "halted(stuck)"),
        ("critic-error", "stuck", "halted(stuck)"),
        ("nobody-knows-this", "stuck", "halted(stuck)"),
    ] {
        let mut game = game().begun();
        game.works(WORK).reports(&finds(1, category));
        question(&game);
        game.answers(answer);
        assert_eq!(game.class(), ends, "{category}");
    }
}

#[test]
fn a_plan_problem_can_be_replanned() {
    let mut game = game().begun();
    game.works(WORK).reports(&finds(1, "infrastructure-mismatch"));
    game.answers("replan use the test database");
    assert!(game.prompt(&game.open()).contains("eve changed the plan: use the test database"));
    game.works(MENDED).reports(&clean(2)).accepted();
    assert_eq!(game.class(), "approved");
}

#[test]
fn an_item_that_is_dropped_is_judged_no_more_and_the_same_work_is_judged_again() {
    let mut game = game().begun();
    let mut report = finds(1, "infrastructure-mismatch");
    report["findings"][0]["criterion_id"] = "SC-2".into();
    report["criteria"][1]["verdict"] = "Information-Missing".into();
    game.works(WORK).reports(&report);
    assert_eq!(question(&game).about.name(), "plan-checker", "the stronger route decides");
    game.answers("drop");
    let brief = game.prompt(&game.open());
    assert!(!brief.contains("- SC-2: b exists"), "{brief}");
    assert_eq!(game.calls(Role::Worker), 1, "nothing is left to work on");
    let mut report = clean(1);
    report["criteria"].as_array_mut().unwrap().pop();
    game.reports(&report).accepted();
    insta::assert_snapshot!(story(&game), @r"
    > start
      run#1 look
    > run#1 looked
      run#2 verify `make test`
    > run#2 verify exit 1
      verify `make test` red
      round 1 of 3
      run#3 ask worker ann
    > run#3 “…”
      run#4 look
    > run#4 looked
      run#5 verify `make test` in a fresh folder
    > run#5 verify exit 0
      verify `make test` green
      run#6 ask critic cato
    > run#6 “…”
      report critic-T1-r1.json
      Rejected 1. src/a.rs:1: SC-2 cannot be judged, information is missing: src/a.rs:2 → mend the infrastructure-mismatch (since 1)
      route plan-checker: 1 finding, decided by `infrastructure-mismatch`
      run#7 question plan-checker: replan TEXT / drop / give-up (person)
      = waiting(question)
    > run#7 person “drop”
      eve answered
      deferred SC-2 by eve: src/a.rs:1: SC-2 cannot be judged, information is missing: src/a.rs:2 → mend the infrastructure-mismatch
      run#8 ask critic cato
    > run#8 “…”
      report critic-T1-r1.json
      Approved
      route commit: every criterion is satisfied, nothing was found
      run#9 accept
    > run#9 accepted
      accepted a
      = approved
    ");
}

#[test]
fn a_dropped_finding_that_comes_back_does_not_block() {
    let mut game = game().begun();
    game.works(WORK).reports(&finds(1, "locked-decision-violation")).answers("drop");
    game.reports(&finds(1, "locked-decision-violation")).accepted();
    assert_eq!(game.class(), "approved", "{}", game.log());
    let review = super::rounds::last_review(&game);
    assert_eq!(review.verdict, crate::review::Verdict::Approved);
    assert_eq!(review.notes.len(), 1, "it is kept as a note");
}

#[test]
fn dropping_one_item_leaves_the_others() {
    let mut game = game().begun();
    let both = vec![finding("infrastructure-mismatch", "fail"), finding("missing-test", "fail")];
    game.works(WORK).reports(&with_findings(1, both)).answers("drop");
    let brief = game.prompt(&game.open());
    assert!(brief.contains("[missing-test, fail]"), "{brief}");
    assert!(!brief.contains("[infrastructure-mismatch"), "{brief}");
}

/// A game that is stuck because its only round left a finding.
fn stuck() -> Game {
    let mut game = game().with(|s| s.rounds = 1).begun();
    game.works(WORK).reports(&finds(1, "missing-test"));
    assert_eq!(question(&game).shown_choices(), ["grant N", "replan TEXT", "stuck", "fixed"]);
    game
}

#[test]
fn granted_rounds_are_worked_and_then_the_person_is_asked_again() {
    let mut game = stuck();
    game.answers("grant 3");
    for (round, files) in [(2, MENDED), (3, WORK), (4, MENDED)] {
        assert_eq!(game.class(), "going", "a person's rounds are not cut short by a plateau\n{}", game.log());
        game.works(files).reports(&finds(round, "missing-test"));
    }
    assert!(game.log().contains("stalled: [Plateau"), "{}", game.log());
    assert_eq!(game.calls(Role::Worker), 4);
    assert!(question(&game).text.contains("oscillation"), "the person learns of it");
}

#[test]
fn what_cannot_be_granted_is_asked_again_with_the_reason() {
    let mut game = stuck();
    game.answers("grant many");
    assert!(question(&game).text.starts_with("`grant` takes a number from 1 to 100"));
    game.answers("grant 100");
    assert!(game.log().contains("round 2 of 100"), "never more than a hundred rounds");
}

#[test]
fn a_replan_from_stuck_brings_new_rounds() {
    let mut game = stuck();
    game.answers("replan a test is not needed");
    assert!(game.log().contains("round 2 of 2"), "{}", game.log());
    game.works(MENDED).reports(&clean(2)).accepted();
    assert_eq!(game.class(), "approved");
}

#[test]
fn what_a_person_mended_by_hand_is_verified_and_judged() {
    let mut game = stuck();
    game.answers("fixed").sees(MENDED).verifies(0, "ok");
    game.reports(&clean(1)).accepted();
    assert_eq!(game.class(), "approved");
    assert_eq!(game.calls(Role::Worker), 1);
    let review = super::rounds::last_review(&game);
    let (tree, _) = crate::protocol::harness::tree(MENDED);
    assert_eq!(review.binding.artifact, tree.digest, "the verdict is about what the person made");
    let mut red = stuck();
    red.answers("fixed").sees(MENDED).verifies(1, "still red");
    question(&red);
}

#[test]
fn at_the_cap_the_question_stays_visible_and_is_put_once_rounds_are_granted() {
    let mut game = game().with(|s| s.rounds = 1).begun();
    let mut asks = finding("question-to-user", "fail");
    asks["question_to_user"] = "Which port?".into();
    game.works(WORK).reports(&with_findings(1, vec![asks, finding("style", "nit")]));
    let asked = question(&game);
    assert_eq!(asked.about.name(), "stuck");
    assert!(asked.text.contains("Which port?"), "the cap does not swallow it: {}", asked.text);
    game.answers("grant 1");
    assert_eq!(question(&game).about.name(), "askuser");
    game.answers("80");
    assert_eq!(game.class(), "going");
}

#[test]
fn a_review_that_failed_is_repeated_not_worked_on() {
    let mut game = game().begun();
    game.works(WORK).reports(&finds(1, "critic-error")).answers("grant 1");
    assert_eq!(game.calls(Role::Worker), 1);
    game.reports(&clean(1)).accepted();
    assert_eq!(game.class(), "approved");
}

#[test]
fn rounds_raised_on_resume_count_up_to_a_hundred() {
    let mut game = game().with(|s| s.rounds = 1).begun();
    game.fails(crate::effect::FailureKind::Unavailable);
    assert_eq!(game.class(), "failed");
    game.resume_with(crate::budget::Limits::default(), Some(1_000));
    game.works(WORK).reports(&finds(1, "missing-test"));
    assert!(game.log().contains("round 2 of 100"), "{}", game.log());
}

/// A game in which what the change did to tests is found out, and the worker was stopped by its only round.
fn examined() -> Game {
    let mut game = game().with(|s| (s.examine, s.rounds) = (true, 1)).begun();
    game.works(&[("src/a.rs", Some("one\ntwo\n")), ("notes.md", Some("x"))]);
    let mut weaker = Finding::new("silenced-failure", Severity::Fail, "`adds` asserts less.", ENGINE);
    weaker.place = Some(Location { path: "src/a.rs".into(), line: Some(1), end: None });
    game.replies(Reply::Examined(Examined { findings: vec![weaker], read: vec!["src/a.rs".into()] }));
    game.reports(&clean(1));
    game
}

#[test]
fn what_the_program_found_can_be_waived_on_record() {
    let mut game = examined();
    assert_eq!(
        question(&game).shown_choices(),
        ["grant N", "replan TEXT", "waive N WHY", "stuck", "fixed"],
        "{}",
        game.log()
    );
    let text = question(&game).text;
    assert!(text.contains("notes.md") && text.contains("`adds` asserts less."), "{text}");
    game.answers("waive 9 there is none");
    assert!(question(&game).text.starts_with("That is nothing the program found"), "{}", game.log());
    game.answers("waive 1 the notes are wanted");
    let left = question(&game).text;
    assert!(!left.contains("notes.md") && left.contains("`adds` asserts less."), "{left}");
    game.answers("waive all it was too strict");
    assert!(game.log().contains("waived") && game.log().contains("the notes are wanted"), "{}", game.log());
    // The same work is judged once more, by what is left.
    game.reports(&clean(1)).accepted();
    assert_eq!(game.class(), "approved", "{}", game.log());
}
