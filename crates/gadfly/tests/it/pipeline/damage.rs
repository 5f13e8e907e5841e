//! A story of damage: a scored project is edited, cut, deleted, renamed, swapped and put back at random. No gate opens
//! that was closed for the work as it was judged, and an open one stays open only for exactly that work.

use std::collections::BTreeMap;
use std::fs;

use crate::pipeline::desk::Desk;
use crate::pipeline::stage::{THREE, judges, pipeline, project, writes};

const FILES: [&str; 3] = ["out/memo.md", "out/code.py", "out/paper.md"];
const STEPS: usize = 50;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most
    }
}

type Tree = BTreeMap<&'static str, Option<String>>;

fn tree(desk: &Desk) -> Tree {
    FILES.iter().map(|file| (*file, fs::read_to_string(desk.path(file)).ok())).collect()
}

fn put(desk: &Desk, file: &str, text: Option<&str>) {
    match text {
        Some(text) => desk.write(file, text),
        None => _ = fs::remove_file(desk.path(file)),
    }
}

/// One thing that happens to a project; what it was.
fn damage(desk: &Desk, dice: &mut Dice, seen: &[Tree], step: usize) -> String {
    if step % 12 == 11 {
        for (file, text) in &seen[0] {
            put(desk, file, text.as_deref());
        }
        return "the judged work put back".to_owned();
    }
    let file = FILES[dice.below(FILES.len())];
    let other = FILES[dice.below(FILES.len())];
    let now = tree(desk);
    let text = now[file].clone().unwrap_or_default();
    match dice.below(8) {
        0 => put(desk, file, Some(&format!("{text}% a typo is mended\n"))),
        1 => put(desk, file, Some(&text[..text.len() / 2])),
        2 => put(desk, file, None),
        3 => {
            put(desk, file, None);
            put(desk, &format!("{file}.old"), Some(&text));
        }
        4 => {
            put(desk, file, now[other].as_deref());
            put(desk, other, Some(&text));
        }
        5 => put(desk, file, seen[dice.below(seen.len())][file].as_deref()),
        6 => put(desk, &format!("out/new{}.md", dice.below(9)), Some("more\n")),
        _ => {
            let before = &seen[dice.below(seen.len())];
            for file in FILES {
                put(desk, file, before[file].as_deref());
            }
            return "all of it put back".to_owned();
        }
    }
    format!("{file} ({other})")
}

fn story(desk: &Desk, gates: &[&str], seed: u64) -> usize {
    let open = |gate: &str, more: &[&str]| {
        let said = desk.gadfly(&[&["gate", gate], more].concat());
        assert!(said.code == 0 || said.code == 3, "{said:?}");
        said.code == 0
    };
    let judged = tree(desk);
    let allowed: Vec<bool> = gates.iter().map(|gate| open(gate, &[])).collect();
    let (mut dice, mut trees, mut as_judged) = (Dice(seed), vec![judged.clone()], 0);
    for step in 0..STEPS {
        let what = damage(desk, &mut dice, &trees, step);
        let now = tree(desk);
        let is_same = now == judged;
        as_judged += usize::from(is_same);
        for (gate, allowed) in gates.iter().zip(&allowed) {
            let staged = step % 10 == 9;
            if staged {
                desk.git(&["add", "-A"]);
            }
            let more: &[&str] = if staged { &["--staged"] } else { &[] };
            assert_eq!(open(gate, more), is_same && *allowed, "step {step}, {what}: gate {gate}, {now:?}");
        }
        trees.push(now);
    }
    as_judged
}

fn at_work(desk: &Desk) {
    writes(desk, "strategist", "out/memo.md", &["# Estimand\n\nThe effect.\n"]);
    writes(desk, "coder", "out/code.py", &["print(1)\n"]);
    writes(desk, "writer", "out/paper.md", &["# Paper\n"]);
}

#[test]
fn an_open_gate_is_open_for_the_work_that_was_judged_and_for_no_other() {
    let desk = project(THREE);
    at_work(&desk);
    for (critic, score) in [("strategist-critic", 84), ("coder-critic", 82), ("writer-critic", 86)] {
        judges(&desk, critic, &[score]);
    }
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let as_judged = story(&desk, &["commit", "pr"], 1);
    assert!(as_judged > 0, "the work as it was judged was never put back");
}

#[test]
fn a_gate_that_a_low_score_closes_is_opened_by_no_damage() {
    let referee = "\n## referee\n- PHASE: Review\n- REQUIRES: writer-critic score >= 80\n- PRODUCES: `out/report.md`\n\
                   - CRITIC: None\n- ESCALATION_TARGET: User\n- QUALITY_WEIGHT: 40%\n";
    let desk = project(&format!("{THREE}{referee}"));
    desk.configure("[pipeline]\noverall = 1\n");
    at_work(&desk);
    for critic in ["strategist-critic", "coder-critic", "writer-critic"] {
        judges(&desk, critic, &[100]);
    }
    judges(&desk, "referee", &[20]);
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert_eq!(desk.gadfly(&["gate", "commit"]).code, 3, "20 of the referee is too little for the whole");
    story(&desk, &["commit"], 2);
}
