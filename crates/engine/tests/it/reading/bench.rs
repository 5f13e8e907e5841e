//! One small case per protocol, and what each reader makes of a reply to it.

use gadfly_engine::deduction::{Amount, DeductionRow, DeductionTable, Level, Points, slug};
use gadfly_engine::protocol::audit::report::{
    AuditCriterion as Claim, ExpectedReport as Audited, ReportVerdict,
};
use gadfly_engine::protocol::converge::sets::ConvergeCriterion;
use gadfly_engine::reading::quoted::Shown;
use gadfly_engine::reading::score::Expected;
use gadfly_engine::reading::status::Status;
use gadfly_engine::reading::{audit, pass, score, status};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    Revise,
    Score,
    Converge,
    Audit,
}

pub const ALL: [Protocol; 4] = [Protocol::Revise, Protocol::Score, Protocol::Converge, Protocol::Audit];

fn table() -> DeductionTable {
    let row = |text: &str, points: u32| DeductionRow {
        id: slug(text),
        category: None,
        text: text.to_owned(),
        points: Points::Flat(Amount::whole(points)),
        at: std::collections::BTreeMap::new(),
    };
    DeductionTable {
        rows: vec![row("No sample size", 50), row("Causal claim without design", 40), row("Filler", 2)],
        ..DeductionTable::default()
    }
}

/// Would the work pass by this reply? None: it is no verdict.
pub fn passes(protocol: Protocol, reply: &str, shown: &Shown) -> Option<bool> {
    read(protocol, reply, shown).ok()
}

/// Would the work pass by this reply, or why is it no verdict?
pub fn read(protocol: Protocol, reply: &str, shown: &Shown) -> Result<bool, String> {
    let read = match protocol {
        Protocol::Revise => status::read(reply, shown).map(|r| r.status == Status::Approved),
        Protocol::Score => {
            let table = table();
            let expected =
                Expected { table: Some(&table), level: Level::High, threshold: 80, by: "c", lens: None };
            score::read(reply, &expected, shown).map(|read| {
                let list = gadfly_engine::deduction::deductions(&read.findings);
                let sheet = gadfly_engine::deduction::tally(&table, Level::High, &list, read.stated);
                sheet.is_ok_and(|sheet| sheet.score >= 80)
            })
        }
        Protocol::Converge => {
            let criteria = ["COVERAGE", "DEPENDENCIES"]
                .map(|name| ConvergeCriterion { name: name.into(), question: format!("Does {name} hold?") });
            pass::read(reply, &criteria, 1, shown).map(|r| r.is_clean())
        }
        Protocol::Audit => {
            let criteria = ["half returns the half", "a test covers it"];
            let criteria: Vec<Claim> = criteria
                .iter()
                .zip(1..)
                .map(|(claim, n)| Claim { id: format!("SC-{n}"), claim: (*claim).to_owned() })
                .collect();
            let expected = Audited {
                task_id: "T1",
                round: 1,
                criteria: &criteria,
                by: "c",
                report_path: "scratch/r.json",
            };
            audit::read(reply, None, &expected, shown).map(|r| r.verdict() == ReportVerdict::Passed)
        }
    };
    read.map_err(|unread| unread.to_string())
}

