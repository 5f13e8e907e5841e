//! The grammar, case by case: a reply in, its reading as a few words out.
#![allow(clippy::unwrap_used, clippy::panic)] // a test: failing is how it speaks

use super::*;
use crate::reading::reasoning;

mod mutations;

/// What is read, or every breach; without the doubts about a clean reply.
fn parse(reply: &str, criteria: &[ConvergeCriterion], pass: u32) -> Result<PassReply, Vec<Breach>> {
    let text = clean::reply(reply);
    let text = reasoning::without_thinking(&text, |text| text.lines().any(line::is_verdict));
    if text.trim().is_empty() {
        return Err(vec![Breach::Empty]);
    }
    let gathered = gather::gather(&text, criteria);
    if gathered.entries.is_empty() {
        return Err(vec![Breach::NoReview]);
    }
    entries::judge(&gathered, criteria, pass)
}

fn criteria() -> Vec<ConvergeCriterion> {
    ["COVERAGE", "EDGE_CASES"]
        .map(|name| ConvergeCriterion { name: name.into(), question: "Are all 5 parts there?".into() })
        .to_vec()
}

const COVERAGE: &str = "[COVERAGE] Are all 5 parts there? → 5 of 5 parts have an owner.\n  Verdict: PASS\n";
const EDGES: &str = "[EDGE_CASES] Are all 5 parts there? → 3 of 3 limits are named.\n  Verdict: PASS\n";
const SCENARIO: &str = "[ADVERSARIAL] Failure scenario: two writers at once\n  → Realistic? N → 1 writer exists, the lock covers 2 paths\n";
const RESULT: &str = "=== Result: CONVERGED (1 passes, 0 fixes, 0 escalations) ===\n";

const BLOCK: &str = "=== CRITIC ESCALATION (1) ===
[COVERAGE] Who owns the third part?

Issue: The plan names two owners.
Why escalation: Multiple valid approaches, each with a cost.

Options:
  1. One owner — the team lead
     Pro: clear  Con: slow
  2. Two owners — shared
     Pro: fast
     Con: unclear
  3. Skip — keep current state, mark as [DEFERRED]
";

/// A reply of pass 1 with these parts.
fn reply(parts: &[&str]) -> String {
    format!("=== CRITIC 1 ===\n{}{RESULT}", parts.concat())
}

/// A reply in which only COVERAGE differs from a clean one.
fn covering(coverage: &str) -> String {
    reply(&[coverage, "\n", EDGES, SCENARIO])
}

/// A reply in which only the scenario differs from a clean one.
fn adversarial(scenario: &str) -> String {
    reply(&[COVERAGE, EDGES, scenario, "\n"])
}

/// `PASS,FAIL(fix) / N`, or the breaches.
fn read(reply: &str) -> String {
    match parse(reply, &criteria(), 1) {
        Err(breaches) => breaches.iter().map(|b| format!("{b:?}")).collect::<Vec<_>>().join(" + "),
        Ok(reply) => {
            let answer = |a: &Judged| match &a.verdict {
                Verdict::Fail { fix } => format!("FAIL({fix})"),
                Verdict::Defer { reason } => format!("DEFER({reason})"),
                other => other.name().to_owned(),
            };
            let answers: Vec<String> = reply.answers.iter().map(answer).collect();
            let scenario = reply.scenario.fix.map_or("N".to_owned(), |fix| format!("Y({fix})"));
            format!("{} / {scenario}", answers.join(","))
        }
    }
}

#[track_caller]
fn reads(cases: &[(String, &str)]) {
    for (reply, expected) in cases {
        assert_eq!(read(reply), *expected, "{reply}");
    }
}

#[test]
fn a_clean_reply_is_read_whole() {
    let parsed = parse(&reply(&[COVERAGE, EDGES, SCENARIO]), &criteria(), 1).unwrap();
    assert!(parsed.all_pass() && parsed.is_clean());
    assert_eq!(parsed.answers[0].rationale, "5 of 5 parts have an owner.");
    assert_eq!(parsed.scenario.says, "two writers at once");
    assert_eq!(parsed.scenario.rationale, "1 writer exists, the lock covers 2 paths");
    assert_eq!(parsed.claimed.map(|c| c.result), Some(Claimed::Converged));
    assert_eq!(parsed.deviations, Vec::<String>::new());
}

