//! `runs rm`, `gc`, `export`, `import`, completions.

use crate::cli::support::{APPROVE, Project};

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

fn approved() -> (Project, String) {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 0);
    let run = project.run_id();
    (project, run)
}

#[test]
fn a_run_is_carried_elsewhere() {
    let (project, run) = approved();
    assert_eq!(project.gadfly(&["export", &run, "run.zst"]).code, 0);
    assert_eq!(project.gadfly(&["export", &run, "run.zst"]).code, 2, "nothing is written over");
    let elsewhere = Project::bare();
    let file = project.path("run.zst");
    let said = elsewhere.gadfly(&["import", &file.to_string_lossy()]);
    assert_eq!((said.code, said.out.trim()), (0, run.as_str()), "{}", said.err);
    assert_eq!(elsewhere.gadfly(&["show", &run, "--draft"]).out, "One");
    // A damaged file is refused and takes nothing in.
    let mut bytes = std::fs::read(&file).unwrap();
    bytes.truncate(bytes.len() / 2);
    elsewhere.gadfly(&["runs", "rm", &run]);
    std::fs::write(elsewhere.path("half.zst"), bytes).unwrap();
    assert_eq!(elsewhere.gadfly(&["import", "half.zst"]).code, 2);
    assert!(elsewhere.states().is_empty());
}

#[test]
fn removing_is_all_or_nothing() {
    let (project, run) = approved();
    assert_eq!(project.gadfly(&["runs", "rm", &run, "zzzzzzzzzz"]).code, 2);
    assert_eq!(project.states().len(), 1);
    assert_eq!(project.gadfly(&["runs", "rm", &run]).code, 0);
    assert!(project.states().is_empty());
}

#[test]
fn gc_only_says_what_it_would_do() {
    let (project, run) = approved();
    let said = project.gadfly(&["gc", "--older-than", "0"]);
    assert_eq!((said.code, said.out.trim()), (0, run.as_str()), "{}", said.err);
    assert_eq!(project.states().len(), 1);
    assert_eq!(project.gadfly(&["gc", "--older-than", "0", "--apply"]).code, 0);
    assert!(project.states().is_empty());
}

#[test]
fn completions_and_the_manual_are_printed() {
    let project = Project::bare();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let said = project.gadfly(&["completions", shell]);
        assert!(said.code == 0 && said.out.contains("gadfly"), "{shell}");
    }
    assert!(project.gadfly(&["man"]).out.contains(".TH gadfly"));
}

#[test]
fn state_can_be_kept_elsewhere() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let store = project.dir().join("store");
    let store = store.to_string_lossy();
    assert_eq!(project.gadfly(&[&RUN[..], &["--store", &store]].concat()).code, 0);
    assert!(!project.path(".gadfly").exists());
    assert_eq!(project.gadfly(&["runs", "--store", &store]).out.lines().count(), 2);
}
