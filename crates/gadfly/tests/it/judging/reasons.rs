//! Why a critic approves, in the protocols that judge by points and criteria: kept with the review and logged.

use crate::judging::desk::{Answer, Desk, report};

const RUBRIC: &str = "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n| Vague title | -5 |\n";
const WHO: [&str; 8] = ["--worker", "w", "--critic", "c", "--out", "o.md", "--unattended", "--yes"];

/// The reason of the last review, as `show --json` has it; the critic log has it, too.
fn reason(desk: &Desk) -> String {
    let run = desk.run_id();
    let shown = desk.gadfly(&["show", &run, "--json"]).out;
    let state: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let reason = state["rounds"][0]["reviews"][0]["reason"].as_str().unwrap_or_default().to_owned();
    let log = desk.gadfly(&["show", &run, "--critic-log"]).out;
    assert!(log.contains(&format!("- Status: APPROVED\n- Reason: {reason}\n")), "{log}");
    reason
}

#[test]
fn a_score_that_passes_says_what_was_noted_or_what_is_left() {
    let row = r#"{"row":"vague-title","times":1,"quote":"Some text","says":"vague","fix":"name it"}"#;
    for (reply, wanted) in [
        (r#"{"deductions":[],"score":100}"#.to_owned(), "nothing was deducted"),
        (format!(r#"{{"deductions":[{row}],"score":95}}"#), "what was deducted leaves 95 points"),
        (r#"{"deductions":[],"score":100,"notes":["n is stated"]}"#.to_owned(), "n is stated"),
    ] {
        let desk = Desk::folder(&[("rubric.md", RUBRIC)]);
        desk.saying("w", &["Some text."]);
        desk.saying("c", &[&reply]);
        let args = ["run", "Write it", "--protocol", "score", "--rubric", "rubric.md"];
        let said = desk.gadfly(&[&args[..], &WHO].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.err.contains(&format!("approved by c\n    {wanted}\n")), "{}", said.err);
        assert_eq!(reason(&desk), wanted);
    }
}

#[test]
fn criteria_that_hold_are_the_reason() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    let met = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "a.txt:1")];
    desk.saying("c", &[&report("do-it", 1, &met, &[], "passed")]);
    let said = desk.audit(&["--criterion", "SC-2: it is tested", "--rounds", "1"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(reason(&desk), "SC-1: a.txt:1; SC-2: a.txt:1");

    let desk = Desk::folder(&[]);
    desk.saying("w", &["Task 1. Task 2."]);
    desk.saying(
        "c",
        &["=== CRITIC 1 ===\n[COVERAGE] Is every step covered? → 2 of 2 steps have a task\n  Verdict: PASS\n\
           [DEPENDENCIES] Is the order free of cycles? → 2 tasks, 0 cycles\n  Verdict: PASS\n\
           [ADVERSARIAL] Failure scenario: nobody comes\n  → Realistic? N → 0 of 2 tasks need anybody\n\
           === Result: CONVERGED (1 passes, 0 fixes, 0 escalations) ===\n"],
    );
    let args = ["run", "Write it", "--protocol", "converge", "--criteria", "tasks"];
    let said = desk.gadfly(&[&args[..], &WHO].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let said = reason(&desk);
    assert!(
        said.starts_with("COVERAGE: 2 of 2 steps have a task; DEPENDENCIES: 2 tasks, 0 cycles; "),
        "{said}"
    );
}