#[test]
fn form_is_read_leniently() {
    let whole = reply(&[COVERAGE, EDGES, SCENARIO]);
    let bold = "**[COVERAGE]** Are all 5 parts there? -> 5 of 5.\n**Verdict:** **Pass**\n";
    let heading = "### [Edge Cases] Are all 5 parts there? => 3 of 3.\n- `Verdict`: pass — 2 read\n";
    let plain =
        "[adversarial] **Failure scenario:** x happens\n-> **Realistic?** No, 0 of 4 paths lead there\n";
    let inline = "[ADVERSARIAL] Failure scenario: x happens → Realistic? N → 0 of 4 paths lead there\n";
    reads(&[
        (format!("Let me see.\n\n{whole}\nThat is all."), "PASS,PASS / N"),
        (format!("```\n{whole}```\n"), "PASS,PASS / N"),
        (format!("```text\n{}\n```\n", whole.trim_end()), "PASS,PASS / N"),
        (format!("Here:\n~~~~\n{whole}~~~~\nDone."), "PASS,PASS / N"),
        (whole.replace('\n', "\r\n"), "PASS,PASS / N"),
        (whole.replace("=== CRITIC 1 ===", "## **=== Critic 1 ===**"), "PASS,PASS / N"),
        (reply(&[bold, heading, plain]), "PASS,PASS / N"),
        (reply(&[EDGES, SCENARIO, COVERAGE]), "PASS,PASS / N"),
        (reply(&[COVERAGE, EDGES, inline]), "PASS,PASS / N"),
        (format!("=== CRITIC 1 ===\n{COVERAGE}{EDGES}{SCENARIO}"), "PASS,PASS / N"),
        (covering("[COVERAGE] All there?\n→ 5 of 5\nparts.\nVerdict: PASS"), "PASS,PASS / N"),
        (covering("[COVERAGE] → Yes.\nVerdict: PASS (5 of 5 confirmed)"), "PASS,PASS / N"),
        (
            covering("[COVERAGE] q → part 3 is empty\nVerdict: FAIL (write\npart 3)"),
            "FAIL(write part 3),PASS / N",
        ),
        (covering("[COVERAGE] q → part 3 is empty\nVerdict: fail: write it"), "FAIL(write it),PASS / N"),
        (
            covering("[COVERAGE] q → 1 (one) gap\nVerdict: FAIL (write it (all))."),
            "FAIL(write it (all)),PASS / N",
        ),
        (covering("[COVERAGE] q → later\nVerdict: Defer — next release"), "DEFER(next release),PASS / N"),
        (
            covering("[COVERAGE] q → a `PASS` is not due\nVerdict: FAIL (not a PASS)"),
            "FAIL(not a PASS),PASS / N",
        ),
    ]);
}

#[test]
fn every_criterion_is_answered_once() {
    reads(&[
        (reply(&[COVERAGE, SCENARIO]), "Unanswered(\"EDGE_CASES\")"),
        (reply(&[SCENARIO]), "Unanswered(\"COVERAGE\") + Unanswered(\"EDGE_CASES\")"),
        (reply(&[COVERAGE, COVERAGE, EDGES, SCENARIO]), "PASS,PASS / N"),
        (
            reply(&[COVERAGE, "[COVERAGE] → no\nVerdict: FAIL (do it)\n", EDGES, SCENARIO]),
            "Contradiction(\"COVERAGE\")",
        ),
        (
            reply(&[
                "[COVERAGE] → a\nVerdict: FAIL (x)\n[COVERAGE] → b\nVerdict: FAIL (y)\n",
                EDGES,
                SCENARIO,
            ]),
            "FAIL(x; y),PASS / N",
        ),
        (
            reply(&[COVERAGE, EDGES, "[ELEGANCE] → 5 of 5\nVerdict: PASS\n", SCENARIO]),
            "UnknownCriterion(\"ELEGANCE\")",
        ),
        (covering("[COVERAGE] → 5 of 5\n[NOTE] remember\n  me\n[x] box"), "NoVerdict(\"COVERAGE\")"),
        (covering("[COVERAGE] → 5 of 5 parts"), "NoVerdict(\"COVERAGE\")"),
        (covering("[COVERAGE] → 5 of 5 parts. Verdict: PASS"), "PASS,PASS / N"),
        (covering("[COVERAGE] → the draft says Verdict: PASS"), "NoVerdict(\"COVERAGE\")"),
        (covering("[COVERAGE] → 5 of 5\nVerdict: PASS\nVerdict: PASS"), "TwoVerdicts(\"COVERAGE\")"),
        (covering("[COVERAGE] → 5 of 5\nVerdict: PASS\nVerdict: FAIL (x)"), "TwoVerdicts(\"COVERAGE\")"),
    ]);
}

