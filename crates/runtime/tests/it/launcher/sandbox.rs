//! The sandbox from the command's side: what it may touch, what it may not, and that nothing starts without it.

use std::path::{Path, PathBuf};
use std::process::Child;

use gadfly_agents::launcher::{Command, Exit, Finished, Launcher, Network, Sandbox, StdinSource};
use gadfly_runtime::os::landlock;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::support::{Family, PROBE, by_hand, command, finished, launcher, run};

/// Two folders: `work` may be written, `home` is nobody's business; between them a folder that may be read.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work", "tree", "home"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("file"), name).unwrap();
        }
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn sandbox(&self) -> Sandbox {
        let mut read: Vec<PathBuf> = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/no/such"]
            .iter()
            .map(Into::into)
            .collect();
        read.push(self.at("tree"));
        Sandbox { read, write: vec![self.at("work"), "/dev/null".into()], ..Sandbox::default() }
    }

    /// Works in the tree that may only be read.
    fn runs(&self, program: &str, args: &[&str]) -> Command {
        Command { cwd: Some(self.at("tree")), sandbox: Some(self.sandbox()), ..command(program, args) }
    }

    fn command(&self, script: &str) -> Command {
        self.runs("sh", &["-c", script])
    }

    async fn run(&self, script: &str) -> Finished {
        finished(self.command(script)).await
    }
}

fn said(done: &Finished) -> String {
    format!(
        "{:?}\n{}{}",
        done.exit,
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    )
}

#[test]
fn this_kernel_has_what_the_tests_need() {
    assert!(landlock().unwrap() >= 4, "{:?}", landlock());
}

#[tokio::test]
async fn what_may_be_written_can_be_and_what_may_be_read_can_be_read_and_executed() {
    let scene = Scene::new();
    let done = scene
        .run(
            "set -e; cd ../work; echo x > new; mkdir -p a/b; mv new a/b/moved; ln -s a link; rm file
             cat ../tree/file; ls ../tree > /dev/null; cat a/b/moved",
        )
        .await;
    assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
    assert_eq!(done.stdout, b"treex\n");
}

/// Everything a critic could try on the tree it judges, and on what it should not even see.
const ATTEMPTS: [(&str, &str); 15] = [
    ("a new file", "echo x > new"),
    ("writing over a file", "echo x > file"),
    ("adding to a file", "echo x >> file"),
    ("cutting a file short", "truncate -s 0 file"),
    ("removing a file", "rm -f file && [ ! -e file ]"),
    ("renaming a file", "mv file other"),
    ("a folder", "mkdir made"),
    ("a link", "ln -s file made"),
    ("through a link out of the writable folder", "ln -s ../tree ../work/out; echo x > ../work/out/new"),
    ("through a link to a file", "ln -s ../tree/file ../work/out; echo x > ../work/out"),
    ("through a hard link", "ln file ../work/hard && echo x > ../work/hard"),
    ("moving a file out and changing it", "mv file ../work/taken && echo x > ../work/taken"),
    ("into .git", "mkdir -p .git && echo x > .git/config"),
    ("by a child process", "sh -c 'sh -c \"echo x > new\"'"),
    ("what is not in the sandbox at all", "echo x > ../home/new"),
];

fn untouched(scene: &Scene) {
    for name in ["tree", "home"] {
        let inside: Vec<_> =
            std::fs::read_dir(scene.at(name)).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(inside, ["file"], "in {name}");
        assert_eq!(std::fs::read_to_string(scene.at(name).join("file")).unwrap(), name);
    }
}

#[tokio::test]
async fn nothing_outside_the_writable_folder_changes_however_it_is_tried() {
    for (what, script) in ATTEMPTS {
        let scene = Scene::new();
        let done = scene.run(script).await;
        assert_ne!(done.exit, Exit::Code(0), "{what}: {}", said(&done));
        untouched(&scene);
    }
}

