//! Files that say how a suite is run. A change counts if it can keep tests from running or from failing; a dependency more
//! does not.

mod keys;
mod lines;
mod make;

use crate::{ChangedFile, Version, Weakening};

/// Files that say nothing but how tests are run: beginnings of their names.
const SUITES: [&str; 25] = [
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "nose.cfg",
    ".noserc",
    "jest.config.",
    "jest.setup.",
    "vitest.config.",
    "vitest.workspace.",
    "vitest.setup.",
    "karma.conf.",
    ".mocharc",
    "playwright.config.",
    "cypress.config.",
    "phpunit.xml",
    "junit-platform.properties",
    "testng",
    ".rspec",
    ".taprc",
    ".nycrc",
    "web-test-runner.config.",
    "ava.config.",
    ".coveragerc",
    "wallaby.",
    "xunit.runner.",
];

/// What a change of such a file comes to. None for all other files.
pub fn of(change: &ChangedFile) -> Option<Vec<Weakening>> {
    let name = change.path.rsplit('/').next().unwrap_or(&change.path);
    let folder = change.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_in = |last: &str| folder.rsplit('/').next() == Some(last);
    let extension = name.rsplit('.').next().unwrap_or_default();
    if SUITES.iter().any(|begin| name.starts_with(begin))
        || is_in(".mvn")
        || name == "go.work"
        || extension == "runsettings"
    {
        return Some(vec![whole(change)]);
    }
    if matches!(change.before, Version::Opaque) || matches!(change.after, Version::Opaque) {
        return None;
    }
    let found = match name {
        "Cargo.toml" => keys::cargo(change),
        "config.toml" | "config" if is_in(".cargo") => keys::cargo_settings(change),
        "rust-toolchain.toml" | "rust-toolchain" => keys::toolchain(change),
        "pyproject.toml" => keys::pyproject(change),
        "package.json" | "composer.json" => keys::package(change),
        "setup.cfg" => lines::changed(change, &lines::SETUP_CFG),
        "conftest.py" => lines::conftest(change),
        "pom.xml" => lines::changed(change, &lines::MAVEN),
        "build.gradle"
        | "build.gradle.kts"
        | "settings.gradle"
        | "gradle.properties"
        | "settings.gradle.kts" => lines::changed(change, &lines::GRADLE),
        "CMakeLists.txt" | "meson.build" | "CTestTestfile.cmake" => lines::changed(change, &lines::CMAKE),
        "BUILD" | "BUILD.bazel" | ".bazelrc" => lines::changed(change, &lines::BAZEL),
        "go.mod" => lines::changed(change, &lines::GO_MOD),
        ".npmrc" | ".yarnrc" | ".yarnrc.yml" | ".pnpmfile.cjs" => lines::changed(change, &lines::NPM),
        "Rakefile" | "noxfile.py" | "Taskfile.yml" | "Taskfile.yaml" => {
            let is_new = !change.before.is_there();
            lines::changed(change, if is_new { &lines::NEW_TASKS } else { &lines::TASKS })
        }
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" | ".justfile" => {
            make::changed(change)
        }
        _ if matches!(extension, "csproj" | "fsproj" | "vbproj" | "props" | "targets") => {
            lines::changed(change, &lines::DOTNET)
        }
        _ if extension == "mk" => make::changed(change),
        _ if name.starts_with("tsconfig") && extension == "json" => lines::changed(change, &lines::TSCONFIG),
        _ if name == ".env" || name.starts_with(".env.") || name == ".envrc" => {
            lines::changed(change, &lines::ENV)
        }
        _ if folder.ends_with(".github/workflows") || name == ".gitlab-ci.yml" => {
            lines::changed(change, &lines::CI)
        }
        _ => return None,
    };
    Some(found)
}

fn whole(change: &ChangedFile) -> Weakening {
    let verb = match (&change.before, &change.after) {
        (Version::Absent, _) => "was added",
        (_, Version::Absent) => "was deleted",
        _ => "was changed",
    };
    let line = change.after.text().zip(change.before.text()).and_then(|(after, before)| {
        let differs = after.lines().zip(before.lines()).position(|(a, b)| a != b)?;
        u32::try_from(differs + 1).ok()
    });
    Weakening::new(&change.path, line, format!("A file that says how tests are run {verb}."))
}
