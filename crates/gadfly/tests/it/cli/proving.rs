//! What somebody changes in a store or an export is named, and never shown as if it were so.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Command;

use rusqlite::Connection;

use crate::cli::support::{APPROVE, Project, REJECT};

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

fn halted() -> (Project, String) {
    let project = Project::scripted(&["One\\n"], &[REJECT], "");
    let said = project.gadfly(&[&RUN[..], &["--rounds", "1"]].concat());
    assert_ne!(said.code, 0);
    let run = project.run_id();
    (project, run)
}

fn sql(project: &Project, statement: &str) {
    Connection::open(project.path(".gadfly/journal.db")).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn an_edited_row_is_named_and_hides_no_other_run() {
    let (project, run) = halted();
    assert_ne!(project.gadfly(&[&RUN[..], &["--rounds", "1"]].concat()).code, 0);
    sql(&project, &format!("UPDATE runs SET outcome = 'approved', ended = 1 WHERE id = '{run}'"));
    let listed = project.gadfly(&["runs"]);
    assert_eq!(listed.code, 0, "{}", listed.masked());
    assert!(!listed.out.contains("approved") && listed.out.contains("damaged"), "{}", listed.masked());
    assert!(listed.out.contains("halted"), "the other run is shown: {}", listed.masked());
    for args in [&["show", &run][..], &["show", &run, "--verify"], &["resume", &run]] {
        let said = project.gadfly(args);
        assert_ne!(said.code, 0, "{}", said.masked());
        assert!(said.err.contains("was changed after it was written"), "{}", said.masked());
    }
}

#[test]
fn records_of_another_run_under_its_id_are_named() {
    let project = Project::scripted(&["One\\n"], &[APPROVE], "");
    let [good, bad] = [(); 2].map(|()| {
        assert_eq!(project.gadfly(&RUN).code, 0);
        project.run_id()
    });
    let number = |run: &str| format!("(SELECT number FROM runs WHERE id = '{run}')");
    let (good, to) = (number(&good), number(&bad));
    sql(
        &project,
        &format!("DELETE FROM records WHERE run = {to}; UPDATE records SET run = {to} WHERE run = {good};"),
    );
    let said = project.gadfly(&["show", &bad]);
    assert_ne!(said.code, 0, "{}", said.masked());
    assert!(said.err.contains("was changed after it was written"), "{}", said.masked());
}

#[test]
fn a_run_that_was_taken_out_is_missed() {
    let (project, run) = halted();
    assert_ne!(project.gadfly(&[&RUN[..], &["--rounds", "1"]].concat()).code, 0);
    let number = format!("(SELECT number FROM runs WHERE id = '{run}')");
    sql(&project, &format!("DELETE FROM records WHERE run = {number}; DELETE FROM runs WHERE id = '{run}';"));
    let listed = project.gadfly(&["runs"]);
    assert!(listed.err.contains("1 run that stopped here is gone from the journal"), "{}", listed.masked());
}

#[test]
fn a_store_of_another_home_is_read_and_said_to_be_foreign_until_it_is_owned() {
    let (project, run) = halted();
    let elsewhere = tempfile::tempdir().unwrap();
    let stranger = |args: &[&str]| {
        let mut command: Command = project.command(args);
        project.said(&command.env("HOME", elsewhere.path()).output().unwrap())
    };
    let listed = stranger(&["runs"]);
    assert_eq!(listed.code, 0, "{}", listed.masked());
    assert!(listed.out.contains(&run), "{}", listed.masked());
    assert!(listed.err.contains("was not made by you on this machine"), "{}", listed.masked());
    let said = stranger(&["show", &run, "--verify"]);
    assert_ne!(said.code, 0, "{}", said.masked());
    assert_ne!(stranger(&["runs", "rm", &run]).code, 0);
    assert_eq!(stranger(&["own"]).code, 0);
    let listed = stranger(&["runs"]);
    assert!(listed.out.contains(&run) && listed.err.is_empty(), "{}", listed.masked());
    let said = stranger(&["show", &run, "--verify"]);
    assert_eq!(said.code, 0, "{}", said.masked());
    assert!(said.out.contains("no gate counts it"), "{}", said.masked());
}

#[test]
fn an_export_whose_outcome_was_edited_is_refused_by_deciding_again() {
    let (project, run) = halted();
    assert_eq!(project.gadfly(&["export", &run, "run.zst"]).code, 0);
    let bytes = fs::read(project.path("run.zst")).unwrap();
    let mut text = String::new();
    zstd::Decoder::new(bytes.as_slice()).unwrap().read_to_string(&mut text).unwrap();
    let forged: String = text.lines().flat_map(|line| [edited(line), "\n".to_owned()]).collect();
    assert_ne!(forged, text, "there is an outcome to be edited");
    project.write("forged.jsonl", &with_checksum(&forged));
    let plain = fs::read(project.path("forged.jsonl")).unwrap();
    let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
    packed.write_all(&plain).unwrap();
    fs::write(project.path("forged.zst"), packed.finish().unwrap()).unwrap();
    let other = Project::bare();
    fs::copy(project.path("forged.zst"), other.path("forged.zst")).unwrap();
    let said = other.gadfly(&["import", "forged.zst"]);
    assert_ne!(said.code, 0, "{}", said.masked());
    assert!(said.err.contains("does not replay"), "{}", said.masked());
    assert_eq!(other.gadfly(&["runs"]).out, "", "nothing of it was taken in");
}

/// A record's line with another outcome, where it has one.
fn edited(line: &str) -> String {
    let mut read: serde_json::Value = serde_json::from_str(line).unwrap();
    match read.pointer_mut("/record/step/outcome").filter(|outcome| !outcome.is_null()) {
        Some(outcome) => *outcome = "aborted".into(),
        None => return line.to_owned(),
    }
    read.to_string()
}

/// The same lines with a checksum that fits them.
fn with_checksum(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let footer = lines.pop().unwrap();
    let body: String = lines.iter().flat_map(|line| [line, "\n"]).collect();
    let mut footer: serde_json::Value = serde_json::from_str(footer).unwrap();
    footer["footer"]["checksum"] = blake3::hash(body.as_bytes()).to_hex().to_string().into();
    format!("{body}{footer}\n")
}

#[test]
fn a_journal_that_is_gone_or_empty_is_no_store_without_runs() {
    let (project, _) = halted();
    let journal = project.path(".gadfly/journal.db");
    for damage in ["empty", "gone", "a folder"] {
        fs::remove_file(&journal).or_else(|_| fs::remove_dir(&journal)).unwrap_or_default();
        match damage {
            "empty" => fs::write(&journal, "").unwrap(),
            "a folder" => fs::create_dir(&journal).unwrap(),
            _ => {}
        }
        let said = project.gadfly(&["runs"]);
        assert_ne!(said.code, 0, "{damage}: {}", said.masked());
        assert!(said.err.contains("is gone or empty"), "{damage}: {}", said.masked());
    }
}

#[test]
fn a_store_on_a_disk_that_cannot_be_written_can_be_read() {
    let (project, run) = halted();
    let script = "mount --bind .gadfly .gadfly && mount -o remount,ro,bind .gadfly && exec \"$@\"";
    let read = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_gadfly")]).args(args);
        command.current_dir(project.dir().join("project")).env("HOME", project.dir().join("home"));
        project.said(&command.env_remove("XDG_STATE_HOME").output().unwrap())
    };
    let listed = read(&["runs"]);
    if listed.err.contains("unshare") || listed.err.contains("mount:") {
        eprintln!("SKIPPED: nothing can be mounted here, so no read-only store was read: {}", listed.err);
        return;
    }
    assert_eq!(listed.code, 0, "{}", listed.masked());
    assert!(listed.out.contains(&run), "{}", listed.masked());
    assert_eq!(read(&["show", &run]).code, 0);
    assert_eq!(read(&["export", &run, "run.zst"]).code, 0);
}
