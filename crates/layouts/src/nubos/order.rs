//! Which tasks a slice or a milestone has, and in which order they can be done: slices one after the other, within one
//! by what tasks depend on.

use std::path::{Path, PathBuf};

use gadfly_project::adapter::{TaskGroup, TaskRow};
use gadfly_project::place::{Problem, brief};

use super::head::PageHead;
use super::{FOLDER, OVER, folder_entries, is_task_id, part, read};

/// `M001` or `M001-S001`.
pub fn is_group_id(word: &str) -> bool {
    group(word).is_some()
}

fn group(word: &str) -> Option<(&str, Option<&str>)> {
    match word.split_once('-') {
        None => Some((part(word, 'M', 3)?, None)),
        Some((milestone, slice)) => Some((part(milestone, 'M', 3)?, Some(part(slice, 'S', 3)?))),
    }
}

/// The slices of a milestone, or the one that is named.
pub fn slices(root: &Path, id: &str, problems: &mut Vec<Problem>) -> Vec<TaskGroup> {
    let Some((milestone, one)) = group(id) else { return Vec::new() };
    let home = Path::new(FOLDER).join("milestones").join(milestone).join("slices");
    let mut names: Vec<String> = match one {
        Some(slice) => vec![slice.to_owned()],
        None => folder_entries(&root.join(&home)).into_iter().filter(|n| part(n, 'S', 3).is_some()).collect(),
    };
    names.sort_by_key(|name| (name.len(), name.clone()));
    let all: Vec<TaskGroup> = names
        .iter()
        .map(|slice| {
            let id = format!("{milestone}-{slice}");
            TaskGroup { tasks: tasks(root, &home.join(slice), &id, problems), id }
        })
        .collect();
    if all.iter().all(|slice| slice.tasks.is_empty()) {
        let message = format!("{} has no task plans", brief(id));
        let help = format!("they would lie in {}/SLICE/tasks/TASK/TASK-PLAN.md", home.display());
        problems.push(Problem::error(message).help(help));
    }
    all
}

fn tasks(root: &Path, slice: &Path, id: &str, problems: &mut Vec<Problem>) -> Vec<TaskRow> {
    let mut names: Vec<String> = folder_entries(&root.join(slice).join("tasks"));
    names.retain(|name| part(name, 'T', 4).is_some());
    names.sort_by_key(|name| (name.len(), name.clone()));
    let rows: Vec<TaskRow> = names.iter().filter_map(|task| row(root, &format!("{id}-{task}"))).collect();
    let (mut left, mut ordered) = (rows, Vec::<TaskRow>::new());
    while !left.is_empty() {
        let waits = |row: &TaskRow| row.depends_on.iter().any(|on| left.iter().any(|other| other.id == *on));
        let (ready, rest): (Vec<_>, Vec<_>) = left.iter().cloned().partition(|row| !waits(row));
        if ready.is_empty() {
            let ids: Vec<&str> = rest.iter().map(|row| row.id.as_str()).collect();
            let message = format!("tasks-cyclic: {} depend on each other", ids.join(", "));
            problems.push(Problem::error(message).help("take one of them out of `depends_on`"));
            break;
        }
        ordered.extend(ready);
        left = rest;
    }
    ordered
}

/// What a task's plan says of it, its status in lower case, `pending` where it does not say; none if it cannot be read.
pub fn row(root: &Path, id: &str) -> Option<TaskRow> {
    let text = read(root, &plan_path(id)?).ok()?;
    let head = PageHead::read(&text);
    let status = head.text("status").unwrap_or("pending").to_ascii_lowercase();
    let is_settled = ["done", "skipped"].contains(&status.as_str());
    let is_over = OVER.contains(&status.as_str());
    Some(TaskRow { id: id.to_owned(), status, depends_on: dependencies(id, &head), is_settled, is_over })
}

/// Where the plan of a task lies, from the project's root.
pub fn plan_path(id: &str) -> Option<PathBuf> {
    let (milestone, slice, task) = super::split(id)?;
    let folder = Path::new(FOLDER).join("milestones").join(milestone).join("slices").join(slice);
    Some(folder.join("tasks").join(task).join(format!("{task}-PLAN.md")))
}

/// Ids in full: `T0001` is one of the same slice.
pub(super) fn dependencies(id: &str, head: &PageHead) -> Vec<String> {
    let slice = id.rsplit_once('-').map(|(slice, _)| slice).unwrap_or_default();
    let whole = |on: String| if is_task_id(&on) { on } else { format!("{slice}-{on}") };
    head.list("depends_on").into_iter().map(whole).collect()
}

/// Why a task cannot begin yet, for each task it depends on.
pub(super) fn unmet(root: &Path, id: &str, head: &PageHead) -> Vec<Problem> {
    let mut found = Vec::new();
    for on in dependencies(id, head) {
        match row(root, &on) {
            None => {
                let message =
                    format!("tasks-unknown-dep: {id} depends on `{}`, which has no plan", brief(&on));
                found.push(Problem::error(message).help("mend `depends_on` in the plan"));
            }
            Some(row) if !row.is_settled => {
                let slice = id.rsplit_once('-').map(|(slice, _)| slice).unwrap_or_default();
                let message = format!("{id} depends on {on}, which is {}", brief(&row.status));
                let help = format!("run {on} first; `gadfly run {slice}` runs the slice in order");
                found.push(Problem::error(message).help(help));
            }
            Some(_) => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn project(tasks: &[(&str, &str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (id, status, on) in tasks {
            let path = dir.path().join(plan_path(id).unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, format!("---\nid: {id}\nstatus: {status}\ndepends_on: [{on}]\n---\n"))
                .unwrap();
        }
        dir
    }

    #[test]
    fn tasks_come_after_what_they_depend_on_and_slices_one_after_the_other() {
        let dir = project(&[
            ("M001-S001-T0001", "pending", "M001-S001-T0002"),
            ("M001-S001-T0002", "done", ""),
            ("M001-S001-T0003", "Parked", "T0001"),
            ("M001-S002-T0001", "pending", ""),
        ]);
        let mut problems = Vec::new();
        let all = slices(dir.path(), "M001", &mut problems);
        let ids: Vec<Vec<&str>> = all.iter().map(|s| s.tasks.iter().map(|t| &t.id[10..]).collect()).collect();
        assert_eq!(ids, [vec!["T0002", "T0001", "T0003"], vec!["T0001"]]);
        assert!(all[0].tasks[2].is_over && !all[0].tasks[2].is_settled);
        assert_eq!(slices(dir.path(), "M001-S002", &mut problems).len(), 1);
        assert_eq!(problems, []);
        slices(dir.path(), "M009", &mut problems);
        assert_eq!(problems[0].message, "M009 has no task plans");
    }

    #[test]
    fn a_circle_is_named() {
        let dir =
            project(&[("M001-S001-T0001", "pending", "T0002"), ("M001-S001-T0002", "pending", "T0001")]);
        let mut problems = Vec::new();
        slices(dir.path(), "M001-S001", &mut problems);
        let circle = "tasks-cyclic: M001-S001-T0001, M001-S001-T0002 depend on each other";
        assert_eq!(problems[0].message, circle);
    }
}
