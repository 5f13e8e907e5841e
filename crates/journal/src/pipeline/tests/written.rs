//! The files on disk: written once however often it is tried, beside what others wrote, and never outside.

use std::fs;
use std::path::Path;

use gadfly_engine::plan::NamedBy;
use serde_json::json;

use super::sample::*;
use crate::pipeline::{LocalZone, ProjectFileWriter, Receipt, StateFiles, VerdictJudge, read_receipts};
use crate::signature::{Envelope, Signers};
use crate::{Journal, RunId};

struct Project {
    dir: tempfile::TempDir,
    journal: Journal,
    places: StateFiles,
}

impl Project {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        fs::create_dir_all(&root).unwrap();
        let journal = Journal::open(&root.join(".gadfly")).unwrap();
        Self { places: StateFiles::claude(&root), dir, journal }
    }

    fn write(&self, stream: &Stream, run: &RunId) -> Vec<String> {
        let mut state = stream.state();
        state.summary.run = run.clone();
        ProjectFileWriter::new(&self.journal, run, self.places.clone(), LocalZone::utc()).write(&state)
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.places.dir.join(path)).unwrap()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let found = fs::read_dir(self.places.dir.join(folder)).unwrap();
        let mut names: Vec<String> = found.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn everything(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        collect(&self.places.root, &mut all);
        all.retain(|(path, _)| !path.contains(".gadfly"));
        all.sort();
        all
    }
}

fn collect(dir: &Path, all: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, all);
        } else if let Ok(text) = fs::read_to_string(&path) {
            all.push((path.display().to_string(), text));
        }
    }
}

#[test]
fn a_run_leaves_every_file_and_a_crash_writes_nothing_twice() {
    let project = Project::new();
    let (run, stream) = (run(), whole("coder", "robustness", Some(&project.places)));
    stream.record(&project.journal, run.clone());
    assert_eq!(project.write(&stream, &run), Vec::<String>::new());
    assert_eq!(project.names("traces"), ["2026-05-09_trace.md"]);
    assert_eq!(project.names("plans"), ["2026-05-09_returns-to-schooling.md"]);
    assert_eq!(project.names("receipts"), ["librarian.json"]);
    assert!(
        project.read("plans/2026-05-09_returns-to-schooling.md").contains("**Status:** APPROVED\n\n# Plan\n")
    );
    let session = fs::read_to_string(&project.places.session).unwrap();
    assert!(
        session.starts_with("# Session Report — schooling\n\n## 2026-05-09 14:32 — Plan approved"),
        "{session}"
    );
    let before = project.everything();
    assert_eq!(before.len(), 6);
    project.write(&stream, &run);
    assert_eq!(project.everything(), before);
    // What remembers the shared files is gone: they are looked into.
    fs::remove_dir_all(project.journal.run_dir(&run).join("project-files")).unwrap();
    project.write(&stream, &run);
    assert_eq!(project.everything(), before);
}

#[test]
fn files_of_others_are_kept() {
    let project = Project::new();
    let dir = &project.places.dir;
    fs::create_dir_all(dir.join("traces")).unwrap();
    let foreign = "{\"current_phase\": \"discovery\"}";
    fs::write(dir.join("pipeline_state.json"), foreign).unwrap();
    fs::write(dir.join("research_journal.md"), "# Ours\r\n\r\n### 2020 — me\r\n").unwrap();
    fs::write(dir.join("traces/2026-05-09_trace.md"), "# Execution Trace — by hand\n").unwrap();
    let stream = whole("coder", "robustness", None);
    project.write(&stream, &run());
    project.write(&stream, &run());
    let backups: Vec<String> = project.names("").into_iter().filter(|name| name.contains("backup")).collect();
    assert_eq!(backups, ["pipeline_state.json.backup-20260509-144000"]);
    assert_eq!(project.read(&backups[0]), foreign);
    assert!(
        project
            .read("research_journal.md")
            .starts_with("# Ours\r\n\r\n### 2020 — me\r\n\n### 2026-05-09 14:34")
    );
    assert_eq!(project.names("traces"), ["2026-05-09_trace-2.md", "2026-05-09_trace.md"]);
    assert_eq!(project.read("traces/2026-05-09_trace.md"), "# Execution Trace — by hand\n");
    // A second foreign file at the same second takes another name.
    fs::write(dir.join("pipeline_state.json"), "not json").unwrap();
    project.write(&stream, &run());
    assert_eq!(project.read("pipeline_state.json.backup-20260509-144000-2"), "not json");
    assert_eq!(project.read(&backups[0]), foreign);
}

