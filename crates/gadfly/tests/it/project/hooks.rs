//! The gate as a git hook: it looks at what is staged, blocks a commit, and never replaces somebody else's hook.

use std::fs;

use crate::project::desk::{Desk, MEMO, SCRIPT};

const HOOK: &str = ".git/hooks/pre-commit";

fn with_receipt() -> Desk {
    let desk = Desk::new();
    desk.made();
    desk.receipt("strategist", 88, &[MEMO]);
    desk.receipt("coder", 88, &[SCRIPT]);
    desk.committed();
    desk
}

#[test]
fn a_commit_of_changed_bytes_is_blocked_and_one_of_judged_bytes_is_not() {
    let desk = with_receipt();
    desk.gadfly(&["gate", "commit", "--install"]).is(0).says("installed").says("pre-commit");
    desk.write("README.md", "# Wages\n");
    desk.git(&["add", "README.md"]).is(0);
    desk.git(&["commit", "-q", "-m", "readme"]).is(0);
    let judged = desk.read(MEMO);
    desk.write(MEMO, "# Another memo\n");
    desk.git(&["add", "-A"]).is(0);
    desk.git(&["commit", "-q", "-m", "unjudged"]).is(1).says("gate commit is closed").says("stale");
    // What is on disk decides nothing: the staged bytes do.
    desk.write(MEMO, &judged);
    desk.git(&["commit", "-q", "-m", "unjudged"]).is(1);
    // Sabotage: a hook that looks at the disk would let the same commit through.
    let hook = desk.read(HOOK);
    desk.write(HOOK, &hook.replace(" --staged", ""));
    desk.git(&["commit", "-q", "--dry-run"]).is(0);
    desk.git(&["commit", "-q", "-m", "let through"]).is(0);
    desk.git(&["reset", "-q", "--soft", "HEAD~1"]).is(0);
    desk.write(HOOK, &hook);
    desk.git(&["add", "-A"]).is(0);
    desk.write(MEMO, "# Not staged\n");
    desk.write("README.md", "# Wages, again\n");
    desk.git(&["add", "README.md"]).is(0);
    desk.git(&["commit", "-q", "-m", "judged"]).is(0);
    // `commit -a` has an index of its own, which is the one that is looked at.
    desk.git(&["commit", "-q", "-a", "-m", "all"]).is(1);
}

#[test]
fn a_hook_of_ours_is_written_anew_and_another_is_left_alone() {
    let desk = with_receipt();
    desk.gadfly(&["gate", "pr", "--install"]).is(0);
    assert!(desk.read(HOOK).contains("gate 'pr' --staged"), "{}", desk.read(HOOK));
    desk.gadfly(&["gate", "--install"]).is(0).says("written anew");
    assert!(desk.read(HOOK).contains("gate 'commit' --staged"));
    let foreign = "#!/bin/sh\necho mine\n";
    desk.write(HOOK, foreign);
    desk.gadfly(&["gate", "--install"])
        .is(2)
        .says("somebody else's hook")
        .says("gadfly gate commit --staged || exit 1");
    assert_eq!(desk.read(HOOK), foreign);
    fs::remove_file(desk.path(HOOK)).unwrap();
    std::os::unix::fs::symlink("/nowhere", desk.path(HOOK)).unwrap();
    desk.gadfly(&["gate", "--install"]).is(2);
    assert!(desk.path(HOOK).is_symlink(), "a link is somebody's, too");
}

#[test]
fn the_hook_goes_where_git_looks_for_it() {
    let desk = with_receipt();
    desk.git(&["config", "core.hooksPath", "my-hooks"]).is(0);
    desk.gadfly(&["gate", "--install"]).is(0);
    assert!(desk.path("my-hooks/pre-commit").is_file());
    assert!(!desk.path(HOOK).exists());
}

#[test]
fn outside_of_a_repository_there_is_nothing_to_install() {
    let desk = Desk::new();
    desk.gadfly(&["gate", "--install"]).is(2);
    desk.gadfly(&["gate", "--staged"]).is(2);
}
