//! Questions a run asks a person: parked without one, answered by a choice, and nothing else is taken.

use crate::cli::support::Project;

/// A `score` loop whose rounds are used up, so that the user is asked.
fn stuck() -> Project {
    let low = r#"{\"deductions\":[{\"row\":\"no-sample-size\",\"times\":1,\"quote\":\"Some text\",\"says\":\"no n\",\"fix\":\"state n\"}]}"#;
    let project = Project::scripted(&["Some text 1.", "Some text 2.", "Some text 3."], &[low, low, low], "");
    project.write("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n");
    let args =
        ["run", "Write it", "--protocol", "score", "--rubric", "r.md", "--rounds", "1", "--unattended"];
    let said = project.gadfly(&args);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("gadfly answer"), "how to answer is said: {}", said.err);
    project
}

#[test]
fn without_a_person_the_run_is_parked_and_goes_on_with_an_answer() {
    let project = stuck();
    let run = project.run_id();
    assert_eq!(project.states(), ["waiting(question)"]);
    let said = project.gadfly(&["answer", &run, "Write about apples instead"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = project.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 3, "used up once more, it is over: {}", said.err);
}

#[test]
fn an_empty_answer_is_refused() {
    let project = stuck();
    let said = project.gadfly_with_stdin(&["answer", &project.run_id()], "  \n");
    assert_eq!(said.code, 2, "{}", said.err);
    assert_eq!(project.states(), ["waiting(question)"]);
}
