//! The files a goal is judged by. A worker that changes them may have made the check pass in place of the work;
//! whether that is so, a person says. Files a criterion reads are what the worker is to make, and not among them.

use std::collections::BTreeSet;

use super::criterion::Criterion;
use crate::protocol::audit::checks::scope::AuditScope;
use crate::protocol::audit::checks::test_files::is_test_file;
use crate::tool::place::climbs;
use crate::tree::{Change, ChangeKind};

/// Words of commands that are looked at.
const MOST_WORDS: usize = 1024;
/// Folders a command goes to that are looked at.
const MOST_FOLDERS: usize = 8;

/// Files that say how a suite runs, whole names.
const SUITE_FILES: [&str; 6] =
    ["conftest.py", "pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg", "nose.cfg"];
/// And beginnings of names.
const SUITE_BEGINNINGS: [&str; 6] =
    ["jest.config.", "vitest.config.", "phpunit.xml", ".mocharc", "karma.conf.", "playwright.config."];
/// Files a runner reads without being told: `make test` depends on the Makefile, and what `npm test` runs is written in
/// `package.json`.
const RUNNERS: [(&str, &[&str]); 37] = [
    ("cargo", CARGO),
    ("npm", PACKAGE),
    ("npx", PACKAGE),
    ("yarn", PACKAGE),
    ("pnpm", PACKAGE),
    ("bun", PACKAGE),
    ("deno", &["deno.json", "deno.jsonc", "package.json"]),
    ("jest", PACKAGE),
    ("vitest", PACKAGE),
    ("mocha", PACKAGE),
    ("pytest", PYTHON),
    ("python", PYTHON),
    ("python3", PYTHON),
    ("tox", PYTHON),
    ("nox", &["noxfile.py", "pyproject.toml"]),
    ("uv", PYTHON),
    ("poetry", PYTHON),
    ("hatch", PYTHON),
    ("pdm", PYTHON),
    ("mvn", MAVEN),
    ("mvnw", MAVEN),
    ("gradle", GRADLE),
    ("gradlew", GRADLE),
    ("dotnet", &["Directory.Build.props", "Directory.Build.targets", "global.json", ".runsettings"]),
    ("cmake", CMAKE),
    ("ctest", CMAKE),
    ("bazel", &["BUILD", "BUILD.bazel", "MODULE.bazel", "WORKSPACE", ".bazelrc"]),
    ("go", &["go.mod", "go.work"]),
    ("rake", &["Rakefile", ".rspec"]),
    ("rspec", &[".rspec"]),
    ("bundle", &["Gemfile", "Rakefile", ".rspec"]),
    ("composer", &["composer.json"]),
    ("make", &["Makefile", "makefile", "GNUmakefile"]),
    ("gmake", &["Makefile", "makefile", "GNUmakefile"]),
    ("just", &["justfile", "Justfile", ".justfile"]),
    ("task", &["Taskfile.yml", "Taskfile.yaml"]),
    ("latexmk", &[".latexmkrc", "latexmkrc"]),
];

const PACKAGE: &[&str] = &["package.json"];
const PYTHON: &[&str] = &["pyproject.toml"];
const MAVEN: &[&str] = &["pom.xml", ".mvn/maven.config", ".mvn/jvm.config", "mvnw"];
const GRADLE: &[&str] =
    &["build.gradle", "build.gradle.kts", "gradle.properties", "settings.gradle", "gradlew"];
const CMAKE: &[&str] = &["CMakeLists.txt", "CMakePresets.json"];
/// Tests can be switched off in the first, and be run by something that always succeeds by the others.
const CARGO: &[&str] = &["Cargo.toml", ".cargo/config.toml", ".cargo/config"];

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Protected {
    /// Paths that commands of the criterion name.
    named: BTreeSet<String>,
    /// Those of them that are only asked to be there, as in `test -f report.md`: what the worker may have to make.
    asked_for: BTreeSet<String>,
    /// Patterns in commands, and folders of tests.
    named_patterns: Option<AuditScope>,
    /// What the user listed.
    listed: Option<AuditScope>,
    tests: bool,
}

impl Protected {
    pub fn new(criterion: &Criterion, protect: &[String], protect_tests: bool) -> Self {
        let mut named = BTreeSet::new();
        let mut asked_for = BTreeSet::new();
        let mut used = BTreeSet::new();
        let mut patterns = BTreeSet::new();
        for leaf in criterion.leaves() {
            if let Criterion::Shell { command, .. } | Criterion::Vision { command, .. } = leaf {
                let picture =
                    if let Criterion::Vision { file, .. } = leaf { Some(file.as_str()) } else { None };
                used.extend(paths_in(&without_tests(command)));
                asked_for.extend(paths_in(command));
                let documents = typeset(command);
                let is_document = |path: &str| documents.iter().any(|made| is_below(path, made));
                let judged = |path: &String| Some(path.as_str()) != picture && !is_document(path);
                for path in paths_in(command).into_iter().filter(judged) {
                    if path.contains(['*', '?']) || is_test_file(&format!("{path}/x")) && !path.contains('.')
                    {
                        // With a slash in it a pattern holds at one place only.
                        patterns.insert(format!("/{path}"));
                    }
                    if is_manifest(&path) {
                        patterns.insert(format!("/{path}"));
                    } else {
                        named.insert(path);
                    }
                }
            }
        }
        let patterns: Vec<String> = patterns.into_iter().collect();
        let scope = |patterns: &[String]| (!patterns.is_empty()).then(|| AuditScope::new(patterns));
        let protect: Vec<String> = protect.iter().filter(|p| !p.trim().is_empty()).cloned().collect();
        Self {
            asked_for: asked_for.difference(&used).cloned().collect(),
            named,
            named_patterns: scope(&patterns),
            listed: scope(&protect),
            tests: protect_tests,
        }
    }

