//! Earlier items, new requirements, and what a rejection may rest on.

use insta::assert_snapshot;

use super::harness::Table;
use crate::outcome::Outcome;

/// Two items sent to the worker, and its second draft on the critic's desk.
fn second_round() -> Table {
    let mut t = Table::new().start();
    t.says("It is 384 away and 3474 wide.");
    t.says("[STATUS: REJECTED]\n- give the distance a unit\n- give the width a unit");
    t.says("It is 384 Mm away and 3474 km broad.");
    t
}

/// What the second reply came to: the last lines of the transcript.
fn after(reply: &str) -> String {
    let mut t = second_round();
    let before = t.log().len();
    t.says(reply);
    t.log()[before..].split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default()
}

#[test]
fn a_rejection_for_new_requirements_only_is_overruled() {
    let reply = "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✓ 1: done\n- ✓ 2: done\nStill unresolved:\n- mention the tides";
    assert_snapshot!(after(reply), @r#"
        Rejected 3. mention the tides (since 2)
        overruled: mention the tides
        = approved
        "#);

    let mut t = second_round();
    t.says(reply);
    let Some(Outcome::Approved { overruled: true, notes, .. }) = t.engine.outcome() else { panic!() };
    assert_eq!(*notes, ["mention the tides"]);
}

#[test]
fn overruling_can_be_turned_off() {
    let mut t = Table::new().with(|s| s.overrule = false).start();
    t.says("v1").says("[STATUS: REJECTED]\n- fix a").says("v2");
    t.says("[STATUS: REJECTED]\n- ✓ 1: done\n- mention the tides");
    assert_eq!(t.class(), "going");
    assert_snapshot!(t.log(), @r#"
        > start
          round 1 of 3
          run#1 ask worker ann
        > run#1 “v1”
          run#2 ask critic cato
        > run#2 “[STATUS: REJECTED] - fix a”
          Rejected 1. fix a (since 1)
          round 2 of 3
          run#3 ask worker ann
        > run#3 “v2”
          run#4 ask critic cato
        > run#4 “[STATUS: REJECTED] - ✓ 1: done - mention the tides”
          Rejected 2. mention the tides (since 2)
          round 3 of 3
          run#5 ask worker ann
        "#);
}

#[test]
fn an_error_the_revision_brought_in_may_reject() {
    let ticks = "[STATUS: REJECTED]\n- ✓ 1: done\n- ✓ 2: done\n";
    assert_snapshot!(after(&format!("{ticks}- “broad” is no word for this")), @r#"
        Rejected 3. “broad” is no word for this (since 2)
        round 3 of 3
        run#5 ask worker ann
        "#);
    assert!(after(&format!("{ticks}- “It is 384” is no way to begin")).contains("overruled"), "old text");
    assert!(after(&format!("{ticks}- “a hundred” is wrong")).contains("overruled"), "text that is not there");
}

#[test]
fn what_is_open_is_what_the_critic_left_open() {
    assert_snapshot!(after("[STATUS: REJECTED]\n- ✓ 1: done\n- mention the tides"), @r#"
        Rejected 3. mention the tides (since 2) | 2. give the width a unit (since 1)
        round 3 of 3
        run#5 ask worker ann
        "#);
    assert_snapshot!(after("[STATUS: REJECTED]\n- 1: still missing"), @r#"
        Rejected 1. give the distance a unit (still missing) (since 1)
        round 3 of 3
        run#5 ask worker ann
        "#);
    assert_snapshot!(after("[STATUS: REJECTED]\n- 1, 2: still missing"), @r#"
        Rejected 1. give the distance a unit (still missing) (since 1)
        round 3 of 3
        run#5 ask worker ann
        "#);
}

#[test]
fn similar_wording_keeps_a_rejection_and_never_overrules_one() {
    let ticks = "[STATUS: REJECTED]\n- ✓ 1: done\n- ✓ 2: done\n";
    assert_snapshot!(after(&format!("{ticks}- give the width a proper unit")), @r#"
        Rejected 2. give the width a proper unit (since 1)
        round 3 of 3
        run#5 ask worker ann
        "#);
    let in_words =
        "[STATUS: REJECTED]\n- ✓ the distance has its unit\n- ✓ the width too\n- mention the tides";
    assert!(after(in_words).contains("overruled"), "what was addressed may be said in words");
}

#[test]
fn ticks_that_repeat_an_items_words_account_for_it() {
    let reply = "[STATUS: REJECTED]\n- ✓ Give the distance a unit: done\n- ✓ give the width a unit\n- mention the tides";
    assert!(after(reply).contains("overruled"));
}

#[test]
fn a_reply_that_speaks_of_no_item_stands_and_asks_for_what_it_lists() {
    let mut t = second_round();
    t.says("[STATUS: REJECTED]\n- mention the tides");
    let brief = t.prompt(&t.open());
    assert!(
        brief.contains("Critic Feedback:\n- mention the tides\n") && !brief.contains("- give the width"),
        "{brief}"
    );
    t.says("v3").says("[STATUS: REJECTED]\n- ✓ 3: done\n- mention the stars");
    assert_eq!(t.class(), "approved", "every item that was open is addressed, and the stars are new");
}

#[test]
fn a_rejection_for_what_the_revision_removed_changed_or_broke_stands() {
    let ticks = "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✓ 1\n- ✓ 2\nStill unresolved:\n";
    for fix in [
        "The revision deleted a sentence: put it back.",
        "‘broad’ is misspelt",
        "„broad“ is misspelt",
        "wide is gone",
        "'wide' was better",
    ] {
        assert!(!after(&format!("{ticks}- {fix}")).contains("overruled"), "{fix}");
    }
    assert!(after(&format!("{ticks}- The title should be shorter.")).contains("overruled"));
}

#[test]
fn an_item_that_was_done_and_comes_back_keeps_its_number() {
    let mut t = second_round();
    t.says("[STATUS: REJECTED]\n- ✓ 1: done\n- 2: still missing").says("v3");
    t.says("[STATUS: REJECTED]\n- ✓ 2: done\n- 1: gone again");
    assert_eq!(t.class(), "halted(cap)", "a regression is no new requirement");
}

#[test]
fn numbers_that_name_no_item_stay_in_the_text() {
    let mut t = Table::new().start();
    t.says("v1").says("[STATUS: REJECTED]\n- [12] lacks a DOI\n- 2024: the year is wrong");
    let brief = t.prompt(&t.open());
    assert!(brief.contains("- [12] lacks a DOI\n- 2024: the year is wrong\n"), "{brief}");
}

#[test]
fn a_silent_change_elsewhere_is_shown_to_the_person() {
    let mut t = Table::new().start();
    t.says("# Size\nIt is 3474 wide.\n# Colour\nGrey.\n").says("[STATUS: REJECTED]\n- Size: give a unit");
    t.says("# Size\nIt is 3474 km wide.\n# Colour\nPurple.\n");
    assert!(t.log().contains("changed unasked: Colour"), "{}", t.log());
}
