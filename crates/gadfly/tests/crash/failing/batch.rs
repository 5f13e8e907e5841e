//! A batch: three tasks, two at once.

use std::cell::RefCell;
use std::fs;

use super::{fine, sweep};
use crate::landing::Observer;
use crate::{CALLS_PER_TASK, Project, serve, strace};

const TASKS: u64 = 3;
const BATCH: [&str; 8] = ["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--jobs", "2"];
const MINE: &str = "mine, not committed\n";

#[test]
fn a_batch_survives_whichever_operation_fails_and_pays_for_no_recorded_answer_twice() {
    if !strace::is_there() {
        return;
    }
    let (_runtime, server) = serve(0);
    let made = || {
        let project = Project::new(&server, "critic:R,R,A");
        project.write_tasks(TASKS);
        fs::write(project.path().join("notes.md"), MINE).unwrap();
        project
    };
    let project = RefCell::new((made(), 0));
    let begin = || {
        *project.borrow_mut() = (made(), server.calls().total);
        project.borrow().0.gadfly(&BATCH)
    };
    sweep("a batch", &["resume", "cancel", "batch"], 14, begin, |way, _, place| {
        let (project, before) = &*project.borrow();
        let runs = |codes: &[i32]| -> Vec<serde_json::Value> {
            let listed = fine(place, &mut project.gadfly(&["runs", "--json"]), codes);
            listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let lost = server.calls().total - before - Observer::new(project.store()).recorded();
        let listed = runs(&[0]);
        let mut cancelled = 0;
        match way {
            // Nothing to resume is a usage error where there is no store at all.
            "resume" => drop(fine(place, &mut project.gadfly(&["resume", "--all"]), &[0, 2])),
            "cancel" => {
                for run in listed.iter().filter(|run| run["state"] != "approved") {
                    fine(place, &mut project.gadfly(&["cancel", run["run"].as_str().unwrap()]), &[0]);
                    cancelled += 1;
                }
            }
            _ => {}
        }
        fine(place, &mut project.gadfly(&BATCH), if cancelled > 0 { &[7] } else { &[0] });
        let listed = runs(&[0]);
        let ended = |state: &str| listed.iter().filter(|run| run["state"] == state).count() as u64;
        assert_eq!((ended("approved"), ended("aborted")), (TASKS - cancelled, cancelled), "{place}");
        for run in &listed {
            let run = run["run"].as_str().unwrap();
            fine(place, &mut project.gadfly(&["show", run, "--verify"]), &[0]);
            // It changed no file of the user's, and says so.
            fine(place, &mut project.gadfly(&["undo", run]), &[2]);
        }
        assert_eq!(project.results().len() as u64, TASKS, "{place}");
        let (made, due) = (server.calls().total - before, TASKS * CALLS_PER_TASK);
        assert!(made <= due + lost, "{place}: {made} calls, {due} due, {lost} had no recorded answer");
        assert!(cancelled > 0 || made >= due, "{place}: {made} calls, {due} due");
        assert_eq!(fs::read_to_string(project.path().join("notes.md")).unwrap(), MINE, "{place}");
    });
}