#[test]
fn a_verdict_is_exactly_one_of_the_four() {
    for verdict in [
        "",
        "OK",
        "PASS?",
        "CONDITIONAL PASS",
        "PASS-ish",
        "PASS/FAIL",
        "PASS | FAIL (x) | ESCALATE | DEFER (y)",
        "PASS or FAIL",
        "pass / fail",
        "DEFER or PASS",
        "FAIL (x) | PASS",
    ] {
        let reply = covering(&format!("[COVERAGE] → 5 of 5\nVerdict: {verdict}"));
        assert_eq!(read(&reply), "UnclearVerdict(\"COVERAGE\")", "{verdict}");
    }
    // What neutralised data looks like is no verdict line at all.
    assert_eq!(read(&covering("[COVERAGE] → 5 of 5\nVerdict: ‹PASS›")), "NoVerdict(\"COVERAGE\")");
}

#[test]
fn a_pass_shows_what_was_counted() {
    reads(&[
        (covering("[COVERAGE]\nVerdict: PASS"), "BarePass(\"COVERAGE\")"),
        (covering("[COVERAGE] PASS\nVerdict: PASS"), "BarePass(\"COVERAGE\")"),
        (covering("[COVERAGE] Are all 5 parts there?\nVerdict: PASS"), "BarePass(\"COVERAGE\")"),
        (covering("[COVERAGE] Are all 5 parts there? → none\nVerdict: PASS"), "BarePass(\"COVERAGE\")"),
        (
            covering("[COVERAGE] Are all 5 parts there? → Yes, fully.\nVerdict: PASS"),
            "NoQuantity(\"COVERAGE\")",
        ),
        (covering("[COVERAGE] Do 5 parts exist? Yes.\nVerdict: PASS"), "NoQuantity(\"COVERAGE\")"),
        (covering("[COVERAGE] → zero issues\nVerdict: PASS"), "NoQuantity(\"COVERAGE\")"),
        (covering("[COVERAGE] → compliant with v2, see a.md:12\nVerdict: PASS"), "NoQuantity(\"COVERAGE\")"),
    ]);
}

#[test]
fn a_question_with_an_arrow_and_a_number_is_not_its_own_answer() {
    let asked =
        vec![ConvergeCriterion { name: "FLOW".into(), question: "Do all 3 steps a -> b -> c exist?".into() }];
    let with = |answer: &str| {
        let text = format!(
            "=== CRITIC 1 ===\n[FLOW] Do all 3 steps a -> b -> c exist? → {answer}\nVerdict: PASS\n{SCENARIO}"
        );
        parse(&text, &asked, 1).map(|r| r.answers[0].rationale.clone())
    };
    assert_eq!(with("They do."), Err(vec![Breach::NoQuantity("FLOW".into())]));
    assert_eq!(with("3 of 3."), Ok("3 of 3.".into()));
}

#[test]
fn fail_and_defer_say_more_than_their_word() {
    for tail in ["", " ()", " (fix)", " ({fix})", " (TBD)", ": n/a", " ( . )"] {
        assert_eq!(
            read(&covering(&format!("[COVERAGE] → 1 gap\nVerdict: FAIL{tail}"))),
            "NoFix(\"COVERAGE\")",
            "{tail}"
        );
    }
    for tail in ["", " ()", " (reason)", " ({reason})"] {
        let read = read(&covering(&format!("[COVERAGE] → 1 gap\nVerdict: DEFER{tail}")));
        assert_eq!(read, "NoReason(\"COVERAGE\")", "{tail}");
    }
}

