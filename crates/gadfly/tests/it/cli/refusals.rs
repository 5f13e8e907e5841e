//! What Gadfly does not do, and how it says so: all at once, where, and what to do about it.

use std::net::TcpListener;

use insta::assert_snapshot;

use crate::cli::support::{APPROVE, Project};

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

fn configured(toml: &str) -> Project {
    let project = Project::bare();
    project.write("gadfly.toml", toml);
    project
}

#[test]
fn a_broken_file_is_shown_where_it_is_broken() {
    let project = configured("[agents.writer\nkind = \"scripted\"\n");
    assert_snapshot!(project.gadfly(&RUN).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: not valid TOML: unclosed table, expected `]`
     --> gadfly.toml:1:15
      |
    1 | [agents.writer
      |               ^
      |
      = help: nothing else in this file was checked, because it does not parse
    error: no worker specified
     |
     = help: use --worker NAME, or set `worker` in [defaults]
    error: no critic specified
     |
     = help: use --critic NAME, or set `critic` in [defaults]
    "#);
}

#[test]
fn all_problems_are_shown_at_once() {
    let project = configured(
        "[agents.writer]\nkind = \"openai\"\nmodle = \"qwen3\"\n\n[defaults]\nworker = \"writer\"\ncritic = \"jugde\"\n\
         [agents.judge]\nkind = \"person\"\n",
    );
    assert_snapshot!(project.gadfly(&RUN).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: agent `writer` of kind `openai` needs `model`
     --> gadfly.toml:2:8
      |
    2 | kind = "openai"
      |        ^^^^^^^^
      |
      = help: add model = "the model's name"
    warning: agent `writer` sends no key to https://api.openai.com/v1
     --> gadfly.toml:2:8
      |
    2 | kind = "openai"
      |        ^^^^^^^^
      |
      = help: add `key_env = "…"` with the name of the variable that holds it
    error: unknown key `modle` in `agents.writer`
     --> gadfly.toml:3:1
      |
    3 | modle = "qwen3"
      | ^^^^^
      |
      = help: did you mean `model`?
    error: `critic` names agent `jugde`, which is not configured
     --> gadfly.toml:7:10
      |
    7 | critic = "jugde"
      |          ^^^^^^^
      |
      = help: did you mean `judge`?
    error: worker `writer` cannot be used as it is configured
     --> gadfly.toml:6:10
      |
    6 | worker = "writer"
      |          ^^^^^^^^
      |
      = help: see the other problems, or run `gadfly check`
    "#);
}

#[test]
fn an_unknown_agent_on_the_command_line_gets_the_nearest_name() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let said = project.gadfly(&[&RUN[..], &["--worker", "writr"]].concat());
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: `--worker` names agent `writr`, which is not configured
     |
     = help: did you mean `writer`?
    "#);
}

#[test]
fn an_empty_rubric_is_an_error() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    assert_snapshot!(project.gadfly(&["run", "Write the abstract"]).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the rubric is empty
     |
     = help: use --rubric FILE with one item per line, or `rubric = ["at most 150 words"]`
    "#);
}

#[test]
fn files_that_are_not_there_are_named_together_with_the_rest() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let said =
        project.gadfly(&["run", "Write it", "--rubric", "no.md", "--rubric", "nor.md", "--critic", "nobody"]);
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: `--critic` names agent `nobody`, which is not configured
     |
     = help: known here: `judge`, `me`, `writer`
    error: rubric: `no.md` does not exist
    error: rubric: `nor.md` does not exist
    "#);
}

#[test]
fn without_agents_it_is_said_how_to_get_them() {
    assert_snapshot!(Project::bare().gadfly(&RUN).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: no worker specified
     |
     = help: use --worker NAME, or set `worker` in [defaults]
    error: no critic specified
     |
     = help: use --critic NAME, or set `critic` in [defaults]

    no agents are configured here:
      gadfly doctor   finds what this machine has and says what to put into gadfly.toml
      gadfly init     writes that gadfly.toml
      then name two of them with --worker NAME and --critic NAME, or in [defaults]
    "#);
}

#[test]
fn a_missing_key_is_named_by_its_variable_and_never_sent() {
    let project = configured(
        "[agents.writer]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n\
         key_env = \"WRITER_KEY\"\n[agents.me]\nkind = \"person\"\n[defaults]\nworker = \"writer\"\ncritic = \"me\"\n",
    );
    let said = project.gadfly(&[&RUN[..], &["--trust"]].concat());
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: agent `writer` needs a key in the variable WRITER_KEY, which is not set
     --> gadfly.toml:5:11
      |
    5 | key_env = "WRITER_KEY"
      |           ^^^^^^^^^^^^
      |
      = help: export WRITER_KEY=… in the shell you start gadfly from
    "#);
}

#[test]
fn an_unreachable_server_is_refused_with_its_address_and_nothing_is_begun() {
    // Bound and closed again: nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let project =
        configured("[agents.me]\nkind = \"person\"\n[defaults]\nworker = \"writer\"\ncritic = \"me\"\n");
    project.own(&format!(
        "[agents.writer]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"\n"
    ));
    let said = project.gadfly(&RUN);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("nothing listens") && said.err.contains(&port.to_string()), "{}", said.err);
    assert!(project.states().is_empty(), "nothing was begun");
}

#[test]
fn an_output_that_cannot_be_written_is_refused_before_any_call() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    std::fs::create_dir(project.path("folder")).unwrap();
    let said = project.gadfly(&[&RUN[..], &["--out", "folder"]].concat());
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the output [dir]/project/folder is a directory
     |
     = help: name a file in it, like [dir]/project/folder/draft.md
    "#);
    let said = project.gadfly(&[&RUN[..], &["--out", "no/such/out.md"]].concat());
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the output's folder [dir]/project/no/such does not exist
     |
     = help: create it first: mkdir -p [dir]/project/no/such
    "#);
    assert!(project.states().is_empty(), "nothing was started");
}

