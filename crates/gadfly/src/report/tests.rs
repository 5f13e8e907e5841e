//! Reports of the same runs in every format: valid for those who read them, and never cleaner than the run.

use std::path::Path;

use gadfly_engine::event::EventKind;
use gadfly_engine::finding::Severity;
use gadfly_engine::review::{Unseen, Verdict};
use gadfly_engine::{Location, Outcome};
use serde_json::Value;

use super::sample::{
    self, ROOT, audit, digest, finding, interrupted, review, revise, round, score, step, unverified,
};
use super::*;

const SARIF: &str = include_str!("../../tests/data/sarif-2.1.0.schema.json");

fn rendered(format: ReportFormat, state: &RunView) -> String {
    render(format, state, Path::new(ROOT))
}

fn sarif(state: &RunView) -> Value {
    serde_json::from_str(&rendered(ReportFormat::Sarif, state)).unwrap()
}

fn every() -> Vec<(&'static str, RunView)> {
    vec![
        ("audit", audit()),
        ("approved", score(true)),
        ("rejected", score(false)),
        ("unverified", unverified()),
        ("revise", revise()),
        ("interrupted", interrupted()),
        ("hostile", hostile(3)),
        ("verified", sample::goal_verified()),
        ("gave up", sample::goal_gave_up()),
        ("waiting", sample::goal_stuck()),
        ("hostile goal", hostile_goal()),
    ]
}

fn hostile_goal() -> RunView {
    let mut state = sample::goal();
    let set = EventKind::GoalSet {
        goal: digest(),
        criterion: EVIL.into(),
        policy: EVIL.into(),
        interval: 5,
        steps: 300,
    };
    let mut events = vec![set];
    events.extend((0..500).map(|n| EventKind::VerificationFailed { detail: EVIL.repeat(20), in_a_row: n }));
    events.push(EventKind::GaveUp { reason: EVIL.into(), learned: EVIL.into() });
    let halted = Outcome::Halted { reason: gadfly_engine::Halt::Guard, draft: None, open: vec![EVIL.into()] };
    step(&mut state, events, Some(halted));
    state
}

#[test]
fn a_goal_is_clean_only_if_it_was_verified() {
    let verified = sarif(&sample::goal_verified());
    assert_eq!(verified["runs"][0]["results"].as_array().unwrap().len(), 0);
    let waits = rendered(ReportFormat::Markdown, &sample::goal_stuck());
    assert!(waits.contains("**Not verified is not clean:** the run waits: question"), "{waits}");
    for state in [sample::goal_gave_up(), sample::goal_stuck(), hostile_goal()] {
        let results = sarif(&state)["runs"][0]["results"].clone();
        assert_eq!(results.as_array().unwrap().len(), 1, "{results}");
        assert_eq!(results[0]["ruleId"], "gadfly/goal-not-verified");
        let json: Value = serde_json::from_str(&rendered(ReportFormat::Json, &state)).unwrap();
        assert_eq!(json["goal"]["verified"], false);
        assert_ne!(json["exit_code"], 0);
    }
    let json: Value = serde_json::from_str(&rendered(ReportFormat::Json, &sample::goal_verified())).unwrap();
    assert_eq!(
        (&json["goal"]["verified"], &json["goal"]["rail"][0]["what"]["event"]),
        (&true.into(), &"claimed".into())
    );
    assert_eq!(json["goal"]["rail"][0]["after"], 1);
    let junit = rendered(ReportFormat::Junit, &sample::goal_gave_up());
    assert!(
        junit.contains("classname=\"gadfly.goal.criteria\" name=\"`cargo test` exits with 0\""),
        "{junit}"
    );
    assert!(
        junit.contains("<error message=\"the worker gave up: the fixture is missing; learned"),
        "{junit}"
    );
    let comment = rendered(ReportFormat::Markdown, &hostile_goal());
    assert!(comment.len() < 65_536 && !comment.contains("<script"), "{}", comment.len());
    assert!(!comment.contains("@ann") && !comment.contains("https://"), "{comment}");
}

/// Words that would act on whoever reads them.
const EVIL: &str = "<script>alert(1)</script> @ann #12 GH-7 https://evil.example www.evil.example \
                    [x](javascript:1) | `code` **b** </details> ]]> \u{1b}[2J \u{0} \u{202e} <br> & \"q\" 'q' \
                    $x$ \u{fffe}\r\n# heading\n| a | b |\n- @team";

