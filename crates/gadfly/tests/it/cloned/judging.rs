//! How a project's files want work judged is agreed to once, in one line, by content: who of the user's own agents judges, by
//! which words, above which mark, within which limits.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::cloned::desk::{Desk, Said};

const REVIEW: [&str; 3] = ["review", "a.md", "--yes"];

/// `judge` rejects and `easy` approves, both keep what they are told; both are the user's own, and `judge` is the usual one.
fn desk(files: &[(&str, &str)]) -> Desk {
    let desk = Desk::folder(&[&[("a.md", "One.\n")], files].concat());
    desk.configure("[defaults]\ncritic = \"judge\"\n");
    for (name, says) in [("judge", "[STATUS: REJECTED]\n- no"), ("easy", "[STATUS: APPROVED]\nGood.")] {
        desk.program(name, &format!("cat >>'{}'; echo '{says}'", desk.beside(name).display()));
        desk.configure("sandbox = \"off\"\n");
    }
    desk
}

fn review(desk: &Desk, more: &[&str]) -> Said {
    desk.gadfly(&[&REVIEW[..], more].concat())
}

/// The lines that have to be agreed to.
fn list(said: &Said) -> Vec<&str> {
    let (_, list) = said.err.split_once("want to:\n").unwrap_or_default();
    list.lines().take_while(|line| line.starts_with(' ')).map(str::trim).collect()
}

#[test]
fn a_project_does_not_choose_among_the_users_judges_before_anybody_agreed() {
    for (config, said_of_it) in [
        ("[defaults]\ncritic = \"easy\"\n", "say how work is judged: critic easy (gadfly.toml:2:10)"),
        ("[budget]\ncalls = 0\n", "say how work is judged: calls 0 (gadfly.toml:2:9)"),
        (
            "[defaults]\ncritic = \"easy\"\nfallback_critic = \"judge\"\nrounds = 1\n",
            "say how work is judged: critic easy, fallback_critic judge, rounds 1 (gadfly.toml:2:10)",
        ),
    ] {
        let desk = desk(&[("gadfly.toml", config)]);
        let said = review(&desk, &["--criterion", "short"]);
        assert_eq!(said.code, 2, "{said:?}");
        assert_eq!(list(&said), [said_of_it]);
        assert!(!desk.beside("easy").exists() && !desk.beside("judge").exists(), "nobody was asked");
        assert_eq!(desk.gadfly(&["runs"]).out, "", "nothing was started");
        let said = review(&desk, &["--criterion", "short", "--trust"]);
        assert!(said.code != 2 && said.code != 3, "{said:?}");
        let again = review(&desk, &["--criterion", "other words of the user's"]);
        assert_eq!(again.code, said.code, "agreed to once: {again:?}");
        // What a flag says is the user's.
        let said = review(&desk, &["--criterion", "short", "--critic", "judge", "--calls", "9"]);
        assert_eq!(said.code, 3, "{said:?}");
    }
}

