//! Nothing survives a call, however it ends, and nothing survives the launching process.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use gadfly_agents::launcher::{Command, Exit, Launcher};
use tokio_util::sync::CancellationToken;

use super::support::{Family, PROBE, by_hand, command, dies, finished, launcher, pid_in, run, sh};

#[tokio::test]
async fn a_timeout_ends_the_whole_tree() {
    let family = Family::new();
    let script = family.script("cat /dev/zero | sleep 1000");
    let done = finished(Command { time: Some(Duration::from_secs(4)), ..sh(&script) }).await;
    assert_eq!(done.exit, Exit::TimedOut);
    family.assert_gone();
}

#[tokio::test]
async fn output_before_a_timeout_is_kept() {
    let done =
        finished(Command { time: Some(Duration::from_secs(4)), ..sh("echo so far; sleep 1000") }).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::TimedOut, &b"so far\n"[..]));
}

#[tokio::test]
async fn a_command_asked_to_end_may_say_goodbye() {
    let cancel = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "trap 'echo bye; exit 0' TERM; echo $$ > {}/pid; while :; do sleep 0.01; done",
        folder.path().display()
    );
    let launcher = launcher();
    let launch = launcher.launch(sh(&script), cancel.clone());
    let stop = async {
        let file = folder.path().join("pid");
        tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(launch, stop);
    let done = done.unwrap();
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Cancelled, &b"bye\n"[..]));
}

#[tokio::test]
async fn cancelling_ends_the_whole_tree() {
    let family = Family::new();
    let cancel = CancellationToken::new();
    let launcher = launcher();
    let launch = launcher.launch(sh(&family.script("sleep 1000")), cancel.clone());
    let stop = async {
        let file = family.folder.path().join("self");
        tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
        family.assert_alive();
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(launch, stop);
    assert_eq!(done.unwrap().exit, Exit::Cancelled);
    family.assert_gone();
}

#[tokio::test]
async fn a_call_cancelled_before_it_began_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cancel = CancellationToken::new();
    cancel.cancel();
    let touch = Command { cwd: Some(folder.path().to_owned()), ..command("touch", &["file"]) };
    assert_eq!(launcher().launch(touch, cancel).await.unwrap().exit, Exit::Cancelled);
    assert!(!folder.path().join("file").exists());
}

#[tokio::test]
async fn a_call_that_is_dropped_ends_the_whole_tree() {
    let family = Family::new();
    let script = family.script("sleep 1000");
    let task = tokio::spawn(async move { run(sh(&script)).await });
    let file = family.folder.path().join("self");
    tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    family.assert_gone();
}

#[tokio::test]
async fn what_a_command_leaves_running_ends_with_it() {
    let family = Family::new();
    let done = finished(sh(&family.script("echo result; exit 5"))).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(5), &b"result\n"[..]));
    family.assert_gone();
}

#[tokio::test]
async fn a_chain_that_forks_and_exits_does_not_outrun_the_sweep() {
    let folder = tempfile::tempdir().unwrap();
    // Forks without ever executing, so that a hop takes less time than a look through /proc; ends by itself
    // when the folder is gone, should the guard under test fail.
    let hop = "hop() { [ -e hops ] || exit; echo >> hops; hop & exit; }; hop";
    std::fs::write(folder.path().join("hop"), hop).unwrap();
    std::fs::write(folder.path().join("hops"), "").unwrap();
    let script = "setsid -f sh ./hop; until [ \"$(wc -l < hops)\" -gt 20 ]; do :; done";
    let done = finished(Command { cwd: Some(folder.path().to_owned()), ..sh(script) }).await;
    assert_eq!(done.exit, Exit::Code(0));
    let hops = || std::fs::metadata(folder.path().join("hops")).unwrap().len();
    let at_the_end = hops();
    // A chain that lives hops every few milliseconds.
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(hops(), at_the_end, "the chain went on after the call");
}

