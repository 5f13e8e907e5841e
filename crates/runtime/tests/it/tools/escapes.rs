//! Ways out of the run's folder, each tried: none may reach the checkout, the home, the store or the common
//! folder for temporary files.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use gadfly_engine::tool::{ToolEnd, ToolUse};
use gadfly_engine::tree::RunEnd;
use gadfly_runtime::os::landlock;

use crate::tools::stage::{Stage, command};

/// Everything outside the run's folder that a command could want to change, as one text.
fn outside(stage: &Stage) -> String {
    let mut all = String::new();
    for folder in ["project", "home", "elsewhere"] {
        let mut left = vec![stage.at(folder)];
        while let Some(at) = left.pop() {
            let mut entries: Vec<_> = fs::read_dir(&at).unwrap().map(|e| e.unwrap().path()).collect();
            entries.sort();
            for path in entries {
                if path.is_dir() {
                    left.push(path);
                } else {
                    let _ = writeln!(all, "{} {:?}", path.display(), fs::read(&path).unwrap());
                }
            }
        }
    }
    all
}

#[tokio::test]
async fn no_path_leads_a_file_tool_outside() {
    let stage = Stage::new();
    let work = stage.work().await;
    symlink(stage.at("elsewhere"), work.join("folder")).unwrap();
    symlink(stage.at("elsewhere/precious"), work.join("file")).unwrap();
    symlink("/", work.join("src/root")).unwrap();
    let before = outside(&stage);
    let absolute = stage.at("elsewhere/precious");
    let up = format!("src/root{}", absolute.display());
    let paths = [
        "../../../../../elsewhere/precious",
        "src/../../x",
        "..",
        "folder/precious",
        "file",
        "folder/../elsewhere/precious",
        absolute.to_str().unwrap(),
        up.as_str(),
        "src/root/etc/passwd",
        "a\0b",
        &"x/".repeat(3000),
        "",
    ];
    for path in paths {
        stage.read(path).await.refused();
        stage.write(path, "gone").await.refused();
        stage.edit(path, "precious", "gone", false).await.refused();
    }
    for path in ["..", "folder", "src/root/etc", "/etc", absolute.parent().unwrap().to_str().unwrap()] {
        stage.list(path).await.refused();
        stage.search("precious|root", path).await.refused();
    }
    assert!(!stage.search("precious", "").await.well().contains("precious"), "links are not followed");
    assert_eq!(outside(&stage), before);
    // Sabotage: a plain write goes through the link.
    fs::write(work.join("file"), "gone").unwrap();
    assert_ne!(outside(&stage), before);
}

/// A project below the top of a repository: its folder, too, is the worker's to replace.
#[tokio::test]
async fn the_project_itself_replaced_by_a_link_leads_nowhere() {
    let stage = Stage::with("project/part", |dir| {
        let git = |args: &[&str]| {
            let done = std::process::Command::new("git").args(args).current_dir(dir.join("project")).output();
            assert!(done.unwrap().status.success());
        };
        git(&["init", "-q"]);
        fs::create_dir(dir.join("project/part")).unwrap();
        fs::write(dir.join("project/part/b.txt"), "b\n").unwrap();
        git(&["add", "-A"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "x"]);
    });
    let work = stage.work().await;
    assert_eq!(stage.read("b.txt").await.well(), "1\tb\n");
    fs::rename(&work, work.with_extension("away")).unwrap();
    symlink(stage.at("elsewhere"), &work).unwrap();
    assert!(stage.read("precious").await.refused().contains("the run's folder cannot be used"));
    assert!(stage.write("precious", "gone").await.refused().contains("the run's folder cannot be used"));
    assert!(stage.sh("echo gone > precious").await.refused().contains("the run's folder cannot be used"));
    assert_eq!(fs::read_to_string(stage.at("elsewhere/precious")).unwrap(), "precious\n");
}

