//! `goal` and `steer`: how a goal is asked for, what is refused and how it is said, and what is told before it
//! starts. What becomes of goals is tested where they are run.

use std::process::Command;

use insta::assert_snapshot;

use crate::cli::support::{APPROVE, Project, Said};

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
    assert_snapshot!(refused(&["--any", "--until", "make"]), @"error: --any chooses between success criteria: give two or more of them");
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
    assert_snapshot!(goal(&project, &args).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: --critic-interval must be a whole number from 0 to 1000, not 9999
    error: --risk must be one of "read_only", "write_local", "network_get", "network_write", "spends_money", not `all`
    error: `--worker` names agent `writr`, which is not configured
     |
     = help: did you mean `writer`?
    error: `--critic` names agent `jugde`, which is not configured
     |
     = help: did you mean `judge`?
    error: `--mcp` names server `github`, which is not configured
     |
     = help: no servers are configured; add [mcp.github]
    error: `--deny` names tool `run_comand`, which there is not
     |
     = help: did you mean `run_command`?
    error: `--allow` names tool `shell`, which there is not
     |
     = help: known: run_command, read_file, write_file, edit_file, list_files, search_files, fetch_url, start_process, list_processes, read_process_log, stop_process; a tool of a server is SERVER__TOOL, with that server in `mcp`
    error: `a b` is no name for a branch
     |
     = help: like feature/search: no spaces, no `..`, none of ~^:?*[\
    error: judge `me` is a person
     |
     = help: to be asked yourself: --manual, or { manual = true }
    "#);
}

#[test]
fn in_place_there_is_nothing_to_commit() {
    let project = project("[goals.here]\ngoal = \"x\"\nin_place = true\n");
    let said = complaint(&goal(&project, &["--in-place", "--commit"]));
    assert!(said.contains("--in-place") && said.contains("--commit"), "{said}");
    assert_snapshot!(project.gadfly(&["goal", "here", "--branch", "b"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: work in place cannot become a commit: it is in your checkout already
     |
     = help: leave `in_place` or `commit` out
    ");
}

#[test]
fn a_person_is_not_watched() {
    let project = project("");
    assert_snapshot!(goal(&project, &["--worker", "me"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: worker `me` is a person, and a person is not watched
     |
     = help: name an agent with --worker; you are heard with `gadfly steer`
    ");
}

#[test]
fn whoever_could_only_talk_is_refused() {
    let project = project("");
    project.script("writer.toml", &["I am done."]);
    assert_snapshot!(goal(&project, &["--until", "true"]).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: worker `writer` of kind `scripted` has neither tools nor a folder it could work in
      --> gadfly.toml:10:10
       |
    10 | worker = "writer"
       |          ^^^^^^^^
       |
       = help: give its script a reply with `calls` or `files`
    "#);
}

#[test]
fn what_is_wrong_in_the_file_is_shown_where_it_stands() {
    let project = project(
        "[goals.fix]\ngoal = \"x\"\nuntil = { shell = \"make\", exitcode = 1 }\nmax_step = 3\n\n\
         [goals.other]\ngoal = \"x\"\ncritic = \"nobody\"\n",
    );
    assert_snapshot!(project.gadfly(&["goal", "fix"]).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: unknown key `exitcode` beside `shell` in `goals.fix.until`
      --> gadfly.toml:14:27
       |
    14 | until = { shell = "make", exitcode = 1 }
       |                           ^^^^^^^^
       |
       = help: did you mean `exit_code`?
    error: unknown key `max_step` in `goals.fix`
      --> gadfly.toml:15:1
       |
    15 | max_step = 3
       | ^^^^^^^^
       |
       = help: did you mean `max_steps`?
    error: `critic` names agent `nobody`, which is not configured
      --> gadfly.toml:19:10
       |
    19 | critic = "nobody"
       |          ^^^^^^^^
       |
       = help: known here: `judge`, `me`, `writer`
    error: goal `fix` cannot be used as it is configured
      --> gadfly.toml:12:8
       |
    12 | [goals.fix]
       |        ^^^
       |
       = help: see the other problems, or run `gadfly check`
    "#);
}

#[test]
fn a_word_that_is_nearly_the_name_of_a_goal_was_not_meant_as_one() {
    let project = project("[goals.fix-tests]\ngoal = \"x\"\n");
    assert_snapshot!(project.gadfly(&["goal", "fix-test"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no goal `fix-test`: did you mean `fix-tests`?
    ");
    assert_snapshot!(project.gadfly(&["goal"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no goal
     |
     = help: give it as an argument, with --goal-file FILE, or as `goal` of a table [goals.NAME]
    ");
    assert_snapshot!(project.gadfly(&["goal", "--goal-file", "nowhere.md"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: goal: `nowhere.md` does not exist
    ");
    assert_snapshot!(project.gadfly(&["goal", " "]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there is no goal
     |
     = help: give it as an argument, with --goal-file FILE, or as `goal` of a table [goals.NAME]
    ");
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
    assert_snapshot!(told(&said), @r"
    worker  → this machine (writer, scripted)
    critic  → this machine (judge, scripted)
    until   all of: `make test` exits with 0; DONE.md exists
    watched every 5 steps
    policy  risk=write_local; folder=[dir]/home/.local/state/gadfly/work/[store]/[run]/tree/work; denied: fetch_url
    folder  a copy of [dir]/project; verified work goes into it
    runs    make test
    cost    nothing
    caps    300 steps, 400 turns, 90 active minutes
    ");
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
    assert_snapshot!(told(&said), @r#"
    warning: no success criterion is given: you will be asked whether the goal is reached
     |
     = help: add --until 'COMMAND', or `until = "COMMAND"`
    warning: nobody watches: no critic specified, so drift and repetition are noticed by fixed rules only
     |
     = help: add --critic NAME, or set `critic` in [defaults]
    worker  → this machine (w, scripted)
    until   a person says that it is done
    watched by nobody
    policy  risk=write_local; folder=[dir]/project
    folder  [dir]/project itself, in place; a snapshot is kept for `gadfly undo`
    cost    nothing
    caps    300 steps, 400 turns, 60 active minutes
    "#);
}

/// What is said before the first brief, with the run's name masked.
fn told(said: &Said) -> String {
    let masked = said.masked();
    let told = masked.split("--- stderr\n").nth(1).unwrap_or_default();
    let told = told.split("\nthe first brief").next().unwrap_or_default();
    told.lines()
        .map(|line| mask(&mask(line, "/gadfly/work/", "[store]"), "[store]/", "[run]") + "\n")
        .collect()
}

fn mask(line: &str, before: &str, shown: &str) -> String {
    let Some(at) = line.find(before).map(|at| at + before.len()) else { return line.to_owned() };
    let end = line[at..].find(|c: char| !c.is_ascii_alphanumeric()).map_or(line.len(), |end| at + end);
    format!("{}{shown}{}", &line[..at], &line[end..])
}

#[test]
fn commands_of_a_project_file_need_a_word_once_and_those_of_flags_do_not() {
    let project = project(
        "[goals.fix]\ngoal = \"x\"\nuntil = \"make test\"\nrisk = \"network_write\"\nin_place = true\n",
    );
    assert_snapshot!(project.gadfly(&["goal", "fix", "--dry-run"]).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    this project's files want to:
      run make test to see whether a goal is reached (gadfly.toml:14:9)
      let workers of goals in [dir]/project fetch from and send to the network without asking (risk = "network_write") (gadfly.toml:15:8)
      let workers of goals change the files of [dir]/project in place (gadfly.toml:16:12)
    error: you have not agreed to this yet. To agree, once:
      gadfly goal fix --dry-run --trust
    "#);
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
    assert_snapshot!(project.gadfly(&["steer", "x", "look", "there"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: there are no runs here: [dir]/project/.gadfly does not exist. Start one with `gadfly run`, or name another place with --store
    ");
    assert_eq!(project.gadfly(&["run", "Write.", "--criterion", "short", "--yes"]).code, 0);
    let run = project.run_id();
    assert_snapshot!(project.gadfly(&["steer", &run, "look", "there"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: run `[run]` is no goal: it follows `revise`, and only the worker of a goal can be steered
    ");
    assert_snapshot!(project.gadfly(&["steer", "zzzz", "look"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: no run starts with `zzzz`. `gadfly runs` lists them
    ");
    assert_eq!(project.gadfly(&["steer", &run]).code, 2, "there is nothing to say");
}

#[test]
fn caps_of_goals_are_not_raised_on_loops() {
    let project = Project::scripted(&["A draft."], &["!timeout"], "");
    assert_eq!(project.gadfly(&["run", "Write.", "--criterion", "short", "--yes"]).code, 5);
    let run = project.run_id();
    assert_snapshot!(project.gadfly(&["resume", &run, "--max-steps", "600"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: run `[run]` is no goal, so --max-steps raises nothing
    ");
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

#[test]
fn a_goal_at_a_cap_is_steered_raised_and_resumed_and_then_no_more() {
    let project = project("");
    let replies = [
        "list_files\", args = {}",
        "write_file\", args = { path = \"DONE.md\", content = \"x\" }",
        "read_file\", args = { path = \"DONE.md\" }",
        "claim_complete\", args = { rationale = \"it is there\" }",
    ];
    let script = |call: &&str| format!("[[reply]]\ncalls = [{{ tool = \"{call} }}]\n");
    // The last words of a goal at its cap are a reply, too.
    let [first, rest @ ..] = &replies;
    let words = "[[reply]]\ntext = \"No more steps.\"\n".to_owned();
    let all = [script(first), words].into_iter().chain(rest.iter().map(script)).collect::<String>();
    project.write("writer.toml", &all);
    let args =
        ["--until-file", "DONE.md", "--critic-interval", "0", "--max-steps", "1", "--unattended", "--yes"];
    let said = goal(&project, &args);
    assert_eq!(said.code, 6, "{}", said.err);
    let run = project.run_id();
    assert_snapshot!(project.gadfly(&["resume", &run, "--max-steps", "1"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: run `[run]` has 1 step already, so --max-steps 1 raises nothing
    ");
    assert_snapshot!(project.gadfly(&["steer", &run, "write", "DONE.md"]).masked(), @r"
    exit 0
    --- stdout
    --- stderr
    saved; the run is not active, and the worker reads it when you resume it: gadfly resume [run]
    ");
    let said = project.gadfly(&["resume", &run, "--max-steps", "9", "--wall-clock", "2h"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("write DONE.md"), "the worker was not told: {}", said.err);
    assert_snapshot!(project.gadfly(&["steer", &run, "more"]).masked(), @r"
    exit 2
    --- stdout
    --- stderr
    error: run `[run]` has ended (approved): there is nobody left to steer
    ");
}
