//! Whoever may only read: every change is found and named, and nothing of it lasts.

use std::fs;
use std::sync::Arc;

use gadfly_engine::Digest;
use gadfly_runtime::call_site::{CallSite, SiteReport};

use crate::folder::stage::{Stage, git, sh};

async fn left(stage: &Stage, tree: Digest, script: &str, report: Option<&str>) -> Result<SiteReport, String> {
    let at = stage.dir.path().join("runs/one/work/run-3");
    let of = Some((Arc::clone(&stage.folder), tree));
    let place = CallSite::Reader {
        at: at.clone(),
        of,
        files: None,
        beside: Vec::new(),
        report: report.map(ToOwned::to_owned),
    };
    let entered = place.enter(None).await.unwrap();
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "one\n", "it sees the tree");
    sh(script, &at).await;
    let left = entered.leave().await;
    assert!(!at.exists(), "the copy is thrown away");
    left
}

#[tokio::test]
async fn a_reader_that_writes_is_found_out_whatever_way_it_takes() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let worker = stage.folder.enter().await.unwrap().workspace.dir();
    let in_worker = |path: &str| worker.join(path).display().to_string();
    let elsewhere = "a.txt (in the worker's folder)".to_owned();
    let table: Vec<(&str, String, Vec<String>)> = vec![
        ("directly", "echo x >> a.txt".into(), vec!["a.txt".into()]),
        ("a new file", "echo x > new".into(), vec!["new".into()]),
        ("through a child", "sh -c 'sh -c \"echo x > b.txt\"'".into(), vec!["b.txt".into()]),
        ("by deleting", "rm a.txt b.txt".into(), vec!["a.txt".into(), "b.txt".into()]),
        ("by a link in a file's place", "rm a.txt; ln -s /etc/hostname a.txt".into(), vec!["a.txt".into()]),
        ("by a link in the scratch folder's place", "rmdir scratch; ln -s . scratch".into(), vec!["scratch".into()]),
        ("by permissions", "chmod 700 a.txt".into(), vec!["a.txt".into()]),
        ("with the same size", "printf 'two\\n' > a.txt".into(), vec!["a.txt".into()]),
        (
            "in the background",
            "setsid sh -c 'echo x > late; sleep 30; echo y > later' & while [ ! -e late ]; do sleep 0.02; done".into(),
            vec!["late".into()],
        ),
        ("in the worker's folder", format!("echo x >> {}", in_worker("a.txt")), vec![elsewhere.clone()]),
        (
            "in the worker's folder through a link",
            format!("ln -s {} scratch/w; echo x >> scratch/w/a.txt", worker.display()),
            vec![elsewhere],
        ),
    ];
    for (how, script, violations) in table {
        let left = left(&stage, base.digest, &script, None).await.unwrap();
        assert_eq!(left.violations, violations, "{how}");
        assert_eq!(
            stage.read("a.txt").await.as_deref(),
            Some("one\n"),
            "{how}: the worker's folder is as it was"
        );
        assert_eq!(stage.look().await.0.digest, base.digest, "{how}");
    }
    // Sabotage: nothing but the comparison finds this; without it a reader that wrote would pass as clean.
    let clean =
        left(&stage, base.digest, "cat a.txt; echo x > scratch/notes; mkdir scratch/d", None).await.unwrap();
    assert_eq!(clean.violations, Vec::<String>::new(), "its own folder is its own");
}

#[tokio::test]
async fn a_reader_that_changes_the_workers_repository_is_found_out_and_the_worker_runs_no_hook_of_it() {
    let stage = Stage::new();
    git(&stage.project(), &["init", "-q", "-b", "main"]);
    git(&stage.project(), &["add", "."]);
    git(
        &stage.project(),
        &["-c", "user.name=Ann", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first"],
    );
    let (base, _) = stage.look().await;
    let worker = stage.folder.enter().await.unwrap().workspace.dir();
    let own = worker.join(".git");
    let config = fs::read_to_string(own.join("config")).unwrap();
    let table = [
        ("a hook", "mkdir -p hooks; echo 'touch hooked' > hooks/pre-commit; chmod +x hooks/pre-commit"),
        ("a setting", "git config core.fsmonitor 'touch hooked'"),
        ("another branch", "git symbolic-ref HEAD refs/heads/other"),
        ("a link in its place", "cd ..; mv .git old; ln -s old .git"),
        ("nothing left", "cd ..; rm -rf .git"),
        ("a mode", "chmod 755 config"),
    ];
    for (what, script) in table {
        let script = format!("cd '{}' && {script}", own.display());
        let left = left(&stage, base.digest, &script, None).await.unwrap();
        let named = left.violations.contains(&".git (in the worker's folder)".to_owned());
        assert!(named, "{what}: {:?}", left.violations);
        assert!(!own.join("hooks/pre-commit").exists(), "{what}");
        assert_eq!(fs::read_to_string(own.join("config")).unwrap(), config, "{what}");
        assert!(git(&worker, &["status", "--short"]).is_empty(), "{what}");
        assert!(!worker.join("hooked").exists(), "{what}");
    }
    // Git that only looks changes nothing, and so does the worker's own use of it before.
    let looked = format!("cd '{}' && GIT_OPTIONAL_LOCKS=0 git status && git log", worker.display());
    assert!(left(&stage, base.digest, &looked, None).await.unwrap().violations.is_empty());
}

#[tokio::test]
async fn many_changes_are_named_up_to_a_bound() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let left = left(&stage, base.digest, "for i in $(seq 100); do echo > f$i; done", None).await.unwrap();
    assert_eq!(left.violations.len(), 51);
    assert_eq!(left.violations.last().unwrap(), "and 50 more");
}

#[tokio::test]
async fn the_report_is_read_from_the_scratch_folder_and_a_huge_one_is_refused() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let written = left(&stage, base.digest, "echo '{}' > scratch/r.json", Some("r.json")).await.unwrap();
    assert_eq!(written.report.unwrap().as_str(), "{}\n");
    let none = left(&stage, base.digest, "true", Some("r.json")).await.unwrap();
    assert!(none.report.is_none());
    let huge = left(&stage, base.digest, "head -c 50000000 /dev/zero > scratch/r.json", Some("r.json")).await;
    let said = huge.unwrap_err();
    assert!(said.contains("more than the 8388608 bytes"), "{said}");
    let link = left(&stage, base.digest, "ln -s ../a.txt scratch/r.json", Some("r.json")).await;
    assert!(link.unwrap_err().contains("is a link"));
}

#[tokio::test]
async fn two_readers_at_once_are_both_told_of_a_change_to_the_folder_itself() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let place = |name: &str| CallSite::Reader {
        at: stage.dir.path().join("runs/one/work").join(name),
        of: Some((Arc::clone(&stage.folder), base.digest)),
        files: None,
        beside: Vec::new(),
        report: None,
    };
    let first = place("run-1").enter(None).await.unwrap();
    stage.write("a.txt", "meddled").await;
    // The second begins while the first is at work: what is put back for it must not hide anything.
    let second = place("run-2").enter(None).await.unwrap();
    assert_eq!(stage.read("a.txt").await.as_deref(), Some("one\n"));
    for reader in [first, second] {
        assert_eq!(reader.leave().await.unwrap().violations, ["a.txt (in the worker's folder)"]);
    }
    let later = place("run-3").enter(None).await.unwrap();
    assert!(later.leave().await.unwrap().violations.is_empty(), "the next is not blamed for it");
}
