//! What a user notices of the launcher: a command's output and end come back, and nothing survives a call.
//!
//! Linux only, as is most of what is tested. Whether a process lives is asked of `/proc`, with bounded
//! waits; no test depends on how fast something happens.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "test support outside `#[test]` functions may unwrap too")]

mod apart;
mod bounds;
mod sandbox;
mod support;
mod survival;
mod talking;

use std::path::Path;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Launcher};
use gadfly_runtime::os::{ChildLimits, ProcessLauncher, children_ended, raise_open_files};
use support::{PATIENCE, command, finished, launcher, pid_in, run, sh};
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn output_and_errors_come_back_apart() {
    let done = finished(sh("echo out; echo err >&2")).await;
    assert_eq!(done.exit, Exit::Code(0));
    assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
}

#[tokio::test]
async fn the_brief_arrives_whole_on_stdin() {
    let brief: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let done =
        finished(Command { stdin: brief.clone(), max_output: brief.len(), ..command("cat", &[]) }).await;
    assert_eq!(done.exit, Exit::Code(0));
    assert!(done.stdout == brief, "what came back differs from what was sent");
}

#[tokio::test]
async fn exit_codes_and_signals_are_told_apart() {
    for code in [0, 1, 3, 127, 255] {
        assert_eq!(finished(sh(&format!("exit {code}"))).await.exit, Exit::Code(code));
    }
    assert_eq!(finished(sh("kill -9 $$")).await.exit, Exit::Signal(9));
    assert_eq!(finished(sh("kill -15 $$")).await.exit, Exit::Signal(15));
}

#[tokio::test]
async fn a_command_may_ignore_its_stdin() {
    let brief = vec![b'x'; 4 << 20];
    let done = finished(Command { stdin: brief.clone(), ..sh("echo done") }).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(0), &b"done\n"[..]));
    let done = finished(Command { stdin: brief, ..sh("exec <&-; echo closed; exit 4") }).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(4), &b"closed\n"[..]));
}

#[tokio::test]
async fn output_beyond_the_limit_is_cut_and_ends_the_command() {
    let done = finished(Command { max_output: 1000, ..command("yes", &[]) }).await;
    assert_eq!(done.exit, Exit::Overflowed);
    assert_eq!(done.stdout, b"y\n".repeat(500));
    // The same if the command is done before anyone could stop it.
    for _ in 0..10 {
        let done = finished(Command { max_output: 1000, ..sh("head -c 1001 /dev/zero") }).await;
        assert_eq!((done.exit, done.stdout.len()), (Exit::Overflowed, 1000));
    }
    // Exactly the limit is no overflow.
    let done = finished(Command { max_output: 4, ..sh("printf 1234") }).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(0), &b"1234"[..]));
}

#[tokio::test]
async fn of_a_long_stderr_the_end_is_kept() {
    let done = finished(sh("yes noise | head -c 600000 >&2; echo the end >&2; exit 2")).await;
    assert_eq!(done.exit, Exit::Code(2));
    assert_eq!(done.stderr.len(), 64 << 10);
    assert!(done.stderr.ends_with(b"\nthe end\n"));
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_listed() {
    let env = vec![("ONLY".to_owned(), "this".to_owned())];
    let done = finished(Command { env, ..command("/usr/bin/env", &[]) }).await;
    assert_eq!(String::from_utf8_lossy(&done.stdout), "ONLY=this\n");
}

#[tokio::test]
async fn the_command_has_no_terminal_and_no_pipe_of_ours() {
    // Whoever started the tests may have left descriptors open for every child; nothing may come on top.
    let inherited = std::process::Command::new("ls").arg("/proc/self/fd").output().unwrap().stdout;
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher().locking(folder.path().join("lock"));
    let done = launcher.launch(command("ls", &["/proc/self/fd"]), CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&inherited));
    let done = finished(sh("exec 2>/dev/null; : < /dev/tty")).await;
    assert_ne!(done.exit, Exit::Code(0), "the command reached a terminal");
}

#[tokio::test]
async fn a_forged_report_changes_nothing() {
    let forged = r#"gadfly-report-00000000000000000000000000000000{"exited":0}"#;
    let done = finished(sh(&format!("echo '{forged}' >&2; exit 9"))).await;
    assert_eq!(done.exit, Exit::Code(9));
    assert_eq!(String::from_utf8_lossy(&done.stderr), format!("{forged}\n"));
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "text").unwrap();
    let script = folder.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    make_executable(&script);

    let cases: [(Command, &[&str]); 5] = [
        (command("no-such-program-here", &[]), &["`no-such-program-here`", "install it"]),
        (command("/no/such/program", &[]), &["`/no/such/program`"]),
        (command(plain.to_str().unwrap(), &[]), &["plain", "executable"]),
        (command(script.to_str().unwrap(), &[]), &["script", "interpreter"]),
        (Command { cwd: Some("/no/such/folder".into()), ..sh(":") }, &["/no/such/folder"]),
    ];
    for (command, says) in cases {
        let error = run(command).await.unwrap_err().to_string();
        for part in says {
            assert!(error.contains(part), "`{part}` is missing in: {error}");
        }
    }
}

