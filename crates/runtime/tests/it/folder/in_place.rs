//! The run's folder where it is the user's own project: looks, commands and readers see it, and none of them puts
//! anything back.

use std::fs;
use std::sync::Mutex;

use gadfly_engine::tree::{Accept, Acceptance, Look, Verify};
use gadfly_runtime::folder::FolderError;
use tokio_util::sync::CancellationToken;

use crate::folder::stage::{Stage, git};

const NOW: Look = Look { tree: None, paths: Vec::new() };

fn stage() -> Stage {
    Stage::with(|plan| {
        plan.in_place = true;
        plan.prepare = Some("touch set-up".into());
    })
}

fn read(stage: &Stage, path: &str) -> String {
    fs::read_to_string(stage.project().join(path)).unwrap()
}

#[tokio::test]
async fn nothing_that_is_done_in_the_project_puts_its_files_back() {
    let stage = stage();
    let (base, _) = stage.look().await;
    assert!(!stage.project().join("set-up").exists(), "there is no folder to set up");
    stage.write("a.txt", "two\n").await;
    let (worked, _) = stage.look().await;
    assert_eq!(worked.changes.len(), 1);
    drop(stage.folder.restored(&base.digest).await.unwrap());
    assert_eq!(read(&stage, "a.txt"), "two\n");
    let verify = Verify {
        command: "echo x >> b.txt".into(),
        tree: base.digest,
        runs: 2,
        timeout_ms: 20_000,
        held: None,
        fresh: false,
        evidence: Vec::new(),
    };
    let (verified, _) = stage.folder.verify(&verify, &CancellationToken::new()).await.unwrap();
    assert_eq!(verified.changed, ["b.txt"], "only what the command changed");
    assert_eq!((read(&stage, "a.txt"), read(&stage, "b.txt")), ("two\n".into(), "b\nx\nx\n".into()));
    let at = stage.dir.path().join("copy");
    fs::create_dir(&at).unwrap();
    stage.folder.lend(&worked.digest, &at).await.unwrap();
    assert_eq!(fs::read_to_string(at.join("b.txt")).unwrap(), "b\n", "a reader sees the state it was given");
    fs::write(stage.project().join("meddled.txt"), "x").unwrap();
    assert_eq!(stage.folder.readers_gone(&worked.digest).await.unwrap(), ["meddled.txt"]);
    assert_eq!(read(&stage, "meddled.txt"), "x");
    let accept =
        Accept { tree: worked.digest, how: Acceptance::Checkout, resolution: None, at: None, only: None };
    assert!(stage.folder.accept(&accept).await.is_err());
    stage.folder.tidy().await;
    assert_eq!((read(&stage, "a.txt"), read(&stage, "b.txt")), ("two\n".into(), "b\nx\nx\n".into()));
}

#[tokio::test]
async fn a_second_run_in_the_same_project_is_refused_until_the_first_is_gone() {
    let stage = stage();
    stage.look().await;
    let refused = stage.another().look(&NOW, &|_| {}).await.unwrap_err();
    assert!(matches!(refused, FolderError::Taken { .. }), "{refused}");
    assert!(refused.to_string().contains("another run works in"), "{refused}");
    let another = stage.another();
    drop(stage.folder);
    another.look(&NOW, &|_| {}).await.unwrap();
}

#[tokio::test]
async fn a_hook_that_was_planted_is_said_once() {
    let stage = stage();
    git(&stage.project(), &["init", "-q"]);
    let told = Mutex::new(Vec::new());
    let tell = |line: String| told.lock().unwrap().push(line);
    stage.folder.look(&NOW, &tell).await.unwrap();
    assert!(told.lock().unwrap().iter().any(|line| line.contains("gadfly undo")));
    told.lock().unwrap().clear();
    fs::create_dir_all(stage.project().join(".git/hooks")).unwrap();
    fs::write(stage.project().join(".git/hooks/pre-commit"), "#!/bin/sh\n").unwrap();
    for _ in 0..3 {
        stage.folder.look(&NOW, &tell).await.unwrap();
    }
    let told = told.into_inner().unwrap();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("warning") && told[0].contains(".git/hooks/pre-commit"), "{told:?}");
}

#[tokio::test]
async fn a_beginning_that_was_cut_off_is_made_again() {
    let stage = stage();
    stage.look().await;
    let ready = stage.dir.path().join("runs/one/tree-ready");
    fs::remove_file(&ready).unwrap();
    let another = stage.another();
    let project = stage.project();
    drop(stage.folder);
    fs::write(project.join("a.txt"), "later\n").unwrap();
    let (looked, _) = another.look(&NOW, &|_| {}).await.unwrap();
    assert!(looked.tree.unwrap().changes.is_empty(), "nobody had worked there yet");
    assert_eq!(fs::read_to_string(project.join("a.txt")).unwrap(), "later\n");
}

#[tokio::test]
async fn a_run_that_worked_never_begins_again_on_what_it_did() {
    let stage = stage();
    stage.look().await;
    stage.write("a.txt", "two\n").await;
    stage.look().await;
    // As `git clean` by the worker does it, if the store is in the project.
    fs::remove_file(stage.dir.path().join("runs/one/tree-ready")).unwrap();
    let here = stage.folder.look(&NOW, &|_| {}).await.unwrap_err();
    let another = stage.another();
    drop(stage.folder);
    let there = another.look(&NOW, &|_| {}).await.unwrap_err();
    for refused in [here, there] {
        assert!(matches!(refused, FolderError::Gone { .. }), "{refused}");
    }
}
