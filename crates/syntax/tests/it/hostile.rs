//! Whatever a file holds, reading it ends, within bounds and without a panic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::format_collect,
    clippy::disallowed_methods
)] // tests may fail loudly

use gadfly_syntax::{ChangedFile, Examination, LARGEST, MOST_FINDINGS, Version, examine};
use proptest::prelude::*;

const FILES: [&str; 31] = [
    "src/lib.rs",
    "tests/test_a.py",
    "a.test.js",
    "a.spec.ts",
    "a.test.tsx",
    "a_test.go",
    "ATest.java",
    "test/test_a.rb",
    "tests/test_a.c",
    "tests/a_test.cpp",
    "ATests.cs",
    "tests/a.bats",
    "tests/run.sh",
    "Cargo.toml",
    "package.json",
    "pyproject.toml",
    "Makefile",
    "pom.xml",
    "conftest.py",
    "CMakeLists.txt",
    "setup.cfg",
    ".env",
    "calc.py",
    "calc.js",
    "calc.go",
    "Calc.java",
    "calc.rb",
    "calc.c",
    "calc.cpp",
    "Calc.cs",
    "calc.sh",
];

fn change(path: &str, before: &str, after: &str) -> Examination {
    let version = |text: &str| Version::Text(text.to_owned());
    let changed = ChangedFile {
        path: path.to_owned(),
        is_test: path.contains("est"),
        before: version(before),
        after: version(after),
    };
    examine(&[changed], &|_| true)
}

#[test]
fn what_is_too_deep_or_too_large_is_not_read_and_not_passed_over() {
    let tests = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert_eq!(f(), 1); }\n}\n";
    let deep = format!("{tests}fn g() {{ {}1{} }}\n", "(".repeat(5_000), ")".repeat(5_000));
    let large = format!("{tests}// {}\n", "x".repeat(LARGEST));
    for after in [deep, large, "\u{0}\u{1}{{{{".to_owned()] {
        let examined = change("src/lib.rs", tests, &after);
        assert_eq!(examined.found.len(), 1, "{:?}", examined.found);
        assert!(examined.found[0].says.contains("cannot be read"));
        assert!(examined.read.is_empty());
    }
}

#[test]
fn a_file_without_end_of_assertions_takes_no_time_without_end() {
    let begun = std::time::Instant::now();
    let many: String = (0..8_000).map(|n| format!("def test_{n}():\n    assert f({n}) == {n}\n")).collect();
    let examined = change("tests/test_a.py", &many, "");
    assert_eq!(examined.found.len(), MOST_FINDINGS);
    assert!(examined.found.last().unwrap().says.contains("7950 more"), "{:?}", examined.found.last());
    let one = format!("def test_a():\n{}", "    assert f(1) == 2\n".repeat(10_000));
    assert!(change("tests/test_a.py", &one, &one.replace("== 2", "== 3")).found.len() == 1);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(file in 0..FILES.len(), before in "\\PC{0,200}", after in "([a-z_]{1,6}|[(){}\\[\\]\"'`#@:;.,=!|&<>*/-]| |\n){0,120}") {
        change(FILES[file], &before, &after);
        change(FILES[file], &after, &before);
    }

    #[test]
    fn nothing_panics_on_broken_programs(file in 0..13_usize, from in 0..400_usize, length in 0..200_usize) {
        let programs = [
            include_str!("../../src/facts.rs"),
            "import unittest\nclass T(unittest.TestCase):\n    @skip('x')\n    async def test_a(self):\n        '''é'''\n        try:\n            self.assertEqual(f('ü'), {1: [2]}, msg='m')\n        except Exception as e:\n            pass\n        with raises(E):\n            x = y.z = lambda: 1\n        assert (1, 2)\n",
            "describe.only('ä', () => { it.each([[1]])(`b${c}`, async () => { await expect(f(1)).rejects.toThrow(/x/); jest.mock('./y'); process.exitCode = 0; }) });\nexpect(a).to.be.true;\n",
        ];
        let program = programs[file % 3];
        let cut: String = program.chars().take(from).chain(program.chars().skip(from + length)).collect();
        change(FILES[file], program, &cut);
    }
}