#[test]
fn a_project_s_commands_need_trust_once() {
    let project = configured(
        "[agents.writer]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"cat >/dev/null; echo One\"]\n\
         [agents.judge]\nkind = \"scripted\"\nscript = \"judge.toml\"\n\
         [agents.unused]\nkind = \"command\"\ncommand = [\"rm\", \"-rf\", \"x\"]\n\
         [defaults]\nworker = \"writer\"\ncritic = \"judge\"\n",
    );
    project.script("judge.toml", &[APPROVE]);
    let said = project.gadfly(&RUN);
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    this project's files want to:
      run sh -c 'cat >/dev/null; echo One' (gadfly.toml:3:12)
      let the ready-made replies in [dir]/project/judge.toml judge work, as `judge` (gadfly.toml:6:10)
    error: you have not agreed to this yet. To agree, once:
      gadfly run 'Write the abstract' --criterion 'at most 150 words' --trust
    "#);
    assert!(!project.path(".gadfly").exists() || project.states().is_empty(), "nothing was started");
    let trusted = project.gadfly(&[&RUN[..], &["--trust"]].concat());
    assert_eq!((trusted.code, trusted.out.trim()), (0, "One"), "{}", trusted.err);
    let again = project.gadfly(&RUN);
    assert_eq!(again.code, 0, "it is remembered: {}", again.err);
    // Sabotage: another command is not what was agreed to.
    let toml = project.read("gadfly.toml").replace("echo One", "echo Two");
    project.write("gadfly.toml", &toml);
    assert_eq!(project.gadfly(&RUN).code, 2);
}

#[test]
fn a_journal_of_a_newer_version_is_refused_by_naming_the_versions() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 0);
    let path = project.path(".gadfly/journal.db");
    let mut bytes = std::fs::read(&path).unwrap();
    // The database's own version number.
    bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    for args in [&RUN[..], &["runs"], &["resume", "--all"]] {
        let said = project.gadfly(args);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains("format 99"), "{}", said.err);
    }
}

#[test]
fn a_run_that_is_not_there_gets_the_nearest_id() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    project.gadfly(&RUN);
    let run = project.run_id();
    let swapped = format!("{}{}", &run[..8], run[8..].chars().rev().collect::<String>());
    let typed = if swapped == run { format!("{}zz", &run[..8]) } else { swapped };
    let said = project.gadfly(&["show", &typed]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains(&format!("Did you mean `{run}`?")), "{}", said.err);
}

#[test]
fn an_ended_run_is_not_resumed() {
    let project = Project::scripted(&["One"], &[APPROVE], "");
    project.gadfly(&RUN);
    let said = project.gadfly(&["resume", &project.run_id()]);
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: run `[run]` has ended (approved); to go on from its last draft: gadfly run --from [run]
    "#);
}

