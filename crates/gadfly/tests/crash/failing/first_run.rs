//! The first run of a project: it makes the store.

use std::cell::RefCell;

use super::{fine, sweep};
use crate::{Project, serve, strace};

const RUN: [&str; 8] = ["run", "Write.", "--criterion", "at most 3 words", "--worker", "w", "--critic", "c"];

#[test]
fn a_first_run_survives_whichever_operation_fails() {
    if !strace::is_there() {
        return;
    }
    let (_runtime, server) = serve(0);
    let project = RefCell::new(Project::new(&server, "critic:R,R,A"));
    let begin = || {
        let mut new = Project::new(&server, "critic:R,R,A");
        std::mem::swap(&mut *project.borrow_mut(), &mut new);
        project.borrow().gadfly(&RUN)
    };
    sweep("a first run", &["resume", "run"], 18, begin, |way, _, place| {
        let project = project.borrow();
        fine(place, &mut project.gadfly(&["runs"]), &[0]);
        if way == "resume" {
            // Nothing to resume is a usage error where there is no store at all.
            fine(place, &mut project.gadfly(&["resume", "--all"]), &[0, 2]);
        }
        fine(place, &mut project.gadfly(&RUN), &[0]);
        fine(place, &mut project.gadfly(&["runs"]), &[0]);
    });
}
