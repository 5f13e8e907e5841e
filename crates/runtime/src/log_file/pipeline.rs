//! Keeps the files by which a project shows how its pipeline stands up to date while it is driven. Other runs have
//! none. If one cannot be written the run goes on: `Journal::unwritten` names it.

use gadfly_engine::Plan;
use gadfly_engine::input::InputKind;
use gadfly_journal::pipeline::{LocalZone, PROTOCOL, ProjectFileWriter, StateFiles};
use gadfly_journal::{Journal, Record, RunId, RunView};

/// The files of one run; nothing, if it is no pipeline.
pub struct PipelineFiles {
    journal: Journal,
    run: RunId,
    kept: Option<Box<(ProjectFileWriter, RunView)>>,
}

impl PipelineFiles {
    /// For a run that may have records already. What a process that was killed left unwritten is written now.
    pub fn of(journal: &Journal, run: &RunId, has_records: bool) -> Self {
        let mut this = Self { journal: journal.clone(), run: run.clone(), kept: None };
        let is_pipeline = || journal.summary(run).is_ok_and(|summary| summary.protocol == PROTOCOL);
        if has_records && is_pipeline() {
            this.fold();
        }
        this
    }

    fn fold(&mut self) {
        let first = self.journal.records(&self.run, 0, 1).unwrap_or_default();
        let Some(InputKind::Started(start)) = first.first().map(|record| &record.input.what) else { return };
        if let Some(places) = StateFiles::of(&start.plan) {
            places.sweep();
        }
        let files = pipeline_files(&self.journal, &self.run, &start.plan);
        let Ok(state) = self.journal.history(&self.run) else { return };
        files.write(&state);
        self.kept = Some(Box::new((files, state)));
    }

    /// Takes in a record; writes the files if it changed what they show.
    pub fn follow(&mut self, record: &Record) {
        if let InputKind::Started(start) = &record.input.what
            && start.plan.root.protocol == PROTOCOL
        {
            self.kept = Some(Box::new((
                pipeline_files(&self.journal, &self.run, &start.plan),
                RunView::with_history(self.run.clone()),
            )));
        }
        if let Some((files, view)) = self.kept.as_deref_mut() {
            view.apply(record);
            if view.changes_files() {
                files.write(view);
            }
        }
    }
}

/// The files of a run with this plan.
pub fn pipeline_files(journal: &Journal, run: &RunId, plan: &Plan) -> ProjectFileWriter {
    // A plan that names no place keeps its files with the store.
    let store = journal.dir();
    let beside = || StateFiles {
        root: store.to_owned(),
        dir: store.to_owned(),
        session: store.join("SESSION_REPORT.md"),
        state: false,
    };
    let places = StateFiles::of(plan).unwrap_or_else(beside);
    ProjectFileWriter::new(journal, run, places, LocalZone::default())
}
