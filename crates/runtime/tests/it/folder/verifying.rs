//! Commands in the folder: how they end is recorded, they end in time, and nothing of them stays.

use std::time::{Duration, Instant};

use gadfly_engine::tree::{RunEnd, Verified, Verify};
use gadfly_engine::{Digest, Text};
use tokio_util::sync::CancellationToken;

use crate::folder::stage::Stage;

async fn verify(
    stage: &Stage,
    tree: Digest,
    command: &str,
    runs: u32,
    timeout_ms: u64,
) -> (Verified, Vec<Text>) {
    let verify = Verify {
        command: command.to_owned(),
        tree,
        runs,
        timeout_ms,
        held: None,
        fresh: false,
        evidence: Vec::new(),
    };
    stage.folder.verify(&verify, &CancellationToken::new()).await.unwrap()
}

/// Processes whose command line holds this.
fn alive(mark: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|e| std::fs::read(e.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(mark))
        .collect()
}

#[tokio::test]
async fn a_command_is_run_as_often_as_asked_and_the_first_failure_ends_it() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let (green, texts) = verify(&stage, base.digest, "echo out; echo err >&2", 3, 20_000).await;
    assert!(green.is_green());
    assert_eq!((green.runs.len(), texts[0].as_str()), (3, "out\nerr\n"), "in the order they were written");
    let (red, texts) = verify(&stage, base.digest, "cat a.txt; exit 3", 3, 20_000).await;
    assert_eq!((red.runs.len(), red.runs[0].end, texts[0].as_str()), (1, RunEnd::Code(3), "one\n"));
    let (killed, _) = verify(&stage, base.digest, "kill -9 $$", 1, 20_000).await;
    assert_eq!(killed.runs[0].end, RunEnd::Signal(9));
}

#[tokio::test]
async fn what_a_command_changes_is_named_and_put_back_before_the_next_run() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let command = "cat a.txt; echo changed > a.txt; echo x > new; mkdir -p cache; echo kept >> cache/c; git status >/dev/null 2>&1; true";
    let (done, texts) = verify(&stage, base.digest, command, 2, 20_000).await;
    assert_eq!(done.changed, ["a.txt", "new"], "what git ignores is a cache and may stay");
    assert!(texts.iter().all(|t| t.as_str() == "one\n"), "each run saw the same state: {texts:?}");
    assert_eq!(stage.look().await.0.digest, base.digest);
    assert_eq!(stage.read("cache/c").await.as_deref(), Some("kept\nkept\n"));
}

#[tokio::test]
async fn a_command_that_does_not_end_is_stopped_with_everything_it_started() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    for (n, how) in [
        "sleep 98765$N",
        "sleep 98765$N & sleep 98765$N & wait",
        "setsid sleep 98765$N & setsid sh -c 'setsid sleep 98765$N; true' & sleep 98765$N",
        "trap '' TERM; while :; do sleep 98765$N; done",
        "f() { sleep 98765$N & sleep 98765$N & }; for i in 1 2 3 4 5 6 7 8 9 10; do f; done; wait",
        "yes & sleep 98765$N",
    ]
    .iter()
    .enumerate()
    {
        let mark = format!("98765{n}");
        let began = Instant::now();
        let (done, texts) = verify(&stage, base.digest, &how.replace("98765$N", &mark), 1, 500).await;
        assert_eq!(done.runs[0].end, RunEnd::TimedOut, "{how}");
        assert!(began.elapsed() < Duration::from_secs(15), "{how} took {:?}", began.elapsed());
        assert_eq!(alive(&format!("sleep {mark}")), Vec::<String>::new(), "{how}");
        assert!(texts[0].as_str().len() < 9000, "{how}: output is bounded");
    }
}

#[tokio::test]
async fn output_is_bounded_and_its_end_is_what_is_kept() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let (done, texts) =
        verify(&stage, base.digest, "yes noise | head -c 30000000; echo the end", 1, 60_000).await;
    assert!(done.is_green(), "{done:?}");
    let said = texts[0].as_str();
    assert!(said.len() < 9000 && said.ends_with("noise\nthe end\n"), "{}", said.len());
    assert!(said.starts_with("[the output was longer"), "{said:.60}");
}

#[tokio::test]
async fn no_key_is_in_a_commands_environment() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let (_, texts) = verify(&stage, base.digest, "env", 1, 20_000).await;
    let env = texts[0].as_str();
    assert!(!env.contains("sk-1") && !env.contains("t-1"), "{env}");
    assert!(env.contains("CI=1") && env.contains("JAVA_HOME=/opt/java"), "{env}");
}

#[tokio::test]
async fn a_command_that_is_called_off_ends() {
    let stage = Stage::new();
    let (base, _) = stage.look().await;
    let cancel = CancellationToken::new();
    let verify = Verify {
        command: "sleep 987659".into(),
        tree: base.digest,
        runs: 1,
        timeout_ms: 600_000,
        held: None,
        fresh: false,
        evidence: Vec::new(),
    };
    let calling_off = async {
        while alive("sleep 987659").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    };
    let (ended, ()) = tokio::join!(stage.folder.verify(&verify, &cancel), calling_off);
    assert!(matches!(ended, Err(gadfly_runtime::folder::FolderError::Cancelled)), "{ended:?}");
    assert_eq!(alive("sleep 987659"), Vec::<String>::new());
}
