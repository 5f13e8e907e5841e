//! Projects of the shapes that people have, each with a fault that its own test command finds: a worker mends it, and the
//! check holds in a fresh folder. The same shapes as other people's repositories (docs/repositories.md), but small. What needs
//! a program that this machine lacks is passed over, and said.

use std::path::Path;

use crate::goals::desk::{Desk, Said};
use crate::goals::pursuit::{claims, edits, hire, runs};

struct Shape {
    name: &'static str,
    /// What the test command starts.
    needs: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    test: &'static str,
    /// File, and what is wrong in it: `1 - 1` is to be `1 + 1`.
    fault: &'static str,
}

const PY_TEST: &str = "import unittest\n\nfrom sums import two\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        \
                       self.assertEqual(two(), 2)\n";
const PY: &str = "def two():\n    return 1 - 1\n";
const C: &str = "int two(void) { return 1 - 1; }\n";
const C_TEST: &str = "int two(void);\nint main(void) { return two() == 2 ? 0 : 1; }\n";
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 2\n";

const SHAPES: [Shape; 11] = [
    Shape {
        name: "Rust workspace",
        needs: &["cargo"],
        files: &[
            ("Cargo.toml", "[workspace]\nresolver = \"2\"\nmembers = [\"one\", \"two\"]\n"),
            ("one/Cargo.toml", "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
            ("one/src/lib.rs", "pub fn two() -> i32 {\n    1 - 1\n}\n"),
            (
                "two/Cargo.toml",
                "[package]\nname = \"two\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\none = { path = \"../one\" }\n",
            ),
            ("two/src/lib.rs", "#[test]\nfn adds() {\n    assert_eq!(one::two(), 2);\n}\n"),
        ],
        test: "cargo test --offline",
        fault: "one/src/lib.rs",
    },
    Shape {
        name: "Node",
        needs: &["npm", "node"],
        files: &[
            ("package.json", "{\"name\": \"a\", \"scripts\": {\"test\": \"node test.js\"}}\n"),
            ("two.js", "module.exports = () => 1 - 1;\n"),
            ("test.js", "require('assert').strictEqual(require('./two.js')(), 2);\n"),
        ],
        test: "npm test",
        fault: "two.js",
    },
    Shape {
        name: "Node with workspaces",
        needs: &["npm", "node"],
        files: &[
            ("package.json", "{\"name\": \"all\", \"private\": true, \"workspaces\": [\"packages/*\"]}\n"),
            ("packages/a/package.json", "{\"name\": \"a\", \"version\": \"1.0.0\", \"main\": \"two.js\"}\n"),
            ("packages/a/two.js", "module.exports = () => 1 - 1;\n"),
            (
                "packages/b/package.json",
                "{\"name\": \"b\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node test.js\"}}\n",
            ),
            ("packages/b/test.js", "require('assert').strictEqual(require('../a')(), 2);\n"),
        ],
        test: "npm test --workspaces --if-present",
        fault: "packages/a/two.js",
    },
    Shape {
        name: "Python, plain",
        needs: &["python3"],
        files: &[("sums.py", PY), ("test_sums.py", PY_TEST)],
        test: "python3 -m unittest",
        fault: "sums.py",
    },
    Shape {
        name: "Go without dependencies",
        needs: &["go"],
        files: &[
            ("go.mod", "module example.com/two\n\ngo 1.19\n"),
            ("two.go", "package two\n\nfunc two() int { return 1 - 1 }\n"),
            (
                "two_test.go",
                "package two\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif two() != 2 {\n\t\tt.Fatal(two())\n\t}\n}\n",
            ),
        ],
        test: "go test ./...",
        fault: "two.go",
    },
    Shape {
        name: "C with make",
        needs: &["make", "cc"],
        files: &[
            ("two.c", C),
            ("check.c", C_TEST),
            ("Makefile", "test: check\n\t./check\ncheck: check.c two.c\n\tcc -o $@ check.c two.c\n"),
        ],
        test: "make test",
        fault: "two.c",
    },
    Shape {
        name: "C with cmake",
        needs: &["cmake", "ctest", "cc", "make"],
        files: &[
            ("two.c", C),
            ("check.c", C_TEST),
            (
                "CMakeLists.txt",
                "cmake_minimum_required(VERSION 3.13)\nproject(two C)\nenable_testing()\nadd_executable(check check.c two.c)\n\
                 add_test(NAME check COMMAND check)\n",
            ),
        ],
        test: "cmake -S . -B build && cmake --build build && cd build && ctest",
        fault: "two.c",
    },
    Shape {
        name: "monorepo of several languages",
        needs: &["make", "cc", "python3"],
        files: &[
            ("Makefile", "test:\n\t$(MAKE) -C native test\n\tcd scripts && python3 -m unittest\n"),
            ("native/two.c", "int two(void) { return 2; }\n"),
            ("native/check.c", C_TEST),
            ("native/Makefile", "test:\n\tcc -o check check.c two.c && ./check\n"),
            ("scripts/sums.py", PY),
            ("scripts/test_sums.py", PY_TEST),
        ],
        test: "make test",
        fault: "scripts/sums.py",
    },
    Shape {
        name: "with LFS pointers",
        needs: &["python3"],
        files: &[
            (".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n"),
            ("large.bin", POINTER),
            ("sums.py", PY),
            (
                "test_sums.py",
                "import unittest\n\nfrom sums import two\n\n\nclass T(unittest.TestCase):\n    def test_two(self):\n        \
                 self.assertEqual(two(), int(open('large.bin').read().split()[-1]))\n",
            ),
        ],
        test: "python3 -m unittest",
        fault: "sums.py",
    },
    Shape {
        name: "shell",
        needs: &["sh"],
        files: &[
            ("two.sh", "two() { echo $((1 - 1)); }\n"),
            ("check.sh", ". ./two.sh\n[ \"$(two)\" = 2 ]\n"),
        ],
        test: "sh check.sh",
        fault: "two.sh",
    },
    Shape {
        name: "LaTeX paper",
        needs: &["latexmk", "pdflatex"],
        files: &[(
            "main.tex",
            "\\documentclass{article}\n\\begin{document}\n\\newcount\\two\n\\two=\\numexpr 1 - 1\\relax\n\
                 \\ifnum\\two=2 Two.\\else\\errmessage{not two}\\fi\n\\end{document}\n",
        )],
        test: "latexmk -pdf -interaction=nonstopmode main.tex",
        fault: "main.tex",
    },
];

fn has(program: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn said(desk: &Desk, args: &[&str]) -> Said {
    let cargo = Path::new(env!("CARGO")).parent().unwrap();
    let mut command = desk.command(args);
    command.env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", cargo.display()));
    let done = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: done.status.code().unwrap_or(-1), out: text(done.stdout), err: text(done.stderr) }
}

#[test]
#[allow(clippy::print_stderr)] // what is passed over is said
fn a_fault_is_mended_in_projects_of_every_shape() {
    for shape in SHAPES {
        let name = shape.name;
        if let Some(missing) = shape.needs.iter().find(|program| !has(program)) {
            eprintln!("passed over: {name}, for want of {missing}");
            continue;
        }
        let desk = Desk::repository(shape.files);
        let ignored = "\n.gadfly/\ntarget/\nCargo.lock\n__pycache__/\ncheck\nbuild/\n*.aux\n*.fls\n*.log\n*.pdf\n*.fdb_latexmk\n";
        desk.write(".gitignore", ignored);
        desk.commit("what is ignored");
        // Of another length: Python takes a file of the same second and size for the one it has compiled.
        let mended = edits(shape.fault, "1 - 1", "1 + 1 + 0");
        hire(&desk, "w", &[runs(shape.test), mended, runs(shape.test), claims("it is mended")], "");
        let goal = ["goal", "Make the tests pass.", "--worker", "w", "--yes", "--unattended"];
        let said = said(&desk, &[&goal[..], &["--until", shape.test]].concat());
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert!(said.err.contains("verified after 4 steps"), "{name}: {}", said.err);
        assert!(desk.read(shape.fault).contains("1 + 1"), "{name}");
        let delivered = desk.gadfly(&["show", &desk.run_id(), "--diff"]).out;
        assert_eq!(
            delivered.matches("diff --git").count(),
            1,
            "{name}: nothing else is delivered: {delivered}"
        );
    }
}
