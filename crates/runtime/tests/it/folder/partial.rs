//! Acceptance of a part of what changed, and a commit of files that are in the checkout: exactly these, once.

use std::fs;

use gadfly_engine::artifact::ArtifactFile;
use gadfly_engine::conflict::{Resolution, Way};
use gadfly_engine::tree::{Accept, Acceptance, CommitFiles};
use gadfly_engine::{Digest, Reply};

use crate::folder::stage::{Stage, git};

fn only(tree: Digest, paths: &[&str]) -> Accept {
    let only = Some(paths.iter().map(|p| (*p).to_owned()).collect());
    Accept { tree, how: Acceptance::Checkout, resolution: None, at: None, only }
}

fn held(stage: &Stage, path: &str) -> Option<String> {
    fs::read_to_string(stage.project().join(path)).ok()
}

/// Without the narrowing, `new.txt` and the worker's `.gitignore` come along.
#[tokio::test]
async fn only_the_named_paths_come_into_the_checkout_and_again_is_once() {
    let stage = Stage::new();
    stage.look().await;
    for (path, text) in [("a.txt", "two\n"), ("new.txt", "new\n"), (".gitignore", "everything\n")] {
        stage.write(path, text).await;
    }
    fs::remove_file(stage.folder.enter().await.unwrap().workspace.dir().join("b.txt")).unwrap();
    let (judged, _) = stage.look().await;
    // A file nobody touched is named, too: nothing is done about it.
    let accept = only(judged.digest, &["a.txt", "b.txt", "nobody.txt"]);
    for n in 0..2 {
        let reply = stage.another().accept(&accept).await.unwrap();
        let Reply::Accepted { paths, .. } = reply else { panic!("{reply:?}") };
        assert_eq!(paths, ["a.txt", "b.txt"]);
        assert_eq!((held(&stage, "a.txt").as_deref(), held(&stage, "b.txt")), (Some("two\n"), None));
        assert_eq!((held(&stage, ".gitignore").as_deref(), held(&stage, "new.txt")), (Some("cache\n"), None));
        if n == 0 {
            // What a run that was accepted does not need any more is gone when it is asked again.
            stage.folder.tidy().await;
        }
    }
    // The rest may follow, from the same tree.
    let reply = stage.another().accept(&only(judged.digest, &["new.txt"])).await.unwrap();
    assert!(matches!(&reply, Reply::Accepted { paths, .. } if paths == &["new.txt"]), "{reply:?}");
}

#[tokio::test]
async fn what_stays_out_is_no_conflict_and_what_is_named_is_a_persons_to_decide() {
    let stage = Stage::new();
    stage.look().await;
    stage.write("a.txt", "two\n").await;
    stage.write("b.txt", "bb\n").await;
    let (judged, _) = stage.look().await;
    fs::write(stage.project().join("b.txt"), "the user's own").unwrap();
    let reply = stage.folder.accept(&only(judged.digest, &["a.txt"])).await.unwrap();
    assert!(matches!(reply, Reply::Accepted { .. }), "{reply:?}");
    let accept = only(judged.digest, &["b.txt"]);
    let reply = stage.folder.accept(&accept).await.unwrap();
    let Reply::Conflicts(conflicts) = reply else { panic!("{reply:?}") };
    assert_eq!((conflicts.files.len(), conflicts.files[0].path.as_str()), (1, "b.txt"));
    let resolution = Some(Resolution { way: Way::Run, seen: conflicts.seen });
    for _ in 0..2 {
        let accept = Accept { resolution: resolution.clone(), ..accept.clone() };
        let reply = stage.another().accept(&accept).await.unwrap();
        assert!(matches!(&reply, Reply::Accepted { paths, .. } if paths == &["b.txt"]), "{reply:?}");
        assert_eq!(held(&stage, "b.txt").as_deref(), Some("bb\n"));
    }
}

#[tokio::test]
async fn a_file_does_not_take_a_folder_with_it_that_nobody_named() {
    let stage = Stage::with(|plan| {
        fs::create_dir(std::path::Path::new(&plan.project).join("d")).unwrap();
        fs::write(std::path::Path::new(&plan.project).join("d/x"), "x").unwrap();
    });
    stage.look().await;
    let dir = stage.folder.enter().await.unwrap().workspace.dir();
    fs::remove_dir_all(dir.join("d")).unwrap();
    fs::write(dir.join("d"), "a file").unwrap();
    let (judged, _) = stage.look().await;
    let refused = stage.folder.accept(&only(judged.digest, &["d"])).await.unwrap_err();
    assert!(refused.to_string().contains("`d/x`"), "{refused}");
    assert_eq!(held(&stage, "d/x").as_deref(), Some("x"));
    let reply = stage.folder.accept(&only(judged.digest, &["d", "d/x"])).await.unwrap();
    assert!(matches!(reply, Reply::Accepted { .. }), "{reply:?}");
    assert_eq!(held(&stage, "d").as_deref(), Some("a file"));
}

