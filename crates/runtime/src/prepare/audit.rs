//! The settings of an `audit`: success criteria, scope, verify commands, and who works in the folder.

use std::path::Path;

use gadfly_engine::Limits;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::audit::RULE_BOOK;
use gadfly_engine::protocol::audit::report::AuditCriterion;
use gadfly_engine::protocol::audit::settings::AuditSettings;
use gadfly_engine::tree::Acceptance;
use gadfly_engine::work::Work;
use gadfly_journal::RunId;
use gadfly_project::config::{CriterionSetting, criteria};
use gadfly_project::place::option;
use gadfly_project::title::slug;
use gadfly_project::{LoopConfig, LoopProtocol, Problem, Sourced, title};

use super::protocols::ProtocolEntry;
use super::settings::{RoleAssignment, RoleList, RunPlace, RunSettings, rounds_of, seats, small};
use super::{Material, Request};

/// What a review goes by if nobody says: true of any change.
pub const REVIEW_CRITERIA: [&str; 3] = [
    "It is correct: it does what its names, comments and tests say, and breaks nothing that worked before.",
    "It handles the errors, edge cases and hostile input it can meet.",
    "It is finished: nothing is left half-done, unused or untested that the rest of the work would need.",
];

pub(super) const ENTRY: ProtocolEntry = ProtocolEntry {
    card: LoopProtocol::AUDIT.card(),
    book: RULE_BOOK,
    settings,
    of_task: None,
    inherits: None,
};

impl RunSettings for AuditSettings {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        Self::node_plan(self, limits)
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        let later = self.rounds.saturating_sub(1);
        RoleList::new(self.worker.as_ref(), self.rounds)
            .with("fixer", self.build_fixer.as_ref(), later)
            .with("finds", self.researcher.as_ref(), later)
            .with("plans", self.architect.as_ref(), 1)
            .with("tests", self.test_writer.as_ref(), 1)
            .judged_by(&self.critics)
    }

    fn rounds(&self) -> u32 {
        rounds_of(self.worker.as_ref(), self.rounds)
    }

    fn needs_folder(&self) -> bool {
        self.folder
    }

    fn belong_to(&mut self, run: &RunId, place: &RunPlace<'_>) {
        self.run_id = run.to_string();
        let of_run = |store: &Path| store.join("runs").join(run.as_str()).to_string_lossy().into_owned();
        self.report_dir = match place.reports {
            Some(reports) => format!("{reports}/{run}"),
            None => place.store.map(of_run).unwrap_or_default(),
        };
        self.keeps_status = place.keeps_status;
    }
}

