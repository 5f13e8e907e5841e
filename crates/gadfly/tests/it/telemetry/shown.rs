//! `gadfly show --trace`: the same run for a person, as Markdown, as Mermaid, as lines of JSON.

use serde_json::Value;

use crate::telemetry::collector::{Collector, Manner};
use crate::telemetry::desk::Desk;
use crate::telemetry::kinds::{RUN, looped};
use crate::telemetry::pursuit::{GOAL, claims, pursuit, reads, writes};
use crate::telemetry::stage::{PIPELINE, three};

pub fn shown(desk: &Desk, how: &[&str]) -> String {
    let run = desk.run_id();
    let said = desk.gadfly(&[&["show", &run], how].concat());
    assert_eq!(said.code, 0, "{said:?}");
    said.out
}

#[test]
fn a_loop_is_a_sequence_with_its_calls_and_verdicts() {
    let desk = looped();
    assert_eq!(desk.gadfly(&RUN).code, 0);
    let page = shown(&desk, &["--trace"]);
    let diagram = shown(&desk, &["--trace=mermaid"]);
    assert!(diagram.starts_with("sequenceDiagram\n"), "{diagram}");
    assert!(page.contains(&format!("```mermaid\n{diagram}```")), "{page}");
    let order = ["g->>a0: worker, round 1", "a1-->>g: rejected, 1 open", "a1-->>g: approved"];
    let places: Vec<usize> = order.iter().map(|line| diagram.find(line).expect(line)).collect();
    assert!(places.is_sorted(), "{diagram}");
    assert!(page.contains("| 1 | c | revise | rejected | 0 | 1 | - name the sample size |"), "{page}");
    assert_eq!(page.lines().filter(|line| line.starts_with("| w | worker |")).count(), 2, "{page}");
}

#[test]
fn lines_of_json_are_what_a_collector_is_told() {
    let desk = looped();
    let collector = Collector::start(Manner::Good).of(&desk, "");
    assert_eq!(desk.gadfly(&RUN).code, 0);
    let hex = |bytes: &[u8]| {
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        digits.concat()
    };
    let mut sent: Vec<(String, String)> =
        collector.spans().iter().map(|span| (hex(&span.id), span.name.clone())).collect();
    let lines = shown(&desk, &["--trace", "--json"]);
    let mut printed: Vec<(String, String)> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|span| (span["span_id"].as_str().unwrap().to_owned(), span["name"].as_str().unwrap().to_owned()))
        .collect();
    sent.sort();
    printed.sort();
    assert_eq!(sent, printed);
    assert!(!lines.contains("a first draft") && !lines.contains("Write a line"), "{lines}");
}

#[test]
fn a_goal_is_a_sequence_with_tools_and_a_pipeline_a_graph() {
    let desk = pursuit(
        &[writes("done.txt", "done\n"), reads("done.txt"), claims("it is there")],
        &["PROGRESSING\nOn."],
    );
    assert_eq!(desk.gadfly(&GOAL).code, 0);
    let diagram = shown(&desk, &["--trace=mermaid"]);
    assert!(diagram.contains("participant t as tools") && diagram.contains("g->>t: write_file"), "{diagram}");
    let desk = three();
    assert_eq!(desk.gadfly(&PIPELINE).code, 0);
    let diagram = shown(&desk, &["--trace=mermaid"]);
    assert!(
        diagram.starts_with("graph LR\n") && diagram.contains("A[strategist] -->|score: 92| B[coder]"),
        "{diagram}"
    );
    // Critics, what they gave, and the gate.
    for line in ["[writer-critic] -.->|96 approved| C", "gate([\"gate commit open, ", "C --> gate"] {
        assert!(diagram.contains(line), "{line}: {diagram}");
    }
    let page = shown(&desk, &["--trace"]);
    assert!(page.contains("| coder-critic | score | approved | 88 |"), "the pair's own protocol: {page}");
    assert!(page.contains("| coder-critic | critic |") && page.contains("| commit | open |"), "{page}");
}

#[test]
fn hostile_findings_and_tasks_stay_text() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["draft"]);
    let evil =
        "[STATUS: REJECTED]\n- ``` %%{init: {}}%% ![p](http://evil.example/p.png) <script>x</script> | cell";
    desk.saying("c", &[evil, "[STATUS: APPROVED]\nGood."]);
    let task = "end; ```mermaid <img src=x> [a](b) | x";
    let args = ["run", task, "--worker", "w", "--critic", "c", "--criterion", "it is short", "--yes"];
    assert_eq!(desk.gadfly(&args).code, 0);
    let page = shown(&desk, &["--trace"]);
    assert_eq!(page.lines().filter(|line| line.starts_with("```")).count(), 2, "{page}");
    let (_, tables) = page.split_once("## Calls").unwrap();
    for raw in ["![p]", "<script>", "`", "%%{"] {
        let unescaped = tables.match_indices(raw).any(|(at, _)| !tables[..at].ends_with('\\'));
        assert!(!unescaped || raw == "%%{", "{raw}: {tables}");
    }
    let diagram = shown(&desk, &["--trace=mermaid"]);
    assert!(!diagram.contains("%%") && !diagram.contains('`') && !diagram.contains('<'), "{diagram}");
}

#[test]
fn a_waiting_run_says_what_is_under_way() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a first draft"]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    let args =
        ["run", "Write a line", "--worker", "w", "--critic", "me", "--criterion", "it is short", "--yes"];
    assert_eq!(desk.gadfly(&[&args[..], &["--unattended"]].concat()).code, 4);
    let page = shown(&desk, &["--trace"]);
    assert!(page.contains("| me | critic | 1 | — | — | — | — | under way |"), "{page}");
}
