//! The files a task may touch: those its plan lists, and those the plan itself demands.

use std::path::{Component, Path};

use gadfly_project::place::{ConfigLayer, Problem, SourceSpan, Sourced, brief};

use super::head::PageHead;
use super::{MOST_ITEMS, tags};

/// Endings of files that a plan may name without marking them as code.
const PAGES: [&str; 6] = ["md", "json", "txt", "yaml", "yml", "csv"];

pub(super) struct TaskScope {
    pub files: Vec<Sourced<String>>,
    /// What the plan demands beside `files_modified`, with the folder that a bare name is meant in.
    pub demanded: Vec<String>,
}

pub(super) fn of(head: &PageHead, plan: &Path, text: &str, problems: &mut Vec<Problem>) -> TaskScope {
    let place = SourceSpan::new(plan, text, head.span("files_modified"));
    let listed = head.list("files_modified");
    if listed.is_empty() {
        let message = "the plan names no `files_modified`: the task may touch every file";
        problems.push(Problem::warning(message).at(Some(&place)));
        return TaskScope { files: Vec::new(), demanded: Vec::new() };
    }
    for path in listed.iter().filter(|path| leaves(path)) {
        let message = format!("files_modified: `{}` leaves the project", brief(path));
        problems.push(Problem::error(message).at(Some(&place)));
    }
    let own = |value: String| Sourced { value, layer: ConfigLayer::Project, place: Some(place.clone()) };
    let mut files: Vec<_> = listed.iter().take(MOST_ITEMS).map(|path| own(from_root(path))).collect();
    let folder = plan.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
    let mut demanded = Vec::new();
    for (name, span) in named_in_output(text).into_iter().chain(artifacts(head)) {
        let place = Some(SourceSpan::new(plan, text, span));
        let mut take = |value: String| {
            if !files.iter().any(|f| f.value == value) {
                files.push(Sourced { value, layer: ConfigLayer::Project, place: place.clone() });
            }
        };
        if name.contains('/') {
            take(from_root(&name));
            demanded.push(name);
        } else {
            // A bare name is meant beside the plan; an executor that takes it literally writes it to the root.
            let beside = format!("{folder}/{name}");
            take(from_root(&beside));
            take(from_root(&name));
            demanded.push(beside);
        }
    }
    demanded.dedup();
    TaskScope { files, demanded }
}

fn leaves(path: &str) -> bool {
    !Path::new(path).components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir))
}

/// A path of a plan is that path, and not that name at any depth.
fn from_root(path: &str) -> String {
    let path = path.trim_start_matches("./");
    if path.trim_end_matches('/').contains('/') { path.to_owned() } else { format!("/{path}") }
}

/// Files that `<output>` asks for.
fn named_in_output(text: &str) -> Vec<(String, std::ops::Range<usize>)> {
    let mut found = Vec::new();
    for block in tags::blocks(text, "output", 0..text.len()) {
        let start = block.start;
        let words = text.get(block).unwrap_or_default();
        let mut at = 0;
        for word in words.split(char::is_whitespace) {
            let begin = at;
            at += word.len() + 1;
            let plain = word.trim_matches(|c: char| "`'\"()[],;:.".contains(c) && c != '.');
            let plain = plain.trim_end_matches(['.', '`', '\'', '"', ')']).trim_start_matches('@');
            let marked = word.contains('`');
            if is_file(plain, marked) && found.len() < MOST_ITEMS {
                found.push((plain.to_owned(), start + begin..start + begin + word.len()));
            }
        }
    }
    found
}

/// Paths of `must_haves: artifacts: - path: …`.
fn artifacts(head: &PageHead) -> Vec<(String, std::ops::Range<usize>)> {
    let span = head.span("must_haves");
    let paths = head.list("must_haves").into_iter().filter_map(|item| {
        let path = item.strip_prefix("path:")?.trim().trim_matches(['"', '\'']).to_owned();
        is_file(&path, true).then_some(path)
    });
    paths.map(|path| (path, span.clone())).collect()
}

/// Whether a word names a file: marked as code any that has an ending, else pages only.
fn is_file(word: &str, marked: bool) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '@');
    let ending = Path::new(word).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let known = if marked {
        (1..=8).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    } else {
        PAGES.contains(&ending)
    };
    known && word.chars().all(fits) && !leaves(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(plan: &str) -> (Vec<String>, Vec<String>) {
        let head = PageHead::read(plan);
        let scope = of(&head, Path::new("m/T0001/T0001-PLAN.md"), plan, &mut Vec::new());
        (scope.files.into_iter().map(|f| f.value).collect(), scope.demanded)
    }

    #[test]
    fn what_a_plan_demands_is_in_its_scope() {
        let (files, demanded) = read(
            "---\nfiles_modified: [package.json, src/a.rs]\n---\n<output>\nAfter completion, fill `T0001-SUMMARY.md` (e.g. with 1.5 lines), \
             docs/notes.md; then run `/np:validate-phase M001` and see `{{x}}.md`.\n</output>\n",
        );
        let beside = "m/T0001/T0001-SUMMARY.md";
        assert_eq!(files, ["/package.json", "src/a.rs", beside, "/T0001-SUMMARY.md", "docs/notes.md"]);
        assert_eq!(demanded, [beside, "docs/notes.md"]);
    }

    #[test]
    fn a_demand_outside_the_project_and_a_plan_without_scope_widen_nothing() {
        let (files, _) = read("---\nfiles_modified: [a]\n---\n<output>`../x.md` `/etc/x.md`</output>");
        assert_eq!(files, ["/a"]);
        assert_eq!(read("---\nfiles_modified: []\n---\n<output>`S.md`</output>").0, Vec::<String>::new());
    }
}
