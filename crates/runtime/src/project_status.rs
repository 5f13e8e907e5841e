//! How a project stands at this moment, without a run: its registry, its files, and the verdicts that are known here.
//! `next`, `why`, `gate` and `adopt` ask it the questions that a pipeline asks of itself.
//!
//! It only looks, except for the commands of a gate, which are run in `commands`. What follows is the engine's to say.

mod commands;
mod evidence;
mod hook;
mod sources;
mod vouch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use gadfly_engine::pipeline::headings::headings;
use gadfly_engine::pipeline::listing::Survey;
use gadfly_engine::pipeline::{Check, Listing, PairVerdict, Pattern, ProjectFacts, Registry};
use gadfly_journal::{Journal, ReadError};
use gadfly_project::{Problem, adopt};

pub use commands::CommandRan;
pub use evidence::{ProofPolicy, ProofSource, RefusedProof, StatusEvidence, VerdictProof};
pub use hook::{HookError, Hooked};
pub use sources::StatusSources;
pub use vouch::{VOUCHED, VouchError};

use crate::prepare::pipeline::{ProjectRegistry, known, skills};
use crate::service::Gadfly;
use crate::setup::Setup;
use crate::survey::{SurveyError, SurveyResult, survey, survey_staged};
use crate::workspace::{Git, WorkspaceError};

