//! `check` and `doctor` on a project with a registry: sound, messy and broken.

use serde_json::Value;

use crate::project::desk::{Desk, REGISTRY};

#[test]
fn a_sound_project_is_summed_up() {
    let desk = Desk::new();
    desk.gadfly(&["check"])
        .is(0)
        .says("claude layout")
        .says("4 entries, 7 agents, 1 skills")
        .says("project wages (from `CLAUDE.md`)")
        .says("7 of 8 conditions machine-checked")
        .says("weight identification 60% (normalised 50%)")
        .says("weights add up to 120%: normalised");
}

#[test]
fn everything_that_is_wrong_is_said_at_once_with_its_line() {
    let desk = Desk::new();
    let broken = REGISTRY
        .replace("- **CRITIC:** coder-critic", "- **CRITIC:** codr-critic")
        .replace("- **REQUIRES:** `scripts/` AND", "- **REQUIRES:** `paper/main.tex` AND")
        .replace("`theory/memo.md`", "`../outside/memo.md`");
    desk.write(".claude/rules/permissions.md", &broken);
    desk.write(".claude/agents/ghost.md", "---\nname: ghost\n---\nYou are a CREATOR.");
    let said = desk.gadfly(&["check", "--json"]).is(2);
    let lines: Vec<Value> = said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, problems) = lines.split_last().unwrap();
    let at = |what: &str| {
        let found = problems.iter().find(|p| p["message"].as_str().is_some_and(|m| m.contains(what)));
        let found = found.unwrap_or_else(|| panic!("`{what}` is not in {problems:#?}"));
        (found["severity"].as_str().unwrap().to_owned(), found["at"]["line"].as_u64())
    };
    assert_eq!(at("codr-critic"), ("error".into(), Some(16)));
    assert_eq!(at("../outside"), ("error".into(), Some(31)));
    assert_eq!(at("`ghost` has a file and no entry").0, "warning");
    assert!(summary["summary"]["errors"].as_u64().unwrap() >= 2, "{summary}");
    assert_eq!(summary["summary"]["project"]["layout"], "claude");
    desk.gadfly(&["check"]).is(2).says("did you mean `coder-critic`?");
    desk.gadfly(&["next"]).is(2).says("codr-critic");
}

#[test]
fn what_had_to_be_guessed_is_said_with_its_place() {
    let desk = Desk::new();
    desk.write(
        ".claude/agents/coder.md",
        "\u{feff}---\r\nname: coder\r\ndescription: writes [STATUS: code]: carefully\r\ntools: Read, Write\r\n---\r\nYou are a CREATOR.\r\n",
    );
    desk.gadfly(&["check"]).is(0).says("guessed: .claude/agents/coder.md:3");
    desk.gadfly(&["doctor"]).is(0).says("claude layout (").says("guessed: .claude/agents/coder.md:3");
    let doctor = desk.gadfly(&["doctor", "--json"]).is(0).json();
    assert_eq!(doctor["layout"]["is"], "claude");
}

#[test]
fn nobody_knows_the_project_and_nobody_is_configured() {
    let desk = Desk::new();
    desk.write("CLAUDE.md", "# Template\n\n**Project:** [Your project]\n");
    desk.gadfly(&["check"]).is(2).says("`{project}` is used in the registry but not set");
    desk.write("gadfly.toml", "[project]\nname = \"wages\"\n");
    desk.gadfly(&["check"]).is(0);
    std::fs::remove_file(desk.beside("home/.config/gadfly/gadfly.toml")).unwrap();
    desk.gadfly(&["check"]).is(0).says("no agent configured for `strategist`").says("[agents.default]");
}

#[test]
fn hooks_and_strays_are_named() {
    let desk = Desk::new();
    desk.write(".claude/hooks/verify.sh", "#!/bin/sh\n");
    desk.write("quality_reports/strategy/strategy_memo_wages.md", "# Memo\n");
    desk.write("gadfly.toml", "[hooks]\npre-commit = \"make lint\"\n");
    desk.gadfly(&["check", "--all"])
        .is(0)
        .says("hook: pre-commit: make lint")
        .says(".claude/hooks/verify.sh is not run")
        .says("suggestion: quality_reports/strategy/strategy_memo_wages.md may be");
}

#[test]
fn goals_are_counted() {
    let desk = Desk::bare();
    desk.write(
        "gadfly.toml",
        "[agents.a]\nkind = \"command\"\ncommand = [\"/bin/true\"]\n[goals.x]\ngoal = \"Do it.\"\nworker = \"a\"\ncritic = \"a\"\n[goals.x.until]\ncommand = \"true\"\n",
    );
    let said = desk.gadfly(&["check", "--json"]);
    assert_eq!(said.json()["summary"]["goals"], 1, "{said:?}");
}

#[test]
fn a_template_as_it_comes_is_warned_about_in_a_few_true_lines() {
    let desk = Desk::new();
    desk.write(
        ".claude/skills/strategize/SKILL.md",
        "---\nname: strategize\ndescription: Design\n---\nDispatch the strategist, then the strategist-critic.\n\
         Save memo to `quality_reports/strategy_memo_[topic].md`.\n\
         Save the review to `quality_reports/strategy_memo_[topic]_review.md`.\n\
         Save decisions to `quality_reports/decisions/strategy_[topic].md`.\n\
         Proofs go to `quality_reports/theory/[topic]/proofs.tex`, output to /dev/null or /tmp/x, never /Users/name/.\n\
         Run \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/lint.sh and see ~/.claude/projects/.../memory/.\n",
    );
    let said = desk.gadfly(&["check"]);
    let told = format!("{}{}", said.out, said.err);
    assert_eq!(told.matches("warning: ").count(), 1, "{told}");
    assert!(told.contains("saves at `quality_reports/strategy_memo_[topic].md`, and the registry expects it from `strategist`"), "{told}");
}
