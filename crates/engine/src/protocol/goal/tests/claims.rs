//! Claims: nothing but the criterion makes a goal reached.

use super::game::{Goal, Plays2, begun, goal, seated, told};
use crate::effect::{EffectKind, FailureKind, Reply};
use crate::finding::{ENGINE, Finding, Severity};
use crate::protocol::goal::{Criterion, FileCheck};
use crate::tool::ToolEnd;
use crate::tree::Examined;
use crate::turn::Role;

#[test]
fn a_verified_claim_ends_it_and_brings_the_work_to_the_user() {
    let mut table = goal();
    table.runs("make test", 0, "ok").claims();
    assert!(matches!(table.open().kind, EffectKind::Look(_)), "{}", table.log());
    table.sees(&[("moon.md", Some("round"))]).verifies(0, "all fine").agrees().accepted();
    assert_eq!(table.class(), "approved");
    insta::assert_snapshot!(table.since("wants claim_complete"), @r"
      [2] claim_complete(rationale=all green) → ok: Noted. Verifying…
      Worker claims: all green
      run#5 look
    > run#5 looked
      run#6 verify `make test`
    > run#6 verify exit 0
      run#7 verify `make test` in a fresh folder
    > run#7 verify exit 0
      run#8 ask critic cato
    > run#8 cato “YES It does what was asked for.”
      change looked at: NothingWrong: It does what was asked for.
      verified: `make test` exits with 0
      run#9 accept
    > run#9 accepted
      accepted a
      = approved
    ");
}

#[test]
fn a_claim_that_is_not_met_goes_back_to_the_worker_and_five_stop_the_goal() {
    let mut table = begun(seated(|s| s.critic = None));
    for n in 1..=5 {
        table.claims().sees(&[]).verifies(1, &format!("test {n} failed"));
        if n < 5 {
            let prompt = told(&table);
            assert!(prompt.contains(&format!("test {n} failed")), "{prompt}");
            assert!(prompt.contains("Verification failed: `make test`: exit code 1, wanted exit code 0"));
        }
    }
    assert_eq!(table.class(), "waiting(question)");
    assert!(table.log().contains("paused: 5 claims in a row were not met"), "{}", table.log());
    table.answers("go-on");
    assert!(table.asked(Role::Worker));
}

#[test]
fn a_change_nobody_looked_at_is_looked_at_first_but_only_once() {
    let mut table = begun(seated(|s| s.critic = None));
    let write = ("write_file", r#"{"path":"a","content":"x"}"#);
    table.wants(&[write]).did(ToolEnd::Done, "wrote");
    table.claims();
    assert!(table.asked(Role::Worker), "{}", table.log());
    assert!(told(&table).contains("never looked at"));
    table.claims();
    assert!(matches!(table.open().kind, EffectKind::Look(_)), "{}", table.log());
}

#[test]
fn a_look_after_the_change_is_enough() {
    let mut table = begun(seated(|s| s.critic = None));
    table.wants(&[("write_file", r#"{"path":"a","content":"x"}"#)]).did(ToolEnd::Done, "wrote");
    table.runs("cat a", 0, "x").claims();
    assert!(matches!(table.open().kind, EffectKind::Look(_)), "{}", table.log());
}

/// The check passes, and the worker's change is examined.
fn examined(findings: &[&str], read: &[&str]) -> Goal {
    let mut table = begun(seated(|s| (s.critic, s.examine) = (None, true)));
    table.runs("make test", 0, "ok").claims();
    table.sees(&[("tests/test_moon.py", None), ("moon.py", Some("x"))]).verifies(0, "ok");
    assert!(matches!(table.open().kind, EffectKind::Examine(_)), "{}", table.log());
    let finding = |says: &&str| Finding::new("silenced-failure", Severity::Fail, *says, ENGINE);
    let findings = findings.iter().map(finding).collect();
    let read = read.iter().map(|path| (*path).to_owned()).collect();
    table.replies(Reply::Examined(Examined { findings, read }));
    table
}

#[test]
fn what_was_found_in_the_change_is_a_question_however_green_the_check_is() {
    let mut table = examined(&["`test_moon` asserts less."], &["tests/test_moon.py"]);
    assert_eq!(table.class(), "waiting(question)");
    let EffectKind::Ask(question) = table.open().kind else { panic!("{}", table.log()) };
    assert!(question.text.contains("1. `test_moon` asserts less."), "{}", question.text);
    assert_eq!(question.shown_choices(), ["waive WHY", "reject TEXT", "stop"]);
    table.answers("waive the moon was renamed");
    assert!(
        table.log().contains("eve waived `test_moon` asserts less.: the moon was renamed"),
        "{}",
        table.log()
    );
    table.accepted();
    assert_eq!(table.class(), "approved");

    let mut table = examined(&["`test_moon` asserts less."], &["tests/test_moon.py"]);
    table.answers("reject put it back");
    let prompt = told(&table);
    assert!(prompt.contains("a person does not agree: put it back\n- `test_moon` asserts less."), "{prompt}");
}

#[test]
fn a_change_in_which_nothing_was_found_is_no_question() {
    let mut table = examined(&[], &["tests/test_moon.py"]);
    assert_eq!(table.accepted().class(), "approved");
    // Nobody could read the file: that it was changed is all that is known.
    let table = examined(&[], &[]);
    assert_eq!(table.class(), "waiting(question)");
    assert!(table.log().contains("protected changed: tests/test_moon.py"), "{}", table.log());
}

#[test]
fn weakened_tests_are_shown_to_a_person_although_the_check_passes() {
    let mut table = goal();
    table.runs("make test", 0, "ok").claims();
    // The harness adds what it sees: a deleted test is the plainest way to pass.
    table.sees(&[("tests/test_moon.py", None), ("moon.py", Some("x"))]).verifies(0, "ok");
    assert_eq!(table.class(), "waiting(question)");
    assert!(table.log().contains("protected changed: tests/test_moon.py"), "{}", table.log());
    table.answers("reject put the test back");
    let prompt = told(&table);
    assert!(prompt.contains("a person does not agree: put the test back"), "{prompt}");
    table.claims().sees(&[("tests/test_moon.py", None)]).verifies(0, "ok");
    table.answers("accept");
    table.agrees().accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn a_judge_sees_evidence_and_only_a_plain_yes_counts() {
    let ask = Criterion::Judge { question: "Is the moon described?".into() };
    let mut table = begun(seated(|s| {
        s.until = ask;
        s.judge = Some("dora".into());
        s.critic = None;
    }));
    table.runs("cat moon.md", 0, "The moon is round and far.").claims().sees(&[("moon.md", Some("round"))]);
    let prompt = told(&table);
    assert!(prompt.contains("The moon is round and far.") && prompt.contains("[1] run_command"), "{prompt}");
    assert!(prompt.contains("what the worker claims (no evidence)"), "{prompt}");
    table.says("It looks done to me, yes.");
    assert!(table.log().contains("verify:fail (1) `dora` cannot tell"), "{}", table.log());
    table.claims().sees(&[]);
    table.says("NO\nit is not");
    table.claims().sees(&[]);
    table.says("YES\nit is").accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn a_person_may_be_the_one_who_says_so() {
    let mut table = begun(seated(|s| s.until = Criterion::Manual));
    table.runs("ls", 0, "moon.md").claims().sees(&[]);
    assert_eq!(table.class(), "waiting(question)");
    table.answers("no the far side is missing");
    assert!(told(&table).contains("a person says no: the far side is missing"));
    table.claims().sees(&[]).answers("yes");
    table.accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn files_pages_and_json_are_checked_by_their_content() {
    let until = Criterion::All(vec![
        Criterion::File { path: "moon.md".into(), check: FileCheck::Contains("far side".into()) },
        Criterion::Json { file: "out.json".into(), predicate: "count >= 3".into() },
        Criterion::Http { url: "http://127.0.0.1:1/".into(), status: 200, contains: Some("moon".into()) },
    ]);
    let mut table = begun(seated(|s| {
        s.until = until;
        s.critic = None;
    }));
    table.claims().sees(&[]).reads(&[("moon.md", None)]);
    assert!(table.log().contains("verify:fail (1) moon.md: it does not exist"), "{}", table.log());
    let (moon, few, enough) = (
        [("moon.md", Some("the far side"))],
        [("out.json", Some(r#"{"count": 2}"#))],
        [("out.json", Some(r#"{"count": 3}"#))],
    );
    table.claims().sees(&[]).reads(&moon).reads(&few);
    assert_eq!(table.log().matches("verify:fail (1)").count(), 2, "more of it holds: {}", table.log());
    table.claims().sees(&[]).reads(&moon).reads(&enough);
    table.did(ToolEnd::Status(200), "a moon").accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn what_was_done_in_place_is_looked_at_once_more_and_not_brought_anywhere() {
    let mut table = begun(seated(|s| s.acceptance = None));
    table.claims().sees(&[("moon.md", Some("round"))]).verifies(0, "ok").agrees();
    assert!(matches!(table.open().kind, EffectKind::Look(_)), "{}", table.log());
    table.sees(&[("moon.md", Some("round"))]);
    assert_eq!(table.class(), "approved");
}

#[test]
fn a_picture_is_judged_and_does_not_become_part_of_the_work() {
    let (command, file) = ("./shot".to_owned(), "shot.png".to_owned());
    let mut table = begun(seated(|s| {
        s.until = Criterion::Vision { command, file, expected: "a moon".into() };
        s.critic = None;
        s.judge = Some("dora".into());
    }));
    table.claims().sees(&[]).did(ToolEnd::Done, "iVBORw0KGgoAAAA");
    let EffectKind::Turn(turn) = table.open().kind else { panic!("{}", table.log()) };
    assert!(turn.messages[0].parts.iter().any(|p| matches!(p, crate::turn::Part::Image(_))));
    table.says("NO\nthere is none");
    let EffectKind::Tool(tool) = table.open().kind else { panic!("{}", table.log()) };
    assert!(tool.begin.is_some(), "the folder is put back");
    table.did(ToolEnd::Done, "");
    assert!(table.asked(Role::Worker));
    table.claims().sees(&[]).did(ToolEnd::Ran(crate::tree::RunEnd::Code(1)), "no display");
    assert!(table.log().contains("verify:fail (2) there is no picture: no display"), "{}", table.log());
}

#[test]
fn a_judge_that_cannot_be_asked_is_no_no() {
    let mut table = begun(seated(|s| {
        s.until = Criterion::Judge { question: "Is it so?".into() };
        s.critic = None;
        s.judge = Some("dora".into());
    }));
    table.claims().sees(&[]).fails(FailureKind::RateLimited);
    assert_eq!(table.class(), "unverified");
    assert!(!table.log().contains("verify:fail"), "{}", table.log());
    table.resume().says("YES\nit is").accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn in_place_a_file_is_read_where_it_lies() {
    let mut table = begun(seated(|s| {
        s.until = Criterion::File { path: "big.bin".into(), check: FileCheck::Exists };
        (s.acceptance, s.critic) = (None, None);
    }));
    table.claims().sees(&[]).did(ToolEnd::Error, "`big.bin`: there is no such file");
    assert!(
        table.log().contains("verify:fail (1) big.bin: `big.bin`: there is no such file"),
        "{}",
        table.log()
    );
    table.claims().sees(&[]).did(ToolEnd::Done, "").sees(&[]);
    assert_eq!(table.class(), "approved");
}

#[test]
fn giving_up_ends_it_with_what_was_learned() {
    let mut table = goal();
    let report = r#"{"reason":"there is no moon","what_was_learned":"it is day"}"#;
    table.wants(&[("abort_with_report", report)]);
    assert_eq!(table.class(), "aborted");
    assert!(table.log().contains("gave up: there is no moon"), "{}", table.log());
}

#[test]
fn talking_is_not_working() {
    let mut table = goal();
    table.says("I shall begin.");
    assert!(told(&table).contains("You must go on by using a tool"));
    table.says("Now really.").says("Any moment.");
    assert_eq!(table.class(), "waiting(question)");
    assert!(table.log().contains("did nothing but talk in 3 turns"), "{}", table.log());
}

#[test]
fn a_claim_together_with_other_calls_is_met_after_them() {
    let mut table = goal();
    let calls =
        [("claim_complete", r#"{"rationale":"done"}"#), ("run_command", r#"{"command":"make test"}"#)];
    table.wants(&calls);
    assert!(matches!(table.open().kind, EffectKind::Tool(_)), "{}", table.log());
    table.did(ToolEnd::Ran(crate::tree::RunEnd::Code(0)), "ok");
    assert!(matches!(table.open().kind, EffectKind::Look(_)), "{}", table.log());
}
