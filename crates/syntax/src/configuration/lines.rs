//! Configuration that is told by its lines: words that say something about tests, in lines that are new or gone.

use std::collections::HashMap;

use crate::{ChangedFile, Weakening, shown};

/// Words that count in a line that is new, and in one that is gone. Compared without regard to case.
pub struct LineWords {
    added: &'static [&'static str],
    removed: &'static [&'static str],
    /// Lines with these are something else.
    except: &'static [&'static str],
    /// A file that was not there before counts, too.
    new_file: bool,
    /// A line that is gone counts only if no new one says the same.
    replaceable: bool,
}

const SILENT: [&str; 6] = ["|| true", "|| :", "exit 0", "continue-on-error", "if: false", "|| exit"];

pub const SETUP_CFG: LineWords = LineWords {
    added: &[
        "pytest",
        "addopts",
        "testpaths",
        "python_files",
        "python_functions",
        "norecursedirs",
        "nosetests",
        "ignore =",
        "-k ",
        "--deselect",
    ],
    removed: &["pytest", "addopts", "testpaths", "python_files", "python_functions", "nosetests"],
    except: &["install_requires", ">=", "=="],
    new_file: true,
    replaceable: false,
};
pub const MAVEN: LineWords = LineWords {
    added: &[
        "skiptests",
        "maven.test.",
        "testfailureignore",
        "<exclude>",
        "<excludes>",
        "<include>",
        "<includes>",
        "<skip>",
        "surefire",
        "failsafe",
        "testsourcedirectory",
        "<groups>",
        "excludedgroups",
        "failifnotests",
        "<test>",
        "argline",
    ],
    removed: &["surefire", "failsafe", "testsourcedirectory", "<include>", "<module>"],
    except: &["<version>"],
    new_file: false,
    replaceable: false,
};
/// Projects of .NET.
pub const DOTNET: LineWords = LineWords {
    added: &[
        "istestproject",
        "compile remove",
        "compile update",
        "runsettings",
        "vstest",
        "testingplatform",
        "<exec",
        "<import",
        "<target",
        "enabledefaultcompileitems",
        "defineconstants",
        "testcasefilter",
    ],
    removed: &["istestproject", "compile include", "projectreference", "<import", "<target"],
    except: &[],
    new_file: false,
    replaceable: false,
};
pub const GRADLE: LineWords = LineWords {
    added: &[
        "enabled",
        "onlyif",
        "exclude",
        "ignorefailures",
        "filter",
        "tasks.test",
        "tasks.named",
        "tasks.withtype",
        "\"-x\"",
        "'-x'",
        "failonno",
        "test {",
        "test{",
        "dependson",
        "srcdirs",
        "taskgraph",
    ],
    removed: &["usejunit", "test {", "test{", "tasks.test", "include"],
    except: &["group:", "group =", "dependencies"],
    new_file: false,
    replaceable: false,
};
pub const CMAKE: LineWords = LineWords {
    added: &[
        "will_fail",
        "disabled",
        "ndebug",
        "skip_re",
        "skip_return",
        "pass_regular_expression",
        "build_testing",
        "if(false)",
        "ctest_custom",
    ],
    removed: &[
        "add_test",
        "enable_testing",
        "discover_tests",
        "test(",
        "_test",
        "test_",
        "add_subdirectory(test",
    ],
    except: &[],
    new_file: false,
    replaceable: false,
};
pub const BAZEL: LineWords = LineWords {
    added: &[
        "manual",
        "test_filter",
        "flaky",
        "test_tag_filters",
        "keep_going",
        "runs_per_test",
        "test_strategy",
        "run_under",
        "compilation_mode=opt",
    ],
    removed: &["_test("],
    except: &[],
    new_file: true,
    replaceable: false,
};
pub const GO_MOD: LineWords =
    LineWords { added: &["replace ", "=>"], removed: &[], except: &[], new_file: false, replaceable: false };
pub const NPM: LineWords = LineWords {
    added: &[
        "script-shell",
        "scriptshell",
        "ignore-scripts",
        "node-options",
        "nodeoptions",
        "yarnpath",
        "yarn-path",
        "plugins",
        "readpackage",
        "prefix",
        "node-linker",
    ],
    removed: &[],
    except: &[],
    new_file: true,
    replaceable: false,
};
pub const TASKS: LineWords = LineWords {
    added: &[
        "|| true",
        "exit 0",
        "exit(0)",
        "ignore_error",
        "silent",
        "rescue",
        "--deselect",
        "-k ",
        "exclude",
        "pattern",
    ],
    removed: &["test", "spec", "check"],
    except: &[],
    new_file: false,
    replaceable: false,
};
/// A list of tasks that was not there: only what hides a failure.
pub const NEW_TASKS: LineWords = LineWords {
    added: &["|| true", "|| :", "exit 0", "exit(0)", "ignore_error", "rescue"],
    removed: &[],
    except: &[],
    new_file: true,
    replaceable: false,
};
pub const TSCONFIG: LineWords = LineWords {
    added: &[".test", ".spec", "__tests__", "\"tests", "\"test/", "\"test\"", "**/test"],
    removed: &[".test", ".spec", "__tests__", "\"tests", "\"test/", "\"test\"", "\"include\""],
    except: &[],
    new_file: false,
    replaceable: false,
};
pub const ENV: LineWords = LineWords {
    added: &[
        "node_env",
        "node_options",
        "pytest",
        "pythonpath",
        "pythonstartup",
        "pythonoptimize",
        "rustflags",
        "cargo_",
        "goflags",
        "jest",
        "vitest",
        "maven_opts",
        "java_tool_options",
        "gradle_opts",
        "makeflags",
        "path=",
        "ld_preload",
        "rubyopt",
        "test",
        "skip",
        "ci=",
    ],
    removed: &["test", "ci="],
    except: &[],
    new_file: true,
    replaceable: false,
};
pub const CI: LineWords = LineWords {
    added: &SILENT,
    removed: &["test", "check", "verify", "pytest", "lint"],
    except: &["name:", "uses:"],
    new_file: false,
    replaceable: true,
};

