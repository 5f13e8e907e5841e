//! Acceptance: exactly what was judged comes to the user, or nothing; twice is once.

use std::fs;

use gadfly_engine::Reply;
use gadfly_engine::conflict::{Resolution, Way};
use gadfly_engine::tree::{Accept, Acceptance};

use crate::folder::stage::{Stage, git};

#[tokio::test]
async fn the_judged_state_comes_into_the_checkout_and_again_is_once() {
    let stage = Stage::new();
    stage.look().await;
    stage.write("a.txt", "two\n").await;
    let (judged, _) = stage.look().await;
    // What the worker's folder holds by now is not what was judged.
    stage.write("a.txt", "three\n").await;
    let accept =
        Accept { tree: judged.digest, how: Acceptance::Checkout, resolution: None, at: None, only: None };
    for _ in 0..2 {
        let reply = stage.another().accept(&accept).await.unwrap();
        let Reply::Accepted { paths, commit: None, merged, kept } = reply else { panic!("{reply:?}") };
        assert_eq!((paths, merged, kept), (vec!["a.txt".to_owned()], Vec::new(), Vec::new()));
        assert_eq!(fs::read_to_string(stage.project().join("a.txt")).unwrap(), "two\n");
    }
}

#[tokio::test]
async fn a_checkout_that_was_edited_meanwhile_is_left_alone() {
    let stage = Stage::new();
    stage.look().await;
    stage.write("a.txt", "two\n").await;
    stage.write("b.txt", "bb\n").await;
    let (judged, _) = stage.look().await;
    fs::write(stage.project().join("a.txt"), "the user's own edit").unwrap();
    let accept =
        Accept { tree: judged.digest, how: Acceptance::Checkout, resolution: None, at: None, only: None };
    let reply = stage.folder.accept(&accept).await.unwrap();
    let Reply::Conflicts(conflicts) = reply else { panic!("{reply:?}") };
    assert_eq!((conflicts.files.len(), conflicts.files[0].path.as_str()), (1, "a.txt"));
    let held = |name: &str| fs::read_to_string(stage.project().join(name)).unwrap();
    assert_eq!(held("a.txt"), "the user's own edit");
    assert_eq!(held("b.txt"), "b\n", "all or nothing");
    // Another process carries the decision out, twice, and it is done once.
    let resolution = Some(Resolution { way: Way::Mine, seen: conflicts.seen });
    let accept = Accept { resolution, ..accept };
    for _ in 0..2 {
        let reply = stage.another().accept(&accept).await.unwrap();
        let Reply::Accepted { paths, kept, .. } = reply else { panic!("{reply:?}") };
        assert_eq!((paths, kept), (vec!["b.txt".to_owned()], vec!["a.txt".to_owned()]));
        assert_eq!((held("a.txt").as_str(), held("b.txt").as_str()), ("the user's own edit", "bb\n"));
    }
}

#[tokio::test]
async fn a_commit_on_a_branch_is_made_once_even_if_the_reply_was_lost() {
    let stage = Stage::new();
    let project = stage.project();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"]);
    stage.look().await;
    stage.write("a.txt", "two\n").await;
    let (judged, _) = stage.look().await;
    let how = Acceptance::Commit { branch: None, message: "Second".into() };
    let accept = Accept { tree: judged.digest, how, resolution: None, at: None, only: None };
    let first = stage.folder.accept(&accept).await.unwrap();
    let Reply::Accepted { commit: Some(commit), paths, .. } = &first else { panic!("{first:?}") };
    assert_eq!(
        (commit.branch.clone(), paths.as_slice()),
        (format!("gadfly/{}", stage.run()), &["a.txt".to_owned()][..])
    );
    assert_eq!(git(&project, &["show", &format!("{}:a.txt", commit.branch)]), "two");
    assert_eq!(git(&project, &["status", "--porcelain"]), "", "the checkout and its index stay as they are");
    assert_eq!(git(&project, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    // The process died before anybody heard of it.
    let again = stage.another().accept(&accept).await.unwrap();
    assert_eq!(again, first);
    // Sabotage: a branch of that name which this run did not make is not taken for its own.
    git(&project, &["branch", "mine", "main"]);
    let how = Acceptance::Commit { branch: Some("mine".into()), message: "Second".into() };
    let taken = stage
        .another()
        .accept(&Accept { tree: judged.digest, how, resolution: None, at: None, only: None })
        .await
        .unwrap_err();
    assert!(taken.to_string().contains("there is a branch `mine` already"), "{taken}");
}
