//! Nothing is paid before everybody can be started: whoever is missing is found first, and named with the place.

use std::net::TcpListener;

use crate::cli::support::{APPROVE, Project};

/// A project whose worker leaves a file each time it is called, with this critic.
fn with_critic(critic: &str) -> Project {
    let project = Project::bare();
    let called = project.dir().join("home/called");
    let worker = format!("echo x >> {}; echo a draft", called.display());
    project.own(&format!(
        "[agents.writer]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", {worker:?}]\nsandbox = \"off\"\n\
         [agents.judge]\n{critic}\n[defaults]\nworker = \"writer\"\ncritic = \"judge\"\n"
    ));
    project.write("tasks.jsonl", "{\"id\": \"a\", \"task\": \"Write.\", \"rubric\": [\"short\"]}\n");
    project.write("paper.md", "A paper.\n");
    let git = |args: &[&str]| {
        let done =
            std::process::Command::new("git").args(args).current_dir(project.path("")).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    project
}

const DOORS: [&[&str]; 5] = [
    &["run", "Write.", "--criterion", "short", "--yes"],
    &["run", "Write.", "--protocol", "audit", "--criterion", "it is short", "--yes"],
    &["goal", "Write.", "--until", "false", "--yes"],
    &["review", "paper.md", "--criterion", "short", "--yes"],
    &["batch", "tasks.jsonl", "--yes"],
];

/// Every door refuses with exit code 2, names all of `said`, and nobody was called.
fn refused_everywhere(project: &Project, said: &[&str]) {
    for door in DOORS {
        let refused = project.gadfly(door);
        assert_eq!(refused.code, 2, "{door:?}: {}", refused.masked());
        for words in said {
            assert!(refused.err.contains(words), "{door:?}: no `{words}` in {}", refused.masked());
        }
        assert!(!project.dir().join("home/called").exists(), "{door:?}: the worker was called");
    }
    let runs = project.gadfly(&["runs", "--json"]);
    assert_eq!(runs.out, "", "nothing was begun");
}

#[test]
fn a_critics_program_that_is_missing_is_found_before_the_worker_is_called() {
    let project = with_critic("kind = \"command\"\ncommand = [\"./nothere.sh\"]");
    let said =
        ["agent `judge` cannot be run", "nothere.sh does not exist", "gadfly.toml:7:", "correct `command`"];
    refused_everywhere(&project, &said);
    let project = with_critic("kind = \"codex\"");
    refused_everywhere(&project, &["agent `judge` cannot be run", "`codex` is not found in PATH"]);
}

#[test]
fn a_critics_script_is_meant_from_the_projects_root() {
    let project = with_critic("kind = \"command\"\ncommand = [\"sh\", \"tools/critic.sh\"]");
    let said = [
        "agent `judge` cannot be run: its script",
        "project/tools/critic.sh does not exist",
        "gadfly.toml:7:",
    ];
    refused_everywhere(&project, &said);
    std::fs::create_dir(project.path("tools")).unwrap();
    project.write("tools/critic.sh", "printf '[STATUS: APPROVED]\\nGood.\\n'\n");
    let said = project.gadfly(DOORS[0]);
    assert_eq!(said.code, 0, "{}", said.masked());
}

#[test]
fn a_server_on_this_machine_that_does_not_listen_is_found_before_the_worker_is_called() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let critic = format!("kind = \"openai\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\nmodel = \"m\"");
    let project = with_critic(&critic);
    let listens = format!("nothing listens at http://127.0.0.1:{port}/v1");
    refused_everywhere(
        &project,
        &["agent `judge` cannot be reached", &listens, "start the server", "gadfly.toml:7:"],
    );
}

#[test]
fn a_key_that_is_missing_is_found_before_the_worker_is_called() {
    let project = with_critic("kind = \"anthropic\"\nmodel = \"m\"\nkey_env = \"ANTHROPIC_API_KEY\"");
    refused_everywhere(&project, &["agent `judge` needs a key", "ANTHROPIC_API_KEY"]);
}

#[test]
fn a_run_is_not_taken_up_while_its_critic_is_gone() {
    let project = Project::scripted(&["One", "Two"], &["!unavailable", APPROVE], "");
    assert_eq!(project.gadfly(&["run", "Write.", "--criterion", "short"]).code, 5);
    let own = std::fs::read_to_string(project.own_file()).unwrap();
    let judge = own.split("[agents.judge]").nth(1).unwrap().split("[agents.me]").next().unwrap().to_owned();
    project.change_own(|own| own.replace(&judge, "\nkind = \"command\"\ncommand = [\"./gone\"]\n"));
    let said = project.gadfly(&["resume", &project.run_id()]);
    assert_eq!(said.code, 2, "{}", said.masked());
    assert!(said.err.contains("agent `judge` cannot be run"), "{}", said.masked());
}
