//! `gadfly undo`: what a run wrote is taken back, unless it changed since.

use crate::cli::support::{APPROVE, Project};

fn written(before: Option<&str>) -> Project {
    let project = Project::scripted(&["New text of 5 words."], &[APPROVE], "");
    if let Some(text) = before {
        project.write("o.md", text);
    }
    let said = project.gadfly(&["run", "Write it", "--criterion", "at most 10 words", "--out", "o.md"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("o.md"), "New text of 5 words.");
    project
}

#[test]
fn a_replaced_file_is_what_it_was_and_a_new_one_is_gone() {
    let project = written(Some("Old text.\n"));
    let said = project.gadfly(&["undo", &project.run_id()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("o.md"), "Old text.\n");
    let project = written(None);
    let said = project.gadfly(&["undo", &project.run_id()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!project.path("o.md").exists());
}

#[test]
fn a_file_that_changed_since_is_left_alone_and_named() {
    let project = written(Some("Old text.\n"));
    project.write("o.md", "Mine.\n");
    let said = project.gadfly(&["undo", &project.run_id()]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("o.md"), "{}", said.err);
    assert_eq!(project.read("o.md"), "Mine.\n");
}

#[test]
fn a_dry_run_says_what_would_be_taken_back_and_changes_nothing() {
    for (before, line) in [(Some("Old text.\n"), "  restore  o.md"), (None, "  remove   o.md")] {
        let project = written(before);
        let said = project.gadfly(&["undo", &project.run_id(), "--dry-run"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.lines().any(|l| l == line), "{}", said.out);
        assert_eq!(project.read("o.md"), "New text of 5 words.");
        project.write("o.md", "Mine.\n");
        let said = project.gadfly(&["undo", &project.run_id(), "--dry-run"]);
        assert_eq!(said.code, 3, "{}", said.out);
        assert!(said.out.contains("blocked by  o.md"), "{}", said.out);
    }
}
