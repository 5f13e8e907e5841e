//! Standalone, simplified, just do it.

use crate::pipeline::desk::Desk;
use crate::pipeline::stage::{judges, one, pipeline, three, writes};

/// As `three`, with the files that say who the coder is and which skill dispatches it.
fn skilled() -> Desk {
    let desk = three();
    desk.write(
        "agents/coder.md",
        "---\nname: coder\ndescription: Writes code\ntools: Read, Write\n---\nYou write code.\n",
    );
    desk.write(
        "skills/analyze/SKILL.md",
        "---\nname: analyze\ndescription: Runs the analysis\n---\n# Analyze\n\nDispatch the coder.\n",
    );
    desk.commit("skill");
    desk
}

#[test]
fn a_skill_alone_dispatches_its_agent_whatever_it_requires() {
    for name in ["analyze", "/analyze", "coder"] {
        let desk = skilled();
        let said =
            desk.gadfly(&["run", name, "--task", "Run the regressions", "--yes", "--unattended", "--trust"]);
        assert_eq!(said.code, 0, "{name}: {}", said.err);
        assert_eq!(desk.read("out/code.py"), "print(1)\n");
        assert!(!desk.path("out/memo.md").exists(), "nobody else worked");
        assert!(said.err.contains("coder: 88/100 by coder-critic"), "{}", said.err);
    }
    let desk = skilled();
    let said = desk.gadfly(&["run", "analyze", "--trust"]);
    assert_eq!(said.code, 2, "{}", said.err);
    let said = desk.gadfly(&["run", "analyse", "--task", "x", "--trust"]);
    assert!(said.code == 2 && said.err.contains("did you mean `analyze`?"), "{}", said.err);
    let said = desk.gadfly(&["run", "coder", "--task", "x", "--critic", "me", "--trust"]);
    assert!(said.code == 2 && said.err.contains("leave --critic out"), "{}", said.err);
    let said = desk.gadfly(&["show", "x"]);
    assert_eq!(said.code, 2);
}

#[test]
fn a_skill_that_reviews_sends_only_the_critic_its_arguments_choose() {
    let desk = one(&["print(1)\n"], &[60]);
    desk.write(
        "skills/review/SKILL.md",
        "---\nname: review\ndescription: Reviews\n---\n# Review\n\n- `.py` file → code review (coder-critic)\n\n\
         ## `/review --code [file]`\n\nDispatch coder-critic. Save report to `reports/[file]_code_review.md`.\n\n\
         ## `/review --plan`\n\nDispatch coder.\n",
    );
    for agent in ["coder-critic", "coder"] {
        let file = format!("---\nname: {agent}\ndescription: Judges\n---\nYou judge.\n");
        desk.write(&format!("agents/{agent}.md"), &file);
    }
    desk.write("out/code.py", "print(2)\n");
    desk.commit("code");
    let review = |arguments| desk.gadfly(&["run", arguments, "--yes", "--unattended", "--trust"]);
    for arguments in ["/review --code out/code.py", "/review out/code.py"] {
        let said = review(arguments);
        assert_eq!(said.code, 3, "60 does not pass: {}", said.err);
        assert!(said.err.contains("coder-critic: 60/100"), "{}", said.err);
    }
    assert!(
        desk.read("reports/code_code_review.md").contains("60"),
        "the report is where the skill saves it"
    );
    assert_eq!(desk.read("out/code.py"), "print(2)\n", "a review changes nothing");
    assert_eq!(desk.calls(), 1, "nobody else was sent out");
    let said = desk.gadfly(&["run", "/revue --code out/code.py", "--trust"]);
    assert!(said.code == 2 && said.err.contains("there is no skill `revue`"), "{}", said.err);
}

#[test]
fn what_a_brief_held_is_listed_with_its_levels() {
    let desk = skilled();
    assert_eq!(desk.gadfly(&["run", "analyze", "--task", "Go", "--yes", "--unattended", "--trust"]).code, 0);
    let said = desk.gadfly(&["show", &desk.run_id(), "--briefs"]);
    assert!(said.out.contains("level 2") && said.out.contains("skills/analyze/SKILL.md"), "{}", said.out);
    assert!(said.out.contains("agents/coder.md"), "{}", said.out);
}

#[test]
fn simple_is_one_worker_and_one_critic_without_a_registry() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    writes(&desk, "default", "a.txt", &["two\n"]);
    judges(&desk, "default-critic", &[70, 90]);
    let said = desk.gadfly(&["pipeline", "Change it", "--simple", "--yes", "--unattended", "--trust"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("a.txt"), "two\n");
}

#[test]
fn just_do_it_asks_nobody_and_commits_on_a_branch() {
    let desk = three();
    desk.saying("planner", &["# Plan\n"]);
    let head = desk.git(&["rev-parse", "HEAD"]);
    let args = ["pipeline", "Estimate", "--just-do-it", "--branch", "work/reform", "--unattended", "--trust"];
    let said = desk.gadfly(&args);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.git(&["rev-parse", "HEAD"]), head, "HEAD stays");
    assert_eq!(desk.git(&["show", "work/reform:out/memo.md"]), "# Estimand\n\nThe effect.\n");
    let changed = desk.git(&["diff", "--name-only", "HEAD", "work/reform"]);
    assert_eq!(changed, "out/code.py\nout/memo.md\nout/paper.md\n");
}

#[test]
fn a_run_that_was_exported_can_be_looked_at_elsewhere_and_gc_removes_it_whole() {
    let desk = three();
    assert_eq!(pipeline(&desk, &[]).code, 0);
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["export", &run, "run.zst"]).code, 0);
    let other = Desk::repository(&[("a.txt", "x\n")]);
    let file = desk.path("run.zst").display().to_string();
    let said = other.gadfly(&["import", &file]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(other.gadfly(&["show", &run]).out.contains("gate commit is open: 91.60"));
    assert_eq!(desk.gadfly(&["runs", "rm", &run]).code, 0);
    assert!(!desk.path(&format!(".gadfly/runs/{run}")).exists() && !desk.work(&run).exists());
}
