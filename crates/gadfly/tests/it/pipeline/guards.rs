//! What stands in the way: hooks, a registry that cannot work, gates.

use crate::pipeline::desk::alive;
use crate::pipeline::stage::{one, pipeline, project, three};

#[test]
fn a_hook_that_hangs_is_cut_by_its_timeout_and_nobody_is_paid() {
    let desk = one(&["print(1)\n"], &[90]);
    let mark = format!("73{}.5", std::process::id());
    desk.configure(&format!(
        "[hooks]\npre-dispatch = \"sleep {mark}\"\ntimeout = \"1s\"\n[pipeline]\noverall = 1\n"
    ));
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("✗ pre-dispatch `sleep"), "{}", said.err);
    assert!(said.err.contains("coder blocked"), "{}", said.err);
    assert_eq!(desk.calls(), 0);
    assert!(alive(&mark).is_empty(), "the hook is still running");
    assert!(!desk.path("out/code.py").exists());
}

#[test]
fn what_a_hook_prints_is_shown_and_it_blocks_a_resume() {
    let desk = three();
    desk.saying("planner", &["# Plan\n"]);
    let said = desk.gadfly(&["pipeline", "Estimate", "--unattended", "--trust"]);
    assert_eq!(said.code, 4, "{}", said.err);
    let run = desk.run_id();
    desk.configure("[hooks]\nbefore-resume = [\"echo the tree is dirty; exit 7\"]\n");
    assert_eq!(desk.gadfly(&["answer", &run, "approve"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("the tree is dirty") && said.err.contains("exit code 7"), "{}", said.err);
    assert!(!desk.path("out").exists(), "the run was taken up");
    assert_eq!(desk.gadfly(&["resume", "--all", "--unattended"]).code, 3);
}

#[test]
fn a_registry_with_too_many_agents_is_refused_in_a_few_lines() {
    let entry = |n: usize| {
        format!(
            "## agent{n}\n- REQUIRES: None\n- PRODUCES: `out/{n}.md`\n- CRITIC: agent{n}-critic\n- ESCALATION_TARGET: User\n\n"
        )
    };
    let desk = project(&(0..3_000).map(entry).collect::<String>());
    desk.saying("default", &["x"]);
    for said in [pipeline(&desk, &[]), desk.gadfly(&["check"])] {
        assert_eq!(said.code, 2, "{}", said.err.get(..2000).unwrap_or(&said.err));
        let told = format!("{}{}", said.out, said.err);
        assert_eq!(told.matches("more than 2000 agents").count(), 1, "{told}");
        assert!(
            told.lines().count() < 40,
            "{} lines: {}",
            told.lines().count(),
            told.get(..3000).unwrap_or(&told)
        );
    }
}

#[test]
fn a_circle_in_the_registry_is_refused_with_its_path() {
    let desk = project(
        "## a\n- REQUIRES: `b/x.md`\n- PRODUCES: `a/x.md`\n- CRITIC: k\n- ESCALATION_TARGET: User\n- QUALITY_WEIGHT: 50%\n\n\
         ## b\n- REQUIRES: `a/x.md`\n- PRODUCES: `b/x.md`\n- CRITIC: k\n- ESCALATION_TARGET: User\n- QUALITY_WEIGHT: 50%\n",
    );
    desk.saying("default", &["x"]);
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("permissions.md") && said.err.contains("a → b → a"), "{}", said.err);
    assert!(!desk.path(".gadfly/journal.db").exists(), "nothing was started");
}

#[test]
fn a_hook_of_the_projects_own_files_needs_a_persons_word() {
    let desk = one(&["print(1)\n"], &[90]);
    desk.write("gadfly.toml", "[project]\nname = \"reform\"\n[hooks]\npre-dispatch = \"touch ../pwned\"\n");
    let said = desk.gadfly(&["pipeline", "Go", "--no-plan", "--yes", "--unattended"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("pre-dispatch hook") && !desk.beside("pwned").exists(), "{}", said.err);
    // A loop has no use for it, and does not ask.
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let said = desk.gadfly(&[
        "run",
        "Write it",
        "--criterion",
        "short",
        "--worker",
        "w",
        "--critic",
        "c",
        "--unattended",
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
}

#[test]
fn before_anything_is_sent_it_is_said_who_takes_part_and_what_it_is_held_to() {
    let desk = three();
    let said = desk.gadfly(&[
        "pipeline",
        "Estimate",
        "--no-plan",
        "--dry-run",
        "--trust",
        "--gate",
        "pr",
        "--jobs",
        "2",
    ]);
    assert_eq!(said.code, 0, "{}", said.err);
    for part in [
        "worker  → this machine (",
        "agents  3, 2 at work at once",
        "gate    pr, at most 5 overall rounds",
        "3 rounds of each pair",
    ] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
    assert!(!desk.path(".gadfly/journal.db").exists());
    let wrong = desk.gadfly(&["pipeline", "Estimate", "--no-plan", "--gate", "comit", "--trust"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    assert!(wrong.err.contains("commit"), "{}", wrong.err);
}

#[test]
fn a_gate_that_was_open_closes_when_judged_work_is_changed_or_deleted() {
    let desk = three();
    assert_eq!(pipeline(&desk, &[]).code, 0);
    let gate = |name: &str| desk.gadfly(&["gate", name]);
    let closed_by = |says: &str| {
        for name in ["commit", "pr", "exploration"] {
            let said = gate(name);
            assert!(said.code == 3 && said.out.contains(says), "{name}: {said:?}");
        }
    };
    assert_eq!(gate("commit").code, 0);
    // The lowest score would be left out of the sum, and the rest be more than 90.
    let code = desk.read("out/code.py");
    desk.write("out/code.py", "print(2)\n");
    closed_by("coder: out/code.py changed since it was judged");
    std::fs::remove_file(desk.path("out/code.py")).unwrap();
    closed_by("coder: out/code.py is gone since it was judged");
    desk.write("out/code.py", &code);
    assert_eq!(gate("commit").code, 0, "as it was judged it counts again");
}

#[test]
fn work_of_which_nothing_is_shown_to_its_critic_does_not_pass() {
    let desk = one(&["print(1)\n"], &[100]);
    desk.write("gadfly.toml", "[project]\nname = \"reform\"\nunjudged = [\"out/**\"]\n");
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 5, "{said:?}");
    assert!(said.err.contains("`unjudged` in [project] leaves out all that there is to judge"), "{said:?}");
    assert_eq!(desk.gadfly(&["gate", "commit"]).code, 3);
}
