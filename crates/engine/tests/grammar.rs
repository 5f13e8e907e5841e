//! The verdict grammar under generated replies: valid ones first, then mutated ones. No reply may make
//! it panic, and only a reply an independent oracle accepts may approve.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test: failing is how it speaks

use gadfly_engine::status_grammar::{Malformed, Status, parse};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

const YES: &str = "[STATUS: APPROVED]";
const NO: &str = "[STATUS: REJECTED]";

fn sentence() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-zéß]{1,8}|[0-9]{1,3}|“[a-z]{1,5}”", 1..8).prop_map(|words| words.join(" "))
}

fn bullets(mark: &'static str) -> impl Strategy<Value = String> {
    let one = (prop::option::of(1..9u32), sentence()).prop_map(move |(cites, text)| {
        let cites = cites.map_or(String::new(), |n| format!("{n}: "));
        format!("- {mark}{cites}{text}\n")
    });
    prop::collection::vec(one, 1..5).prop_map(|all| all.concat())
}

/// A reply as the grammar wants it, with its verdict.
fn valid() -> impl Strategy<Value = (String, Status)> {
    let approved = (sentence(), prop::option::of(sentence())).prop_map(|(why, minor)| {
        let minor = minor.map_or(String::new(), |m| format!("Minor: {m}\n"));
        (format!("{YES}\n{why}.\n{minor}"), Status::Approved)
    });
    let rejected = bullets("").prop_map(|list| (format!("{NO}\n{list}"), Status::Rejected));
    let accounted = (bullets("✓ "), bullets("")).prop_map(|(done, open)| {
        let text = format!("{NO}\nAddressed from iteration 1:\n{done}Still unresolved:\n{open}");
        (text, Status::Rejected)
    });
    prop_oneof![approved, rejected, accounted]
}

#[derive(Clone, Copy, Debug)]
enum Mutation {
    None,
    MoveToken,
    DoubleToken,
    Fence,
    Quote,
    Emphasise,
    Reason,
    ReasonInTokens,
    LoneClose,
    NeverClosed,
    ZeroWidth,
    LowerCase,
    OtherToken,
    AddBullet,
    Swap,
    Drop,
    Carriage,
}

fn mutations() -> impl Strategy<Value = Vec<(Mutation, prop::sample::Index)>> {
    use Mutation::*;
    let one = prop::sample::select(vec![
        None,
        MoveToken,
        DoubleToken,
        Fence,
        Quote,
        Emphasise,
        Reason,
        ReasonInTokens,
        LoneClose,
        NeverClosed,
        ZeroWidth,
        LowerCase,
        OtherToken,
        AddBullet,
        Swap,
        Drop,
        Carriage,
    ]);
    prop::collection::vec((one, any::<prop::sample::Index>()), 1..=2)
}

fn mutate(reply: &str, how: Mutation, at: prop::sample::Index) -> String {
    let mut lines: Vec<String> = reply.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return reply.to_owned();
    }
    let n = at.index(lines.len());
    let token = if reply.contains(YES) { YES } else { NO };
    let other = if token == YES { NO } else { YES };
    match how {
        Mutation::None => {}
        Mutation::MoveToken => {
            let first = lines.remove(0);
            lines.insert(at.index(lines.len() + 1), first);
        }
        Mutation::DoubleToken => lines.insert(n, token.to_owned()),
        Mutation::Fence => {
            lines.insert(0, "```".into());
            lines.push("```".into());
        }
        Mutation::Quote => lines[n] = format!("> {}", lines[n]),
        Mutation::Emphasise => lines[0] = format!("**{}**", lines[0]),
        Mutation::Reason => lines.insert(n, "<think>hm</think>".into()),
        Mutation::ReasonInTokens => lines.insert(0, format!("<think>\n{other}\n- x\n</think>")),
        Mutation::LoneClose => lines.insert(n, "</think>".into()),
        Mutation::NeverClosed => lines.insert(n, "<think>".into()),
        Mutation::ZeroWidth => {
            let cut = (1..token.len()).nth(at.index(token.len() - 1)).unwrap();
            return reply.replacen(token, &format!("{}\u{200b}{}", &token[..cut], &token[cut..]), 1);
        }
        Mutation::LowerCase => return reply.replacen(token, &token.to_lowercase(), 1),
        Mutation::OtherToken => lines.insert(n, other.to_owned()),
        Mutation::AddBullet => lines.push("- and this".into()),
        Mutation::Swap => lines.swap(0, n),
        Mutation::Drop => drop(lines.remove(n)),
        Mutation::Carriage => return reply.replace('\n', "\r\n"),
    }
    lines.join("\n")
}

