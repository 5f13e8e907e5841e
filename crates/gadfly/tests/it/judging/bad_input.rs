//! Input nobody can work with: a clear message with the place, and nothing lost.

use std::fs;
use std::time::Duration;

use serde_json::json;

use crate::judging::desk::{Answer, Desk, alive, passed, report, wait_within};

const SCORE: [&str; 9] = ["run", "Write", "--protocol", "score", "--worker", "w", "--critic", "c", "--yes"];

#[test]
fn a_rubric_that_cannot_be_read_starts_nothing() {
    let table = |cell: &str| format!("| Problem | Deduction |\n|---|---|\n| No sample size | {cell} |\n");
    let cases: [(&str, Vec<u8>, &str); 5] = [
        ("latin.md", b"| Problem | Deduction |\n|---|---|\n| caf\xe9 | -5 |\n".to_vec(), "latin.md"),
        ("binary.md", vec![0, 159, 146, 150], "binary.md"),
        ("empty.md", Vec::new(), "the rubric is empty"),
        ("words.md", table("a lot").into_bytes(), "words.md"),
        ("huge.md", table("-99999999999999999999999999").into_bytes(), "huge.md"),
    ];
    for (name, bytes, named) in cases {
        let desk = Desk::folder(&[]);
        desk.saying("w", &["x"]);
        desk.saying("c", &["y"]);
        fs::write(desk.path(name), bytes).unwrap();
        let said = desk.gadfly(&[&SCORE[..], &["--rubric", name]].concat());
        assert_eq!(said.code, 2, "{name}: {}", said.err);
        assert!(said.err.contains(named), "{name}: {}", said.err);
        assert!(!desk.path(".gadfly").exists(), "{name}: nothing is left behind");
    }
    let desk = Desk::folder(&[("dir.md/x", "x")]);
    desk.saying("w", &["x"]);
    desk.saying("c", &["y"]);
    for name in ["gone.md", "dir.md"] {
        let said = desk.gadfly(&[&SCORE[..], &["--rubric", name]].concat());
        assert!(said.code == 2 && said.err.contains(name), "{name}: {}", said.err);
    }
}

#[test]
fn an_escalation_that_leads_back_is_refused_and_one_between_agents_ends() {
    let desk = Desk::folder(&[("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n")]);
    desk.saying("w", &["x"]);
    desk.saying("c", &["y"]);
    let said = desk.gadfly(&[&SCORE[..], &["--rubric", "r.md", "--escalate-to", "w"]].concat());
    assert!(said.code == 2 && said.err.contains("own worker `w`"), "{}", said.err);
    let said = desk.gadfly(&[&SCORE[..], &["--rubric", "r.md", "--escalate-to", "nobody"]].concat());
    assert!(said.code == 2 && said.err.contains("nobody"), "{}", said.err);
    // The critic is asked for a decision, and rejects what comes of it: once, then it is over.
    let desk = Desk::folder(&[("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n")]);
    desk.saying("w", &["x"]);
    let low = r#"{"deductions":[{"row":"no-sample-size","times":1,"where":"draft:1","quote":"x","says":"no n","fix":"state n"}],"score":70}"#;
    desk.saying("c", &[low]);
    let said =
        desk.gadfly(&[&SCORE[..], &["--rubric", "r.md", "--escalate-to", "c", "--unattended"]].concat());
    assert_eq!((said.code, desk.state().as_str()), (3, "halted(cap)"), "{}", said.err);
}

fn verified_by(command: &str, timeout: &str) -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.saying("c", &[&passed(1)]);
    let config = format!(
        "[loops.l]\nprotocol = \"audit\"\ntask = \"Do it\"\ntask_id = \"do-it\"\nworker = \"w\"\ncritic = \"c\"\n\
         criteria = [\"SC-1: it is done\"]\nverify = {}\nverify_timeout = \"{timeout}\"\nrounds = 1\n",
        serde_json::json!(command)
    );
    desk.write("gadfly.toml", &config);
    desk
}

const LOOP: [&str; 5] = ["run", "l", "--trust", "--unattended", "--yes"];

#[test]
fn a_verify_command_that_hangs_is_ended_with_all_its_children() {
    let mark = format!("71{}", std::process::id());
    let hangs = format!(
        "sleep {mark}1 & setsid sleep {mark}2 & setsid sh -c 'setsid sleep {mark}3 & sleep {mark}4' & sleep {mark}5"
    );
    let desk = verified_by(&hangs, "1s");
    let before = desk.files();
    let said = desk.gadfly(&LOOP);
    assert_eq!(said.code, 4, "stuck, and a person is asked: {}", said.err);
    assert!(said.err.contains("did not end") || said.err.contains("time"), "{}", said.err);
    wait_within("every child ended", Duration::from_secs(2), || alive(&mark).is_empty());
    assert_eq!(desk.files(), before);
    assert_eq!(desk.calls(), 1, "no critic was paid for work that does not verify");
}

#[test]
fn a_verify_command_that_leaves_processes_behind_counts_as_it_exits_and_leaves_none() {
    let mark = format!("72{}", std::process::id());
    let forks = format!("sleep {mark}1 & setsid sleep {mark}2 & exit 0");
    let desk = verified_by(&forks, "1m");
    let said = desk.gadfly(&LOOP);
    assert_eq!(said.code, 0, "{}", said.err);
    wait_within("every child ended", Duration::from_secs(2), || alive(&mark).is_empty());
    assert_eq!(desk.read("a.txt"), "two\n");
}

