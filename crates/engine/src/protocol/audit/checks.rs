//! What the engine finds itself, before any critic is paid: markers of unfinished work, files outside the
//! scope, tests that were deleted, weakened or switched off. Free and certain.
//!
//! It reads the diff and the list of changed paths, nothing else. What a change means is the critic's.

pub mod diff;
pub mod scope;
pub mod test_files;

use std::collections::{HashMap, HashSet};

use crate::finding::{ENGINE, Finding, Location, Severity};
use crate::tree::{Change, ChangeKind, Examined};

use super::routes::{SCOPE_CREEP, SILENCED_FAILURE, TODO_MARKER};
use diff::{DiffLine, FileDiff};
pub use scope::AuditScope;
use test_files::is_test_file;

/// Words that mark work left for later. `TODOS` and `XXXXXX` are other words.
const MARKERS: [&str; 5] = ["TODO", "FIXME", "XXX", "HACK", "STUB"];
/// The most findings of one kind; the last one says how many more there are.
const MOST_OF_A_KIND: usize = 50;

/// Everything the engine holds against a change, in a fixed order.
///
/// What was read as a program is judged by what was found in it, everything else by the words in its lines.
pub fn run(unified_diff: &str, changes: &[Change], scope: &AuditScope, examined: &Examined) -> Vec<Finding> {
    let files = diff::parse(unified_diff);
    let mut findings = bounded(out_of_scope(changes, scope), "files outside the scope");
    let read: HashSet<&str> = examined.read.iter().map(String::as_str).collect();
    let deleted = deleted_tests(&files, changes).into_iter().filter(|f| !is_in(f, &read)).collect();
    findings.extend(bounded(deleted, "deleted test files"));
    let removed = removed_assertions(&files, changes).into_iter().filter(|f| !is_in(f, &read)).collect();
    findings.extend(bounded(removed, "files with fewer assertions"));
    let off = switched_off_tests(&files).into_iter().filter(|f| !is_in(f, &read)).collect();
    findings.extend(bounded(off, "tests switched off"));
    findings.extend(bounded(examined.findings.clone(), "changes to tests"));
    findings.extend(bounded(markers(&files), "markers"));
    findings
}

fn is_in(finding: &Finding, paths: &HashSet<&str>) -> bool {
    finding.place.as_ref().is_some_and(|place| paths.contains(place.path.as_str()))
}

fn bounded(mut findings: Vec<Finding>, what: &str) -> Vec<Finding> {
    let count = findings.len();
    if count > MOST_OF_A_KIND {
        findings.truncate(MOST_OF_A_KIND);
        if let Some(last) = findings.last_mut() {
            last.says = format!("{} ({} more {what})", last.says, count - MOST_OF_A_KIND);
        }
    }
    findings
}

fn finding(
    rule: &str,
    severity: Severity,
    path: &str,
    line: Option<u32>,
    says: String,
    fix: &str,
) -> Finding {
    let mut finding = Finding::new(rule, severity, says, ENGINE);
    finding.place = Some(Location { path: path.to_owned(), line, end: None });
    fix.clone_into(&mut finding.fix);
    finding
}

fn out_of_scope(changes: &[Change], scope: &AuditScope) -> Vec<Finding> {
    let outside = changes.iter().filter(|c| !scope.contains(&c.path));
    outside
        .map(|change| {
            let verb = match change.kind {
                ChangeKind::Added => "was added",
                ChangeKind::Modified => "was changed",
                ChangeKind::Deleted => "was deleted",
            };
            let says = format!("{} {verb} and is outside the task's scope.", change.path);
            let fix = "Put it back as it was, or have the scope widened.";
            let mut finding = finding(SCOPE_CREEP, Severity::Fail, &change.path, None, says, fix);
            finding.absent = change.kind == ChangeKind::Deleted;
            finding
        })
        .collect()
}

