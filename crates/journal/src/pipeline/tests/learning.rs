//! What runs of a store leave for later ones: verdicts, words about conditions, suggestions a person decides about.

use std::fs;

use gadfly_engine::pipeline::PipelineEvent;

use super::sample::*;
use crate::pipeline::{Accepting, Decided, PatternCounts};
use crate::{Journal, RunId};

fn store() -> (tempfile::TempDir, Journal) {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::open(&dir.path().join(".gadfly")).unwrap();
    (dir, journal)
}

#[test]
fn verdicts_of_all_runs_come_oldest_first_and_only_if_delivered() {
    let (_dir, journal) = store();
    let second: RunId = "abcdefghjk".parse().unwrap();
    whole("coder", "robustness", None).record(&journal, run());
    let mut stream = story("coder", "robustness", None);
    let scored = |score: u32, delivered: bool| {
        let verdict = Box::new(verdict("coder", "coder-critic", score, vec![file("scripts/a.R", "a")]));
        pipeline(PipelineEvent::Scored { verdict, delivered })
    };
    stream.then(vec![scored(84, true)], None);
    stream.then(vec![scored(70, false)], None);
    stream.record(&journal, second.clone());
    let all = journal.verdicts().unwrap();
    let told: Vec<(&str, u32, bool)> =
        all.iter().map(|r| (r.verdict.agent.as_str(), r.verdict.score, r.run == second)).collect();
    assert_eq!(told, [("librarian", 92, false), ("librarian", 92, true), ("coder", 84, true)]);
    assert!(all.iter().all(|r| r.verdict.is_whole()));
}

#[test]
fn the_last_word_about_a_condition_counts() {
    let (_dir, journal) = store();
    let mut stream = story("coder", "robustness", None);
    for holds in [false, true] {
        let said = PipelineEvent::ConditionSaid { text: "data is there".into(), holds, by: "anna".into() };
        stream.then(vec![pipeline(said)], None);
    }
    stream.record(&journal, run());
    assert_eq!(journal.conditions_said().unwrap(), [("data is there".to_owned(), true)].into());
}

#[test]
fn a_no_is_asked_again_in_the_next_run() {
    let (_dir, journal) = store();
    let mut stream = story("coder", "robustness", None);
    for (text, holds) in [("data is there", true), ("data is there", false), ("it is clean", true)] {
        let said = PipelineEvent::ConditionSaid { text: text.into(), holds, by: "anna".into() };
        stream.then(vec![pipeline(said)], None);
    }
    stream.record(&journal, run());
    assert_eq!(journal.conditions_said().unwrap(), [("it is clean".to_owned(), true)].into());
}

#[test]
fn nothing_is_learned_before_a_person_agrees() {
    let (dir, journal) = store();
    whole("coder", "robustness", None).record(&journal, run());
    whole("coder", "robustness", None).record(&journal, "abcdefghjk".parse().unwrap());
    let memory = dir.path().join("MEMORY.md");
    fs::write(&memory, "[LEARN:style] mine").unwrap();
    let all = journal.suggested().unwrap();
    assert_eq!(all.len(), 1, "two runs that suggest the same suggest it once");
    assert_eq!((all[0].run.clone(), all[0].decided), (run(), None));
    assert_eq!(fs::read_to_string(&memory).unwrap(), "[LEARN:style] mine");

    let into = Accepting { memory: &memory, skill: Some("discover") };
    for _ in 0..2 {
        journal.accept_suggestion(&all[0].id, &into).unwrap();
    }
    let line = "[LEARN:high-perf] librarian scored 92 on the first pass --- keep its brief as a template\n";
    assert_eq!(fs::read_to_string(&memory).unwrap(), format!("[LEARN:style] mine\n\n{line}"));
    let gotchas = fs::read_to_string(crate::pipeline::learning::gotchas(journal.dir(), "discover")).unwrap();
    assert_eq!(gotchas, format!("# Gotchas learned here\n\n{line}"));
    assert_eq!(journal.suggested().unwrap()[0].decided, Some(Decided::Accepted));
    let refused = journal.reject_suggestion(&all[0].id).unwrap_err();
    assert!(refused.to_string().contains("was accepted already"), "{refused}");
}

#[test]
fn what_was_rejected_is_not_taken_in_with_the_next() {
    let (dir, journal) = store();
    let mut stream = story("coder", "robustness", None);
    let mut other = suggestion();
    other.text = "another".into();
    stream.then(vec![pipeline(PipelineEvent::Learned { suggestions: vec![suggestion(), other] })], None);
    stream.record(&journal, run());
    let all = journal.suggested().unwrap();
    let memory = dir.path().join("memory.md");
    journal.reject_suggestion(&all[0].id).unwrap();
    assert!(!memory.exists());
    journal.accept_suggestion(&all[1].id, &Accepting { memory: &memory, skill: None }).unwrap();
    let text = fs::read_to_string(&memory).unwrap();
    assert!(text.contains("another") && !text.contains("92"), "{text}");
    assert!(journal.accept_suggestion("nonsense", &Accepting { memory: &memory, skill: None }).is_err());
}

#[test]
fn a_pattern_of_three_projects_is_proposed() {
    let dir = tempfile::tempdir().unwrap();
    let patterns = PatternCounts::new(dir.path());
    assert_eq!(patterns.promotions(), vec![]);
    for project in ["/a", "/b", "/a", "/a"] {
        patterns.count(project, &[suggestion()]).unwrap();
    }
    assert_eq!(patterns.promotions(), vec![]);
    patterns.count("/c", &[suggestion()]).unwrap();
    let found = patterns.promotions();
    assert_eq!((found.len(), found[0].projects), (1, 3));
    assert_eq!(found[0].pattern, suggestion().pattern());
    let kept = fs::read_dir(dir.path().join("patterns")).unwrap().map(|e| e.unwrap().path());
    for path in kept {
        let text = fs::read_to_string(path).unwrap();
        assert!(!text.contains("/a"), "a project is known by its hash only: {text}");
    }
}
