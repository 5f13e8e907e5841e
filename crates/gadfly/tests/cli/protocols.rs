//! `gadfly run` under each of the protocols, from configuration to exit code.

use crate::support::Project;

const RUBRIC: &str =
    "# Rubric\n\n| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n| Vague title | -5 |\n";

#[test]
fn score_computes_the_number_and_revises_below_the_mark() {
    let low = r#"{\"deductions\":[{\"row\":\"no-sample-size\",\"times\":1,\"quote\":\"Some text\",\"says\":\"no n\",\"fix\":\"state n\"}],\"score\":70}"#;
    let high = r#"{\"deductions\":[],\"score\":100}"#;
    let project = Project::scripted(&["Some text.", "Some text, n = 12."], &[low, high], "");
    project.write("rubric.md", RUBRIC);
    let said =
        project.gadfly(&["run", "Write it", "--protocol", "score", "--rubric", "rubric.md", "--out", "o.md"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("o.md"), "Some text, n = 12.");
}

#[test]
fn converge_takes_the_cap_of_its_set_and_names_the_sets() {
    let project = Project::scripted(&["x"], &["y"], "");
    let args = ["run", "Write it", "--protocol", "converge", "--dry-run"];
    let said = project.gadfly(&[&args[..], &["--criteria", "plan"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("7 rounds"), "{}", said.err);
    let said = project.gadfly(&[&args[..], &["--criteria", "plan", "--rounds", "2"]].concat());
    assert!(said.err.contains("2 rounds"), "{}", said.err);
    let said = project.gadfly(&args);
    assert!(said.code == 2 && said.err.contains("there are no criteria"), "{}", said.err);
    let said = project.gadfly(&[&args[..], &["--criteria", "pln"]].concat());
    assert!(said.code == 2 && said.err.contains("spec, plan, tasks"), "{}", said.err);
}

#[test]
fn audit_says_what_it_will_run_and_wants_trust_for_it() {
    let audit = "[loops.f]\nprotocol = \"audit\"\ntask = \"Add it\"\ncriteria = [\"it is there\"]\nverify = \"make test\"\n";
    let project = Project::scripted(&["x"], &["y"], audit);
    let said = project.gadfly(&["run", "f", "--dry-run"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("run make test to verify a worker's files"), "{}", said.err);
    let said = project.gadfly(&["run", "f", "--dry-run", "--trust"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("runs    make test") && said.err.contains("folder  a copy of"), "{}", said.err);
    // Typed here, it needs no other word.
    let args = [
        "run",
        "Add it",
        "--protocol",
        "audit",
        "--criterion",
        "it is there",
        "--verify",
        "true",
        "--dry-run",
    ];
    assert_eq!(project.gadfly(&args).code, 0);
}

#[test]
fn flags_of_one_protocol_are_refused_by_another() {
    let project = Project::scripted(&["x"], &["y"], "");
    let said = project.gadfly(&["run", "Write it", "--criterion", "at most 10 words", "--verify", "true"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("`--verify` belongs to protocol `audit`; this loop follows `revise`"),
        "{}",
        said.err
    );
    let said = project.gadfly(&["run", "T", "--protocol", "audit", "--criterion", "c", "--out", "x.md"]);
    assert!(said.code == 2 && said.err.contains("`--out` belongs to"), "{}", said.err);
}

#[test]
fn an_audit_cannot_be_begun_from_another_run_and_says_so() {
    let project = Project::scripted(&["Ten."], &["[STATUS: APPROVED]\\nGood."], "");
    assert_eq!(project.gadfly(&["run", "Write it", "--criterion", "at most 10 words"]).code, 0);
    let run = project.run_id();
    let said = project.gadfly(&["run", "T", "--from", &run, "--protocol", "audit", "--criterion", "c"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("under `audit`"), "{}", said.err);
}
