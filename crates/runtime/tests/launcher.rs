//! What a user notices of the launcher: a command's output and end come back, and nothing survives a call.
//!
//! Linux only, as is most of what is tested. Whether a process lives is asked of `/proc`, with bounded
//! waits; no test depends on how fast something happens.
#![cfg(target_os = "linux")]

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use gadfly_agents::launcher::{Command, Exit, Finished, LaunchError, Launcher};
use gadfly_runtime::os::{ChildLimits, ProcessLauncher, children_ended};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const PROBE: &str = env!("CARGO_BIN_EXE_launch-probe");
/// Far beyond what anything here takes; reached only by a failing test.
const PATIENCE: Duration = Duration::from_secs(20);

fn launcher() -> ProcessLauncher {
    ProcessLauncher::with_supervisor(PROBE)
}

fn command(program: &str, args: &[&str]) -> Command {
    Command {
        program: program.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        cwd: Some(std::env::temp_dir()),
        stdin: Vec::new(),
        time: Some(PATIENCE),
        max_output: 1 << 20,
    }
}

fn sh(script: &str) -> Command {
    command("sh", &["-c", script])
}

async fn run(command: Command) -> Result<Finished, LaunchError> {
    launcher().launch(command, CancellationToken::new()).await
}

async fn finished(command: Command) -> Finished {
    run(command).await.unwrap()
}

/// Waits until the file holds a process id, and returns it.
fn pid_in(file: &Path) -> u32 {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(pid) = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
            return pid;
        }
        assert!(Instant::now() < until, "{} was never written", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// True if the process is gone within two seconds, which is what we promise.
fn dies(pid: u32) -> bool {
    let until = Instant::now() + Duration::from_secs(2);
    while lives(pid) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// A family that tries to stay: a plain child, one that left the session, and a daemon (forked twice, its
/// parent gone). All ignore TERM. The files tell their ids; `then` is what the command itself does next.
struct Family {
    folder: TempDir,
}

const MEMBERS: [&str; 4] = ["self", "child", "session", "daemon"];

impl Family {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn script(&self, then: &str) -> String {
        let at = self.folder.path().display();
        format!(
            "trap '' TERM HUP; cd {at}
             sleep 1000 & echo $! > child
             setsid sh -c 'echo $$ > session; exec sleep 1000' &
             (setsid sh -c 'sh -c \"echo \\$\\$ > daemon; exec sleep 1000\" &' &)
             while [ ! -s session ] || [ ! -s daemon ]; do sleep 0.01; done
             echo $$ > self
             {then}"
        )
    }

    fn pids(&self) -> Vec<(&'static str, u32)> {
        MEMBERS.iter().rev().map(|name| (*name, pid_in(&self.folder.path().join(name)))).collect()
    }

    fn assert_gone(&self) {
        for (name, pid) in self.pids() {
            assert!(dies(pid), "{name} ({pid}) is still alive");
        }
    }

    fn assert_alive(&self) {
        for (name, pid) in self.pids() {
            assert!(lives(pid), "{name} ({pid}) should have been started");
        }
    }
}

#[tokio::test]
async fn output_and_errors_come_back_apart() {
    let done = finished(sh("echo out; echo err >&2")).await;
    assert_eq!(done.exit, Exit::Code(0));
    assert_eq!((done.stdout.as_slice(), done.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
}

#[tokio::test]
async fn the_brief_arrives_whole_on_stdin() {
    let brief: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[1]).collect();
    let done = finished(Command { stdin: brief.clone(), max_output: brief.len(), ..command("cat", &[]) }).await;
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
    // Exactly the limit is no overflow: without the limit's check this line could not tell them apart.
    let done = finished(Command { max_output: 4, ..sh("printf 1234") }).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(0), &b"1234"[..]));
}

#[tokio::test]
async fn of_a_long_stderr_the_end_is_kept() {
    let done = finished(sh("yes noise | head -c 1000000 >&2; echo the end >&2; exit 2")).await;
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
    // 0, 1 and 2 and the one `ls` itself opens: the control pipe and the lock must not leak.
    let lock = tempfile::tempdir().unwrap();
    let launcher = launcher().locking(lock.path().join("lock"));
    let done = launcher.launch(command("ls", &["/proc/self/fd"]), CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "0\n1\n2\n3\n");
    let done = finished(sh("exec 2>/dev/null; : < /dev/tty")).await;
    assert_ne!(done.exit, Exit::Code(0), "the command reached a terminal");
}

#[tokio::test]
async fn a_timeout_ends_the_whole_tree() {
    let family = Family::new();
    let started = tokio::time::Instant::now();
    let done = finished(Command { time: Some(Duration::from_secs(1)), ..sh(&family.script("cat /dev/zero | sleep 1000")) });
    let done = done.await;
    assert_eq!(done.exit, Exit::TimedOut);
    assert!(started.elapsed() >= Duration::from_secs(1));
    family.assert_gone();
}

#[tokio::test]
async fn output_before_a_timeout_is_kept() {
    let done = finished(Command { time: Some(Duration::from_secs(1)), ..sh("echo so far; sleep 1000") }).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::TimedOut, &b"so far\n"[..]));
}

