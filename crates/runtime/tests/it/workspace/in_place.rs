//! A run in the user's own checkout: the beginning is kept, nothing is touched by looking, and going back restores
//! exactly what was there.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use gadfly_runtime::workspace::{Workspace, WorkspaceError};

use crate::workspace::support::Desk;

type Files = BTreeMap<String, (u32, Vec<u8>)>;

async fn begin(desk: &Desk) -> Workspace {
    Workspace::create_in_place(desk.runner(), &desk.project, &desk.run("r1"), Vec::new())
        .await
        .unwrap()
        .workspace
}

/// A worker that does everything one can do to files.
fn work(desk: &Desk) {
    desk.write("kept.txt", "changed\n");
    desk.write("untracked.txt", "changed\n");
    desk.write("tracked.log", "changed\n");
    desk.write("made/by/run.rs", "fn new() {}\n");
    desk.write("made.bin", "\0\u{1}");
    fs::remove_file(desk.path("modified.txt")).unwrap();
    fs::remove_dir_all(desk.path("deep")).unwrap();
    desk.write("deep", "a file where a folder was\n");
    desk.chmod("tool.sh", 0o644);
    fs::remove_file(desk.path("link")).unwrap();
    symlink("tool.sh", desk.path("link")).unwrap();
    fs::remove_file(desk.path("binary.bin")).unwrap();
    fs::create_dir(desk.path("binary.bin")).unwrap();
    desk.write("binary.bin/x", "a folder where a file was\n");
    desk.write(".gitignore", "*\n");
    fs::remove_file(desk.path("secret")).unwrap();
}

fn busy() -> (Desk, Files, Files, String) {
    let desk = Desk::busy();
    desk.write("secret", "mine alone\n");
    desk.chmod("secret", 0o600);
    fs::create_dir(desk.path("empty")).unwrap();
    let status = desk.git(&["status", "--porcelain"]);
    let (files, repository) = (desk.files(), desk.repository_state());
    (desk, files, repository, status)
}

#[tokio::test]
async fn everything_a_run_did_is_taken_back_and_index_head_and_stash_are_not_touched() {
    let (desk, files, repository, status) = busy();
    let workspace = begin(&desk).await;
    assert_eq!(workspace.dir(), desk.project);
    assert!(workspace.snapshot().await.unwrap().changes.is_empty());
    assert_eq!((desk.files(), desk.repository_state()), (files.clone(), repository.clone()), "only read");
    work(&desk);
    let last = workspace.snapshot().await.unwrap();
    assert!(last.changes.len() > 10, "{last:?}");
    let way = workspace.way_back(Some(&last.tree)).await.unwrap();
    assert!(way.removed.contains(&"made/by/run.rs".to_owned()), "{way:?}");
    assert!(way.restored.contains(&"modified.txt".to_owned()), "{way:?}");
    assert_ne!(desk.files(), files, "looking at the way changes nothing");
    workspace.go_back(&way).await.unwrap();
    assert_eq!(desk.files(), files);
    assert!(!desk.path("made").exists() && desk.path("empty").is_dir());
    assert_eq!(desk.repository_state(), repository);
    assert_eq!(desk.git(&["status", "--porcelain"]), status);
    // Again is once, with what is known as with what is found.
    for last in [Some(last.tree.as_str()), None] {
        let way = workspace.way_back(last).await.unwrap();
        assert!(way.restored.is_empty() && way.removed.is_empty() && way.conflicts.is_empty(), "{way:?}");
        workspace.go_back(&way).await.unwrap();
        assert_eq!(desk.files(), files);
    }
}

#[tokio::test]
async fn a_file_that_was_changed_and_made_executable_is_taken_back() {
    let (desk, files, ..) = busy();
    let workspace = begin(&desk).await;
    for (path, mode) in [("kept.txt", 0o755), ("tool.sh", 0o644), ("secret", 0o755)] {
        desk.write(path, "changed\n");
        desk.chmod(path, mode);
    }
    desk.chmod("untracked.txt", 0o700);
    let last = workspace.snapshot().await.unwrap();
    for last in [Some(last.tree.as_str()), None] {
        let way = workspace.way_back(last).await.unwrap();
        assert!(way.conflicts.is_empty(), "{way:?}");
        workspace.go_back(&way).await.unwrap();
        assert_eq!(desk.files(), files);
    }
}

#[tokio::test]
async fn a_plain_folder_is_taken_back_as_well() {
    let desk = Desk::plain();
    desk.write("a.txt", "one\n");
    desk.write("sub/b.txt", "b\n");
    let files = desk.files();
    let workspace = begin(&desk).await;
    desk.write("a.txt", "two\n");
    desk.write("new.txt", "n\n");
    fs::remove_dir_all(desk.path("sub")).unwrap();
    let way = workspace.way_back(None).await.unwrap();
    assert_eq!((way.restored.join(" "), way.removed.join(" ")), ("a.txt sub/b.txt".into(), "new.txt".into()));
    workspace.go_back(&way).await.unwrap();
    assert_eq!(desk.files(), files);
}

