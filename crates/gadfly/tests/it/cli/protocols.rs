//! `gadfly run` under each of the protocols, from configuration to exit code.

use crate::cli::support::Project;

const RUBRIC: &str =
    "# Rubric\n\n| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n| Vague title | -5 |\n";

#[test]
fn score_computes_the_number_and_revises_below_the_mark() {
    let low = r#"{\"deductions\":[{\"row\":\"no-sample-size\",\"times\":1,\"quote\":\"Some text\",\"says\":\"no n\",\"fix\":\"state n\"}],\"score\":70}"#;
    let high = r#"{\"deductions\":[],\"score\":100}"#;
    let project = Project::scripted(&["Some text.", "Some text, n = 12."], &[low, high], "");
    project.write("rubric.md", RUBRIC);
    let said =
        project.gadfly(&["run", "Write it", "--protocol", "score", "--rubric", "rubric.md", "--out", "o.md"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("o.md"), "Some text, n = 12.");
}

#[test]
fn converge_takes_the_cap_of_its_set_and_names_the_sets() {
    let project = Project::scripted(&["x"], &["y"], "");
    let args = ["run", "Write it", "--protocol", "converge", "--dry-run"];
    let said = project.gadfly(&[&args[..], &["--criteria", "plan"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("7 rounds"), "{}", said.err);
    let said = project.gadfly(&[&args[..], &["--criteria", "plan", "--rounds", "2"]].concat());
    assert!(said.err.contains("2 rounds"), "{}", said.err);
    let said = project.gadfly(&args);
    assert!(said.code == 2 && said.err.contains("there are no criteria"), "{}", said.err);
    let said = project.gadfly(&[&args[..], &["--criteria", "pln"]].concat());
    assert!(said.code == 2 && said.err.contains("spec, plan, tasks"), "{}", said.err);
}

#[test]
fn audit_says_what_it_will_run_and_wants_trust_for_it() {
    let audit = "[loops.f]\nprotocol = \"audit\"\ntask = \"Add it\"\ncriteria = [\"it is there\"]\nverify = \"make test\"\n";
    let project = Project::scripted(&["x"], &["y"], audit);
    let said = project.gadfly(&["run", "f", "--dry-run"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("run make test to verify a worker's files"), "{}", said.err);
    let said = project.gadfly(&["run", "f", "--dry-run", "--trust"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("runs    make test") && said.err.contains("folder  a copy of"), "{}", said.err);
    assert!(said.err.contains("there is none to show yet"), "why there is no brief: {}", said.err);
    // Typed here, it needs no other word.
    let args = [
        "run",
        "Add it",
        "--protocol",
        "audit",
        "--criterion",
        "it is there",
        "--verify",
        "true",
        "--dry-run",
    ];
    assert_eq!(project.gadfly(&args).code, 0);
}

#[test]
fn flags_of_one_protocol_are_refused_by_another() {
    let project = Project::scripted(&["x"], &["y"], "");
    let said = project.gadfly(&["run", "Write it", "--criterion", "at most 10 words", "--verify", "true"]);
    assert_eq!(said.code, 2);
    assert!(
        said.err.contains("`--verify` belongs to protocol `audit`; this loop follows `revise`"),
        "{}",
        said.err
    );
    let said = project.gadfly(&["run", "T", "--protocol", "audit", "--criterion", "c", "--out", "x.md"]);
    assert!(said.code == 2 && said.err.contains("`--out` belongs to"), "{}", said.err);
}

#[test]
fn an_audit_cannot_be_begun_from_another_run_and_says_so() {
    let project = Project::scripted(&["Ten."], &["[STATUS: APPROVED]\\nGood."], "");
    assert_eq!(project.gadfly(&["run", "Write it", "--criterion", "at most 10 words"]).code, 0);
    let run = project.run_id();
    let said = project.gadfly(&["run", "T", "--from", &run, "--protocol", "audit", "--criterion", "c"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("under `audit`"), "{}", said.err);
}

/// A repository whose worker is a shell script that says nothing, with a critic that gives this reply.
fn with_a_script_for_a_worker(reply: &str) -> Project {
    let config = "[agents.hand]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat > brief.tmp; rm brief.tmp; echo hello >> hello.txt\"]\noutput = \"files\"\n";
    let project = Project::scripted(&[], &[], config);
    std::fs::remove_dir_all(project.path(".git")).unwrap();
    project.write("judge.toml", &format!("[[reply]]\ntext = '''{reply}'''\nrepeat = \"always\"\n"));
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "one"], &["branch", "taken"]] {
        let done = std::process::Command::new("git")
            .args(["-c", "user.name=A", "-c", "user.email=a@b.c"])
            .args(args)
            .current_dir(project.path(""))
            .env("HOME", project.dir().join("home"))
            .status();
        assert!(done.unwrap().success(), "git {args:?}");
    }
    project
}

const AUDIT: [&str; 9] =
    ["run", "Greet", "--protocol", "audit", "--criterion", "it greets", "--worker", "hand", "--trust"];
const GREETS: &str = r#"{"critic":"critic","task_id":"greet","round":1,"criteria":[{"id":"SC-1","claim":"it greets","verdict":"Satisfied","evidence":"hello.txt:1","missing_info":null}],"findings":[],"verdict":"passed"}"#;

#[test]
fn a_worker_that_edits_files_need_not_say_anything() {
    let project = with_a_script_for_a_worker(GREETS);
    let said = project.gadfly(&AUDIT);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("hello.txt"), "hello\n");
    // A worker whose work is its reply has to say it.
    let args = ["run", "Greet", "--criterion", "at most 3 words", "--worker", "mute", "--trust"];
    let mute = "[agents.mute]\nkind = \"command\"\ncommand = [\"true\"]\n";
    project.write("gadfly.toml", &format!("{}{mute}", project.read("gadfly.toml")));
    let said = project.gadfly(&args);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.contains("wrote nothing to standard output"), "{}", said.err);
}

#[test]
fn a_commit_that_cannot_be_made_is_refused_before_the_work_is_done() {
    let project = with_a_script_for_a_worker(GREETS);
    std::fs::write(project.dir().join("home/.gitconfig"), "[user]\nname = A\nemail = a@b.c\n").unwrap();
    let said = project.gadfly(&[&AUDIT[..], &["--branch", "taken"]].concat());
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("there is a branch `taken` already"), "{}", said.err);
    assert!(!project.path(".gadfly").exists(), "nothing was started");
    let said = project.gadfly(&[&AUDIT[..], &["--branch", "fresh"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    std::fs::remove_file(project.dir().join("home/.gitconfig")).unwrap();
    let said = project.gadfly(&[&AUDIT[..], &["--commit"]].concat());
    assert!(said.code == 2 && said.err.contains("git does not know who you are"), "{}", said.err);
}

#[test]
fn a_halted_audit_offers_no_way_on_that_there_is_not() {
    let project = with_a_script_for_a_worker(GREETS);
    let said = project.gadfly(&[&AUDIT[..], &["--verify", "false", "--rounds", "1"]].concat());
    assert_eq!(said.code, 4, "{}", said.err);
    let run = project.run_id();
    let shown = project.gadfly(&["show", &run]).out;
    assert!(
        shown.contains("its files are in ") && shown.contains("tree/work"),
        "what can be mended: {shown}"
    );
    assert_eq!(project.gadfly(&["answer", &run, "stuck"]).code, 0);
    let said = project.gadfly(&["resume", &run]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(!said.err.contains("run --from"), "`run --from` refuses an audit: {}", said.err);
}

#[test]
fn the_question_of_a_specification_is_named_and_a_skip_is_not_a_fix() {
    let first = "=== CRITIC 1 ===\n[CASES] Is every case covered? → 1 of 2 cases\n  Verdict: ESCALATE\n[ADVERSARIAL] Failure scenario: fire\n  → Realistic? N → 0 of 9 houses burn\n=== CRITIC ESCALATION (1) ===\n[CASES] What does an empty result show?\n\nIssue: nothing is said about no match\nWhy escalation: missing information\n\nOptions:\n  1. A sentence\n     Pro: simple  Con: dull\n  2. Nothing\n     Pro: short  Con: odd\n=== Result: ESCALATE (1 items) ===";
    let second = "=== CRITIC 2 ===\n[CASES] Is every case covered? → 2 of 2 cases\n  Verdict: PASS\n[ADVERSARIAL] Failure scenario: fire\n  → Realistic? N → 0 of 9 houses burn\n=== Result: CONVERGED (2 passes, 0 fixes, 1 escalations) ===";
    let spec = "[loops.spec]\nprotocol = \"converge\"\ntask = \"Write it\"\nout = \"spec.md\"\ncriteria = [{ name = \"CASES\", question = \"Is every case covered?\" }]\n";
    let project = Project::scripted(&["Search finds 20 pages."], &[], spec);
    let replies = [first, second].map(|reply| format!("[[reply]]\ntext = '''\n{reply}\n'''\n"));
    project.write("judge.toml", &replies.concat());
    let said = project.gadfly(&["run", "spec"]);
    assert_eq!(said.code, 4, "{}", said.err);
    assert!(said.err.contains("asked      [CASES] What does an empty result show?"), "{}", said.err);
    assert!(said.err.contains("    1. A sentence\n") && said.err.contains("    3. skip: "), "{}", said.err);
    let run = project.run_id();
    assert_eq!(project.gadfly(&["answer", &run, "skip"]).code, 0);
    let said = project.gadfly(&["resume", &run]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains("draft: 22 bytes, 1 line"), "the draft is known from before: {}", said.err);
    assert!(!said.err.contains("fixed:") && !said.err.contains("1 fixed"), "it was put off: {}", said.err);
    let later = project.gadfly(&["run", "spec", "--draft", "spec.md"]);
    assert!(later.err.contains("still deferred from an earlier run: CASES"), "{}", later.err);
}
