//! A project with a registry, agents that play its parts, and what a person reads of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::kit::desk::{Answer, Desk, Said};

/// A memo, code that needs it, a paper that needs both.
pub const THREE: &str = "\
# Registry

## strategist
- PHASE: Strategy
- REQUIRES: None
- PRODUCES: `out/memo.md`
  - Required sections: Estimand
- CRITIC: strategist-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 50%

## coder
- PHASE: Execution
- REQUIRES: `out/memo.md` AND strategist-critic score >= 80
- PRODUCES: `out/code.py`
- CRITIC: coder-critic
- ESCALATION_TARGET: strategist-critic
- QUALITY_WEIGHT: 30%

## writer
- PHASE: Paper
- REQUIRES: coder-critic score >= 80
- PRODUCES: `out/paper.md`
- CRITIC: writer-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 20%
";

/// Only the first of them.
pub const ONE: &str = "\
## coder
- PHASE: Execution
- REQUIRES: None
- PRODUCES: `out/code.py`
- CRITIC: coder-critic
- ESCALATION_TARGET: User
- QUALITY_WEIGHT: 100%
";

/// What a critic says that gives this score.
pub fn gives(score: u32) -> String {
    let deductions = match 100 - score {
        0 => String::new(),
        points => format!(r#"{{"says": "worth {points}", "fix": "mend it", "times": 1}}"#),
    };
    format!(r#"{{"deductions": [{deductions}], "score": {score}, "notes": []}}"#)
}

/// A repository with this registry, in the native layout.
pub fn project(registry: &str) -> Desk {
    Desk::repository(&[("gadfly.toml", "[project]\nname = \"reform\"\n"), ("permissions.md", registry)])
        .agreeing()
}

/// An agent that writes one file, draft after draft.
pub fn writes(desk: &Desk, name: &str, path: &str, drafts: &[&str]) {
    let files: Vec<[(&str, &str); 1]> = drafts.iter().map(|draft| [(path, *draft)]).collect();
    let answers: Vec<Answer<'_>> =
        files.iter().map(|files| Answer { text: "Written.", files, ..Answer::default() }).collect();
    desk.scripted(name, &answers);
}

/// A critic that gives these scores, the last again and again.
pub fn judges(desk: &Desk, name: &str, scores: &[u32]) {
    let texts: Vec<String> = scores.iter().map(|score| gives(*score)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    desk.saying(name, &texts);
}

/// The three at work, each content with the other.
pub fn three() -> Desk {
    let desk = project(THREE);
    writes(&desk, "strategist", "out/memo.md", &["# Estimand\n\nThe effect.\n"]);
    writes(&desk, "coder", "out/code.py", &["print(1)\n"]);
    writes(&desk, "writer", "out/paper.md", &["# Paper\n"]);
    for (critic, score) in [("strategist-critic", 92), ("coder-critic", 88), ("writer-critic", 96)] {
        judges(&desk, critic, &[score]);
    }
    desk
}

/// One coder whose drafts and scores these are.
pub fn one(drafts: &[&str], scores: &[u32]) -> Desk {
    let desk = project(ONE);
    writes(&desk, "coder", "out/code.py", drafts);
    judges(&desk, "coder-critic", scores);
    desk
}

pub const PIPELINE: [&str; 6] =
    ["pipeline", "Estimate the effect", "--no-plan", "--yes", "--unattended", "--trust"];

pub fn pipeline(desk: &Desk, more: &[&str]) -> Said {
    desk.gadfly(&[&PIPELINE[..], more].concat())
}

/// What was told of a run, from its beginning to its last block, without what differs from machine to machine.
pub fn story(said: &Said) -> String {
    let lines = said.err.lines().skip_while(|line| !line.starts_with("pipeline for"));
    let lines = lines.take_while(|line| !line.trim_start().starts_with("agents "));
    let differs = |line: &&str| {
        line.contains("sandbox: ") || line.contains("no sandbox") || line.contains("no Landlock")
    };
    lines.filter(|line| !differs(line)).map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// A file of JSON in the project.
pub fn json(desk: &Desk, name: &str) -> Value {
    serde_json::from_str(&desk.read(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// What the receipt of an agent says: the predicate of its statement.
pub fn receipt(desk: &Desk, agent: &str) -> Value {
    statement(desk, agent)["predicate"].clone()
}

/// The whole of it, with the files it is about.
pub fn statement(desk: &Desk, agent: &str) -> Value {
    let envelope = json(desk, &format!(".gadfly/receipts/{agent}.json"));
    let payload = STANDARD.decode(envelope["payload"].as_str().unwrap()).unwrap();
    serde_json::from_slice(&payload).unwrap()
}

/// Answers the question the newest run waits for, and takes it up.
pub fn answered(desk: &Desk, answer: &str) -> Said {
    let run = desk.run_id();
    let said = desk.gadfly(&["answer", &run, answer]);
    assert_eq!(said.code, 0, "{said:?}");
    desk.gadfly(&["resume", &run, "--unattended", "--trust"])
}
