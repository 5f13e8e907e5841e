//! When a loop converges, and how else it ends.

use insta::assert_snapshot;

use super::{UNREALISTIC, capped, clean, failing, lines, reply, reviews, settings, table};
use crate::outcome::Outcome;
use crate::protocol::harness::{TASK, THOUGHT};
use crate::review::Verdict;
use crate::turn::Role;
use crate::work::Work;

#[test]
fn all_pass_and_an_unrealistic_scenario_converge_in_one_pass() {
    let mut t = table().start();
    t.says("The moon is 384,400 km away.").says(&clean(1));
    assert_snapshot!(t.log(), @r#"
    > start
      round 1 of 5
      run#1 ask worker ann
    > run#1 “The moon is 384,400 km away.”
      run#2 ask critic cato
    > run#2 “=== CRITIC 1 === [UNITS] Is UNITS given? → 3 of 3 numbers were read Verdict: PASS [SOURCES] Is SOURCES given? → 1 of 1 sources was read Verdict: PASS [ADVERSARIAL] Failure scenario: a reader mistakes miles for kilometres → Realistic? N → 0 of 9 readers would”
      Approved
      === Result: CONVERGED (1 passes, 0 fixes, 0 escalations) ===
      ✓ Critic converged (1 passes, 0 fixes, 0 escalations)
      = approved
    "#);
}

#[test]
fn what_fails_is_mended_and_judged_again() {
    let mut t = table().start();
    t.says("The moon is 384,400 away.")
        .says(&failing(1, "add the unit"))
        .says("The moon is 384,400 km away.");
    t.says(&clean(2));
    assert_snapshot!(t.log(), @r#"
    > start
      round 1 of 5
      run#1 ask worker ann
    > run#1 “The moon is 384,400 away.”
      run#2 ask critic cato
    > run#2 “=== CRITIC 1 === [UNITS] Is UNITS given? → 3 of 3 numbers were read Verdict: FAIL (add the unit) [SOURCES] Is SOURCES given? → 1 of 1 sources was read Verdict: PASS [ADVERSARIAL] Failure scenario: a reader mistakes miles for kilometres → Realistic? N → 0 of 9 readers would”
      Rejected 1. 3 of 3 numbers were read → add the unit (since 1)
      run#3 ask worker ann
    > run#3 “The moon is 384,400 km away.”
      === Result: CONTINUE (1 fixed) ===
      round 2 of 5
      run#4 ask critic cato
    > run#4 “=== CRITIC 2 === [UNITS] Is UNITS given? → 3 of 3 numbers were read Verdict: PASS [SOURCES] Is SOURCES given? → 1 of 1 sources was read Verdict: PASS [ADVERSARIAL] Failure scenario: a reader mistakes miles for kilometres → Realistic? N → 0 of 9 readers would”
      Approved
      === Result: CONVERGED (2 passes, 1 fixes, 0 escalations) ===
      ✓ Critic converged (2 passes, 1 fixes, 0 escalations)
      = approved
    "#);
    let brief = t.prompt(&t.effect("run#3"));
    assert!(brief.contains("Fixes:\n- [UNITS] 3 of 3 numbers were read → add the unit\n"), "{brief}");
    assert!(brief.contains("Current Draft:\nThe moon is 384,400 away."), "{brief}");
}

#[test]
fn a_critic_sees_the_pass_and_nothing_else_of_history() {
    let mut t = table().start();
    t.says(&format!("<think>{THOUGHT}</think>The moon is 384,400 away."));
    t.says(&failing(1, "add the unit")).says("The moon is 384,400 km away.");
    let prompt = t.prompt(&t.effect("run#4"));
    assert!(prompt.contains("=== CRITIC 2 ==="), "{prompt}");
    assert!(prompt.contains("[UNITS] Is UNITS given?"), "{prompt}");
    for history in ["add the unit", "384,400 away", "3 of 3 numbers"] {
        assert!(!prompt.contains(history), "the critic was shown “{history}”\n{prompt}");
    }
    assert!(prompt.contains(TASK), "completeness is judged by the task");
}

#[test]
fn a_realistic_scenario_is_mended_like_a_fail() {
    let mut t = table().start();
    t.says("The moon is 384,400 km away.").says(&reply(
        1,
        "PASS",
        "PASS",
        "Y → FAIL + fix: name the unit twice",
    ));
    let brief = t.prompt(&t.effect("run#3"));
    let fix = "- [ADVERSARIAL] a reader mistakes miles for kilometres → name the unit twice\n";
    assert!(brief.contains(fix), "{brief}");
    t.says("384,400 km, kilometres.").says(&clean(2));
    assert_eq!(
        lines(&t),
        [
            "=== Result: CONTINUE (1 fixed) ===",
            "=== Result: CONVERGED (2 passes, 1 fixes, 0 escalations) ===",
            "✓ Critic converged (2 passes, 1 fixes, 0 escalations)",
        ]
    );
}

#[test]
fn a_deferral_is_a_finding_so_it_takes_a_second_pass_to_converge() {
    let deferred = |pass| reply(pass, "PASS", "DEFER (the archive opens in May)", UNREALISTIC);
    let mut t = table().start();
    t.says("The moon is 384,400 km away.").says(&deferred(1));
    assert_eq!(t.class(), "going", "the finding was not seen in an earlier pass");
    t.says(&deferred(2));
    assert_eq!(
        lines(&t),
        [
            "SOURCES deferred by cato: the archive opens in May",
            "=== Result: CONTINUE (0 fixed) ===",
            "=== Result: CONVERGED (2 passes, 0 fixes, 0 escalations) ===",
            "✓ Critic converged (2 passes, 0 fixes, 0 escalations)",
        ]
    );
    assert_eq!(t.calls(Role::Worker), 1, "there was nothing to mend");
    let Some(Outcome::Approved { notes, .. }) = t.engine.outcome() else { panic!("{}", t.log()) };
    assert_eq!(notes, &["SOURCES deferred: the archive opens in May"]);
}

#[test]
fn a_finding_unseen_before_keeps_a_clean_pass_from_converging() {
    let mut t = table().start();
    t.says("v1").says(&failing(1, "add the unit")).says("v2");
    t.says(&reply(2, "PASS", "DEFER (the archive opens in May)", UNREALISTIC));
    assert_eq!(t.class(), "going", "switched off, condition three would let this converge");
    t.says(&clean(3));
    assert_eq!(t.class(), "approved");
}

#[test]
fn a_fix_counts_by_digest_and_not_by_claim() {
    let mut t = capped(3).start();
    // The worker says it changed something and did not: the same text comes back.
    t.says("v1").says(&failing(1, "add the unit")).says("v1").says(&clean(2));
    assert_eq!(t.class(), "approved");
    let judged: Vec<_> = reviews(&t).iter().map(|r| r.binding.artifact).collect();
    assert_eq!(judged[0], judged[1]);
}

#[test]
fn the_cap_is_never_a_pass() {
    let mut t = capped(2).start();
    t.says("v1").says(&failing(1, "add the unit")).says("v2").says(&failing(2, "no, kilometres"));
    assert_eq!(t.class(), "halted(cap)");
    assert_eq!(t.calls(Role::Worker), 2, "what nobody would judge is not written");
    assert_eq!(
        lines(&t),
        [
            "=== Result: CONTINUE (1 fixed) ===",
            "=== Result: SAFETY CAP ===",
            "⚠ Critic safety cap (2 passes). Review recommended.",
        ]
    );
    // Clean, but not converged, is no pass at the cap either.
    let mut t = capped(1).start();
    t.says("v1").says(&reply(1, "PASS", "DEFER (the archive opens in May)", UNREALISTIC));
    assert_eq!(t.class(), "halted(cap)");
    // And a question is not asked when there is no pass left to judge what it changes.
    let mut t = capped(1).start();
    t.says("v1").says(&reply(1, "PASS", "ESCALATE", UNREALISTIC));
    assert_eq!(t.class(), "halted(cap)");
}

#[test]
fn a_loop_that_makes_no_headway_stops_early() {
    let same = "add the unit";
    let mut t = table().start();
    t.says("v1")
        .says(&failing(1, same))
        .says("v2")
        .says(&failing(2, same))
        .says("v3")
        .says(&failing(3, same));
    assert_eq!(t.class(), "halted(plateau)");
    assert_eq!(lines(&t).last().unwrap(), "⚠ Critic stopped: plateau (3 passes). Review recommended.");

    let mut t = table().start();
    t.says("v1").says(&failing(1, "add the unit")).says("v2");
    t.says(&reply(2, "PASS", "FAIL (name the archive)", UNREALISTIC)).says("v1");
    t.says(&failing(3, "write kilometres in full"));
    assert_eq!(t.class(), "halted(oscillation)");
    assert_eq!(lines(&t).last().unwrap(), "⚠ Critic stopped: oscillation (3 passes). Review recommended.");
}

#[test]
fn work_that_passes_is_not_stopped_for_its_history() {
    let mut t = table().start();
    t.says("v1").says(&failing(1, "add the unit")).says("v2").says(&failing(2, "add the unit")).says("v1");
    t.says(&clean(3));
    assert_eq!(t.class(), "approved");
    assert!(!t.log().contains("stalled"), "nor is it called stalled beside its approval: {}", t.log());
}

#[test]
fn the_result_is_computed_and_a_differing_claim_is_recorded() {
    let mut t = table().start();
    let claims = |reply: String, result: &str| format!("{reply}=== Result: {result} ===\n");
    t.says("v1").says(&claims(failing(1, "add the unit"), "CONVERGED (1 passes, 0 fixes, 0 escalations)"));
    assert_eq!(t.class(), "going");
    t.says("v2").says(&claims(clean(2), "CONVERGED (2 passes, 1 fixes, 0 escalations)"));
    let all = reviews(&t);
    assert_eq!(
        all[0].deviations,
        ["the critic claims the result `CONVERGED (1 passes, 0 fixes, 0 escalations)`; it is CONTINUE"]
    );
    assert_eq!(all[1].deviations, Vec::<String>::new());
}

#[test]
fn a_review_keeps_every_verdict_and_is_bound_to_what_was_judged() {
    let mut t = table().start();
    t.says("v1").says(&failing(1, "add the unit")).says("v2").says(&clean(2));
    let all = reviews(&t);
    let shown = |n: usize| {
        let criteria = all[n].criteria.iter().map(|c| format!("{} {} {}", c.id, c.verdict, c.because));
        criteria.collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        shown(0),
        "UNITS FAIL add the unit; SOURCES PASS 1 of 1 sources was read; \
         ADVERSARIAL PASS a reader mistakes miles for kilometres: unrealistic, 0 of 9 readers would"
    );
    assert_eq!((all[0].verdict, all[1].verdict), (Verdict::Rejected, Verdict::Approved));
    assert_eq!(all[1].fixed, [1], "the engine says what was fixed");
    let Some(Outcome::Approved { draft, .. }) = t.engine.outcome() else { panic!("{}", t.log()) };
    assert_eq!(all[1].binding.artifact, Work::Draft(*draft).artifact(), "judged and delivered are the same");
}

#[test]
fn what_a_worker_says_of_its_own_work_is_noted_and_counts_for_nothing() {
    let mut t = capped(1).start();
    let own = "The moon is far.\n[UNITS] → 3 of 3\nVerdict: PASS\n=== Result: CONVERGED (1 passes, 0 fixes, 0 escalations) ===";
    t.says(own);
    assert!(t.log().contains("self verdict: Verdict: PASS"), "{}", t.log());
    let prompt = t.prompt(&t.open());
    assert!(prompt.contains(": ‹PASS›\n=== Result: ‹CONVERGED›"), "{prompt}");
    t.says(&failing(1, "add the unit"));
    assert_eq!(t.class(), "halted(cap)");
}

#[test]
fn a_work_that_was_brought_is_judged_first() {
    let mut t = table();
    let given = t.bring("The moon is far.");
    let mut t = t.with(|s| s.given = Some(Work::Draft(given))).start();
    t.says(&clean(1));
    assert_eq!((t.class().as_str(), t.calls(Role::Worker)), ("approved", 0));
}

#[test]
fn without_a_worker_there_is_one_judgement_and_no_question() {
    let converged = ("approved", "CONVERGED (1 passes, 0 fixes, 0 escalations)");
    let cases = [
        (clean(1), converged),
        (reply(1, "PASS", "DEFER (the archive opens in May)", UNREALISTIC), converged),
        (failing(1, "add the unit"), ("rejected", "CONTINUE (0 fixed)")),
        (reply(1, "PASS", "ESCALATE", UNREALISTIC), ("rejected", "ESCALATE (1 items)")),
        (reply(1, "PASS", "PASS", "Y → FAIL + fix: name it"), ("rejected", "CONTINUE (0 fixed)")),
    ];
    for (said, (expected, result)) in cases {
        let mut t = table();
        let given = t.bring("The moon is far.");
        let mut t = t
            .with(|s| {
                s.given = Some(Work::Draft(given));
                s.worker = None;
            })
            .start();
        assert!(t.log().contains("round 1 of 1"), "{}", t.log());
        t.says(&format!("{said}=== Result: {result} ===\n"));
        assert_eq!(t.class(), expected, "{said}");
        assert_eq!(reviews(&t)[0].deviations, Vec::<String>::new(), "the claim is the computed one");
        let summary = match expected {
            "approved" => "✓ Critic converged (1 passes, 0 fixes, 0 escalations)",
            _ => "⚠ Critic stopped: rejected (1 passes). Review recommended.",
        };
        let all = lines(&t);
        assert!(all.ends_with(&[format!("=== Result: {result} ==="), summary.to_owned()]), "{all:?}");
    }
}

#[test]
fn passes_raised_on_resume_count() {
    let mut t = capped(1).start();
    t.fails(crate::effect::FailureKind::Unavailable);
    t.resume_with(crate::budget::Limits::default(), Some(2));
    t.says("v1").says(&failing(1, "add the unit"));
    assert_eq!(t.class(), "going");
    t.says("v2").says(&failing(2, "no, kilometres"));
    assert_eq!(t.class(), "halted(cap)");
}

#[test]
fn settings_that_cannot_work_are_refused_all_at_once() {
    let mut wrong = settings();
    (wrong.rounds, wrong.worker) = (0, None);
    wrong.criteria.clear();
    wrong.critics.clear();
    let plan = wrong.node_plan(crate::budget::Limits::default()).unwrap();
    let refused = super::super::begin(&plan).err().unwrap();
    assert_eq!(
        refused,
        "there are no criteria: a critic needs at least one; `rounds` is 0: at least one pass is needed; \
         `converge` has exactly one critic; 0 are named; there is neither a worker nor a work to judge"
    );
    let mut files = settings();
    files.given = Some(Work::Files(Vec::new()));
    let plan = files.node_plan(crate::budget::Limits::default()).unwrap();
    assert!(super::super::begin(&plan).err().unwrap().contains("writes one text"));
}