fn settings(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn RunSettings>> {
    let criteria = criteria_of(config, request, problems)?;
    problems.extend(twice(&criteria).map(|problem| problem.at(config.place.as_ref())));
    if !request.rubrics.is_empty() {
        let message = "`audit` goes by success criteria, not by a rubric";
        problems
            .push(Problem::error(message).help(format!("give the file with {}", option("criteria FILE"))));
    }
    if request.from.is_some() {
        let message = "a run cannot be started from another one's folder under `audit`";
        let help = "start a new run: its folder begins with what your checkout holds";
        problems.push(Problem::error(message).help(help));
    }
    let review = request.review.is_some();
    let given = match &material.given {
        Some(Work::Draft(_)) => {
            problems.push(
                Problem::error("`audit` judges files, not a draft")
                    .help(format!("leave {} out, or name a file to `review`", option("draft"))),
            );
            return None;
        }
        other => other.clone(),
    };
    let texts = |list: &[Sourced<String>]| -> Vec<String> { list.iter().map(|t| t.value.clone()).collect() };
    let named = |agent: &Option<Sourced<String>>| agent.as_ref().filter(|_| !review).map(|a| a.value.clone());
    let task = material.task.as_str();
    let name = config.name.clone().unwrap_or_else(|| title::title(task));
    let acceptance = if config.audit.commit.value {
        let message = format!("{}\n", title::title(task));
        Acceptance::Commit { branch: config.audit.branch.as_ref().map(|b| b.value.clone()), message }
    } else {
        Acceptance::Checkout
    };
    if review && !config.audit.verify.is_empty() {
        let message = "verify commands are not run in a review: there is no folder to run them in";
        problems.push(Problem::warning(message).help("`gadfly run` with a worker runs them"));
    }
    Some(Box::new(AuditSettings {
        task_id: config.audit.task_id.as_ref().map_or_else(|| slug(&name), |id| id.value.clone()),
        task: material.task.digest(),
        criteria,
        scope: texts(&config.audit.scope),
        verify: if review { Vec::new() } else { texts(&config.audit.verify) },
        verify_runs: small(config.audit.verify_runs.value),
        verify_timeout_ms: u64::try_from(config.audit.verify_timeout.value.as_millis()).unwrap_or(u64::MAX),
        decisions: texts(&config.audit.decisions),
        references: material.named_references(),
        given,
        folder: !review,
        worker: named(&config.options.worker),
        build_fixer: named(&config.audit.build_fixer),
        researcher: named(&config.audit.researcher),
        architect: named(&config.audit.architect),
        test_writer: named(&config.audit.test_writer),
        critics: seats(config),
        rounds: small(config.options.rounds.value),
        block_on: config.audit.block_on.value,
        economy: config.audit.economy.value,
        examine: true,
        acceptance: (!review).then_some(acceptance),
        max_parts: small(config.options.max_parts.value),
        keeps_status: false,
        run_id: String::new(),
        report_dir: String::new(),
    }))
}

fn criteria_of(
    config: &LoopConfig,
    request: &Request,
    problems: &mut Vec<Problem>,
) -> Option<Vec<AuditCriterion>> {
    let mut given: Vec<CriterionSetting> = match config.options.criteria.as_ref().map(criteria::read) {
        Some(Err(problem)) => {
            problems.push(problem);
            return None;
        }
        Some(Ok(items)) => items.into_iter().map(|i| i.value).collect(),
        None => Vec::new(),
    };
    given.extend(request.criteria.iter().map(|c| CriterionSetting::of_line(&c.value)));
    if given.is_empty() && request.review.is_some() {
        let usual = |text: &&str| CriterionSetting { name: None, text: (*text).to_owned() };
        given = REVIEW_CRITERIA.iter().map(usual).collect();
    } else if given.is_empty() {
        let message = "there are no success criteria: the run will ask for a plan before it does anything";
        problems.push(
            Problem::warning(message)
                .help(format!("add {}, or `criteria = [\"…\"]`", option("criterion \"…\"")))
                .at(config.place.as_ref()),
        );
    }
    Some(numbered(told_apart(given)))
}

/// A word before a colon that several criteria begin with is no id: `API: returns 401`, `API: returns 403`.
fn told_apart(mut given: Vec<CriterionSetting>) -> Vec<CriterionSetting> {
    let is_word = |name: &String| !name.contains(|c: char| c.is_ascii_digit());
    let words: Vec<String> = given.iter().filter_map(|c| c.name.clone()).filter(is_word).collect();
    for criterion in &mut given {
        if let Some(name) = criterion.name.take_if(|n| words.iter().filter(|w| *w == n).count() > 1) {
            criterion.text = format!("{name}: {}", criterion.text);
        }
    }
    given
}

/// The first id that two criteria have.
fn twice(criteria: &[AuditCriterion]) -> Option<Problem> {
    let same = |a: &AuditCriterion, b: &AuditCriterion| a.id.trim().eq_ignore_ascii_case(b.id.trim());
    let mut all = criteria.iter().enumerate();
    let found = all.find(|(at, c)| criteria.iter().take(*at).any(|other| same(other, c)))?.1;
    let message = format!("two success criteria have the id `{}`", found.id);
    Some(Problem::error(message).help("give each its own, or none"))
}

/// Ids as given; the others are SC-1, SC-2 … where those are free.
pub(crate) fn numbered(given: Vec<CriterionSetting>) -> Vec<AuditCriterion> {
    let taken: Vec<String> = given.iter().filter_map(|c| c.name.as_ref()).map(|n| n.to_uppercase()).collect();
    let mut free = (1..).map(|n| format!("SC-{n}")).filter(|id| !taken.contains(id));
    let mut id = |name: Option<String>| name.or_else(|| free.next()).unwrap_or_default();
    given.into_iter().map(|c| AuditCriterion { id: id(c.name), claim: c.text }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_get_the_ids_that_are_free() {
        let lines = ["SC-2: two", "one", "three"].map(CriterionSetting::of_line);
        let ids: Vec<String> = numbered(lines.to_vec()).into_iter().map(|c| c.id).collect();
        assert_eq!(ids, ["SC-2", "SC-1", "SC-3"]);
    }

    #[test]
    fn a_word_that_several_criteria_begin_with_is_no_id() {
        let lines = ["API: returns 401", "API: returns 403", "UI: shows it"].map(CriterionSetting::of_line);
        let read = numbered(told_apart(lines.to_vec()));
        let shown: Vec<_> = read.iter().map(|c| (c.id.as_str(), c.claim.as_str())).collect();
        let expected = [("SC-1", "API: returns 401"), ("SC-2", "API: returns 403"), ("UI", "shows it")];
        assert_eq!(shown, expected);
        assert!(twice(&read).is_none());
        let same = numbered(["SC-1: a", "SC-1: b"].map(CriterionSetting::of_line).to_vec());
        assert!(twice(&same).is_some());
    }
}
