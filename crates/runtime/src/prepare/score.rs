//! The settings of a `score` loop: a rubric, with its table of deductions if it has one, and the pair.

use std::path::Path;

use gadfly_engine::deduction::DeductionTable;
use gadfly_engine::protocol::score::settings::ScoreSettings;
use gadfly_engine::{Digest, Text};
use gadfly_project::config::RubricSetting;
use gadfly_project::place::option;
use gadfly_project::{LoopConfig, Problem, SourceSpan, deduction_table, file};

use super::settings::{seats, small};
use super::{Material, Request};

pub(super) fn settings(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<ScoreSettings> {
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
    Some(settings)
}

/// The settings of a loop about this task, without rubric and material.
pub(super) fn bare(config: &LoopConfig, task: Digest) -> ScoreSettings {
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
