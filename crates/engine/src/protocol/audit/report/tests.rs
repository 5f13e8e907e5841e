//! Reports, case by case: a reply in, its reading or its breaches out.

use serde_json::{Value, json};

use super::*;
use crate::finding::Severity;
use crate::protocol::audit::routes::{self, Route};
use crate::reading::Unread;
use crate::reading::quoted::Shown;

const PATH: &str = "scratch/critic-T1-r2.json";

fn criteria() -> Vec<AuditCriterion> {
    [("SC-1", "answers 401"), ("SC-2", "logs the attempt")]
        .map(|(id, claim)| AuditCriterion { id: id.into(), claim: claim.into() })
        .to_vec()
}

fn read_with(reply: &str, file: Option<&str>) -> Result<AuditReport, Unread> {
    let criteria = criteria();
    let expected =
        ExpectedReport { task_id: "T1", round: 2, criteria: &criteria, by: "cora", report_path: PATH };
    crate::reading::audit::read(reply, file, &expected, &Shown::default())
}

fn read(report: &Value) -> Result<AuditReport, Unread> {
    read_with(&report.to_string(), None)
}

/// A report in which nothing is wrong.
fn passing() -> Value {
    json!({
        "critic": "critic", "task_id": "T1", "round": 2,
        "criteria": [
            {"id": "SC-1", "claim": "answers 401", "verdict": "Satisfied", "evidence": "src/a.rs:3", "missing_info": "—"},
            {"id": "SC-2", "claim": "logs the attempt", "verdict": "Satisfied", "evidence": "tests/a.rs@logs", "missing_info": null},
        ],
        "findings": [],
        "verdict": "passed",
    })
}

fn finding(category: &str, severity: &str) -> Value {
    json!({
        "id": "C-001", "category": category, "severity": severity, "file": "src/a.rs", "line": 3,
        "remediation": "do it", "criterion_id": null, "question_to_user": null,
    })
}

fn with(change: impl FnOnce(&mut Value)) -> Value {
    let mut report = passing();
    change(&mut report);
    report
}

fn issues(findings: Vec<Value>) -> Value {
    with(|r| {
        r["findings"] = Value::Array(findings);
        r["verdict"] = "issues_found".into();
    })
}

fn breaches(report: &Value) -> String {
    match read(report) {
        Err(unread) => unread.problem,
        Ok(_) => "accepted".into(),
    }
}

#[test]
fn a_clean_report_passes_and_nothing_follows_from_it() {
    let report = merge(vec![read(&passing()).unwrap()]).unwrap();
    assert_eq!(report.verdict(), ReportVerdict::Passed);
    assert_eq!(report.merged("cora"), []);
    assert_eq!(report.deviations, [""; 0]);
    assert_eq!(report.blockers_count(), 0);
}

#[test]
fn every_breach_is_refused_and_named() {
    let cases: Vec<(Value, &str)> = vec![
        (with(|r| r["task_id"] = "T2".into()), "`task_id` is `T2`"),
        (with(|r| r["round"] = 3.into()), "this is round 2"),
        (with(|r| r["round"] = 2.5.into()), "this is round 2"),
        (with(|r| r["verdict"] = "fine".into()), "`verdict` is not"),
        (with(|r| r["issues"] = json!(["x"])), "`passed`, and yet 1 findings"),
        (with(|r| r["remarks"] = json!(["x"])), "may be findings"),
        (with(|r| r["blockers_count"] = 3.into()), "counts blockers"),
        (
            with(|r| r["criteria"][0]["missing_info"] = "I could not open the file.".into()),
            "information is missing",
        ),
        (with(|r| r["criteria"] = "none".into()), "`criteria` is not a list"),
        (with(|r| r["criteria"][0] = 1.into()), "`criteria[0]` is not an object"),
        (
            with(|r| (r["criteria"][0]["id"], r["criteria"][0]["claim"]) = (Value::Null, Value::Null)),
            "`criteria[0]` has no `id`",
        ),
        (
            with(|r| r["criteria"][0]["verdict"] = "Mostly satisfied".into()),
            "not Satisfied or not judged: SC-1",
        ),
        (with(|r| r["criteria"][0]["verdict"] = Value::Null), "only Satisfied"),
        (with(|r| r["criteria"][0]["evidence"] = "—".into()), "SC-1 is Satisfied without evidence"),
        (with(|r| r["criteria"][0]["evidence"] = "n/a".into()), "SC-1 is Satisfied without evidence"),
        (with(|r| r["criteria"][0]["verdict"] = "Unsatisfied".into()), "not Satisfied or not judged: SC-1"),
        (with(|r| r["criteria"][1]["id"] = "SC-1".into()), "not judged: SC-2"),
        (with(|r| drop(r["criteria"].as_array_mut().unwrap().pop())), "not judged: SC-2"),
        (with(|r| r["findings"] = json!([finding("style", "nit")])), "`passed`, and yet 1 findings"),
        (with(|r| r["verdict"] = "issues_found".into()), "every criterion is Satisfied"),
        (with(|r| r["partial"] = true.into()), "marked `partial`"),
        (with(|r| r["partial"] = "yes".into()), "`partial` is not true or false"),
    ];
    for (report, expected) in cases {
        assert!(breaches(&report).contains(expected), "{expected}: {}", breaches(&report));
    }
}

