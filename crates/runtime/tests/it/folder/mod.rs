//! The run's folder and the places calls are made in, with real processes: what a reader changes is found,
//! commands end in time and leave nothing, and the user's checkout is never written over.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests may fail loudly

mod accepting;
mod driven;
mod in_place;
mod partial;
mod pipelined;
mod reading;
mod stage;
mod undoing;
mod verifying;

use std::fs;

use gadfly_engine::tree::ChangeKind::{Added, Deleted, Modified};
use gadfly_engine::tree::{FileContent, Look};
use stage::Stage;

#[tokio::test]
async fn the_first_look_makes_the_folder_and_a_later_one_says_what_changed() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    assert!(base.changes.is_empty());
    let inside = stage.folder.restored(&base.digest).await.unwrap();
    let dir = inside.workspace.dir();
    drop(inside);
    fs::write(dir.join("a.txt"), "two\n").unwrap();
    fs::write(dir.join("new.txt"), "new\n").unwrap();
    fs::write(dir.join("blob.bin"), [0xff, 0x00, 0xfe]).unwrap();
    fs::write(dir.join("huge.txt"), "x\n".repeat(2 << 20)).unwrap();
    fs::remove_file(dir.join("b.txt")).unwrap();
    let (tree, texts) = stage.look().await;
    let shown: Vec<_> = tree.changes.iter().map(|c| (c.path.as_str(), c.kind, c.binary)).collect();
    let expected = [
        ("a.txt", Modified, false),
        ("b.txt", Deleted, false),
        ("blob.bin", Added, true),
        // Text, but more of it than a reader is shown: known by its digest only.
        ("huge.txt", Added, true),
        ("new.txt", Added, false),
    ];
    assert_eq!(shown, expected);
    // Every text the reply names comes with it, and nothing of what is only known by digest.
    for digest in [Some(tree.digest), Some(tree.diff), tree.changes[0].after, tree.changes[4].after] {
        assert!(texts.iter().any(|t| Some(t.digest()) == digest), "{digest:?}");
    }
    assert!(texts.iter().all(|t| Some(t.digest()) != tree.changes[3].after));
    assert_eq!(
        fs::read_to_string(stage.project().join("a.txt")).unwrap(),
        "one\n",
        "the checkout is untouched"
    );
}

#[tokio::test]
async fn an_earlier_state_is_found_by_another_process_and_its_files_can_be_read() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    stage.write("a.txt", "two\n").await;
    let (edited, _) = stage.look().await;
    let later = stage.another();
    drop(later.restored(&base.digest).await.unwrap());
    let paths = ["a.txt", "none.txt"].map(str::to_owned).to_vec();
    let look = Look { tree: Some(edited.digest), paths };
    let (looked, texts) = later.look(&look, &|_| {}).await.unwrap();
    assert!(looked.tree.is_none());
    let FileContent::Text(digest) = looked.files[0].what else { panic!("{looked:?}") };
    assert_eq!(texts[0].as_str(), "two\n");
    assert_eq!((texts[0].digest(), looked.files[1].what), (digest, FileContent::Missing));
    let inside = later.restored(&edited.digest).await.unwrap();
    assert_eq!(fs::read_to_string(inside.workspace.dir().join("a.txt")).unwrap(), "two\n");
}

#[tokio::test]
async fn setup_runs_once_in_the_folder_and_its_failure_says_what_it_printed() {
    let stage = Stage::with(|plan| plan.prepare = Some("echo ran >> a.txt; mkdir -p cache".into()));
    let (base, _) = stage.look().await;
    assert!(base.changes.is_empty(), "what setup changes in the project's files is not the worker's work");
    assert_eq!(fs::read_to_string(stage.project().join("a.txt")).unwrap(), "one\n");
    let stage = Stage::with(|plan| plan.prepare = Some("echo no such package; exit 4".into()));
    let failed = stage.folder.look(&Look { tree: None, paths: Vec::new() }, &|_| {}).await.unwrap_err();
    let said = failed.to_string();
    assert!(said.contains("exit code 4") && said.contains("no such package"), "{said}");
}
