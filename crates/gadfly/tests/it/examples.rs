//! The examples do what their pages say: each is run by the real binary in a copy of its folder, and looked
//! at afterwards. `first-loop` and `embed` are run where the pages are tested.
#![allow(clippy::unwrap_used, clippy::panic)] // tests may fail loudly

mod research_paper;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gadfly_project::{Config, Root};
use tempfile::TempDir;

/// A copy of an example, with nothing of the person's own configuration.
struct Example {
    home: TempDir,
    dir: PathBuf,
}

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").canonicalize().unwrap()
}

/// What is on `PATH`, and first of all the cargo that runs these tests: found through a home, it would not be
/// found from an empty one.
fn search_path() -> OsString {
    let cargo = Path::new(env!("CARGO")).parent().unwrap().to_owned();
    let rest = std::env::var_os("PATH").unwrap();
    std::env::join_paths(std::iter::once(cargo).chain(std::env::split_paths(&rest))).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != ".gadfly" {
            copy(&path, &to.join(name));
        } else if path.is_file() {
            fs::copy(path, to.join(name)).unwrap();
        }
    }
}

impl Example {
    fn copied(name: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join(name);
        copy(&examples().join(name), &dir);
        Self { home, dir }
    }

    fn said(&self, program: impl AsRef<std::ffi::OsStr>, args: &[&str]) -> Said {
        let done = Command::new(program)
            .args(args)
            .current_dir(&self.dir)
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: done.status.code(), out: text(done.stdout), err: text(done.stderr) }
    }

    fn gadfly(&self, args: &[&str]) -> Said {
        self.said(env!("CARGO_BIN_EXE_gadfly"), args)
    }

    /// Runs it, and expects this exit code and these lines among what it says.
    fn expect(&self, args: &[&str], code: i32, lines: &[&str]) -> Said {
        let said = self.gadfly(args);
        assert_eq!(said.code, Some(code), "{args:?}: {}", said.err);
        for line in lines {
            assert!(said.err.contains(line), "{args:?} does not say `{line}`: {}", said.err);
        }
        said
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir.join(name)).unwrap()
    }

    fn newest_run(&self) -> String {
        let listed = self.gadfly(&["runs", "--json", "-n", "1"]).out;
        let run: serde_json::Value = serde_json::from_str(listed.trim()).unwrap();
        run["run"].as_str().unwrap().to_owned()
    }
}

#[test]
fn paper_section_replaces_the_file_on_approval() {
    let example = Example::copied("paper-section");
    let before = example.read("methods.md");
    let said = example.expect(
        &["run", "methods", "--trust"],
        0,
        &["your draft", "3. \"Recall was tested after 10 hours\"", "approved after 3 rounds"],
    );
    assert_eq!(said.out, "", "the draft went to its file");
    let after = example.read("methods.md");
    assert!(before.contains("appropriate statistics") && after.contains("Welch's t-test"), "{after}");
    assert!(after.contains("12 hours") && !after.contains("10 hours"), "{after}");
}

#[test]
fn scored_memo_adds_up_what_two_critics_deduct() {
    let example = Example::copied("scored-memo");
    let lines = [
        "score 90/100",
        "85 − 20 (Cost not stated) = 65",
        "the critic stated 75; the sum counts",
        "90 by methodologist (method), 65 by officer (policy): below 80",
        "100 by methodologist (method), 100 by officer (policy): at least 80",
        "approved after 2 rounds",
    ];
    example.expect(&["run", "memo", "--trust"], 0, &lines);
    assert!(example.read("memo.md").contains("20,800 euros a month"));
}

#[test]
fn specification_asks_what_only_a_person_knows_and_goes_on_from_the_answer() {
    let example = Example::copied("specification");
    let asked = ["How many wrong letters are forgiven?", "waiting for a person's answer"];
    example.expect(&["run", "search", "--unattended", "--trust"], 4, &asked);
    assert!(!example.dir.join("search.md").exists(), "nothing is approved yet");
    let run = example.newest_run();
    example.expect(&["answer", &run, "2"], 0, &["answered"]);
    example.expect(&["resume", &run], 0, &["✓ Critic converged (2 passes, 2 fixes, 1 escalations)"]);
    assert!(example.read("search.md").contains("Two wrong letters are forgiven in words of 6 letters"));
    let again = ["still deferred from an earlier run: INDEPENDENCE (the count of readers"];
    example.expect(&["run", "search", "--unattended", "--trust"], 4, &again);
}

