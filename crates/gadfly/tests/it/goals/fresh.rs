//! What counts is what is delivered: checks run in a fresh folder too, with what every folder of the project is given
//! (dependencies, submodules, what `prepare` made) and nothing that a worker left beside its work.

use std::fs;
use std::path::Path;

use crate::goals::desk::{Desk, Said};
use crate::goals::pursuit::{Turn, claims, edits, events, hire, runs, says, writes};

const GOAL: [&str; 6] = ["goal", "Make the check pass.", "--worker", "w", "--yes", "--unattended"];

fn goal(desk: &Desk, check: &str, more: &[&str]) -> Said {
    desk.gadfly(&[&GOAL[..], &["--until", check, "--max-steps", "8"], more].concat())
}

/// A repository in which `deps/`, `out/` and `.seen` are ignored, and a worker.
fn project(turns: &[Turn]) -> Desk {
    let desk = Desk::repository(&[
        ("work.txt", "wrong\n"),
        ("package.json", "{}\n"),
        ("check.sh", "grep right work.txt\n"),
        ("build.sh", "mkdir -p out && cp work.txt out/built\n"),
    ]);
    desk.write(".gitignore", ".gadfly/\nnode_modules/\nout/\n.seen\n");
    desk.commit("ignored");
    hire(&desk, "w", turns, "");
    desk
}

fn mends() -> [Turn; 2] {
    [edits("work.txt", "wrong", "right"), runs("cat work.txt").then(claims("it is right"))]
}

#[test]
fn what_passes_only_in_the_workers_folder_is_not_delivered() {
    let build = runs("mkdir -p out && echo ok >out/built").then(claims("it is built"));
    let desk = project(&[build, says("I do not know what is missing.").always()]);
    let said = goal(&desk, "grep ok out/built", &[]);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("not in a fresh one"), "{}", said.err);
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_planted_runner_decides_nothing() {
    let plant = runs("echo 'exit 0' >node_modules/.bin/runner").then(claims("all tests pass"));
    let desk = project(&[plant, says("It passes here.").always()]);
    desk.write("node_modules/.bin/runner", "grep right work.txt\n");
    let said = goal(&desk, "sh node_modules/.bin/runner", &[]);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("dependencies, copied into the run's folder: node_modules"), "{}", said.err);
    assert!(said.err.contains("not in a fresh one"), "{}", said.err);
    assert_eq!(desk.read("node_modules/.bin/runner"), "grep right work.txt\n", "the user's own");
}

#[test]
fn commands_of_one_check_share_the_fresh_folder() {
    let desk = project(&mends());
    let said = goal(&desk, "sh build.sh", &["--until", "grep right out/built"]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn what_prepare_makes_is_kept_until_what_it_goes_by_changes() {
    let desk = project(&mends());
    let made = desk.beside("made");
    // As `uv sync` does it: the environment ignores itself.
    let prepare = format!(
        "echo once >>{} && mkdir -p .venv && echo '*' >.venv/.gitignore && touch .venv/ready && echo x >>package.json",
        made.display()
    );
    let times = || fs::read_to_string(&made).unwrap_or_default().lines().count();
    let check = "test -e .venv/ready && sh check.sh";
    let pursue = || {
        let said = goal(&desk, check, &["--prepare", &prepare]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(desk.git(&["status", "--porcelain"]), " M work.txt\n", "{}", said.err);
        desk.git(&["checkout", "-q", "."]);
        said.err
    };
    assert!(pursue().contains("preparing: "));
    assert_eq!(times(), 1, "the fresh folder gets what was kept");
    assert!(pursue().contains("prepared before by "));
    assert_eq!(times(), 1);
    desk.write("package.json", "{\"dependencies\":{}}\n");
    desk.commit("a dependency");
    pursue();
    assert_eq!(times(), 2);
    assert!(desk.gadfly(&["gc", "--older-than", "0"]).err.contains("2 layers of `prepare`"));
    desk.gadfly(&["gc", "--older-than", "0", "--apply"]);
    pursue();
    assert_eq!(times(), 3);
}

/// `python3 -m venv` in a project whose ignore rules do not know it.
#[test]
fn what_prepare_makes_is_there_and_no_work_even_if_git_does_not_ignore_it() {
    let desk = project(&mends());
    desk.write("made/by-hand.txt", "the user's\n");
    desk.commit("beside what is made");
    let prepare = "mkdir -p env/bin && touch env/bin/tool made/new.txt config.h && echo x >>package.json";
    let check = "test -e env/bin/tool && test -e made/new.txt && test -e config.h && sh check.sh";
    for told in
        ["not ignored by git: config.h, env, made/new.txt; it is no part of the work", "prepared before by "]
    {
        let said = goal(&desk, check, &["--prepare", prepare]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.err.contains(told), "{}", said.err);
        assert_eq!(desk.git(&["status", "--porcelain"]), " M work.txt\n", "{}", said.err);
        desk.git(&["checkout", "-q", "."]);
    }
}

#[test]
fn a_prepare_that_fails_is_said_before_anybody_is_paid() {
    let desk = project(&mends());
    let said = goal(&desk, "true", &["--prepare", "echo no such package; exit 4"]);
    assert_ne!(said.code, 0);
    assert!(said.err.contains("no such package") && said.err.contains("`prepare`"), "{}", said.err);
    assert_eq!(desk.calls(), 0);
}

#[test]
fn a_protocol_without_a_folder_takes_no_prepare() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["Text."]);
    desk.saying("c", &["[STATUS: APPROVED]\nGood."]);
    let run = ["run", "Write", "--worker", "w", "--critic", "c", "--criterion", "short", "--yes"];
    let said = desk.gadfly(&[&run[..], &["--prepare", "npm ci"]].concat());
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("--prepare makes a worker's folder ready"), "{}", said.err);
}