fn entry(path: &str, text: &str) -> ArtifactFile {
    ArtifactFile { path: path.into(), mode: 0o644, blob: Digest::of(text.as_bytes()) }
}

fn repository() -> Stage {
    let stage = Stage::new();
    let project = stage.project();
    git(&project, &["init", "-q", "-b", "main"]);
    fs::write(project.join(".gitattributes"), "*.dos text eol=crlf\n").unwrap();
    git(&project, &["add", "."]);
    git(&project, &["-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"]);
    stage
}

#[tokio::test]
async fn a_commit_holds_head_and_exactly_the_named_files_and_is_made_once() {
    let stage = repository();
    let project = stage.project();
    fs::create_dir(project.join("new")).unwrap();
    for (path, text) in
        [("a.txt", "two\n"), ("b.txt", "not wanted\n"), ("new/n.dos", "1\r\n"), ("cache", "c")]
    {
        fs::write(project.join(path), text).unwrap();
    }
    let before = git(&project, &["status", "--porcelain"]);
    let files = vec![entry("a.txt", "two\n"), entry("new/n.dos", "1\r\n"), entry("cache", "c")];
    let wanted =
        CommitFiles { files, deleted: Vec::new(), branch: None, message: "Pipeline\n\nscore 91".into() };
    let first = stage.folder.commit_files(&wanted).await.unwrap();
    let Reply::Accepted { paths, commit: Some(commit), .. } = &first else { panic!("{first:?}") };
    assert_eq!(paths, &["a.txt", "new/n.dos", "cache"]);
    assert_eq!(commit.branch, format!("gadfly/{}", stage.run()));
    let at = |path: &str| git(&project, &["show", &format!("{}:{path}", commit.id)]);
    assert_eq!((at("a.txt"), at("b.txt")), ("two".into(), "b".into()));
    let names = git(&project, &["ls-tree", "-r", "--name-only", &commit.id]);
    assert!(!names.lines().any(|name| name == "cache"), "what git ignores is in no commit: {names}");
    let size = git(&project, &["cat-file", "-s", &format!("{}:new/n.dos", commit.id)]);
    assert_eq!(size, "2", "line ends are kept as `git add` keeps them");
    assert_eq!(git(&project, &["status", "--porcelain"]), before, "checkout and index stay");
    assert_eq!(git(&project, &["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(
        git(&project, &["rev-parse", &format!("{}^", commit.id)]),
        git(&project, &["rev-parse", "main"])
    );
    // The reply was lost, and meanwhile the user went on: it is the same commit.
    fs::write(project.join("a.txt"), "three\n").unwrap();
    git(&project, &["-c", "user.name=A", "-c", "user.email=a@x", "commit", "-qam", "mine"]);
    assert_eq!(stage.another().commit_files(&wanted).await.unwrap(), first);
    // Sabotage: a branch of that name which this run did not make is not taken for its own.
    git(&project, &["branch", "-f", &commit.branch, "main"]);
    let taken = stage.another().commit_files(&wanted).await.unwrap_err();
    assert!(taken.to_string().contains("there is a branch"), "{taken}");
}

/// Without the comparison of digests, what the user wrote since is committed as if somebody had judged it.
#[tokio::test]
async fn a_file_that_is_not_what_was_judged_is_not_committed() {
    let stage = repository();
    let project = stage.project();
    fs::write(project.join("a.txt"), "edited since\n").unwrap();
    std::os::unix::fs::symlink("b.txt", project.join("link.txt")).unwrap();
    let files =
        vec![entry("a.txt", "two\n"), entry("b.txt", "b\n"), entry("link.txt", "b\n"), entry("no.txt", "")];
    let wanted =
        CommitFiles { files, deleted: Vec::new(), branch: Some("result".into()), message: "m".into() };
    let refused = stage.folder.commit_files(&wanted).await.unwrap_err();
    let reply = refused.reply();
    let Reply::Conflict { message } = &reply else { panic!("{reply:?}") };
    for named in ["`a.txt`", "`link.txt`", "`no.txt`"] {
        assert!(message.contains(named), "{message}");
    }
    assert!(!message.contains("`b.txt`"), "{message}");
    assert_eq!(git(&project, &["branch", "--list", "result"]), "");
    let outside = CommitFiles { files: vec![entry("../x", "")], ..wanted };
    assert!(stage.folder.commit_files(&outside).await.is_err());
}
