//! Whole conversations with independent clients. Each is a script in `tests/node/mcp`; here is the project it needs.

use crate::mcp::support::{APPROVE, Project, REJECT};

#[test]
fn a_host_takes_a_loop_from_draft_through_rejection_to_approval() {
    let project = Project::new(&[], &[], "");
    let critic = format!(
        "#!/bin/sh\nif grep '40 apples' > /dev/null; then printf '{APPROVE}'; else printf '{REJECT}'; fi\n"
    );
    let critic = project.program("judge.sh", &critic);
    project
        .user_config(&format!("[agents.reader]\nkind = \"command\"\ncommand = [\"{}\"]\n", critic.display()));
    project.write("gadfly.toml", "[defaults]\ncritic = \"reader\"\n");
    project.play("loop.mjs");
}

#[test]
fn a_report_counts_only_with_its_single_use_token() {
    let project = Project::new(&[], &[], "");
    project.write("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n");
    project.play_with("review.mjs", &["--host-critic"]);
}

#[test]
fn a_critic_that_nobody_configured_as_one_judges_only_if_the_user_agreed() {
    let project = Project::new(&[], &[], "");
    let script = project.path("easy.toml").display().to_string();
    project.user_config(&format!("[agents.easy]\nkind = \"scripted\"\nscript = {script:?}\n"));
    project.write("easy.toml", &format!("[[reply]]\ntext = \"{APPROVE}\"\nrepeat = \"always\"\n"));
    project.play("critics.mjs");
}

#[test]
fn caps_above_the_configured_ones_are_the_users_to_raise() {
    let refuses = "[[reply]]\nfault = \"unauthorised\"\nrepeat = \"always\"\n";
    let project = Project::new(&[], &[], "rounds = 3\n[budget]\nusd = 0.5\n");
    project.write("judge.toml", refuses);
    project.play("caps.mjs");
    let project = Project::new(&[], &[APPROVE], "rounds = 3\n[budget]\nusd = 0.5\n");
    project.play_with("raising.mjs", &["--allow-raise"]);
}

#[test]
fn of_two_hosts_that_hand_in_at_once_one_is_told_that_it_was_not_taken() {
    Project::new(&[], &[], "").play_with("crossing.mjs", &["--host-critic"]);
}

#[test]
fn a_host_that_leaves_mid_loop_loses_nothing_and_another_goes_on() {
    let project = Project::new(&[], &[], "");
    let here = project.path("");
    let slow = format!(
        "#!/bin/sh\ncat > /dev/null\ntouch {0}/begun\nn=0\nwhile [ ! -e {0}/go ] && [ $n -lt 1200 ]; do sleep 0.05; n=$((n+1)); done\n\
         printf '{APPROVE}'\n",
        here.display()
    );
    let program = project.program("slow.sh", &slow);
    project.write("gadfly.toml", "[defaults]\ncritic = \"slow\"\n");
    project.user_config(&format!(
        "[agents.slow]\nkind = \"command\"\ncommand = [\"{}\"]\nsandbox = \"off\"\n",
        program.display()
    ));
    project.play("leaving.mjs");
}

#[test]
fn a_question_is_answered_in_a_form_or_by_a_tool_and_a_closed_form_leaves_it_open() {
    let low = r#"{\"deductions\":[{\"row\":\"no-sample-size\",\"times\":1,\"quote\":\"Some text\",\"says\":\"no n\",\"fix\":\"state n\"}]}"#;
    let project = Project::new(&["Some text 1.", "Some text 2."], &[low, low], "");
    project.write("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n");
    project.play("questions.mjs");
}

fn with_a_program() -> Project {
    let more = "[agents.program]\nkind = \"command\"\ncommand = [\"./critic.sh\"]\n[loops.mine]\ncritic = \"program\"\n";
    let project = Project::new(&[], &[], more);
    project.program("critic.sh", &format!("#!/bin/sh\ncat > /dev/null\nprintf '{APPROVE}'\n"));
    project
}

#[test]
fn what_the_projects_files_name_is_used_once_the_user_agreed() {
    with_a_program().play("trust.mjs");
}

#[test]
fn without_requests_from_the_server_the_question_is_handed_back() {
    with_a_program().play("newer_trust.mjs");
}

#[test]
fn hostile_arguments_are_refused_with_words_and_the_server_stays() {
    let project = Project::new(&[], &[REJECT, REJECT], "");
    // The token of a dashboard that was served here before; a link leads there, too.
    std::fs::create_dir(project.path(".gadfly")).unwrap();
    for private in [".gadfly/serve-token", ".git/config"] {
        project.write(private, "secret words\n");
    }
    std::os::unix::fs::symlink(".gadfly/serve-token", project.path("innocent.md")).unwrap();
    project.play("hostile.mjs");
}

#[test]
fn a_configuration_that_is_mended_counts_at_once() {
    let project = Project::new(&[], &["!unauthorised"], "");
    project.write("good.toml", &format!("[[reply]]\ntext = \"{APPROVE}\"\nrepeat = \"always\"\n"));
    project.play("mending.mjs");
}

#[test]
fn the_host_works_in_a_folder_of_the_run_where_files_are_judged() {
    let project = Project::new(&[], &[], "[loops.own]\ncritic = \"host\"\n");
    std::fs::remove_dir(project.path(".git")).unwrap();
    for args in [
        &["init", "-q"][..],
        &["add", "gadfly.toml"],
        &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "one"],
    ] {
        assert!(project.command("git").args(args).status().unwrap().success());
    }
    project.play("folder.mjs");
}