#[test]
fn a_verify_command_that_writes_or_says_too_much_changes_nothing_that_is_judged() {
    let desk =
        verified_by("echo evil >a.txt; echo new >made.txt; head -c 50000000 /dev/zero | tr '\\0' x", "1m");
    let said = desk.gadfly(&LOOP);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("a.txt"), "two\n", "what was judged");
    assert!(!desk.path("made.txt").exists());
    assert!(desk.told().contains("made.txt"), "it is named");
}

#[test]
fn a_report_of_fifty_megabytes_is_no_report() {
    let envelope = r#"{"critic":"c","task_id":"do-it","round":1,"verdict":"passed","blockers_count":0,"report_path":"scratch/critic-do-it-r1.json","run_id":"x"}"#;
    let large = "head -c 50000000 /dev/zero | tr '\\0' '['";
    for (how, critic) in [
        ("the file", format!("cat >/dev/null; {large} >scratch/critic-do-it-r1.json; echo '{envelope}'")),
        ("the reply", format!("cat >/dev/null; {large}")),
        (
            "a file without end",
            format!("cat >/dev/null; ln -s /dev/zero scratch/critic-do-it-r1.json; echo '{envelope}'"),
        ),
        ("a pipe", format!("cat >/dev/null; mkfifo scratch/critic-do-it-r1.json; echo '{envelope}'")),
        ("nothing", format!("cat >/dev/null; echo '{envelope}'")),
    ] {
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
        desk.program("c", &critic);
        let before = desk.files();
        let said = desk.audit(&["--rounds", "1"]);
        assert!([4, 5].contains(&said.code), "{how}: {} {}", said.code, said.err);
        assert_ne!(desk.state(), "approved", "{how}");
        assert_eq!(desk.files(), before, "{how}");
    }
}

#[test]
fn fifty_megabytes_of_findings_in_a_file_are_read_or_refused_but_pass_nothing() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    let finding = ("style", "nit", Some(("a.txt", 1)), "say it in other words, please, and at more length");
    let report =
        report("do-it", 1, &[("SC-1", "Satisfied", "a.txt:1")], &vec![finding; 250_000], "issues_found");
    assert!(report.len() > 40_000_000, "{}", report.len());
    fs::write(desk.beside("report.json"), report).unwrap();
    let envelope = r#"{"critic":"c","task_id":"do-it","round":1,"verdict":"issues_found","blockers_count":0,"report_path":"scratch/critic-do-it-r1.json","run_id":"x"}"#;
    let copy = format!(
        "cat >/dev/null; cp {} scratch/critic-do-it-r1.json; echo '{envelope}'",
        desk.beside("report.json").display()
    );
    desk.program("c", &copy);
    desk.configure(&format!("read = [{}]\n", json!(desk.beside("report.json"))));
    let said = desk.audit(&["--rounds", "1"]);
    assert!([4, 5].contains(&said.code), "{} {}", said.code, said.err.chars().take(2000).collect::<String>());
    assert_eq!(desk.read("a.txt"), "one\n");
}

#[test]
fn a_change_with_a_binary_file_is_never_approved_unseen() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.program("w", "cat >/dev/null; echo two >a.txt; printf 'a\\000b\\377' >logo.bin; echo done");
    desk.saying("c", &[&passed(1)]);
    let said = desk.audit(&[]);
    assert_eq!(said.code, 5, "{}", said.err);
    assert!(desk.state().starts_with("unverified"), "{}", desk.state());
    assert!(said.err.contains("logo.bin"), "{}", said.err);
    assert!(!desk.path("logo.bin").exists() && desk.read("a.txt") == "one\n");
}

#[test]
fn a_worker_that_leaves_odd_things_behind_breaks_nothing() {
    for (how, does) in [
        ("a fifo", "mkfifo pipe"),
        ("a socketless dangling link", "ln -s /nowhere dangling"),
        ("a link out of the folder", "ln -s /etc out"),
        ("a repository inside", "git init -q inner && echo x >inner/x"),
        ("its own ignore rules", "printf '*\\n' >.gitignore"),
        ("a folder nobody may read", "mkdir shut && echo x >shut/x && chmod 000 shut"),
        ("no .git", "rm -rf .git"),
        ("names with newlines", "printf x >'a\nb'; printf y >'-rf'; printf z >'\"q\"'"),
    ] {
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        desk.program("w", &format!("cat >/dev/null; echo two >a.txt; {does}; echo done"));
        desk.saying("c", &[&passed(1)]);
        let before = desk.files();
        let said = desk.audit(&["--rounds", "1"]);
        assert!([0, 1, 4, 5].contains(&said.code), "{how}: {} {}", said.code, said.err);
        if said.code == 0 {
            assert_eq!(desk.read("a.txt"), "two\n", "{how}");
            let undone = desk.gadfly(&["undo", &desk.run_id()]);
            assert_eq!(undone.code, 0, "{how}: {}", undone.err);
        }
        assert_eq!(desk.files(), before, "{how}: {}", said.err);
    }
}
