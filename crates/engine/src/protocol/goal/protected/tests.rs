//! Which files a goal is judged by, and when they count as changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::super::criterion::FileCheck;
use super::*;

fn shell(command: &str) -> Criterion {
    Criterion::Shell { command: command.to_owned(), exit_code: 0, timeout_ms: 1000, evidence: Vec::new() }
}

fn change(path: &str, kind: ChangeKind) -> Change {
    Change {
        path: path.to_owned(),
        kind,
        mode: 0o644,
        binary: false,
        bytes: 1,
        lines: 1,
        before: None,
        after: None,
    }
}

#[test]
fn what_a_command_names_is_protected() {
    for (command, path) in [
        ("pytest tests/test_a.py", "tests/test_a.py"),
        ("pytest checks/a.py::test_b -q", "checks/a.py"),
        ("./check.sh", "check.sh"),
        ("bash scripts/verify.sh && echo ok", "scripts/verify.sh"),
        ("(cargo build;./check.sh)", "check.sh"),
        ("sh -c './check.sh --all'", "check.sh"),
        ("cd sub && ./check.sh", "sub/check.sh"),
        ("make -C sub check", "sub/Makefile"),
        ("make test", "Makefile"),
        ("just test", "justfile"),
        ("cargo test", "Cargo.toml"),
        ("cargo test", ".cargo/config.toml"),
        ("cd web && npm test", "web/package.json"),
        ("pytest -q", "pyproject.toml"),
        ("jest --config=ci/jest.js", "ci/jest.js"),
        ("diff <(./a.out) expected.txt", "expected.txt"),
        ("rspec checks/a.rb:12", "checks/a.rb"),
        ("bash checks/*.sh", "checks/a.sh"),
        ("bats tests/", "tests/deep/a"),
        ("sh check", "check"),
        ("latexmk -pdf main.tex", ".latexmkrc"),
        ("cd paper && latexmk main.tex && sh check.sh", "paper/check.sh"),
    ] {
        assert!(Protected::new(&shell(command), &[], false).names(path), "{command}: {path}");
    }
    let vision = Criterion::Vision {
        command: "node shoot.js out.png".to_owned(),
        file: "out.png".to_owned(),
        expected: "x".to_owned(),
    };
    let protected = Protected::new(&Criterion::Any(vec![Criterion::Manual, vision]), &[], false);
    assert!(protected.names("shoot.js"), "wherever in the criterion it stands");
    assert!(!protected.names("out.png"), "the picture is made by the command");
}

#[test]
fn what_the_worker_is_to_make_is_not() {
    let files = Criterion::All(vec![
        Criterion::Json { file: "out.json".to_owned(), predicate: "a exists".to_owned() },
        Criterion::File { path: "src/a.rs".to_owned(), check: FileCheck::Exists },
        shell("cargo test"),
        shell("ruff check src/"),
        shell("/usr/bin/true ../x $FILE https://a/b.sh"),
    ]);
    let protected = Protected::new(&files, &[], false);
    for path in ["out.json", "src/a.rs", "src/b.py", "Makefile", "x", "tests/a.rs", "b.sh"] {
        assert!(!protected.names(path), "{path}");
    }
    let listed = Protected::new(&files, &["out.json".to_owned(), "golden/".to_owned()], false);
    assert!(listed.names("out.json") && listed.names("golden/a/b") && !listed.names("src/a.rs"));
    assert!(
        !Protected::new(&files, &["  ".to_owned()], false).names("anything"),
        "an empty pattern names nothing"
    );
}

#[test]
fn tests_and_how_they_run_are_protected_if_the_user_wants_it() {
    let on = Protected::new(&Criterion::Manual, &[], true);
    let off = Protected::new(&Criterion::Manual, &[], false);
    for path in
        ["tests/a.rs", "src/a.test.ts", "conftest.py", "sub/jest.config.ts", "pytest.ini", "phpunit.xml.dist"]
    {
        assert!(on.names(path), "{path}");
        assert!(!off.names(path), "{path}");
    }
    for path in ["src/a.rs", "Makefile", "Cargo.toml", "package.json"] {
        assert!(!on.names(path), "{path}");
    }
}

#[test]
fn a_test_that_was_added_is_not_a_changed_one() {
    use ChangeKind::{Added, Deleted, Modified};
    let protected = Protected::new(&shell("./check.sh && pytest tests"), &["golden".to_owned()], true);
    let changes = [
        change("tests/new.py", Added),
        change("src/new_test.go", Added),
        change("src/a.py", Modified),
        change("tests/old.py", Modified),
        change("tests/gone.py", Deleted),
        change("check.sh", Added),
        change("golden/a", Added),
        change("conftest.py", Added),
    ];
    assert_eq!(
        protected.changed(&changes),
        ["tests/old.py", "tests/gone.py", "check.sh", "golden/a", "conftest.py"]
    );
    assert!(Protected::default().changed(&changes).is_empty());
}

#[test]
fn a_file_that_only_had_to_be_there_may_be_made_but_not_one_that_is_run() {
    use ChangeKind::{Added, Modified};
    let flagged = |command: &str, path: &str, kind| {
        !Protected::new(&shell(command), &[], false).changed(&[change(path, kind)]).is_empty()
    };
    for command in ["test -f done.txt", "[ -s done.txt ] && make", "make; test -e ./done.txt"] {
        assert!(!flagged(command, "done.txt", Added), "{command}");
        assert!(flagged(command, "done.txt", Modified), "{command}");
    }
    for command in ["test -f done.txt && sh done.txt", "sh done.txt", "test -x check.sh; ./done.txt"] {
        assert!(flagged(command, "done.txt", Added), "{command}");
    }
    let listed = Protected::new(&shell("test -f done.txt"), &["*.txt".to_owned()], false);
    assert!(!listed.changed(&[change("done.txt", Added)]).is_empty(), "the user said so");
}

#[test]
fn a_project_may_be_begun_but_not_told_to_leave_its_tests_out() {
    let protected = Protected::new(&shell("cargo test && npm test"), &[], true);
    for path in ["Cargo.toml", "package.json"] {
        assert!(protected.changed(&[change(path, ChangeKind::Added)]).is_empty(), "{path}");
        assert_eq!(protected.changed(&[change(path, ChangeKind::Modified)]), [path]);
        assert!(protected.changed(&[change(&format!("other/{path}"), ChangeKind::Modified)]).is_empty());
    }
    let runner = change(".cargo/config.toml", ChangeKind::Added);
    assert_eq!(
        protected.changed(&[runner]),
        [".cargo/config.toml"],
        "it can have `true` run in place of the tests"
    );
}

#[test]
fn a_document_that_a_command_makes_is_the_work() {
    for (command, path) in [
        ("latexmk -pdf -interaction=nonstopmode main.tex", "main.tex"),
        ("cd paper && pdflatex main.tex", "paper/main.tex"),
        ("typst compile main.typ", "main.typ"),
    ] {
        assert!(!Protected::new(&shell(command), &[], true).names(path), "{command}: {path}");
    }
    assert!(Protected::new(&shell("pdflatex a.tex; sh b.tex"), &[], true).names("b.tex"));
}
