//! Rounds: who works, when a critic is asked, where findings lead, how a task ends.

use super::game::*;
use crate::effect::EffectKind;
use crate::event::EventKind;
use crate::finding::Severity;
use crate::protocol::harness::Table;
use crate::turn::Role;

#[test]
fn a_clean_first_round_is_approved_and_accepted() {
    let mut game = game().begun();
    game.works(WORK).reports(&clean(1)).accepted();
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
      Approved
      route commit: every criterion is satisfied, nothing was found
      run#7 accept
    > run#7 accepted
      accepted a
      = approved
    ");
}

#[test]
fn findings_go_to_the_build_fixer_with_the_verify_output_and_all_findings() {
    let mut game = game().begun();
    game.works(WORK).reports(&finds(1, "missing-test"));
    let brief = game.prompt(&game.open());
    assert!(brief.contains("[missing-test, fail] src/a.rs:1: mend the missing-test"), "{brief}");
    assert!(brief.contains("SC-1: a exists") && brief.contains("D-01: no macros"), "{brief}");
    game.works(MENDED).reports(&clean(2)).accepted();
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
      Rejected 1. src/a.rs:1: mend the missing-test (since 1)
      route executor: 1 finding, decided by `missing-test`
      round 2 of 3
      run#7 ask worker dora
    > run#7 “…”
      run#8 look
    > run#8 looked
      run#9 verify `make test` in a fresh folder
    > run#9 verify exit 0
      verify `make test` green
      run#10 ask critic cato
    > run#10 “…”
      report critic-T1-r2.json
      Approved
      route commit: every criterion is satisfied, nothing was found
      run#11 accept
    > run#11 accepted
      accepted a
      = approved
    ");
}

#[test]
fn a_red_verify_asks_no_critic_and_goes_to_the_build_fixer() {
    let mut game = game().begun();
    game.says("done").sees(WORK).verifies(2, "error: it does not compile");
    assert_eq!(game.calls(Role::Critic), 0);
    let brief = game.prompt(&game.open());
    assert!(brief.contains("The verify command `make test` failed: exit code 2."), "{brief}");
    assert!(brief.contains("error: it does not compile"), "{brief}");
    game.works(MENDED).reports(&clean(2)).accepted();
    assert_eq!(game.class(), "approved");
    insta::assert_snapshot!(story(&game), @r"
    > start
      run#1 look
    > run#1 looked
      run#2 verify `make test`
    > run#2 verify exit 1
      verify `make test` red
      round 1 of 3
      run#3 ask worker ann
    > run#3 “done”
      run#4 look
    > run#4 looked
      run#5 verify `make test` in a fresh folder
    > run#5 verify exit 2
      verify `make test` red
      route executor: The verify command `make test` failed: exit code 2.
      round 2 of 3
      run#6 ask worker dora
    > run#6 “…”
      run#7 look
    > run#7 looked
      run#8 verify `make test` in a fresh folder
    > run#8 verify exit 0
      verify `make test` green
      run#9 ask critic cato
    > run#9 “…”
      report critic-T1-r2.json
      Approved
      route commit: every criterion is satisfied, nothing was found
      run#10 accept
    > run#10 accepted
      accepted a
      = approved
    ");
}

#[test]
fn red_rounds_count_against_the_cap() {
    let mut game = game().begun();
    for _ in 0..3 {
        game.says("done").sees(WORK).verifies(1, "no");
    }
    assert_eq!(game.class(), "waiting(question)");
    assert_eq!((game.calls(Role::Worker), game.calls(Role::Critic)), (3, 0));
    let EffectKind::Ask(question) = game.open().kind else { panic!("a question") };
    assert!(question.text.contains("make test"), "{}", question.text);
}

#[test]
fn every_verify_command_must_be_green_on_this_very_tree() {
    let mut game = game().with(|s| s.verify = vec!["lint".into(), "test".into()]).start();
    game.sees(&[]).verifies(0, "").verifies(0, "");
    game.says("done").sees(WORK).verifies(0, "").verifies(1, "red");
    assert_eq!(game.calls(Role::Critic), 0, "one green command is not enough");
    game.says("done").sees(MENDED);
    let EffectKind::Verify(verify) = game.open().kind else { panic!("a verify run") };
    assert_eq!(verify.command, "lint", "what was green on another tree runs again");
    game.verifies(0, "").verifies(0, "");
    assert_eq!(game.calls(Role::Critic), 1);
}

#[test]
fn what_ran_on_other_work_says_nothing_about_this() {
    let mut game = game().begun();
    game.says("done").sees(WORK).verifies(2, "error: it does not compile");
    game.works(MENDED);
    let brief = game.prompt(&game.open());
    assert_eq!(brief.matches("begin evidence verify-output").count(), 1, "{brief}");
    assert!(!brief.contains("it does not compile"), "{brief}");
    game.reports(&finds(2, "missing-test"));
    let brief = game.prompt(&game.open());
    assert!(!brief.contains("it does not compile") && !brief.contains("failed: exit code"), "{brief}");
    let mut judged_twice = super::game::game().begun();
    judged_twice.works(WORK).reports(&finds(1, "missing-test")).works(MENDED);
    let brief = judged_twice.prompt(&judged_twice.open());
    assert_eq!(brief.matches("begin evidence verify-output").count(), 1, "only this round's run: {brief}");
}

#[test]
fn verify_commands_run_as_often_as_asked_but_only_once_before_the_work() {
    let mut game = game().with(|s| s.verify_runs = 3).start();
    game.sees(&[]);
    let runs = |game: &Game| match game.open().kind {
        EffectKind::Verify(verify) => verify.runs,
        other => panic!("a verify run expected, not {other:?}"),
    };
    assert_eq!(runs(&game), 1);
    game.verifies(0, "").says("done").sees(WORK);
    assert_eq!(runs(&game), 3);
}

#[test]
fn without_verify_commands_the_critic_is_asked_at_once() {
    let mut game = game().with(|s| s.verify.clear()).start();
    game.sees(&[]).says("done").sees(WORK).reports(&clean(1)).accepted();
    assert_eq!(game.class(), "approved");
}

#[test]
fn what_is_below_block_on_is_kept_as_notes() {
    for (block_on, severity, ends) in [
        (Severity::Nit, "nit", "going"),
        (Severity::Risk, "nit", "approved"),
        (Severity::Fail, "risk", "approved"),
        (Severity::Fail, "fail", "going"),
    ] {
        let mut game = game().with(|s| s.block_on = block_on).begun();
        game.works(WORK).reports(&with_findings(1, vec![finding("style", severity)]));
        if ends == "approved" {
            game.accepted();
        }
        assert_eq!(game.class(), ends, "{block_on:?} and {severity}");
    }
}

#[test]
fn the_engine_checks_the_change_itself() {
    let creep: Files<'_> = &[
        ("src/a.rs", Some("fn a() {}\nfn b() {} // TODO: later\n")),
        ("Cargo.toml", Some("[package]\n")),
        ("tests/b.rs", None),
    ];
    let mut game = game().begun();
    game.works(creep);
    let brief = game.prompt(&game.open());
    assert!(brief.contains("found by the engine already"), "{brief}");
    game.reports(&clean(1));
    assert_eq!(game.class(), "going", "a passing report does not outweigh what the engine found");
    let review = last_review(&game);
    let mut rules: Vec<&str> = review.findings.iter().map(|f| f.rule.as_str()).collect();
    rules.sort_unstable();
    assert_eq!(rules, ["scope-creep", "silenced-failure", "todo-marker"]);
    assert!(review.findings.iter().all(|f| f.by == "engine" && f.is_supported()));
}

