//! What of a batch is done already: every task's run is looked up, many at a time.

use std::collections::HashMap;
use std::path::Path;

use gadfly_engine::Money;
use gadfly_journal::{Journal, RunId, RunLookup};
use gadfly_project::{Problem, tasks};

use super::results::SeenResults;
use super::template::Template;

/// Tasks looked up with one question.
const CHUNK: usize = 512;
/// Changed tasks named one by one; the rest is only counted.
const MOST_NAMED: usize = 20;

/// Why a task needs something, if its run is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Due {
    /// Over for good. `written` if its result is in the file, else only that is due.
    Ended { outcome: String, written: bool },
    /// Parked or interrupted.
    Resume { cost: Money },
    /// Another living process drives it.
    Elsewhere,
}

/// Counts over all tasks, and what is due for those whose run exists.
#[derive(Debug, Default)]
pub struct BatchSurvey {
    pub tasks: usize,
    /// Ended before, by outcome label.
    pub ended: HashMap<String, usize>,
    pub to_resume: usize,
    pub to_start: usize,
    pub elsewhere: usize,
    /// What the batch's runs cost before.
    pub spent: Money,
    /// What the loops still to be run can cost at most.
    pub worst_case: Money,
    /// The bytes of the largest task still to be run.
    pub largest: u64,
    /// Tasks whose result is in the file, though nobody here ran them, or not any more: nothing proves the result.
    pub lost: usize,
    /// Ids whose result stands for other content: they run anew.
    pub changed: Vec<String>,
    pub changed_unnamed: usize,
    pub(super) due: HashMap<RunId, Due>,
}

struct TaskRun {
    id: String,
    run: RunId,
    bytes: u64,
}

impl BatchSurvey {
    pub(super) fn take(
        file: &Path,
        template: &Template,
        journal: &Journal,
        seen: &SeenResults,
    ) -> Result<Self, Problem> {
        let mut survey = Self::default();
        let mut chunk: Vec<TaskRun> = Vec::with_capacity(CHUNK);
        for task in tasks::open(file)? {
            let task = task?;
            let bytes = Template::bytes(&task);
            chunk.push(TaskRun { run: template.run_id(&task), id: task.id, bytes });
            if chunk.len() == CHUNK {
                survey.add(&mut chunk, template, journal, seen)?;
            }
        }
        survey.add(&mut chunk, template, journal, seen)?;
        Ok(survey)
    }

    fn add(
        &mut self,
        chunk: &mut Vec<TaskRun>,
        template: &Template,
        journal: &Journal,
        seen: &SeenResults,
    ) -> Result<(), Problem> {
        let runs: Vec<RunId> = chunk.iter().map(|a| a.run.clone()).collect();
        let mut known = journal.known(&runs).map_err(|e| Problem::error(e.to_string()))?;
        for asked in chunk.drain(..) {
            self.tasks += 1;
            let due = known.remove(&asked.run).map(|k| self.judge(k, &asked, seen));
            if matches!(due, None | Some(Due::Resume { .. })) {
                self.largest = self.largest.max(asked.bytes);
                let worst = template.worst_case(asked.bytes);
                self.worst_case.0 = self.worst_case.0.saturating_add(worst.0);
            }
            if let Some(due) = due {
                self.due.insert(asked.run, due);
            } else {
                self.to_start += 1;
                self.lost += usize::from(seen.run_of(&asked.id) == Some(&asked.run));
                self.note_change(asked, seen);
            }
        }
        Ok(())
    }

    fn judge(&mut self, known: RunLookup, asked: &TaskRun, seen: &SeenResults) -> Due {
        self.spent.0 = self.spent.0.saturating_add(known.cost.0);
        match known.outcome {
            Some(outcome) if known.ended => {
                let written = seen.has(&asked.id, &asked.run, &outcome);
                *self.ended.entry(outcome.clone()).or_default() += 1;
                Due::Ended { outcome, written }
            }
            _ if known.driven => {
                self.elsewhere += 1;
                Due::Elsewhere
            }
            _ => {
                self.to_resume += 1;
                Due::Resume { cost: known.cost }
            }
        }
    }

    fn note_change(&mut self, asked: TaskRun, seen: &SeenResults) {
        if seen.run_of(&asked.id).is_none_or(|run| *run == asked.run) {
            return;
        }
        if self.changed.len() < MOST_NAMED {
            self.changed.push(asked.id);
        } else {
            self.changed_unnamed += 1;
        }
    }
}