#[test]
fn two_verdicts_on_one_criterion_are_refused_and_a_repetition_is_not() {
    let other = json!({"id": "sc-1", "verdict": "Unsatisfied", "evidence": "no"});
    let two = with(|r| r["criteria"].as_array_mut().unwrap().push(other));
    assert!(breaches(&two).contains("SC-1 has two different verdicts"));
    let same = json!({"id": "sc-1", "verdict": "Satisfied", "evidence": "src/a.rs:4"});
    let report = read(&with(|r| r["criteria"].as_array_mut().unwrap().push(same))).unwrap();
    assert_eq!(report.criteria[0].evidence, "src/a.rs:3; src/a.rs:4");
    assert_eq!(report.deviations, ["SC-1 is judged twice"]);
}

#[test]
fn a_criterion_nobody_asked_for_neither_helps_nor_is_overlooked() {
    let push = |verdict: &str| {
        let other = json!({"id": "SC-9", "verdict": verdict, "evidence": "src/a.rs:1"});
        with(|r| r["criteria"].as_array_mut().unwrap().push(other))
    };
    assert_eq!(read(&push("Satisfied")).unwrap().criteria.len(), 2);
    assert!(breaches(&push("Unsatisfied")).contains("its criteria are SC-1, SC-2"));
}

#[test]
fn an_omitted_criterion_is_unsatisfied() {
    let report = with(|r| {
        r["criteria"].as_array_mut().unwrap().pop();
        r["verdict"] = "issues_found".into();
    });
    let report = merge(vec![read(&report).unwrap()]).unwrap();
    assert_eq!(report.criteria[1].verdict, SatisfactionVerdict::Unsatisfied);
    assert_eq!(report.blockers_count(), 1);
    let merged = report.merged("cora");
    assert_eq!(merged.len(), 1);
    assert_eq!((merged[0].rule.as_str(), merged[0].criterion.as_deref()), ("unmet-criterion", Some("SC-2")));
}

#[test]
fn verdicts_that_are_not_yes_become_findings_that_fail() {
    let report = with(|r| {
        r["criteria"][0]["verdict"] = "Unsatisfied".into();
        r["criteria"][1]["verdict"] = "information missing".into();
        r["criteria"][1]["missing_info"] = "the log format".into();
        r["verdict"] = "issues_found".into();
    });
    let report = read(&report).unwrap();
    assert_eq!(report.deviations.len(), 1, "the spelling is noted");
    let merged = report.merged("cora");
    let seen: Vec<_> = merged.iter().map(|f| (f.rule.as_str(), f.severity, f.criterion.as_deref())).collect();
    assert_eq!(
        seen,
        [
            ("unmet-criterion", Severity::Fail, Some("SC-1")),
            ("information-missing", Severity::Fail, Some("SC-2"))
        ]
    );
    assert!(merged[1].says.contains("the log format"));
}

#[test]
fn two_unmet_criteria_with_the_same_text_stay_two() {
    let report = with(|r| {
        for at in 0..2 {
            r["criteria"][at]["verdict"] = "Unsatisfied".into();
            r["criteria"][at]["evidence"] = "nothing in the diff".into();
        }
        r["verdict"] = "issues_found".into();
    });
    assert_eq!(read(&report).unwrap().merged("cora").len(), 2);
}

/// An unsatisfied SC-1 beside one stated finding about it.
fn beside(verdict: &str, stated: Value) -> AuditReport {
    let mut report = issues(vec![stated]);
    report["criteria"][0]["verdict"] = verdict.into();
    read(&report).unwrap()
}