#[test]
fn code_task_changes_the_checkout_when_tests_and_critic_agree() {
    let mut example = Example::copied("code-task");
    let started = example.said("sh", &["start.sh"]);
    assert_eq!(started.code, Some(0), "{}", started.err);
    example.dir = PathBuf::from(started.out.trim());
    assert!(example.dir.join(".git").is_dir());
    let before = example.read("src/duration.sh");

    let wanted = ["run sh agents/worker.sh", "run sh tests/duration.sh", "you have not agreed to this yet"];
    example.expect(&["run", "duration"], 2, &wanted);
    let lines = [
        "duration 0 gives '0 h 0 min 0 s', not '0 s'",
        "missing-test",
        "accepted into your checkout: 2 files",
        "approved after 3 rounds",
    ];
    let said = example.expect(&["run", "duration", "--trust"], 0, &lines);
    assert_eq!(said.err.matches("critic critic: working…").count(), 2, "none for the failing tests");
    let envelope: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((&envelope["task_id"], &envelope["verdict"]), (&"duration".into(), &"passed".into()));
    assert!(Path::new(envelope["report_path"].as_str().unwrap()).is_file(), "the report is where it says");
    assert_eq!(example.said("sh", &["tests/duration.sh"]).code, Some(0), "the tests hold in the checkout");
    let changed = example.said("git", &["status", "--short"]).out;
    assert_eq!(changed, " M src/duration.sh\n M tests/duration.sh\n");
    let shown = example.said("sh", &["-c", ". ./src/duration.sh; duration 3725; duration 0; duration 3600"]);
    assert_eq!(shown.out, "1 h 2 min 5 s\n0 s\n1 h\n");

    let run = example.newest_run();
    example.expect(&["undo", &run], 0, &[]);
    assert_eq!(example.read("src/duration.sh"), before);
    assert_eq!(example.said("git", &["status", "--short"]).out, "");
}

/// The worker is scripted; what it asks for is done, and `cargo test` is really run.
#[test]
fn goal_repair_is_reached_when_the_tests_pass_and_not_when_it_is_claimed() {
    let mut example = Example::copied("goal-repair");
    let started = example.said("sh", &["start.sh"]);
    assert_eq!(started.code, Some(0), "{}", started.err);
    example.dir = PathBuf::from(started.out.trim());
    let before = example.read("src/lib.rs");
    let tests = ["test", "--offline", "--quiet"];
    assert_eq!(example.said("cargo", &tests).code, Some(101), "they fail before");

    let wanted = ["run cargo test --offline --quiet", "you have not agreed to this yet"];
    example.expect(&["goal", "repair"], 2, &wanted);
    let lines = [
        "[1] run_command(command=cargo test --offline --quiet) → err: exit code 101",
        "critic:progressing steps 1–4",
        "→ told: Your last change was never looked at.",
        "verify:fail (1)",
        "a_number_needs_a_unit",
        "✓ verified: `cargo test --offline --quiet` exits with 0",
        "accepted into your checkout: 1 file",
        "verified after 13 steps",
    ];
    let said = example.expect(&["goal", "repair", "--trust"], 0, &lines);
    // The guide quotes this run. What cargo prints, and in which order, is its own affair.
    let guide = fs::read_to_string(examples().join("../docs/guide/goals.md")).unwrap();
    let begins = ["  [", "  critic:", "  claim:", "  → told:", "  ✓"];
    let is_quoted = |line: &&str| begins.iter().any(|b| line.starts_with(b)) && !line.contains("run_command");
    let quoted: Vec<&str> = said.err.lines().filter(is_quoted).collect();
    assert!(quoted.len() > 15, "{quoted:#?}");
    for line in quoted {
        assert!(guide.contains(line), "docs/guide/goals.md does not have `{line}`");
    }
    assert_eq!(example.said("cargo", &tests).code, Some(0), "the tests hold in the checkout");
    assert_eq!(example.said("git", &["status", "--short"]).out, " M src/lib.rs\n");

    let run = example.newest_run();
    example.expect(&["undo", &run], 0, &[]);
    assert_eq!(example.read("src/lib.rs"), before);
}

/// `# key = …   # in place of the line above` is a line that can be put there.
#[test]
fn a_real_agent_takes_one_changed_line() {
    for name in ["paper-section", "scored-memo", "specification", "code-task", "goal-repair"] {
        let example = Example::copied(name);
        let config = example.read("gadfly.toml");
        let lines: Vec<&str> = config.lines().collect();
        let at = lines.iter().position(|l| l.contains("# in place of the line above")).unwrap();
        let key = |line: &str| line.trim_start_matches("# ").split(" =").next().unwrap().to_owned();
        assert_eq!(key(lines[at]), key(lines[at - 1]), "{name}: it changes the line above");
        let mut changed = lines.clone();
        changed[at] = lines[at].trim_start_matches("# ");
        changed.remove(at - 1);
        example.expect(&["check"], 0, &["no problems"]);
        fs::write(example.dir.join("gadfly.toml"), changed.join("\n")).unwrap();
        // Whether such an agent is installed here is another question.
        let (_, found) = Config::load(&Root::at(&example.dir), None);
        assert!(found.is_empty(), "{name}: {found:?}");
    }
}

#[test]
fn every_example_is_in_the_list() {
    let list = fs::read_to_string(examples().join("README.md")).unwrap();
    for entry in fs::read_dir(examples()).unwrap().map(Result::unwrap).filter(|e| e.path().is_dir()) {
        let name = entry.file_name().into_string().unwrap();
        assert!(list.contains(&format!("[{name}]({name})")), "examples/README.md does not name {name}");
    }
}
