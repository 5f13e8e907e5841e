//! Acceptance: exactly what was judged comes to the user, or nothing; twice is once.

use std::fs;

use gadfly_engine::Reply;
use gadfly_engine::tree::{Accept, Acceptance};

use crate::stage::{Stage, git};

#[tokio::test]
async fn the_judged_state_comes_into_the_checkout_and_again_is_once() {
    let stage = Stage::new();
    stage.look().await;
    stage.write("a.txt", "two\n").await;
    let (judged, _) = stage.look().await;
    // What the worker's folder holds by now is not what was judged.
    stage.write("a.txt", "three\n").await;
    let accept = Accept { tree: judged.digest, how: Acceptance::Checkout };
    for _ in 0..2 {
        let reply = stage.another().accept(&accept).await.unwrap();
        assert_eq!(reply, Reply::Accepted { paths: vec!["a.txt".into()], commit: None });
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
    let accept = Accept { tree: judged.digest, how: Acceptance::Checkout };
    let reply = stage.folder.accept(&accept).await.unwrap_err().reply();
    let Reply::Conflict { message } = reply else { panic!("{reply:?}") };
    assert!(message.contains("`a.txt`"), "{message}");
    assert_eq!(fs::read_to_string(stage.project().join("a.txt")).unwrap(), "the user's own edit");
    assert_eq!(fs::read_to_string(stage.project().join("b.txt")).unwrap(), "b\n", "all or nothing");
    // Another file that goes away meanwhile was not put aside because we asked for it.
    let (mine, b) = (stage.project().join("mine.txt"), stage.project().join("b.txt"));
    fs::rename(stage.project().join("a.txt"), &mine).unwrap();
    fs::remove_file(&b).unwrap();
    let reply = stage.another().accept(&accept).await.unwrap_err().reply();
    let Reply::Conflict { message } = reply else { panic!("{reply:?}") };
    assert!(message.contains("`b.txt`") && !message.contains("`a.txt`"), "{message}");
    fs::write(&b, "b\n").unwrap();
    let reply = stage.another().accept(&accept).await.unwrap();
    assert!(matches!(reply, Reply::Accepted { .. }), "put aside, as the message says: {reply:?}");
    assert_eq!(fs::read_to_string(stage.project().join("a.txt")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(mine).unwrap(), "the user's own edit");
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
    let accept = Accept { tree: judged.digest, how };
    let first = stage.folder.accept(&accept).await.unwrap();
    let Reply::Accepted { commit: Some(commit), paths } = &first else { panic!("{first:?}") };
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
    let taken = stage.another().accept(&Accept { tree: judged.digest, how }).await.unwrap_err();
    assert!(taken.to_string().contains("there is a branch `mine` already"), "{taken}");
}