fn about_sc1(category: &str) -> Value {
    let mut stated = finding(category, "nit");
    stated["criterion_id"] = "SC-1".into();
    stated
}

#[test]
fn a_stated_finding_about_an_unmet_criterion_becomes_one_with_it() {
    let cases = [
        ("Unsatisfied", "unmet-criterion", "unmet-criterion", Route::Executor),
        ("Unsatisfied", "missing-test", "missing-test", Route::Executor),
        ("Information-Missing", "infrastructure-mismatch", "infrastructure-mismatch", Route::PlanChecker),
        ("Information-Missing", "style", "information-missing", Route::Researcher),
        ("Unsatisfied", "question-to-user", "question-to-user", Route::AskUser),
    ];
    for (verdict, category, expected, route) in cases {
        let report = beside(verdict, about_sc1(category));
        let merged = report.merged("cora");
        assert_eq!(merged.len(), 1, "{verdict} and {category}");
        let one = &merged[0];
        assert_eq!((one.rule.as_str(), routes::of(&one.rule)), (expected, route), "{verdict} and {category}");
        assert_eq!(one.severity, Severity::Fail, "a nit never hides a fail");
        let line = one.line();
        assert!(line.contains("do it") && one.says.contains("SC-1"), "both texts stay: {line}");
        assert_eq!(line.matches("do it").count(), 1, "what to do is said once: {line}");
        assert_eq!(report.blockers_count(), u64::from(verdict == "Unsatisfied"), "counted before they merge");
    }
}

#[test]
fn a_finding_at_the_line_a_criterion_names_is_about_it() {
    let merged_at = |evidence: &str| {
        let mut report = issues(vec![finding("missing-test", "nit")]);
        report["criteria"][0]["verdict"] = "Unsatisfied".into();
        report["criteria"][0]["evidence"] = evidence.into();
        read(&report).unwrap().merged("cora")
    };
    assert_eq!(merged_at("see src/a.rs:3").len(), 1);
    assert_eq!(merged_at("see src/a.rs:4").len(), 2, "another line is another point");
}

#[test]
fn a_false_citation_does_not_take_the_criterion_with_it() {
    let mut report = beside("Unsatisfied", about_sc1("unmet-criterion"));
    report.findings[0].unsupported = Some("no such line".into());
    let merged = report.merged("cora");
    assert_eq!(merged.iter().filter(|f| f.is_supported()).count(), 1);
    assert_eq!(merged.len(), 2, "the unsupported one stays in the record");
}

#[test]
fn a_partial_report_counts_for_what_it_found_and_never_passes() {
    let partial = |criteria: usize| {
        let mut report = passing();
        report["criteria"].as_array_mut().unwrap().truncate(criteria);
        report["verdict"] = "issues_found".into();
        report["partial"] = true.into();
        merge(vec![read(&report).unwrap()]).unwrap()
    };
    assert_eq!(partial(2).verdict(), ReportVerdict::IssuesFound, "even with every criterion satisfied");
    let one = partial(1);
    assert_eq!(one.unverified().map(|c| c.id.as_str()).collect::<Vec<_>>(), ["SC-2"]);
    assert_eq!(one.merged("cora"), [], "unverified is neither met nor unmet");
}

#[test]
fn an_unknown_category_is_kept_and_forced_to_fail() {
    let report = read(&issues(vec![finding("vibes", "nit")])).unwrap();
    assert_eq!(report.findings[0].severity, Severity::Fail);
    assert_eq!(report.blockers_count(), 1);
    assert_eq!(routes::of(&report.findings[0].rule), Route::Stuck);
}

