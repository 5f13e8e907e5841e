//! The grammar under generated replies: valid ones first, then mutated ones. Whatever is done to a reply
//! that is not clean, it never becomes one, and a criterion left out never passes.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::super::{PassReply, Verdict};
use super::parse;
use crate::protocol::converge::sets::ConvergeCriterion;

const NAMES: [&str; 3] = ["COVERAGE", "EDGE_CASES", "RISK"];

fn criteria() -> Vec<ConvergeCriterion> {
    NAMES.map(|name| ConvergeCriterion { name: name.into(), question: format!("Does {name} hold?") }).to_vec()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Pass,
    Fail,
    Escalate,
    Defer,
}

fn kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Pass, Kind::Pass, Kind::Fail, Kind::Escalate, Kind::Defer])
}

/// Words that say something: `n a` alone would be a scenario that is left out.
fn words() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-zé]{1,7}", 1..5).prop_map(|words| format!("disks {}", words.join(" ")))
}

fn item(name: &str, kind: Kind, text: &str) -> String {
    let verdict = match kind {
        Kind::Pass => "PASS".to_owned(),
        Kind::Fail => format!("FAIL (mend {text})"),
        Kind::Escalate => "ESCALATE".to_owned(),
        Kind::Defer => format!("DEFER (later {text})"),
    };
    format!("[{name}] Does {name} hold? → 7 of 7 {text}\n  Verdict: {verdict}\n")
}

fn block(name: &str, text: &str) -> String {
    format!(
        "=== CRITIC ESCALATION (1) ===\n[{name}] who {text}\n\nIssue: about {text}\nWhy escalation: scope boundary\n\nOptions:\n  1. this — {text}\n     Pro: a  Con: b\n"
    )
}

/// A reply as the grammar wants it, with what it says.
fn valid() -> impl Strategy<Value = (String, Vec<Kind>, bool)> {
    (prop::collection::vec(kind(), NAMES.len()), any::<bool>(), words()).prop_map(
        |(kinds, realistic, text)| {
            let mut reply = "=== CRITIC 2 ===\n".to_owned();
            for (name, kind) in NAMES.iter().zip(&kinds) {
                reply.push_str(&item(name, *kind, &text));
            }
            let weighed = if realistic { "Y → FAIL + mend it" } else { "N → 1 of 9 paths" };
            let _ = writeln!(reply, "[ADVERSARIAL] Failure scenario: {text}\n  → Realistic? {weighed}");
            for (name, _) in NAMES.iter().zip(&kinds).filter(|(_, k)| **k == Kind::Escalate) {
                reply.push_str(&block(name, &text));
            }
            reply.push_str("=== Result: CONVERGED (2 passes, 0 fixes, 0 escalations) ===\n");
            (reply, kinds, realistic)
        },
    )
}

#[derive(Clone, Copy, Debug)]
enum Mutation {
    Drop,
    Double,
    Swap,
    Quote,
    Fence,
    FenceWhole,
    OpenFence,
    Emphasise,
    Indent,
    Reason,
    ReasonClean,
    ShowClean,
    QuoteClean,
    LoneClose,
    NeverClosed,
    ZeroWidth,
    LowerCase,
    Carriage,
    Cut,
    Join,
}

fn mutations() -> impl Strategy<Value = Vec<(Mutation, prop::sample::Index, prop::sample::Index)>> {
    use Mutation::*;
    let one = prop::sample::select(vec![
        Drop,
        Double,
        Swap,
        Quote,
        Fence,
        FenceWhole,
        OpenFence,
        Emphasise,
        Indent,
        Reason,
        ReasonClean,
        ShowClean,
        QuoteClean,
        LoneClose,
        NeverClosed,
        ZeroWidth,
        LowerCase,
        Carriage,
        Cut,
        Join,
    ]);
    let at = any::<prop::sample::Index>;
    prop::collection::vec((one, at(), at()), 1..=3)
}

/// Answers that pass, as an artifact would show them to sneak them in.
fn clean_items() -> String {
    NAMES.map(|name| item(name, Kind::Pass, "sneaked")).concat()
}

fn mutate(reply: &str, how: Mutation, at: prop::sample::Index, to: prop::sample::Index) -> String {
    let mut lines: Vec<String> = reply.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return reply.to_owned();
    }
    let (n, m) = (at.index(lines.len()), to.index(lines.len()));
    match how {
        Mutation::Drop => drop(lines.remove(n)),
        Mutation::Double => lines.insert(m, lines[n].clone()),
        Mutation::Swap => lines.swap(n, m),
        Mutation::Quote => lines[n] = format!("> {}", lines[n]),
        Mutation::Fence => {
            let (first, last) = (n.min(m), n.max(m));
            lines.insert(last + 1, "```".into());
            lines.insert(first, "```rust".into());
        }
        Mutation::FenceWhole => {
            lines.insert(0, "```".into());
            lines.push("```".into());
        }
        Mutation::OpenFence => lines.insert(n, "```".into()),
        Mutation::Emphasise => lines[n] = format!("**{}**", lines[n].trim()),
        Mutation::Indent => lines[n] = format!("      {}", lines[n]),
        Mutation::Reason => lines.insert(n, "<think>hm</think>".into()),
        Mutation::ReasonClean => lines.insert(n, format!("<think>\n{}</think>", clean_items())),
        Mutation::ShowClean => lines.insert(n, format!("```md\n{}```", clean_items())),
        Mutation::QuoteClean => {
            lines.insert(n, clean_items().lines().map(|l| format!("> {l}")).collect::<Vec<_>>().join("\n"));
        }
        Mutation::LoneClose => lines.insert(n, "</think>".into()),
        Mutation::NeverClosed => lines.insert(n, "<think>".into()),
        Mutation::ZeroWidth => {
            let line = &lines[n];
            let cut =
                line.char_indices().map(|(i, _)| i).nth(to.index(line.chars().count().max(1))).unwrap_or(0);
            lines[n] = format!("{}\u{200b}{}", &line[..cut], &line[cut..]);
        }
        Mutation::LowerCase => lines[n] = lines[n].to_lowercase(),
        Mutation::Carriage => return lines.join("\r\n"),
        Mutation::Cut => lines.truncate(n + 1),
        Mutation::Join => {
            if n + 1 < lines.len() {
                let next = lines.remove(n + 1);
                lines[n] = format!("{} {}", lines[n], next.trim());
            }
        }
    }
    lines.join("\n")
}

