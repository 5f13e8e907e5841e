//! A project's files cannot loosen what holds an agent before a person has agreed to it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::powers::desk::Desk;

const LOOSER: [(&str, &str); 4] = [
    ("sandbox = \"off\"", "without a sandbox"),
    ("read = [\"~/.ssh\"]", "read ~/.ssh"),
    ("state = [\"~\"]", "write ~"),
    ("args = [\"--anything\"]", "run sh --anything"),
];

const RUN: [&str; 9] = ["run", "Write", "--worker", "w", "--critic", "c", "--rubric", "rubric.md", "--yes"];

#[test]
fn a_projects_file_that_loosens_its_own_agent_is_asked_about_first() {
    for (line, words) in LOOSER {
        let desk = Desk::folder(&[("rubric.md", "- good\n")]);
        desk.saying("w", &["Text."]);
        desk.write("gadfly.toml", &format!("[agents.c]\nkind = \"command\"\ncommand = [\"sh\"]\n{line}\n"));
        let said = desk.gadfly(&RUN);
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(said.err.contains(words) && said.err.contains("--trust"), "{line}: {}", said.err);
        // By a flag of the user's own it needs no further word: trust is for what stands in files.
        let trusted = desk.gadfly(&[&RUN[..], &["--trust", "--dry-run"]].concat());
        assert_eq!(trusted.code, 0, "{line}: {}", trusted.err);
    }
}

#[test]
fn a_projects_file_cannot_loosen_the_users_own_agent_and_it_is_said() {
    for (line, words) in LOOSER {
        let desk = Desk::folder(&[("rubric.md", "- good\n")]);
        desk.configure("[agents.c]\nkind = \"command\"\ncommand = [\"sh\"]\n");
        desk.saying("w", &["Text."]);
        desk.write("gadfly.toml", &format!("[agents.c]\n{line}\n"));
        let said = desk.gadfly(&[&RUN[..], &["--dry-run"]].concat());
        assert_eq!(said.code, 0, "{line}: {}", said.err);
        assert!(
            said.err.contains("the agent `c` is your own") && !said.err.contains(words),
            "{line}: {}",
            said.err
        );
    }
}

#[test]
fn a_coding_agent_that_only_a_projects_file_names_is_asked_about_first() {
    let desk = Desk::folder(&[("rubric.md", "- good\n")]);
    desk.saying("w", &["Text."]);
    desk.write("gadfly.toml", "[agents.c]\nkind = \"claude-code\"\n");
    let args = ["run", "Write", "--worker", "w", "--critic", "c", "--rubric", "rubric.md", "--yes"];
    let said = desk.gadfly(&args);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("run claude") && said.err.contains("--trust"), "{}", said.err);
}

#[test]
fn what_was_agreed_to_in_one_project_is_asked_again_in_another() {
    let desk = Desk::folder(&[("rubric.md", "- good\n")]);
    desk.saying("w", &["Text."]);
    let config = "[agents.c]\nkind = \"command\"\ncommand = [\"./judge.sh\"]\n";
    desk.write("gadfly.toml", config);
    desk.write("other/gadfly.toml", config);
    desk.write("other/rubric.md", "- good\n");
    for judge in ["judge.sh", "other/judge.sh"] {
        desk.write(judge, "#!/bin/sh\n");
        fs::set_permissions(desk.path(judge), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let args = ["run", "Write", "--worker", "w", "--critic", "c", "--rubric", "rubric.md", "--dry-run"];
    assert_eq!(desk.gadfly(&[&args[..], &["--trust"]].concat()).code, 0);
    assert_eq!(desk.gadfly(&args).code, 0, "here it is remembered");
    let elsewhere = desk.command(&args).current_dir(desk.path("other")).output().unwrap();
    let said = String::from_utf8_lossy(&elsewhere.stderr);
    assert_eq!(elsewhere.status.code(), Some(2), "the same words are another program there: {said}");
    assert!(said.contains("./judge.sh") && said.contains("--trust"), "{said}");
}
