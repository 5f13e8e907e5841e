//! The table of strict rules in `docs/protocols/reading.md`, walked: each of its rules has a reply that would pass but for one
//! thing, and is refused for just that thing. With a rule switched off its reply passes, or is refused for something else; a
//! rule without a case, or a case without a rule, is red, too.

use std::collections::BTreeSet;

use gadfly_engine::reading::quoted::Shown;

use crate::reading::bench::{Protocol, read};

const PAGE: &str = include_str!("../../../../../docs/protocols/reading.md");

/// The rows of the tables of rules: where, which rule, its examples.
fn rules() -> Vec<(Protocol, &'static str, Vec<String>)> {
    let sections = [
        ("### In the critic's own words", Protocol::Revise),
        ("### In score", Protocol::Score),
        ("### In converge", Protocol::Converge),
        ("### In audit", Protocol::Audit),
    ];
    let mut rules = Vec::new();
    for (heading, protocol) in sections {
        let section = PAGE.split(heading).nth(1).unwrap().split("\n### ").next().unwrap();
        let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
        for row in rows.take_while(|line| line.starts_with('|')) {
            let mut cells = row.trim_matches('|').splitn(2, '|').map(str::trim);
            let (rule, examples) = (cells.next().unwrap(), cells.next().unwrap());
            let examples = examples.split('`').skip(1).step_by(2).map(|text| text.replace(" ⏎ ", "\n"));
            rules.push((protocol, rule, examples.collect()));
        }
    }
    rules
}

/// What each rule of `revise` says of its examples, which are whole replies.
const OWN: &[(&str, &str)] = &[
    ("another status word", "it states two different verdicts"),
    ("a status that is neither", "the status is neither approved nor rejected"),
    ("it says that it does not approve", "says that it does not"),
    ("a condition behind the token", "on a condition"),
    ("a condition elsewhere", "on a condition"),
    ("something is left to others or to later", "on a condition"),
    ("a demand in a list", "asks for a change"),
    ("a demand in a sentence", "asks for a change"),
    ("something is wrong or missing", "something is wrong"),
    ("something is denied that is not bad", "something is wrong"),
    ("an open question", "something is wrong"),
    ("the same in another language", "something is wrong"),
    ("a remark that is set off", "asks for a change"),
    ("met in part", "Sample size: partial"),
    ("an item is left open", "2: no test"),
    ("fewer than all", "counts fewer than all"),
    ("the work was not seen", "not seen or not judged"),
    ("a part was not judged", "not seen or not judged"),
    ("a refusal", "not seen or not judged"),
    ("it judges its own rewrite", "something else than the work"),
    ("it does what the work told it", "something else than the work"),
    ("the reply is cut off", "it ends in the middle"),
    ("the critic is not sure", "is not sure"),
    ("it lets something pass", "lets something pass"),
    ("a criterion that is not met, called minor", "asks for a change"),
    ("it speaks of something else than what is there", "whether this speaks for it"),
    ("it did something else than to review", "whether this speaks for it"),
    ("found wanting in passing, beside praise", "something is wrong"),
    ("a fault that nothing denies and nothing says is over", "something is wrong"),
    ("less than it should be", "something is wrong"),
    ("nothing in the sentence affirms", "what this says for it"),
    ("trouble of an earlier round, and part of it may still be so", "something is wrong"),
    ("taking leave with something to be done", "asks for a change"),
    ("a tool that failed", "Error: File does not exist."),
    ("a list nobody can place", "样本量未说明"),
    ("some of several criteria are counted", "some of the criteria only"),
    ("it speaks of another kind of work", "it speaks of another work"),
];

/// What passes, what is put in place of what in it, and what is said of that.
struct Case {
    rule: &'static str,
    from: &'static str,
    to: &'static str,
    why: &'static str,
}

const fn case(rule: &'static str, from: &'static str, to: &'static str, why: &'static str) -> Case {
    Case { rule, from, to, why }
}

