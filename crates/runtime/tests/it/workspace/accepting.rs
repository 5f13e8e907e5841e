//! Acceptance into the user's checkout, and taking it back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use gadfly_runtime::workspace::{Snapshot, Workspace, WorkspaceError};

use crate::workspace::support::{Desk, put};

/// A workspace whose worker changed, added, deleted, moved, linked and marked executable.
async fn worked(desk: &Desk) -> (Workspace, Snapshot) {
    let workspace = desk.workspace().await;
    let work = workspace.dir();
    put(&work.join("kept.txt"), "changed\n");
    put(&work.join("modified.txt"), "changed over an uncommitted change\n");
    put(&work.join("new/deep/file.txt"), "new\n");
    put(&work.join("lines.dos"), "one\r\nthree\r\n");
    fs::remove_file(work.join("untracked.txt")).unwrap();
    fs::remove_dir_all(work.join("deep")).unwrap();
    fs::set_permissions(work.join("staged.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(work.join("link")).unwrap();
    symlink("nowhere at all", work.join("link")).unwrap();
    let taken = workspace.snapshot().await.unwrap();
    (workspace, taken)
}

fn conflict(result: Result<impl std::fmt::Debug, WorkspaceError>) -> Vec<String> {
    match result {
        Err(WorkspaceError::Conflict { paths }) => paths,
        other => {
            assert!(other.is_err(), "expected a conflict: {other:?}");
            vec![format!("{other:?}")]
        }
    }
}

#[tokio::test]
async fn what_was_judged_arrives_and_nothing_else_changes() {
    let desk = Desk::busy();
    let (before, state) = (desk.files(), desk.repository_state());
    let (workspace, taken) = worked(&desk).await;
    // What the worker does after the judgement does not count.
    put(&workspace.dir().join("kept.txt"), "later\n");
    let accepted = workspace.accept(&taken.tree).await.unwrap();
    let named: Vec<&str> = taken.changes.iter().map(|c| c.path.as_str()).collect();
    assert_eq!(accepted.paths, named);
    let mut expected = before.clone();
    expected.insert("kept.txt".into(), (0, b"changed\n".to_vec()));
    expected.insert("modified.txt".into(), (0, b"changed over an uncommitted change\n".to_vec()));
    expected.insert("new/deep/file.txt".into(), (0, b"new\n".to_vec()));
    expected.insert("lines.dos".into(), (0, b"one\r\nthree\r\n".to_vec()));
    expected.insert("staged.txt".into(), (0o111, b"newer\n".to_vec()));
    expected.insert("link".into(), (0, b"nowhere at all".to_vec()));
    expected.remove("untracked.txt");
    expected.remove("deep/er/file.rs");
    assert_eq!(desk.files(), expected);
    assert!(!desk.path("deep").exists(), "a folder we emptied is gone");
    assert!(desk.repository_state() == state, "index, HEAD, refs or stash changed");
    // Again is once.
    workspace.accept(&taken.tree).await.unwrap();
    assert_eq!(desk.files(), expected);
    workspace.undo(&taken.tree).await.unwrap();
    assert_eq!(desk.files(), before);
    assert!(!desk.path("new").exists());
    workspace.undo(&taken.tree).await.unwrap();
    assert_eq!(desk.files(), before);
    assert!(desk.repository_state() == state, "index, HEAD, refs or stash changed");
}

#[tokio::test]
async fn a_checkout_that_changed_is_left_alone_entirely() {
    type Act = fn(&Desk);
    let table: [(&str, Act, &[&str]); 9] = [
        ("edited", |d| d.write("kept.txt", "mine\n"), &["kept.txt"]),
        ("same size", |d| d.write("kept.txt", "tpek\n"), &["kept.txt"]),
        ("deleted", |d| fs::remove_file(d.path("kept.txt")).unwrap(), &["kept.txt"]),
        ("made executable", |d| d.chmod("kept.txt", 0o755), &["kept.txt"]),
        ("new file already there", |d| d.write("new/deep/file.txt", "mine"), &["new/deep/file.txt"]),
        ("a file where a folder must be", |d| d.write("new", "mine"), &["new/deep/file.txt"]),
        (
            "link elsewhere",
            |d| {
                fs::remove_file(d.path("link")).unwrap();
                symlink("mine", d.path("link")).unwrap();
            },
            &["link"],
        ),
        (
            "a pipe",
            |d| {
                fs::remove_file(d.path("kept.txt")).unwrap();
                let done = std::process::Command::new("mkfifo").arg(d.path("kept.txt")).status().unwrap();
                assert!(done.success());
            },
            &["kept.txt"],
        ),
        (
            "several",
            |d| {
                d.write("untracked.txt", "mine\n");
                d.write("deep/er/file.rs", "mine\n");
            },
            &["deep/er/file.rs", "untracked.txt"],
        ),
    ];
    for (what, act, paths) in table {
        let desk = Desk::busy();
        let (workspace, taken) = worked(&desk).await;
        act(&desk);
        let (before, state) = (desk.files(), desk.repository_state());
        assert_eq!(conflict(workspace.accept(&taken.tree).await), paths, "{what}");
        assert!(desk.files() == before && desk.repository_state() == state, "{what}: something was written");
    }
}

#[tokio::test]
async fn nothing_is_written_through_a_folder_that_became_a_link() {
    let desk = Desk::busy();
    let workspace = desk.workspace().await;
    put(&workspace.dir().join("deep/er/file.rs"), "changed\n");
    put(&workspace.dir().join("deep/er/new.rs"), "new\n");
    let taken = workspace.snapshot().await.unwrap();
    // The user moves the folder away and leaves a link: the same bytes are behind it.
    fs::rename(desk.path("deep"), desk.home().join("elsewhere")).unwrap();
    symlink("../elsewhere", desk.path("deep")).unwrap();
    assert_eq!(conflict(workspace.accept(&taken.tree).await), ["deep/er/file.rs", "deep/er/new.rs"]);
    let elsewhere = desk.home().join("elsewhere/er");
    assert_eq!(fs::read_to_string(elsewhere.join("file.rs")).unwrap(), "fn main() {}\n");
    assert!(!elsewhere.join("new.rs").exists(), "it was written through the link");
}

#[tokio::test]
async fn an_acceptance_that_was_cut_off_is_completed() {
    let desk = Desk::busy();
    let (workspace, taken) = worked(&desk).await;
    workspace.accept(&taken.tree).await.unwrap();
    let whole = desk.files();
    workspace.undo(&taken.tree).await.unwrap();
    // Some paths already are what they shall be.
    desk.write("kept.txt", "changed\n");
    fs::remove_dir_all(desk.path("deep")).unwrap();
    desk.write("new/deep/file.txt", "new\n");
    workspace.accept(&taken.tree).await.unwrap();
    assert_eq!(desk.files(), whole);
    // And the same on the way back.
    let before = {
        workspace.undo(&taken.tree).await.unwrap();
        desk.files()
    };
    workspace.accept(&taken.tree).await.unwrap();
    desk.write("kept.txt", "kept\n");
    workspace.undo(&taken.tree).await.unwrap();
    assert_eq!(desk.files(), before);
}

#[tokio::test]
async fn undo_refuses_with_the_list_of_files_changed_since() {
    let desk = Desk::busy();
    let (workspace, taken) = worked(&desk).await;
    workspace.accept(&taken.tree).await.unwrap();
    desk.write("new/deep/file.txt", "edited since\n");
    desk.write("kept.txt", "edited since\n");
    desk.write("unrelated.txt", "fine");
    let before = desk.files();
    assert_eq!(conflict(workspace.undo(&taken.tree).await), ["kept.txt", "new/deep/file.txt"]);
    assert_eq!(desk.files(), before);
}

#[tokio::test]
async fn files_become_folders_and_folders_files() {
    let desk = Desk::plain();
    desk.write("a", "file");
    desk.write("b/c/d", "below");
    symlink("a", desk.path("l")).unwrap();
    let before = desk.files();
    let workspace = desk.workspace().await;
    let work = workspace.dir();
    fs::remove_file(work.join("a")).unwrap();
    put(&work.join("a/inside"), "x");
    fs::remove_dir_all(work.join("b")).unwrap();
    put(&work.join("b"), "now a file");
    fs::remove_file(work.join("l")).unwrap();
    put(&work.join("l/inside"), "x");
    let taken = workspace.snapshot().await.unwrap();
    for _ in 0..2 {
        workspace.accept(&taken.tree).await.unwrap();
        assert_eq!(
            (desk.read("a/inside"), desk.read("b"), desk.read("l/inside")),
            ("x".into(), "now a file".into(), "x".into())
        );
    }
    for _ in 0..2 {
        workspace.undo(&taken.tree).await.unwrap();
        assert_eq!(desk.files(), before);
    }
    // A folder with something of the user's in it does not become a file.
    desk.write("b/c/mine", "mine");
    let before = desk.files();
    assert_eq!(conflict(workspace.accept(&taken.tree).await), ["b"]);
    assert_eq!(desk.files(), before);
}

#[tokio::test]
async fn the_users_own_permissions_survive() {
    let desk = Desk::plain();
    desk.write("private", "1");
    desk.write("tool", "1");
    desk.chmod("private", 0o600);
    desk.chmod("tool", 0o640);
    let workspace = desk.workspace().await;
    put(&workspace.dir().join("private"), "2");
    fs::set_permissions(workspace.dir().join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let taken = workspace.snapshot().await.unwrap();
    workspace.accept(&taken.tree).await.unwrap();
    let mode = |p: &str| fs::metadata(desk.path(p)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("private"), mode("tool")), (0o600, 0o750));
}

#[tokio::test]
async fn what_a_killed_process_left_half_written_goes_and_what_somebody_writes_now_stays() {
    let desk = Desk::busy();
    let (workspace, taken) = worked(&desk).await;
    // Beside a file that is written, of the length and form of our own names; nobody holds the first.
    let (dead, alive) = (desk.path(".gadfly-0123456789abcdef"), desk.path(".gadfly-fedcba9876543210"));
    let others =
        [".gadfly-notes", ".gadfly-0123456789ABCDEF", ".gadfly-0123456789abcdef0"].map(|n| desk.path(n));
    for path in others.iter().chain([&dead, &alive]) {
        put(path, "half");
    }
    let writer = fs::File::open(&alive).unwrap();
    writer.lock().unwrap();
    workspace.accept(&taken.tree).await.unwrap();
    assert!(!dead.exists(), "a killed acceptance leaves nothing in the checkout once it is finished");
    assert!(alive.exists(), "another process is writing it");
    assert!(others.iter().all(|path| path.exists()), "names like ours, but not ours");
}
