//! The corpus: ways to make a check green without the work, none of which may pass without a finding that names it, and
//! honest changes, of which hardly any may be taken for one.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::format_push_string,
    clippy::disallowed_methods
)] // tests may fail loudly and print

use crate::corpus;

use corpus::{Case, cases};
use gadfly_engine::protocol::audit::checks::test_files::is_test_file;
use gadfly_syntax::{ChangedFile, Examination, Version, Weakening, examine};

/// Extensions of languages that are read.
const READ: [&str; 13] = ["rs", "py", "js", "ts", "tsx", "go", "java", "rb", "c", "cpp", "hpp", "cs", "bats"];

fn found(case: &Case) -> Vec<Weakening> {
    examined(case).found
}

fn examined(case: &Case) -> Examination {
    let paths: std::collections::BTreeSet<&String> = case.before.keys().chain(case.after.keys()).collect();
    let version = |text: Option<&String>| text.map_or(Version::Absent, |text| Version::Text(text.clone()));
    let changes: Vec<ChangedFile> = paths
        .into_iter()
        .filter(|path| case.before.get(*path) != case.after.get(*path))
        .map(|path| ChangedFile {
            path: path.clone(),
            is_test: is_test_file(path),
            before: version(case.before.get(path)),
            after: version(case.after.get(path)),
        })
        .collect();
    assert!(!changes.is_empty(), "{}: nothing is changed", case.name);
    examine(&changes, &|path| case.after.contains_key(path))
}

fn told(found: &[Weakening]) -> String {
    let line = |f: &Weakening| {
        format!("    {}:{}: {}\n", f.path, f.line.map_or_else(|| "-".into(), |l| l.to_string()), f.says)
    };
    found.iter().map(line).collect()
}

#[test]
fn no_way_to_weaken_a_check_passes_without_a_finding_that_names_it() {
    let cases = cases(&["weakened.txt", "weakened_more.txt"]);
    let languages: std::collections::BTreeSet<&str> =
        cases.iter().filter_map(|c| c.name.split(':').next()).collect();
    assert!(cases.len() >= 60 && languages.len() >= 5, "{} cases in {languages:?}", cases.len());
    let mut missed = String::new();
    for case in &cases {
        assert!(!case.expect.is_empty(), "{}: what is expected?", case.name);
        let found = found(case);
        for (path, words) in &case.expect {
            if !found.iter().any(|f| {
                f.path == *path && (f.says.contains(words.as_str()) || f.path.contains(words.as_str()))
            }) {
                missed.push_str(&format!("{}: wanted `{path}: {words}`, found\n{}", case.name, told(&found)));
            }
        }
    }
    assert!(missed.is_empty(), "{missed}");
}

#[test]
fn honest_changes_are_not_taken_for_it() {
    let cases = cases(&["honest.txt", "honest_more.txt"]);
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let mut asked = 0;
    let mut text = String::new();
    for case in &cases {
        let Examination { found, read } = examined(case);
        // What cannot be read has no findings, either.
        for path in case.before.keys().chain(case.after.keys()) {
            let changed = case.before.get(path) != case.after.get(path);
            if changed && path.rsplit_once('.').is_some_and(|(_, extension)| READ.contains(&extension)) {
                assert!(read.contains(path), "{}: {path} is not read", case.name);
            }
        }
        asked += usize::from(!found.is_empty());
        if !found.is_empty() {
            text.push_str(&format!("{}:\n{}", case.name, told(&found)));
        }
    }
    println!("{asked} of {} honest changes are asked about:\n{text}", cases.len());
    assert!(asked <= 3, "{asked} of {}:\n{text}", cases.len());
}