/// The worker may change what `prepare` goes by: then it runs anew, and held as the check is.
#[test]
fn a_changed_manifest_is_prepared_anew_for_the_check_and_held() {
    let adds = writes("package.json", "{\"new\":1}\n").then(runs("cat package.json")).then(claims("added"));
    let desk = project(&[adds, says("I do not know.").always()]);
    let outside = desk.beside("outside");
    let prepare = format!(
        "mkdir -p out; if grep new package.json; then touch {} && exit 8; exit 9; fi; touch out/installed",
        outside.display()
    );
    let said = goal(&desk, "test -e out/installed && grep 1 package.json", &["--prepare", &prepare]);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("`prepare` failed (exit code 9)"), "{}", said.err);
    assert!(!outside.exists());
}

#[test]
fn files_of_submodules_are_there_and_caches_are_not_delivered() {
    let library = Desk::repository(&[("add.txt", "four\n")]);
    let makes =
        "mkdir -p .cache __pycache__ && echo '*' >.cache/.gitignore && touch .cache/x __pycache__/y.pyc";
    let turns = [edits("work.txt", "wrong", "right"), runs(makes).then(claims("it is right"))];
    let desk = project(&turns);
    let from = library.path("").display().to_string();
    desk.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", &from, "lib/adder"]);
    desk.commit("a submodule");
    let said = goal(&desk, "grep four lib/adder/add.txt && sh check.sh", &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("submodules, copied to be read"), "{}", said.err);
    assert!(said.err.contains("accepted into your checkout: 1 file"), "{}", said.err);
    assert!(!desk.path("__pycache__").exists() && !desk.path(".cache").exists());
    assert!(Path::new(&desk.path("lib/adder/.git")).exists());
}

#[test]
fn a_flaky_check_never_passes_and_a_person_decides() {
    let desk = project(&mends());
    // What it goes by is ignored, so it is new in every folder: the first run of each fails.
    let said = goal(&desk, "sh check.sh && { test -e .seen || { touch .seen; exit 1; }; }", &[]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("? flaky:"), "{}", said.err);
    let claims = events(&desk).iter().filter(|e| e["event"] == "verification_failed").count();
    assert_eq!(claims, 0, "the worker is not sent back for it");
    assert_eq!(desk.gadfly(&["answer", &desk.run_id(), "accept"]).code, 0);
    let accepted = desk.gadfly(&["resume", &desk.run_id(), "--unattended"]);
    assert_eq!(accepted.code, 0, "{}", accepted.err);
    assert_eq!(desk.read("work.txt"), "right\n");
}

#[test]
fn an_audit_verifies_in_a_fresh_folder_too() {
    let desk = Desk::repository(&[("src/lib.rs", "fn a() {}\n")]);
    desk.write(".gitignore", ".gadfly/\nout/\n");
    desk.commit("ignored");
    desk.program(
        "worker",
        "cat >/dev/null; mkdir -p out; echo ok >out/built; echo '// b' >>src/lib.rs; echo done",
    );
    desk.saying("critic", &["nobody asks"]);
    let said = desk.audit(&["--verify", "grep ok out/built", "--worker", "worker", "--critic", "critic"]);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains("critic critic: working…"), "{}", said.err);
}

/// A picture, a log, an answer: written by the check when it ran on what is delivered, and not by the worker.
#[test]
fn evidence_is_written_by_the_check_itself_and_kept() {
    let desk = project(&mends());
    let wanted = ["--evidence", "out/built"];
    let said = goal(&desk, "sh build.sh && sh check.sh", &wanted);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("evidence: out/built (6 bytes, "), "{}", said.err);
    let kept = fs::read_dir(desk.work(&desk.run_id()).join("evidence")).unwrap().next().unwrap().unwrap();
    assert_eq!(fs::read_to_string(kept.path()).unwrap(), "right\n");
    assert!(kept.file_name().to_string_lossy().ends_with("-built"));
    // Also where success is another code.
    let desk = project(&mends());
    let said =
        goal(&desk, "sh build.sh && sh check.sh && exit 3", &["--until-exit", "3", wanted[0], wanted[1]]);
    assert_eq!(said.code, 0, "{}", said.err);

    let fakes = edits("work.txt", "wrong", "right").then(writes("out/built", "looks good\n"));
    let desk = project(&[
        fakes,
        runs("cat work.txt").then(claims("see for yourself")),
        says("It is there.").always(),
    ]);
    let said = goal(&desk, "sh check.sh", &wanted);
    assert_ne!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("did not write out/built"), "{}", said.err);
}
