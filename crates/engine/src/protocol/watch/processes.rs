//! What the worker has started so that it stays up: which of it is up, as far as the record tells. None of it outlives the
//! program that drives the goal, so whoever takes the goal up begins without.

use std::collections::BTreeSet;

use super::Watch;
use crate::goal::StepEnd;
use crate::machine::Cx;
use crate::tool::{Process, ToolCall};

/// By name.
#[derive(Default)]
pub(super) struct Up {
    names: BTreeSet<String>,
    /// How often the goal had been taken up when they were started.
    resumes: u32,
}

impl Watch {
    pub(super) fn note_process(&mut self, process: &Process, well: bool) {
        match process {
            Process::Start { name, .. } if well => drop(self.up.names.insert(name.clone())),
            Process::Stop { name } if well => drop(self.up.names.remove(name)),
            _ => {}
        }
    }

    /// The goal was taken up by another process since: the worker is told what is gone.
    pub(super) fn tell_of_gone_processes(&mut self, cx: &mut Cx<'_>) {
        if std::mem::replace(&mut self.up.resumes, cx.resumes()) == cx.resumes() {
            return;
        }
        let gone: Vec<String> = std::mem::take(&mut self.up.names).into_iter().collect();
        if !gone.is_empty() {
            let words = format!(
                "The work was interrupted, and the processes you had started are gone: {}. Start them again if you need them.",
                gone.join(", ")
            );
            self.tell_worker(words, cx);
        }
    }

    /// The program was stopped while it started or stopped one: none is up now, and nobody has to be asked.
    pub(super) fn process_lost(&mut self, call: &ToolCall, cx: &mut Cx<'_>) {
        self.up.names.clear();
        let said = "The work was interrupted in the middle of this, and every process you had started is gone. Start again \
                    what you need.";
        self.answer_call(call, StepEnd::Unknown, said, 0, cx);
        self.unwatched += 1;
        self.next_call(cx);
    }
}
