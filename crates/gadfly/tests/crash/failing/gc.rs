//! `gc` in a store with runs that ended, one of them with a copy of the project, and one that can be gone on with.

use std::fs;

use super::{fine, sweep};
use crate::desk::AUDIT;
use crate::stage::Stage;
use crate::strace;

const GC: [&str; 4] = ["gc", "--older-than", "0", "--apply"];
const ENDED: usize = 4;

#[test]
fn gc_survives_whichever_operation_fails() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(3);
    let desk = &stage.desk;
    desk.saying("writer", &["New text of 5 words."]);
    desk.saying("reader", &["[STATUS: APPROVED]\nAt most 10 words."]);
    for task in ["One.", "Two.", "Three."] {
        let run =
            ["run", task, "--criterion", "at most 10 words", "--worker", "writer", "--critic", "reader"];
        stage.gadfly("a run that ended", &run);
    }
    assert!(stage.killed(&AUDIT, "renameat", 1, None));
    stage.gadfly("a run that ended and has a folder", &["cancel", &desk.run_id()]);
    stage.is_as_before("the stage is set");
    stage.keep();
    let left = || -> Vec<String> {
        let mut left: Vec<String> = fs::read_dir(desk.path(".gadfly/runs"))
            .map(|found| found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect())
            .unwrap_or_default();
        left.sort();
        left
    };
    assert_eq!(left().len(), 1 + ENDED, "each has a folder");
    let begin = || {
        stage.reset();
        desk.command(&GC)
    };
    sweep("a gc", &["gc", "resume", "cancel"], 12, begin, |way, _, place| {
        let listed = fine(place, &mut desk.command(&["runs", "--json"]), &[0]);
        assert!(listed.contains(&stage.run) && listed.lines().count() <= 1 + ENDED, "{place}: {listed}");
        for line in listed.lines() {
            let run: serde_json::Value = serde_json::from_str(line).unwrap();
            let run = run["run"].as_str().unwrap();
            fine(place, &mut desk.command(&["show", run, "--verify"]), &[0]);
        }
        stage.is_as_before(place);
        match way {
            "resume" => {
                fine(place, &mut desk.command(&["resume", &stage.run]), &[0]);
                stage.is(&stage.after, place);
                fine(place, &mut desk.command(&["undo", &stage.run]), &[0]);
            }
            "cancel" => drop(fine(place, &mut desk.command(&["cancel", &stage.run]), &[0])),
            _ => {}
        }
        stage.is_as_before(place);
        fine(place, &mut desk.command(&GC), &[0]);
        if way == "gc" {
            assert_eq!(left(), *std::slice::from_ref(&stage.run), "{place}");
            stage.is_whole(place);
        } else {
            assert_eq!(left(), [""; 0], "{place}");
            assert_eq!(fine(place, &mut desk.command(&["runs", "--json"]), &[0]), "", "{place}");
        }
    });
}