#[test]
fn there_is_one_scenario_and_it_is_weighed() {
    reads(&[
        (adversarial(""), "NoScenario"),
        (adversarial("[ADVERSARIAL] Failure scenario:\n→ Realistic? N → 1 of 9"), "EmptyScenario"),
        (adversarial("[ADVERSARIAL] Failure scenario: {scenario}\n→ Realistic? N → 1 of 9"), "EmptyScenario"),
        (adversarial("[ADVERSARIAL] Failure scenario: fire"), "NotWeighed"),
        (adversarial("[ADVERSARIAL] fire\n→ Realistic? perhaps"), "NotWeighed"),
        (adversarial("[ADVERSARIAL] fire\n→ Realistic? Y/N → 1 of 9"), "NotWeighed"),
        (adversarial("[ADVERSARIAL] fire\n→ Realistic? Nearly, 1 of 9"), "NotWeighed"),
        (adversarial("[ADVERSARIAL] fire\n→ Realistic? {Y → FAIL + fix / N → rationale}"), "NotWeighed"),
        (adversarial("[ADVERSARIAL] fire\n→ Realistic? N → no way"), "UnrealisticUncounted"),
        (adversarial("[ADVERSARIAL] fire in 5 places\n→ Realistic? N"), "UnrealisticUncounted"),
        (
            adversarial("[ADVERSARIAL] fire\n→ Realistic? N → 1 of 9\n→ Realistic? Y → FAIL + x"),
            "PASS,PASS / Y(x)",
        ),
        (
            adversarial("[ADVERSARIAL] fire → Realistic? N → 1 of 9\n→ Realistic? Y → FAIL + x"),
            "PASS,PASS / Y(x)",
        ),
        (adversarial(&SCENARIO.repeat(2)), "PASS,PASS / N"),
        (
            adversarial("[ADVERSARIAL] Failure scenario: a\nFailure scenario: b\n→ Realistic? N → 1 of 9"),
            "PASS,PASS / N",
        ),
    ]);
}

#[test]
fn a_realistic_scenario_is_a_fail_with_a_fix() {
    let scenario = |answer: &str| adversarial(&format!("[ADVERSARIAL] Failure scenario: fire\n  {answer}"));
    reads(&[
        (scenario("→ Realistic? Y → FAIL + fix: add a lock"), "PASS,PASS / Y(add a lock)"),
        (scenario("→ Realistic? Yes → FAIL (add a lock)"), "PASS,PASS / Y(add a lock)"),
        (scenario("→ Realistic? Y → FAIL + add a lock"), "PASS,PASS / Y(add a lock)"),
        (scenario("→ Realistic? Y\n  Verdict: FAIL (add a lock)"), "PASS,PASS / Y(add a lock)"),
        (scenario("→ Realistic? Y → FAIL\n  Fix: add a lock"), "PASS,PASS / Y(add a lock)"),
        (scenario("→ Realistic? Y → FAIL + fix"), "PASS,PASS / Y(prevent: fire)"),
        (scenario("→ Realistic? Y → add a lock"), "PASS,PASS / Y(add a lock)"),
        (scenario("→ Realistic? Y"), "PASS,PASS / Y(prevent: fire)"),
        (scenario("→ Realistic? Y → 3 of 9 users, acceptable"), "RealisticNotFailed"),
        (scenario("→ Realistic? Y → FAIL + x\n  Verdict: PASS"), "RealisticNotFailed"),
        (scenario("→ Realistic? Y → FAIL + x\n  Verdict: DEFER (later)"), "RealisticNotFailed"),
        (scenario("→ Realistic? N → 1 of 9\n  Verdict: PASS"), "PASS,PASS / N"),
        (scenario("→ Realistic? N → 1 of 9\n  Verdict: FAIL (add a lock)"), "UnrealisticFailed"),
        (scenario("→ Realistic? N → FAIL + 1 lock"), "UnrealisticFailed"),
    ]);
}

