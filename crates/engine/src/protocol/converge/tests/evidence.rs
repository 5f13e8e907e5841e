//! Malformed replies, citations that do not hold, and work that was seen in parts or not at all.

use super::{UNREALISTIC, clean, reply, reviews, table};
use crate::protocol::harness::{TASK, card};
use crate::review::Verdict;

#[test]
fn every_breach_is_named_when_the_critic_is_asked_to_restate() {
    let mut t = table().start();
    let bad = "=== CRITIC 1 ===\n[UNITS] Is UNITS given? → Yes.\nVerdict: PASS\n[ADVERSARIAL] fire\n→ Realistic? perhaps\n";
    t.says("v1").says(bad);
    let prompt = t.prompt(&t.open());
    for line in [
        "- [UNITS] passes without a quantity",
        "- [SOURCES] is not answered",
        "- [ADVERSARIAL]: no line says `→ Realistic? Y",
    ] {
        assert!(prompt.contains(line), "{line}\n{prompt}");
    }
    t.says(bad);
    assert_eq!(t.class(), "unverified", "never a pass, never a rejection");
    t.resume().says(&clean(1));
    assert_eq!(t.class(), "approved");
}

#[test]
fn an_omitted_criterion_never_passes() {
    let whole = clean(1);
    let from = whole.find("[SOURCES]").unwrap();
    let to = whole.find("[ADVERSARIAL]").unwrap();
    let without = format!("{}{}", &whole[..from], &whole[to..]);
    let mut t = table().start();
    t.says("v1").says(&without).says(&without);
    assert_eq!(t.class(), "unverified");
}

#[test]
fn a_rejection_that_rests_on_an_invented_quotation_approves_nothing() {
    let invented = |pass| {
        clean(pass).replace(
            "3 of 3 numbers were read\n  Verdict: PASS",
            "\"four hundred furlongs\" has no source\n  Verdict: FAIL (name it)",
        )
    };
    let mut t = table().start();
    t.says("The moon is far.").says(&invented(1));
    assert_eq!(t.class(), "going");
    assert!(t.prompt(&t.open()).contains("what it cites does not hold"), "{}", t.log());
    t.says(&invented(1));
    assert_eq!(t.class(), "unverified");
}

#[test]
fn a_deferral_that_rests_on_an_invented_quotation_leaves_nothing_clean() {
    let invented = reply(1, "PASS", "DEFER (\"ask the Royal Society\" comes first)", UNREALISTIC);
    let mut t = table().start();
    t.says("The moon is far.").says(&invented);
    assert!(t.prompt(&t.open()).contains("evidence that does not hold"), "{}", t.log());
    t.says(&invented);
    assert_eq!(t.class(), "unverified");
}

#[test]
fn a_pass_that_rests_on_what_is_not_there_passes_nothing() {
    let units = |answer: &str| clean(1).replace("3 of 3 numbers were read", answer);
    let unrealistic = |why: &str| clean(1).replace("0 of 9 readers would", why);
    for (said, holds) in [
        (units("the only 1 distance is \"four hundred furlongs\""), false),
        (units("3 of 3 numbers have one (draft:1, draft:900)"), false),
        (unrealistic("1 of 1 readers finds \"four hundred furlongs\""), false),
        (unrealistic("1 of 1 readers finds \"four hundred furlongs\" (draft:1)"), true),
        (units("the only 1 distance is \"is far\" (draft:1)"), true),
        (units("\"four hundred furlongs\" occurs in 0 of 3 lines"), true),
        (units("`units --check` finds 3 of 3"), true),
        (units(&format!("the task \"{TASK}\" asks for 1")), true),
        (units("1 of 1, as \"Is UNITS given?\" asks (rubric:2)"), true),
    ] {
        let mut t = table().start();
        t.says("The moon is far.").says(&said);
        let expected = if holds { "approved" } else { "going" };
        assert_eq!(t.class(), expected, "{said}\n{}", t.log());
        if !holds {
            assert!(t.prompt(&t.open()).contains("evidence that does not hold"), "{}", t.log());
            t.says(&said);
            assert_eq!(t.class(), "unverified");
        }
    }
}

