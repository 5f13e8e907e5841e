//! The example of a pipeline: from an idea to the submission gate, through the real binary. The agents are scripted;
//! the commands that check tables and text are really run, and scores come from deductions. Where somebody cheats, or
//! the process is killed, the end must show it, or show nothing of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use super::*;

const REQUEST: &str = "What does a reminder do to late returns?";
const PIPELINE: [&str; 7] =
    ["pipeline", REQUEST, "--gate", "submission", "--yes", "--assume-manual", "--trust"];

/// What agents made: no run is named in it, and no time.
const MADE: [&str; 5] =
    ["paper", "scripts", "quality_reports/reviews", "quality_reports/literature", "quality_reports/strategy"];

fn as_shipped() -> Example {
    let mut example = Example::copied("research-paper");
    let begun = example.said("sh", &["start.sh"]);
    assert_eq!(begun.code, Some(0), "{}", begun.err);
    example.dir = PathBuf::from(begun.out.trim());
    example
}

/// With the agents in the user's own configuration, as real ones would be: what a project scripts counts in no receipt.
fn started() -> Example {
    let example = as_shipped();
    let config = example.read("gadfly.toml");
    let (agents, rest): (Vec<&str>, Vec<&str>) =
        config.split("\n\n").partition(|block| block.trim_start().starts_with("[agents."));
    let actors = format!("\"{}/actors/", example.dir.display());
    let own = example.own();
    fs::create_dir_all(Path::new(&own).parent().unwrap()).unwrap();
    fs::write(&own, agents.join("\n\n").replace("\"actors/", &actors)).unwrap();
    fs::write(example.dir.join("gadfly.toml"), rest.join("\n\n") + "\n").unwrap();
    for args in [
        &["add", "gadfly.toml"][..],
        &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "agents"],
    ] {
        assert_eq!(example.said("git", args).code, Some(0));
    }
    example
}

impl Example {
    /// The user's own configuration.
    fn own(&self) -> String {
        self.home.path().join(".config/gadfly/gadfly.toml").display().to_string()
    }

    fn change(&self, file: &str, from: &str, to: &str) {
        let text = self.read(file);
        assert!(text.contains(from), "{file} does not have `{from}`");
        fs::write(self.dir.join(file), text.replace(from, to)).unwrap();
    }

    fn state(&self) -> Value {
        serde_json::from_str(&self.read("quality_reports/pipeline_state.json")).unwrap()
    }

    /// Every agent that is through, with its score and its rounds.
    fn completed(&self) -> BTreeMap<String, (Option<u64>, u64)> {
        let state = self.state();
        let done = state["agents_completed"].as_array().unwrap().iter();
        let row = |row: &Value| {
            let agent = row["agent"].as_str().unwrap().to_owned();
            (agent, (row["score"].as_u64(), row["rounds"].as_u64().unwrap()))
        };
        done.map(row).collect()
    }