#[test]
fn runs_of_one_day_have_their_own_traces() {
    let project = Project::new();
    let stream = whole("coder", "robustness", None);
    let second: RunId = "abcdefghjk".parse().unwrap();
    for run in [&run(), &second, &run(), &second] {
        project.write(&stream, run);
    }
    assert_eq!(project.names("traces"), ["2026-05-09_trace-2.md", "2026-05-09_trace.md"]);
    assert!(project.read("traces/2026-05-09_trace-2.md").contains("run abcdefghjk"));
}

#[test]
fn what_a_person_wrote_into_a_plan_stays() {
    let project = Project::new();
    let stream = whole("coder", "robustness", None);
    stream.record(&project.journal, run());
    let mut draft = story("coder", "robustness", None);
    draft.records.truncate(2);
    project.write(&draft, &run());
    let path = "plans/2026-05-09_returns-to-schooling.md";
    let text = project.read(path);
    assert!(text.contains("**Status:** DRAFT"), "{text}");
    fs::write(project.places.dir.join(path), text.replace("First", "Only") + "**Status:** mine\n").unwrap();
    project.write(&stream, &run());
    let text = project.read(path);
    assert!(
        text.contains("**Status:** APPROVED\n\n# Plan\n\nOnly the literature.\n**Status:** mine\n"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_that_leaves_the_project() {
    let project = Project::new();
    let outside = project.dir.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, &project.places.dir).unwrap();
    fs::write(outside.join("mine.md"), "mine").unwrap();
    std::os::unix::fs::symlink(outside.join("mine.md"), &project.places.session).unwrap();
    let problems = project.write(&whole("coder", "robustness", None), &run());
    assert_eq!(problems.len(), 6, "{problems:?}");
    assert!(problems.iter().all(|problem| problem.contains("leads out of the project")), "{problems:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.join("mine.md")).unwrap(), "mine");
    assert_eq!(project.journal.unwritten(&run()), problems);
}

#[test]
fn receipts_of_a_store_are_not_ignored_by_git() {
    let project = Project::new();
    let root = &project.places.root;
    let places = StateFiles::native(root);
    let stream = whole("coder", "robustness", None);
    ProjectFileWriter::new(&project.journal, &run(), places, LocalZone::utc()).write(&stream.state());
    let ignore = fs::read_to_string(root.join(".gadfly/.gitignore")).unwrap();
    assert_eq!(ignore, "*\n!/receipts/\n!/receipts/*.json\n");
    assert!(root.join(".gadfly/receipts/librarian.json").is_file());
}

#[test]
fn a_receipt_that_was_touched_is_refused_by_name() {
    let project = Project::new();
    project.write(&whole("coder", "robustness", None), &run());
    let folder = project.places.receipts();
    let (read, refused) = read_receipts(&folder, None);
    assert_eq!((read.len(), refused.len()), (1, 0));
    let good = read[0].receipt.clone();
    assert_eq!(
        good.clone().verdict(),
        whole("coder", "robustness", None).state().project().unwrap().history.verdicts[0].verdict
    );
    let write = |name: &str, change: &dyn Fn(&mut Receipt)| {
        let mut receipt = good.clone();
        change(&mut receipt);
        fs::write(folder.join(name), receipt.render(None).unwrap()).unwrap();
    };
    write("librarian.json", &|r| r.files[0].blob = digest("other"));
    write("writer.json", &|_| {});
    write("a.json", &|r| (r.agent, r.score) = ("a".into(), 101));
    write("b.json", &|r| (r.agent, r.files) = ("b".into(), vec![]));
    write("c.json", &|r| {
        r.agent = "c".into();
        r.made = vec![file("../../etc/passwd", "x")];
    });
    write("d.json", &|r| {
        r.agent = "d".into();
        r.judge = VerdictJudge { kind: "scripted".into(), model: None, layer: NamedBy::Project };
    });
    let older = json!({ "format": 1, "agent": "g", "score": 100, "artifact": digest("x") });
    fs::write(folder.join("g.json"), older.to_string()).unwrap();
    let other = json!({ "payloadType": "application/json", "payload": "e30=", "signatures": [] });
    fs::write(folder.join("h.json"), other.to_string()).unwrap();
    let link = json!({ "_type": "https://in-toto.io/Statement/v1", "subject": [],
        "predicateType": "https://in-toto.io/Link/v1", "predicate": {} });
    let link = Envelope::new("application/vnd.in-toto+json", link.to_string().as_bytes(), None);
    fs::write(folder.join("i.json"), serde_json::to_string(&link).unwrap()).unwrap();
    fs::write(folder.join("e.json"), "{").unwrap();
    fs::write(folder.join("f.json"), " ".repeat(5 << 20)).unwrap();
    let (read, refused) = read_receipts(&folder, None);
    assert_eq!(read, vec![]);
    let why: Vec<String> = refused.iter().map(|r| format!("{}: {}", r.file, r.why)).collect();
    insta::assert_snapshot!(why.join("\n"));
}

#[test]
fn a_run_that_is_taken_up_again_does_not_bring_an_old_receipt_back() {
    let project = Project::new();
    let old = whole("coder", "robustness", None);
    let mut new = old.state();
    let newer = &mut new.pipeline.as_mut().unwrap().history.as_mut().unwrap().verdicts[0];
    newer.at_ms += 3_600_000;
    newer.verdict.score = 95;
    let second: RunId = "abcdefghjk".parse().unwrap();
    new.summary.run = second.clone();
    ProjectFileWriter::new(&project.journal, &second, project.places.clone(), LocalZone::utc()).write(&new);
    project.write(&old, &run());
    let (read, _) = read_receipts(&project.places.receipts(), None);
    let read = &read[0].receipt;
    assert_eq!((read.score, read.run.as_str()), (95, "abcdefghjk"));
}

#[test]
fn a_signed_receipt_stays_signed_and_counts_for_whom_it_is_from() {
    let project = Project::new();
    let stream = whole("coder", "robustness", None);
    let folder = project.places.receipts();
    let key = crate::signature::tests::key();
    let mut receipt = stream.state().project().unwrap().receipts()[0].clone();
    receipt.sha256.insert(receipt.files[0].path.clone(), "00".into());
    let (kind, payload) = receipt.payload().unwrap();
    let signature = key.sign(kind, &payload).unwrap();
    project.write(&stream, &run());
    let signers = Signers::read(&crate::signature::tests::halves().1).unwrap();
    let counting = || {
        let (found, refused) = read_receipts(&folder, Some((&signers, 0)));
        (found, refused.into_iter().map(|r| r.why).collect::<Vec<_>>())
    };
    assert_eq!(counting().1, ["it is not signed"]);
    receipt.write(&folder, Some(&signature)).unwrap();
    project.write(&stream, &run());
    let (found, refused) = counting();
    assert_eq!((refused, &found[0].receipt), (vec![], &receipt));
    assert_eq!(found[0].signed_by.as_ref().unwrap().name.as_deref(), Some("ann@example.org"));
    // An unsigned one that says something else is no reason to keep it.
    let mut raised = receipt.clone();
    raised.score = 100;
    fs::write(folder.join("librarian.json"), raised.render(Some(&signature)).unwrap()).unwrap();
    assert_eq!(counting().1, ["the signature does not fit what was signed"]);
    let (_, refused) = read_receipts(&folder, None);
    assert_eq!(refused.len(), 1, "nor does it count where no signature is needed");
    project.write(&stream, &run());
    assert_eq!(read_receipts(&folder, None).0[0].receipt.score, receipt.score);
}

#[test]
fn the_places_travel_with_the_plan() {
    let places = StateFiles::claude(Path::new("/p"));
    let plan = |places: Option<&StateFiles>| match &Stream::begun(&settings("x", "coder"), places).records[0]
        .input
        .what
    {
        gadfly_engine::input::InputKind::Started(start) => start.plan.clone(),
        _ => panic!("a stream begins with its plan"),
    };
    assert_eq!(StateFiles::of(&plan(None)), None);
    assert_eq!(StateFiles::of(&plan(Some(&places))), Some(places));
}