pub fn last_review(game: &Game) -> crate::review::Review {
    let events = game.records.iter().flat_map(|(_, step)| &step.events);
    let mut reviews = events.filter_map(|e| match &e.what {
        EventKind::Reviewed { review, .. } => Some(review.clone()),
        _ => None,
    });
    reviews.next_back().unwrap()
}

#[test]
fn the_researchers_answer_joins_the_next_briefs() {
    let mut game = game().begun();
    game.works(WORK).reports(&finds(1, "information-missing"));
    let brief = game.prompt(&game.open());
    assert!(brief.contains("1. src/a.rs:1: mend the information-missing"), "{brief}");
    game.says("<think>hm</think>The port is 80, see docs/net.md:3.");
    assert!(game.prompt(&game.open()).contains("The port is 80"), "the worker knows");
    game.says("done").sees(MENDED).verifies(0, "ok");
    assert!(game.prompt(&game.open()).contains("The port is 80"), "and the critic");
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
      Rejected 1. src/a.rs:1: mend the information-missing (since 1)
      route researcher: 1 finding, decided by `information-missing`
      run#7 ask advisor emil
    > run#7 “…”
      emil decided
      round 2 of 3
      run#8 ask worker dora
    > run#8 “done”
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
fn without_a_researcher_a_person_is_asked() {
    let mut game = game().with(|s| s.researcher = None).begun();
    game.works(WORK).reports(&finds(1, "information-missing"));
    let EffectKind::Ask(question) = game.open().kind else { panic!("a question") };
    assert_eq!(question.about.name(), "askuser");
    assert!(question.text.contains("mend the information-missing"), "{}", question.text);
    assert!(game.log().contains("route askuser: "), "{}", game.log());
    game.answers("It is 80.");
    assert!(game.prompt(&game.open()).contains("eve answered: It is 80."));
}

#[test]
fn a_loop_without_headway_stops_early_with_its_reason() {
    let mut game = game().with(|s| s.rounds = 10).begun();
    let again: [Files<'_>; 4] = [WORK, MENDED, WORK, MENDED];
    for (round, files) in (1..).zip(again) {
        if game.class() != "going" {
            break;
        }
        game.works(files).reports(&finds(round, "missing-test"));
    }
    assert!(["halted(plateau)", "halted(oscillation)"].contains(&game.class().as_str()), "{}", game.log());
    assert!(game.calls(Role::Worker) <= 4);
}

#[test]
fn a_task_without_criteria_calls_nobody() {
    let mut game = game().with(|s| s.criteria.clear()).start();
    assert_eq!(game.class(), "waiting(question)");
    assert_eq!(game.records[0].1.effects.len(), 1, "only the question");
    let envelope = reported(&game).1;
    assert!(envelope.contains(r#""verdict":"issues_found","blockers_count":1"#), "{envelope}");
    game.answers("replan a exists; b exists").sees(&[]).verifies(1, "");
    game.works(WORK).reports(&clean(1)).accepted();
    assert_eq!(game.class(), "approved");
    let mut declined = super::game::game().with(|s| s.criteria.clear()).start();
    declined.answers("give-up");
    assert_eq!(declined.class(), "halted(plan)");
}

/// The last report on disk and its envelope.
fn reported(game: &Game) -> (String, String) {
    let events = game.records.iter().flat_map(|(_, step)| &step.events);
    let mut reports = events.filter_map(|e| match &e.what {
        EventKind::Reported { report, envelope, .. } => Some((*report, *envelope)),
        _ => None,
    });
    let (report, envelope) = reports.next_back().unwrap();
    let texts = game.engine.texts().unwrap();
    (texts.get(&report).to_owned(), texts.get(&envelope).to_owned())
}

#[test]
fn every_judged_round_leaves_a_report_and_an_envelope() {
    let mut game = game().begun();
    let mut report = finds(1, "missing-test");
    report["criteria"][1]["verdict"] = "Unsatisfied".into();
    game.works(WORK).reports(&report);
    let (report, envelope) = reported(&game);
    assert_eq!(
        envelope,
        r#"{"critic":"critic","task_id":"T1","round":1,"verdict":"issues_found","blockers_count":2,"report_path":"runs/r7/critic-T1-r1.json","run_id":"r7"}"#
    );
    assert!(report.contains(r#""category": "missing-test""#), "{report}");
    assert!(!report.contains("unmet-criterion"), "findings as they were stated, criteria as verdicts");
}

#[test]
fn a_plan_that_cannot_be_audited_is_refused_with_the_reason() {
    type Change = fn(&mut crate::protocol::audit::AuditSettings);
    let cases: [(Change, &str); 12] = [
        (|s| s.task_id = " ".into(), "no id"),
        (|s| s.criteria[1].id = "sc-1".into(), "two success criteria"),
        (|s| s.criteria[1].id = String::new(), "has no id"),
        (|s| s.criteria[1].claim = "  ".into(), "says nothing"),
        (|s| s.critics.clear(), "exactly one critic"),
        (|s| s.rounds = 0, "between 1 and 100"),
        (|s| s.rounds = 101, "between 1 and 100"),
        (|s| s.verify_runs = 0, "at least once"),
        (|s| s.verify_timeout_ms = 0, "needs a limit"),
        (|s| s.worker = None, "nothing to judge"),
        (|s| s.folder = false, "needs a folder"),
        (|s| s.given = Some(crate::work::Work::Files(Vec::new())), "not both"),
    ];
    for (change, expected) in cases {
        let mut settings = settings();
        change(&mut settings);
        let Err(problem) = super::super::begin(&crate::protocol::harness::Plays::root(&settings)) else {
            panic!("accepted: {expected}");
        };
        assert!(problem.contains(expected), "{problem}");
    }
    assert!(super::super::begin(&crate::protocol::harness::Plays::root(&settings())).is_ok());
}

#[test]
fn settings_of_a_plan_may_leave_out_what_has_a_default() {
    let task = settings().task;
    let least = serde_json::json!({
        "task_id": "T1", "task": task, "folder": true, "worker": "ann",
        "critics": [{"agent": "cato"}], "criteria": [{"id": "SC-1", "claim": "x"}],
    });
    let read: crate::protocol::audit::AuditSettings = serde_json::from_value(least).unwrap();
    assert_eq!((read.rounds, read.verify_runs, read.block_on), (3, 1, Severity::Nit));
    let _: Table<crate::protocol::audit::AuditSettings> = Table::seated(read).start();
}
