//! Escalations: what is asked, and what an answer leads to.

use insta::assert_snapshot;

use super::{UNREALISTIC, block, clean, lines, reply, reviews, table};
use crate::effect::EffectKind;
use crate::outcome::Outcome;
use crate::protocol::converge::sets::ConvergeCriterion;
use crate::turn::Role;

#[test]
fn questions_come_first_and_then_one_turn_applies_answers_and_fails() {
    let mut t = table().start();
    t.says("The moon is far.").says(&reply(1, "FAIL (add the unit)", "ESCALATE", UNREALISTIC));
    assert_eq!(t.class(), "waiting(question)");
    t.answers("2").says("The moon is 238,900 miles away.").says(&clean(2));
    assert_snapshot!(t.log(), @r#"
    > start
      round 1 of 5
      run#1 ask worker ann
    > run#1 “The moon is far.”
      run#2 ask critic cato
    > run#2 “=== CRITIC 1 === [UNITS] Is UNITS given? → 3 of 3 numbers were read Verdict: FAIL (add the unit) [SOURCES] Is SOURCES given? → 1 of 1 sources was read Verdict: ESCALATE [ADVERSARIAL] Failure scenario: a reader mistakes miles for kilometres → Realistic? N → 0 of 9 readers would === CRITIC ESCALATION (1) === [SOURCES] Which SOURCES are wanted? Issue: The task is silent about SOURCES. Why escalation: missing information Options: 1. Metric — as in Europe Pro: exact Con: dull 2. Imperial — as in films Pro: lively Con: vague 3. Skip — keep current state, mark as [DEFERRED]”
      Rejected 1. 3 of 3 numbers were read → add the unit (since 1) | 2. The task is silent about SOURCES. (since 1)
      escalated to user: === Result: ESCALATE (1 items) ===
      run#3 question escalation: 1 / 2 / skip / stop (person)
      = waiting(question)
    > run#3 person “2”
      eve answered
      eve decided
      run#4 ask worker ann
    > run#4 “The moon is 238,900 miles away.”
      === Result: CONTINUE (1 fixed) ===
      round 2 of 5
      run#5 ask critic cato
    > run#5 “=== CRITIC 2 === [UNITS] Is UNITS given? → 3 of 3 numbers were read Verdict: PASS [SOURCES] Is SOURCES given? → 1 of 1 sources was read Verdict: PASS [ADVERSARIAL] Failure scenario: a reader mistakes miles for kilometres → Realistic? N → 0 of 9 readers would”
      Approved
      === Result: CONVERGED (2 passes, 1 fixes, 1 escalations) ===
      ✓ Critic converged (2 passes, 1 fixes, 1 escalations)
      = approved
    "#);
    let brief = t.prompt(&t.effect("run#4"));
    assert!(brief.contains("- [UNITS] 3 of 3 numbers were read → add the unit\n"), "{brief}");
    assert!(
        brief.contains("Decisions:\n- [SOURCES] Which SOURCES are wanted? → Imperial — as in films\n"),
        "{brief}"
    );
}

#[test]
fn the_person_is_shown_the_block_and_may_use_words_of_their_own() {
    let mut t = table().start();
    t.says("v1").says(&reply(1, "PASS", "ESCALATE", UNREALISTIC));
    let EffectKind::Ask(question) = t.open().kind else { panic!("{}", t.log()) };
    assert_snapshot!(question.text, @r#"
    === CRITIC ESCALATION (1) ===
    [SOURCES] Which SOURCES are wanted?

    Issue: The task is silent about SOURCES.
    Why escalation: missing information

    Options:
      1. Metric — as in Europe
         Pro: exact  Con: dull
      2. Imperial — as in films
         Pro: lively  Con: vague
      3. Skip — keep current state, mark as [DEFERRED]
    "#);
    assert_eq!(question.shown_choices(), ["1", "2", "skip", "stop"]);
    t.answers("use both, metric first");
    assert!(t.prompt(&t.open()).contains("- [SOURCES] Which SOURCES are wanted? → use both, metric first\n"));
}

#[test]
fn what_is_skipped_stays_deferred_and_is_not_asked_again() {
    let mut t = table().start();
    t.says("v1").says(&reply(1, "PASS", "ESCALATE", UNREALISTIC)).answers("skip");
    assert_eq!(t.class(), "going", "the finding is new in this pass, so it does not converge yet");
    // The cold critic asks the same again; the person is not asked.
    t.says(&reply(2, "PASS", "ESCALATE", UNREALISTIC));
    assert_eq!(
        lines(&t),
        [
            "=== Result: ESCALATE (1 items) ===",
            "SOURCES deferred by eve: skipped: The task is silent about SOURCES.",
            "=== Result: CONTINUE (0 fixed) ===",
            "=== Result: CONVERGED (2 passes, 0 fixes, 1 escalations) ===",
            "✓ Critic converged (2 passes, 0 fixes, 1 escalations)",
        ]
    );
    assert_eq!(t.calls(Role::Worker), 1, "there was nothing to change");
    let Some(Outcome::Approved { notes, .. }) = t.engine.outcome() else { panic!("{}", t.log()) };
    assert_eq!(notes, &["SOURCES deferred: skipped: The task is silent about SOURCES."]);
}

#[test]
fn what_a_person_put_off_is_not_called_fixed_when_the_critic_passes_it() {
    let mut t = table().start();
    t.says("v1").says(&reply(1, "FAIL (add the unit)", "ESCALATE", UNREALISTIC)).answers("skip");
    t.says("v2").says(&reply(2, "PASS", "PASS", UNREALISTIC));
    let fixed = reviews(&t).last().map(|review| review.fixed.clone());
    assert_eq!(fixed, Some(vec![1]), "UNITS was mended, SOURCES only put off: {}", t.log());
}

#[test]
fn a_skip_covers_its_criterion_and_no_other() {
    let mut t = table().start();
    t.says("v1").says(&reply(1, "PASS", "ESCALATE", UNREALISTIC)).answers("skip");
    t.says(&reply(2, "FAIL (add the unit)", "ESCALATE", UNREALISTIC));
    assert_eq!(t.calls(Role::Worker), 2, "the other criterion's FAIL is mended");
    t.says("v2").says(&reply(3, "ESCALATE", "ESCALATE", UNREALISTIC));
    let EffectKind::Ask(question) = t.open().kind else { panic!("{}", t.log()) };
    assert!(question.text.contains("[UNITS]") && !question.text.contains("[SOURCES]"), "{}", question.text);
}

#[test]
fn at_most_three_escalations_are_put_in_one_question() {
    let names = ["A", "B", "C", "D"];
    let mut t = table()
        .with(|s| {
            s.criteria =
                names.map(|n| ConvergeCriterion { name: n.into(), question: "Why?".into() }).to_vec();
        })
        .start();
    let items = names.map(|n| format!("[{n}] Why? → unsure\nVerdict: ESCALATE\n")).concat();
    let scenario = "[ADVERSARIAL] Failure scenario: fire\n→ Realistic? N → 0 of 9\n";
    t.says("v1").says(&format!("=== CRITIC 1 ===\n{items}{scenario}{}", names.map(block).concat()));
    let text = |t: &super::Table<super::ConvergeSettings>| match t.open().kind {
        EffectKind::Ask(question) => question.text,
        other => panic!("{other:?}"),
    };
    assert!(text(&t).contains("ESCALATION (3)") && !text(&t).contains("[D]"), "{}", text(&t));
    t.answers("1\nskip\nours");
    assert!(text(&t).contains("ESCALATION (1)") && text(&t).contains("[D]"), "{}", text(&t));
    assert!(!text(&t).contains("did not settle"), "{}", text(&t));
    t.answers("1");
    let brief = t.prompt(&t.open());
    for line in [
        "[A] Which A are wanted? → Metric",
        "[C] Which C are wanted? → ours",
        "[D] Which D are wanted? → Metric",
    ] {
        assert!(brief.contains(line), "{brief}");
    }
    assert!(!brief.contains("[B] Which"), "{brief}");
    assert_eq!(lines(&t)[0], "=== Result: ESCALATE (4 items) ===");
}

#[test]
fn what_an_answer_leaves_open_is_asked_again() {
    let mut t = table().start();
    t.says("v1").says(&reply(1, "ESCALATE", "ESCALATE", UNREALISTIC));
    t.answers("whatever you like").answers("SOURCES: 1");
    let EffectKind::Ask(question) = t.open().kind else { panic!("{}", t.log()) };
    assert!(question.text.starts_with("The answer did not settle what follows."), "{}", question.text);
    assert!(question.text.contains("[UNITS]") && !question.text.contains("[SOURCES]"), "{}", question.text);
    t.answers("2");
    assert_eq!(t.calls(Role::Worker), 2);
}

#[test]
fn a_person_who_declines_ends_the_loop_without_approval() {
    let mut t = table().start();
    t.says("v1").says(&reply(1, "PASS", "ESCALATE", UNREALISTIC)).answers("stop");
    assert_eq!(t.class(), "halted(stuck)");
    assert_eq!(lines(&t).last().unwrap(), "⚠ Critic stopped: declined (1 passes). Review recommended.");
}
