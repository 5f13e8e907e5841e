//! Files that changed on both sides: nothing is written until somebody decides, each decision does what it
//! says, and each is taken back to the byte.
#![allow(clippy::panic, reason = "a test that cannot go on says so")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use gadfly_engine::conflict::{Conflict, ConflictKind, Conflicts, Resolution, Way};
use gadfly_runtime::workspace::{Landed, Landing, Workspace, WorkspaceError};

use crate::workspace::support::{Desk, put};

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

type Act = fn(&std::path::Path);
type Files = BTreeMap<String, (u32, Vec<u8>)>;

fn text(path: &std::path::Path, from: &str, to: &str) {
    let now = fs::read_to_string(path).unwrap();
    assert!(now.contains(from));
    fs::write(path, now.replace(from, to)).unwrap();
}

fn executable(path: &std::path::Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A project, what its worker made of it, and what its user made of it meanwhile.
async fn both(worker: Act, user: Act) -> (Desk, Workspace, String) {
    let desk = Desk::repository();
    desk.write("f", TEN);
    desk.write("other", "o\n");
    desk.write("d/x", "x\n");
    desk.write("bin", "a\0b");
    desk.git(&["add", "-A"]);
    desk.git(&["commit", "-q", "-m", "first"]);
    let workspace = desk.workspace().await;
    worker(&workspace.dir());
    put(&workspace.dir().join("other"), "brought\n");
    let tree = workspace.snapshot().await.unwrap().tree;
    user(&desk.project);
    (desk, workspace, tree)
}

async fn conflicts(workspace: &Workspace, tree: &str) -> Conflicts {
    match workspace.land(tree, None).await.unwrap() {
        Landing::Conflicts(conflicts) => conflicts,
        Landing::Landed(landed) => panic!("{landed:?}"),
    }
}

async fn landed(workspace: &Workspace, tree: &str, way: Way, seen: &Conflicts) -> Landed {
    let resolution = Resolution { way, seen: seen.seen };
    match workspace.land(tree, Some(&resolution)).await.unwrap() {
        Landing::Landed(landed) => landed,
        Landing::Conflicts(conflicts) => panic!("{conflicts:?}"),
    }
}

fn only(conflicts: &Conflicts) -> &Conflict {
    assert_eq!(conflicts.files.len(), 1, "{conflicts:?}");
    &conflicts.files[0]
}

/// Where a decision is offered: it lands, twice is once, and what was there comes back to the byte.
async fn there_and_back(desk: &Desk, workspace: &Workspace, tree: &str, seen: &Conflicts, way: Way) -> Files {
    let (before, state) = (desk.files(), desk.repository_state());
    landed(workspace, tree, way, seen).await;
    let after = desk.files();
    landed(workspace, tree, way, seen).await;
    assert!(desk.files() == after, "twice is once: {way:?}");
    assert_eq!(after["other"].1, b"brought\n", "what is not in conflict comes: {way:?}");
    let resolution = Resolution { way, seen: seen.seen };
    for _ in 0..2 {
        workspace.take_back(tree, Some(&resolution)).await.unwrap();
        assert!(desk.files() == before, "undo restores to the byte: {way:?}");
    }
    assert!(desk.repository_state() == state, "index, HEAD, refs or stash changed");
    after
}

#[tokio::test]
async fn every_kind_of_conflict_is_named_and_every_way_out_of_it_does_what_it_says() {
    use ConflictKind::{Binary, BothAdded, BothChanged, DeletedByRun, DeletedHere, Form};
    struct Row {
        worker: Act,
        user: Act,
        path: &'static str,
        kind: ConflictKind,
        /// What `f` (or the path) holds after each way; none if the way is not offered or nothing is there.
        merged: Option<&'static str>,
        mine: Option<&'static str>,
        run: Option<&'static str>,
    }
    let rows = [
        Row {
            worker: |d| text(&d.join("f"), "2\n3", "2\nrun"),
            user: |d| text(&d.join("f"), "9\n", "mine\n"),
            path: "f",
            kind: BothChanged,
            merged: Some("1\n2\nrun\n4\n5\n6\n7\n8\nmine\n10\n"),
            mine: Some("1\n2\n3\n4\n5\n6\n7\n8\nmine\n10\n"),
            run: Some("1\n2\nrun\n4\n5\n6\n7\n8\n9\n10\n"),
        },
        Row {
            worker: |d| text(&d.join("f"), "5\n", "run\n"),
            user: |d| text(&d.join("f"), "5\n", "mine\n"),
            path: "f",
            kind: BothChanged,
            merged: None,
            mine: Some("1\n2\n3\n4\nmine\n6\n7\n8\n9\n10\n"),
            run: Some("1\n2\n3\n4\nrun\n6\n7\n8\n9\n10\n"),
        },
        Row {
            worker: |d| put(&d.join("n"), "run\n"),
            user: |d| put(&d.join("n"), "mine\n"),
            path: "n",
            kind: BothAdded,
            merged: None,
            mine: Some("mine\n"),
            run: Some("run\n"),
        },
        Row {
            worker: |d| put(&d.join("bin"), "a\0run"),
            user: |d| put(&d.join("bin"), "a\0mine"),
            path: "bin",
            kind: Binary,
            merged: None,
            mine: Some("a\0mine"),
            run: Some("a\0run"),
        },
        Row {
            worker: |d| text(&d.join("f"), "5\n", "run\n"),
            user: |d| fs::remove_file(d.join("f")).unwrap(),
            path: "f",
            kind: DeletedHere,
            merged: None,
            mine: None,
            run: Some("1\n2\n3\n4\nrun\n6\n7\n8\n9\n10\n"),
        },
        Row {
            worker: |d| fs::remove_file(d.join("d/x")).unwrap(),
            user: |d| put(&d.join("d/x"), "mine\n"),
            path: "d/x",
            kind: DeletedByRun,
            merged: None,
            mine: Some("mine\n"),
            run: None,
        },
        Row {
            worker: |d| {
                fs::remove_file(d.join("f")).unwrap();
                symlink("other", d.join("f")).unwrap();
            },
            user: |d| text(&d.join("f"), "5\n", "mine\n"),
            path: "f",
            kind: Form,
            merged: None,
            mine: Some("1\n2\n3\n4\nmine\n6\n7\n8\n9\n10\n"),
            run: Some("other"),
        },
        // One side marks it executable, the other changes its text: both can be had.
        Row {
            worker: |d| executable(&d.join("f")),
            user: |d| text(&d.join("f"), "5\n", "mine\n"),
            path: "f",
            kind: BothChanged,
            merged: Some("1\n2\n3\n4\nmine\n6\n7\n8\n9\n10\n"),
            mine: Some("1\n2\n3\n4\nmine\n6\n7\n8\n9\n10\n"),
            run: Some(TEN),
        },
        // The same new text, one of them executable: only a person can say.
        Row {
            worker: |d| {
                put(&d.join("n"), "same\n");
                executable(&d.join("n"));
            },
            user: |d| put(&d.join("n"), "same\n"),
            path: "n",
            kind: Form,
            merged: None,
            mine: Some("same\n"),
            run: Some("same\n"),
        },
    ];
    for (at, row) in rows.iter().enumerate() {
        let (desk, workspace, tree) = both(row.worker, row.user).await;
        let before = desk.files();
        let seen = conflicts(&workspace, &tree).await;
        assert!(desk.files() == before, "row {at}: nothing is written before somebody decides");
        let file = only(&seen);
        assert_eq!((file.path.as_str(), file.kind), (row.path, row.kind), "row {at}");
        assert_eq!((seen.mergeable, file.merges), (row.merged.is_some(), row.merged.is_some()), "row {at}");
        assert!(seen.replaceable, "row {at}");
        let ways = [(Way::Mine, row.mine), (Way::Run, row.run), (Way::Merge, row.merged)];
        for (way, expected) in ways.into_iter().filter(|(way, _)| *way != Way::Merge || seen.mergeable) {
            let after = there_and_back(&desk, &workspace, &tree, &seen, way).await;
            let held = after.get(row.path).map(|(_, bytes)| String::from_utf8(bytes.clone()).unwrap());
            assert_eq!(held.as_deref(), expected, "row {at}, {way:?}");
        }
    }
}

#[tokio::test]
async fn a_merge_takes_both_the_mode_and_the_text() {
    let (desk, workspace, tree) =
        both(|d| executable(&d.join("f")), |d| text(&d.join("f"), "5\n", "mine\n")).await;
    let seen = conflicts(&workspace, &tree).await;
    let after = landed(&workspace, &tree, Way::Merge, &seen).await;
    assert_eq!((after.merged, after.kept), (vec!["f".to_owned()], Vec::new()));
    assert_ne!(desk.files()["f"].0, 0, "it is executable");
    assert!(desk.read("f").contains("mine"));
}

#[tokio::test]
async fn the_places_that_do_not_go_together_are_shown_and_no_others() {
    let (_desk, workspace, tree) =
        both(|d| text(&d.join("f"), "5\n", "run\n"), |d| text(&d.join("f"), "5\n", "mine\n")).await;
    let seen = conflicts(&workspace, &tree).await;
    assert_eq!(
        only(&seen).shown,
        "3\n4\n<<<<<<< yours\nmine\n||||||| when the run began\n5\n=======\nrun\n>>>>>>> the run's"
    );
}

#[tokio::test]
async fn the_same_change_on_both_sides_is_no_conflict() {
    let same: Act = |d| text(&d.join("f"), "5\n", "both\n");
    let (desk, workspace, tree) = both(same, same).await;
    assert!(matches!(workspace.land(&tree, None).await.unwrap(), Landing::Landed(_)));
    assert_eq!(desk.read("other"), "brought\n");
}

#[tokio::test]
async fn a_checkout_that_changed_after_the_question_is_asked_about_again_and_nothing_is_written() {
    let (desk, workspace, tree) =
        both(|d| text(&d.join("f"), "5\n", "run\n"), |d| text(&d.join("f"), "5\n", "mine\n")).await;
    let seen = conflicts(&workspace, &tree).await;
    for path in ["f", "other"] {
        desk.write(path, "changed again\n");
        let before = desk.files();
        for way in [Way::Run, Way::Mine] {
            // Keeping one's own version of `f` writes nothing there, so its bytes may change.
            if (path, way) == ("f", Way::Mine) {
                continue;
            }
            let resolution = Resolution { way, seen: seen.seen };
            let again = match workspace.land(&tree, Some(&resolution)).await.unwrap() {
                Landing::Conflicts(again) => again,
                Landing::Landed(landed) => panic!("{path}, {way:?}: {landed:?}"),
            };
            assert_ne!(again.seen, seen.seen, "{path}: another question");
            assert!(desk.files() == before, "{path}, {way:?}: a guard that looks away would have written");
        }
    }
}

#[tokio::test]
async fn a_decision_cut_off_half_way_is_finished_or_taken_back_before_the_next_question() {
    let (desk, workspace, tree) = both(
        |d| {
            text(&d.join("f"), "5\n", "run\n");
            put(&d.join("d/x"), "run\n");
        },
        |d| {
            text(&d.join("f"), "5\n", "mine\n");
            put(&d.join("d/x"), "mine\n");
        },
    )
    .await;
    let before = desk.files();
    let seen = conflicts(&workspace, &tree).await;
    landed(&workspace, &tree, Way::Run, &seen).await;
    // As if it had been killed with only `d/x` written.
    put(&desk.path("f"), std::str::from_utf8(&before["f"].1).unwrap());
    put(&desk.path("other"), "o\n");
    landed(&workspace, &tree, Way::Run, &seen).await;
    assert_eq!((desk.read("d/x"), desk.read("other")), ("run\n".into(), "brought\n".into()));
    // The same, and then the user goes on working: what was half done goes back, and they are asked.
    put(&desk.path("f"), "mine anew\n");
    put(&desk.path("other"), "o\n");
    let resolution = Resolution { way: Way::Run, seen: seen.seen };
    let again = workspace.land(&tree, Some(&resolution)).await.unwrap();
    assert!(matches!(&again, Landing::Conflicts(c) if c.files.len() == 2), "{again:?}");
    assert_eq!((desk.read("d/x"), desk.read("f")), ("mine\n".into(), "mine anew\n".into()));
}

#[tokio::test]
async fn undoing_a_decision_refuses_what_changed_since_with_a_list() {
    let (desk, workspace, tree) =
        both(|d| text(&d.join("f"), "5\n", "run\n"), |d| text(&d.join("f"), "5\n", "mine\n")).await;
    let seen = conflicts(&workspace, &tree).await;
    landed(&workspace, &tree, Way::Run, &seen).await;
    desk.write("f", "later\n");
    let before = desk.files();
    let resolution = Resolution { way: Way::Run, seen: seen.seen };
    match workspace.take_back(&tree, Some(&resolution)).await {
        Err(WorkspaceError::Conflict { paths }) => assert_eq!(paths, ["f"]),
        other => panic!("{other:?}"),
    }
    assert!(desk.files() == before);
}

#[tokio::test]
async fn a_file_where_the_run_has_a_folder_stays_and_so_does_all_that_depends_on_it() {
    // The run makes a folder of the file; the user changed the file.
    let (desk, workspace, tree) = both(
        |d| {
            fs::remove_file(d.join("f")).unwrap();
            put(&d.join("f/inside"), "run\n");
        },
        |d| text(&d.join("f"), "5\n", "mine\n"),
    )
    .await;
    let seen = conflicts(&workspace, &tree).await;
    let named: Vec<&str> = seen.files.iter().map(|f| f.path.as_str()).collect();
    assert_eq!(named, ["f", "f/inside"]);
    let after = there_and_back(&desk, &workspace, &tree, &seen, Way::Mine).await;
    assert!(after.contains_key("f") && !after.contains_key("f/inside"));
    let after = there_and_back(&desk, &workspace, &tree, &seen, Way::Run).await;
    assert_eq!(after["f/inside"].1, b"run\n");
    // The run makes a file of the folder; the user put something of their own into it.
    let (desk, workspace, tree) = both(
        |d| {
            fs::remove_dir_all(d.join("d")).unwrap();
            put(&d.join("d"), "run\n");
        },
        |d| put(&d.join("d/mine"), "mine\n"),
    )
    .await;
    let seen = conflicts(&workspace, &tree).await;
    assert!(!seen.replaceable && !seen.mergeable, "there is no way but to keep it: {seen:?}");
    let refused = workspace.land(&tree, Some(&Resolution { way: Way::Run, seen: seen.seen })).await.unwrap();
    assert!(matches!(refused, Landing::Conflicts(_)), "a way that was not offered is not gone");
    let after = there_and_back(&desk, &workspace, &tree, &seen, Way::Mine).await;
    assert_eq!((&after["d/mine"].1[..], &after["d/x"].1[..]), (&b"mine\n"[..], &b"x\n"[..]));
}

#[tokio::test]
async fn no_setting_or_attribute_of_the_user_or_the_tree_has_a_say_in_a_merge() {
    let worker: Act = |d| {
        put(&d.join(".gitattributes"), "* merge=ours\nf merge=union -diff binary\n");
        text(&d.join("f"), "5\n", "run\n");
    };
    let (desk, workspace, tree) = both(worker, |d| text(&d.join("f"), "5\n", "mine\n")).await;
    desk.git(&["config", "merge.conflictStyle", "merge"]);
    desk.git(&["config", "merge.ours.driver", "touch evil"]);
    let seen = conflicts(&workspace, &tree).await;
    assert!(!seen.mergeable && only(&seen).shown.contains("|||||||"), "{seen:?}");
    assert!(!desk.path("evil").exists());
}

#[tokio::test]
async fn very_many_files_in_conflict_are_counted_and_not_all_listed() {
    let all: Act = |d| (0..120).for_each(|n| put(&d.join(format!("m/{n:03}")), "run\n"));
    let (desk, workspace, tree) =
        both(all, |d| (0..120).for_each(|n| put(&d.join(format!("m/{n:03}")), "mine\n"))).await;
    let seen = conflicts(&workspace, &tree).await;
    assert_eq!((seen.files.len(), seen.more, seen.count()), (50, 70, 120));
    there_and_back(&desk, &workspace, &tree, &seen, Way::Run).await;
}