/// May this reply approve? Written without the parser: reasoning out, one fence off, the first line that
/// says anything is the exact token, no line is the other one, no bullet is open.
fn may_approve(reply: &str) -> bool {
    let lines: Vec<&str> = reply.lines().map(str::trim).collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut thinking = false;
    for (n, line) in lines.iter().enumerate() {
        let verdict_above = kept.iter().any(|l| is_token(l, YES) || is_token(l, NO));
        let shown_above = kept.iter().any(|l| l.contains("<think>"));
        if thinking {
            thinking = !line.ends_with("</think>");
        } else if line.ends_with("</think>") && !line.contains("<think>") && !verdict_above && !shown_above {
            kept.clear();
        } else if *line == "<think>" {
            // Never closed, it hides what follows only if no verdict stands above it.
            thinking = !verdict_above || lines[n..].iter().any(|l| l.ends_with("</think>"));
        } else if !matches!(*line, "" | "```" | "<think>hm</think>") {
            kept.push(line);
        }
    }
    let Some(first) = kept.first() else { return false };
    let contradicted = kept.iter().any(|l| is_token(l, NO));
    let open =
        kept.iter().any(|l| l.starts_with("- ") && !l.starts_with("- ✓") && !l.starts_with("- Minor:"));
    is_token(first, YES) && !contradicted && !open
}

fn is_token(line: &str, token: &str) -> bool {
    line.trim_start_matches(['*', '_', '`']).starts_with(token)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_replies_are_read_as_they_are_meant((reply, status) in valid()) {
        prop_assert_eq!(parse(&reply).map(|r| r.status), Ok(status));
    }

    #[test]
    fn a_mutated_reply_approves_only_what_the_oracle_accepts((reply, _) in valid(), how in mutations()) {
        let mutated = how.iter().fold(reply, |r, (m, at)| mutate(&r, *m, *at));
        if let Ok(read) = parse(&mutated) && read.status == Status::Approved {
            prop_assert!(may_approve(&mutated), "{:?}\n{}", how, mutated);
        }
    }

    #[test]
    fn nothing_at_all_makes_it_panic(reply in any::<String>(), tokens in "(\\[STATUS: (APPROVED|REJECTED)\\]|<think>|</think>|```|- |✓|#|\\(|[0-9]|,|\n| |\\*|é){0,40}") {
        let _ = parse(&reply);
        let _ = parse(&tokens);
        let _ = gadfly_engine::brief::neutralise(&tokens);
        prop_assert!(!gadfly_engine::brief::neutralise(&tokens).contains("[STATUS:"));
    }
}

/// A generator of garbage only would prove nothing: at least half of the mutated replies must get as far
/// as a verdict or a contradiction within one.
#[test]
fn mutated_replies_reach_the_verdict() {
    let mut runner = TestRunner::deterministic();
    let (mut reached, mut approved, total) = (0u32, 0u32, 4000u32);
    for _ in 0..total {
        let ((reply, _), how) = (valid(), mutations()).new_tree(&mut runner).unwrap().current();
        let mutated = how.iter().fold(reply, |r, (m, at)| mutate(&r, *m, *at));
        let read = parse(&mutated);
        approved += u32::from(matches!(&read, Ok(r) if r.status == Status::Approved));
        reached += u32::from(!matches!(read, Err(Malformed::Empty | Malformed::NoToken)));
    }
    // Not by `eprintln!`, which the runner captures: the share is worth seeing in every run.
    let said = format!("{reached} of {total} mutated replies reach the verdict, {approved} approve\n");
    let _ = std::io::Write::write_all(&mut std::io::stderr(), said.as_bytes());
    assert!(reached * 2 >= total, "{reached} of {total}");
    assert!(approved * 20 >= total, "{approved} of {total}");
}

/// Sabotage: a reader that looks for the token anywhere is caught by the same oracle.
#[test]
fn the_oracle_catches_a_careless_reader() {
    let mut runner = TestRunner::deterministic();
    let caught = (0..500).any(|_| {
        let ((reply, _), how) = (valid(), mutations()).new_tree(&mut runner).unwrap().current();
        let mutated = how.iter().fold(reply, |r, (m, at)| mutate(&r, *m, *at));
        mutated.contains(YES) && !may_approve(&mutated)
    });
    assert!(caught);
}