/// What is sneaked in comes last and once: a later mutation could take its fence away, and then it would
/// stand in the reply.
fn mutated(reply: &str, how: &[(Mutation, prop::sample::Index, prop::sample::Index)]) -> String {
    let sneaks =
        |m: Mutation| matches!(m, Mutation::ReasonClean | Mutation::ShowClean | Mutation::QuoteClean);
    let open = how.iter().filter(|(m, ..)| !sneaks(*m));
    let sneaked = how.iter().filter(|(m, ..)| sneaks(*m)).take(1);
    open.chain(sneaked).fold(reply.to_owned(), |r, (m, at, to)| mutate(&r, *m, *at, *to))
}

fn kinds(reply: &PassReply) -> Vec<Kind> {
    let kind = |verdict: &Verdict| match verdict {
        Verdict::Pass => Kind::Pass,
        Verdict::Fail { .. } => Kind::Fail,
        Verdict::Escalate(_) => Kind::Escalate,
        Verdict::Defer { .. } => Kind::Defer,
    };
    reply.answers.iter().map(|a| kind(&a.verdict)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_replies_are_read_as_they_are_meant((reply, meant, realistic) in valid()) {
        let read = parse(&reply, &criteria(), 2).unwrap();
        prop_assert_eq!(kinds(&read), meant);
        prop_assert_eq!(read.scenario.is_realistic(), realistic);
    }

    #[test]
    fn a_mutated_reply_is_never_all_pass_unless_it_was((reply, meant, realistic) in valid(), how in mutations()) {
        prop_assume!(realistic || meant.iter().any(|k| *k != Kind::Pass));
        let mutated = mutated(&reply, &how);
        if let Ok(read) = parse(&mutated, &criteria(), 2) {
            prop_assert!(!read.all_pass(), "{:?}\n{}", how, mutated);
        }
    }

    #[test]
    fn a_criterion_left_out_never_passes((reply, _, _) in valid(), which in 0..NAMES.len(), how in mutations()) {
        let name = format!("[{}]", NAMES[which]);
        // Its block goes, too: with its header dropped and a verdict doubled below it, it would be an answer.
        let (reply, blocks) = reply.split_once("=== CRITIC ESCALATION").unwrap_or((&reply, ""));
        let blocks = blocks.split("=== CRITIC ESCALATION").filter(|b| !b.is_empty() && !b.contains(&name));
        let blocks: Vec<String> = blocks.map(|b| format!("=== CRITIC ESCALATION{b}")).collect();
        let lines = reply.lines().collect::<Vec<_>>();
        let at = lines.iter().position(|l| l.starts_with(&name)).unwrap();
        let mut without: Vec<&str> =
            lines.iter().enumerate().filter(|(n, _)| *n != at && *n != at + 1).map(|(_, l)| *l).collect();
        without.extend(blocks.iter().map(|b| b.trim_end()));
        prop_assert!(parse(&without.join("\n"), &criteria(), 2).is_err());
        // Nor whatever else is done to the reply; an escalation block is no answer either.
        let mutated = mutated(&without.join("\n"), &how);
        prop_assert!(parse(&mutated, &criteria(), 2).is_err(), "{:?}\n{}", how, mutated);
    }

    #[test]
    fn nothing_at_all_makes_it_panic(
        reply in any::<String>(),
        tokens in "(=== CRITIC (2|x|ESCALATION \\(1\\)) ===|\\[(RISK|ADVERSARIAL|COVERAGE|É|X)\\]|Verdict: |PASS|FAIL|DEFER|ESCALATE|Realistic\\? |Y|N|→|->|Issue: |Why escalation: |Options:|1\\. |Pro: |Con: |=== Result: |<think>|</think>|```|\\(|\\)|[0-9]|\n| |\\*|é|scope boundary|\"|`|a\\.rs:3){0,60}",
    ) {
        for text in [&reply, &tokens, &format!("=== CRITIC 2 ===\n{tokens}")] {
            if let Ok(read) = parse(text, &criteria(), 2) {
                let _ = read.findings("critic");
            }
        }
    }
}

/// A generator of garbage only would prove nothing: many mutated replies must still be read.
#[test]
fn mutated_replies_reach_the_verdicts() {
    let mut runner = TestRunner::deterministic();
    let (mut read, mut clean, total) = (0u32, 0u32, 2000u32);
    for _ in 0..total {
        let ((reply, _, _), how) = (valid(), mutations()).new_tree(&mut runner).unwrap().current();
        if let Ok(parsed) = parse(&mutated(&reply, &how), &criteria(), 2) {
            read += 1;
            clean += u32::from(parsed.is_clean());
        }
    }
    assert!(read * 4 >= total, "{read} of {total} are read");
    assert!(clean * 20 >= read, "{clean} of {read} are clean");
}