/// A test file that is gone. If all it asserted now stands elsewhere, it was moved.
fn deleted_tests(files: &[FileDiff<'_>], changes: &[Change]) -> Vec<Finding> {
    let mut added = LineCounts::default();
    for file in files {
        file.added().for_each(|l| added.add(&normal(l.text)));
    }
    let diff_of: HashMap<&str, &FileDiff<'_>> = files.iter().map(|f| (f.path.as_str(), f)).collect();
    let deleted = changes.iter().filter(|c| c.kind == ChangeKind::Deleted && is_test_file(&c.path));
    deleted
        .filter(|change| {
            let Some(file) = diff_of.get(change.path.as_str()) else { return true };
            let lines: Vec<String> =
                file.removed().map(|l| normal(l.text)).filter(|l| !l.is_empty()).collect();
            let asserted: Vec<&String> = lines.iter().filter(|l| test_files::asserts(l)).collect();
            let moved = |line: &String| added.holds(line);
            let has_moved =
                if asserted.is_empty() { lines.iter().all(moved) } else { asserted.into_iter().all(moved) };
            lines.is_empty() || !has_moved
        })
        .map(|change| {
            let says = format!("The test file {} was deleted.", change.path);
            let fix = "Bring it back; if a test must go, the task has to say so.";
            let mut finding = finding(SILENCED_FAILURE, Severity::Fail, &change.path, None, says, fix);
            finding.absent = true;
            finding
        })
        .collect()
}

/// Files that assert less than before. An assertion that moved, within the file or to another, is still
/// there; one that was reworded has a successor, unless that asserts nothing.
fn removed_assertions(files: &[FileDiff<'_>], changes: &[Change]) -> Vec<Finding> {
    let deleted: HashSet<&str> =
        changes.iter().filter(|c| c.kind == ChangeKind::Deleted).map(|c| c.path.as_str()).collect();
    let mut surplus = LineCounts::default();
    let mut losses = Vec::new();
    for file in files.iter().filter(|f| test_files::may_assert(&f.path)) {
        let mut added = LineCounts::default();
        for line in file.added().filter(|l| test_files::counts_as_assertion(&file.path, l.text)) {
            added.add(&normal(line.text));
        }
        let lost: Vec<(u32, String)> = file
            .removed()
            .filter(|l| test_files::counts_as_assertion(&file.path, l.text))
            .map(|l| (l.near, normal(l.text)))
            .filter(|(_, text)| !added.take(text))
            .collect();
        let successors = added.total();
        if lost.len() > successors && !deleted.contains(file.path.as_str()) {
            losses.push((file, lost, successors));
        } else {
            surplus.absorb(added);
        }
    }
    losses
        .into_iter()
        .filter_map(|(file, lost, successors)| {
            let lost: Vec<(u32, String)> = lost.into_iter().filter(|(_, text)| !surplus.take(text)).collect();
            let gone = lost.len().checked_sub(successors).filter(|gone| *gone > 0)?;
            let (near, text) = lost.first()?;
            let text: String = text.chars().take(200).collect();
            let says = match gone {
                1 => format!("An assertion was removed: `{text}`"),
                _ => format!("{gone} assertions were removed, among them `{text}`"),
            };
            let fix = "Bring the assertion back, or replace it by one that checks as much.";
            let mut found = finding(SILENCED_FAILURE, Severity::Fail, &file.path, Some(*near), says, fix);
            found.absent = true;
            Some(found)
        })
        .collect()
}

fn switched_off_tests(files: &[FileDiff<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let mut before = LineCounts::default();
        let switch = |l: &DiffLine<'_>| test_files::switches_off(&file.path, l.text);
        file.removed().filter(switch).for_each(|l| before.add(&normal(l.text)));
        for line in file.added().filter(switch) {
            if before.take(&normal(line.text)) {
                continue;
            }
            let says = "A test is switched off here.".to_owned();
            let fix = "Let the test run, and make it pass.";
            let mut found = finding(SILENCED_FAILURE, Severity::Fail, &file.path, Some(line.near), says, fix);
            found.quote = quote(line.text);
            findings.push(found);
        }
    }
    findings
}

/// Markers that the change brought in. One that was there before, on a line that moved or was edited, is
/// not its doing.
fn markers(files: &[FileDiff<'_>]) -> Vec<Finding> {
    let mut before = LineCounts::default();
    for file in files {
        for line in file.removed() {
            if let Some((_, rest)) = marker(line.text) {
                before.add(&normal(rest));
            }
        }
    }
    let mut findings = Vec::new();
    for file in files {
        for line in file.added() {
            let Some((word, rest)) = marker(line.text) else { continue };
            if before.take(&normal(rest)) {
                continue;
            }
            let says = format!("The change leaves a {word} behind.");
            let fix = "Do what the marker says, then remove it.";
            let mut found = finding(TODO_MARKER, Severity::Risk, &file.path, Some(line.near), says, fix);
            found.quote = quote(line.text);
            findings.push(found);
        }
    }
    findings
}

/// The first marker of a line, as a word of its own, with what follows it.
fn marker(line: &str) -> Option<(&'static str, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut first: Option<(usize, &'static str)> = None;
    for word in MARKERS {
        let whole = line.match_indices(word).find(|(at, _)| {
            !line[..*at].chars().next_back().is_some_and(is_word)
                && !line[at + word.len()..].chars().next().is_some_and(is_word)
        });
        if let Some((at, _)) = whole
            && first.is_none_or(|(earliest, _)| at < earliest)
        {
            first = Some((at, word));
        }
    }
    first.map(|(at, word)| (word, &line[at..]))
}

fn quote(line: &str) -> Option<String> {
    let text: String = line.trim().chars().take(300).collect();
    Some(text).filter(|t| !t.is_empty())
}

fn normal(line: &str) -> String {
    crate::brief::one_line(line)
}

/// How often each line occurs.
#[derive(Default)]
struct LineCounts(HashMap<String, usize>);

impl LineCounts {
    fn add(&mut self, line: &str) {
        match self.0.get_mut(line) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(line.to_owned(), 1);
            }
        }
    }

    /// Takes one away, if there is one.
    fn take(&mut self, line: &str) -> bool {
        self.0.get_mut(line).filter(|count| **count > 0).map(|count| *count -= 1).is_some()
    }

    fn holds(&self, line: &str) -> bool {
        self.0.get(line).is_some_and(|count| *count > 0)
    }

    fn total(&self) -> usize {
        self.0.values().sum()
    }

    fn absorb(&mut self, other: Self) {
        for (line, count) in other.0 {
            *self.0.entry(line).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests;
