//! A goal in the user's own checkout: nothing of it is lost, and all of it can be taken back.

use crate::desk::Desk;
use crate::pursuit::{GOAL, PROGRESSING, claims, edits, fails, hire, reads, runs, writes};

/// A checkout in which the user has begun something, with a worker that adds, changes and deletes.
fn begun() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "two\n"), ("sub/c.txt", "three\n")]);
    desk.write("a.txt", "one, and mine\n");
    desk.write("untracked.txt", "mine too\n");
    desk.write("staged.txt", "staged\n");
    desk.git(&["add", "staged.txt"]);
    desk.saying("c", &[PROGRESSING]);
    desk
}

const WORK: &str =
    "rm b.txt; mkdir -p new/deep; echo x > new/deep/file; chmod +x sub/c.txt; echo more >> untracked.txt";

#[test]
fn it_works_in_the_checkout_and_undo_restores_exactly() {
    let desk = begun();
    let worker = [
        edits("a.txt", "mine", "yours"),
        runs(WORK),
        writes("done.txt", "x"),
        reads("done.txt").then(claims("all done")),
    ];
    hire(&desk, "w", &worker, "");
    let (files, git, status) = (desk.files(), desk.git_bytes(), desk.git(&["status", "--porcelain"]));
    let modes = desk.git(&["diff", "HEAD"]);
    let said = desk.gadfly(&[&GOAL[..], &["--in-place"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((desk.read("a.txt").as_str(), desk.read("done.txt").as_str()), ("one, and yours\n", "x"));
    assert!(!desk.path("b.txt").exists() && desk.path("new/deep/file").exists());
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(desk.files(), files);
    assert!(!desk.path("new").exists(), "no empty folder is left");
    assert_eq!(desk.git(&["status", "--porcelain"]), status);
    assert_eq!(desk.git(&["diff", "HEAD"]), modes);
    let index = desk.path(".git/index");
    let same = |files: &std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        files
            .iter()
            .filter(|(path, _)| **path != index)
            .map(|(p, b)| (p.clone(), b.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(same(&desk.git_bytes()), same(&git), "git's own files are as they were");
}

#[test]
fn what_was_left_by_a_goal_that_did_not_end_well_can_be_taken_back_too() {
    let desk = begun();
    let gives_up = crate::pursuit::does(
        "abort_with_report",
        serde_json::json!({"reason": "no way", "what_was_learned": "nothing"}),
    );
    hire(&desk, "w", &[runs(WORK), gives_up], "");
    let (files, status) = (desk.files(), desk.git(&["status", "--porcelain"]));
    let said = desk.gadfly(&[&GOAL[..], &["--in-place"]].concat());
    assert_eq!(said.code, 7, "{said:?}");
    assert!(!desk.path("b.txt").exists());
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((desk.files(), desk.git(&["status", "--porcelain"])), (files, status));
}

#[test]
fn a_parked_goal_is_taken_back_after_it_is_cancelled() {
    let desk = begun();
    hire(&desk, "w", &[runs(WORK), fails("crash").always()], "");
    let (files, status) = (desk.files(), desk.git(&["status", "--porcelain"]));
    assert_eq!(desk.gadfly(&[&GOAL[..], &["--in-place"]].concat()).code, 1);
    let run = desk.run_id();
    let cancelled = desk.gadfly(&["cancel", &run]);
    let said = desk.gadfly(&["undo", &run, "--yes"]);
    assert_eq!(said.code, 0, "{cancelled:?} {said:?}");
    assert_eq!((desk.files(), desk.git(&["status", "--porcelain"])), (files, status));
}

#[test]
fn a_file_the_user_changed_since_is_left_alone() {
    let desk = begun();
    let worker =
        [edits("a.txt", "mine", "yours"), writes("done.txt", "x"), reads("done.txt").then(claims("done"))];
    hire(&desk, "w", &worker, "");
    assert_eq!(desk.gadfly(&[&GOAL[..], &["--in-place"]].concat()).code, 0);
    desk.write("a.txt", "changed since\n");
    let said = desk.gadfly(&["undo", &desk.run_id(), "--yes"]);
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.err.contains("a.txt"), "{said:?}");
    assert_eq!(desk.read("a.txt"), "changed since\n");
}