#[test]
fn nobody_is_asked_about_an_invented_quotation() {
    let mixed = reply(1, "FAIL (add the unit)", "ESCALATE", UNREALISTIC)
        .replace("1 of 1 sources was read", "\"ask the Royal Society\" is vague");
    let mut t = table().start();
    t.says("The moon is far.").says(&mixed);
    assert_eq!(t.class(), "going", "switched off, a person would be asked: {}", t.log());
    assert!(t.prompt(&t.open()).contains("add the unit"), "what holds is mended");
    assert!(!reviews(&t)[0].criteria[1].clean, "and the criterion is not clean for that");
}

#[test]
fn an_unsupported_finding_is_kept_and_decides_nothing() {
    let mixed = clean(1)
        .replace(
            "3 of 3 numbers were read\n  Verdict: PASS",
            "\"four furlongs\" is wrong\n  Verdict: FAIL (drop it)",
        )
        .replace(
            "1 of 1 sources was read\n  Verdict: PASS",
            "\"is far\" has no source\n  Verdict: FAIL (name one)",
        );
    let mut t = table().start();
    t.says("The moon is far.").says(&mixed);
    let review = &reviews(&t)[0];
    let unsupported: Vec<_> = review.findings.iter().filter(|f| !f.is_supported()).map(|f| &f.rule).collect();
    assert_eq!(unsupported, ["UNITS"]);
    let brief = t.prompt(&t.open());
    assert!(brief.contains("name one") && !brief.contains("drop it"), "{brief}");
}

#[test]
fn a_criterion_whose_fail_is_unsupported_is_not_clean_because_another_was_skipped() {
    let mixed = reply(1, "PASS", "ESCALATE", UNREALISTIC).replace(
        "3 of 3 numbers were read\n  Verdict: PASS",
        "\"four furlongs\" is wrong\n  Verdict: FAIL (drop it)",
    );
    let mut t = table().with(|s| s.rounds = 2).start();
    t.says("The moon is far.").says(&mixed).answers("skip");
    assert_eq!(t.class(), "going");
    t.says(&mixed.replace("CRITIC 1", "CRITIC 2"));
    assert_eq!(t.class(), "halted(cap)", "nobody ever said that UNITS passes");
}

/// A critic whose window takes the work in two parts.
fn in_two_parts() -> super::Table<super::ConvergeSettings> {
    let mut t = table();
    let mut narrow = card();
    (narrow.window, narrow.max_output_tokens) = (Some(6_000), 100);
    t.agents.insert("cato".into(), narrow);
    t
}

fn long_draft() -> String {
    let line = |n: u32| format!("Line {n} says that the moon is {n} thousand kilometres away, more or less.");
    (0..160).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_work_seen_in_parts_passes_only_if_every_part_passes() {
    let mut t = in_two_parts().start();
    t.says(&long_draft());
    let calls = t.engine.open_effects().count();
    assert!(calls >= 2, "{calls} calls\n{}", t.log());
    for _ in 1..calls {
        t.says_as("cato", &clean(1));
    }
    t.says_as("cato", &super::failing(1, "add the unit"));
    assert_eq!(t.class(), "going", "one part failed");
    assert!(t.prompt(&t.open()).contains("add the unit"));

    let mut t = in_two_parts().start();
    t.says(&long_draft());
    for _ in 0..calls {
        t.says_as("cato", &clean(1));
    }
    assert_eq!(t.class(), "approved");
}

#[test]
fn what_nobody_saw_is_unverified_and_judged_again_when_taken_up() {
    let mut t = in_two_parts().with(|s| s.max_parts = 1).start();
    t.says(&long_draft()).says(&clean(1));
    assert_eq!(t.class(), "unverified(partial)");
    assert_eq!(reviews(&t)[0].verdict, Verdict::Unverified, "no review says more than was seen");
    t.resume().says(&clean(1));
    assert_eq!(t.class(), "unverified(partial)", "nothing has changed");
    // A rejection needs no full view.
    let mut t = in_two_parts().with(|s| s.max_parts = 1).start();
    t.says(&long_draft()).says(&super::failing(1, "add the unit"));
    assert_eq!(t.class(), "going");
}
