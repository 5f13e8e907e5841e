//! A critic that tries to write: with the sandbox it cannot, without it is found out, undone, and void.

use std::fs;
use std::path::Path;

use crate::powers::desk::{Answer, Desk, alive, passed, wait_for};
use crate::powers::kinds::{KINDS, Kind, layers, powers};
use crate::powers::{EVIL, landlock};

/// What comes of a deed if nothing but the comparison holds.
enum Uncaught {
    /// Found out; this path is named.
    Void(&'static str),
    /// Beyond what is compared: the record must not claim otherwise.
    Beyond,
}

use Uncaught::{Beyond, Void};

/// How, what (`E` is the mark, `P` the user's project, `R` the run's folder), and what comes of it unsandboxed.
const DEEDS: [(&str, &str, Uncaught); 12] = [
    ("directly", "echo E >a.txt", Void("a.txt")),
    ("a new file", "echo E >new.txt", Void("new.txt")),
    ("by a child", "sh -c 'mkdir -p deep/er && echo E >deep/er/new.txt'", Void("deep")),
    ("through a link", "ln -s \"$PWD/a.txt\" scratch/link; echo E >scratch/link", Void("a.txt")),
    ("by cutting it short", "truncate -s 0 a.txt", Void("a.txt")),
    ("by deleting", "rm -f a.txt", Void("a.txt")),
    ("by renaming over it", "echo E >scratch/x; mv -f scratch/x a.txt", Void("a.txt")),
    ("into a `.git`", "mkdir -p .git/hooks && echo E >.git/hooks/pre-commit", Void(".git")),
    (
        "by a process that outlives the call",
        "setsid sh -c 'while :; do echo E >a.txt; echo >scratch/begun; done' E-left >/dev/null 2>&1 & \
         while [ ! -e scratch/begun ]; do :; done",
        Void("a.txt"),
    ),
    ("to another agent's place", "echo E >R/tree/work/a.txt", Void("a.txt")),
    ("to the user's checkout", "echo E >P/b.txt; echo E >P/.git/hooks/post-checkout", Beyond),
    ("to the store", "echo E >P/.gadfly/evil; echo E >>R/states/evil", Beyond),
];

const FOR_EVERY_KIND: [&str; 5] =
    ["directly", "by a child", "through a link", "into a `.git`", "by a process that outlives the call"];

fn prepared(kind: &Kind, action: &str, settings: &str) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "mine\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    let project = desk.path("");
    let project = project.to_str().unwrap().trim_end_matches('/');
    // The run's folder is above the critic's.
    let action = action.replace("P/", &format!("{project}/")).replace("R/", "\"${PWD%/work/*}\"/");
    let action = action.replace("echo E", &format!("echo {EVIL}")).replace("E-left", &format!("{EVIL}-left"));
    let does = format!("({action}) 2>/dev/null");
    kind.agent(&desk, "c", &does, &passed(1), settings);
    desk
}

/// Every kind with every deed that must be shown for it, and commands with all of them.
fn cases() -> impl Iterator<Item = (&'static Kind, &'static str, &'static str, &'static Uncaught)> {
    KINDS.iter().flat_map(|kind| {
        let actions = DEEDS.iter().filter(|(how, ..)| kind.name == "command" || FOR_EVERY_KIND.contains(how));
        actions.map(move |(how, action, uncaught)| (kind, *how, *action, uncaught))
    })
}

/// Files below a folder with the mark in them.
fn marked(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if meta.is_dir() {
                folders.push(path);
            } else if meta.is_file() {
                let bytes = fs::read(&path).unwrap_or_default();
                if bytes.windows(EVIL.len()).any(|w| w == EVIL.as_bytes()) {
                    found.push(path.display().to_string());
                }
            }
        }
    }
    found
}

