//! `kill -9` in the middle of an edit and in the middle of acceptance: the tree is put back, nothing is lost or
//! done twice, and nobody is left running.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::judging::desk::{AUDIT, Desk, alive, make_fifo, passed, wait_for, wait_within};

#[test]
fn killed_in_the_middle_of_an_edit_the_round_is_repeated_once_from_its_beginning() {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let mark = format!("73{}", std::process::id());
    let seen = desk.beside("seen");
    fs::create_dir(&seen).unwrap();
    let (gate, log, half) = (seen.join("gate"), seen.join("log"), seen.join("half"));
    make_fifo(&gate);
    // The first time it writes half, deletes, leaves children behind and never goes on.
    let worker = format!(
        "cat >/dev/null; cat a.txt b.txt >>{log}\n\
         if [ ! -e {half} ]; then echo half >a.txt; rm b.txt; echo x >junk.txt; git add -A; git commit -qm junk\n\
         sleep {mark}1 & setsid sleep {mark}2 & : >{half}; read x <{gate}; fi\n\
         echo two >a.txt; echo done",
        log = log.display(),
        half = half.display(),
        gate = gate.display()
    );
    desk.program("w", &worker);
    desk.configure(&format!("state = [{}]\n", json!(seen)));
    desk.saying("c", &[&passed(1)]);
    let (before, git) = (desk.files(), desk.git_bytes());
    let mut child = desk.spawn(&AUDIT);
    wait_for("the worker wrote half", || half.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let script = desk.beside("bin/w.sh").display().to_string();
    wait_within("every child ended", Duration::from_secs(2), || {
        alive(&mark).is_empty() && alive(&script).is_empty()
    });
    assert_eq!((desk.files(), desk.git_bytes()), (before.clone(), git.clone()), "the checkout is untouched");
    assert_eq!(desk.state(), "interrupted");
    let said = desk.gadfly(&["resume", &desk.run_id()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        fs::read_to_string(log).unwrap(),
        "one\nb\none\nb\n",
        "twice begun, both times from the beginning"
    );
    assert_eq!((desk.read("a.txt"), desk.read("b.txt")), ("two\n".into(), "b\n".into()));
    assert!(!desk.path("junk.txt").exists());
    assert_eq!(desk.newest()["rounds"].as_u64(), Some(1));
    assert_eq!(desk.git_bytes(), git);
    assert_eq!(desk.gadfly(&["undo", &desk.run_id()]).code, 0);
    assert_eq!(desk.files(), before);
}

#[test]
fn killed_while_a_critic_reads_the_worker_is_not_called_again() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    let seen = desk.beside("seen");
    fs::create_dir(&seen).unwrap();
    let (gate, log, first) = (seen.join("gate"), seen.join("log"), seen.join("first"));
    make_fifo(&gate);
    let may_write_there = format!("state = [{}]\n", json!(seen));
    desk.program("w", &format!("cat >/dev/null; echo call >>{}; echo two >a.txt; echo done", log.display()));
    desk.configure(&may_write_there);
    let critic = format!(
        "cat >/dev/null; if [ ! -e {first} ]; then echo evil >a.txt; : >{first}; read x <{gate}; fi\n\
         [ \"$(cat a.txt)\" = two ] || exit 9\ncat <<'END'\n{reply}\nEND",
        first = first.display(),
        gate = gate.display(),
        reply = passed(1)
    );
    desk.program("c", &critic);
    // Without a sandbox, so that there is something to be undone.
    desk.configure(&format!("{may_write_there}sandbox = \"off\"\n"));
    let before = desk.files();
    let mut child = desk.spawn(&AUDIT);
    wait_for("the critic is at work", || first.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    let script = desk.beside("bin/c.sh").display().to_string();
    wait_within("the critic ended", Duration::from_secs(2), || alive(&script).is_empty());
    assert_eq!(desk.files(), before);
    let said = desk.gadfly(&["resume", &desk.run_id()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(fs::read_to_string(log).unwrap(), "call\n");
    assert_eq!(desk.read("a.txt"), "two\n");
}

#[test]
fn killed_in_the_middle_of_acceptance_it_is_finished_by_resuming_and_can_be_undone() {
    const FILES: usize = 500;
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    for n in 0..FILES {
        desk.write(&format!("d/{n:04}.txt"), "one\n");
    }
    desk.commit("many");
    desk.program("w", "cat >/dev/null; echo two >a.txt; for f in d/*.txt; do echo two >$f; done; echo done");
    desk.saying("c", &[&passed(1)]);
    desk.configure("context = 1000000\n");
    let before = desk.files();
    let written = || desk.files().iter().filter(|(path, bytes)| before.get(*path) != Some(bytes)).count();
    let mut child = desk.spawn(&AUDIT);
    let last = desk.path(&format!("d/{:04}.txt", FILES - 1));
    let (one, first) = (desk.path("a.txt"), desk.path("d/0000.txt"));
    let changed = |path: &std::path::Path| fs::read(path).is_ok_and(|b| b == b"two\n");
    wait_for("acceptance began", || changed(&one) || changed(&first) || changed(&last));
    child.kill().unwrap();
    child.wait().unwrap();
    let then = written();
    assert!(then > 0, "the kill came too early");
    // What was being written when it was killed is not in its place yet.
    let half = |path: &std::path::Path| {
        path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(".gadfly-"))
    };
    for (_, bytes) in desk.files().iter().filter(|(path, _)| !half(path)) {
        assert!([&b"one\n"[..], b"two\n", b".gadfly/\n"].contains(&&bytes[..]), "a torn file: {bytes:?}");
    }
    let run = desk.run_id();
    if desk.state() != "approved" {
        let said = desk.gadfly(&["resume", &run]);
        assert_eq!(said.code, 0, "{then} files were written before: {}", said.err);
    }
    assert_eq!(written(), FILES + 1, "{then} files were written before");
    let undone = desk.gadfly(&["undo", &run]);
    assert_eq!(undone.code, 0, "{}", undone.err);
    assert_eq!(desk.files(), before, "and all of it can be taken back");
    assert!(then < FILES + 1, "the kill came too late to show anything");
}
