//! `gadfly demo`: every scene ends as it should, also without git, and no folder of someone else is touched.
#![allow(clippy::unwrap_used)] // tests may fail loudly

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn demo(home: &Path, search_path: &str, folder: &Path) -> (Option<i32>, String) {
    played(&["--all"], home, search_path, folder)
}

fn played(what: &[&str], home: &Path, search_path: &str, folder: &Path) -> (Option<i32>, String) {
    let done = Command::new(env!("CARGO_BIN_EXE_gadfly"))
        .arg("demo")
        .args(what)
        .args(["--keep", folder.to_str().unwrap()])
        .current_dir(home)
        .env_clear()
        .env("HOME", home)
        .env("PATH", search_path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (done.status.code(), String::from_utf8(done.stderr).unwrap())
}

/// No name of git's, no key, no configuration: `HOME` is empty.
#[test]
fn all_scenes_end_as_they_should_and_can_be_played_again_without_git() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("demo");
    let (code, said) = demo(home.path(), &std::env::var("PATH").unwrap(), Path::new("demo"));
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "rejection overruled",
        "the critic stated 85; the sum counts",
        "by lenses-method (method), 100 by lenses-policy (policy): at least 80",
        "escalated to escalation-editor: 3 rounds did not reach 80",
        "→ executor: The verify command `sh tests/slug.sh` failed",
        "there is no line 40",
        "meddling-critic changed files it may only read: src/slug.sh; undone, its reply is void",
        "todo-marker (new, found without a critic)",
        "on branch gadfly/",
        "[MEASURABLE] is a bare PASS",
        "the critic claims the result `CONVERGED (1 passes, 0 fixes, 0 escalations)`; it is CONTINUE",
        "waiting for a person's answer",
        "answered by demo",
        "⚠ Critic stopped: oscillation (3 passes)",
        "→ blocked: This call of `edit_file` was made 3 times in a row with the same result",
        "critic:stuck ",
        "CRITIC: You appear to be stuck. It tries to replace a text that is not in the file",
        "critic:misled steps 1–2",
        "ORIGINAL GOAL: Let total refuse a line that is no number.",
        "verify:fail (1)",
        "claim by the critic: The check passed in step 3",
        "verified after 5 steps",
        "output is incomplete: missing section \"Limits\" in report/findings.md",
        "editor: 88/100 by editor-critic after 2 rounds",
        "gate commit is open: 90.40",
        "approved: 2 of 2 agents done",
        "All 18 runs are in ",
    ] {
        assert!(said.contains(line), "`{line}` is not in: {said}");
    }
    assert!(fs::read_to_string(folder.join("src/slug.sh")).unwrap().contains("cut -c 1-40"));
    let total = fs::read_to_string(folder.join("src/total.sh")).unwrap();
    assert!(
        total.contains("is no number") && total.contains("sub(/,/"),
        "what was verified is there: {total}"
    );
    assert!(!folder.join("HISTORY.md").exists(), "and nothing else");

    // The second time on the same stage, on a machine without git.
    let bare = home.path().join("bin");
    fs::create_dir(&bare).unwrap();
    let (code, said) = demo(home.path(), bare.to_str().unwrap(), &folder);
    assert_eq!(code, Some(0), "{said}");
    for (protocol, scenes) in [("audit", 3), ("goal", 3), ("pipeline", 2)] {
        let skipped = format!("skipped: the {scenes} scenes of `{protocol}` need git and were not played: ");
        assert_eq!(said.matches(&skipped).count(), 2, "at their place and at the end: {said}");
    }
    assert!(said.contains("All 11 runs are in "), "{said}");
}

#[test]
fn a_folder_that_is_not_the_demos_own_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    for name in ["gadfly.toml", "notes.md"] {
        let folder = home.path().join(name.replace('.', "-"));
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(name), "# mine\n").unwrap();
        let (code, said) = demo(home.path(), "/nowhere", &folder);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("the folder is not empty"), "{said}");
        let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(
            (left, fs::read_to_string(folder.join(name)).unwrap()),
            (vec![name.into()], "# mine\n".into())
        );
    }
}

/// The whole idea on one screen: a claim, a critic that notices, a check that decides, what it cost.
#[test]
fn one_scene_is_played_unless_more_is_asked_for_and_each_stands_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = std::env::var("PATH").unwrap();
    let stage = |name: &str| home.path().join(format!("stage-{name}"));
    let (code, said) = played(&[], home.path(), &path, &stage("first"));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.lines().count() < 40, "{} lines: {said}", said.lines().count());
    for line in ["critic:misled", "verify:fail (1)", "✓ verified", "spent "] {
        assert!(said.contains(line), "`{line}` is not in: {said}");
    }
    let (code, said) = played(&["nothing"], home.path(), &path, &stage("nothing"));
    assert_eq!(code, Some(2), "{said}");
    let names = said.split_once("there are: ").unwrap().1.lines().next().unwrap().split(", ");
    let names: Vec<&str> = names.map(str::trim).collect();
    assert_eq!(names.len(), 20, "{said}");
    for name in names {
        let (code, said) = played(&[name], home.path(), &path, &stage(name));
        assert_eq!(code, Some(0), "{name}: {said}");
    }
    let bare = home.path().join("bin");
    fs::create_dir(&bare).unwrap();
    let (code, said) = played(&[], home.path(), bare.to_str().unwrap(), &stage("bare"));
    assert!(code == Some(0) && said.contains("approved after 2 rounds"), "{said}");
    let (code, said) = played(&["misled"], home.path(), bare.to_str().unwrap(), &stage("barer"));
    assert!(code == Some(2) && said.contains("the scene `misled` needs git"), "{said}");
}