    /// Is the goal judged by this file?
    pub fn names(&self, path: &str) -> bool {
        self.is_singled_out(path)
            || self.named_patterns.as_ref().is_some_and(|named| named.contains(path))
            || (self.tests && (is_test_file(path) || says_how_a_suite_runs(path)))
    }

    /// The protected files that are not as they were. Tests that were added are not among them, nor what only had to
    /// be there; a file that says how a suite runs is, for it can switch all others off.
    pub fn changed(&self, changes: &[Change]) -> Vec<String> {
        let is_meant = |change: &&Change| match change.kind {
            ChangeKind::Modified | ChangeKind::Deleted => self.names(&change.path),
            ChangeKind::Added => {
                (self.named.contains(&change.path) && !self.asked_for.contains(&change.path))
                    || self.is_listed(&change.path)
                    || (self.tests && says_how_a_suite_runs(&change.path))
            }
        };
        changes.iter().filter(is_meant).map(|change| change.path.clone()).collect()
    }

    /// The user listed it, or the check is this very file: any change of it counts, whatever else is known of it.
    pub fn is_its_own(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_implied = RUNNERS.iter().any(|(_, files)| files.contains(&name));
        self.is_listed(path) || (self.named.contains(path) && !is_test_file(path) && !is_implied)
    }

    fn is_singled_out(&self, path: &str) -> bool {
        self.named.contains(path) || self.is_listed(path)
    }

    fn is_listed(&self, path: &str) -> bool {
        self.listed.as_ref().is_some_and(|listed| listed.contains(path))
    }
}

/// Says what a project consists of, and by the way how it is tested. Whoever begins a project has to make one: only a
/// change of one that was there counts.
fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let manifests = [
        "Cargo.toml",
        "package.json",
        "pyproject.toml",
        "composer.json",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "CMakeLists.txt",
        "go.mod",
        "Gemfile",
        "Rakefile",
        "deno.json",
        "BUILD.bazel",
        "MODULE.bazel",
    ];
    manifests.contains(&name)
}

fn says_how_a_suite_runs(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    SUITE_FILES.contains(&name) || SUITE_BEGINNINGS.iter().any(|begin| name.starts_with(begin))
}

/// Commands that only look at what is there.
const LOOKING: [&str; 14] =
    ["test", "[", "[[", "grep", "egrep", "rg", "cat", "ls", "stat", "wc", "head", "tail", "cmp", "diff"];

/// A command line without those parts of it that only ask whether something is there, or what it holds.
fn without_tests(command: &str) -> String {
    let asks = |part: &&str| part.split_whitespace().next().is_some_and(|word| LOOKING.contains(&word));
    command.split_inclusive([';', '&', '|', '(', ')', '\n']).filter(|part| !asks(part)).collect()
}

/// Programs that make a document of the files they are given: these are the work, and no check of it.
const TYPESETTERS: [&str; 6] = ["latexmk", "pdflatex", "xelatex", "lualatex", "tectonic", "typst"];

/// The documents a command line has made. What says how they are made is not among them.
fn typeset(command: &str) -> BTreeSet<String> {
    let makes = |part: &&str| part.split_whitespace().next().is_some_and(|word| TYPESETTERS.contains(&word));
    let parts = command.split([';', '&', '|', '(', ')', '\n']).filter(makes);
    let is_implied = |path: &String| RUNNERS.iter().any(|(_, files)| files.contains(&path.as_str()));
    parts.flat_map(paths_in).filter(|path| !is_implied(path)).collect()
}

/// The same path, or one that a command comes to from a folder it went to.
fn is_below(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

/// The relative paths a command line could mean, also from a folder it goes to. A word that is no path names no file
/// that exists, and does no harm.
fn paths_in(command: &str) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    let mut folders = BTreeSet::new();
    let mut goes = false;
    let separators = |c: char| c.is_whitespace() || c.is_control() || ";&|()<>\"'`".contains(c);
    for word in command.split(separators).filter(|word| !word.is_empty()).take(MOST_WORDS) {
        let name = word.rsplit('/').next().unwrap_or(word);
        let implied = RUNNERS.iter().find(|(runner, _)| *runner == name).map_or(&[][..], |(_, files)| files);
        // `--config=a.js`, `tests/a.py::test_b`, `a.rb:12`.
        let value = word.rsplit('=').next().unwrap_or(word);
        let value = value.split("::").next().unwrap_or(value);
        let value =
            value.rsplit_once(':').filter(|(_, n)| n.parse::<u32>().is_ok()).map_or(value, |(path, _)| path);
        if std::mem::take(&mut goes) {
            folders.extend(relative(value).filter(|_| folders.len() < MOST_FOLDERS));
            continue;
        }
        goes = matches!(word, "cd" | "-C" | "--prefix");
        paths.extend(std::iter::once(value).chain(implied.iter().copied()).filter_map(relative));
    }
    let below = folders.iter().flat_map(|folder| paths.iter().map(move |path| format!("{folder}/{path}")));
    let below: Vec<String> = below.collect();
    paths.extend(below);
    paths
}

/// Without `./` and doubled slashes; none if it is no path below the folder.
fn relative(word: &str) -> Option<String> {
    if word.starts_with(['-', '/', '~']) || word.contains(['$', '{']) || word.contains("://") || climbs(word)
    {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in word.split('/') {
        match name {
            "" | "." | "..." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

#[cfg(test)]
mod tests;