/// Reports by which the work passes.
const SCORE: &str = "{\"deductions\": [{\"row\": \"filler\", \"says\": \"The last sentence says nothing.\"}], \"count\": 1, \"score\": 98}";
const SCORE_NONE: &str = "{\"deductions\": [], \"count\": 0}";
const SCORE_WORDS: &str = "## Score Breakdown\n- Filler: -2\n\n**Score:** 98/100\n";
const PASS: &str = "[COVERAGE] → 3 of 3 steps have a task\n  Verdict: PASS\n[DEPENDENCIES] → 3 tasks, 0 cycles\n  Verdict: PASS\n[ADVERSARIAL] Failure scenario: two people index at once\n  → Realistic? N → 1 task indexes, 0 others write\n";
const PASS_JSON: &str = r#"{"criteria": [{"name": "COVERAGE", "answer": "3 of 3", "verdict": "PASS", "fix": null}, {"name": "DEPENDENCIES", "answer": "0 of 3 cycles", "verdict": "PASS", "fix": null}], "scenarios": [{"scenario": "the index is empty", "realistic": false, "because": "0 of 2 orders", "fix": null}]}"#;
const AUDIT: &str = r#"{"critic": "critic", "task_id": "T1", "round": 1, "criteria": [{"id": "SC-1", "claim": "half returns the half", "verdict": "Satisfied", "evidence": "src/calc.py:3", "missing_info": null}, {"id": "SC-2", "claim": "a test covers it", "verdict": "Satisfied", "evidence": "tests/test_calc.py:2", "missing_info": null}], "findings": [], "verdict": "passed", "partial": false}"#;

const SCORE_CASES: &[Case] = &[
    case(
        "a stated total below the threshold",
        "\"score\": 98",
        "\"score\": 40",
        "it states 40, which does not pass",
    ),
    case(
        "a total below 100, and nothing deducted",
        "\"count\": 0",
        "\"count\": 0, \"score\": 90",
        "states 90 and lists no deduction",
    ),
    case("two different totals", "**Score:** 98/100", "**Score:** 98/100\n**Final: 96/100**", "98 and 96"),
    case("a stated FAIL", "\"score\": 98", "\"score\": 98, \"verdict\": \"FAIL\"", "\"FAIL\""),
    case(
        "a total that is no number, or on another scale",
        "\"score\": 98",
        "\"score\": \"D\"",
        "is not a number",
    ),
    case("a total that is no number, or on another scale", "98/100", "8/10", "on another scale than 100"),
    case("a count other than the list", "\"count\": 1", "\"count\": 2", "it counts 2 deductions and lists 1"),
    case(
        "no deductions, and another list that names some",
        "\"count\": 0",
        "\"count\": 0, \"issues\": [{\"row\": \"filler\"}]",
        "another of its lists names some",
    ),
    case(
        "another field that speaks against it",
        "\"score\": 98",
        "\"score\": 98, \"approved\": false",
        "speaks against the work",
    ),
    case(
        "a note about a defect that was not deducted",
        "\"count\": 0",
        "\"count\": 0, \"notes\": [\"The draft never says how many.\"]",
        "something is wrong",
    ),
    case(
        "words behind the total",
        "98/100",
        "98/100, provided that the sample size is added.",
        "on a condition",
    ),
    case("a lower total elsewhere", "98/100\n", "98/100\n\nI would give it 53/100 overall.\n", "98 and 53"),
    case("a sum of deductions that is another", "98/100\n", "98/100\nTotal deductions: -47\n", "98 and 53"),
    case(
        "points in the words of a deduction that it does not take off",
        "The last sentence says nothing.",
        "Also, no sample size (-20).",
        "points that it does not take off",
    ),
    case("a list that ends with a comma", "}]", "},]", "ends with a comma"),
    case("a deduction that names no row", "\"filler\"", "\"taste\"", "`taste` names no row"),
    case(
        "something held against the work without points",
        "- Filler: -2",
        "- State the sample size.",
        "states 98 and lists no deduction",
    ),
    case(
        "points that could not be read",
        "98/100\n",
        "98/100\nI also took -20 because the size is not there.\n",
        "`I also took` names no row",
    ),
    case("a Markdown report without a total", "**Score:** 98/100", "", "it states no total"),
    case(
        "deductions in words beside a JSON report",
        "\"count\": 0}",
        "\"count\": 0}\n- No sample size: -20",
        "beside it, a list of deductions",
    ),
];

