//! Journals written by released versions: every one must be imported, listed, shown and, if parked,
//! resumed by this binary, or refused by naming the versions.
//!
//! The files are never rewritten. A new release adds its own: `GADFLY_WRITE_GOLDEN=NAME` writes them to
//! `crates/journal/tests/golden/NAME/` from the demo.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // tests may fail loudly and print

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/golden")
}

fn gadfly(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gadfly"));
    command.args(args).current_dir(dir).env("HOME", dir).env_remove("XDG_CONFIG_HOME");
    command.output().unwrap()
}

fn stdout(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {said}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The runs of a store, by title, with their ids.
fn runs(dir: &Path) -> BTreeMap<String, serde_json::Value> {
    let listed = stdout(&gadfly(dir, &["runs", "--json", "-n", "100"]));
    listed
        .lines()
        .map(|line| {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            (row["title"].as_str().unwrap().split(':').next().unwrap().to_owned(), row)
        })
        .collect()
}

/// Every golden file of this kind, by release.
fn files(extension: &str) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for release in fs::read_dir(golden()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.is_dir()) {
        let name = release.file_name().unwrap().to_string_lossy().into_owned();
        for file in fs::read_dir(&release).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|e| e == extension) {
                found.push((name.clone(), path));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn journals_of_every_release_are_listed_shown_and_resumed() {
    if let Ok(name) = std::env::var("GADFLY_WRITE_GOLDEN") {
        write(&golden().join(name));
    }
    let files = files("zst");
    assert!(files.len() >= 5, "the golden journals are missing: {files:?}");
    for (release, file) in files {
        let scene = file.file_name().unwrap().to_string_lossy().split('.').next().unwrap().to_owned();
        let dir = tempfile::tempdir().unwrap();
        stdout(&gadfly(dir.path(), &["import", file.to_str().unwrap()]));
        let runs = runs(dir.path());
        let (_, run) = runs.iter().next().unwrap();
        let id = run["run"].as_str().unwrap();
        assert_eq!(run["state"], expected(&scene), "{release}/{scene}");
        let shown = stdout(&gadfly(dir.path(), &["show", id]));
        assert!(shown.contains(id), "{release}/{scene}: {shown}");
        if run["protocol"] == "revise" {
            assert!(shown.contains("round 1"), "{release}/{scene}: {shown}");
            let log = stdout(&gadfly(dir.path(), &["show", id, "--critic-log"]));
            assert!(log.starts_with("# Critic Log — "), "{release}/{scene}: {log}");
        }
        let resumed = resume(dir.path(), id);
        let code = resumed.status.code();
        let said = String::from_utf8_lossy(&resumed.stderr);
        if scene == "unverified" {
            assert_eq!(code, Some(0), "{release}/{scene} does not go on: {said}");
        } else {
            assert_eq!(code, Some(2), "{release}/{scene} has ended: {said}");
            assert!(said.contains("has ended"), "{said}");
        }
    }
}

/// The database itself, as that release left it on disk.
#[test]
fn stores_of_every_release_are_opened_listed_and_resumed() {
    let files = files("db");
    assert!(!files.is_empty(), "the golden stores are missing");
    for (release, file) in files {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".gadfly")).unwrap();
        fs::copy(&file, dir.path().join(".gadfly/journal.db")).unwrap();
        let runs = runs(dir.path());
        assert!(runs.len() >= 5, "{release}: {runs:?}");
        for (scene, run) in &runs {
            assert_eq!(run["state"], expected(scene), "{release}/{scene}");
        }
        let id = runs["unverified"]["run"].as_str().unwrap();
        stdout(&gadfly(dir.path(), &["own"]));
        let resumed = resume(dir.path(), id);
        let said = String::from_utf8_lossy(&resumed.stderr);
        assert_eq!(resumed.status.code(), Some(0), "{release} does not go on: {said}");
    }
}

/// What changed before anything was released is not kept: such an export is refused by naming both formats.
#[test]
fn an_export_of_an_older_format_is_refused_by_naming_both() {
    let dir = tempfile::tempdir().unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/older-rules/unverified.jsonl.zst");
    let imported = gadfly(dir.path(), &["import", file.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&imported.stderr);
    assert_eq!(imported.status.code(), Some(2), "{said}");
    assert!(said.contains("format 1") && said.contains("format 2"), "{said}");
}

fn expected(scene: &str) -> &'static str {
    match scene {
        "approval" | "revision" | "overruled" | "total" | "lenses" | "escalation" | "verified"
        | "meddling" | "marker" | "counted" | "question" | "misled" | "stuck" | "unnoticed" | "orders" => {
            "approved"
        }
        "oscillation" => "halted(oscillation)",
        "halt" => "halted(cap)",
        "unverified" => "unverified",
        other => panic!("no expectation for {other}"),
    }
}

/// Resumes a run of the unverified scene with a critic that has come to its senses.
fn resume(dir: &Path, id: &str) -> Output {
    let agent = |name: &str| format!("[agents.{name}]\nkind = \"scripted\"\nscript = \"replies.toml\"\n");
    let config = [agent("unverified-worker"), agent("unverified-critic")].concat();
    fs::write(dir.join("gadfly.toml"), config).unwrap();
    let reply = "[[reply]]\nrole = \"critic\"\nrepeat = \"always\"\ntext = \"[STATUS: APPROVED]\\nOne sentence, with its cause.\"\n";
    fs::write(dir.join("replies.toml"), reply).unwrap();
    gadfly(dir, &["resume", id, "--unattended", "--trust"])
}

fn write(to: &Path) {
    let dir = tempfile::tempdir().unwrap();
    stdout(&gadfly(dir.path(), &["demo", "--all", "--keep", "."]));
    fs::create_dir_all(to).unwrap();
    for (scene, run) in runs(dir.path()) {
        let file = to.join(format!("{scene}.jsonl.zst"));
        let _ = fs::remove_file(&file);
        stdout(&gadfly(dir.path(), &["export", run["run"].as_str().unwrap(), file.to_str().unwrap()]));
    }
    fs::copy(dir.path().join(".gadfly/journal.db"), to.join("journal.db")).unwrap();
}
