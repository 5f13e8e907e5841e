//! A judged tree as a new branch, and that every act can be awaited from any thread.

use gadfly_runtime::workspace::{Bring, Workspace, WorkspaceError};

use crate::workspace::support::{Desk, put};

#[tokio::test]
async fn a_branch_holds_exactly_what_was_judged_and_nothing_else_moves() {
    let desk = Desk::busy();
    put(&desk.path(".git/hooks/post-commit"), "#!/bin/sh\ntouch ../pwned\n");
    let head = desk.git(&["rev-parse", "HEAD"]);
    let (files, mut state) = (desk.files(), desk.repository_state());
    let workspace = desk.workspace().await;
    put(&workspace.dir().join("kept.txt"), "changed\n");
    put(&workspace.dir().join("new.dos"), "one\r\n");
    let taken = workspace.snapshot().await.unwrap();
    let commit = workspace.commit(&taken.tree, "gadfly/done", "A message\n\nwith a body\n").await.unwrap();
    assert_eq!(desk.git(&["rev-parse", "gadfly/done"]).trim(), commit);
    assert_eq!(desk.git(&["rev-parse", "gadfly/done^"]), head);
    assert_eq!(
        desk.git(&["log", "-1", "--format=%an <%ae>|%B", &commit]),
        "Ann <ann@example.org>|A message\n\nwith a body\n\n"
    );
    // Against HEAD: the user's uncommitted changes and the worker's, and no others; line ends as git keeps them.
    assert_eq!(
        desk.git(&["diff", "--name-status", "HEAD", &commit]),
        "D\tdeleted.txt\nM\tkept.txt\nM\tmodified.txt\nA\tnew.dos\nM\tstaged.txt\nA\tuntracked.txt\n"
    );
    assert_eq!(desk.git(&["show", &format!("{commit}:new.dos")]), "one\n");
    desk.git(&["fsck", "--full", "--strict"]);
    let mut now = desk.repository_state();
    for state in [&mut now, &mut state] {
        state.retain(|path, _| !path.ends_with("gadfly/done"));
    }
    assert!(now == state, "index, HEAD, refs or stash changed");
    assert_eq!(desk.files(), files);
    assert!(!desk.home().join("pwned").exists());
}

#[tokio::test]
async fn an_existing_branch_a_bad_name_and_a_missing_identity_are_refused() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    let base = workspace.base().to_owned();
    let refused = |branch: &'static str| workspace.commit(&base, branch, "m");
    assert!(matches!(refused("main").await, Err(WorkspaceError::BranchExists { .. })));
    for name in ["", "a..b", "-x", "a b", "x.lock", "/"] {
        assert!(matches!(refused(name).await, Err(WorkspaceError::BadBranch { .. })), "{name:?}");
    }
    put(&desk.home().join(".gitconfig"), "");
    assert!(matches!(refused("free").await, Err(WorkspaceError::NoIdentity)));
    assert!(!desk.git(&["branch"]).contains("free"));
}

#[tokio::test]
async fn the_first_commit_of_a_repository_has_no_parent_and_a_folder_has_no_branches() {
    let desk = Desk::repository();
    desk.write("a", "1");
    let workspace = desk.workspace().await;
    let commit = workspace.commit(workspace.base(), "done", "m").await.unwrap();
    assert_eq!(desk.git(&["log", "--format=%H", "done"]).trim(), commit);
    assert_eq!(desk.git(&["rev-parse", &format!("{commit}^{{tree}}")]).trim(), workspace.base());
    let desk = Desk::plain();
    let workspace = desk.workspace().await;
    let refused = workspace.commit(workspace.base(), "done", "m").await;
    assert!(matches!(refused, Err(WorkspaceError::NotARepository)));
}

#[tokio::test]
async fn a_changed_file_that_needs_a_filter_is_refused() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    put(&workspace.dir().join("x.secret"), "changed\n");
    let taken = workspace.snapshot().await.unwrap();
    let refused = workspace.commit(&taken.tree, "done", "m").await.err().unwrap().to_string();
    assert!(refused.contains("x.secret") && refused.contains("filter"), "{refused}");
}

#[tokio::test]
async fn every_act_can_be_awaited_by_a_task_that_moves_between_threads() {
    fn moves<F: Future + Send>(future: F) -> F {
        future
    }
    let desk = Desk::busy();
    let (runner, run, nothing) = (desk.runner(), desk.run("r1"), Bring::default());
    let made = moves(Workspace::create(runner, &desk.project, &run, &nothing)).await.unwrap();
    let workspace = made.workspace;
    put(&workspace.dir().join("kept.txt"), "changed\n");
    let tree = moves(workspace.snapshot()).await.unwrap().tree;
    let base = workspace.base();
    moves(workspace.digest(&tree)).await.unwrap();
    moves(workspace.changes(base, &tree)).await.unwrap();
    moves(workspace.entries(&tree)).await.unwrap();
    moves(workspace.diff(base, &tree, 1 << 20)).await.unwrap();
    moves(workspace.read(&tree, "kept.txt", 100)).await.unwrap();
    moves(workspace.export(&tree, &desk.home().join("critic"))).await.unwrap();
    moves(workspace.accept(&tree)).await.unwrap();
    moves(workspace.undo(&tree)).await.unwrap();
    moves(workspace.commit(&tree, "done", "m")).await.unwrap();
    moves(workspace.restore(base)).await.unwrap();
    assert!(moves(workspace.snapshot()).await.unwrap().changes.is_empty());
}
