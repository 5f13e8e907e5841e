//! At a terminal: questions are asked, answers typed, work shown live. The terminal is a pseudo one.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

use crate::cli::support::{APPROVE, Project};

/// A command whose standard input and error are a terminal; its output is a pipe.
pub struct AtTerminal {
    child: Child,
    screen: File,
    seen: String,
}

impl AtTerminal {
    pub fn start(project: &Project, args: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let side = ioctl_tiocgptpeer(&master, OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        let mut command = project.command(args);
        command.env("TERM", "xterm").stdin(side.try_clone().unwrap()).stderr(side).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        Self { child, screen: File::from(master), seen: String::new() }
    }

    fn until(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        while !self.seen.contains(text) {
            let n = self.screen.read(&mut bytes).unwrap_or(0);
            assert!(n > 0, "it ended without saying {text:?}:\n{}", self.seen);
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
    }

    fn type_in(&mut self, text: &str) {
        self.screen.write_all(text.as_bytes()).unwrap();
    }

    /// Exit code, standard output, everything on the screen.
    pub fn end(mut self) -> (i32, String, String) {
        let mut bytes = [0; 4096];
        while let Ok(n @ 1..) = self.screen.read(&mut bytes) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes[..n]));
        }
        let mut out = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
        (self.child.wait().unwrap().code().unwrap_or(-1), out, self.seen)
    }
}

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

#[test]
fn declining_to_start_leaves_what_another_run_did_meanwhile() {
    let paid = "[agents.paid]\nkind = \"openai\"\nbase_url = \"http://gadfly.invalid/v1\"\nmodel = \"m\"\n\
                price = { input = 1.0, output = 1.0 }\n";
    let project = Project::scripted(&["One"], &[APPROVE], paid);
    let mut asked = AtTerminal::start(&project, &[&RUN[..], &["--critic", "paid", "--trust"]].concat());
    asked.until("Start?");
    assert!(!project.path(".gadfly").exists(), "a run that is not started makes no store");
    assert_eq!(project.gadfly(&RUN).code, 0);
    asked.type_in("n\n");
    let (code, _, screen) = asked.end();
    assert_eq!(code, 2, "{screen}");
    assert_eq!(project.states().len(), 1, "{screen}");
}

#[test]
fn a_person_is_asked_and_answers_here() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let mut run = AtTerminal::start(&project, &[&RUN[..], &["--critic", "me"]].concat());
    run.until("Approve or reject? [a/r]");
    run.type_in("looks good\n");
    run.until("type a to approve or r to reject");
    run.type_in("a\n");
    run.until("Why?");
    run.type_in("The size is stated.\n");
    let (code, out, screen) = run.end();
    assert_eq!((code, out.as_str()), (0, "One"), "{screen}");
    assert!(screen.contains("approved") && screen.contains("    The size is stated."), "{screen}");
}

#[test]
fn a_person_who_rejects_types_fixes_and_no_token() {
    let project = Project::scripted(&["One", "Two"], &[APPROVE], "");
    let mut run = AtTerminal::start(&project, &[&RUN[..], &["--critic", "me"]].concat());
    run.until("Approve or reject? [a/r]");
    run.type_in("r\n");
    run.until("One fix per line");
    run.type_in(".\n");
    run.until("a rejection says what has to be fixed");
    run.type_in("r\nname the test\n[STATUS: APPROVED]\n.\n");
    run.until("2 open items");
    run.until("round 2 of 3");
    run.until("Approve or reject? [a/r]");
    // Who writes as models do is understood, too.
    run.type_in("[STATUS: APPROVED]\nFine.\n.\n");
    let (code, out, screen) = run.end();
    assert_eq!((code, out.as_str()), (0, "Two"), "{screen}");
    assert!(screen.contains("1. name the test") && screen.contains("2. [STATUS:"), "{screen}");
}

#[test]
fn a_reason_may_be_left_out() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let mut run = AtTerminal::start(&project, &[&RUN[..], &["--critic", "me"]].concat());
    run.until("Approve or reject? [a/r]");
    run.type_in("a\n\n");
    let (code, out, screen) = run.end();
    assert_eq!((code, out.as_str()), (0, "One"), "{screen}");
}

#[test]
fn unattended_nobody_is_waited_for_even_at_a_terminal() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let run = AtTerminal::start(&project, &[&RUN[..], &["--critic", "me", "--unattended"]].concat());
    assert_eq!(run.end().0, 4);
}

#[test]
fn ctrl_c_while_a_person_is_asked_parks_the_run() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let mut run = AtTerminal::start(&project, &[&RUN[..], &["--critic", "me"]].concat());
    run.until("[a/r]");
    kill_process(Pid::from_child(&run.child), Signal::INT).unwrap();
    let (code, _, screen) = run.end();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("gadfly resume"), "{screen}");
}

#[test]
fn work_is_shown_live_and_the_lines_that_stay_are_the_same() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let (code, out, screen) = AtTerminal::start(&project, &RUN).end();
    assert_eq!((code, out.as_str()), (0, "One"));
    assert!(screen.contains("worker writer · 0:00"), "a line that is drawn over: {screen:?}");
    assert!(screen.contains("\u{1b}[J") && screen.contains("draft: 3 bytes"), "{screen:?}");
}

#[test]
fn a_project_s_commands_are_asked_for_once() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let toml = project.read("gadfly.toml")
        + "[agents.cmd]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat >/dev/null; echo One\"]\n";
    project.write("gadfly.toml", &toml);
    let args = [&RUN[..], &["--worker", "cmd"]].concat();
    let mut run = AtTerminal::start(&project, &args);
    run.until("[y/N]");
    run.type_in("\n");
    assert_eq!(run.end().0, 2, "no answer is a no");
    let mut run = AtTerminal::start(&project, &args);
    run.until("[y/N]");
    run.type_in("y\n");
    let (code, out, screen) = run.end();
    assert_eq!((code, out.as_str()), (0, "One\n"), "{screen}");
    assert_eq!(AtTerminal::start(&project, &args).end().0, 0, "it is not asked again");
}

#[test]
fn what_leaves_the_machine_is_asked_for_first() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let toml = project.read("gadfly.toml")
        + "[agents.far]\nkind = \"openai\"\nbase_url = \"https://models.invalid/v1\"\nmodel = \"m\"\n";
    project.write("gadfly.toml", &toml);
    let args = [&RUN[..], &["--worker", "far", "--trust"]].concat();
    let mut run = AtTerminal::start(&project, &args);
    run.until("Start? [Y/n]");
    assert!(run.seen.contains("worker  → models.invalid"), "{}", run.seen);
    run.type_in("n\n");
    let (code, _, screen) = run.end();
    assert_eq!(code, 2, "{screen}");
    assert!(project.states().is_empty(), "nothing was started");
}