#[test]
fn a_header_of_any_kind_or_none_decides_nothing() {
    let whole = reply(&[COVERAGE, EDGES, SCENARIO]);
    reads(&[
        (String::new(), "Empty"),
        (" \n".into(), "Empty"),
        ("All fine.".into(), "NoReview"),
        (whole.replace("=== CRITIC 1 ===\n", ""), "PASS,PASS / N"),
        (whole.replace("=== CRITIC 1 ===", "## CRITIC PASS 1"), "PASS,PASS / N"),
        (whole.replace("CRITIC 1", "CRITIC {N}"), "PASS,PASS / N"),
        (whole.repeat(2), "PASS,PASS / N"),
        (whole.replace("CRITIC 1", "CRITIC 4"), "OtherPass { pass: 1 }"),
    ]);
}

#[test]
fn what_is_only_shown_does_not_count() {
    let failing = "[COVERAGE] → part 3 is empty\n";
    let real = "Verdict: FAIL (write it)\n";
    for shown in [
        "```\nVerdict: PASS\n```\n",
        "```md\n[COVERAGE] → 5 of 5\nVerdict: PASS\n```\n",
        "> Verdict: PASS\n",
        "the draft says Verdict: PASS\n",
        "<think>\nVerdict: PASS\n</think>\n",
    ] {
        for coverage in [format!("{failing}{shown}{real}"), format!("{failing}{real}{shown}")] {
            let result = read(&covering(&coverage));
            assert!(result.starts_with("FAIL(write it"), "{result}\n{coverage}");
        }
        assert_eq!(read(&covering(&format!("{failing}{shown}"))), "NoVerdict(\"COVERAGE\")", "{shown}");
    }
    // The same inside a reply that is fenced as a whole.
    let fenced = format!("````\n{}````\n", covering(&format!("{failing}```\nVerdict: PASS\n```\n{real}")));
    assert!(read(&fenced).starts_with("FAIL(write it"), "{}", read(&fenced));
    let unclosed = covering("[COVERAGE] → 5 of 5\nVerdict: PASS\n```\n");
    assert_eq!(
        read(&unclosed),
        "Unanswered(\"EDGE_CASES\") + NoScenario",
        "an open fence hides, it does not pass"
    );
}

#[test]
fn reasoning_is_cut_before_anything_is_read() {
    let whole = reply(&[COVERAGE, EDGES, SCENARIO]);
    let failing = covering("[COVERAGE] → 1 gap\nVerdict: FAIL (write it)");
    reads(&[
        (format!("<think>\n{whole}</think>\n{failing}"), "FAIL(write it),PASS / N"),
        (format!("{whole}</think>\n{failing}"), "Contradiction(\"COVERAGE\")"),
        (format!("hm\n</think>\n{failing}"), "FAIL(write it),PASS / N"),
        (format!("<think>\n{whole}"), "Empty"),
        (format!("{failing}<think>\n[COVERAGE] → 5 of 5\nVerdict: PASS\n"), "Contradiction(\"COVERAGE\")"),
        (format!("<reasoning>a</reasoning><thinking>b</thinking>\n{whole}"), "PASS,PASS / N"),
    ]);
}

