//! Critics that lie: every lie is caught, named in the record, and passes nothing.

use crate::judging::desk::{Answer, Desk, report};

const RUBRIC: &str = "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n| Vague title | -5 |\n";

/// A lie of an audit's critic, told again and again: how the run ends and what the record says of it.
fn audit_lie(reply: &str) -> (Desk, String, String) {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.saying("c", &[reply]);
    let before = desk.files();
    let said = desk.audit(&["--criterion", "SC-2: it is tested", "--rounds", "1"]);
    assert_ne!(said.code, 0, "passed: {reply}\n{}", said.err);
    assert_eq!(desk.files(), before, "nothing came into the checkout: {reply}");
    let (state, told) = (desk.state(), desk.told());
    (desk, state, told)
}

#[test]
fn an_audit_report_that_is_not_true_is_named_and_passes_nothing() {
    let both = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "a.txt:1")];
    let nowhere = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "a.txt:900")];
    let no_file = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "gone.rs:1")];
    let quoted =
        [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "it says \"three hundred tests ran\"")];
    let bare = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "")];
    let nit = [("style", "nit", Some(("a.txt", 1)), "shorten it")];
    let far = [("style", "fail", Some(("a.txt", 90)), "wrap line 90")];
    let cases = [
        ("another task", report("other", 1, &both, &[], "passed"), "unverified", "other"),
        ("another round", report("do-it", 7, &both, &[], "passed"), "unverified", "round"),
        ("evidence at no line", report("do-it", 1, &nowhere, &[], "passed"), "unverified", "a.txt:900"),
        ("evidence in no file", report("do-it", 1, &no_file, &[], "passed"), "unverified", "gone.rs"),
        (
            "a quote from nowhere",
            report("do-it", 1, &quoted, &[], "passed"),
            "unverified",
            "three hundred tests ran",
        ),
        ("no evidence", report("do-it", 1, &bare, &[], "passed"), "unverified", "evidence"),
        ("passed with a finding", report("do-it", 1, &both, &nit, "passed"), "unverified", "passed"),
        (
            "only a false citation",
            report("do-it", 1, &both, &far, "issues_found"),
            "unverified",
            "no line 90",
        ),
        ("issues without any", report("do-it", 1, &both, &[], "issues_found"), "unverified", "issues_found"),
    ];
    for (lie, reply, state, named) in cases {
        let (_, ended, told) = audit_lie(&reply);
        assert_eq!(ended, state, "{lie}: {told}");
        assert!(told.contains(named), "{lie}: {named} is not in\n{told}");
    }
}

#[test]
fn a_criterion_left_out_is_unmet_whatever_the_report_calls_itself() {
    let one = [("SC-1", "Satisfied", "a.txt:1")];
    for verdict in ["passed", "issues_found"] {
        let (_, state, told) = audit_lie(&report("do-it", 1, &one, &[], verdict));
        assert!(["unverified", "waiting(question)"].contains(&state.as_str()), "{verdict}: {state}: {told}");
        assert!(told.contains("SC-2"), "{verdict}: {told}");
    }
    let (_, state, told) = audit_lie(&report("do-it", 1, &[], &[], "passed"));
    assert!(["unverified", "waiting(question)"].contains(&state.as_str()), "{state}: {told}");
}

/// The folder is not part of the change, so nobody has shown it: it is looked up.
#[test]
fn a_test_that_is_missing_in_a_folder_nobody_touched_is_a_true_finding() {
    let both = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "a.txt:1")];
    for (file, state) in [("tests/a_test.txt", "waiting(question)"), ("nowhere/a_test.txt", "unverified")] {
        let desk = Desk::repository(&[("a.txt", "one\n"), ("tests/old.txt", "old\n")]);
        desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
        let missing = [("missing-test", "fail", Some((file, 1)), "add a test of it")];
        desk.saying("c", &[&report("do-it", 1, &both, &missing, "issues_found")]);
        desk.audit(&["--criterion", "SC-2: it is tested", "--rounds", "1"]);
        assert_eq!(desk.state(), state, "{file}: {}", desk.told());
    }
}

#[test]
fn a_false_citation_beside_a_true_finding_is_left_out_and_counted() {
    let both = [("SC-1", "Satisfied", "a.txt:1"), ("SC-2", "Satisfied", "a.txt:1")];
    let findings = [
        ("style", "fail", Some(("a.txt", 90)), "wrap line 90"),
        ("style", "nit", Some(("a.txt", 1)), "say more"),
    ];
    let (desk, state, told) = audit_lie(&report("do-it", 1, &both, &findings, "issues_found"));
    assert_eq!(state, "waiting(question)", "the true one stands: {told}");
    let shown = desk.gadfly(&["show", &desk.run_id()]).out;
    assert!(shown.contains("left out") && shown.contains("there is no line 90"), "{shown}");
    assert!(shown.contains("c: 1 of 2 findings cite what is not there"), "{shown}");
}