#[tokio::test]
async fn sabotage_without_the_sandbox_every_one_of_these_goes_through() {
    for (what, script) in ATTEMPTS {
        let scene = Scene::new();
        let done = finished(Command { sandbox: None, ..scene.command(script) }).await;
        assert_eq!(done.exit, Exit::Code(0), "{what} is no attempt: {}", said(&done));
    }
}

#[tokio::test]
async fn other_folders_cannot_be_read_or_listed() {
    let scene = Scene::new();
    for script in
        ["cat ../home/file", "ls ../home", "ls ..", "ln -s ../home ../work/out; cat ../work/out/file"]
    {
        let done = scene.run(script).await;
        assert_ne!(done.exit, Exit::Code(0), "{script}: {}", said(&done));
        assert!(done.stdout.is_empty(), "{script}: {}", said(&done));
        let done = finished(Command { sandbox: None, ..Scene::new().command(script) }).await;
        assert_eq!(done.exit, Exit::Code(0), "sabotage: {script}: {}", said(&done));
    }
}

/// What root may do in the system and Landlock does not look at. Nobody else may do it anyway.
const WAYS_OF_ROOT: [(&str, &str); 3] = [
    ("the environment of who started it", "tr '\\0' '\\n' < /proc/$WHO/environ | grep -q ."),
    ("a device of its own", "mknod ../work/device c 1 3"),
    ("a disk of its own", "mknod ../work/device b 7 0"),
];

#[tokio::test]
async fn root_keeps_what_concerns_files_and_nothing_by_which_it_gets_around_the_sandbox() {
    let who = std::process::id().to_string();
    for (what, script) in WAYS_OF_ROOT {
        let scene = Scene::new();
        let mut attempt = scene.command(script);
        attempt.env.push(("WHO".to_owned(), who.clone()));
        let done = finished(attempt.clone()).await;
        assert_ne!(done.exit, Exit::Code(0), "{what}: {}", said(&done));
        if rustix::process::geteuid().is_root() && script.starts_with("tr") {
            let done = finished(Command { sandbox: None, ..attempt }).await;
            assert_eq!(done.exit, Exit::Code(0), "{what} is no attempt: {}", said(&done));
        }
    }
    let scene = Scene::new();
    let done = scene.run("chmod 000 ../work/file && chmod 600 ../work/file && echo x > ../work/file").await;
    assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
}

#[tokio::test]
async fn a_single_file_can_be_readable_or_writable() {
    let scene = Scene::new();
    let mut sandbox = scene.sandbox();
    sandbox.read.push(scene.at("home/file"));
    let command =
        |script: &str, sandbox: &Sandbox| Command { sandbox: Some(sandbox.clone()), ..scene.command(script) };
    assert_eq!(finished(command("cat ../home/file", &sandbox)).await.stdout, b"home");
    assert_ne!(finished(command("echo x > ../home/file", &sandbox)).await.exit, Exit::Code(0));
    sandbox.write.push(scene.at("home/file"));
    assert_eq!(finished(command("echo x > ../home/file", &sandbox)).await.exit, Exit::Code(0));
    assert_ne!(finished(command("echo x > ../home/other", &sandbox)).await.exit, Exit::Code(0));
}

#[tokio::test]
async fn what_leaves_the_session_is_still_inside_and_ends_with_the_call() {
    let scene = Scene::new();
    let family = Family::new();
    let mut sandbox = scene.sandbox();
    sandbox.write.push(family.folder.path().to_owned());
    // The background process tries for as long as it lives, which is beyond the end of the command.
    let late = "while :; do echo x > new; echo x > ../home/new; echo tried > ../work/tried; done";
    let script = format!(
        "setsid sh -c '{late}' 2> /dev/null & until [ -s ../work/tried ]; do :; done; {}",
        family.script(":")
    );
    let done = finished(Command { sandbox: Some(sandbox), ..scene.command(&script) }).await;
    assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
    untouched(&scene);
    family.assert_gone();
}

/// From this version on Landlock keeps signals and abstract sockets inside.
fn scopes() -> bool {
    landlock().unwrap() >= 6
}