#[test]
fn an_escalation_carries_its_block() {
    let parsed =
        parse(&covering(&format!("[COVERAGE] q → unsure\nVerdict: ESCALATE\n{BLOCK}")), &criteria(), 1);
    let escalations = parsed.unwrap().escalations();
    insta::assert_snapshot!(crate::protocol::converge::escalation::question(&escalations), @"
    === CRITIC ESCALATION (1) ===
    [COVERAGE] Who owns the third part?

    Issue: The plan names two owners.
    Why escalation: Multiple valid approaches, each with a cost.

    Options:
      1. One owner — the team lead
         Pro: clear  Con: slow
      2. Two owners — shared
         Pro: fast  Con: unclear
      3. Skip — keep current state, mark as [DEFERRED]
    ");
    assert_eq!(escalations[0].why, crate::protocol::converge::escalation::Trigger::MultipleValidApproaches);
}

#[test]
fn a_block_may_stand_anywhere_below_the_header_and_lacks_nothing() {
    let item = "[COVERAGE] q → unsure\nVerdict: ESCALATE\n";
    let with = |block: &str| reply(&[item, EDGES, SCENARIO, block]);
    let without = |part: &str| with(&BLOCK.replace(part, ""));
    reads(&[
        (with(BLOCK), "ESCALATE,PASS / N"),
        (reply(&[BLOCK, item, EDGES, SCENARIO]), "ESCALATE,PASS / N"),
        (reply(&[item, BLOCK, EDGES, SCENARIO]), "ESCALATE,PASS / N"),
        (format!("{}{BLOCK}", reply(&[item, EDGES, SCENARIO])), "ESCALATE,PASS / N"),
        (without("  3. Skip — keep current state, mark as [DEFERRED]\n"), "ESCALATE,PASS / N"),
        (with(&BLOCK.replace("Issue:", "**Issue:**").replace("  1. ", "1) ")), "ESCALATE,PASS / N"),
        (with(""), "NoBlock(\"COVERAGE\")"),
        (
            with(&BLOCK.replace("=== CRITIC ESCALATION (1) ===\n", "")),
            "NoBlock(\"COVERAGE\") + NoVerdict(\"COVERAGE\")",
        ),
        (without("[COVERAGE] Who owns the third part?\n"), "NamelessBlock + NoBlock(\"COVERAGE\")"),
        (without(" Who owns the third part?"), "NoQuestion(\"COVERAGE\")"),
        (without("Issue: The plan names two owners.\n"), "NoIssue(\"COVERAGE\")"),
        (without("Multiple valid approaches, each with a cost."), "NoTrigger(\"COVERAGE\")"),
        (without("Options:\n"), "NoOptions(\"COVERAGE\")"),
        (without("     Pro: fast\n"), "OneSided { name: \"COVERAGE\", option: 2 }"),
        (without("  Con: slow"), "OneSided { name: \"COVERAGE\", option: 1 }"),
        (with(&BLOCK.repeat(2)), "TwoBlocks(\"COVERAGE\")"),
        (reply(&[COVERAGE, EDGES, SCENARIO, BLOCK]), "BlockWithoutEscalate(\"COVERAGE\")"),
        (
            with(&format!("{BLOCK}{}", BLOCK.replace("COVERAGE", "ELEGANCE"))),
            "UnknownCriterion(\"ELEGANCE\")",
        ),
        (with(&BLOCK.replace("Issue:", "Verdict: PASS\nIssue:")), "TwoVerdicts(\"COVERAGE\")"),
    ]);
}

#[test]
fn one_header_may_hold_several_escalations() {
    let both = "[COVERAGE] q → unsure\nVerdict: ESCALATE\n[EDGE_CASES] q → unsure\nVerdict: ESCALATE\n";
    let second = BLOCK.replace("COVERAGE", "EDGE_CASES").replace("=== CRITIC ESCALATION (1) ===\n", "");
    reads(&[
        (reply(&[both, SCENARIO, BLOCK, &second]), "ESCALATE,ESCALATE / N"),
        (reply(&[both, BLOCK, &second, SCENARIO]), "ESCALATE,ESCALATE / N"),
    ]);
}

#[test]
fn the_claimed_result_is_read_and_decides_nothing() {
    let failing = covering("[COVERAGE] → 1 gap\nVerdict: FAIL (write it)");
    let parsed = parse(&failing, &criteria(), 1).unwrap();
    assert!(!parsed.is_clean(), "it claims CONVERGED and is not");
    let claims = [
        ("CONTINUE (2 fixed)", Claimed::Continue),
        ("escalate (1 items)", Claimed::Escalate),
        ("SAFETY CAP", Claimed::SafetyCap),
        ("{CONVERGED (1 passes)}", Claimed::Converged),
        ("fine", Claimed::Other),
    ];
    for (text, expected) in claims {
        let reply = format!("=== CRITIC 1 ===\n{COVERAGE}{EDGES}{SCENARIO}=== Result: {text} ===");
        let claim = parse(&reply, &criteria(), 1).unwrap().claimed.unwrap();
        assert_eq!((claim.result, claim.text.as_str()), (expected, text));
    }
}

#[test]
fn findings_are_what_is_not_clean_with_what_it_cites() {
    let text = reply(&[
        "[COVERAGE] q → the step \"ship it\" in plan.md:4 has no owner\nVerdict: FAIL (name one)\n",
        "[EDGE_CASES] q → 2 limits unknown\nVerdict: DEFER (measured next month)\n",
        "[ADVERSARIAL] Failure scenario: `retry` never ends\n→ Realistic? Y → FAIL + fix: cap it\n",
    ]);
    let findings = parse(&text, &criteria(), 1).unwrap().findings("anna");
    let shown: Vec<String> = findings
        .iter()
        .map(|f| {
            format!(
                "{} {:?} {:?} {} by {} in {:?}",
                f.rule,
                f.shown_place(),
                f.quote,
                f.line(),
                f.by,
                f.criterion
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    COVERAGE Some("plan.md:4") Some("ship it") plan.md:4: the step "ship it" in plan.md:4 has no owner → name one by anna in Some("COVERAGE")
    EDGE_CASES None None measured next month by anna in Some("EDGE_CASES")
    ADVERSARIAL None Some("retry") `retry` never ends → cap it by anna in None
    "#);
    let clean = parse(&reply(&[COVERAGE, EDGES, SCENARIO]), &criteria(), 1).unwrap();
    assert_eq!(clean.findings("anna"), []);
}

#[test]
fn all_breaches_are_named_at_once_one_line_each() {
    let text = "=== CRITIC 3 ===\n[COVERAGE] PASS\nVerdict: PASS\n[ADVERSARIAL] fire\n→ Realistic? perhaps\n";
    insta::assert_snapshot!(problem(&parse(text, &criteria(), 1).unwrap_err()), @"
    - [EDGE_CASES] is not answered
    - the header names another pass than this one, which is 1
    - [COVERAGE] is a bare PASS: answer the question and say what was counted
    - [ADVERSARIAL]: no line says `→ Realistic? Y → …` or `→ Realistic? N → …`
    ");
    let many: Vec<Breach> = (0..40).map(|n| Breach::Unanswered(format!("C{n}"))).collect();
    assert_eq!(problem(&many).lines().count(), 26);
}

#[test]
fn a_verdict_in_a_draft_is_found_for_the_record() {
    let found = |text: &str| verdict_line(text);
    assert_eq!(found("text\n  **Verdict:** PASS (mine)\n"), Some("**Verdict:** PASS (mine)".into()));
    assert_eq!(found("=== Result: CONVERGED ==="), Some("=== Result: CONVERGED ===".into()));
    assert_eq!(found("Verdict: guilty\nthe Verdict: PASS\n=== Chapter ===\n[RISK] low"), None);
}

#[test]
fn huge_replies_are_bounded_and_read_once() {
    let big = "covered ".repeat(250_000);
    let parsed =
        parse(&covering(&format!("[COVERAGE] → 5 of 5 {big}\nVerdict: PASS {big}")), &criteria(), 1).unwrap();
    assert!(parsed.answers[0].rationale.chars().count() <= LONGEST);
    let many = reply(&[&"[ELEGANCE] → 1\nVerdict: PASS\n".repeat(100_000)]);
    assert!(parse(&many, &criteria(), 1).unwrap_err().contains(&Breach::TooMany));
    let hostile = [
        "[",
        "[COVERAGE",
        "`",
        "```\n",
        "<think>",
        "x<think>",
        "=== CRITIC ESCALATION\n",
        "→",
        "(",
        "1. Pro: Con: ",
    ];
    for token in hostile {
        let _ = parse(
            &covering(&format!("[COVERAGE] → 5 of 5\nVerdict: PASS\n{}", token.repeat(200_000))),
            &criteria(),
            1,
        );
        let _ = parse(&token.repeat(200_000), &criteria(), 1);
        let _ = parse(
            &[reply(&["[COVERAGE] q\nVerdict: ESCALATE\n"]), BLOCK.to_owned(), token.repeat(200_000)]
                .concat(),
            &criteria(),
            1,
        );
    }
}

#[test]
fn json_is_judged_by_the_same_rules_and_shown_in_the_rule_books_form() {
    let report = |coverage: &str| {
        format!(
            r#"{{"reasoning": "x", "criteria": [{coverage}, {{"name": "EDGE_CASES", "answer": "3 of 3 limits", "verdict": "PASS", "fix": null, "reason": null, "escalation": null}}], "scenarios": [{{"scenario": "two writers", "realistic": false, "because": "1 writer", "fix": null}}]}}"#
        )
    };
    let read = |coverage: &str| super::read(&report(coverage), &criteria(), 2, &Shown::default());
    let fails = read(r#"{"name": "coverage", "answer": "4 of 5", "verdict": "FAIL", "fix": "add it", "reason": null, "escalation": null}"#).unwrap();
    assert_eq!(
        rendered(&fails, &criteria(), 2),
        "=== CRITIC 2 ===\n[COVERAGE] Are all 5 parts there? → 4 of 5\n  Verdict: FAIL (add it)\n[EDGE_CASES] Are all 5 parts there? → 3 of 3 limits\n  Verdict: PASS\n[ADVERSARIAL] Failure scenario: two writers\n  → Realistic? N → 1 writer\n"
    );
    assert!(read(r#"{"name": "COVERAGE", "answer": "5 of 5", "verdict": "PASS"}"#).unwrap().all_pass());
    for weak in [
        r#"{"name": "COVERAGE", "answer": "fine", "verdict": "PASS"}"#,
        r#"{"name": "COVERAGE", "answer": "4 of 5", "verdict": "PASS"}"#,
        r#"{"name": "COVERAGE", "answer": "5 of 5", "verdict": "PASS once it is added"}"#,
        r#"{"name": "COVERAGE", "answer": "5 of 5", "verdict": "‹PASS›"}"#,
        r#"{"name": "OTHER", "answer": "5 of 5", "verdict": "PASS"}"#,
    ] {
        assert!(read(weak).is_err(), "{weak}");
    }
    let asks = r#"{"name": "COVERAGE", "answer": "open", "verdict": "ESCALATE", "fix": null, "reason": null, "escalation": {"question": "Who owns it?", "issue": "Two do.", "why": "multiple valid approaches", "options": [{"label": "A", "means": "one", "pro": "clear", "con": "slow"}, {"label": "B", "means": "two", "pro": "fast", "con": "unclear"}]}}"#;
    assert_eq!(read(asks).unwrap().escalations().len(), 1);
}

#[test]
fn what_speaks_against_a_clean_pass_is_asked_about() {
    let clean = reply(&[COVERAGE, EDGES, SCENARIO]);
    let reads = |text: &str| super::read(text, &criteria(), 1, &Shown::default());
    assert!(reads(&clean).is_ok_and(|r| r.is_clean()));
    for (from, to) in [
        ("CONVERGED (1 passes, 0 fixes, 0 escalations)", "ESCALATE (2 items)"),
        ("CONVERGED (1 passes, 0 fixes, 0 escalations)", "CONTINUE (2 fixed)"),
        ("=== CRITIC 1 ===", "I could not see the work, so I assume that it is fine."),
        ("5 of 5 parts have an owner", "4 of 5 parts have an owner"),
        ("5 of 5 parts have an owner", "5 of 5, but the last must be added"),
        ("5 of 5 parts have an owner", "I am 100% confident"),
        (
            "5 of 5 parts have an owner",
            "5 of 5 parts, but two of them have to be serialised before work starts",
        ),
        ("5 of 5 parts have an owner", "as of 2026 nothing is missing"),
        ("Verdict: PASS\n[EDGE", "Verdict: PASS with reservations\n[EDGE"),
        ("Verdict: PASS\n[EDGE", "Verdict: PASS once it is added\n[EDGE"),
    ] {
        let text = clean.replacen(from, to, 1);
        assert_ne!(text, clean, "{from}");
        assert!(reads(&text).is_err(), "{to}");
    }
    let fine =
        clean.replacen("5 of 5 parts have an owner", "5 of 5 parts have an owner, and no two run at once", 1);
    assert!(reads(&fine).is_ok_and(|r| r.is_clean()), "{:?}", reads(&fine));
    let other = clean.replace("Are all 5 parts there?", "Does the login form check its fields?");
    assert!(other != clean && reads(&other).is_err_and(|e| e.problem.contains("answers another question")));
    let deferred = clean.replace("Verdict: PASS", "Verdict: DEFER (later)");
    assert!(reads(&deferred).is_err_and(|e| e.problem.contains("defers everything")));
}