#[test]
fn in_the_sandbox_a_critic_cannot_write_anywhere_and_the_record_says_what_held() {
    if !landlock("a critic in the sandbox") {
        return;
    }
    for (kind, how, action, _) in cases() {
        let case = format!("{} {how}", kind.name);
        let desk = prepared(kind, action, "");
        let (git, own) = (desk.git_bytes(), desk.read("b.txt"));
        let said = desk.audit(&[]);
        // Nothing was changed, so what it says counts: the worker's own work is accepted.
        assert_eq!(said.code, 0, "{case}: {}", said.err);
        assert_eq!(desk.read("a.txt"), "two\n", "{case}");
        assert_eq!(desk.read("b.txt"), own, "{case}: the user's file");
        assert_eq!(desk.git_bytes(), git, "{case}: the user's repository");
        assert_eq!(marked(&desk.path("")), [""; 0], "{case}: without the sandbox there is a mark");
        assert_eq!(desk.files().len(), 3, "{case}: {:?}", desk.files().keys());
        wait_for("no process stays", || alive(&format!("{EVIL}-left")).is_empty());
        let held = layers(&desk, "critic");
        assert!(held.ends_with(&["landlock".into(), "compared".into()]), "{case}: {held:?}");
        let shown = desk.gadfly(&["show", &desk.run_id()]).out;
        assert!(
            shown.contains("sandbox: ") && shown.contains("Landlock (files; TCP out only"),
            "{case}: {shown}"
        );
    }
}

#[test]
fn without_a_sandbox_a_critic_that_changed_something_is_found_out_undone_and_void() {
    for (kind, how, action, uncaught) in cases() {
        let case = format!("{} {how}", kind.name);
        let desk = prepared(kind, action, "sandbox = \"off\"\n");
        let before = desk.files();
        let said = desk.audit(&[]);
        let held = layers(&desk, "critic");
        assert!(!held.contains(&"landlock".to_owned()), "{case}: it is not claimed: {held:?}");
        assert!(held.ends_with(&["compared".into()]), "{case}: {held:?}");
        wait_for("no process stays", || alive(&format!("{EVIL}-left")).is_empty());
        let Void(path) = uncaught else { continue };
        assert_eq!(said.code, 5, "{case}: {}", said.err);
        assert_eq!(desk.state(), "unverified", "{case}");
        assert_eq!(desk.files(), before, "{case}: the user's files");
        let stopped: Vec<String> = powers(&desk).iter().map(|call| call["stopped"].to_string()).collect();
        let stopped = stopped.join(" ");
        assert!(stopped.contains("\"compared\"") && stopped.contains(path), "{case}: {stopped}");
        let shown = desk.gadfly(&["show", &desk.run_id()]).out;
        assert!(shown.contains("stopped by tree compared"), "{case}: {shown}");
        // Another critic finds exactly what the worker left.
        let looks = "[ \"$(cat a.txt)\" = two ] && [ ! -e .git ] || exit 9";
        kind.write(&desk, "c", looks, &passed(1));
        let said = desk.gadfly(&["resume", &desk.run_id()]);
        assert_eq!(said.code, 0, "{case}: {}", said.err);
        assert_eq!(desk.read("a.txt"), "two\n", "{case}");
    }
}

#[test]
fn a_critic_that_writes_and_fails_is_named_in_the_record_too() {
    let desk = prepared(&KINDS[0], "echo E >a.txt", "sandbox = \"off\"\n");
    fs::write(desk.beside("bin/c.sh"), format!("#!/bin/sh\necho {EVIL} >a.txt; exit 3\n")).unwrap();
    let said = desk.audit(&[]);
    assert_eq!(said.code, 5, "{}", said.err);
    let log = desk.gadfly(&["show", &desk.run_id(), "--log", "--json"]).out;
    let stopped: Vec<&str> = log.lines().filter(|line| line.contains("\"event\":\"stopped\"")).collect();
    assert!(stopped.iter().any(|l| l.contains("compared") && l.contains("a.txt")), "{log}");
}

#[test]
fn what_a_reader_needs_it_has() {
    // Its scratch folder, a folder for temporary files, git, and the usual devices; and none of it stays.
    let needs = "echo x >scratch/x && echo x >\"$TMPDIR/x\" && echo x >/dev/null && head -c 8 /dev/urandom \
                 >/dev/null && git --version >/dev/null && ls /proc/self >/dev/null || exit 7";
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "mine\n")]);
    fs::write(desk.beside("home/.gitconfig"), "[user]\nname = x\n").unwrap();
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    let config = "git config --get user.name >/dev/null || exit 8";
    desk.program("c", &format!("cat >/dev/null\n{needs}\n{config}\ncat <<'END'\n{}\nEND", passed(1)));
    let said = desk.command(&crate::powers::desk::AUDIT).env("TMPDIR", "/tmp").output().unwrap();
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let work = desk.work(&desk.run_id()).join("work");
    let left: Vec<_> = fs::read_dir(work).into_iter().flatten().flatten().map(|e| e.path()).collect();
    assert!(left.is_empty(), "{left:?}");
}