    /// Every file below a folder, with what is in it.
    fn files(&self, folder: &str) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.dir.join(folder)];
        while let Some(dir) = folders.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().map(Result::unwrap) {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    found.insert(path.strip_prefix(&self.dir).unwrap().to_owned(), text);
                }
            }
        }
        found
    }

    fn made(&self) -> BTreeMap<PathBuf, String> {
        MADE.iter().flat_map(|folder| self.files(folder)).collect()
    }

    /// What the journal has of the newest run.
    fn events(&self) -> Vec<Value> {
        let run = self.newest_run();
        let shown = self.gadfly(&["follow", &run, "--json"]).out;
        shown.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Every answer that was taken, every command that was run and every delivery: where, and which.
    fn actions(&self) -> Vec<String> {
        let events = self.events();
        let told = ["draft_made", "reviewed", "verify_ran", "accepted"];
        let done = events.iter().filter(|event| told.iter().any(|name| event["event"] == *name));
        let mut actions: Vec<String> = done.map(|e| format!("{} {}", e["node"], e["event"])).collect();
        actions.sort();
        actions
    }

    /// The calls that were charged, by effect.
    fn charged(&self) -> Vec<String> {
        let events = self.events();
        let charged = events.iter().filter(|event| event["event"] == "charged");
        charged.map(|event| event["data"]["effect"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs this and kills it as soon as it has said such a line. False if it was over before.
    fn killed_at(&self, args: &[&str], says: fn(&str) -> bool) -> bool {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gadfly"))
            .args(args)
            .arg("--json")
            .current_dir(&self.dir)
            .env_clear()
            .env("PATH", search_path())
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let reached = lines.any(|line| says(&line.unwrap()));
        // SIGKILL on this platform: nothing is tidied up.
        child.kill().unwrap();
        child.wait().unwrap();
        reached
    }
}

#[test]
fn from_an_idea_to_the_submission_gate() {
    let example = started();
    let wanted = ["run sh checks/tables.sh", "you have not agreed to this yet"];
    example.expect(&PIPELINE[..6], 2, &wanted);
    example.expect(&["gate", "submission"], 3, &[]);
    let checked = example.expect(&["check"], 0, &["0 errors"]).out;
    assert!(checked.contains("30 of 31 conditions machine-checked"), "{checked}");
    // Folders that hold a `.gitkeep` are as good as none.
    let why = example.gadfly(&["why", "writer"]);
    assert_eq!(why.code, Some(3), "{}", why.out);
    assert!(why.out.contains("✗ `paper/tables/` contains `.tex` files"), "{}", why.out);

    let said = example.expect(&PIPELINE, 0, &["93.95", "96.73"]);
    assert_eq!(said.err.matches("Cannot dispatch [verifier]: overall score is 93.95, needs 95").count(), 1);
    let scores = example.completed();
    let expected = [
        ("coder", (Some(97), 3)),
        ("domain-referee", (Some(97), 1)),
        ("editor", (None, 1)),
        ("explorer", (Some(98), 1)),
        ("librarian", (Some(97), 1)),
        ("methods-referee", (Some(96), 1)),
        ("strategist", (Some(95), 1)),
        ("verifier", (Some(100), 1)),
        ("writer", (Some(98), 1)),
    ];
    assert_eq!(scores, expected.map(|(agent, row)| (agent.to_owned(), row)).into());
    assert_eq!(example.state()["overall_score"], 96.73);

    // The critics were content with a number that a command found to be typed.
    let red =
        example.events().iter().filter(|e| e["event"] == "verify_ran" && e["data"]["green"] == false).count();
    assert_eq!(red, 1, "one verification was red");
    assert!(example.read("paper/tables/robustness.tex").contains("-3.00"), "and was mended");
    for check in ["checks/tables.sh", "checks/claims.sh"] {
        assert_eq!(example.said("sh", &[check]).code, Some(0), "{check} is green in the checkout");
    }

    // Every file that others read is left behind.
    let journal = example.read("quality_reports/research_journal.md");
    assert!(journal.contains("— coder-critic\n") && journal.contains("**Score:** 75/100"), "{journal}");
    assert!(example.read("SESSION_REPORT.md").contains("overall 96.73/100"));
    let (traces, plans) = (example.files("quality_reports/traces"), example.files("quality_reports/plans"));
    let trace = traces.values().next().unwrap();
    assert!(trace.contains("graph LR") && trace.contains("| writer (2) | writer-critic |"), "{trace}");
    assert!(trace.contains("- [HIGH-PERF] strategist scored 95"), "{trace}");
    assert!(plans.values().next().unwrap().contains("COMPLETED"));
    assert_eq!(example.files("quality_reports/receipts").len(), 8, "one for each verdict that counts");
    let untouched = example.said("git", &["diff", "--stat"]).out;
    assert_eq!(untouched, "", "what was there before is as it was");

    for gate in ["commit", "pr"] {
        example.expect(&["gate", gate, "--strict"], 0, &[]);
    }
    // The pages quote this run.
    let gate = example.expect(&["gate", "submission", "--strict"], 0, &[]).out;
    // Each run has a name of its own.
    quoted("docs/guide/gates.md", gate.replace(&example.newest_run(), "n3pttg6ar7").lines());
    let found = said.err.lines().filter(|line| line.starts_with("  [coder]     │"));
    quoted("README.md", found.clone());
    assert_eq!(found.count(), 5, "what the command printed is shown");
    a_changed_number_costs_the_scores_that_stood_on_it(&example);
    receipts_do_where_there_is_no_journal(&example);
    let run = example.newest_run();
    example.expect(&["undo", &run], 0, &[]);
    assert!(
        !example.dir.join("paper/main.tex").exists() && !example.dir.join("scripts/analysis.sh").exists()
    );
    example.expect(&["gate", "submission"], 3, &[]);
}

fn quoted<'a>(page: &str, lines: impl Iterator<Item = &'a str>) {
    let text = fs::read_to_string(examples().join("..").join(page)).unwrap();
    for line in lines {
        assert!(text.contains(line), "{page} does not have `{line}`");
    }
}

fn a_changed_number_costs_the_scores_that_stood_on_it(example: &Example) {
    example.change("paper/tables/main.tex", "1.32", "1.23");
    assert_eq!(example.said("sh", &["checks/tables.sh"]).code, Some(1), "the command sees it");
    let closed = example.gadfly(&["gate", "submission"]);
    assert_eq!(closed.code, Some(3), "{}{}", closed.out, closed.err);
    assert!(
        closed.out.contains("coder: paper/tables/main.tex changed since it was judged"),
        "{}",
        closed.out
    );
    let why = example.gadfly(&["why", "coder"]).out;
    assert!(why.contains("paper/tables/main.tex changed"), "it names the file: {why}");
    example.change("paper/tables/main.tex", "1.23", "1.32");
    example.expect(&["gate", "submission"], 0, &[]);
}

fn receipts_do_where_there_is_no_journal(example: &Example) {
    let (here, away) = (example.dir.join(".gadfly"), example.dir.join("journal-elsewhere"));
    fs::rename(&here, &away).unwrap();
    example.expect(&["gate", "submission"], 0, &["receipts"]);
    assert_eq!(
        example.gadfly(&["gate", "submission", "--strict"]).code,
        Some(3),
        "they are not enough for this"
    );
    if here.exists() {
        fs::remove_dir_all(&here).unwrap();
    }
    fs::rename(&away, &here).unwrap();
}

#[test]
fn a_typed_number_blocks_the_pair_although_both_critics_pass_it() {
    let example = started();
    example.change("actors/coder.toml", "each group & -3.00", "each group & -3.01");
    let config = example.read("gadfly.toml");
    fs::write(example.dir.join("gadfly.toml"), format!("[pipeline]\nfixes = 1\noverall = 1\n\n{config}"))
        .unwrap();
    let red = ["verification failed: `sh checks/tables.sh`", "paper/tables/robustness.tex is not what"];
    example.expect(&PIPELINE, 3, &red);
    assert!(!example.dir.join("paper/tables/main.tex").exists(), "nothing of it is delivered");
    assert!(!example.completed().contains_key("coder"));
}

#[test]
fn a_lazy_writer_does_not_open_the_gate() {
    let example = started();
    example.change(&example.own(), "actors/writer.toml", "actors/lazy-writer.toml");
    let config = example.read("gadfly.toml");
    fs::write(example.dir.join("gadfly.toml"), format!("[pipeline]\noverall = 1\n\n{config}")).unwrap();
    let incomplete = "Agent [writer] completed but output is incomplete: missing \
                      quality_reports/claim_source_map_library-reminders.md";
    let said = example.expect(&PIPELINE, 3, &[incomplete]);
    assert!(!said.err.contains("writer-critic: working"), "nobody was paid to judge it");
    assert!(!example.dir.join("paper/main.tex").exists(), "and it was not delivered");
    example.expect(&["gate", "submission"], 3, &[]);
}

#[test]
fn replies_that_a_project_scripts_open_no_strict_gate_and_leave_no_receipt() {
    let example = as_shipped();
    example.expect(&PIPELINE, 0, &["96.73"]);
    example.expect(&["gate", "submission"], 0, &[]);
    assert!(example.files("quality_reports/receipts").is_empty());
    let closed = example.gadfly(&["gate", "submission", "--strict"]);
    assert_eq!(closed.code, Some(3), "{}{}", closed.out, closed.err);
}

/// `kill -9` at five moments of one pipeline, each time `resume`: the same files, the same scores, no answer paid for
/// twice.
#[test]
fn killed_five_times_it_comes_to_the_same_end() {
    type Moment = (&'static str, fn(&str) -> bool);
    const MOMENTS: [Moment; 5] = [
        ("a dispatch", |line| line.contains("\"dispatched\"") && line.contains("librarian")),
        ("a rejection", |line| line.contains("\"reviewed\"") && line.contains("run/coder")),
        ("a red command", |line| line.contains("\"verify_ran\"") && line.contains("\"green\":false")),
        ("a delivery", |line| line.contains("\"accepted\"") && line.contains("paper/main.tex")),
        ("the second round", |line| line.contains("\"overall_round\"") && line.contains("\"writer\"")),
    ];
    let undisturbed = started();
    undisturbed.expect(&PIPELINE, 0, &[]);
    let (files, scores, paid) = (undisturbed.made(), undisturbed.completed(), undisturbed.charged());
    assert_eq!((files.len(), paid.len()), (18, 29));

    let example = started();
    for (nth, (moment, says)) in MOMENTS.into_iter().enumerate() {
        let run = if nth == 0 { String::new() } else { example.newest_run() };
        let args: &[&str] = if nth == 0 { &PIPELINE } else { &["resume", &run, "--unattended"] };
        assert!(example.killed_at(args, says), "{moment}: it was over before");
    }
    let run = example.newest_run();
    let said = example.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(example.made(), files);
    assert_eq!(example.completed(), scores);
    assert_eq!(example.actions(), undisturbed.actions(), "nothing was done twice");
    // A call that was under way is lost with the process, and charged as such: two critics at most, each time.
    let again = example.charged();
    let once: BTreeSet<&String> = again.iter().collect();
    assert_eq!(again.len(), once.len(), "{again:#?}");
    assert!(again.len() <= paid.len() + 2 * MOMENTS.len(), "{again:#?}");
    example.expect(&["gate", "submission", "--strict"], 0, &[]);
}