/// Replies that approve, in words and as JSON.
pub fn approvals(protocol: Protocol) -> Vec<String> {
    let all: &[&str] = match protocol {
        Protocol::Revise => &[
            "[STATUS: APPROVED]\nThe sample size and the test are stated.",
            "**Status:** APPROVED\n\n- Sample size: met\n- Test: met",
            r#"{"reasoning": "x", "verdict": "approved", "reason": "All is met.", "items": [], "notes": []}"#,
            "status: approved\nreason: All three criteria are met.\nfixes: []",
            "<review>\n<status>APPROVED</status>\n<reason>All three criteria are met.</reason>\n</review>",
            "<h2>[STATUS: APPROVED]</h2>\n<p>All three criteria are met.</p>",
        ],
        Protocol::Score => &[
            r#"{"deductions": [], "score": 100, "notes": []}"#,
            r#"{"deductions": [{"row": "filler", "says": "Filler.", "fix": "Cut it."}], "count": 1, "score": 98, "notes": []}"#,
            "**Score:** 98/100\n\n## Score Breakdown\n- Filler: -2\n- **Final: 98/100**",
            "Score: 100/100",
            "deductions:\n  - row: filler\n    times: 1\n    says: Filler.\ncount: 1\nscore: 98",
        ],
        Protocol::Converge => &[
            "=== CRITIC 1 ===\n[COVERAGE] → 3 of 3 steps have a task\n  Verdict: PASS\n[DEPENDENCIES] → 3 tasks, 0 cycles\n  Verdict: PASS\n[ADVERSARIAL] Failure scenario: the index is empty\n  → Realistic? N → 0 of 2 orders lead there\n=== Result: CONVERGED (1 passes, 0 fixes, 0 escalations) ===",
            r#"{"reasoning": "x", "criteria": [{"name": "COVERAGE", "answer": "3 of 3", "verdict": "PASS", "fix": null, "reason": null, "escalation": null}, {"name": "DEPENDENCIES", "answer": "0 of 3 cycles", "verdict": "PASS", "fix": null, "reason": null, "escalation": null}], "scenarios": [{"scenario": "the index is empty", "realistic": false, "because": "0 of 2 orders", "fix": null}]}"#,
            "criteria:\n  - name: COVERAGE\n    answer: 3 of 3\n    verdict: PASS\n  - name: DEPENDENCIES\n    answer: 0 of 3 cycles\n    verdict: PASS\nadversarial:\n  scenario: the index is empty\n  realistic: false\n  because: 0 of 2 orders",
        ],
        Protocol::Audit => &[
            r#"{"critic": "critic", "task_id": "T1", "round": 1, "criteria": [{"id": "SC-1", "claim": "half returns the half", "verdict": "Satisfied", "evidence": "src/calc.py:3", "missing_info": null}, {"id": "SC-2", "claim": "a test covers it", "verdict": "Satisfied", "evidence": "tests/test_calc.py:2", "missing_info": null}], "findings": [], "verdict": "passed", "partial": false}"#,
        ],
    };
    all.iter().map(|reply| (*reply).to_owned()).collect()
}