#[test]
fn places_are_read_in_every_form_critics_write() {
    let cases = [
        (json!("src/a.rs"), json!(12), "src/a.rs:12"),
        (json!("src/a.rs"), json!("12-15"), "src/a.rs:12-15"),
        (json!("src/a.rs"), json!("12"), "src/a.rs:12"),
        (json!("src/a.rs"), json!("L12–L15"), "src/a.rs:12-15"),
        (json!("src/a.rs:12"), json!(null), "src/a.rs:12"),
        (json!("src/a.rs"), json!(null), "src/a.rs"),
        (json!("src/a.rs"), json!("-"), "src/a.rs"),
        (json!("-"), json!(null), ""),
        (json!(null), json!(null), ""),
        (json!("src/a.rs"), json!(0), "src/a.rs:0"),
    ];
    for (file, line, expected) in cases {
        let mut stated = finding("style", "nit");
        (stated["file"], stated["line"]) = (file.clone(), line.clone());
        let report = read(&issues(vec![stated])).unwrap();
        assert_eq!(report.findings[0].shown_place().unwrap_or_default(), expected, "{file} {line}");
    }
    for line in [json!(-1), json!(1.5), json!("soon"), json!([1]), json!(1e30)] {
        let mut stated = finding("style", "nit");
        stated["line"] = line.clone();
        let report = read(&issues(vec![stated])).unwrap();
        assert_eq!(report.findings[0].place.as_ref().and_then(|p| p.line), None, "{line}");
        assert!(report.deviations.iter().any(|d| d.contains("`line`")), "{line}");
    }
}

#[test]
fn other_fields_are_kept_and_the_question_is_found() {
    let mut stated = finding("question-to-user", "fail");
    stated["question_to_user"] = "Which port?".into();
    stated["missing_case"] = "empty input".into();
    stated["message"] = "The port is unclear".into();
    let report = read(&issues(vec![stated])).unwrap();
    let found = &report.findings[0];
    assert_eq!(question(found), Some("Which port?"));
    assert_eq!(found.raw.as_ref().unwrap()["missing_case"], "empty input");
    assert_eq!((found.says.as_str(), found.fix.as_str()), ("The port is unclear", "do it"));
    let without = read(&issues(vec![finding("question-to-user", "fail")])).unwrap();
    assert_eq!(question(&without.findings[0]), Some("do it"), "the remediation is the question then");
}

#[test]
fn names_of_other_critics_are_noted() {
    let report = read(&with(|r| r["critic"] = "np-critic-style".into())).unwrap();
    assert_eq!(report.deviations, ["`critic` is `np-critic-style`, which names no axis"]);
    assert_eq!(report.critic, "critic");
    assert_eq!(read(&with(|r| r["critic"] = "tests".into())).unwrap().critic, "tests");
}

#[test]
fn an_envelope_stands_for_the_file_it_names() {
    let envelope = |change: &dyn Fn(&mut Value)| {
        let mut envelope = json!({
            "critic": "critic", "task_id": "T1", "round": 2, "verdict": "passed", "blockers_count": 0,
            "report_path": PATH, "run_id": "r1",
        });
        change(&mut envelope);
        envelope.to_string()
    };
    let file = passing().to_string();
    let plain = envelope(&|_| {});
    assert_eq!(read_with(&plain, Some(&file)).unwrap().verdict(), ReportVerdict::Passed);
    assert!(read_with(&plain, None).unwrap_err().problem.contains("no such file was written"));
    let lies = envelope(&|e| e["verdict"] = "issues_found".into());
    assert!(read_with(&lies, Some(&file)).is_err(), "the verdicts differ");
    let elsewhere = envelope(&|e| e["report_path"] = "/etc/passwd".into());
    assert!(read_with(&elsewhere, Some(&file)).is_err());
    let other_round = envelope(&|e| e["round"] = 1.into());
    assert!(read_with(&other_round, Some(&file)).is_err());
    let old_file = with(|r| r["round"] = 1.into()).to_string();
    assert!(read_with(&plain, Some(&old_file)).is_err(), "a stale file");
    let miscounted = envelope(&|e| e["blockers_count"] = 7.into());
    assert_eq!(read_with(&miscounted, Some(&file)).unwrap().deviations.len(), 1, "the engine counts itself");
    let both = format!("{file}\n{plain}");
    assert_eq!(read_with(&both, None).unwrap().deviations, ["an envelope beside the report"]);
    let both = format!("{file}\n{lies}");
    assert!(read_with(&both, None).is_err(), "a report and an envelope that contradict each other");
}

#[test]
fn a_report_that_could_not_be_written_is_a_critic_error() {
    let reply = json!({
        "critic": "critic", "task_id": "T1", "round": 2, "verdict": "issues_found", "blockers_count": 1,
        "report_path": null, "run_id": "r1", "error": "disk full",
    });
    let report = read(&reply).unwrap();
    assert_eq!(report.verdict(), ReportVerdict::IssuesFound);
    assert_eq!(report.blockers_count(), 1);
    let merged = report.merged("cora");
    assert_eq!(merged[0].rule, "critic-error");
    assert!(merged[0].says.contains("disk full"));
    assert_eq!(routes::decide(&merged, 2, 3, Severity::Nit).route, Route::Stuck);
    let passed = json!({"report_path": null, "verdict": "passed", "blockers_count": 0, "error": "x"});
    assert!(read(&passed).is_err(), "nothing passes without a report");
    let silent = json!({"report_path": null, "verdict": "issues_found", "blockers_count": 1});
    assert!(read(&silent).is_err());
}

