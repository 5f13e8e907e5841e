//! What critics say: mostly well formed, sometimes wrong about the number, the task, a place or a total,
//! sometimes no verdict at all.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::chance::Chance;
use super::world::Game;

pub const CRITERIA: [&str; 2] = ["COMPLETENESS", "EDGE_CASES"];
pub const TASK_ID: &str = "T-1";

pub fn critic(game: Game, number: u32, good: bool, chance: &mut Chance) -> String {
    if chance.percent(6) {
        return chance
            .pick(&["", "Looks good to me.", "[STATUS: APPROVED]", "{}", "```json\n{\"a\":"])
            .to_owned();
    }
    match game {
        Game::Score => score(good, chance),
        Game::Audit => audit(number, good, chance),
        Game::Converge => converge(number, good, chance),
    }
}

fn score(good: bool, chance: &mut Chance) -> String {
    let mut deductions: Vec<Value> = Vec::new();
    let most = if good { 1 } else { 4 };
    for _ in 0..chance.below(most + 1) {
        let row = chance.pick(&["missing-source", "vague", "no-unit"]);
        let quote = chance.pick(&["The moon", "words nobody wrote", "is far away"]);
        deductions.push(json!({
            "row": row, "times": 1 + chance.below(3), "quote": quote, "says": "too thin here", "fix": "add it",
        }));
    }
    json!({ "deductions": deductions, "score": chance.below(101) }).to_string()
}

fn audit(round: u32, good: bool, chance: &mut Chance) -> String {
    let mut criteria = Vec::new();
    let mut all = true;
    for id in ["SC-1", "SC-2"] {
        if chance.percent(4) {
            all = false;
            continue;
        }
        let satisfied = good || chance.percent(50);
        all &= satisfied;
        let verdict =
            if satisfied { "Satisfied" } else { chance.pick(&["Unsatisfied", "Information-Missing"]) };
        let evidence = chance.pick(&["src/a.rs:1", "src/a.rs:1 \"fn a\"", "src/ghost.rs:4"]);
        criteria.push(json!({
            "id": id, "claim": "it works", "verdict": verdict, "evidence": evidence,
            "missing_info": if verdict == "Information-Missing" { json!("which port") } else { Value::Null },
        }));
    }
    let mut findings = Vec::new();
    if !good {
        for n in 0..chance.below(3) {
            let category = chance.pick(&[
                "style",
                "missing-test",
                "edge-case-gap",
                "question-to-user",
                "locked-decision-violation",
                "shrug",
                "weak-assertion",
                "dead-code",
                "unmet-criterion",
            ]);
            findings.push(json!({
                "id": format!("C-{n:03}"), "category": category, "severity": chance.pick(&["fail", "risk", "nit"]),
                "file": "src/a.rs", "line": chance.pick(&["1", "900"]).parse::<u32>().unwrap(),
                "remediation": chance.pick(&["rename it", "cover the empty case", "say why"]),
                "criterion_id": null,
                "question_to_user": if category == "question-to-user" { json!("Which one?") } else { Value::Null },
            }));
        }
    }
    let passed = all && criteria.len() == 2 && findings.is_empty();
    let verdict = if passed ^ chance.percent(4) { "passed" } else { "issues_found" };
    let task_id = if chance.percent(4) { "T-9" } else { TASK_ID };
    let round = if chance.percent(4) { round + 7 } else { round };
    json!({ "critic": "critic", "task_id": task_id, "round": round, "criteria": criteria, "findings": findings,
            "verdict": verdict })
    .to_string()
}

fn converge(pass: u32, good: bool, chance: &mut Chance) -> String {
    let pass = if chance.percent(4) { pass + 3 } else { pass };
    let mut out = format!("=== CRITIC {pass} ===\n");
    let mut blocks = String::new();
    for (at, name) in CRITERIA.iter().enumerate() {
        if chance.percent(3) {
            continue;
        }
        let verdict = if good { "PASS" } else { chance.pick(&["PASS", "FAIL", "ESCALATE", "DEFER"]) };
        let rationale = if chance.percent(5) { "all fine" } else { "3 of 3 parts covered" };
        let _ = write!(out, "[{name}] is it there? → {rationale}\n  Verdict: ");
        let _ = match verdict {
            "FAIL" => writeln!(out, "FAIL (add part {})", chance.below(3)),
            "DEFER" => writeln!(out, "DEFER (needs the customer)"),
            other => writeln!(out, "{other}"),
        };
        if verdict == "ESCALATE" && !chance.percent(10) {
            let _ = write!(
                blocks,
                "=== CRITIC ESCALATION ({}) ===\n[{name}] which way?\n\nIssue: two ways are open.\nWhy escalation: \
                 multiple valid approaches\n\nOptions:\n  1. A — one way\n     Pro: short  Con: rigid\n  2. B — another\n     \
                 Pro: open  Con: long\n  3. Skip — keep current state, mark as [DEFERRED]\n\n",
                at + 1
            );
        }
    }
    out.push_str(&blocks);
    let realistic = !good && chance.percent(30);
    let answer = if realistic { "Y → FAIL: handle the empty list" } else { "N → 0 of 4 callers do that" };
    let _ = write!(out, "[ADVERSARIAL] Failure scenario: the list is empty\n  → Realistic? {answer}\n");
    let claim = chance.pick(&["CONVERGED (1 passes, 0 fixes, 0 escalations)", "CONTINUE (2 fixed)"]);
    let _ = writeln!(out, "=== Result: {claim} ===");
    out
}