fn hostile(count: u32) -> RunView {
    let mut state = sample::begun("audit", EVIL);
    let all = (1..=count).map(|n| {
        let mut one = finding(n, EVIL, Severity::Fail, &EVIL.repeat(3));
        one.fix = EVIL.to_owned();
        one.lens = Some(EVIL.to_owned());
        one.within = Some(EVIL.to_owned());
        one.place = Some(Location { path: format!("../{EVIL}"), line: Some(0), end: Some(7) });
        one
    });
    let mut judged = review(1, Verdict::Rejected, all.collect());
    judged.criteria = vec![sample::criterion(EVIL, EVIL, false); 60];
    judged.coverage.unseen = vec![Unseen { what: EVIL.into(), because: EVIL.into() }; 60];
    let outcome = Outcome::Rejected { draft: None, open: vec![EVIL.into()] };
    let result = EventKind::Summarised { line: EVIL.into() };
    step(&mut state, vec![round(1), EventKind::Reviewed { round: 1, review: judged }, result], Some(outcome));
    state
}

#[test]
fn sarif_is_valid_by_the_official_schema() {
    // The one change to the official schema: a stray bracket in the pattern of languages, which strict readers
    // of patterns refuse.
    let schema = SARIF.replace("-[a-zA-Z]{2}]?$", "-[a-zA-Z]{2}?$");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, state) in every() {
        let log = sarif(&state);
        let errors: Vec<String> =
            validator.iter_errors(&log).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
    // Sabotage: the schema notices what it should.
    let mut broken = sarif(&audit());
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!validator.is_valid(&broken));
}

#[test]
fn sarif_tells_levels_places_standing_and_fingerprints() {
    let log = sarif(&audit());
    let run = &log["runs"][0];
    let told: Vec<(String, String, String)> = run["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| {
            let word = |v: &Value| v.as_str().unwrap_or("-").to_owned();
            (word(&r["ruleId"]), word(&r["level"]), word(&r["baselineState"]))
        })
        .collect();
    let row = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(
        told,
        [
            row("unmet-criterion", "error", "unchanged"),
            row("edge-case-gap", "warning", "new"),
            row("style", "note", "absent"),
        ]
    );
    let first = &run["results"][0];
    let place = &first["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/a%20b.rs");
    assert_eq!(
        (place["region"]["startLine"].as_u64(), place["region"]["endLine"].as_u64()),
        (Some(12), Some(14))
    );
    assert_eq!(first["partialFingerprints"]["gadfly/v1"].as_str().unwrap().len(), 32);
    assert!(first["message"]["text"].as_str().unwrap().contains("Fix: evict the oldest"));
    assert_eq!(run["results"][2]["suppressions"][0]["status"], "accepted", "what is fixed is no alert");
    assert_eq!(run["properties"]["unsupportedFindings"], 1, "counted, and not among the results");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["invocations"][0]["exitCode"], 3);
    let draft = sarif(&score(false));
    let uri = &draft["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "docs/a%20plan.md", "a text draft is the file it is saved to");
}

#[test]
fn a_fingerprint_stays_when_lines_move() {
    let mut moved = audit();
    let name = |state: &RunView| sarif(state)["runs"][0]["results"][0]["partialFingerprints"].clone();
    let before = name(&moved);
    for finding in moved.rounds.iter_mut().flat_map(|r| &mut r.reviews).flat_map(|r| &mut r.findings) {
        finding.place = Some(Location { path: "src/a b.rs".into(), line: Some(99), end: None });
    }
    assert_eq!(before, name(&moved));
}