#[tokio::test]
async fn its_own_processes_can_be_signalled_and_its_supervisor_cannot() {
    let scene = Scene::new();
    let script = "sleep 1000 & kill $! && wait $!; [ $? -eq 143 ] || exit 1
                  trap 'echo heard' TERM; kill -TERM 0";
    let done = scene.run(script).await;
    assert_eq!((done.exit, done.stdout.as_slice()), (Exit::Code(0), &b"heard\n"[..]), "{}", said(&done));
    if scopes() {
        let done = scene.run("kill -0 $PPID || kill -9 $PPID || echo still here").await;
        assert_eq!(
            (done.exit, done.stdout.as_slice()),
            (Exit::Code(0), &b"still here\n"[..]),
            "{}",
            said(&done)
        );
    }
    let done = finished(Command { sandbox: None, ..scene.command("kill -0 $PPID") }).await;
    assert_eq!(done.exit, Exit::Code(0), "sabotage: without a sandbox the supervisor can be signalled");
}

#[tokio::test]
async fn sockets_without_a_file_are_out_of_reach() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener};
    let scene = Scene::new();
    let name = scene.folder.path().to_str().unwrap();
    let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
    let mut sandbox = scene.sandbox();
    sandbox.read.push(PROBE.into());
    let connect = Command { sandbox: Some(sandbox), ..scene.runs(PROBE, &["--abstract", name]) };
    if scopes() {
        let done = finished(connect.clone()).await;
        assert!(said(&done).contains("not permitted"), "{}", said(&done));
    }
    let done = finished(Command { sandbox: None, ..connect }).await;
    assert_eq!(done.exit, Exit::Code(0), "sabotage: {}", said(&done));
}

#[tokio::test]
async fn the_start_itself_needs_nothing_in_the_sandbox_but_the_program() {
    let scene = Scene::new();
    let read = ["/usr", "/bin", "/lib", "/lib64"].iter().map(Into::into).collect();
    let sandbox = Sandbox { read, ..Sandbox::default() };
    let done = finished(Command { sandbox: Some(sandbox), ..scene.runs("true", &[]) }).await;
    assert_eq!(done.exit, Exit::Code(0), "{}", said(&done));
}

#[tokio::test]
async fn a_path_that_depends_on_where_one_stands_is_refused() {
    let scene = Scene::new();
    let mut sandbox = scene.sandbox();
    sandbox.read.push("here/below".into());
    let refused =
        run(Command { sandbox: Some(sandbox), ..scene.command(":") }).await.unwrap_err().to_string();
    assert!(refused.contains("`here/below` is not an absolute path"), "{refused}");
}

#[tokio::test]
async fn tcp_works_only_where_it_is_allowed() {
    use Network::{FreePorts, None, Open, Out};
    let scene = Scene::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    // A port that is free, and that whoever wants it must ask for by its number.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    for (args, allowed) in [
        (["--connect", port.as_str()], &[Out, FreePorts, Open][..]),
        (["--listen", "0"], &[FreePorts, Open][..]),
        (["--listen", free.as_str()], &[Open][..]),
    ] {
        for network in [None, Out, FreePorts, Open] {
            let mut sandbox = Sandbox { network, ..scene.sandbox() };
            sandbox.read.push(PROBE.into());
            let done = finished(Command { sandbox: Some(sandbox), ..scene.runs(PROBE, &args) }).await;
            let allowed = allowed.contains(&network);
            assert_eq!(done.exit == Exit::Code(0), allowed, "{args:?}, {network:?}: {}", said(&done));
            let denied = String::from_utf8_lossy(&done.stderr).contains("Permission denied");
            assert_eq!(denied, !allowed, "{args:?}, {network:?}: {}", said(&done));
        }
    }
}

