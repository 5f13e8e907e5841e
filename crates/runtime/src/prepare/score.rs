//! The settings of a `score` loop: a rubric, with its table of deductions if it has one, and the pair.

use std::path::Path;

use gadfly_engine::deduction::DeductionTable;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::score::RULE_BOOK;
use gadfly_engine::protocol::score::settings::{EscalateTo, ScoreSettings};
use gadfly_engine::{Digest, Limits, Text};
use gadfly_project::config::RubricSetting;
use gadfly_project::place::option;
use gadfly_project::{LoopConfig, LoopProtocol, Overrides, Problem, SourceSpan, deduction_table, file};

use super::inherited::{EarlierRun, Inherited, SharedSettings};
use super::protocols::ProtocolEntry;
use super::settings::{RoleAssignment, RoleList, RunSettings, rounds_of, seats, small};
use super::{Material, Request};

pub(super) const ENTRY: ProtocolEntry = ProtocolEntry {
    card: LoopProtocol::SCORE.card(),
    book: RULE_BOOK,
    settings,
    of_task: Some(|config, task| Some(Box::new(bare(config, task)))),
    inherits: Some(inherits),
};

impl RunSettings for ScoreSettings {
    fn node_plan(&self, limits: Limits) -> Result<NodePlan, serde_json::Error> {
        Self::node_plan(self, limits)
    }

    fn cast(&self) -> Vec<RoleAssignment> {
        // An escalated loop begins once more.
        let cast = RoleList::new(self.worker.as_ref(), self.rounds.saturating_mul(2));
        match (&self.escalate_to, &self.worker) {
            (EscalateTo::Agent(agent), Some(_)) => cast.with("decides", Some(agent), 1),
            _ => cast,
        }
        .judged_by(&self.critics)
    }

    fn rounds(&self) -> u32 {
        rounds_of(self.worker.as_ref(), self.rounds)
    }

    fn about(&self, task: Digest, rubric: &[String]) -> Option<(Box<dyn RunSettings>, Option<Text>)> {
        let text = Text::new(format!("- {}\n", rubric.join("\n- ")));
        Some((Box::new(Self { task, rubric: text.digest(), ..self.clone() }), Some(text)))
    }
}

fn inherits(earlier: &EarlierRun<'_>, inherited: &mut Inherited) -> Result<SharedSettings, Problem> {
    let old: ScoreSettings = earlier.settings()?;
    inherited.score_rubric = Some((earlier.text(&old.rubric)?, old.table));
    let more = move |given: &mut Overrides| {
        given.or_set("threshold", u64::from(old.threshold));
        given.or_set("severity", old.severity.name());
        if old.stop_early {
            given.or_set("stop_early", true);
        }
        let to = match old.escalate_to {
            EscalateTo::Agent(agent) => agent,
            EscalateTo::Orchestrator => "orchestrator".to_owned(),
            EscalateTo::User => "user".to_owned(),
        };
        given.or_set("escalate_to", to);
    };
    let (task, references, critics) = (old.task, old.references, old.critics);
    let (worker, out, more) = (old.worker, old.out, Box::new(more));
    Ok(SharedSettings { task, references, worker, critics, out, more })
}

fn settings(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn RunSettings>> {
    let rubric = ScoreRubric::read(config, request, problems)?;
    if rubric.table.is_none() {
        problems.push(
            Problem::warning("the rubric has no table of deductions: the critic's own number counts")
                .help("a table with a column of points, like `| No sample size | -20 |`, lets the score be computed"),
        );
    }
    let invariants = match &config.score.invariants {
        Some(path) => {
            let text = file::read_text(&path.value).map_err(|e| {
                problems.push(Problem::error(format!("invariants: {e}")).at(path.place.as_ref()));
            });
            Some(material.keep(Text::new(text.ok()?)))
        }
        None => None,
    };
    let mut settings = bare(config, material.task.digest());
    settings.rubric = material.keep(Text::new(rubric.text));
    settings.table = rubric.table;
    settings.invariants = invariants;
    settings.references = material.named_references();
    settings.given.clone_from(&material.given);
    settings.out.clone_from(&material.target);
    if request.review.is_some() {
        settings.worker = None;
    }
    Some(Box::new(settings))
}

/// The settings of a loop about this task, without rubric and material.
fn bare(config: &LoopConfig, task: Digest) -> ScoreSettings {
    ScoreSettings {
        task,
        rubric: task,
        table: None,
        severity: config.level(),
        invariants: None,
        references: Vec::new(),
        given: None,
        worker: config.options.worker.as_ref().map(|w| w.value.clone()),
        critics: seats(config),
        rounds: small(config.options.rounds.value),
        threshold: config.pass_mark(),
        escalate_to: config.escalation(),
        stop_early: config.score.stop_early.value,
        out: None,
        max_parts: small(config.options.max_parts.value),
        escalates: true,
        own_rubrics: std::collections::BTreeMap::new(),
        files: None,
    }
}

/// What the critic deducts by: the text as it was written, and the table in it.
#[derive(Default)]
struct ScoreRubric {
    text: String,
    table: Option<DeductionTable>,
}

impl ScoreRubric {
    fn read(config: &LoopConfig, request: &Request, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut rubric = Self::default();
        let before = problems.len();
        match config.options.rubric.as_ref().map(|r| (&r.value, r.place.as_ref())) {
            // A file the user names now stands in for the configured one.
            Some((RubricSetting::File(path), place)) if request.rubrics.is_empty() => {
                rubric.add_file(path, place, problems);
            }
            Some((RubricSetting::Items(items), _)) => {
                rubric.add_items(items.iter().map(|i| i.value.as_str()));
            }
            _ => {}
        }
        for path in &request.rubrics {
            rubric.add_file(path, None, problems);
        }
        rubric.add_items(request.criteria.iter().map(|c| c.value.as_str()));
        if problems.iter().skip(before).any(Problem::is_error) {
            return None;
        }
        let old = request.from.as_ref().and_then(|old| old.score_rubric.clone());
        if let Some((text, table)) = old.filter(|_| rubric.text.trim().is_empty()) {
            rubric = Self { text, table };
        }
        if rubric.text.trim().is_empty() {
            let help = format!(
                "use {} with a table of deductions, or `rubric = \"rubrics/paper.md\"`",
                option("rubric FILE")
            );
            problems.push(Problem::error("the rubric is empty").help(help).at(config.place.as_ref()));
            return None;
        }
        Some(rubric)
    }

    fn add_items<'a>(&mut self, items: impl Iterator<Item = &'a str>) {
        for item in items {
            self.text.extend(["- ", item, "\n"]);
        }
    }

    fn add_file(&mut self, path: &Path, place: Option<&SourceSpan>, problems: &mut Vec<Problem>) {
        let text = match file::read_text(path) {
            Ok(text) => text,
            Err(error) => {
                return problems.push(Problem::error(format!("rubric: {error}")).at(place));
            }
        };
        match deduction_table::read(path, None) {
            Ok(reading) => {
                problems.extend(reading.warnings);
                match (reading.table, self.table.is_some()) {
                    (Some(_), true) => problems.push(
                        Problem::error(format!(
                            "rubric: {} has a second table of deductions",
                            path.display()
                        ))
                        .help("put all deductions into one file"),
                    ),
                    (Some(table), false) => self.table = Some(table),
                    (None, _) => {}
                }
            }
            Err(found) => problems.extend(found),
        }
        self.text.push_str(&text);
        if !text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}
