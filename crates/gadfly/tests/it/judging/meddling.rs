//! Critics that write where they may only read: detected, undone, and their verdict is void. The layer under
//! test is the comparison, so they are not kept from it by a sandbox; with one they could not write at all.

use crate::judging::desk::{Answer, Desk, passed};

/// What a critic does before it gives the work its blessing, and the path that must be named.
const MEDDLING: [(&str, &str, &str); 9] = [
    ("writes a file", "echo evil >a.txt", "a.txt"),
    (
        "has a child write a new file",
        "sh -c 'mkdir -p deep/er; echo evil >deep/er/new.txt'",
        "deep/er/new.txt",
    ),
    ("writes through a link", "ln -s \"$PWD/a.txt\" scratch/link; echo evil >scratch/link", "a.txt"),
    ("deletes", "rm a.txt", "a.txt"),
    ("changes a mode", "chmod 755 a.txt", "a.txt"),
    ("puts a link in a file's place", "mv a.txt scratch/kept; ln -s scratch/kept a.txt", "a.txt"),
    (
        "leaves somebody behind who writes",
        "(while :; do echo evil >a.txt; done) >/dev/null 2>&1 & while [ \"$(cat a.txt)\" != evil ]; do :; done",
        "a.txt",
    ),
    (
        "leaves somebody behind in another session",
        "setsid sh -c 'while :; do echo evil >a.txt; done' >/dev/null 2>&1 & while [ \"$(cat a.txt)\" != evil ]; do :; done",
        "a.txt",
    ),
    (
        "writes into the worker's folder",
        "d=$PWD; while [ \"$d\" != / ]; do d=${d%/*}; [ -d \"$d/tree/work\" ] && echo evil >\"$d/tree/work/a.txt\" && break; done",
        "a.txt",
    ),
];

fn honest() -> String {
    format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1))
}

fn meddled(does: &str) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.program("c", &format!("{does}\n{}", honest()));
    desk.configure("sandbox = \"off\"\n");
    desk
}

#[test]
fn a_critic_that_changes_the_tree_is_found_out_and_its_verdict_is_void() {
    for (how, does, path) in MEDDLING {
        let desk = meddled(does);
        let before = desk.files();
        let said = desk.audit(&[]);
        assert_eq!(said.code, 5, "{how}: {}", said.err);
        assert_eq!(desk.state(), "unverified", "{how}");
        assert_eq!(desk.files(), before, "{how}: the checkout");
        let told = desk.told();
        assert!(told.contains("it may only read") && told.contains(path), "{how}: {told}");
        // Another critic in its place finds exactly what the worker left.
        let file = desk.beside("bin/c.sh");
        std::fs::write(file, format!("#!/bin/sh\n[ \"$(cat a.txt)\" = two ] || exit 9\n{}\n", honest()))
            .unwrap();
        let said = desk.gadfly(&["resume", &desk.run_id()]);
        assert_eq!(said.code, 0, "{how}: {}", said.err);
        assert_eq!(desk.read("a.txt"), "two\n", "{how}");
        assert_eq!(desk.files().len(), before.len(), "{how}: nothing of the critic's came along");
    }
}

#[test]
fn what_it_writes_into_its_scratch_folder_is_its_own_affair() {
    let desk = meddled("mkdir scratch/x; echo note >scratch/x/y; cat a.txt >scratch/z");
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.files().len(), 2, "nothing of it is accepted: {:?}", desk.files());
}

#[test]
fn a_critic_of_a_text_that_writes_is_void_too() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["Some text."]);
    desk.program("c", "cat >/dev/null; echo evil >here.txt; echo '{\"deductions\":[],\"score\":100}'");
    desk.configure("sandbox = \"off\"\n");
    desk.write("rubric.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n");
    let args =
        ["run", "Write", "--protocol", "score", "--worker", "w", "--critic", "c", "--rubric", "rubric.md"];
    let said = desk.gadfly(&[&args[..], &["--yes", "--unattended"]].concat());
    assert_eq!(said.code, 5, "{}", said.err);
    assert!(desk.told().contains("here.txt"), "{}", desk.told());
}