#[test]
fn the_engines_envelope_is_computed() {
    let report = issues(vec![finding("style", "fail"), finding("style", "nit")]);
    let report = merge(vec![read(&report).unwrap()]).unwrap();
    let envelope = serde_json::to_string(&report.envelope("r1", PATH)).unwrap();
    assert_eq!(
        envelope,
        r#"{"critic":"critic","task_id":"T1","round":2,"verdict":"issues_found","blockers_count":1,"report_path":"scratch/critic-T1-r2.json","run_id":"r1"}"#
    );
    assert_eq!(file_name("T1", 2), "critic-T1-r2.json");
    assert_eq!(file_name("../x/é", 1), "critic-..-x---r1.json", "a task id never leaves the folder");
}

#[test]
fn a_task_without_criteria_never_passes() {
    let report = AuditReport::without_criteria("T1", 1);
    assert_eq!((report.verdict(), report.blockers_count()), (ReportVerdict::IssuesFound, 1));
    let mut emptied = report;
    emptied.findings.clear();
    assert_eq!(emptied.verdict(), ReportVerdict::IssuesFound, "no criteria, nothing to pass");
}

#[test]
fn parts_are_united_so_that_one_no_outweighs_every_yes() {
    let verdicts = ["Satisfied", "Unsatisfied", "Information-Missing", ""];
    let expected = |a: &str, b: &str| match (a, b) {
        ("Unsatisfied", _) | (_, "Unsatisfied") | ("", "") => SatisfactionVerdict::Unsatisfied,
        ("Satisfied", _) | (_, "Satisfied") => SatisfactionVerdict::Satisfied,
        _ => SatisfactionVerdict::InformationMissing,
    };
    let part = |verdict: &str| {
        let mut report = issues(vec![finding("style", "nit")]);
        if verdict.is_empty() {
            report["criteria"].as_array_mut().unwrap().remove(0);
        } else {
            report["criteria"][0]["verdict"] = verdict.into();
        }
        read(&report).unwrap()
    };
    for a in verdicts {
        for b in verdicts {
            let whole = merge(vec![part(a), part(b)]).unwrap();
            assert_eq!(whole.criteria[0].verdict, expected(a, b), "{a:?} and {b:?}");
            assert_eq!(whole.findings.len(), 2, "findings of both parts");
        }
    }
    assert_eq!(merge(Vec::new()), None);
}

#[test]
fn the_report_on_disk_reads_back_as_itself() {
    let mut stated = about_sc1("missing-test");
    stated["message"] = "no test".into();
    stated["quote"] = "fn a()  {}".into();
    let mut report = issues(vec![stated, finding("style", "risk")]);
    report["criteria"][0]["verdict"] = "Unsatisfied".into();
    let report = merge(vec![read(&report).unwrap()]).unwrap();
    let again = read_with(&report.to_json(), None).unwrap();
    assert_eq!((&again.criteria, again.partial), (&report.criteria, report.partial));
    let keep =
        |f: &Finding| (f.rule.clone(), f.says.clone(), f.fix.clone(), f.place.clone(), f.quote.clone());
    let (again, first): (Vec<_>, Vec<_>) =
        (again.findings.iter().map(keep).collect(), report.findings.iter().map(keep).collect());
    assert_eq!(again, first);
}

#[test]
fn the_evidence_of_satisfied_criteria_can_be_checked() {
    let report = read(&passing()).unwrap();
    let citations = report.citations("cora");
    let places: Vec<_> = citations.iter().filter_map(Finding::shown_place).collect();
    assert_eq!(places, ["src/a.rs:3", "tests/a.rs"]);
}

#[test]
fn a_flood_of_nits_does_not_hide_a_fail_and_texts_are_bounded() {
    let mut findings: Vec<Value> = (0..2_000).map(|_| finding("style", "nit")).collect();
    let mut last = finding("missing-test", "fail");
    last["remediation"] = "x".repeat(100_000).into();
    last["extra"] = "y".repeat(100_000).into();
    findings.push(last);
    let report = read(&issues(findings)).unwrap();
    assert_eq!(report.findings.len(), 500);
    assert_eq!(report.findings[0].rule, "missing-test");
    assert!(report.findings[0].fix.chars().count() <= 4_001);
    assert!(report.findings[0].raw.as_ref().unwrap().to_string().len() < 1_000);
}

