//! How the tests start commands and ask `/proc` who lives; every wait is bounded.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use gadfly_agents::launcher::{Command, Finished, LaunchError, Launcher};
use gadfly_runtime::os::ProcessLauncher;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub const PROBE: &str = env!("CARGO_BIN_EXE_launch-probe");
/// Far beyond what anything here takes; reached only by a failing test.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn launcher() -> ProcessLauncher {
    ProcessLauncher::with_supervisor(PROBE)
}

pub fn command(program: &str, args: &[&str]) -> Command {
    Command {
        program: program.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        cwd: Some(std::env::temp_dir()),
        stdin: Vec::new(),
        time: Some(PATIENCE),
        max_output: 1 << 20,
        ..Command::default()
    }
}

pub fn sh(script: &str) -> Command {
    command("sh", &["-c", script])
}

pub async fn run(command: Command) -> Result<Finished, LaunchError> {
    launcher().launch(command, CancellationToken::new()).await
}

pub async fn finished(command: Command) -> Finished {
    run(command).await.unwrap()
}

/// Waits until the file holds a process id, and returns it.
pub fn pid_in(file: &Path) -> u32 {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(pid) = std::fs::read_to_string(file).ok().and_then(|text| text.trim().parse().ok()) {
            return pid;
        }
        assert!(Instant::now() < until, "{} was never written", file.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// True if the process is gone within two seconds, which is what we promise.
pub fn dies(pid: u32) -> bool {
    let until = Instant::now() + Duration::from_secs(2);
    while lives(pid) {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Speaks the supervisor's protocol without a launcher, so that a step can be left out. `besides` is what the
/// spec says besides the usual.
pub fn by_hand(script: &str, brief: &[u8], besides: &serde_json::Value) -> std::process::Child {
    let mut spec = serde_json::json!({
        "version": 4, "token": "token", "program": "sh", "args": ["-c", script],
        "env": [["PATH", std::env::var("PATH").unwrap()]], "cwd": b"/".to_vec(), "lock": null,
        "limits": { "open_files": null, "file_bytes": null, "memory_bytes": null, "cpu_seconds": null },
        "brief_len": brief.len(),
    });
    spec.as_object_mut().unwrap().extend(besides.as_object().unwrap().clone());
    let json = serde_json::to_vec(&spec).unwrap();
    let mut supervisor = std::process::Command::new(PROBE)
        .arg("__supervise")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pipe = supervisor.stdin.as_mut().unwrap();
    pipe.write_all(&u32::try_from(json.len()).unwrap().to_le_bytes()).unwrap();
    pipe.write_all(&json).unwrap();
    pipe.write_all(brief).unwrap();
    supervisor
}

/// A family that tries to stay: a plain child, one that left the session, and a daemon (forked twice, its
/// parent gone). All ignore TERM. The files tell their ids; `then` is what the command itself does next.
pub struct Family {
    pub folder: TempDir,
}

pub const MEMBERS: [&str; 4] = ["self", "child", "session", "daemon"];

impl Family {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn script(&self, then: &str) -> String {
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

    pub fn pids(&self) -> Vec<(&'static str, u32)> {
        MEMBERS.iter().rev().map(|name| (*name, pid_in(&self.folder.path().join(name)))).collect()
    }

    pub fn assert_gone(&self) {
        for (name, pid) in self.pids() {
            assert!(dies(pid), "{name} ({pid}) is still alive");
        }
    }

    pub fn assert_alive(&self) {
        for (name, pid) in self.pids() {
            assert!(lives(pid), "{name} ({pid}) should have been started");
        }
    }
}

/// A failing test must not leave its family behind on the machine of whoever ran it.
impl Drop for Family {
    fn drop(&mut self) {
        let Ok(folder) = self.folder.path().canonicalize() else { return };
        for name in MEMBERS {
            let pid = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
            let pid = pid.trim();
            // The folder shows that the id still belongs to the family and was not given to somebody else.
            if std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder) {
                let _ = std::process::Command::new("kill").args(["-9", pid]).status();
            }
        }
    }
}