/// What is looked at, and whose word counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusQuery {
    /// What the next commit would hold, in place of the files on disk.
    pub staged: bool,
    pub word: ProofPolicy,
    /// Conditions only people can judge are taken as true.
    pub assume_manual: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ProjectStatusError {
    /// The project cannot be read as it is.
    #[error("the project's registry cannot be used")]
    Project(Vec<Problem>),
    #[error(transparent)]
    Survey(#[from] SurveyError),
    #[error(transparent)]
    Journal(#[from] ReadError),
    #[error(transparent)]
    Git(#[from] WorkspaceError),
    #[error("programs cannot be started here, so git cannot be asked")]
    NoPrograms,
}

/// One project at one moment.
pub struct ProjectStatus {
    pub known: ProjectRegistry,
    pub listing: Listing,
    /// Normalised, by path.
    pub headings: BTreeMap<String, Vec<String>>,
    /// At most one for each agent: the one that counts, or would if its files were still what they were.
    pub verdicts: Vec<PairVerdict>,
    /// Where each of them is from, by agent.
    pub proofs: BTreeMap<String, VerdictProof>,
    /// There is a journal here.
    pub has_journal: bool,
    pub refused: Vec<RefusedProof>,
    /// What people said about conditions only they can judge.
    pub manual: BTreeMap<String, bool>,
    pub assume_manual: bool,
    pub enabled: BTreeSet<String>,
    /// The skill that dispatches an agent.
    pub skills: BTreeMap<String, String>,
}

impl ProjectStatus {
    pub fn facts(&self) -> ProjectFacts<'_> {
        ProjectFacts {
            registry: &self.known.registry,
            listing: &self.listing,
            headings: &self.headings,
            verdicts: &self.verdicts,
            manual: &self.manual,
            assume_manual: self.assume_manual,
            enabled: &self.enabled,
            skills: &self.skills,
        }
    }

    /// Agents whose score is known here from a receipt only.
    pub fn from_receipts(&self) -> Vec<&str> {
        let receipts = self.proofs.iter().filter(|(_, proof)| proof.is_receipt());
        receipts.map(|(agent, _)| agent.as_str()).collect()
    }

    /// Where a line of the registry stands, as `permissions.md:12`.
    pub fn at_line(&self, line: u32) -> String {
        let file = self.known.files.registry.as_ref();
        file.map_or_else(|| format!("line {line}"), |file| format!("{}:{line}", file.path.display()))
    }
}

impl Gadfly {
    /// How the project stands now, by the journal and the receipts.
    pub async fn project_status(&self, asked: StatusQuery) -> Result<ProjectStatus, ProjectStatusError> {
        let setup = Setup::new(self.root().clone(), self.config().clone());
        setup.project_status(self.journal().dir(), Some(self.journal()), asked).await
    }
}

impl Setup {
    /// How the project stands now. `store` is Gadfly's own folder, which need not be there; without a journal only
    /// receipts are known.
    pub async fn project_status(
        &self,
        store: &Path,
        journal: Option<&Journal>,
        asked: StatusQuery,
    ) -> Result<ProjectStatus, ProjectStatusError> {
        let root = &self.root.dir;
        let state = state_project(root);
        let known = known(root, &self.config, state.as_deref()).map_err(ProjectStatusError::Project)?;
        let evidence = StatusEvidence::read(root, known.files.layout, journal, &asked.word)?;
        let wanted = wanted(&known.registry, evidence.all());
        let SurveyResult { listing, texts, .. } = self.look(store, &wanted, asked.staged).await?;
        let (verdicts, proofs, refused) = evidence.counting(&listing);
        // What people said in a store that is not this machine's, nobody here heard.
        let heard = journal.filter(|journal| journal.foreign().is_none());
        let manual = heard.map(Journal::conditions_said).transpose()?.unwrap_or_default();
        Ok(ProjectStatus {
            headings: texts.into_iter().map(|(path, text)| (path, headings(&text))).collect(),
            enabled: self.config.project.enable.iter().map(|name| name.value.clone()).collect(),
            skills: skills(&known.files),
            known,
            listing,
            verdicts,
            proofs,
            has_journal: journal.is_some(),
            refused,
            manual,
            assume_manual: asked.assume_manual,
        })
    }

    async fn look(
        &self,
        store: &Path,
        wanted: &Survey,
        staged: bool,
    ) -> Result<SurveyResult, ProjectStatusError> {
        if staged {
            return Ok(survey_staged(&self.asking_git()?, &self.root.dir, store, wanted).await?);
        }
        let (root, store, wanted) = (self.root.dir.clone(), store.to_owned(), wanted.clone());
        let looked = tokio::task::spawn_blocking(move || survey(&root, &store, &wanted)).await;
        let (listing, texts) = looked.map_err(|_| SurveyError::Cancelled)??;
        Ok(SurveyResult { listing, texts, ..SurveyResult::default() })
    }

    fn asking_git(&self) -> Result<Git, ProjectStatusError> {
        let resolver = self.resolver();
        let launcher = resolver.launcher.ok_or(ProjectStatusError::NoPrograms)?;
        Ok(Git::new(Arc::clone(launcher), resolver.env.clone()))
    }
}

/// What a state file in one of the usual places calls the project.
pub fn state_project(root: &Path) -> Option<String> {
    adopt::read(root, &[Path::new("quality_reports"), Path::new(".gadfly")], None).project
}

/// Every file that some condition, product or verdict is about.
fn wanted<'a>(registry: &Registry, verdicts: impl Iterator<Item = &'a PairVerdict>) -> Survey {
    let mut patterns: BTreeSet<Pattern> = BTreeSet::new();
    let mut read: BTreeSet<Pattern> = BTreeSet::new();
    for entry in &registry.entries {
        for product in &entry.produces {
            let all = product.patterns.iter().chain(&product.files).cloned();
            patterns.extend(all);
            if !product.sections.is_empty() {
                let sectioned = if product.files.is_empty() { &product.patterns } else { &product.files };
                read.extend(sectioned.iter().cloned());
            }
        }
        let required = entry.requires.atoms().into_iter().filter_map(|atom| match &atom.check {
            Check::Path(pattern) | Check::Contains { folder: pattern, .. } => Some(pattern.clone()),
            Check::Manual | Check::Score { .. } | Check::Overall { .. } | Check::Components { .. } => None,
        });
        patterns.extend(required);
    }
    let judged = verdicts.flat_map(|verdict| verdict.files.iter().chain(&verdict.made));
    patterns.extend(judged.map(|file| Pattern(file.path.clone())));
    Survey { patterns: patterns.into_iter().collect(), read: read.into_iter().collect() }
}
