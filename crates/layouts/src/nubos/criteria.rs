//! The one list of success criteria of a task: the first place that has any, from the task outwards.

use std::path::{Path, PathBuf};

use gadfly_project::adapter::WorkQuery;
use gadfly_project::config::CriterionSetting;
use gadfly_project::file::FileError;
use gadfly_project::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief, option};
use gadfly_project::rubric;

use super::{MOST_ITEMS, TaskPages, read, tags};

type Criteria = Vec<Sourced<CriterionSetting>>;

/// The criteria, and the page they are from.
pub(super) fn of(
    asked: WorkQuery<'_>,
    plan: &Path,
    text: &str,
    around: &TaskPages,
    problems: &mut Vec<Problem>,
) -> (Criteria, Option<PathBuf>) {
    let root = asked.at.root;
    let (found, unfinished) = tagged(plan, text, &["acceptance_criteria", "success_criteria"]);
    if !asked.judged {
        // A slot that the planner did not fill would be judged as if it were a demand.
        problems.extend(unfinished.iter().map(|item| {
            let message =
                format!("a success criterion of the plan is not written yet: `{}`", brief(&item.value.text));
            let help = format!("write it, or give {}", option("criterion \"…\""));
            Problem::error(message).help(help).at(item.place.as_ref())
        }));
    }
    problems.extend(twice(&found));
    if !found.is_empty() || !unfinished.is_empty() {
        return (found, Some(plan.to_owned()));
    }
    let pages: [(Option<PathBuf>, &[&str]); 3] = [
        (around.uat(), &["acceptance_criteria"]),
        (around.slice_plan(), &["success_criteria"]),
        (around.roadmap("ROADMAP.md"), &["success_criteria"]),
    ];
    for (path, tags) in pages {
        let Some(path) = path else { continue };
        match read(root, &path) {
            Ok(text) => {
                let (found, unfinished) = tagged(&path, &text, tags);
                if let (Some(item), true) = (unfinished.first(), found.is_empty()) {
                    let message = format!("the success criteria of {} are not written yet", path.display());
                    problems.push(Problem::warning(message).at(item.place.as_ref()));
                }
                problems.extend(twice(&found));
                if !found.is_empty() {
                    return (found, Some(path));
                }
            }
            Err(FileError::Missing { .. }) => {}
            Err(error) => problems.push(Problem::warning(error.to_string()).help("it was left out")),
        }
    }
    let Some(path) = around.roadmap("META.json") else { return (Vec::new(), None) };
    let found = read(root, &path).ok().map(|text| listed(&path, &text)).unwrap_or_default();
    if found.is_empty() { (found, None) } else { (found, Some(path)) }
}

/// The criteria of the first of these blocks that has any, and those that only hold a place for one.
fn tagged(path: &Path, text: &str, names: &[&str]) -> (Criteria, Criteria) {
    let found = names.iter().map(|name| tags::items(path, text, name)).find(|items| !items.is_empty());
    let items = found.unwrap_or_default().into_iter().take(MOST_ITEMS);
    items
        .map(|item| item.map(|line| of_line(&line)))
        .partition(|item: &Sourced<_>| !is_unwritten(&item.value))
}

/// `SC-1: …` begins with an id; `API: …` is a sentence about an API.
fn of_line(line: &str) -> CriterionSetting {
    let read = CriterionSetting::of_line(line);
    match &read.name {
        Some(name) if !name.contains(|c: char| c.is_ascii_digit()) => {
            CriterionSetting { name: None, text: line.trim().to_owned() }
        }
        _ => read,
    }
}

/// A place for a criterion, not one: `TBD`, `TODO — say what`, `[criterion]`, `{{text}}`.
fn is_unwritten(criterion: &CriterionSetting) -> bool {
    let text = criterion.text.trim().trim_matches(['*', '_', '`']);
    let word = text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let slot = [("[", "]"), ("{", "}"), ("<", ">")];
    ["TBD", "TODO", "TBC"].contains(&word)
        || ["tbd", "todo", "n/a", "none"].contains(&text.to_lowercase().as_str())
        || !text.contains(char::is_alphanumeric)
        || slot
            .iter()
            .any(|(open, close)| text.starts_with(open) && text.ends_with(close) && !text.contains("]("))
}

/// Criteria that claim an id another one has.
fn twice(criteria: &Criteria) -> Vec<Problem> {
    let id = |c: &Sourced<CriterionSetting>| c.value.name.as_ref().map(|name| name.to_uppercase());
    let repeated = criteria.iter().enumerate().filter(|(at, criterion)| {
        id(criterion).is_some_and(|own| criteria.iter().take(*at).any(|c| id(c).as_ref() == Some(&own)))
    });
    repeated
        .map(|(_, criterion)| {
            let name = criterion.value.name.clone().unwrap_or_default();
            Problem::error(format!("two success criteria have the id `{}`", brief(&name)))
                .help("give each its own, or none")
                .at(criterion.place.as_ref())
        })
        .collect()
}

/// A roadmap's criteria: texts, or texts with ids.
fn listed(path: &Path, text: &str) -> Criteria {
    let value: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let list = value.get("success_criteria").and_then(|c| c.as_array()).cloned().unwrap_or_default();
    let item = |value: &serde_json::Value| {
        let text = value.as_str().or_else(|| value.get("text")?.as_str())?.trim().to_owned();
        let name = value.get("id").and_then(|id| id.as_str()).map(ToOwned::to_owned);
        (!text.is_empty()).then_some(CriterionSetting { name, text })
    };
    let place = SourceSpan::new(path, text, 0..0);
    let own = |value| Sourced { value, layer: ConfigLayer::Project, place: Some(place.clone()) };
    let read = list.iter().take(MOST_ITEMS).filter_map(item).map(own).collect::<Vec<_>>();
    // An array of one text with several lines is a list, too.
    match read.as_slice() {
        [only] if only.value.name.is_none() && only.value.text.contains('\n') => {
            let lines = rubric::items(&only.value.text, path, ConfigLayer::Project).into_iter();
            lines.map(|line| line.map(|line| of_line(&line))).collect()
        }
        _ => read,
    }
}