#[tokio::test]
async fn a_command_asked_to_end_may_say_goodbye() {
    let cancel = CancellationToken::new();
    let folder = tempfile::tempdir().unwrap();
    let script = format!("trap 'echo bye; exit 0' TERM; echo $$ > {}/pid; while :; do sleep 0.01; done", folder.path().display());
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
    let script = folder.path().join("hop");
    std::fs::write(&script, "echo $$ > last; sh ./hop & exit 0\n").unwrap();
    let done = finished(Command { cwd: Some(folder.path().to_owned()), ..command("setsid", &["-f", "sh", "./hop"]) }).await;
    assert_eq!(done.exit, Exit::Code(0));
    let last = folder.path().join("last");
    let before = std::fs::read(&last).unwrap_or_default();
    assert!(dies(pid_in(&last)));
    assert_eq!(std::fs::read(&last).unwrap_or_default(), before, "the chain went on after the call");
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
fn killing_the_launching_process_ends_a_command_that_does_not_read_its_brief() {
    // The supervisor is fed by hand: a brief larger than any pipe, never read, then the pipe closes.
    let family = Family::new();
    let mut supervisor = by_hand(&family.script("sleep 1000"), &vec![b'x'; 4 << 20], true);
    pid_in(&family.folder.path().join("self"));
    drop(supervisor.stdin.take());
    supervisor.wait().unwrap();
    family.assert_gone();
}

/// Speaks the supervisor's protocol without a launcher, so that a step can be left out.
fn by_hand(script: &str, brief: &[u8], subreaper: bool) -> std::process::Child {
    let spec = serde_json::json!({
        "version": 1, "token": "token", "program": "sh", "args": ["-c", script],
        "env": [["PATH", std::env::var("PATH").unwrap()]], "cwd": b"/".to_vec(), "lock": null,
        "limits": { "open_files": null, "file_bytes": null, "memory_bytes": null, "cpu_seconds": null },
        "brief_len": brief.len(), "subreaper": subreaper,
    });
    let json = serde_json::to_vec(&spec).unwrap();
    let mut supervisor = std::process::Command::new(PROBE)
        .arg("__supervise")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pipe = supervisor.stdin.as_mut().unwrap();
    pipe.write_all(&u32::try_from(json.len()).unwrap().to_le_bytes()).unwrap();
    pipe.write_all(&json).unwrap();
    pipe.write_all(brief).unwrap();
    supervisor
}

#[test]
fn sabotage_without_a_subreaper_what_left_the_group_survives() {
    let family = Family::new();
    let mut supervisor = by_hand(&family.script("sleep 1000"), b"", false);
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
    let script = format!("cd {}; sleep 1000 & echo $! > child; kill -9 $PPID; sleep 1000", folder.path().display());
    let error = run(sh(&script)).await.unwrap_err();
    assert!(error.to_string().contains("supervisor"), "{error}");
    assert!(dies(pid_in(&folder.path().join("child"))));
}

#[tokio::test]
async fn a_command_that_stops_its_supervisor_still_runs_out_of_time() {
    let family = Family::new();
    let script = family.script("kill -STOP $PPID; sleep 1000");
    let done = finished(Command { time: Some(Duration::from_secs(1)), ..sh(&script) }).await;
    assert_eq!(done.exit, Exit::TimedOut);
    family.assert_gone();
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
    let limited = launcher().limited(ChildLimits { open_files: Some(64), file_bytes: Some(4096), ..ChildLimits::default() });
    let done = limited.launch(sh("ulimit -n; ulimit -c"), CancellationToken::new()).await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "64\n0\n");
    let folder = tempfile::tempdir().unwrap();
    let write = Command { cwd: Some(folder.path().to_owned()), ..sh("head -c 100000 /dev/zero > big") };
    let done = limited.launch(write, CancellationToken::new()).await.unwrap();
    assert_ne!(done.exit, Exit::Code(0));
    assert!(std::fs::metadata(folder.path().join("big")).unwrap().len() <= 4096);
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