fn make_executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_command_without_a_folder_works_where_the_launcher_says_or_not_at_all() {
    let nowhere = Command { cwd: None, ..command("pwd", &[]) };
    assert!(run(nowhere.clone()).await.unwrap_err().to_string().contains("no folder"));
    let folder = tempfile::tempdir().unwrap();
    let somewhere = folder.path().canonicalize().unwrap();
    let done = launcher().working_in(&somewhere).launch(nowhere, CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), somewhere.to_str().unwrap());
}

#[tokio::test]
async fn a_program_that_is_no_supervisor_is_refused() {
    for wrong in ["/no/such/gadfly", "/bin/true", "/bin/cat"] {
        let launcher = ProcessLauncher::with_supervisor(wrong);
        let command = Command { time: Some(Duration::from_secs(1)), ..sh("echo ran") };
        let ended = launcher.launch(command, CancellationToken::new()).await;
        let ran = ended.as_ref().is_ok_and(|done| matches!(done.exit, Exit::Code(_) | Exit::Signal(_)));
        assert!(!ran, "{wrong}: {ended:?}");
    }
}

#[test]
fn without_supervise_in_main_this_program_is_refused() {
    let refused = ProcessLauncher::this_program().unwrap_err().to_string();
    assert!(refused.contains("supervise()") && refused.contains("installed `gadfly`"), "{refused}");
}

#[tokio::test]
async fn limits_bind_the_command() {
    let limited = launcher().limited(ChildLimits {
        open_files: Some(64),
        file_bytes: Some(4096),
        ..ChildLimits::default()
    });
    let done = limited.launch(sh("ulimit -n; ulimit -c"), CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "64\n0\n");
    let folder = tempfile::tempdir().unwrap();
    let write = Command { cwd: Some(folder.path().to_owned()), ..sh("head -c 100000 /dev/zero > big") };
    let done = limited.launch(write, CancellationToken::new()).await.unwrap();
    assert_ne!(done.exit, Exit::Code(0));
    assert!(std::fs::metadata(folder.path().join("big")).unwrap().len() <= 4096);
}

#[tokio::test]
async fn a_limit_raised_for_us_is_not_passed_on() {
    let before = std::process::Command::new("sh").args(["-c", "ulimit -n"]).output().unwrap().stdout;
    raise_open_files().unwrap();
    assert_eq!(finished(sh("ulimit -n")).await.stdout, before);
}

#[tokio::test]
async fn a_resume_waits_for_the_workspaces_commands() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("lock");
    let launcher = launcher().locking(&lock);
    let cancel = CancellationToken::new();
    let script = format!("echo $$ > {}/pid; sleep 1000", folder.path().display());
    let launch = launcher.launch(sh(&script), cancel.clone());
    let checks = async {
        let file = folder.path().join("pid");
        tokio::task::spawn_blocking(move || pid_in(&file)).await.unwrap();
        assert!(!children_ended(&lock, Duration::ZERO).await.unwrap(), "a command holds the lock");
        // A second command in the same workspace does not wait for the first.
        let other = launcher.launch(sh("echo beside"), CancellationToken::new()).await.unwrap();
        assert_eq!(other.stdout, b"beside\n");
        cancel.cancel();
    };
    let (done, ()) = tokio::join!(launch, checks);
    assert_eq!(done.unwrap().exit, Exit::Cancelled);
    assert!(children_ended(&lock, Duration::ZERO).await.unwrap(), "the lock outlived the command");
}

#[tokio::test]
async fn a_call_waiting_for_the_lock_can_be_ended_and_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("lock");
    let held = std::fs::File::create(&lock).unwrap();
    held.lock().unwrap();
    let launcher = launcher().locking(&lock);
    let touch = Command {
        cwd: Some(folder.path().to_owned()),
        time: Some(Duration::from_millis(300)),
        ..command("touch", &["file"])
    };
    assert_eq!(launcher.launch(touch.clone(), CancellationToken::new()).await.unwrap().exit, Exit::TimedOut);
    assert!(!folder.path().join("file").exists());
    drop(held);
    let touch = Command { time: Some(PATIENCE), ..touch };
    assert_eq!(launcher.launch(touch, CancellationToken::new()).await.unwrap().exit, Exit::Code(0));
    assert!(folder.path().join("file").exists());
}

#[tokio::test]
async fn many_calls_at_once_stay_apart() {
    let calls = (0..40).map(|n| run(sh(&format!("echo {n}; exit {n}"))));
    for (n, done) in futures_util::future::join_all(calls).await.into_iter().enumerate() {
        let done = done.unwrap();
        assert_eq!(done.exit, Exit::Code(i32::try_from(n).unwrap()));
        assert_eq!(String::from_utf8_lossy(&done.stdout), format!("{n}\n"));
    }
}
