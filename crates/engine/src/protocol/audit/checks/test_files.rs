//! How tests look in the usual languages: names of their files, lines that assert, lines that switch a
//! test off. Names and patterns only; nothing is parsed.

/// Folders that hold tests.
const FOLDERS: [&str; 8] =
    ["tests", "test", "__tests__", "spec", "specs", "e2e", "testdata", "__snapshots__"];
/// Beginnings of a file's name, without its extension.
const BEGINNINGS: [&str; 2] = ["test_", "tests_"];
/// Ends of a file's name, without its last extension.
const ENDS: [&str; 12] = [
    "_test", "_tests", "_spec", "-test", "-spec", ".test", ".tests", ".spec", ".e2e", "Test", "Tests", "Spec",
];
/// Whole names.
const NAMES: [&str; 4] = ["conftest.py", "tests.rs", "test.rs", "tests.py"];
/// Extensions that only tests have.
const EXTENSIONS: [&str; 3] = ["bats", "feature", "snap"];

/// Is this a test by its name, in whatever language?
pub fn is_test_file(path: &str) -> bool {
    let mut names = path.split('/').rev();
    let Some(name) = names.next() else { return false };
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    names.any(|folder| FOLDERS.contains(&folder))
        || NAMES.contains(&name)
        || EXTENSIONS.contains(&extension)
        || BEGINNINGS.iter().any(|b| stem.starts_with(b))
        || (!extension.is_empty() && ENDS.iter().any(|e| stem.len() > e.len() && stem.ends_with(e)))
}

/// Words that assert something, at the beginning of a call or a statement.
const ASSERTIONS: [&str; 20] = [
    "assert",
    "expect(",
    "expect ",
    "should(",
    ".should",
    "EXPECT_",
    "ASSERT_",
    "XCTAssert",
    "require.",
    "REQUIRE(",
    "CHECK(",
    "t.Error",
    "t.Fatal",
    "t.Fail",
    "verify(",
    "ensure(",
    "refute",
    "must_equal",
    "is_expected",
    "raises(",
];

/// Assertions that hold whatever the code does.
const VACUOUS: [&str; 12] = [
    "assert(true)",
    "assert!(true",
    "assert true",
    "assert 1",
    "asserttrue(true)",
    "expect(true).tobe(true)",
    "expect(true).tobetruthy",
    "expect(1).tobe(1)",
    "assert.ok(true)",
    "assert.true(true)",
    "expect_true(true)",
    "assert_true(true)",
];

/// Lines that keep a test from running, or all others.
const SWITCHES: [&str; 29] = [
    "it.skip(",
    "test.skip(",
    "describe.skip(",
    "context.skip(",
    "suite.skip(",
    "it.todo(",
    "test.todo(",
    "it.only(",
    "test.only(",
    "describe.only(",
    "xit(",
    "xtest(",
    "xdescribe(",
    "@pytest.mark.skip",
    "@pytest.mark.xfail",
    "@unittest.skip",
    "pytest.skip(",
    ".skipTest(",
    "t.Skip(",
    "t.SkipNow(",
    "t.Skipf(",
    "@Ignore",
    "@Disabled",
    "[Ignore",
    "(Skip =",
    "markTestSkipped(",
    "markTestIncomplete(",
    "GTEST_SKIP",
    "DISABLED_",
];

/// May lines of this file assert something? Rust keeps unit tests beside the code.
pub fn may_assert(path: &str) -> bool {
    is_test_file(path) || is_rust(path)
}

/// Does the line assert something, in a file where that means a test?
pub fn counts_as_assertion(path: &str, line: &str) -> bool {
    let asserts = if is_test_file(path) { asserts(line) } else { is_rust(path) && asserts_in_rust(line) };
    asserts && !is_vacuous(line)
}

/// Does the line look like an assertion? One in a comment is none.
pub fn asserts(line: &str) -> bool {
    !is_comment(line)
        && ASSERTIONS.iter().any(|word| line.match_indices(word).any(|(at, _)| begins(line, at)))
}

/// Does the line switch a test off, or switch off all others?
pub fn switches_off(path: &str, line: &str) -> bool {
    if is_comment(line) {
        return false;
    }
    let body = line.trim_start();
    if is_rust(path) {
        return ["#[ignore", "#[cfg(any())]"].iter().any(|attribute| body.contains(attribute));
    }
    is_test_file(path) && SWITCHES.iter().any(|word| line.match_indices(word).any(|(at, _)| begins(line, at)))
}