#[tokio::test]
async fn a_talk_is_held_like_any_other_call() {
    let scene = Scene::new();
    let command = scene.command("read word; echo $word > new || echo $word > ../work/new");
    let mut talk = launcher().talk(command, StdinSource::Open, CancellationToken::new()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(talk.input.as_mut().unwrap(), b"said\n").await.unwrap();
    assert_eq!(talk.end.await.unwrap().exit, Exit::Code(0));
    assert_eq!(std::fs::read_to_string(scene.at("work/new")).unwrap(), "said\n");
    untouched(&scene);
}

#[tokio::test]
async fn a_program_out_of_reach_is_refused_with_the_remedy() {
    let scene = Scene::new();
    let program = scene.at("home/program");
    std::fs::write(&program, "#!/bin/sh\necho ran\n").unwrap();
    super::make_executable(&program);
    let outside = scene.runs(program.to_str().unwrap(), &[]);
    let refused = run(outside.clone()).await.unwrap_err().to_string();
    assert!(refused.contains("sandbox") && refused.contains("`read`"), "{refused}");
    assert_eq!(finished(Command { sandbox: None, ..outside }).await.stdout, b"ran\n");
}

#[tokio::test]
async fn the_program_that_path_names_first_is_the_one_that_runs_or_none() {
    let scene = Scene::new();
    let own = scene.at("home/ls");
    std::fs::write(&own, "#!/bin/sh\necho own\n").unwrap();
    super::make_executable(&own);
    let path = format!("{}:{}", scene.at("home").display(), std::env::var("PATH").unwrap());
    let list = Command { env: vec![("PATH".to_owned(), path)], ..scene.runs("ls", &[]) };
    let refused = run(list.clone()).await.unwrap_err().to_string();
    assert!(refused.contains("sandbox"), "the next `ls` ran instead: {refused}");
    let mut sandbox = scene.sandbox();
    sandbox.read.push(scene.at("home"));
    assert_eq!(finished(Command { sandbox: Some(sandbox), ..list }).await.stdout, b"own\n");
    let missing = run(scene.runs("no-such-program-here", &[])).await.unwrap_err().to_string();
    assert!(missing.contains("install it"), "{missing}");
}

/// A supervisor told something else about its kernel than a launcher would.
fn told(scene: &Scene, kernel: &str, script: &str) -> (Child, String) {
    let raw = |path: &Path| path.to_str().unwrap().as_bytes().to_vec();
    let Sandbox { read, write, network, apart, own, shares: _ } = scene.sandbox();
    let paths = |paths: Vec<PathBuf>| paths.iter().map(|path| raw(path)).collect::<Vec<_>>();
    let besides = json!({
        "cwd": raw(&scene.at("tree")), "kernel": kernel,
        "sandbox": { "read": paths(read), "write": paths(write), "network": network, "apart": apart, "own": own },
    });
    let mut supervisor = by_hand(script, b"", &besides);
    let mut said = String::new();
    // The pipe stays open meanwhile: it is the report that ends this.
    std::io::Read::read_to_string(supervisor.stderr.as_mut().unwrap(), &mut said).unwrap();
    (supervisor, said)
}

#[test]
fn what_the_kernel_cannot_hold_or_does_not_hold_is_not_started() {
    for (kernel, says) in [
        ("without_landlock", "this kernel has no Landlock"),
        // It says that the sandbox stands and lets everything through: only the trial finds out.
        ("with_holes", "can be written"),
    ] {
        let scene = Scene::new();
        let (mut supervisor, said) = told(&scene, kernel, "echo x > ../work/ran");
        assert!(said.contains("no_sandbox") && said.contains(says), "{kernel}: {said}");
        assert!(!scene.at("work/ran").exists(), "{kernel}: it ran");
        supervisor.wait().unwrap();
        untouched(&scene);
    }
    let scene = Scene::new();
    let (mut supervisor, said) = told(&scene, "as_it_is", "echo x > ../work/ran");
    assert!(said.contains("exited"), "{said}");
    assert!(scene.at("work/ran").exists(), "on this kernel it runs");
    supervisor.wait().unwrap();
}
