//! The one list of success criteria of a task: the first place that has any, from the task outwards.

use std::path::{Path, PathBuf};

use crate::config::CriterionSetting;
use crate::file::FileError;
use crate::place::{ConfigLayer, Problem, SourceSpan, Sourced};
use crate::rubric;

use super::{MOST_ITEMS, TaskPages, read, tags};

type Criteria = Vec<Sourced<CriterionSetting>>;

/// The criteria, and the page they are from.
pub(super) fn of(
    root: &Path,
    plan: &Path,
    text: &str,
    around: &TaskPages,
    problems: &mut Vec<Problem>,
) -> (Criteria, Option<PathBuf>) {
    let found = tagged(plan, text, &["acceptance_criteria", "success_criteria"]);
    if !found.is_empty() {
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
                let found = tagged(&path, &text, tags);
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

fn tagged(path: &Path, text: &str, names: &[&str]) -> Criteria {
    let found = names.iter().map(|name| tags::items(path, text, name)).find(|items| !items.is_empty());
    let items = found.unwrap_or_default().into_iter().take(MOST_ITEMS);
    items.map(|item| item.map(|line| CriterionSetting::of_line(&line))).collect()
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
            lines.map(|line| line.map(|line| CriterionSetting::of_line(&line))).collect()
        }
        _ => read,
    }
}
