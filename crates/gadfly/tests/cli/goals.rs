//! `goal` and `steer`: how a goal is asked for, what is refused and how it is said, and what is told before it
//! starts. What becomes of goals is tested where they are run.

use std::process::Command;

use insta::assert_snapshot;

use crate::support::{APPROVE, Project, Said};

/// A script of somebody who uses tools.
const WORKER: &str = "[[reply]]\ncalls = [{ tool = \"list_files\" }]\n";

/// With a repository, because a goal's folder is made by git.
fn project(more: &str) -> Project {
    let project = Project::scripted(&[], &["PROGRESSING"], more);
    project.write("writer.toml", WORKER);
    std::fs::remove_dir(project.path(".git")).unwrap();
    let git = Command::new("git").args(["init", "-q"]).current_dir(project.path(".")).output().unwrap();
    assert!(git.status.success(), "{git:?}");
    project
}

fn goal(project: &Project, args: &[&str]) -> Said {
    project.gadfly(&[&["goal", "Make it so."], args].concat())
}

/// What was wrong, without the lines on how to get help.
fn complaint(said: &Said) -> String {
    assert_eq!(said.code, 2, "{}", said.err);
    assert_eq!(said.out, "");
    let shown = said.err.lines().take_while(|line| !line.starts_with("For more information"));
    shown.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_check_that_cannot_be_read_is_refused_with_how_it_is_written() {
    let project = project("");
    let refused = |args: &[&str]| complaint(&goal(&project, args));
    for (args, says) in [
        (["--until", " "], "the command of a success criterion is empty"),
        (["--until-json", "out.json"], "write FILE: PREDICATE"),
        (["--until-json", "out.json: a b c"], "a b c"),
        (["--until-file", "a.md contains"], "write PATH, 'PATH contains TEXT' or 'PATH matches REGEX'"),
        (["--until-file", "a.md matches ["], "["),
        (["--until-http", "http://127.0.0.1/ 99"], "`99` is no status from 100 to 599"),
        (["--until-http", "ftp://127.0.0.1/"], "is no http or https address"),
        (["--until-judge", ""], "the question of a success criterion is empty"),
        (["--until-vision", "./shot.sh"], "write 'COMMAND -> FILE: EXPECTED'"),
        (["--until-exit", "1"], "--until"),
        (["--check-timeout", "soon"], "a plain number is minutes"),
    ] {
        let said = refused(&args);
        assert!(said.contains(args[0]) && said.contains(says), "{args:?}: {said}");
    }
    assert_snapshot!(refused(&["--any", "--until", "make"]), @"");
}

#[test]
fn zero_is_no_cap_and_never_means_without_limit() {
    let project = project("");
    for flag in ["--max-steps", "--max-turns", "--wall-clock", "--check-timeout", "--budget-tokens"] {
        let said = complaint(&goal(&project, &[flag, "0"]));
        assert!(said.contains(flag) && said.contains("never means without limit"), "{flag}: {said}");
        assert!(!project.path(".gadfly").exists(), "{flag} started something");
    }
    let resumed = complaint(&project.gadfly(&["resume", "x", "--max-steps", "0"]));
    assert!(resumed.contains("never means without limit"), "{resumed}");
    // Of the critic's interval it is a way to say: off.
    let said = goal(&project, &["--critic-interval", "0", "--dry-run"]);
    assert!(said.err.contains("nobody watches: the critic's interval is 0"), "{}", said.err);
}

#[test]
fn whatever_flags_get_wrong_is_said_at_once() {
    let project = project("");
    let args = [
        "--worker",
        "writr",
        "--critic",
        "jugde",
        "--judge",
        "me",
        "--risk",
        "all",
        "--deny",
        "run_comand",
        "--allow",
        "shell",
        "--mcp",
        "github",
        "--critic-interval",
        "9999",
        "--branch",
        "a b",
    ];
    assert_snapshot!(goal(&project, &args).masked(), @"");
}

#[test]
fn in_place_there_is_nothing_to_commit() {
    let project = project("[goals.here]\ngoal = \"x\"\nin_place = true\n");
    let said = complaint(&goal(&project, &["--in-place", "--commit"]));
    assert!(said.contains("--in-place") && said.contains("--commit"), "{said}");
    assert_snapshot!(project.gadfly(&["goal", "here", "--branch", "b"]).masked(), @"");
}

#[test]
fn a_person_is_not_watched() {
    let project = project("");
    assert_snapshot!(goal(&project, &["--worker", "me"]).masked(), @"");
}

#[test]
fn whoever_could_only_talk_is_refused() {
    let project = project("");
    project.script("writer.toml", &["I am done."]);
    assert_snapshot!(goal(&project, &["--until", "true"]).masked(), @"");
}

#[test]
fn what_is_wrong_in_the_file_is_shown_where_it_stands() {
    let project = project(
        "[goals.fix]\ngoal = \"x\"\nuntil = { shell = \"make\", exitcode = 1 }\nmax_step = 3\n\n\
         [goals.other]\ngoal = \"x\"\ncritic = \"nobody\"\n",
    );
    assert_snapshot!(project.gadfly(&["goal", "fix"]).masked(), @"");
}

#[test]
fn a_word_that_is_nearly_the_name_of_a_goal_was_not_meant_as_one() {
    let project = project("[goals.fix-tests]\ngoal = \"x\"\n");
    assert_snapshot!(project.gadfly(&["goal", "fix-test"]).masked(), @"");
    assert_snapshot!(project.gadfly(&["goal"]).masked(), @"");
    assert_snapshot!(project.gadfly(&["goal", "--goal-file", "nowhere.md"]).masked(), @"");
    assert_snapshot!(project.gadfly(&["goal", " "]).masked(), @"");
}

#[test]
fn a_dry_run_says_what_would_be_done_and_leaves_nothing() {
    let project = project("");
    let args = [
        "--until",
        "make test",
        "--until-file",
        "DONE.md",
        "--deny",
        "fetch_url",
        "--wall-clock",
        "90",
        "--dry-run",
    ];
    let said = goal(&project, &args);
    assert_eq!(said.code, 0, "{}", said.err);
    let store = project.path(".gadfly");
    assert!(!store.exists(), "a dry run made {}", store.display());
    assert_snapshot!(told(&said), @"");
}

#[test]
fn in_place_and_without_critic_or_criterion_all_of_that_is_said() {
    let project = Project::bare();
    std::fs::remove_dir(project.path(".git")).unwrap();
    project.write("w.toml", WORKER);
    project.write(
        "gadfly.toml",
        "[agents.w]\nkind = \"scripted\"\nscript = \"w.toml\"\n[defaults]\nworker = \"w\"\n",
    );
    let said = goal(&project, &["--in-place", "--dry-run"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_snapshot!(told(&said), @"");
}

/// What is said before the first brief, with the run's name masked.
fn told(said: &Said) -> String {
    let masked = said.masked();
    let told = masked.split("--- stderr\n").nth(1).unwrap_or_default();
    let told = told.split("\nthe first brief").next().unwrap_or_default();
    told.lines().map(|line| mask(line, "/runs/") + "\n").collect()
}

fn mask(line: &str, before: &str) -> String {
    let Some(at) = line.find(before).map(|at| at + before.len()) else { return line.to_owned() };
    let end = line[at..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(line.len(), |end| at + end);
    format!("{}[run]{}", &line[..at], &line[end..])
}

#[test]
fn commands_of_a_project_file_need_a_word_once_and_those_of_flags_do_not() {
    let project = project(
        "[goals.fix]\ngoal = \"x\"\nuntil = \"make test\"\nrisk = \"network_write\"\nin_place = true\n",
    );
    assert_snapshot!(project.gadfly(&["goal", "fix", "--dry-run"]).masked(), @"");
    let flags = ["--until", "true", "--risk", "write_local"];
    let said = project.gadfly(&[&["goal", "Do it.", "--dry-run"], &flags[..]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.gadfly(&["goal", "fix", "--dry-run", "--trust"]).code, 0);
    assert_eq!(project.gadfly(&["goal", "fix", "--dry-run"]).code, 0, "agreed to once");
}

#[test]
fn reports_need_a_place_before_anything_is_started() {
    let project = project("");
    let said = goal(&project, &["--report", "json=nowhere/r.json"]);
    assert_eq!((said.code, project.path(".gadfly").exists()), (2, false), "{}", said.err);
}

#[test]
fn only_the_worker_of_a_goal_that_goes_on_can_be_steered() {
    let project = Project::scripted(&["A draft."], &[APPROVE], "");
    assert_snapshot!(project.gadfly(&["steer", "x", "look", "there"]).masked(), @"");
    assert_eq!(project.gadfly(&["run", "Write.", "--criterion", "short", "--yes"]).code, 0);
    let run = project.run_id();
    assert_snapshot!(project.gadfly(&["steer", &run, "look", "there"]).masked(), @"");
    assert_snapshot!(project.gadfly(&["steer", "zzzz", "look"]).masked(), @"");
    assert_eq!(project.gadfly(&["steer", &run]).code, 2, "there is nothing to say");
}

#[test]
fn caps_of_goals_are_not_raised_on_loops() {
    let project = Project::scripted(&["A draft."], &["!timeout"], "");
    assert_eq!(project.gadfly(&["run", "Write.", "--criterion", "short", "--yes"]).code, 5);
    let run = project.run_id();
    assert_snapshot!(project.gadfly(&["resume", &run, "--max-steps", "600"]).masked(), @"");
}

#[test]
fn an_answer_may_be_words_without_quotes() {
    let project = Project::scripted(&["A draft."], &[APPROVE], "");
    let args = ["run", "Write.", "--criterion", "short", "--worker", "me", "--unattended", "--yes"];
    assert_eq!(project.gadfly(&args).code, 4);
    let run = project.run_id();
    assert_eq!(project.gadfly(&["answer", &run, "A", "whole", "sentence."]).code, 0);
    let said = project.gadfly(&["resume", &run]);
    assert_eq!((said.code, said.out.as_str()), (0, "A whole sentence."), "{}", said.err);
}
