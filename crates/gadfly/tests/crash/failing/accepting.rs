//! An acceptance of 120 files, and taking it back.

use super::{fine, sweep};
use crate::stage::Stage;
use crate::strace;

const FILES: usize = 120;

#[test]
fn an_acceptance_of_many_files_survives_whichever_operation_fails() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(FILES);
    let begin = || {
        stage.reset();
        stage.desk.command(&["resume", &stage.run])
    };
    sweep("an acceptance", &["resume", "undo", "cancel"], 9, begin, |way, failed, place| {
        // Whatever fails, what was written is taken back before the command ends, or it is said what was not.
        let is_told = failed.output.status.success() || failed.said().contains("put back");
        if stage.desk.state() != "approved" && !is_told {
            stage.is_as_before(place);
        }
        stage.mend(way, place);
    });
}

#[test]
fn an_undo_of_many_files_survives_whichever_operation_fails() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(FILES);
    stage.gadfly("to be undone", &["resume", &stage.run]);
    stage.keep();
    let begin = || {
        stage.reset();
        stage.desk.command(&["undo", &stage.run])
    };
    sweep("an undo", &["undo", "resume", "cancel"], 9, begin, |way, _, place| {
        if way != "undo" {
            // The run has ended: there is nothing to go on with or to cancel, and nothing is touched.
            let left = stage.desk.files();
            fine(place, &mut stage.desk.command(&[way, &stage.run]), &[0, 2]);
            stage.is(&left, place);
        }
        fine(place, &mut stage.desk.command(&["undo", &stage.run]), &[0, 2]);
        stage.is_as_before(place);
        stage.is_whole(place);
    });
}

/// The sample above may miss the few removals of folders, and nothing else tells whether one is left.
#[test]
fn an_undo_leaves_no_empty_folder_whichever_removal_fails() {
    if !strace::is_there() {
        return;
    }
    let stage = Stage::audit(1);
    stage.gadfly("to be undone", &["resume", &stage.run]);
    stage.keep();
    let mut met = 0;
    for nth in 1..=8 {
        stage.reset();
        let fault = format!("unlinkat:error=EIO:when={nth}");
        let undo = stage.desk.command(&["undo", &stage.run]);
        met += strace::run(&undo, &["unlinkat"], &[&fault], None).met().count();
        // It was taken back already if the failed removal was made up for.
        fine("again", &mut stage.desk.command(&["undo", &stage.run]), &[0, 2]);
        stage.is_as_before(&format!("removal {nth} failed"));
    }
    assert!(met >= 3, "a file and two folders are removed: {met}");
}
