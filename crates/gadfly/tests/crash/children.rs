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

/// The processes of this one, its children and theirs, as `/proc` tells now.
fn below(pid: u32) -> Vec<(u32, String)> {
    let mut rows = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse::<u32>().ok());
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if let (Some(parent), Ok(pid)) = (parent, entry.file_name().to_string_lossy().parse::<u32>()) {
            rows.push((pid, parent, line));
        }
    }
    let (mut found, mut parents) = (Vec::new(), vec![pid]);
    while let Some(parent) = parents.pop() {
        for (pid, _, line) in rows.iter().filter(|(_, p, _)| *p == parent) {
            parents.push(*pid);
            found.push((*pid, line.clone()));
        }
    }
    found
}

/// A run whose worker has three children: one in its group, one in a session of its own, and one whose parent is gone.
struct Hanging {
    project: Project,
    child: std::process::Child,
    mark: String,
    sleeping: String,
    _server: (tokio::runtime::Runtime, gadfly_testbed::Server),
}

impl Hanging {
    fn start(nth: u32) -> Self {
        let (runtime, server) = serve(0);
        let project = Project::new(&server, "critic:A");
        let id = format!("{}{nth}", std::process::id());
        let mark = format!("hang-{id}");
        let script = project.path().join(format!("{mark}.sh"));
        let text = format!(
            "#!/bin/sh\nsleep 600.{id} & setsid sleep 601.{id} &\n(setsid sh -c 'sleep 603.{id} &' &)\nsleep 602.{id}\n"
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let config = fs::read_to_string(project.path().join(OWN)).unwrap();
        let agent = format!(
            "{config}[agents.hang]\nkind = \"command\"\ncommand = [\"{0}/{mark}.sh\"]\n",
            project.path().display()
        );
        fs::write(project.path().join(OWN), agent).unwrap();
        let args = [
            "run",
            "Write.",
            "--criterion",
            "at most 3 words",
            "--worker",
            "hang",
            "--critic",
            "c",
            "--trust",
        ];
        let child = project.gadfly(&args).spawn().unwrap();
        let hanging = Self { project, child, mark, sleeping: format!(".{id}"), _server: (runtime, server) };
        wait_for("the agent's children started", Duration::from_secs(30), || hanging.family() == 4);
        hanging
    }

    fn family(&self) -> usize {
        alive(&self.sleeping).into_iter().filter(|l| l.starts_with("sleep 60")).count()
    }

    /// Kills these, all at once, and waits for the end of everybody.
    fn kill(mut self, also: impl Fn(&str) -> bool) {
        let ours: Vec<u32> =
            below(self.child.id()).into_iter().filter(|(_, l)| also(l)).map(|(p, _)| p).collect();
        let all: Vec<String> = ours.iter().chain([&self.child.id()]).map(ToString::to_string).collect();
        assert!(std::process::Command::new("kill").arg("-9").args(&all).status().unwrap().success());
        self.child.wait().unwrap();
        wait_for("every child ended", Duration::from_secs(2), || {
            self.family() == 0 && alive(&self.mark).is_empty()
        });
        drop(self.project);
    }
}

#[test]
fn no_child_outlives_a_killed_gadfly_by_two_seconds() {
    Hanging::start(1).kill(|_| false);
}

/// What `pkill -9 gadfly` does: all that are this program die in the same moment.
#[test]
fn no_child_outlives_gadfly_and_its_supervisor_killed_at_once() {
    if let Err(why) = can_be_alone() {
        say!("SKIPPED: no process table of its own here: {why}");
        return;
    }
    Hanging::start(2).kill(|line| line.contains("__supervise"));
    Hanging::start(3).kill(|line| line.contains("__supervise") && !line.contains("__anchor"));
}

/// Whether this machine gives commands a process table of their own, as the binary itself finds.
fn can_be_alone() -> Result<(), String> {
    let mut trial = std::process::Command::new(env!("CARGO_BIN_EXE_gadfly"));
    let tried = trial.args(["__supervise", "__alone"]).stdin(std::process::Stdio::null()).output().unwrap();
    if tried.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&tried.stderr).into_owned()) }
}