#[test]
fn what_was_not_reviewed_looks_clean_in_no_format() {
    for (name, state) in [("unverified", unverified()), ("interrupted", interrupted())] {
        let log = sarif(&state);
        let run = &log["runs"][0];
        assert_eq!(run["invocations"][0]["executionSuccessful"], false, "{name}");
        assert!(
            !run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().is_empty(),
            "{name}"
        );
        assert_eq!(
            run["results"][0]["ruleId"], "gadfly/not-reviewed",
            "{name}: an empty list would close alerts"
        );
        let junit = rendered(ReportFormat::Junit, &state);
        assert!(junit.contains("<error ") && !junit.contains("errors=\"0\""), "{name}: {junit}");
        let comment = rendered(ReportFormat::Markdown, &state);
        assert!(
            comment.contains("Not reviewed is not clean") && !comment.contains('✅'),
            "{name}: {comment}"
        );
        let json: Value = serde_json::from_str(&rendered(ReportFormat::Json, &state)).unwrap();
        assert_ne!(json["exit_code"], 0, "{name}");
    }
    let log = sarif(&unverified()).to_string();
    assert!(log.contains("big.sql, lines 900–2400"), "what is unseen is named");
    let uri = &sarif(&unverified())["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(uri["artifactLocation"]["uri"], "big.sql");
}

#[test]
fn junit_is_green_only_if_the_work_is_approved() {
    for (name, state) in every() {
        let junit = rendered(ReportFormat::Junit, &state);
        let green = junit.contains("failures=\"0\" errors=\"0\"");
        assert_eq!(green, ["approved", "verified"].contains(&name), "{name}: {junit}");
        let opened = junit.matches("<testcase ").count();
        assert!(junit.contains(&format!("tests=\"{opened}\"")), "{name}");
    }
    let audit = rendered(ReportFormat::Junit, &audit());
    for part in [
        "classname=\"gadfly.audit.criteria\" name=\"SC-1: It is bounded\"",
        "<failure message=\"Unsatisfied: src/a b.rs:12\"",
        "classname=\"gadfly.audit.verify\" name=\"make test\"/>",
        "classname=\"gadfly.audit.findings\" name=\"edge-case-gap\"",
    ] {
        assert!(audit.contains(part), "{part}\n{audit}");
    }
    assert!(rendered(ReportFormat::Junit, &revise()).contains("name=\"1. State the sample size.\""));
}

#[test]
fn xml_holds_no_character_or_markup_from_outside() {
    let junit = rendered(ReportFormat::Junit, &hostile(3));
    let forbidden =
        |c: char| (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!junit.contains(forbidden), "XML 1.0 has no such characters");
    let tags = junit.matches('<').count();
    let ours = ["<?xml", "<testsuite", "</testsuite", "<propert", "</propert", "<testcase", "</testcase"];
    let ends = ["<failure", "</failure", "<error", "</error", "<skipped", "<system-out", "</system-out"];
    let known: usize = ours.iter().chain(&ends).map(|tag| junit.matches(tag).count()).sum();
    assert_eq!(tags, known, "every tag is one of ours");
    assert!(EVIL.contains("<script>"), "sabotage: without escaping there would be one more");
}

#[test]
fn a_comment_cannot_mention_link_or_break_out() {
    let comment = rendered(ReportFormat::Markdown, &hostile(3));
    for forbidden in
        ["<script", "@ann", "@team", "#12", "https://", "www.evil", "GH-7", "](java", " `code`", "**b**"]
    {
        let bare = comment.match_indices(forbidden).find(|(at, _)| !comment[..*at].ends_with('\\'));
        assert_eq!(bare, None, "{forbidden}\n{comment}");
        assert!(EVIL.contains(forbidden), "sabotage: it is there as it came");
    }
    for line in comment.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| #")) {
        let cells = line.replace(r"\\", "").replace(r"\|", "").matches('|').count();
        assert!([4, 5].contains(&cells), "{line}");
    }
    assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
}

#[test]
fn a_comment_has_an_end_and_says_what_it_leaves_out() {
    for count in [50, 5000] {
        let comment = rendered(ReportFormat::Markdown, &hostile(count));
        assert!(comment.len() < 65_536, "{}", comment.len());
        let said = comment.lines().find_map(|l| l.strip_prefix("and ")?.strip_suffix(" more findings"));
        let left_out: usize = said.unwrap().parse().unwrap();
        let rows = comment.lines().filter(|l| l.contains(", by reader")).count();
        assert_eq!(rows + left_out, count as usize);
        assert_eq!(comment.matches("<details>").count(), comment.matches("</details>").count());
        assert!(comment.trim_end().ends_with("</sub>"), "the end is there");
    }
}

