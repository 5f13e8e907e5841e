//! Terminals and rooms, from the command's side: nobody gets a terminal of the user's, a command in rooms of its
//! own has its own, and a loopback that nobody else has if it has no network.
//!
//! The user's terminal is one that this test opens, as a terminal program does.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use gadfly_agents::launcher::{Command, Exit, Finished, Network, Sandbox};
use gadfly_runtime::os::apart;
use gadfly_runtime::sandbox::without_terminals;
use tempfile::TempDir;

use super::support::{PROBE, command, finished, launcher, sh};

/// A terminal as the user has one: a shell of the user's sits at it.
struct Terminal {
    holder: std::process::Child,
    name: String,
    shown: PathBuf,
    _folder: TempDir,
}

impl Terminal {
    fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let shown = folder.path().join("shown");
        let script = "tty; while read -r line; do echo \"typed $line\"; done";
        let mut holder = std::process::Command::new("script")
            .args(["-qfc", script])
            .arg(&shown)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let until = std::time::Instant::now() + super::support::PATIENCE;
        let name = loop {
            let text = std::fs::read_to_string(&shown).unwrap_or_default();
            if let Some(name) = text.split_whitespace().find(|word| word.starts_with("/dev/pts/")) {
                break name.to_owned();
            }
            assert!(std::time::Instant::now() < until, "no terminal: {text}");
            assert!(holder.try_wait().unwrap().is_none(), "`script` ended");
            std::thread::sleep(Duration::from_millis(10));
        };
        Self { holder, name, shown, _folder: folder }
    }

    /// What is on the screen, once everything that was written before is there.
    fn screen(&mut self) -> String {
        self.holder.stdin.as_mut().unwrap().write_all(b"the-end\n").unwrap();
        let until = std::time::Instant::now() + super::support::PATIENCE;
        loop {
            let mut text = String::new();
            std::fs::File::open(&self.shown).unwrap().read_to_string(&mut text).unwrap();
            if text.contains("typed the-end") {
                return text;
            }
            assert!(std::time::Instant::now() < until, "{text}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

fn said(done: &Finished) -> String {
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    format!("{:?}\n{out}{err}", done.exit)
}

/// As a worker has it, with all of `/proc` to read.
fn held(apart: bool, network: Network) -> Sandbox {
    let read = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/sys"].map(PathBuf::from).to_vec();
    let mut sandbox = Sandbox { read, network, apart, ..Sandbox::default() };
    sandbox.read.push(PROBE.into());
    sandbox.write.push("/dev/null".into());
    sandbox
}

/// Everybody who is kept from terminals: agents and what they start, and the user's own commands.
fn everybody() -> Vec<(&'static str, Sandbox)> {
    launcher();
    let mut all = vec![("held", held(false, Network::Out))];
    all.push(("the user's own", without_terminals(false).unwrap()));
    if rooms("everybody in rooms") {
        all.push(("held, in rooms", held(true, Network::Out)));
        all.push(("held, in rooms, without the network", held(true, Network::None)));
        all.push(("the user's own, in rooms", without_terminals(true).unwrap()));
    }
    all
}

fn rooms(test: &str) -> bool {
    launcher();
    if let Err(why) = apart() {
        let _ = writeln!(std::io::stderr(), "SKIPPED {test}: no rooms of its own here ({why})");
        return false;
    }
    true
}

/// `T` is the user's terminal, `W` a process that sits at it.
const WAYS: [&str; 12] = [
    "echo EVIL > T",
    "exec 3<> T && echo EVIL >&3",
    "head -c 1 < T",
    "echo EVIL > /proc/W/fd/0",
    "echo EVIL > /proc/W/fd/2",
    "head -c 1 < /proc/W/fd/0",
    "echo EVIL > /proc/W/rootT",
    "echo EVIL > /proc/W/root/dev/tty",
    "echo EVIL > /dev/tty",
    "echo EVIL > /dev/console",
    "for t in /dev/tty[0-9]* /dev/ttyS* /dev/vcs*; do if echo EVIL > $t; then exit 0; fi; done; exit 1",
    "setsid -c sh -c 'echo EVIL' < T > T",
];

#[tokio::test]
async fn nobody_writes_to_or_reads_from_a_terminal_of_the_users() {
    let mut terminal = Terminal::open();
    let sitting = std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid = entry.file_name().into_string().ok()?;
        let at = std::fs::read_link(entry.path().join("fd/0")).ok()?;
        (at.to_str() == Some(&terminal.name)).then_some(pid)
    });
    let sitting = sitting.expect("somebody sits at it");
    for (who, sandbox) in everybody() {
        for way in WAYS {
            let script = way.replace('T', &terminal.name).replace('W', &sitting);
            let script = format!("{{ {script}; }} 2>&1");
            let done = finished(Command {
                sandbox: Some(sandbox.clone()),
                time: Some(Duration::from_secs(5)),
                ..sh(&script)
            })
            .await;
            assert!(matches!(done.exit, Exit::Code(1..)), "{who}: {script}: {}", said(&done));
        }
    }
    // Without any of it the first way reaches the screen, and what was written before would be there by then.
    let done = finished(sh(&format!("echo SEEN > {}", terminal.name))).await;
    assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
    let seen = async {
        while !terminal.screen().contains("SEEN") {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), seen)
        .await
        .expect("the screen shows what is written to it");
    assert!(!terminal.screen().contains("EVIL"), "{}", terminal.screen());
}

#[tokio::test]
async fn in_rooms_of_its_own_a_command_has_terminals_of_its_own_and_else_it_has_none() {
    let script = "script -qec 'tty && test -t 0 && echo on-it > /dev/tty' /dev/null < /dev/null";
    if rooms("terminals of its own") {
        for sandbox in [held(true, Network::Out), without_terminals(true).unwrap()] {
            let done = finished(Command { sandbox: Some(sandbox), ..sh(script) }).await;
            let out = String::from_utf8_lossy(&done.stdout).into_owned();
            assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
            assert!(out.starts_with("/dev/pts/0") && out.contains("on-it"), "{out}");
        }
    }
    for sandbox in [held(false, Network::Out), without_terminals(false).unwrap()] {
        let done = finished(Command { sandbox: Some(sandbox), ..sh(script) }).await;
        assert_ne!(done.exit, Exit::Code(0), "{}", said(&done));
    }
}

#[tokio::test]
async fn without_the_network_there_is_a_loopback_of_its_own_and_nothing_else() {
    if !rooms("a loopback of its own") {
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let run = async |args: &[&str], network| {
        let sandbox = Some(held(true, network));
        finished(Command { sandbox, ..command(PROBE, args) }).await
    };
    let done = run(&["--loopback"], Network::None).await;
    assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
    // A port of the machine's that is taken is free there, and leads to nobody.
    assert_eq!(run(&["--listen", &port], Network::None).await.exit, Exit::Code(0));
    assert_ne!(run(&["--connect", &port], Network::None).await.exit, Exit::Code(0));
    assert_eq!(run(&["--connect", &port], Network::Out).await.exit, Exit::Code(0), "sabotage");
    let udp = "exec 3<> /dev/udp/192.0.2.1/9 && echo x >&3";
    let sandbox = Some(held(true, Network::None));
    let done = finished(Command { sandbox, ..command("bash", &["-c", udp]) }).await;
    assert_ne!(done.exit, Exit::Code(0), "nothing goes out by other protocols: {}", said(&done));
}

#[tokio::test]
async fn a_command_of_the_users_own_keeps_the_users_rights() {
    let folder = tempfile::tempdir().unwrap();
    for apart in [false, true] {
        let mut sandbox = without_terminals(apart).unwrap();
        sandbox.apart &= rooms("the user's own in rooms");
        let at = folder.path().join(format!("{apart}"));
        let script = format!(
            "mkdir -p {0}/a {0}/b && echo x > {0}/a/f && mv {0}/a/f {0}/b/f && ln {0}/b/f {0}/a/g && \
             cat {0}/a/g /etc/passwd > /dev/null && echo > /dev/shm/gadfly-$$ && rm /dev/shm/gadfly-$$ && \
             kill -0 $PPID && test $(id -u) = {1} && : > /dev/null && cat /dev/stdin < /dev/null && \
             echo out > /dev/stderr && mktemp -u > /dev/null",
            at.display(),
            rustix::process::getuid().as_raw()
        );
        let done = finished(Command { sandbox: Some(sandbox), ..sh(&script) }).await;
        assert_eq!(done.exit, Exit::Code(0), "rooms {apart}: {}", said(&done));
    }
}

#[tokio::test]
async fn shared_memory_is_its_own_in_rooms_of_its_own() {
    if !rooms("shared memory of its own") {
        return;
    }
    let mark = format!("/dev/shm/gadfly-test-{}", std::process::id());
    let script = format!("echo x > {mark} && cat {mark}");
    for (apart, stays) in [(true, false), (false, true)] {
        let mut sandbox = held(apart, Network::Out);
        sandbox.write.push("/dev/shm".into());
        let done = finished(Command { sandbox: Some(sandbox), ..sh(&script) }).await;
        assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
        assert_eq!(std::path::Path::new(&mark).exists(), stays, "rooms {apart}");
        let _ = std::fs::remove_file(&mark);
    }
}