#[test]
fn killing_the_launching_process_leaves_nothing_alive() {
    let family = Family::new();
    let mut probe = std::process::Command::new(PROBE)
        .args(["sh", "-c", &family.script("sleep 1000")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    pid_in(&family.folder.path().join("self"));
    family.assert_alive();
    probe.kill().unwrap();
    probe.wait().unwrap();
    family.assert_gone();
}

#[test]
fn killing_the_launching_process_ends_a_talk_whose_command_never_reads() {
    let family = Family::new();
    let mut probe = std::process::Command::new(PROBE)
        .args(["--talk", "sh", "-c", &family.script("sleep 1000")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    pid_in(&family.folder.path().join("self"));
    family.assert_alive();
    probe.kill().unwrap();
    probe.wait().unwrap();
    family.assert_gone();
}

#[test]
fn the_pipes_end_is_seen_behind_frames_that_nobody_takes() {
    let family = Family::new();
    let mut supervisor = by_hand(&family.script("sleep 1000"), b"", &serde_json::json!({ "more": true }));
    pid_in(&family.folder.path().join("self"));
    let mut pipe = supervisor.stdin.take().unwrap();
    let flags = rustix::fs::fcntl_getfl(&pipe).unwrap();
    rustix::fs::fcntl_setfl(&pipe, flags | rustix::fs::OFlags::NONBLOCK).unwrap();
    pipe.write_all(&u32::MAX.to_le_bytes()).unwrap();
    // Full means that the command's pipe, the supervisor and this pipe hold all they can: no look is left.
    let mut full_since = None;
    loop {
        match pipe.write(&[b'x'; 4096]) {
            Ok(_) => full_since = None,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock),
        }
        let since = *full_since.get_or_insert_with(Instant::now);
        if since.elapsed() > Duration::from_millis(200) {
            break;
        }
    }
    drop(pipe);
    supervisor.wait().unwrap();
    family.assert_gone();
}

#[test]
fn killing_the_launching_process_ends_a_command_that_does_not_read_its_brief() {
    // The supervisor is fed by hand: a brief larger than any pipe, never read, then the pipe closes.
    let family = Family::new();
    let mut supervisor = by_hand(&family.script("sleep 1000"), &vec![b'x'; 4 << 20], &serde_json::json!({}));
    pid_in(&family.folder.path().join("self"));
    drop(supervisor.stdin.take());
    supervisor.wait().unwrap();
    family.assert_gone();
}

#[test]
fn sabotage_without_a_subreaper_what_left_the_group_survives() {
    let family = Family::new();
    let mut supervisor =
        by_hand(&family.script("sleep 1000"), b"", &serde_json::json!({ "subreaper": false }));
    pid_in(&family.folder.path().join("self"));
    drop(supervisor.stdin.take());
    supervisor.wait().unwrap();
    let survivors: Vec<_> = family.pids().into_iter().filter(|(_, pid)| !dies(*pid)).collect();
    for (_, pid) in &survivors {
        std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
    }
    assert_eq!(survivors.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["daemon", "session"]);
}

#[tokio::test]
async fn a_command_that_kills_its_supervisor_is_still_ended() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        format!("cd {}; sleep 1000 & echo $! > child; kill -9 $PPID; sleep 1000", folder.path().display());
    let error = run(sh(&script)).await.unwrap_err();
    assert!(error.to_string().contains("supervisor"), "{error}");
    assert!(dies(pid_in(&folder.path().join("child"))));
}

#[tokio::test]
async fn a_command_that_stops_its_supervisor_is_still_ended() {
    let family = Family::new();
    let cancel = CancellationToken::new();
    let launcher = launcher();
    let script = family.script("kill -STOP $PPID; echo 1 > stopped; sleep 1000");
    let launch = launcher.launch(sh(&script), cancel.clone());
    let stop = async {
        let file = family.folder.path().join("stopped");
        tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(launch, stop);
    assert_eq!(done.unwrap().exit, Exit::Cancelled);
    family.assert_gone();
}