#[tokio::test]
async fn what_the_user_changed_stays_and_what_both_changed_stops_it() {
    let (desk, ..) = busy();
    let workspace = begin(&desk).await;
    desk.write("kept.txt", "run\n");
    let last = workspace.snapshot().await.unwrap().tree;
    desk.write("crlf.txt", "mine\n");
    desk.write("mine.txt", "mine\n");
    let way = workspace.way_back(Some(&last)).await.unwrap();
    assert_eq!(way.left_alone, ["crlf.txt", "mine.txt"]);
    // Between the look and the act somebody saved the file: that is found, too.
    desk.write("kept.txt", "mine, too\n");
    let before = desk.files();
    let stopped = workspace.go_back(&way).await.unwrap_err();
    assert!(matches!(&stopped, WorkspaceError::Conflict { paths } if paths == &["kept.txt"]), "{stopped}");
    let seen = workspace.way_back(Some(&last)).await.unwrap();
    assert_eq!(seen.conflicts, ["kept.txt"]);
    assert!(workspace.go_back(&seen).await.is_err());
    assert_eq!(desk.files(), before, "nothing was taken back");
    desk.write("kept.txt", "run\n");
    workspace.go_back(&workspace.way_back(Some(&last)).await.unwrap()).await.unwrap();
    assert_eq!((desk.read("kept.txt"), desk.read("crlf.txt")), ("kept\n".into(), "mine\n".into()));
    assert_eq!(desk.read("mine.txt"), "mine\n");
}

#[tokio::test]
async fn going_back_that_was_cut_off_is_finished_by_going_again() {
    let (desk, files, ..) = busy();
    let workspace = begin(&desk).await;
    work(&desk);
    let last = workspace.snapshot().await.unwrap().tree;
    // As a process leaves it that was killed in the middle: some files are back, one is half written.
    desk.write("modified.txt", "new\n");
    fs::remove_file(desk.path("made.bin")).unwrap();
    desk.write("secret", "mine alone\n");
    desk.chmod("secret", 0o644);
    desk.write(".gadfly-0123456789abcdef", "hal");
    for last in [Some(last.as_str()), None] {
        workspace.go_back(&workspace.way_back(last).await.unwrap()).await.unwrap();
        assert_eq!(desk.files(), files);
    }
}

#[tokio::test]
async fn permissions_empty_folders_and_ignored_files_come_back_too() {
    let (desk, files, ..) = busy();
    let workspace = begin(&desk).await;
    desk.chmod("secret", 0o666);
    desk.chmod("kept.txt", 0o000);
    fs::remove_dir(desk.path("empty")).unwrap();
    fs::create_dir_all(desk.path("hollow/deep")).unwrap();
    desk.write("ignored/cache", "newer");
    desk.write("ignored/more", "m");
    let last = workspace.snapshot().await.unwrap().tree;
    workspace.go_back(&workspace.way_back(Some(&last)).await.unwrap()).await.unwrap();
    assert!(desk.path("empty").is_dir() && !desk.path("hollow").exists());
    assert_eq!(desk.files(), files);
    assert_eq!(fs::metadata(desk.path("secret")).unwrap().permissions().mode() & 0o777, 0o600);
}

/// With the guard in `restore` off the user's later edit is gone: that is what it is for.
#[tokio::test]
async fn the_checkout_is_never_restored_by_the_way() {
    let (desk, ..) = busy();
    let workspace = begin(&desk).await;
    desk.write("kept.txt", "mine\n");
    let base = workspace.base().to_owned();
    assert!(matches!(workspace.restore(&base).await, Err(WorkspaceError::Unusable { .. })));
    assert!(!workspace.restore_clone(&base).await.unwrap());
    assert_eq!(workspace.disposable(), Vec::<std::path::PathBuf>::new());
    assert_eq!(desk.read("kept.txt"), "mine\n");
    let opened = Workspace::open(desk.runner(), &desk.run("r1")).unwrap();
    assert!(opened.is_in_place() && opened.work() == desk.project);
}

#[tokio::test]
async fn nothing_of_the_snapshot_is_shared_with_the_repository_the_worker_writes() {
    let (desk, files, ..) = busy();
    let workspace = begin(&desk).await;
    work(&desk);
    fs::remove_dir_all(desk.path(".git")).unwrap();
    workspace.go_back(&workspace.way_back(None).await.unwrap()).await.unwrap();
    assert_eq!(desk.files(), files);
}

#[tokio::test]
async fn what_git_would_run_as_the_user_is_named() {
    let (desk, ..) = busy();
    let workspace = begin(&desk).await;
    assert_eq!(workspace.hooks_changed().unwrap(), Vec::<String>::new());
    desk.write(".git/hooks/post-checkout", "#!/bin/sh\n");
    assert_eq!(workspace.hooks_changed().unwrap(), [".git/hooks/post-checkout"]);
    workspace.go_back(&workspace.way_back(None).await.unwrap()).await.unwrap();
    assert!(!desk.path(".git/hooks/post-checkout").exists(), "and comes back with the rest");
}