fn score_lie(reply: &str) -> (Desk, String) {
    let desk = Desk::folder(&[("rubric.md", RUBRIC)]);
    desk.saying("w", &["Some text."]);
    desk.saying("c", &[reply]);
    let said = desk.gadfly(&[
        "run",
        "Write it",
        "--protocol",
        "score",
        "--worker",
        "w",
        "--critic",
        "c",
        "--rubric",
        "rubric.md",
        "--out",
        "o.md",
        "--rounds",
        "1",
        "--unattended",
        "--yes",
    ]);
    assert_ne!(said.code, 0, "{reply}: {}", said.err);
    assert!(!desk.path("o.md").exists(), "{reply}");
    let told = desk.told();
    (desk, told)
}

#[test]
fn a_total_that_is_not_the_sum_counts_for_nothing() {
    let row = r#"{"row":"no-sample-size","times":1,"quote":"Some text","says":"no n","fix":"state n"}"#;
    let (desk, told) = score_lie(&format!(r#"{{"deductions":[{row}],"score":100}}"#));
    assert_eq!(desk.state(), "waiting(question)", "escalated to the user");
    assert!(told.contains("100") && told.contains("100 − 30 (No sample size) = 70"), "{told}");
    let (desk, told) =
        score_lie("**Score:** 96/100\n\n## Score Breakdown\n- No sample size: -30\n- **Final: 96/100**\n");
    assert_eq!(desk.state(), "waiting(question)");
    assert!(told.contains("the critic stated 96; the sum counts"), "{told}");
}

#[test]
fn a_deduction_for_a_quote_that_is_not_there_neither_counts_nor_passes_the_work() {
    let row =
        r#"{"row":"no-sample-size","times":1,"quote":"n was never counted","says":"no n","fix":"state n"}"#;
    let (desk, told) = score_lie(&format!(r#"{{"deductions":[{row}],"score":70}}"#));
    assert_eq!(desk.state(), "unverified", "{told}");
    assert!(told.contains("no n (the quoted text does not occur in the artifact)"), "{told}");
    for reply in [r#"{"deductions":[],"score":60}"#, r#"{"deductions":[],"score":140}"#, "Score: fine"] {
        let (desk, _) = score_lie(reply);
        assert_eq!(desk.state(), "unverified", "{reply}");
    }
}

fn converge_lie(reply: &str) -> (Desk, String) {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["Task 1. Task 2.", "Task 1. Task 2. Task 3."]);
    desk.saying("c", &[reply]);
    let said = desk.gadfly(&[
        "run",
        "Write it",
        "--protocol",
        "converge",
        "--worker",
        "w",
        "--critic",
        "c",
        "--criteria",
        "tasks",
        "--out",
        "o.md",
        "--rounds",
        "1",
        "--unattended",
        "--yes",
    ]);
    assert_ne!(said.code, 0, "{reply}: {}", said.err);
    assert!(!desk.path("o.md").exists(), "{reply}");
    let told = desk.told();
    (desk, told)
}

#[test]
fn converged_is_computed_and_never_believed() {
    let pass = |coverage: &str, verdict: &str| {
        format!(
            "=== CRITIC 1 ===\n[COVERAGE] Is every step covered? → {coverage}\n  Verdict: {verdict}\n\
             [DEPENDENCIES] Is the order free of cycles? → 2 tasks, 0 cycles\n  Verdict: PASS\n\
             [ADVERSARIAL] Failure scenario: nobody comes\n  → Realistic? N → 0 of 2 tasks need anybody\n\
             === Result: CONVERGED (1 passes, 0 fixes, 0 escalations) ===\n"
        )
    };
    let (desk, told) = converge_lie(&pass("1 of 2 steps have a task", "FAIL (add the other)"));
    assert_eq!(desk.state(), "halted(cap)", "{told}");
    assert!(told.contains("CONVERGED") && told.contains("claims the result"), "{told}");
    let whole = pass("2 of 2 steps have a task", "PASS");
    let (desk, told) =
        converge_lie(&whole.replace("Realistic? N → 0 of 2 tasks need anybody", "Realistic? Y"));
    assert_eq!(
        desk.state(),
        "halted(cap)",
        "a realistic scenario fails, whatever the result line says: {told}"
    );
    let malformed = [
        ("another pass", whole.replace("CRITIC 1", "CRITIC 4"), "4"),
        ("a criterion left out", whole.replace("[DEPENDENCIES] Is the order free of cycles? → 2 tasks, 0 cycles\n  Verdict: PASS\n", ""), "DEPENDENCIES"),
        ("a bare pass", pass("yes, all of them", "PASS"), "quantity"),
        ("fewer than all", pass("1 of 2 steps have a task", "PASS"), "fewer"),
        ("a scenario nobody weighed", whole.replace("Realistic? N → 0 of 2 tasks need anybody", "Realistic? perhaps"), "Realistic"),
        ("no scenario", whole.replace("[ADVERSARIAL] Failure scenario: nobody comes\n  → Realistic? N → 0 of 2 tasks need anybody\n", ""), "scenario"),
    ];
    for (lie, reply, named) in malformed {
        let (desk, told) = converge_lie(&reply);
        assert_eq!(desk.state(), "unverified", "{lie}: {told}");
        assert!(told.contains(named), "{lie}: {told}");
    }
}