fn asserts_in_rust(line: &str) -> bool {
    let names = ["assert!(", "assert_eq!(", "assert_ne!(", "assert_matches!(", "assert_snapshot!("];
    !is_comment(line) && names.iter().any(|n| line.contains(n))
}

fn is_rust(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, extension)| extension == "rs")
}

fn is_vacuous(line: &str) -> bool {
    let folded: String = line.trim().to_ascii_lowercase();
    let ends = |at: usize| !folded[at..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
    VACUOUS.iter().any(|v| folded.match_indices(v).any(|(at, _)| begins(&folded, at) && ends(at + v.len())))
}

fn is_comment(line: &str) -> bool {
    let body = line.trim_start();
    ["//", "/*", "* ", "--", "<!--", "\"\"\""].iter().any(|fence| body.starts_with(fence))
        || (body.starts_with('#') && !body.starts_with("#["))
}

/// Does a word begin here, rather than end a longer one? A word that brings its own mark always does.
fn begins(line: &str, at: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let starts_with_word = line[at..].chars().next().is_some_and(is_word);
    !starts_with_word || !line[..at].chars().next_back().is_some_and(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_the_usual_names() {
        for path in [
            "tests/a.rs",
            "src/parser/tests.rs",
            "pkg/a_test.go",
            "test_a.py",
            "app/test_a.py",
            "src/a.test.ts",
            "src/a.spec.tsx",
            "spec/a_spec.rb",
            "src/ATest.java",
            "ATests.cs",
            "ASpec.scala",
            "a_test.exs",
            "src/__tests__/a.js",
            "conftest.py",
            "t.bats",
            "test/fixtures/a.json",
            "lib/a-test.js",
        ] {
            assert!(is_test_file(path), "{path}");
        }
        for path in [
            "src/a.rs",
            "src/latest.ts",
            "contest.py",
            "src/testing.go",
            "attest.c",
            "Test",
            "src/protest/a.rs",
        ] {
            assert!(!is_test_file(path), "{path}");
        }
    }

    #[test]
    fn assertions_are_known_by_the_usual_words() {
        let yes = [
            ("tests/a.py", "    assert x == 3"),
            ("a_test.go", "\t\tt.Errorf(\"no\")"),
            ("a_test.go", "require.NoError(t, err)"),
            ("a.test.ts", "expect(f(1)).toBe(2);"),
            ("ATest.java", "assertEquals(1, f());"),
            ("a_test.cc", "EXPECT_EQ(1, f());"),
            ("src/a.rs", "        assert_eq!(f(1), 2);"),
            ("ATest.swift", "XCTAssertEqual(a, b)"),
            ("spec/a_spec.rb", "expect(a).to eq 1"),
        ];
        for (path, line) in yes {
            assert!(counts_as_assertion(path, line), "{path}: {line}");
        }
        let no = [
            ("tests/a.py", "# assert x == 3"),
            ("a.test.ts", "// expect(f(1)).toBe(2);"),
            ("a.test.ts", "expect(true).toBe(true);"),
            ("tests/a.py", "assert True"),
            ("src/a.rs", "let x = y.expect(\"there\");"),
            ("src/a.js", "const fs = require(\"fs\");"),
            ("src/a.rs", "debug_assertions(x)"),
            ("tests/a.py", "unexpect(1)"),
        ];
        for (path, line) in no {
            assert!(!counts_as_assertion(path, line), "{path}: {line}");
        }
    }

    #[test]
    fn switched_off_tests_are_known_by_the_usual_marks() {
        let yes = [
            ("src/a.rs", "    #[ignore = \"slow\"]"),
            ("a.test.ts", "it.skip('x', () => {"),
            ("a.test.ts", "xit('x', () => {"),
            ("test_a.py", "@pytest.mark.skip(reason=\"flaky\")"),
            ("a_test.go", "t.Skip()"),
            ("ATest.java", "@Disabled"),
            ("a.test.ts", "describe.only('x', () => {"),
        ];
        for (path, line) in yes {
            assert!(switches_off(path, line), "{path}: {line}");
        }
        let no = [
            ("src/a.rs", "for x in xs.iter().skip(1) {"),
            ("src/a.ts", "stream.skip(1)"),
            ("a.test.ts", "stream.skip(1)"),
            ("a.test.ts", "process.exit(1)"),
            ("a.test.ts", "// it.skip('x')"),
            ("test_a.py", "model.fit(x)"),
        ];
        for (path, line) in no {
            assert!(!switches_off(path, line), "{path}: {line}");
        }
    }
}
