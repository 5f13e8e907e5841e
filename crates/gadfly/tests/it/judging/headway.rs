//! Loops that lead nowhere end with their own reason, long before a cap of fifty.

use crate::judging::desk::{Answer, Desk, report};

const CAP: &str = "50";
const FAR_BELOW_THE_CAP: u64 = 8;

fn ends(desk: &Desk, state: &str, code: i32) {
    assert_eq!(code, 3);
    let run = desk.newest();
    assert_eq!(run["state"].as_str(), Some(state), "{}", desk.told());
    let rounds = run["rounds"].as_u64().unwrap();
    assert!((2..=FAR_BELOW_THE_CAP).contains(&rounds), "{rounds} rounds");
    let shown = desk.gadfly(&["show", run["run"].as_str().unwrap()]).out;
    assert!(shown.contains(state), "{shown}");
}

const PLACES: [&str; 8] = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
const RULES: [&str; 8] = [
    "dead-code",
    "missing-test",
    "style",
    "edge-case-gap",
    "weak-assertion",
    "test-naming",
    "comment-hygiene",
    "import-hygiene",
];

/// An audit over a file with eight sections. The worker rewrites `b.txt`, by turns; what the critic finds in
/// round N is up to `finding`.
fn audit(drafts: &[&str], finding: impl Fn(usize) -> (&'static str, u32, String)) -> (Desk, i32) {
    let sections = PLACES.map(|place| format!("# {place}\n\nthe words of {place}\n\n")).concat();
    let desk = Desk::repository(&[("a.md", &sections), ("b.txt", "zero\n")]);
    let files: Vec<_> = drafts.iter().map(|text| [("b.txt", *text)]).collect();
    let answers: Vec<_> = files.iter().map(|f| Answer { text: "done", files: f, delete: &[] }).collect();
    let turns = (0..48).map(|n| &answers[n % answers.len()]);
    let turns: Vec<_> = turns.map(|a| Answer { text: a.text, files: a.files, delete: a.delete }).collect();
    desk.scripted("w", &turns);
    let replies: Vec<String> = (0..48)
        .map(|n| {
            let (rule, line, fix) = finding(n);
            let found = [(rule, "fail", Some(("a.md", line)), fix.as_str())];
            let round = u32::try_from(n).unwrap() + 1;
            report("do-it", round, &[("SC-1", "Satisfied", "b.txt:1")], &found, "issues_found")
        })
        .collect();
    desk.saying("c", &replies.iter().map(String::as_str).collect::<Vec<_>>());
    let said = desk.audit(&["--rounds", CAP]);
    (desk, said.code)
}

fn growing() -> Vec<String> {
    (0..48).map(|n| format!("draft {n} of {}\n", "x".repeat(n))).collect()
}

#[test]
fn an_audit_whose_critic_raises_only_new_points_ends_as_churn() {
    let drafts = growing();
    let drafts: Vec<&str> = drafts.iter().map(String::as_str).collect();
    let (desk, code) = audit(&drafts, |n| {
        let at = n % PLACES.len();
        (
            RULES[at],
            u32::try_from(4 * at + 3).unwrap(),
            format!("rewrite what {} says about {}", PLACES[at], RULES[at]),
        )
    });
    ends(&desk, "halted(churn)", code);
}

#[test]
fn an_audit_between_two_drafts_ends_as_oscillation() {
    let (desk, code) = audit(&["one\n", "two\n"], |n| {
        let at = n % 2;
        (RULES[at], u32::try_from(4 * at + 3).unwrap(), format!("rewrite {}", PLACES[at]))
    });
    ends(&desk, "halted(oscillation)", code);
}

#[test]
fn an_audit_that_fixes_nothing_ends_as_plateau() {
    let drafts = growing();
    let drafts: Vec<&str> = drafts.iter().map(String::as_str).collect();
    let (desk, code) = audit(&drafts, |_| ("missing-test", 3, "add a test for alpha".to_owned()));
    ends(&desk, "halted(plateau)", code);
}

fn converge(drafts: &[&str], fail: impl Fn(usize) -> (String, String)) -> (Desk, i32) {
    let desk = Desk::folder(&[]);
    let turns: Vec<&str> = (0..48).map(|n| drafts[n % drafts.len()]).collect();
    desk.saying("w", &turns);
    let replies: Vec<String> = (1..=48)
        .map(|n| {
            let (answer, fix) = fail(n - 1);
            format!(
                "=== CRITIC {n} ===\n[COVERAGE] Is every step covered? → {answer}\n  Verdict: FAIL ({fix})\n\
                 [DEPENDENCIES] Is the order free of cycles? → 2 tasks, 0 cycles\n  Verdict: PASS\n\
                 [ADVERSARIAL] Failure scenario: nobody comes\n  → Realistic? N → 0 of 2 tasks need anybody\n\
                 === Result: CONTINUE (1 fixed) ===\n"
            )
        })
        .collect();
    desk.saying("c", &replies.iter().map(String::as_str).collect::<Vec<_>>());
    let args = [
        "run",
        "Write it",
        "--protocol",
        "converge",
        "--worker",
        "w",
        "--critic",
        "c",
        "--criteria",
        "tasks",
    ];
    let said =
        desk.gadfly(&[&args[..], &["--rounds", CAP, "--yes", "--unattended", "--out", "o.md"]].concat());
    assert!(!desk.path("o.md").exists());
    (desk, said.code)
}

#[test]
fn converge_ends_as_plateau_and_as_oscillation() {
    let drafts = growing();
    let drafts: Vec<&str> = drafts.iter().map(String::as_str).collect();
    let same = |_| ("1 of 2 steps have a task".to_owned(), "add the task for the second step".to_owned());
    let (desk, code) = converge(&drafts, same);
    ends(&desk, "halted(plateau)", code);
    let (desk, code) = converge(&["Task one.\n", "Task two.\n"], |n| {
        let what = ["the index", "the search page"][n % 2];
        (format!("1 of 2 steps have a task; {what} has none"), format!("add a task for {what}"))
    });
    ends(&desk, "halted(oscillation)", code);
    assert!(desk.told().contains("⚠ Critic stopped: oscillation"), "{}", desk.told());
}

#[test]
fn score_stops_early_on_request_and_only_then() {
    let low = r#"{"deductions":[{"row":"no-sample-size","times":1,"where":"draft:1","quote":"draft","says":"no n","fix":"state n"}],"score":70}"#;
    for stop in [true, false] {
        let desk =
            Desk::folder(&[("r.md", "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n")]);
        let drafts = growing();
        desk.saying("w", &drafts.iter().map(String::as_str).collect::<Vec<_>>());
        desk.saying("c", &[low]);
        let args =
            ["run", "Write", "--protocol", "score", "--worker", "w", "--critic", "c", "--rubric", "r.md"];
        let more: &[&str] = if stop { &["--stop-early", "--rounds", CAP] } else { &["--rounds", "10"] };
        let said = desk.gadfly(&[&args[..], &["--yes", "--unattended"], more].concat());
        if stop {
            ends(&desk, "halted(plateau)", said.code);
        } else {
            assert_eq!((said.code, desk.newest()["rounds"].as_u64()), (4, Some(10)), "{}", said.err);
        }
    }
}
