//! `gate`: the table, the arithmetic, the exit codes; in a clone by receipts, strictly by the journal only.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::project::desk::{Desk, MEMO, SCRIPT};

#[test]
fn the_sum_is_printed_and_decides() {
    let desk = Desk::new();
    desk.made();
    desk.gadfly(&["gate", "commit"]).is(3).says("nothing is scored, commit needs 80").says("closed");
    desk.receipt("strategist", 88, &[MEMO]);
    desk.receipt("coder", 70, &[SCRIPT]);
    // (60 × 88 + 20 × 70) / 80 = 83.5
    desk.gadfly(&["gate", "commit"])
        .is(0)
        .says("Component Weight Agent Score Status")
        .says("identification 60% strategist 88 pass")
        .says("code 20% coder 70 below 80")
        .says("80% of 120%")
        .says("= 83.50")
        .says("not scored, left out of the sum: polish (not judged yet)")
        .says("open");
    desk.gadfly(&["gate", "pr"]).is(3).says("overall is 83.50, pr needs 90");
    desk.gadfly(&["gate", "submission"])
        .is(3)
        .says("polish has no score of writer")
        .says("code is 70.00, submission needs 80 of every component");
}

#[test]
fn zero_is_a_score_and_a_stale_one_is_none() {
    let desk = Desk::new();
    desk.made();
    desk.receipt("strategist", 100, &[MEMO]);
    desk.receipt("coder", 0, &[SCRIPT]);
    desk.gadfly(&["gate"]).is(3).says("overall is 75.00, commit needs 80");
    desk.write(SCRIPT, "library(fixest) # changed\n");
    desk.gadfly(&["gate"])
        .is(3)
        .says(&format!("stale: {SCRIPT} changed since it was judged"))
        .says("60% of 120%")
        .says(&format!("coder: {SCRIPT} changed since it was judged, commit needs all work judged as it is"));
}

#[test]
fn an_unknown_gate_is_refused_with_those_there_are() {
    Desk::new().gadfly(&["gate", "comit"]).is(2).says("there is no gate `comit`").says("`commit`");
}

#[test]
fn commands_of_a_gate_have_to_end_as_they_should_and_are_agreed_to_first() {
    let desk = Desk::new();
    desk.made();
    desk.receipt("strategist", 95, &[MEMO]);
    desk.receipt("coder", 95, &[SCRIPT]);
    let gate = |command: &str, exit: i32| {
        format!(
            "[gates.commit]\ncommands = [{{ name = \"lint\", command = \"{command}\", exit = {exit} }}]\n"
        )
    };
    desk.write("gadfly.toml", &gate("test -f scripts/main.R", 0));
    desk.gadfly(&["gate"]).is(2).says("run test -f scripts/main.R for the gate commit");
    desk.gadfly(&["gate", "--trust"]).is(0).says("✓ lint");
    desk.gadfly(&["gate"]).is(0);
    desk.write("gadfly.toml", &gate("echo broken; exit 7", 0));
    desk.gadfly(&["gate", "--trust"])
        .is(3)
        .says("ended with exit code 7, needs exit code 0")
        .says("│ broken");
    desk.write("gadfly.toml", &gate("exit 7", 7));
    desk.gadfly(&["gate", "--trust"]).is(0);
    desk.write("gadfly.toml", &format!("{}[project]\nverify_timeout = \"1s\"\n", gate("sleep 600", 0)));
    desk.gadfly(&["gate", "--trust"]).is(3).says("timed out");
}

#[test]
fn in_a_clone_receipts_count_and_strictly_they_do_not() {
    let desk = Desk::new();
    desk.made();
    let script = desk.read(SCRIPT);
    std::fs::remove_file(desk.path(SCRIPT)).unwrap();
    desk.receipt("strategist", 88, &[MEMO]);
    desk.gadfly(&["gate"]).is(0).says("there is no journal here: scores are those of the receipts");
    desk.gadfly(&["gate", "--strict"]).is(3).says("--strict needs the journal");
    assert!(!desk.path(".gadfly").exists(), "asking leaves nothing behind");
    // Nor does a journal that was not made here.
    desk.write(SCRIPT, &script);
    desk.judged("coder", 99, &[SCRIPT]);
    desk.gadfly(&["gate", "--strict"]).is(3).says("does not count").says("code 20% coder – not judged yet");
    desk.write(MEMO, "changed");
    desk.gadfly(&["gate"]).is(3).says("stale");
}

#[test]
fn a_receipt_that_was_edited_does_not_count() {
    let desk = Desk::new();
    desk.made();
    desk.receipt("strategist", 88, &[MEMO]);
    let name = "quality_reports/receipts/strategist.json";
    let mut envelope: serde_json::Value = serde_json::from_str(&desk.read(name)).unwrap();
    let mut edit = |change: &dyn Fn(&mut serde_json::Value)| {
        let payload = STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap();
        let mut statement = serde_json::from_slice(&payload).unwrap();
        change(&mut statement);
        envelope["payload"] = STANDARD.encode(statement.to_string()).into();
        desk.write(name, &envelope.to_string());
    };
    edit(&|statement| statement["predicate"]["score"] = 188.into());
    desk.gadfly(&["gate"]).is(3).says("receipt strategist.json does not count: a score is over 100");
    // Bound to other bytes without its own digest following.
    desk.write(MEMO, "other bytes");
    let blob = desk.verdict("strategist", 88, &[MEMO]).files[0].blob;
    edit(&|statement| {
        statement["predicate"]["score"] = 88.into();
        statement["subject"][0]["digest"]["blake3"] = serde_json::json!(blob);
    });
    desk.gadfly(&["gate"]).is(3).says("receipt strategist.json does not count: its files are not those");
}

#[test]
fn json_has_the_report_and_says_whose_word_it_is() {
    let desk = Desk::new();
    desk.made();
    std::fs::remove_file(desk.path(SCRIPT)).unwrap();
    desk.receipt("strategist", 88, &[MEMO]);
    let gate = desk.gadfly(&["gate", "--json"]).is(0).json();
    assert_eq!(gate["open"], true);
    assert_eq!(gate["report"]["aggregate"]["overall"], 8800);
    assert_eq!(gate["source"]["from_receipts"], serde_json::json!(["strategist"]));
    assert_eq!(gate["source"]["journal"], false);
}