#[test]
fn an_agent_that_is_gone_is_said_on_resume() {
    let project = Project::scripted(&["!unavailable"], &[APPROVE], "");
    assert_eq!(project.gadfly(&RUN).code, 1);
    project.change_own(|own| own.replace("writer", "author"));
    project.write("gadfly.toml", &project.read("gadfly.toml").replace("writer", "author"));
    std::fs::rename(project.path("writer.toml"), project.path("author.toml")).unwrap();
    let said = project.gadfly(&["resume", &project.run_id()]);
    assert_snapshot!(said.masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the agents of run `[run]` cannot be reached as configured now
    error: there is no agent `writer`
     |
     = help: known here: `author`, `judge`, `me`
    "#);
}

#[test]
fn nothing_here_is_said_without_making_a_store() {
    let project = Project::bare();
    assert_eq!(project.gadfly(&["runs"]).code, 0);
    assert_snapshot!(project.gadfly(&["show", "abc"]).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: there are no runs here: [dir]/project/.gadfly does not exist. Start one with `gadfly run`, or name another place with --store
    "#);
    assert!(!project.path(".gadfly").exists());
}

#[test]
fn a_projects_script_gives_out_nothing_from_outside_the_project() {
    let project = Project::scripted(&["x"], &[APPROVE], "");
    std::fs::write(project.path("../home/id"), "TOP SECRET").unwrap();
    let outside = project.path("../home/id").canonicalize().unwrap();
    std::os::unix::fs::symlink(&outside, project.path("link.md")).unwrap();
    for file in [outside.to_str().unwrap(), "../home/id", "link.md", "/dev/zero"] {
        project.write("writer.toml", &format!("[[reply]]\nfile = \"{file}\"\n"));
        let said = project.gadfly(&["run", "x", "--criterion", "at least 3 words"]);
        assert_eq!(said.code, 2, "{file}");
        assert!(
            said.err.contains("outside the project") && !said.out.contains("SECRET"),
            "{file}: {}",
            said.err
        );
    }
    // Sabotage: beside the script it is read.
    project.write("reply.md", "beside");
    project.write("writer.toml", "[[reply]]\nfile = \"reply.md\"\n");
    assert_eq!(project.gadfly(&["run", "x", "--criterion", "at least 3 words"]).out, "beside");
}

#[test]
fn a_run_from_elsewhere_writes_outside_the_project_only_if_that_is_agreed_to() {
    let giver = Project::scripted(&["x"], &["!timeout", "!timeout"], "");
    let target = giver.path("../home/.profile");
    let path = target.to_str().unwrap();
    let args = ["run", "x", "--criterion", "at least 3 words", "--out", path];
    assert_eq!(giver.gadfly(&args).code, 5);
    // Who named the file is not asked again.
    giver.script("judge.toml", &["!timeout", "!timeout", "!timeout", "!timeout"]);
    let run = giver.gadfly(&["runs"]).out.lines().nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let again = giver.gadfly(&["resume", &run]);
    assert_eq!(again.code, 5, "{}", again.err);
    assert_eq!(giver.gadfly(&["export", &run, "run.gadfly"]).code, 0);

    let taker = Project::scripted(&["x"], &[APPROVE, APPROVE, APPROVE, APPROVE, APPROVE], "");
    std::fs::copy(giver.path("run.gadfly"), taker.path("run.gadfly")).unwrap();
    assert_eq!(taker.gadfly(&["import", "run.gadfly"]).code, 0);
    for args in [&["resume", run.as_str()][..], &["resume", "--all"], &["run", "--from", run.as_str()]] {
        let said = taker.gadfly(args);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(
            said.err.contains("write the result of a recorded run to") && !target.exists(),
            "{}",
            said.err
        );
    }
    let agreed = taker.gadfly(&["resume", &run, "--trust"]);
    assert_eq!((agreed.code, target.exists()), (0, true), "{}", agreed.err);
}

#[test]
fn a_command_without_a_folder_of_its_own_is_not_run_in_the_project() {
    let project = Project::scripted(&["x"], &[APPROVE], "");
    let config = project.read("gadfly.toml");
    project
        .write("gadfly.toml", &format!("{config}\n[agents.tool]\nkind = \"command\"\ncommand = [\"pwd\"]\n"));
    let args = ["run", "x", "--criterion", "at least 3 words", "--worker", "tool", "--trust"];
    assert!(project.gadfly(&args).out.contains("/gadfly/work/"));
    // Where its folder would lie elsewhere, nothing is run.
    let store = project.path("store");
    std::fs::create_dir(&store).unwrap();
    std::os::unix::fs::symlink("/proc", store.join("runs")).unwrap();
    let said = project.gadfly(&[&["--store", store.to_str().unwrap()], &args[..]].concat());
    assert!(
        said.code == 2 && said.err.contains("is a link, to /proc") && said.out.is_empty(),
        "{}{}",
        said.out,
        said.err
    );
}

#[test]
fn a_variable_that_is_no_text_is_no_reason_to_stop() {
    use std::os::unix::ffi::OsStrExt as _;
    let project = Project::scripted(&["One"], &[APPROVE], "");
    let mut command = project.command(&RUN);
    command.env("ODD", std::ffi::OsStr::from_bytes(b"\xff"));
    assert_eq!(project.said(&command.output().unwrap()).code, 0);
    assert_eq!(
        project.command(&["check"]).env("ODD", std::ffi::OsStr::from_bytes(b"\xff")).status().unwrap().code(),
        Some(0)
    );
}
