//! What hostile names and texts become in a diagram and in a table.

use super::kept::FirstAndLast;
use super::sequence::{self, word};
use super::tables::{self, cell};
use super::{Drawn, HALF};
use crate::telemetry::conventions as names;
use crate::telemetry::span::{Span, SpanId};

/// Each would mean something to Mermaid or to Markdown if it came through as it is.
const HOSTILE: [&str; 9] = [
    "%%{init: {\"theme\":\"dark\"}}%%",
    "a\n    g->>h: forged",
    "x; click g \"javascript:alert(1)\"",
    "end",
    "```\n# Heading",
    "| a | b |",
    "![pixel](http://evil.example/p.png)",
    "<img src=x onerror=alert(1)>",
    "#35;#quot;",
];

#[test]
fn in_a_diagram_every_text_stays_one_word_of_a_message() {
    for text in HOSTILE {
        let line = crate::output::safe::line(text, 200);
        let written = word(&line);
        let mut rest = written.clone();
        // Numbers are the only thing that has `#` and `;`.
        while let Some(start) = rest.find('#') {
            let end = rest[start..].find(';').unwrap() + start;
            assert!(rest[start + 1..end].chars().all(|c| c.is_ascii_digit()), "{text:?} → {written}");
            rest.replace_range(start..=end, "");
        }
        let plain = |c: char| c.is_alphanumeric() || " -_./,".contains(c);
        assert!(rest.chars().all(plain), "{text:?} → {written}");
        assert!(!written.split(' ').any(|part| part.eq_ignore_ascii_case("end")), "{text:?} → {written}");
        // Sabotage: as it came, none of them passes.
        assert!(!text.chars().all(plain) || text == "end", "{text:?}");
    }
    assert_eq!(word("writer - round 2"), "writer - round 2");
}

#[test]
fn in_a_table_nothing_is_markdown() {
    for text in HOSTILE {
        let written = cell(text, 200);
        assert!(!written.contains('\n'));
        let mut before = ' ';
        for c in written.chars() {
            if "|`[]<>*_#!\\".contains(c) {
                assert!(before == '\\' || c == '\\', "{text:?} → {written}");
            }
            before = if before == '\\' && c == '\\' { ' ' } else { c };
        }
    }
    assert_eq!(cell("ends with \\|", 200), "ends with \\\\\\|");
    assert_eq!(cell("", 200), "—");
    assert!(cell(&"x".repeat(1_000_000), 60).chars().count() <= 61);
}

#[test]
fn a_run_of_any_length_and_with_any_number_of_agents_is_drawn_within_bounds() {
    let run = "0123456789".parse().unwrap();
    let mut spans = FirstAndLast::new(HALF);
    for n in 0..20_000_u32 {
        let (agent, id) = (format!("agent-{}", n % 500), SpanId::of(&run, "effect", &n.to_string()));
        let mut span = Span::new(&run, id, names::INVOKE_AGENT, Some(&agent));
        span.attributes.text(names::AGENT, &agent);
        span.attributes.text(names::ROLE, "worker");
        (span.seqs.begin, span.seqs.end) = (n, n + 1);
        spans.push(span);
    }
    let drawn = Drawn { spans, under_way: Vec::new(), is_interrupted: false };
    assert_eq!(drawn.spans.omitted(), 20_000 - 2 * HALF);
    let source = sequence::source(&drawn);
    assert!(source.lines().count() < 220, "{} lines", source.lines().count());
    assert!(source.contains("what lies between is left out"), "{source}");
    assert!(source.contains("participant o as other agents"), "{source}");
    assert_eq!(tables::calls(&drawn).lines().filter(|line| line.starts_with("| agent-")).count(), 2 * HALF);
}

#[test]
fn what_was_lost_or_stopped_at_once_was_asked_for_first() {
    let run = "0123456789".parse().unwrap();
    let mut spans = FirstAndLast::new(HALF);
    for (n, end) in [(3, 5), (5, 5), (5, 5)] {
        let mut span = Span::new(&run, SpanId::of(&run, "effect", "x"), names::EXECUTE_TOOL, None);
        span.attributes.text(names::TOOL, "t");
        (span.seqs.begin, span.seqs.end) = (n, end);
        span.fail(if n == end { "lost" } else { "failed" });
        spans.push(span);
    }
    let source = sequence::source(&Drawn { spans, under_way: Vec::new(), is_interrupted: false });
    let lines: Vec<&str> = source.lines().skip(3).map(str::trim).collect();
    let lost = ["g->>t: t", "t--xg: lost"];
    assert_eq!(lines, [&["g->>t: t", "t--xg: failed"][..], &lost, &lost].concat());
}