#[test]
fn a_comment_reads_well() {
    insta::assert_snapshot!(rendered(ReportFormat::Markdown, &audit()), @r#"
    ### ❌ Gadfly: halted(cap)

    Task: Add a cache · audit · 2 rounds

    Round 2: 1 fixed, 1 recurring, 1 new, 0 regressed

    #### fail (1)

    | # | Where | What | Standing |
    |---|---|---|---|
    | 1 | src/a b.rs:12-14 | **unmet-criterion** no eviction<br>Fix: evict the oldest | recurring since round 1, by reader |

    #### risk (1)

    | # | Where | What | Standing |
    |---|---|---|---|
    | 3 | src/a b.rs:12-14 | **edge-case-gap** zero capacity panics | new, by reader |

    1 finding fixed during the run.

    1 finding left out of the decision: what is cited is not there.

    <details><summary>Criteria</summary>

    | Criterion | Verdict | Because |
    |---|---|---|
    | SC-1 It is bounded | ❌ Unsatisfied | src/a b.rs:12 |
    | SC-2 It is bounded | ✅ Satisfied | src/a b.rs:12 |

    </details>

    - ✅ verify: make test: exit code 0

    <sub>Judged by reader (judge-1): rejected · \$0.04, 1500 tokens, 2 calls · run 0123456789</sub>
    "#);
    insta::assert_snapshot!(rendered(ReportFormat::Markdown, &score(false)), @r#"
    ### ❌ Gadfly: rejected

    Task: Judge the plan · score · 1 round

    <details><summary>Score 70/100 by reader; passes at 80</summary>

    - 100
    - −30 Claims (1 ×)
    - = 70

    </details>

    #### risk (1)

    | # | Where | What | Standing |
    |---|---|---|---|
    | 1 | docs/a plan.md:3 | **Claims** the effect is overstated | new, by reader |

    <sub>Judged by reader (judge-1): rejected · \$0.04, 1500 tokens, 2 calls · run 0123456789</sub>
    "#);
}

#[test]
fn findings_of_an_earlier_round_are_called_so() {
    let mut state = sample::begun("audit", "Add a cache");
    let judged = review(1, Verdict::Rejected, vec![finding(1, "style", Severity::Nit, "long")]);
    step(&mut state, vec![round(1), EventKind::Reviewed { round: 1, review: judged }, round(2)], None);
    let said = "no critic judged round 2; findings are of round 1";
    for format in [ReportFormat::Markdown, ReportFormat::Sarif] {
        assert!(rendered(format, &state).contains(said), "{format:?}");
    }
    assert!(!rendered(ReportFormat::Markdown, &audit()).contains("no critic judged"));
}

#[test]
fn json_has_every_field_the_page_promises() {
    for (name, state) in every() {
        let report: Value = serde_json::from_str(&rendered(ReportFormat::Json, &state)).unwrap();
        for key in [
            "schema",
            "run",
            "protocol",
            "outcome",
            "verdict",
            "exit_code",
            "artifact",
            "critics",
            "findings",
            "fixed",
            "unsupported",
            "criteria",
            "coverage",
            "cost",
        ] {
            assert!(report.get(key).is_some(), "{name}: {key}");
        }
    }
    let report: Value = serde_json::from_str(&rendered(ReportFormat::Json, &audit())).unwrap();
    assert_eq!(report["critics"][0]["model"], "judge-1");
    assert_eq!(report["critics"][0]["unsupported"], 1);
    assert_eq!(report["findings"][0]["standing"], "recurring");
    assert_eq!(report["findings"][0]["fingerprint"].as_str().unwrap().len(), 32);
    assert_eq!(report["outcome"], "halted(cap)");
    assert_eq!(report["artifact"], digest().to_string());
}

#[test]
fn the_audit_reports_schema_is_one_and_takes_a_report() {
    use gadfly_engine::protocol::audit::report::SCHEMA;
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    let report = serde_json::json!({
        "critic": "critic", "task_id": "T1", "round": 1,
        "criteria": [{ "id": "SC-1", "claim": "It works", "verdict": "Unsatisfied", "evidence": "",
                       "missing_info": null }],
        "findings": [{ "id": "C-001", "category": "style", "severity": "nit", "file": "a.rs", "line": 3,
                       "remediation": "shorten it", "criterion_id": null, "question_to_user": null }],
        "verdict": "issues_found",
    });
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&report), "{:?}", validator.validate(&report));
    let mut wrong = report;
    wrong["criteria"][0]["verdict"] = "Fine".into();
    assert!(!validator.is_valid(&wrong), "sabotage: a verdict that is none is noticed");
}

#[test]
fn a_result_without_a_place_is_put_at_the_file_it_speaks_of() {
    let seen = |path: &str| gadfly_engine::review::CoveredFile { path: path.into(), lines: 9, from: None };
    let mut state = sample::begun("audit", "Add a cache");
    state.summary.out = None;
    let says = "SC-2 is not met: src/cache.rs:3 never evicts";
    let mut unmet = finding(1, "unmet-criterion", Severity::Fail, says);
    (unmet.place, unmet.quote) = (None, None);
    let mut judged = review(1, Verdict::Rejected, vec![unmet]);
    judged.coverage.entries = ["README.md", "src/c", "src/cache.rs"].map(seen).to_vec();
    let outcome = Outcome::Rejected { draft: None, open: vec![says.into()] };
    step(&mut state, vec![round(1), EventKind::Reviewed { round: 1, review: judged }], Some(outcome));
    let place = &sarif(&state)["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/cache.rs", "{place}");
}

#[test]
fn files_that_git_merged_or_the_user_kept_are_named_as_not_judged_in_the_reports_that_list_what_came() {
    let mut state = audit();
    let accepted = EventKind::Accepted {
        paths: vec!["src/a.rs".into()],
        commit: None,
        merged: vec!["src/m.rs".into()],
        kept: vec!["src/k.rs".into()],
    };
    step(&mut state, vec![accepted], None);
    let markdown = rendered(ReportFormat::Markdown, &state);
    assert!(markdown.contains("the merged text was not judged:** src/m.rs"), "{markdown}");
    assert!(markdown.contains("not as judged:** src/k.rs"), "{markdown}");
    let json: Value = serde_json::from_str(&rendered(ReportFormat::Json, &state)).unwrap();
    assert_eq!(json["accepted"]["merged"][0], "src/m.rs");
}