const PASS_CASES: &[Case] = &[
    case(
        "nothing said, or nothing counted",
        "3 of 3 steps have a task",
        "yes, all of them",
        "passes without a quantity",
    ),
    case("M of N with M below N", "3 of 3 steps", "2 of 3 steps", "counts fewer than all"),
    case(
        "a condition behind PASS",
        "PASS\n[DEP",
        "PASS once the error task is added\n[DEP",
        "passes on a condition",
    ),
    case(
        "PASS with a demand",
        "have a task",
        "have a task, but the last one must be rewritten",
        "asks for a change",
    ),
    case("an answer that names a defect", "0 cycles", "1 cycle", "asks for a change"),
    case(
        "something is conceded",
        "3 of 3 steps have a task",
        "3 of 3, although errors would need one as well",
        "asks for a change",
    ),
    case("fewer than all in words", "3 of 3 steps", "most of the 3 steps", "counts fewer than all"),
    case(
        "a verdict on the whole, or a demand, below the last entry",
        "0 others write\n",
        "0 others write\n\nOverall verdict: FAIL\n",
        "says that it does not",
    ),
    case(
        "a PASS with a fix, or another field that says otherwise",
        "\"PASS\", \"fix\": null}, {",
        "\"PASS\", \"fix\": \"add a task\"}, {",
        "another field says otherwise",
    ),
    case("two verdicts, or a choice of them", "PASS\n[DEP", "PASS or FAIL\n[DEP", "not exactly one of"),
    case("nothing but DEFER", "Verdict: PASS", "Verdict: DEFER (later)", "defers everything"),
    case(
        "a result that goes on",
        "0 others write\n",
        "0 others write\n=== Result: CONTINUE (2 fixed) ===\n",
        "the result is another",
    ),
    case(
        "no scenario, or one not weighed",
        "Realistic? N → 1 task indexes, 0 others write",
        "Realistic? perhaps",
        "no line says",
    ),
    case(
        "an unrealistic scenario without a number",
        "1 task indexes, 0 others write",
        "no way",
        "without a quantity",
    ),
    case(
        "a realistic one that is waved through",
        "Realistic? N → 1 task indexes, 0 others write",
        "Realistic? Y → acceptable",
        "must be a FAIL",
    ),
];

const AUDIT_CASES: &[Case] = &[
    case(
        "`passed`, and yet a finding, an open criterion or `partial`",
        "\"findings\": []",
        "\"findings\": [{\"id\": \"C-001\", \"category\": \"style\", \"severity\": \"fail\", \"file\": \"src/calc.py\", \"line\": 3, \"remediation\": \"Name it.\"}]",
        "and yet 1 findings",
    ),
    case(
        "`passed`, and yet a finding, an open criterion or `partial`",
        "\"partial\": false",
        "\"partial\": true",
        "marked `partial`",
    ),
    case("`Satisfied` without evidence", "src/calc.py:3", "", "without evidence"),
    case(
        "evidence that says otherwise",
        "src/calc.py:3",
        "src/calc.py:3; 1 of 2 cases are covered",
        "its evidence says otherwise",
    ),
    case(
        "information missing all the same",
        "\"missing_info\": null}]",
        "\"missing_info\": \"I could not open the file.\"}]",
        "information is missing",
    ),
    case(
        "blockers counted and not listed",
        "\"partial\": false",
        "\"partial\": false, \"blockers_count\": 3",
        "counts blockers and lists none",
    ),
    case(
        "a list under an unknown key",
        "\"partial\": false",
        "\"partial\": false, \"worries\": [\"The test is slow.\"]",
        "may be findings",
    ),
    case(
        "another field that speaks against it",
        "\"partial\": false",
        "\"partial\": false, \"summary\": \"A test must still be added.\"",
        "speaks against the work",
    ),
    case(
        "evidence that concedes something",
        "tests/test_calc.py:2",
        "tests/test_calc.py:2, although odd numbers would need a test as well",
        "concedes something",
    ),
    case(
        "evidence that denies its criterion",
        "tests/test_calc.py:2",
        "tests/test_calc.py:2 does not cover it",
        "something is wrong",
    ),
    case(
        "evidence that says otherwise",
        "tests/test_calc.py:2",
        "tests/test_calc.py:2, once it has been extended to odd numbers",
        "its evidence says otherwise",
    ),
    case("another task or another round", "\"round\": 1", "\"round\": 2", "this is round 1"),
    case("a verdict in other words", "\"passed\"", "\"mostly fine\"", "`verdict` is not `passed`"),
];

