//! Data that git ignores, through the real binary: it is made, judged, recorded and delivered, and what is needed can be read.

use crate::pipeline::desk::{Answer, Desk};
use crate::pipeline::stage::{gives, judges, pipeline, project, statement, writes};

/// An engineer cleans data, a coder uses it.
const DATA: &str = "\
## engineer
- REQUIRES: `data/raw/`
- PRODUCES: `data/cleaned/`
- CRITIC: engineer-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 50%

## coder
- REQUIRES: `data/cleaned/` AND engineer-critic score >= 80
- PRODUCES: `out/code.py`
- CRITIC: coder-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 50%
";

const TIDY: &str = "id,y\n1,2.0\n";

/// The project, with these rules of git's and raw data that is in no commit.
fn desk(rules: &str) -> Desk {
    let desk = project(DATA);
    desk.write(".gitignore", &format!(".gadfly/\n{rules}"));
    desk.commit("rules");
    desk.write("data/raw/survey.csv", "id;y\n1;2\n");
    desk
}

/// The parts of these are scripted.
fn plays(desk: &Desk, parts: &[&str]) {
    for part in parts {
        match *part {
            "engineer" => writes(desk, part, "data/cleaned/panel.csv", &[TIDY]),
            "coder" => writes(desk, part, "out/code.py", &["print(1)\n"]),
            critic => judges(desk, critic, &[90]),
        }
    }
}

/// A critic that passes only what it can read, and what it was made from.
fn reads_both() -> String {
    let says = gives(90);
    format!("grep -q 1 data/raw/survey.csv && grep -q 1 data/cleaned/panel.csv && echo '{says}' || ls -R")
}

const ALL: [&str; 4] = ["engineer", "engineer-critic", "coder", "coder-critic"];

#[test]
fn what_is_made_where_git_ignores_it_is_judged_recorded_delivered_and_taken_back() {
    // Whole folders, what is in a folder, and only data: git has many ways to say it.
    for rules in ["data/\n", "/data/cleaned/*\n/data/raw/\n", "*.csv\n"] {
        let desk = desk(rules);
        plays(&desk, &ALL);
        let said = pipeline(&desk, &[]);
        assert_eq!(said.code, 0, "{rules:?}: {}", said.err);
        assert_eq!(desk.read("data/cleaned/panel.csv"), TIDY);
        assert!(said.err.contains("git ignores what agents make in data/cleaned"), "{rules:?}: {}", said.err);
        assert!(desk.git(&["status", "--porcelain", "data"]).is_empty(), "git goes on to ignore it");
        let recorded = statement(&desk, "engineer").to_string();
        assert!(recorded.contains("data/cleaned/panel.csv"), "{recorded}");
        assert_eq!(desk.gadfly(&["gate", "commit"]).code, 0);
        desk.write("data/cleaned/panel.csv", "id,y\n1,3.0\n");
        let gate = desk.gadfly(&["gate", "commit"]);
        assert_ne!(gate.code, 0, "the verdict is about other bytes: {}{}", gate.out, gate.err);
        desk.write("data/cleaned/panel.csv", TIDY);
        assert_eq!(desk.gadfly(&["undo", &desk.run_id()]).code, 0);
        assert!(!desk.path("data/cleaned/panel.csv").exists() && desk.path("data/raw/survey.csv").exists());
    }
}

#[test]
fn a_second_pipeline_works_on_the_data_that_is_there_and_no_diff_or_commit_has_it() {
    let desk = desk("data/\n");
    plays(&desk, &ALL);
    assert_eq!(pipeline(&desk, &["--branch", "first"]).code, 0);
    let changed = desk.git(&["diff", "--name-only", "HEAD", "first"]);
    assert!(changed.contains("out/code.py") && !changed.contains("data/"), "{changed}");
    let said = desk.gadfly(&["show", &desk.run_id(), "--diff"]);
    assert!(!said.out.contains("+1,2.0"), "{}", said.out);
    // Another coder reads what the engineer made, in its own folder.
    desk.write("permissions.md", &DATA.replace("out/code.py", "out/sum.py").replace("## coder", "## reader"));
    desk.program("reader", "mkdir -p out; cat data/cleaned/panel.csv > out/sum.py; echo done");
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("out/sum.py"), TIDY);
}

#[test]
fn what_is_needed_can_be_read_by_workers_and_critics_and_not_be_written() {
    // Of the folder git keeps a file: a link can stand in the place of the rest only.
    let desk = desk("data/*\n!data/raw/\ndata/raw/*\n!data/raw/.gitkeep\n!data/raw/README.md\n");
    desk.write("data/raw/README.md", "What the columns mean.\n");
    desk.commit("what is in it");
    plays(&desk, &["coder", "coder-critic"]);
    desk.program(
        "engineer",
        "mkdir -p data/cleaned; cat data/raw/README.md data/raw/survey.csv > data/cleaned/panel.csv; \
         echo x > data/raw/survey.csv; echo done",
    );
    desk.program("engineer-critic", &reads_both());
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("to be read: data/raw/survey.csv"), "{}", said.err);
    assert_eq!(desk.read("data/cleaned/panel.csv"), "What the columns mean.\nid;y\n1;2\n");
    assert_eq!(desk.read("data/raw/survey.csv"), "id;y\n1;2\n", "raw data stays as it is");
}

#[test]
fn a_link_over_what_agents_make_goes_around_it_and_build_output_is_no_work() {
    let desk = desk("data/\n*.log\n");
    plays(&desk, &["engineer", "coder-critic"]);
    desk.program("engineer-critic", &reads_both());
    desk.configure("[workspace]\nlink = [\"data\"]\n");
    desk.write("permissions.md", &DATA.replace("`out/code.py`", "`out/`"));
    desk.scripted(
        "coder",
        &[Answer {
            text: "Written.",
            files: &[("out/code.py", "print(1)\n"), ("out/code.log", "compiled\n")],
            ..Answer::default()
        }],
    );
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("data/cleaned/panel.csv"), TIDY);
    assert!(desk.path("out/code.py").exists() && !desk.path("out/code.log").exists());
}

#[test]
fn the_gate_of_the_commit_hook_sees_data_that_no_commit_holds() {
    let desk = desk("data/\n");
    plays(&desk, &ALL);
    assert_eq!(pipeline(&desk, &[]).code, 0);
    desk.git(&["add", "-A"]);
    let gate = desk.gadfly(&["gate", "commit", "--staged"]);
    assert_eq!(gate.code, 0, "{}{}", gate.out, gate.err);
    desk.write("data/cleaned/panel.csv", "id,y\n");
    let gate = desk.gadfly(&["gate", "commit", "--staged"]);
    assert_ne!(gate.code, 0, "{}{}", gate.out, gate.err);
}

#[test]
fn what_is_too_large_is_named_and_not_delivered() {
    let desk = desk("data/\n");
    plays(&desk, &["engineer-critic", "coder", "coder-critic"]);
    desk.program(
        "engineer",
        "mkdir -p data/cleaned; printf 'id\\n1\\n' > data/cleaned/a.csv; truncate -s 40M data/cleaned/b.dta; echo done",
    );
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.contains("too large or too many") && said.err.contains("data/cleaned/b.dta"),
        "{}",
        said.err
    );
    assert!(desk.path("data/cleaned/a.csv").exists() && !desk.path("data/cleaned/b.dta").exists());
}
