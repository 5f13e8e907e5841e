//! `gadfly review`: critics only, on files and diffs; what it says, and what it exits with.

use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::support::{APPROVE, Project, REJECT};

const PASSED: &str = r#"{"critic":"critic","task_id":"TASK","round":1,"criteria":[{"id":"SC-1","claim":"it is polite","verdict":"Satisfied","evidence":"hello.txt:1","missing_info":""}],"findings":[],"verdict":"passed"}"#;
const FOUND: &str = r#"{"critic":"critic","task_id":"TASK","round":1,"criteria":[{"id":"SC-1","claim":"it is polite","verdict":"Satisfied","evidence":"hello.txt:1","missing_info":""}],"findings":[{"id":"F-1","category":"style","severity":"SEVERITY","file":"hello.txt","line":1,"remediation":"say good morning","criterion_id":"","question_to_user":""}],"verdict":"issues_found"}"#;

fn git(project: &Project, args: &[&str]) {
    let dir = project.path("");
    let done = Command::new("git")
        .args(["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", project.dir().join("home"))
        .output()
        .unwrap();
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A repository with one commit, a critic that gives this reply, and one uncommitted line.
fn repository(reply: &str, task_id: &str) -> Project {
    let project = Project::scripted(&[], &[], "");
    std::fs::remove_dir_all(project.path(".git")).unwrap();
    let reply = reply.replace("TASK", task_id);
    project.write("judge.toml", &format!("[[reply]]\ntext = '''{reply}'''\nrepeat = \"always\"\n"));
    git(&project, &["init", "-q"]);
    project.write("hello.txt", "hi\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "-q", "-m", "one"]);
    project.write("hello.txt", "hello\n");
    project
}

#[test]
fn one_text_is_approved_or_rejected_and_never_written() {
    for (reply, code, state) in [(APPROVE, 0, "approved"), (REJECT, 3, "rejected")] {
        let project = Project::scripted(&[], &[reply], "");
        project.write("draft.md", "Some text.\n");
        let said = project.gadfly(&["review", "draft.md", "--criterion", "names the sample size"]);
        assert_eq!(said.code, code, "{}", said.err);
        assert_eq!(project.states(), [state]);
        assert_eq!(project.read("draft.md"), "Some text.\n");
        assert!(!project.path("draft.md.unapproved").exists(), "a review writes nothing");
        assert_eq!(said.out, "", "the text was there before");
    }
}

#[test]
fn a_review_needs_something_to_judge_by_and_something_to_judge() {
    let project = Project::scripted(&[], &[APPROVE], "");
    project.write("draft.md", "Some text.\n");
    assert_snapshot!(project.gadfly(&["review", "draft.md"]).masked(), @r#"
    exit 2
    --- stdout
    --- stderr
    error: the rubric is empty
     |
     = help: use --rubric FILE with one item per line, or `rubric = ["at most 150 words"]`
    "#);
    assert_eq!(project.gadfly(&["review"]).code, 2);
    let said = project.gadfly(&["review", "draft.md", "--criterion", "x 1", "--block-on", "fail"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("`--block-on` belongs to protocol `audit`"), "{}", said.err);
    assert_eq!(project.gadfly(&["review", "gone.md", "--criterion", "x 1"]).code, 2);
}

#[test]
fn nothing_changed_is_nothing_to_review() {
    let project = repository(PASSED, "x");
    git(&project, &["commit", "-qam", "two"]);
    let said = project.gadfly(&["review", "--uncommitted"]);
    assert_eq!((said.code, said.err.as_str()), (0, "nothing to review\n"));
    assert!(!project.path(".gadfly").exists(), "nothing is left behind");
}

#[test]
fn changes_are_judged_by_criteria_and_blocked_by_severity() {
    let id = "review-the-uncommitted-changes";
    let criterion = ["--criterion", "it is polite"];
    let review = |reply: &str, more: &[&str]| {
        let project = repository(reply, id);
        let said = project.gadfly(&[&["review", "--uncommitted"], &criterion[..], more].concat());
        (said.code, said.err)
    };
    let (code, err) = review(PASSED, &[]);
    assert_eq!(code, 0, "{err}");
    let (code, err) = review(&FOUND.replace("SEVERITY", "risk"), &[]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("say good morning"), "{err}");
    let (code, err) = review(&FOUND.replace("SEVERITY", "risk"), &["--block-on", "fail"]);
    assert_eq!(code, 0, "below the line it is a note: {err}");
}

#[test]
fn a_reply_that_cannot_be_read_is_unverified_not_clean() {
    let project = repository("looks fine to me", "x");
    let said = project.gadfly(&["review", "--uncommitted", "--criterion", "it is polite"]);
    assert_eq!(said.code, 5, "{}", said.err);
}

#[test]
fn what_a_critic_cannot_be_shown_is_never_approved() {
    let project = repository(PASSED, "review-the-uncommitted-changes");
    std::fs::write(project.path("image.bin"), [0u8, 1, 2, 3]).unwrap();
    let said = project.gadfly(&["review", "--uncommitted", "--criterion", "it is polite"]);
    assert_eq!(said.code, 5, "{}", said.err);
    assert!(said.err.contains("image.bin"), "{}", said.err);
    let said =
        project.gadfly(&["review", "--uncommitted", "--criterion", "it is polite", "--exclude", "*.bin"]);
    assert_eq!(said.code, 0, "left out on purpose: {}", said.err);
    // Of files as they are, the same is said before anybody is asked.
    let said = project.gadfly(&["review", ".", "--criterion", "it is polite"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("image.bin") && said.err.contains("--exclude"), "{}", said.err);
}

#[test]
fn a_branch_is_reviewed_from_where_it_left_its_base() {
    let project = repository(PASSED, "x");
    git(&project, &["commit", "-qam", "base"]);
    git(&project, &["checkout", "-qb", "topic"]);
    project.write("topic.txt", "of the topic\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "topic"]);
    git(&project, &["checkout", "-q", "main"]);
    project.write("other.txt", "of the base\n");
    git(&project, &["add", "."]);
    git(&project, &["commit", "-qm", "other"]);
    git(&project, &["checkout", "-q", "topic"]);
    project.write("untracked.txt", "new\n");
    project.write("ignored.log", "noise\n");
    project.write(".gitignore", "*.log\n");
    let brief = project.gadfly(&["review", "--diff", "main", "--criterion", "it is polite", "--dry-run"]);
    assert_eq!(brief.code, 0, "{}", brief.err);
    for seen in ["topic.txt", "untracked.txt", "+of the topic", "+new"] {
        assert!(brief.out.contains(seen), "{seen}: {}", brief.out);
    }
    for hidden in ["other.txt", "of the base", "ignored.log", "hello.txt"] {
        assert!(!brief.out.contains(hidden), "{hidden}: {}", brief.out);
    }
    let commit = project.gadfly(&["review", "--commit", "HEAD", "--criterion", "it is polite", "--dry-run"]);
    assert!(commit.out.contains("topic.txt") && !commit.out.contains("untracked.txt"), "{}", commit.out);
    let unknown = project.gadfly(&["review", "--diff", "--output=/tmp/x"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    let unknown = project.gadfly(&["review", "--diff", "nowhere", "--criterion", "x"]);
    assert!(unknown.code == 2 && unknown.err.contains("unknown revision"), "{}", unknown.err);
}

#[test]
fn the_users_git_settings_neither_change_the_diff_nor_start_anything() {
    let project = repository(PASSED, "x");
    let trap = project.path("trap");
    for (key, value) in [
        ("diff.external", format!("touch {}", trap.display())),
        ("core.fsmonitor", format!("touch {}", trap.display())),
        ("diff.noprefix", "true".to_owned()),
        ("diff.renames", "copies".to_owned()),
    ] {
        git(&project, &["config", key, &value]);
    }
    let brief = project.gadfly(&["review", "--uncommitted", "--criterion", "it is polite", "--dry-run"]);
    assert_eq!(brief.code, 0, "{}", brief.err);
    assert!(brief.out.contains("b/hello.txt") && brief.out.contains("+hello"), "{}", brief.out);
    assert!(!trap.exists(), "a program of the repository's configuration was started");
}

#[test]
fn reports_go_to_files_or_are_all_that_is_printed() {
    let project = repository(&FOUND.replace("SEVERITY", "fail"), "review-the-uncommitted-changes");
    let args = ["review", "--uncommitted", "--criterion", "it is polite"];
    let said = project.gadfly(&[&args[..], &["--report", "sarif", "--report", "junit=out.xml"]].concat());
    assert_eq!(said.code, 3, "{}", said.err);
    let sarif: Value = serde_json::from_str(&said.out).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["level"], "error");
    assert_eq!(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "hello.txt");
    assert!(project.read("out.xml").contains("<testsuite"));
    let wrong = project.gadfly(&[&args[..], &["--report", "pdf"]].concat());
    assert!(wrong.code == 2 && wrong.err.contains("sarif, junit, markdown, json"), "{}", wrong.err);
}

#[test]
fn a_single_text_is_fixed_in_place() {
    let project = Project::scripted(&["Better text of 12 words."], &[REJECT, APPROVE], "");
    project.write("draft.md", "Some text.\n");
    let said = project.gadfly(&["review", "draft.md", "--criterion", "names the sample size", "--fix"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("draft.md"), "Better text of 12 words.");
}

#[test]
fn changes_are_fixed_in_a_folder_and_brought_to_the_checkout() {
    let found = FOUND.replace("SEVERITY", "fail").replace("TASK", "review-the-uncommitted-changes");
    let project = repository(PASSED, "x");
    // The first finding is raised again; the second round is content.
    let fixed = PASSED
        .replace("TASK", "fix-what-a-review-found-and-nothing-else")
        .replace("\"round\":1", "\"round\":2")
        .replace("\"round\": 1", "\"round\": 2");
    project
        .write("judge.toml", &format!("[[reply]]\ntext = '''{found}'''\n[[reply]]\ntext = '''{fixed}'''\n"));
    let edit =
        "[[reply]]\nrepeat = \"always\"\ntext = \"done\"\nfiles = { \"hello.txt\" = \"good morning\\n\" }\n";
    project.write("writer.toml", edit);
    // What a critic is shown cannot be its verdict: the file its replies come from is left out.
    let args = ["review", "--uncommitted", "--criterion", "it is polite", "--fix", "--exclude", "*.toml"];
    let said = project.gadfly(&args);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("hello.txt"), "good morning\n");
    // And taken back to what the user had, which was never committed.
    let said = project.gadfly(&["undo", &project.run_id()]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(project.read("hello.txt"), "hello\n");
}

#[test]
fn the_hook_stops_a_commit_with_findings_and_lets_a_clean_one_pass() {
    let hook = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/ci/pre-commit");
    let bin = std::path::Path::new(env!("CARGO_BIN_EXE_gadfly")).parent().unwrap();
    let usual = |id: &str| {
        format!(
            r#"{{"id":"{id}","claim":"c","verdict":"Satisfied","evidence":"hello.txt:1","missing_info":""}}"#
        )
    };
    let all = ["SC-1", "SC-2", "SC-3"].map(usual).join(",");
    let one = r#"{"id":"SC-1","claim":"it is polite","verdict":"Satisfied","evidence":"hello.txt:1","missing_info":""}"#;
    for (reply, passes) in [(PASSED.to_owned(), true), (FOUND.replace("SEVERITY", "fail"), false)] {
        let project = repository(&reply.replace(one, &all), "review-the-staged-changes");
        std::fs::create_dir_all(project.path(".git/hooks")).unwrap();
        std::fs::copy(hook, project.path(".git/hooks/pre-commit")).unwrap();
        let commit = |args: &[&str]| {
            let done = Command::new("git")
                .args(["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-q", "-m", "two"])
                .args(args)
                .current_dir(project.path(""))
                .env_clear()
                .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
                .env("HOME", project.dir().join("home"))
                .output()
                .unwrap();
            (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
        };
        project.agree();
        // Not staged, so a commit would not take it, and the hook has nothing to say about it.
        let (done, said) = commit(&["--allow-empty"]);
        assert!(done && said.contains("nothing to review"), "{said}");
        // `-a` stages into an index of its own, which git names to the hook.
        let (done, said) = commit(&["-a"]);
        assert_eq!(done, passes, "{said}");
        assert_eq!(said.contains("the commit was stopped"), !passes, "{said}");
    }
}

#[test]
fn the_workflow_files_use_flags_that_exist() {
    let project = Project::bare();
    let known = project.gadfly(&["review", "--help"]).out;
    for file in ["gadfly-review.yml", "pre-commit-hooks.yaml", "pre-commit"] {
        let path = format!("{}/../../examples/ci/{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        assert!(!text.contains('\t'), "{file}: YAML has no tabs");
        let lines = text.lines().filter(|l| !l.trim_start().starts_with('#') && !l.contains("cargo install"));
        let line =
            lines.skip_while(|l| !l.contains("gadfly review --")).take(2).collect::<Vec<_>>().join(" ");
        let flags: Vec<&str> = line.split_whitespace().filter(|w| w.starts_with("--")).collect();
        assert!(!flags.is_empty(), "{file}");
        for flag in flags.iter().filter(|f| **f != "--no-verify") {
            assert!(known.contains(flag), "{file}: {flag}");
        }
    }
}

#[test]
fn several_files_are_told_as_files_in_one_round_and_nobody_works() {
    let project = repository(PASSED, "review-docs");
    std::fs::create_dir(project.path("docs")).unwrap();
    project.write("docs/hello.txt", "hello\nworld\n");
    project.write("docs/two.txt", "two\n");
    let reply = PASSED.replace("TASK", "review-docs").replace("hello.txt:1", "docs/hello.txt:1");
    project.write("judge.toml", &format!("[[reply]]\ntext = '''{reply}'''\nrepeat = \"always\"\n"));
    let said = project.gadfly(&["review", "docs", "--criterion", "it is polite"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("your files: 16 bytes in 2 files"), "{}", said.err);
    assert!(said.err.contains("caps    1 round,"), "a review is one round: {}", said.err);
    assert!(!said.err.contains("  draft "), "the files were there before: {}", said.err);
    let shown = project.gadfly(&["show", &project.run_id()]).out;
    assert!(shown.contains("approved, audit, critic judge\n"), "{shown}");
    assert!(shown.contains("reports are in ") && shown.contains("critic-review-docs-r1.json"), "{shown}");
}

#[test]
fn two_critics_without_a_lens_look_through_their_names() {
    let high = r#"{"deductions":[],"score":100}"#;
    let project = Project::scripted(&[], &[], "");
    project.own_scripted("second", "judge.toml");
    project.write("judge.toml", &format!("[[reply]]\ntext = '''{high}'''\n"));
    project.write("rubric.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n");
    project.write("memo.md", "Some text.\n");
    let args = ["review", "memo.md", "--protocol", "score", "--rubric", "rubric.md", "--critic", "judge"];
    let said = project.gadfly(&[&args[..], &["--critic", "second"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("lens judge") && said.err.contains("lens second"), "{}", said.err);
    let twice = project.gadfly(&[&args[..], &["--critic", "judge"]].concat());
    assert!(twice.code == 2 && twice.err.contains("named twice"), "{}", twice.err);
    let same =
        "critics = [{ agent = \"judge\", lens = \"style\" }, { agent = \"second\", lens = \"style\" }]\n";
    let config = format!(
        "{}[loops.m]\nprotocol = \"score\"\ntask = \"T\"\nrubric = \"rubric.md\"\n{same}",
        project.read("gadfly.toml")
    );
    project.write("gadfly.toml", &config);
    let said = project.gadfly(&["run", "m"]);
    assert!(said.code == 2 && said.err.contains("both critics have the lens `style`"), "{}", said.err);
}

#[test]
fn a_report_that_cannot_be_written_is_said_before_anybody_is_asked() {
    let project = repository(PASSED, "review-the-uncommitted-changes");
    let args = ["review", "--uncommitted", "--criterion", "it is polite", "--report", "sarif=gone/out.sarif"];
    let said = project.gadfly(&args);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("gone/out.sarif cannot be written: there is no such folder"), "{}", said.err);
    let both = project.gadfly(&["review", "--uncommitted", "--report", "sarif", "--json"]);
    assert!(both.code == 2 && both.out.is_empty(), "one event per line and nothing else: {}", both.err);
    assert!(!project.path(".gadfly").exists(), "nobody was asked");
}

#[test]
fn a_path_that_is_not_there_is_said_so() {
    let project = repository(PASSED, "x");
    let said = project.gadfly(&["review", "gone.md", "--criterion", "it is polite"]);
    assert!(said.code == 2 && said.err.contains("`gone.md` does not exist"), "{}", said.err);
}
