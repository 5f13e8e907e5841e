//! What the core can ask of a neuroflow project.

use std::path::PathBuf;
use std::sync::Arc;

use gadfly_project::Problem;
use gadfly_project::adapter::{Adapter, DescribedWork, InstalledPlugin, ProjectPlace, WorkName, WorkQuery};

use super::NeuroflowProject;
use crate::plugins;

/// Projects with a folder `.neuroflow/`.
#[derive(Debug)]
pub struct Neuroflow;

const NAME: &str = "neuroflow";

/// Where the user installed it, the folder to be used first.
fn installed(at: ProjectPlace<'_>) -> Vec<PathBuf> {
    at.claude.map(|claude| plugins::installed(claude, NAME, at.root)).unwrap_or_default()
}

/// None where there is no such project: nobody looks for plugins then.
fn with<T>(at: ProjectPlace<'_>, ask: impl FnOnce(NeuroflowProject<'_>) -> Option<T>) -> Option<T> {
    super::is_here(at.root)
        .then(|| installed(at))
        .and_then(|plugins| ask(NeuroflowProject { root: at.root, plugins: &plugins }))
}

impl Adapter for Neuroflow {
    fn name(&self) -> &'static str {
        NAME
    }

    fn first_command(&self) -> (&'static str, &'static str) {
        ("gadfly run paper --task \"…\"", "a phase of this neuroflow project")
    }

    fn named(&self, at: ProjectPlace<'_>, word: &str) -> Option<WorkName> {
        with(at, |project| super::is_phase(project, word).then_some(WorkName::Phase))
    }

    fn work(
        &self,
        query: WorkQuery<'_>,
        name: &str,
        problems: &mut Vec<Problem>,
    ) -> Option<Arc<dyn DescribedWork>> {
        let plugins = installed(query.at);
        let project = NeuroflowProject { root: query.at.root, plugins: &plugins };
        super::phase(project, name, problems).map(|phase| Arc::new(phase) as Arc<dyn DescribedWork>)
    }

    fn nearest(&self, at: ProjectPlace<'_>, word: &str) -> Option<String> {
        with(at, |project| super::nearest(project, word))
    }

    fn active(&self, at: ProjectPlace<'_>) -> Option<String> {
        with(at, super::active_phase)
    }

    fn plugin(&self, at: ProjectPlace<'_>) -> Option<InstalledPlugin> {
        Some(InstalledPlugin { name: NAME, folder: installed(at).into_iter().next() })
    }
}