/// Would go red, sooner or later, if paths were looked at first and used afterwards.
#[tokio::test]
async fn a_folder_that_is_swapped_for_a_link_meanwhile_gains_nothing() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let stage = Stage::new();
    let work = stage.work().await;
    fs::create_dir(work.join("d")).unwrap();
    symlink(stage.at("elsewhere"), work.join("l")).unwrap();
    let over = std::sync::Arc::new(AtomicBool::new(false));
    let swapping = std::thread::spawn({
        let (over, d, l) = (over.clone(), work.join("d"), work.join("l"));
        move || {
            while !over.load(Relaxed) {
                renameat_with(CWD, &d, CWD, &l, RenameFlags::EXCHANGE).unwrap();
            }
        }
    });
    for n in 0..200 {
        stage.write(&format!("d/f{n}"), "x").await;
        let read = stage.read("d/precious").await;
        assert!(read.done().is_error(), "{}", read.shown);
        assert!(!stage.search("precious", "").await.shown.contains("d/precious"));
    }
    over.store(true, Relaxed);
    swapping.join().unwrap();
    assert_eq!(fs::read_dir(stage.at("elsewhere")).unwrap().count(), 1, "only what was there");
}

/// What a command tries, with the places it would reach in `$…`.
const TRIES: [&str; 12] = [
    "echo gone > $PROJECT/a.txt",
    "rm -r $PROJECT/src",
    "echo gone > $ELSEWHERE/precious",
    "cd $ELSEWHERE && echo gone > new",
    "ln -s $ELSEWHERE here && echo gone > here/precious",
    "git -C $ELSEWHERE init -q",
    "git -C $PROJECT init -q && git -C $PROJECT add -A",
    "echo gone > $HOMEDIR/.bashrc",
    "cat $HOMEDIR/.netrc",
    "echo gone > $STORE/x",
    "echo gone > $SHARED/x",
    "(setsid sh -c 'echo gone > $ELSEWHERE/precious' &); sleep 0.2; test -e $ELSEWHERE/new",
];

fn tried(stage: &Stage, line: &str, shared: &Path) -> String {
    let at = |path: &str| stage.at(path).to_str().unwrap().to_owned();
    line.replace("$PROJECT", &at("project"))
        .replace("$ELSEWHERE", &at("elsewhere"))
        .replace("$HOMEDIR", &at("home"))
        .replace("$STORE", &at("store"))
        .replace("$SHARED", shared.to_str().unwrap())
}

#[tokio::test]
async fn no_command_reaches_anything_outside() {
    if landlock().is_err() {
        return;
    }
    let stage = Stage::new();
    let shared = tempfile::tempdir_in("/tmp").unwrap();
    let before = outside(&stage);
    for line in TRIES {
        let line = tried(&stage, line, shared.path());
        let came = stage.sh(&line).await;
        assert!(matches!(came.end(), ToolEnd::Ran(RunEnd::Code(1..))), "{line}: {came:?}");
        assert!(!came.shown.contains("a password"), "{}", came.shown);
        assert_eq!(outside(&stage), before, "{line}");
    }
    assert_eq!(fs::read_dir(shared.path()).unwrap().count(), 0);
    assert!(!stage.at("store/x").exists());
}

/// The test above sees what gets out: without the sandbox every one of these does.
#[tokio::test]
async fn without_the_sandbox_the_same_commands_get_out() {
    for line in TRIES {
        let stage = Stage::new();
        let shared = tempfile::tempdir_in("/tmp").unwrap();
        let before = outside(&stage);
        let line = tried(&stage, line, shared.path());
        let wanted = ToolUse { beyond: true, ..ToolUse::new(command(&line, 30_000), 1) };
        let came = stage.perform(wanted, &[]).await;
        let said = format!("{:?}", came.observed);
        assert!(said.contains("no Landlock: a person let this command"), "{said}");
        let got_out = outside(&stage) != before
            || came.shown.contains("a password")
            || stage.at("store/x").exists()
            || fs::read_dir(shared.path()).unwrap().count() > 0;
        assert!(got_out, "{line}: {came:?}");
    }
}

#[tokio::test]
async fn the_network_is_there_only_if_it_was_given() {
    if landlock().is_ok_and(|version| version >= 4) {
        let stage = Stage::new();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let line =
            format!("python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'");
        for network in [false, true] {
            let wanted = ToolUse { network, ..ToolUse::new(command(&line, 30_000), 1) };
            let came = stage.perform(wanted, &[]).await;
            assert_eq!(matches!(came.end(), ToolEnd::Ran(RunEnd::Code(0))), network, "{came:?}");
        }
    }
}