pub fn changed(change: &ChangedFile, words: &LineWords) -> Vec<Weakening> {
    let (Some(before), after) =
        (change.before.text().or(words.new_file.then_some("")), change.after.text().unwrap_or_default())
    else {
        return Vec::new();
    };
    let count = |text: &str| {
        let mut counts: HashMap<String, usize> = HashMap::new();
        text.lines().for_each(|line| *counts.entry(line.trim().to_owned()).or_default() += 1);
        counts
    };
    let says = |line: &str, words: &LineWords, of: &[&str]| {
        let folded = line.to_lowercase();
        !folded.starts_with('#')
            && !folded.starts_with("//")
            && of.iter().any(|word| has_word(&folded, word))
            && !words.except.iter().any(|word| folded.contains(word))
    };
    let mut found = Vec::new();
    let mut known = count(before);
    let mut is_replaced = false;
    for (at, line) in after.lines().enumerate() {
        let there = known.get_mut(line.trim()).filter(|n| **n > 0).map(|n| *n -= 1).is_some();
        is_replaced |= words.replaceable && !there && says(line.trim(), words, words.removed);
        if !there && says(line.trim(), words, words.added) {
            let line_number = u32::try_from(at + 1).ok();
            let text = format!("It says how tests are run, and this is new: `{}`.", shown(line));
            found.push(Weakening::new(&change.path, line_number, text));
        }
    }
    let mut left = count(after);
    for line in before.lines() {
        let still = left.get_mut(line.trim()).filter(|n| **n > 0).map(|n| *n -= 1).is_some();
        if !still && !is_replaced && found.is_empty() && says(line.trim(), words, words.removed) {
            found.push(Weakening::new(
                &change.path,
                None,
                format!("It says how tests are run, and this is gone: `{}`.", shown(line)),
            ));
        }
    }
    found
}

/// Is there a word that begins so? `latest` does not begin with `test`.
fn has_word(line: &str, word: &str) -> bool {
    let is_letter = |c: char| c.is_alphabetic();
    line.match_indices(word)
        .any(|(at, _)| !word.starts_with(is_letter) || !line[..at].chars().next_back().is_some_and(is_letter))
}

/// Fixtures are help for tests; hooks decide what becomes of them.
pub fn conftest(change: &ChangedFile) -> Vec<Weakening> {
    let hooks = |text: &str| -> HashMap<String, (usize, String)> {
        let mut hooks: HashMap<String, (usize, String)> = HashMap::new();
        let mut open: Option<String> = None;
        for (at, line) in text.lines().enumerate() {
            if !line.starts_with([' ', '\t']) && !line.is_empty() {
                let name = line.strip_prefix("def pytest_").and_then(|rest| rest.split('(').next());
                open = name.map(|name| format!("pytest_{name}"));
                if line.contains("pytest_plugins") || line.contains("pytest_collect_file") {
                    hooks.insert(line.trim().to_owned(), (at + 1, String::new()));
                }
            }
            if let Some(name) = &open {
                hooks.entry(name.clone()).or_insert((at + 1, String::new())).1.push_str(line.trim_end());
            }
        }
        hooks
    };
    let (before, after) =
        (hooks(change.before.text().unwrap_or_default()), hooks(change.after.text().unwrap_or_default()));
    let mut found: Vec<Weakening> = Vec::new();
    for (name, (line, text)) in &after {
        let same =
            before.get(name).is_some_and(|(_, was)| was.split_whitespace().eq(text.split_whitespace()));
        if !same && !["pytest_addoption", "pytest_report_header"].contains(&name.as_str()) {
            let says = format!("`{}` decides which tests run, or what becomes of them.", shown(name));
            found.push(Weakening::new(&change.path, u32::try_from(*line).ok(), says));
        }
    }
    let autouse = |text: Option<&str>| text.map_or(0, |text| text.matches("autouse=True").count());
    if autouse(change.after.text()) > autouse(change.before.text()) {
        found.push(Weakening::new(
            &change.path,
            None,
            "A fixture that all tests use without asking for it is new.",
        ));
    }
    found
}