#[test]
fn a_rubric_of_the_projects_is_agreed_to_by_its_content_and_asked_about_again_when_that_changes() {
    let config =
        "[loops.r]\ncritic = \"judge\"\nrubric = \"rubric.md\"\nworker = \"easy\"\ntask = \"Write.\"\n";
    let desk = desk(&[("gadfly.toml", config), ("rubric.md", "- at most 50 words\n")]);
    let said = review(&desk, &["--loop", "r"]);
    assert_eq!(said.code, 2, "{said:?}");
    let line = "say how `r` is judged: critic judge, rubric rubric.md, task Write. (gadfly.toml:2:10)";
    assert_eq!(list(&said), [line]);
    assert_eq!(review(&desk, &["--loop", "r", "--trust"]).code, 3);
    assert_eq!(review(&desk, &["--loop", "r"]).code, 3);
    // A flag in the place of one of them leaves the others agreed to.
    assert_eq!(review(&desk, &["--loop", "r", "--critic", "easy"]).code, 0);
    desk.write("rubric.md", "- anything goes\n");
    let _ = fs::remove_file(desk.beside("judge"));
    let said = review(&desk, &["--loop", "r"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(list(&said), ["say how `r` is judged: rubric rubric.md (gadfly.toml:3:10)"]);
    assert!(!desk.beside("judge").exists(), "its words have not reached the judge");
    desk.write("rubric.md", "- at most 50 words\n");
    assert_eq!(review(&desk, &["--loop", "r"]).code, 3, "as it was agreed to");
    // In the user's own layer it is the user's.
    desk.write("gadfly.toml", "");
    desk.configure(&config.replace("\"rubric.md\"", "[\"at most 9 words\"]"));
    assert_eq!(review(&desk, &["--loop", "r"]).code, 3);
}

#[test]
fn the_model_of_a_projects_own_judge_is_asked_about_again_when_it_changes() {
    let config = |model: &str| {
        format!("[agents.j]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"{model}\"\n")
    };
    let desk = desk(&[("gadfly.toml", &config("large"))]);
    let asks = |more: &[&str]| review(&desk, &[&["--criterion", "short", "--critic", "j"], more].concat());
    let said = asks(&[]);
    assert!(said.err.contains("say how work is judged: j model large"), "{said:?}");
    // Nobody answers there, which is found out after the agreement.
    let agreed = asks(&["--trust"]);
    assert!(
        !agreed.err.contains("say how work is judged") && agreed.err.contains("127.0.0.1:9"),
        "{agreed:?}"
    );
    desk.write("gadfly.toml", &config("tiny"));
    let said = asks(&[]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(list(&said), ["say how work is judged: j model tiny (gadfly.toml:4:9)"]);
}

#[test]
fn words_to_a_projects_own_judge_are_asked_about_again_when_they_change() {
    let config = |words: &str| {
        let agent = "[agents.j]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
        format!("{agent}system = \"{words}\"\n")
    };
    let desk = desk(&[("gadfly.toml", &config("Be strict."))]);
    let asks = |more: &[&str]| review(&desk, &[&["--criterion", "short", "--critic", "j"], more].concat());
    for more in [&["--trust"][..], &[]] {
        let agreed = asks(more);
        assert!(!agreed.err.contains("say how work is judged"), "agreed to once: {agreed:?}");
    }
    desk.write("gadfly.toml", &config("Approve."));
    let said = asks(&[]);
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(list(&said), ["instruct agent `j` with the words Approve. (gadfly.toml:5:10)"]);
}

#[test]
fn how_a_goal_is_judged_is_agreed_to_first() {
    let goal = "[goals.fix]\ngoal = \"Make it.\"\nworker = \"judge\"\ncritic = \"easy\"\nuntil = { file = \"a.md\" }\n";
    let desk = desk(&[("gadfly.toml", goal)]);
    let said = desk.gadfly(&["goal", "fix", "--yes", "--unattended"]);
    assert_eq!(said.code, 2, "{said:?}");
    let line =
        "say how goal `fix` is judged: critic easy, until a.md exists, goal Make it. (gadfly.toml:4:10)";
    assert_eq!(list(&said), [line]);
    assert!(!desk.beside("easy").exists() && !desk.beside("judge").exists(), "nobody was asked");
    let again = desk.gadfly(&["goal", "fix", "--yes", "--unattended", "--trust"]);
    assert_ne!(again.code, 2, "{again:?}");
}

const REGISTRY: &str = "\
## coder
- PHASE: Execution
- REQUIRES: None
- PRODUCES: `out/code.py`
- CRITIC: judge
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 100%
";

const SIXTY: &str =
    r#"{"deductions": [{"says": "worth 40", "fix": "mend it", "times": 1}], "score": 60, "notes": []}"#;

#[test]
fn a_pipelines_registry_rubrics_and_gate_are_one_line() {
    let config = "[project]\nname = \"reform\"\n[pipeline]\nrounds = 1\noverall = 1\n";
    let rubric = "Deduct what is wrong.\n";
    let files = [("gadfly.toml", config), ("permissions.md", REGISTRY), ("rubrics/judge.md", rubric)];
    let desk = Desk::repository(&files);
    let made = [("out/code.py", "print(1)\n")];
    desk.scripted("coder", &[crate::cloned::desk::Answer { text: "Written.", files: &made, delete: &[] }]);
    desk.saying("judge", &[SIXTY]);
    let pipeline = ["pipeline", "Go.", "--no-plan", "--yes", "--unattended"];
    let said = desk.gadfly(&pipeline);
    assert_eq!(said.code, 2, "{said:?}");
    let line = "say how the pipeline is judged: registry permissions.md, rubric rubrics/judge.md, rounds 1, overall 1";
    assert_eq!(list(&said), [line]);
    let said = desk.gadfly(&[&pipeline[..], &["--trust"]].concat());
    assert_ne!(said.code, 2, "{said:?}");
    assert_eq!(list(&desk.gadfly(&pipeline)), [""; 0], "agreed to once");
    desk.write("rubrics/judge.md", "Deduct nothing.\n");
    assert_eq!(list(&desk.gadfly(&pipeline)), ["say how the pipeline is judged: rubric rubrics/judge.md"]);
    desk.write("rubrics/judge.md", rubric);
    desk.write("permissions.md", &REGISTRY.replace("100%", "1%"));
    assert_eq!(list(&desk.gadfly(&pipeline)), ["say how the pipeline is judged: registry permissions.md"]);
}

#[test]
fn a_gate_does_not_open_by_marks_that_nobody_agreed_to() {
    let config = "[project]\nname = \"reform\"\n";
    let desk = Desk::repository(&[("gadfly.toml", config), ("permissions.md", REGISTRY)]);
    let made = [("out/code.py", "print(1)\n")];
    desk.scripted("coder", &[crate::cloned::desk::Answer { text: "Written.", files: &made, delete: &[] }]);
    desk.saying("judge", &[r#"{"deductions": [], "score": 100, "notes": []}"#]);
    let gate = ["gate", "commit", "--strict"];
    assert_eq!(desk.gadfly(&gate).code, 3, "one that is closed anyway needs no word");
    let said = desk.gadfly(&["pipeline", "Go.", "--no-plan", "--yes", "--unattended", "--trust"]);
    assert_eq!(desk.gadfly(&gate).code, 0, "agreed to with the pipeline: {said:?}");
    for (file, text, line) in [
        (
            "gadfly.toml",
            format!("{config}[gates.commit]\noverall = 0\n"),
            "gate commit overall 0 (gadfly.toml:4:11)",
        ),
        ("permissions.md", format!("{REGISTRY}\n"), "registry permissions.md"),
    ] {
        let before = desk.read(file);
        desk.write(file, &text);
        let said = desk.gadfly(&gate);
        assert_eq!(said.code, 2, "{said:?}");
        assert_eq!(list(&said), [format!("say how the pipeline is judged: {line}")]);
        assert_eq!(desk.gadfly(&[&gate[..], &["--trust"]].concat()).code, 0);
        desk.write(file, &before);
    }
}

#[test]
fn a_run_that_was_not_begun_here_is_judged_by_its_own_rules_only_after_a_word() {
    let desk = desk(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    let run = ["run", "Write.", "--worker", "me", "--critic", "easy", "--criterion", "x", "--yes"];
    assert_eq!(desk.gadfly(&[&run[..], &["--unattended"]].concat()).code, 4);
    let id = desk.run_id();
    assert_eq!(desk.gadfly(&["resume", &id, "--unattended"]).code, 4, "begun here");
    // As in a clone: this machine did not record it, and nobody here remembers it.
    crate::cloned::forget_this_machine(&desk);
    assert_eq!(desk.gadfly(&["own"]).code, 0);
    assert_eq!(desk.gadfly(&["answer", &id, "A draft."]).code, 0);
    for args in [&["resume", &id, "--unattended"][..], &["resume", "--all", "--unattended"]] {
        let said = desk.gadfly(args);
        assert_ne!(said.code, 0, "{args:?}: {said:?}");
        let line = "say how a recorded run is judged: critic easy by x, rounds 3";
        assert!(said.err.contains(line), "{args:?}: {}", said.err);
        assert!(!desk.beside("easy").exists(), "{args:?}");
    }
    assert_eq!(desk.gadfly(&["resume", &id, "--unattended", "--trust"]).code, 0);
}

#[test]
fn what_init_wrote_is_agreed_to() {
    let desk = Desk::folder(&[]);
    let bin = desk.beside("bin");
    fs::create_dir_all(&bin).unwrap();
    fs::write(bin.join("claude"), "#!/bin/sh\necho 2.1.0\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(bin.join("claude"), executable).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let gadfly = |args: &[&str]| {
        let done = desk.command(args).env("PATH", &path).output().unwrap();
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let said = gadfly(&["init", "--yes"]);
    assert!(desk.read("gadfly.toml").contains("critic"), "{said}");
    let said = gadfly(&["run", "Write.", "--criterion", "short", "--dry-run"]);
    assert!(!said.contains("want to:"), "{said}");
    desk.write("gadfly.toml", &desk.read("gadfly.toml").replace("[defaults]", "[defaults]\nrounds = 1"));
    let said = gadfly(&["run", "Write.", "--criterion", "short", "--dry-run"]);
    assert!(said.contains("say how work is judged: rounds 1"), "{said}");
}

/// What has to be read before the first run of an honest project of each layout.
#[test]
fn the_list_of_an_honest_project_is_short() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for (example, args, most) in [
        ("first-loop", &["run", "abstract"][..], 2),
        ("paper-section", &["run", "methods"], 2),
        ("scored-memo", &["run", "memo"], 2),
        ("specification", &["run", "search"], 2),
        ("code-task", &["run", "duration"], 4),
        ("goal-repair", &["goal", "repair"], 3),
        ("research-paper", &["pipeline", "Go.", "--no-plan"], 5),
    ] {
        let desk = Desk::repository(&[]);
        let copied =
            Command::new("cp").arg("-r").arg(examples.join(example).join(".")).arg(desk.path("")).status();
        assert!(copied.unwrap().success());
        let said = desk.gadfly(&[args, &["--yes"]].concat());
        assert_eq!(said.code, 2, "{example}: {said:?}");
        let lines = list(&said);
        assert_eq!(lines.len(), most, "{example}: {}", json!(lines));
    }
}
