//! After `kill -9` of Gadfly no child of a process agent survives two seconds.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use crate::{OWN, Project, serve};

/// Processes whose command line holds the mark.
fn alive(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = fs::read(entry.path().join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(mark) {
            found.push(line);
        }
    }
    found
}

fn wait_for(what: &str, within: Duration, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < within, "{what} within {within:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn no_child_outlives_a_killed_gadfly_by_two_seconds() {
    let (_runtime, server) = serve(0);
    let project = Project::new(&server, "critic:A");
    let mark = format!("hang-{}", std::process::id());
    let script = project.path().join(format!("{mark}.sh"));
    // One child in the group, one that left it, and the script itself.
    let text =
        format!("#!/bin/sh\nsleep 600.{0} & setsid sleep 601.{0} &\nsleep 602.{0}\n", std::process::id());
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let config = fs::read_to_string(project.path().join(OWN)).unwrap();
    let agent = format!(
        "{config}[agents.hang]\nkind = \"command\"\ncommand = [\"{0}/{mark}.sh\"]\n",
        project.path().display()
    );
    fs::write(project.path().join(OWN), agent).unwrap();
    let args =
        ["run", "Write.", "--criterion", "at most 3 words", "--worker", "hang", "--critic", "c", "--trust"];
    let mut child = project.gadfly(&args).spawn().unwrap();
    let sleeping = format!(".{}", std::process::id());
    let family = || alive(&sleeping).into_iter().filter(|l| l.starts_with("sleep 60")).count();
    wait_for("the agent's three children started", Duration::from_secs(30), || family() == 3);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("every child ended", Duration::from_secs(2), || family() == 0 && alive(&mark).is_empty());
}
