//! The critic looks at the whole change before it counts.

use super::game::{Goal, Plays2, begun, seated, told};
use crate::budget::Limits;
use crate::effect::{EffectKind, FailureKind};
use crate::goal::Already;
use crate::outcome::Outcome;
use crate::tool::ToolEnd;
use crate::tree::RunEnd;
use crate::turn::Role;

/// The check passes, nothing was found, and the critic is asked about the change.
fn looked_at(strict: bool, change: &str) -> Goal {
    let mut table = begun(seated(|s| s.strict_critic = strict));
    table.runs("make test", 0, "ok").claims();
    table.sees(&[("src/moon.py", Some(change))]).verifies(0, "ok");
    assert!(table.asked(Role::Critic), "{}", table.log());
    table
}

fn claims_again(table: &mut Goal, change: &str) {
    table.runs("make test", 0, "ok").claims();
    table.sees(&[("src/moon.py", Some(change))]).verifies(0, "ok");
}

fn asked(table: &Goal) -> String {
    let EffectKind::Ask(question) = table.open().kind else { panic!("{}", table.log()) };
    format!("{}\n{}", question.text, question.shown_choices().join(" / "))
}

const OBJECTION: &str = "NO\nmoon.py writes down the answer for the one input of the test.";

#[test]
fn it_sees_goal_criterion_and_change_with_line_numbers_and_nothing_of_the_worker() {
    let table = looked_at(false, "def phase():\n    return 3\n");
    let prompt = table.prompt(&table.open());
    for part in [
        "Write about the moon",
        "Reached when: `make test`",
        "change of src/moon.py",
        "    2 | +    return 3",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    assert!(!prompt.contains("all green") && !prompt.contains("[1]"), "{prompt}");
}

#[test]
fn an_objection_goes_to_the_worker_once_and_then_to_a_person() {
    let mut table = looked_at(false, "x");
    table.says(OBJECTION);
    assert!(
        told(&table).contains("the critic objects to the change: moon.py writes down"),
        "{}",
        told(&table)
    );
    claims_again(&mut table, "y");
    table.says("NO\nline 1 still has only the one answer.");
    assert_eq!(table.class(), "waiting(question)");
    let question = asked(&table);
    assert!(question.contains("line 1 still has only the one answer."), "{question}");
    assert!(question.ends_with("accept / reject TEXT / stop"), "{question}");
    table.answers("accept").accepted();
    let Some(Outcome::Approved { notes, .. }) = table.engine.outcome() else { panic!("{}", table.log()) };
    assert!(notes[0].starts_with("accepted by eve: the critic objects to the change: line 1"), "{notes:?}");
}

#[test]
fn what_a_person_rejects_goes_to_the_worker_with_the_objection() {
    let mut table = looked_at(false, "x");
    table.says(OBJECTION);
    claims_again(&mut table, "y");
    table.says(OBJECTION).answers("reject compute it");
    let prompt = told(&table);
    assert!(prompt.contains("writes down the answer") && prompt.contains("compute it"), "{prompt}");
}

#[test]
fn the_same_change_is_not_paid_for_twice() {
    let mut table = looked_at(false, "x");
    table.says(OBJECTION);
    let looks = table.calls(Role::Critic);
    claims_again(&mut table, "x");
    assert_eq!(
        (table.class().as_str(), table.calls(Role::Critic)),
        ("waiting(question)", looks),
        "{}",
        table.log()
    );
}

#[test]
fn what_is_no_word_about_the_change_never_passes_for_a_look() {
    for reply in ["PROGRESSING\nfine", "UNCLEAR", ""] {
        let mut table = looked_at(false, "x");
        table.says(reply).accepted();
        assert!(table.log().contains("change looked at: NotAll: "), "{reply}: {}", table.log());
        let Some(Outcome::Approved { notes, .. }) = table.engine.outcome() else { panic!("{}", table.log()) };
        assert!(notes[0].starts_with("the critic did not look at the whole change: "), "{notes:?}");
    }
    let mut table = looked_at(false, "x");
    table.fails(FailureKind::Unavailable).accepted();
    assert!(table.log().contains("change looked at: NotAll: "), "{}", table.log());
}

#[test]
fn no_objection_passes_because_it_names_nothing_or_says_yes_first() {
    for reply in ["NO\nI do not like it.", "NO\nsun.py line 7 is wrong"] {
        let mut table = looked_at(false, "x");
        table.says(reply);
        assert!(told(&table).contains("the critic objects to the change: "), "{reply}: {}", table.log());
        claims_again(&mut table, "y");
        table.says(reply);
        assert_eq!(table.class(), "waiting(question)", "{reply}: {}", table.log());
    }
}

#[test]
fn a_strict_goal_waits_for_a_person_then_or_for_the_critic() {
    let mut table = looked_at(true, "x");
    table.fails(FailureKind::Unavailable);
    assert_eq!(table.class(), "waiting(question)");
    let question = asked(&table);
    assert!(question.contains("the critic did not look at the whole change: "), "{question}");
    assert!(question.ends_with("accept / again / reject TEXT / stop"), "{question}");
    table.answers("again").agrees().accepted();
    assert_eq!(table.class(), "approved");
}

#[test]
fn of_a_large_change_tests_come_first_and_what_is_left_out_is_said() {
    let long = |word: &str| format!("{}\n", word.repeat(20)).repeat((120 << 10) / (word.len() * 20));
    let mut table = begun(seated(|s| s.protect = vec!["big_test.txt".into()]));
    table.runs("make test", 0, "ok").claims();
    let (one, test) = (long("one hundred"), long("the test"));
    table.sees(&[("one.py", Some(&one)), ("big_test.txt", Some(&test))]).verifies(0, "ok").answers("accept");
    let prompt = table.prompt(&table.open());
    let at = |name: &str| prompt.find(&format!("change of {name}")).unwrap_or_else(|| panic!("{name}"));
    assert!(at("big_test.txt") < at("one.py"), "tests first");
    assert!(prompt.contains("Not shown: one.py (") && prompt.len() < 220 << 10, "{}", prompt.len());
    table.agrees().accepted();
    assert!(table.log().contains("NotAll: left out: one.py ("), "{}", table.log());
}

#[test]
fn at_a_cap_it_is_asked_if_that_can_be_paid_and_no_worker_is_left_to_hear_it() {
    let capped = |limits: Limits| {
        let mut table = seated(|s| s.already = Some(Already::Work));
        table.settings.limits = limits;
        let mut table = table.start();
        table.sees(&[]).verifies(1, "red").wants(&[("run_command", r#"{"command":"make"}"#)]);
        table
    };
    let mut table = capped(Limits { steps: Some(1), ..Limits::default() });
    table.did(ToolEnd::Ran(RunEnd::Code(0)), "made").sees(&[("src/moon.py", Some("x"))]).verifies(0, "ok");
    table.says(OBJECTION);
    assert!(asked(&table).contains("moon.py writes down the answer"), "{}", table.log());
    table.answers("accept").accepted();
    assert_eq!(table.class(), "approved");

    let mut table = capped(Limits { active_ms: Some(50_000), ..Limits::default() });
    table.passes(60_000).did(ToolEnd::Ran(RunEnd::Code(0)), "made");
    table.sees(&[("src/moon.py", Some("x"))]).verifies(0, "ok").accepted();
    assert!(table.log().contains("change looked at: NotAll: the time is up"), "{}", table.log());
}

#[test]
fn what_a_yes_says_of_the_change_is_no_doubt() {
    for reason in [
        "src/total.sh refuses what is no number, and the document is gone.",
        "The code is mended; no test was touched.",
    ] {
        let mut table = looked_at(false, "x");
        table.says(&format!("YES\n{reason}")).accepted();
        assert!(table.log().contains("change looked at: NothingWrong"), "{reason}: {}", table.log());
    }
}

/// Each seems to take its yes back; of some only the critic can say whether it does.
const DOUBTFUL: [&str; 4] = [
    "YES\nBut the change cannot be approved.",
    "YES\nThe parser did not check the length, and now it does.",
    "YES\nThe test that was failing passes, and nothing else was touched.",
    "YES\nIt does not test the second branch.",
];

#[test]
fn a_yes_that_seems_to_take_itself_back_is_asked_about_once_and_only_a_plain_yes_clears_it() {
    for reply in DOUBTFUL {
        let mut table = looked_at(false, "x");
        table.says(reply);
        assert!(table.asked(Role::Critic), "{reply}: {}", table.log());
        let prompt = table.prompt(&table.open());
        assert!(
            prompt.contains("change of src/moon.py") && prompt.contains("You answered YES, but"),
            "{prompt}"
        );
        assert!(!prompt.contains(&reply[4..]), "its reply is not sent back to it: {prompt}");
        table.says("YES\nThe length is checked.").accepted();
        assert!(
            table.log().contains("change looked at: NothingWrong: The length"),
            "{reply}: {}",
            table.log()
        );
    }
}

#[test]
fn a_doubt_that_is_not_taken_back_in_plain_words_is_an_objection() {
    let second = [
        Some(DOUBTFUL[0]),
        Some("NO\nsrc/moon.py:1 is wrong."),
        Some("UNCLEAR\nHard to tell."),
        Some("The change is fine."),
        None,
    ];
    for answer in second {
        let mut table = looked_at(false, "x");
        table.says(DOUBTFUL[0]);
        let asked = table.calls(Role::Critic);
        match answer {
            Some(reply) => table.says(reply),
            None => table.fails(FailureKind::Unavailable),
        };
        assert!(told(&table).contains("the critic objects to the change: "), "{}", table.log());
        assert_eq!(table.calls(Role::Critic), asked, "it is asked once");
        claims_again(&mut table, "y");
        table.says(DOUBTFUL[0]).says(DOUBTFUL[0]);
        assert_eq!(table.class(), "waiting(question)", "{}", table.log());
    }
}

#[test]
fn a_doubt_that_nobody_can_be_paid_to_take_back_stands() {
    let mut table = seated(|_| {});
    table.settings.limits = Limits { calls: Some(3), ..Limits::default() };
    let mut table = begun(table);
    table.runs("make test", 0, "ok").claims();
    table.sees(&[("src/moon.py", Some("x"))]).verifies(0, "ok");
    table.says(DOUBTFUL[0]);
    assert!(table.log().contains("change looked at: Objection"), "{}", table.log());
}