/// Replies that reject, in words and as JSON, on one line and on many.
pub fn rejections(protocol: Protocol) -> Vec<String> {
    let all: &[&str] = match protocol {
        Protocol::Revise => &[
            "[STATUS: REJECTED]\n- \"several mice\" is no sample size: state the number of mice per group.\n- No statistical test is named: name the test.",
            "## [STATUS: REJECTED]\n\n1. State the sample size.\n2. Name the test.\n3. Shorten the title.",
            "Here is my review.\n\n**Status:** REJECTED\n\n| Item | Verdict |\n|---|---|\n| Size | not met |\n| Test | not met |",
            "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✓ 1: stated\nStill unresolved:\n- 2: no test is named.",
            "status: rejected\nreason: Two things are open.\nfixes:\n  - State the sample size.\n  - Name the test.",
            "<review>\n<status>REJECTED</status>\n<fixes>\n<fix>State the size.</fix>\n<fix>Name the test.</fix>\n</fixes>\n</review>",
            "<h2>[STATUS: REJECTED]</h2>\n<ul>\n<li>State the size.</li>\n<li>Name the test.</li>\n</ul>",
            r#"{"reasoning": "No size.", "verdict": "rejected", "reason": "", "items": [{"number": null, "state": "open", "what": "No size.", "fix": "State it."}, {"number": null, "state": "open", "what": "No test.", "fix": "Name it."}], "notes": []}"#,
        ],
        Protocol::Score => &[
            r#"{"deductions": [{"row": "no-sample-size", "times": 1, "says": "No size.", "fix": "State it."}, {"row": "causal-claim-without-design", "times": 1, "says": "Causal.", "fix": "Weaken it."}], "count": 2, "score": null, "notes": []}"#,
            r#"{"deductions": [{"row": "no-sample-size", "says": "No size.", "fix": "State it."}, {"row": "filler", "says": "Filler.", "fix": "Cut it."}], "score": 48, "notes": []}"#,
            "deductions:\n  - row: no-sample-size\n    times: 1\n    says: No size.\n  - row: filler\n    times: 1\n    says: Filler.\ncount: 2\nscore: 48",
            "deductions:\n  - row: no-sample-size\n    times: 1\n  - row: causal-claim-without-design\n    times: 1\ncount: 2",
            "**Score:** 10/100\n\n## Score Breakdown\n- No sample size: -50\n- Causal claim without design: -40\n- **Final: 10/100**",
            "- No sample size: -50\n- Causal claim without design: -40\n\nScore: 10/100",
            "| Issue | Deduction |\n|---|---|\n| No sample size | -50 |\n| Filler | -2 |\n\n**Score: 48/100**",
        ],
        Protocol::Converge => &[
            "=== CRITIC 1 ===\n[COVERAGE] → 2 of 3 steps have a task; the error page is missing\n  Verdict: FAIL (add a task for the error page)\n[DEPENDENCIES] → 3 tasks, 0 cycles\n  Verdict: PASS\n[ADVERSARIAL] Failure scenario: the index is empty\n  → Realistic? N → 0 of 2 orders lead there\n=== Result: CONTINUE (1 fixed) ===",
            "=== CRITIC 1 ===\n[COVERAGE] → 3 of 3 steps have a task\n  Verdict: PASS\n[DEPENDENCIES] → 3 tasks, 0 cycles\n  Verdict: PASS\n[ADVERSARIAL] Failure scenario: two people index at once\n  → Realistic? Y → FAIL + add a lock",
            "| Criterion | Answer | Verdict |\n|---|---|---|\n| COVERAGE | 3 of 3 | FAIL (add a task) |\n| DEPENDENCIES | 0 cycles of 3 tasks | PASS |\n\n[ADVERSARIAL] Failure scenario: x happens\n  → Realistic? N → 0 of 2",
            "criteria:\n  - name: COVERAGE\n    answer: 2 of 3\n    verdict: FAIL\n    fix: add a task\n  - name: DEPENDENCIES\n    answer: 0 of 3 cycles\n    verdict: PASS\nadversarial:\n  scenario: the index is empty\n  realistic: false\n  because: 0 of 2 orders",
            r#"{"criteria": [{"name": "COVERAGE", "answer": "2 of 3", "verdict": "FAIL", "fix": "add a task", "reason": null, "escalation": null}, {"name": "DEPENDENCIES", "answer": "0 cycles", "verdict": "PASS", "fix": null, "reason": null, "escalation": null}], "scenarios": [{"scenario": "x happens", "realistic": false, "because": "0 of 2", "fix": null}]}"#,
        ],
        Protocol::Audit => &[
            r#"{"critic": "critic", "task_id": "T1", "round": 1, "criteria": [{"id": "SC-1", "claim": "half returns the half", "verdict": "Satisfied", "evidence": "src/calc.py:3", "missing_info": null}, {"id": "SC-2", "claim": "a test covers it", "verdict": "Unsatisfied", "evidence": "tests/test_calc.py:2 tests no odd number", "missing_info": null}], "findings": [{"id": "C-001", "category": "missing-test", "severity": "fail", "file": "tests/test_calc.py", "line": 2, "quote": null, "remediation": "Add a test with an odd number.", "criterion_id": "SC-2", "question_to_user": null}], "verdict": "issues_found", "partial": false}"#,
            "task_id: T1\nround: 1\ncriteria:\n  - id: SC-1\n    verdict: Satisfied\n    evidence: src/calc.py:3\n  - id: SC-2\n    verdict: Unsatisfied\n    evidence: tests/test_calc.py:2\nfindings:\n  - category: missing-test\n    severity: fail\n    remediation: Add a test.\nverdict: issues_found",
            r#"{"task_id": "T1", "round": 1, "criteria": [{"id": "SC-1", "verdict": "Unsatisfied", "evidence": "it does not"}, {"id": "SC-2", "verdict": "Satisfied", "evidence": "tests/test_calc.py:2"}], "findings": [], "verdict": "issues_found"}"#,
            r#"{"critic": "critic", "task_id": "T1", "round": 1, "criteria": [{"id": "SC-1", "verdict": "Satisfied", "evidence": "src/calc.py:3"}, {"id": "SC-2", "verdict": "Satisfied", "evidence": "tests/test_calc.py:2"}], "findings": [{"category": "style", "severity": "nit", "file": "src/calc.py", "line": 3, "remediation": "Name it."}], "verdict": "issues_found"}"#,
        ],
    };
    let mut replies: Vec<String> = all.iter().map(|reply| (*reply).to_owned()).collect();
    let pretty: Vec<String> = replies
        .iter()
        .filter_map(|reply| serde_json::from_str::<serde_json::Value>(reply).ok())
        .map(|value| serde_json::to_string_pretty(&value).unwrap())
        .collect();
    replies.extend(pretty);
    replies
}

#[test]
fn the_bench_itself_is_read_as_it_is_meant() {
    for protocol in ALL {
        for reply in approvals(protocol) {
            assert_eq!(passes(protocol, &reply, &Shown::default()), Some(true), "{protocol:?}: {reply}");
        }
        for reply in rejections(protocol) {
            assert_eq!(passes(protocol, &reply, &Shown::default()), Some(false), "{protocol:?}: {reply}");
        }
    }
}