#[test]
fn fifty_megabytes_are_refused_with_the_size() {
    let reply = " ".repeat(50 << 20);
    let problem = read_with(&reply, None).unwrap_err().to_string();
    assert!(problem.contains("52428800 bytes"), "{problem}");
    let envelope = json!({"report_path": PATH, "verdict": "passed", "task_id": "T1", "round": 2}).to_string();
    assert!(read_with(&envelope, Some(&reply)).is_err(), "the file, too");
}

/// The part of JSON Schema that our schemas use. Returns the places that break it.
fn violations(schema: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema uses the type {other}"),
    };
    let fits = match &schema["type"] {
        Value::Array(names) => names.iter().any(|n| is(n.as_str().unwrap())),
        name => is(name.as_str().unwrap()),
    };
    let listed = schema.get("enum").is_none_or(|all| all.as_array().unwrap().contains(value));
    let long_enough = schema.get("minLength").is_none() || value.as_str() != Some("");
    if !fits || !listed || !long_enough {
        found.push(format!("{place}: {value}"));
    }
    if let (Some(object), Some(properties)) = (value.as_object(), schema.get("properties")) {
        for (name, value) in object {
            match properties.get(name) {
                Some(schema) => found.extend(violations(schema, value, &format!("{place}.{name}"))),
                None => found.push(format!("{place}.{name} is not allowed")),
            }
        }
        let required = schema["required"].as_array().unwrap().iter().map(|n| n.as_str().unwrap());
        found
            .extend(required.filter(|n| !object.contains_key(*n)).map(|n| format!("{place}.{n} is missing")));
    }
    for item in value.as_array().into_iter().flatten() {
        found.extend(violations(&schema["items"], item, &format!("{place}[]")));
    }
    found
}

#[test]
fn what_we_write_follows_the_published_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut stated = about_sc1("vibes");
    stated["line"] = "3-5".into();
    let mut with_extras = issues(vec![stated]);
    with_extras["partial"] = true.into();
    for report in [passing(), issues(vec![finding("style", "nit")]), with_extras] {
        let written: Value = serde_json::from_str(&read(&report).unwrap().to_json()).unwrap();
        assert_eq!(violations(&schema, &written, "report"), [""; 0]);
    }
    let made: Value = serde_json::from_str(&AuditReport::without_criteria("T1", 1).to_json()).unwrap();
    assert_eq!(violations(&schema, &made, "report"), [""; 0]);
    assert_ne!(violations(&schema, &json!({"critic": "me"}), "report"), [""; 0], "the check can fail");
}

#[test]
fn the_schema_for_answers_is_the_same_report_with_every_field_required() {
    let published: Value = serde_json::from_str(SCHEMA).unwrap();
    let answer: Value = serde_json::from_str(ANSWER_SCHEMA).unwrap();
    let mut open = vec![(&answer, &published)];
    while let Some((answer, published)) = open.pop() {
        if let Some(properties) = answer.get("properties").and_then(Value::as_object) {
            assert_eq!(answer["additionalProperties"], false);
            let mut required: Vec<&str> =
                answer["required"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
            required.sort_unstable();
            let mut named: Vec<&str> = properties.keys().map(String::as_str).collect();
            named.sort_unstable();
            assert_eq!(required, named);
            // What it thinks before the verdict is asked for and not published.
            for (name, schema) in properties.iter().filter(|(name, _)| *name != "reasoning") {
                assert_eq!(schema["type"], published["properties"][name]["type"], "{name}");
                open.push((schema, &published["properties"][name]));
            }
        }
        if let Some(items) = answer.get("items") {
            open.push((items, &published["items"]));
        }
    }
    let categories: Vec<&str> = answer["properties"]["findings"]["items"]["properties"]["category"]["enum"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c.as_str().unwrap())
        .collect();
    assert_eq!(categories, routes::TABLE.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}

#[test]
fn the_published_copy_of_the_schema_is_this_one() {
    let published = include_str!("../../../../../../docs/reference/audit-report.schema.json");
    assert_eq!(published, SCHEMA);
}