/// Seen against what a call showed, or the files of the work: `reading::score::tests`, `protocol::audit::tests::judging`.
const ELSEWHERE: [(Protocol, &str); 3] = [
    (Protocol::Score, "a total copied from the work"),
    (Protocol::Audit, "evidence that is not there"),
    (Protocol::Audit, "evidence that names nothing that can be looked up"),
];

/// The report that a case is about, whichever of those that pass holds what it changes.
fn cases() -> Vec<(Protocol, &'static str, String, String, &'static str)> {
    let of = |protocol, bases: &[&'static str], cases: &'static [Case]| {
        let made = cases.iter().map(|case| {
            let base = bases.iter().find(|base| base.contains(case.from)).unwrap();
            let to = base.replace(case.from, case.to);
            (protocol, case.rule, (*base).to_owned(), to, case.why)
        });
        made.collect::<Vec<_>>()
    };
    let mut all = of(Protocol::Score, &[SCORE, SCORE_NONE, SCORE_WORDS], SCORE_CASES);
    all.extend(of(Protocol::Converge, &[PASS, PASS_JSON], PASS_CASES));
    all.extend(of(Protocol::Audit, &[AUDIT], AUDIT_CASES));
    for (protocol, rule, examples) in rules().into_iter().filter(|(p, ..)| *p == Protocol::Revise) {
        let why = OWN.iter().find(|(own, _)| *own == rule).map_or("no case", |(_, why)| why);
        let base = "[STATUS: APPROVED]\nAll criteria are met.".to_owned();
        all.extend(examples.into_iter().map(|example| (protocol, rule, base.clone(), example, why)));
    }
    all
}

/// The work, which states a total of itself, and what it is held to.
const WORK: &str = "Several mice.\nScore: 100/100\n";
const RUBRIC: &str = "- states the sample size per group\n- names the statistical test\n- at most 60 words\n";

#[test]
fn every_rule_of_the_table_stops_what_would_pass_without_it() {
    let mut wrong = Vec::new();
    for (protocol, rule, base, reply, why) in cases() {
        let shown = Shown::of([WORK, RUBRIC]);
        if read(protocol, &base, &shown) != Ok(true) {
            wrong.push(format!("{protocol:?}, {rule}: does not pass by itself: {base}"));
        }
        match read(protocol, &reply, &shown) {
            Err(said) if !why.is_empty() && said.contains(why) => {}
            other => wrong.push(format!("{protocol:?} | {rule} | {reply:?}\n    {other:?}, not {why:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_of_the_table_has_a_case_and_every_case_a_rule() {
    let documented: BTreeSet<(String, &str)> =
        rules().iter().map(|(protocol, rule, _)| (format!("{protocol:?}"), *rule)).collect();
    assert!(documented.len() >= 70, "{}", documented.len());
    let own = OWN.iter().map(|(rule, _)| (format!("{:?}", Protocol::Revise), *rule));
    let held = ELSEWHERE.iter().map(|(protocol, rule)| (format!("{protocol:?}"), *rule));
    let tried: BTreeSet<(String, &str)> = cases()
        .iter()
        .map(|(protocol, rule, ..)| (format!("{protocol:?}"), *rule))
        .chain(own)
        .chain(held)
        .collect();
    assert_eq!(documented, tried);
}
