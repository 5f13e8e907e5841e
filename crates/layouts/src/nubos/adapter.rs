//! What the core can ask of a nubos-pilot project.

use std::path::Path;
use std::sync::Arc;

use gadfly_project::Problem;
use gadfly_project::adapter::{
    Adapter, DescribedWork, ProjectPlace, TaskGroup, TaskRow, WorkName, WorkQuery, WrittenStatus,
};

use super::{REPORTS, status};

/// Projects with a folder `.nubos-pilot/`.
#[derive(Debug)]
pub struct NubosPilot;

impl Adapter for NubosPilot {
    fn name(&self) -> &'static str {
        "nubos"
    }

    fn first_command(&self) -> (&'static str, &'static str) {
        ("gadfly run M001-S001", "a slice of this nubos-pilot project, task by task")
    }

    /// The id of a task is one wherever it is typed; outside such a project, reading it says what is missing.
    fn named(&self, at: ProjectPlace<'_>, word: &str) -> Option<WorkName> {
        if super::is_task_id(word) {
            return Some(WorkName::Task);
        }
        (super::is_group_id(word) && super::is_here(at.root)).then_some(WorkName::Group)
    }

    fn work(
        &self,
        query: WorkQuery<'_>,
        name: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Arc<dyn DescribedWork>> {
        super::task(query, name, problems).map(|task| Arc::new(task) as Arc<dyn DescribedWork>)
    }

    fn has_plans(&self) -> bool {
        true
    }

    fn work_at(
        &self,
        query: WorkQuery<'_>,
        plan: &Path,
        problems: &mut Vec<Problem>,
    ) -> Option<Arc<dyn DescribedWork>> {
        super::task_at(query, plan, problems).map(|task| Arc::new(task) as Arc<dyn DescribedWork>)
    }

    fn groups(&self, root: &Path, name: &str, problems: &mut Vec<Problem>) -> Vec<TaskGroup> {
        super::slices(root, name, problems)
    }

    fn row(&self, root: &Path, task: &str) -> Option<TaskRow> {
        super::row(root, task)
    }

    /// Modules of its critic are files to be read, not agents.
    fn no_agent(&self, root: &Path, name: &str) -> Option<Problem> {
        (super::is_here(root) && super::is_module(root, name)).then(|| super::not_spawnable(name))
    }

    fn reports(&self) -> Option<&'static str> {
        Some(REPORTS)
    }

    fn written_status(
        &self,
        root: &Path,
        task: &str,
        status: &str,
        now: &str,
        run: &str,
    ) -> Option<WrittenStatus> {
        status::written(root, task, status, now, run)
    }
}
