//! Files that stand in the way of what a check means: a module with a runner's name, a program of that name, a dependency
//! that was edited, a recorded result that was recorded anew.

use crate::{ChangedFile, Version, Weakening};

/// Modules that Python would take from the project in place of the installed ones.
const MODULES: [&str; 20] = [
    "unittest",
    "pytest",
    "_pytest",
    "doctest",
    "nose",
    "nose2",
    "coverage",
    "hypothesis",
    "mock",
    "runpy",
    "trace",
    "sitecustomize",
    "usercustomize",
    "pluggy",
    "tox",
    "nox",
    "xdist",
    "site",
    "importlib",
    "assertpy",
];
/// Programs that run tests.
const PROGRAMS: [&str; 34] = [
    "test", "check", "cargo", "rustc", "npm", "npx", "node", "yarn", "pnpm", "bun", "deno", "jest", "vitest",
    "mocha", "ava", "pytest", "python", "python3", "tox", "nox", "uv", "poetry", "go", "make", "gmake",
    "cmake", "ctest", "mvn", "gradle", "java", "ruby", "rake", "rspec", "bazel",
];
/// Scripts that stand for a build tool, kept in the project.
const WRAPPERS: [&str; 6] = ["mvnw", "gradlew", "mvnw.cmd", "gradlew.bat", "bazelw", "gradle-wrapper.jar"];
/// Parts of the paths of libraries that tests assert with.
const ASSERTING: [&str; 10] = [
    "testify",
    "gomega",
    "ginkgo",
    "go-cmp",
    "quicktest",
    "check.v1",
    "minitest",
    "rspec",
    "phpunit",
    "gotest.tools",
];
/// Where installed dependencies lie.
const INSTALLED: [&str; 5] = ["node_modules", "site-packages", ".venv", "venv", "bower_components"];

pub fn of(change: &ChangedFile, is_there: &dyn Fn(&str) -> bool) -> Vec<Weakening> {
    let path = change.path.as_str();
    let parts: Vec<&str> = path.split('/').collect();
    let (name, folders) = parts.split_last().map_or(("", &[][..]), |(name, folders)| (*name, folders));
    let folder = path.strip_suffix(name).unwrap_or_default();
    let stem = name.split('.').next().unwrap_or(name);
    let extension = name.rsplit('.').next().unwrap_or_default();
    let is_new = !change.before.is_there();
    let mut found = Vec::new();
    let mut say = |says: String| found.push(Weakening::new(path, None, says));
    if folders.iter().any(|folder| INSTALLED.contains(folder)) {
        say("An installed dependency was changed: what tests run with is not what it was.".to_owned());
    } else if folders.contains(&"vendor") && is_new && folders.iter().any(|part| ASSERTING.contains(part)) {
        say("What tests assert with was put into the project.".to_owned());
    } else if folders.contains(&"vendor") && !is_new {
        say("A dependency that is kept in the project was changed: what tests run with is not what it was."
            .to_owned());
    }
    if !change.after.is_there() {
        if is_recorded(path) {
            say("A recorded result that tests compare with was deleted.".to_owned());
        }
        return found;
    }
    let module = if name == "__init__.py" { folders.last().copied().unwrap_or_default() } else { stem };
    if is_new && extension == "py" && MODULES.contains(&module) {
        say(format!("Python would take this for `{module}`, which tests are run with."));
    }
    if is_new && extension == "pth" {
        say("Python runs what stands in such a file before every program.".to_owned());
    }
    let script =
        name.strip_suffix(".js").or_else(|| name.strip_suffix(".cjs")).or_else(|| name.strip_suffix(".sh"));
    let is_program = !name.contains('.') && PROGRAMS.contains(&name)
        || script.is_some_and(|stem| {
            matches!(stem, "jest" | "vitest" | "mocha" | "ava" | "pytest" | "node" | "npm")
        });
    if is_new && is_program {
        say(format!("A file named as the program `{stem}`, which tests are run with."));
    }
    if WRAPPERS.contains(&name) {
        say("A program that builds and tests the project was changed.".to_owned());
    }
    let read_later: &[&str] = match name {
        "GNUmakefile" => &["makefile", "Makefile"],
        "makefile" => &["Makefile"],
        _ => &[],
    };
    if let Some(other) = read_later.iter().find(|other| is_new && is_there(&format!("{folder}{other}"))) {
        say(format!("`make` reads this in place of `{other}`."));
    }
    if is_new && name == "build.rs" {
        say("A program that is run before anything is compiled, tests included, is new.".to_owned());
    }
    if !is_new && is_recorded(path) {
        say("A recorded result that tests compare with was recorded anew.".to_owned());
    }
    if is_new && name.starts_with("setupTests.") {
        say("It is run before the tests, and can change what they do.".to_owned());
    }
    if let (Version::Text(text), true) = (&change.after, name == "build.rs" && !is_new) {
        let before = change.before.text().unwrap_or_default();
        if ["rustc-cfg", "rustc-env", "rustc-flags"]
            .iter()
            .any(|word| text.matches(word).count() > before.matches(word).count())
        {
            say("It now sets flags that tests are compiled with.".to_owned());
        }
    }
    found
}

/// Snapshots and golden files.
fn is_recorded(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let in_folder = path.split('/').any(|part| {
        matches!(
            part,
            "__snapshots__" | "snapshots" | "golden" | "goldens" | "testdata" | "cassettes" | "expected"
        )
    });
    in_folder
        || [".snap", ".golden", ".approved.txt", ".expected", ".snapshot", ".stdout", ".stderr"]
            .iter()
            .any(|end| name.ends_with(end))
}
