//! More than a critic can take: all of it is seen, in parts, or what was not seen is named and nothing passes.

use std::collections::HashSet;
use std::fs;

use crate::judging::desk::{Desk, report};

const FILES: usize = 30;
const LINES: usize = 1500;

/// 3 MB of uncommitted text in a repository, and a critic of 32,768 tokens that keeps every brief it gets.
fn large() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    for file in 0..FILES {
        desk.write(
            &format!("large/f{file:02}.txt"),
            &(0..LINES).map(|n| line(file, n) + "\n").collect::<String>(),
        );
    }
    fs::create_dir(desk.beside("briefs")).unwrap();
    let reply = report(
        "review-the-uncommitted-changes",
        1,
        &[("SC-1", "Satisfied", "large/f00.txt:1")],
        &[],
        "passed",
    );
    let briefs = desk.beside("briefs");
    desk.program("c", &format!("cat >{}/$$\ncat <<'END'\n{reply}\nEND", briefs.display()));
    desk.configure(&format!("context = 32768\nstate = [{}]\n", serde_json::json!(briefs)));
    desk
}

fn line(file: usize, n: usize) -> String {
    format!(
        "line {n} of file {file}: {:x} and some words to fill it",
        (file * 7919 + n).wrapping_mul(2_654_435_761)
    )
}

const REVIEW: [&str; 7] =
    ["review", "--uncommitted", "--critic", "c", "--criterion", "SC-1: it is done", "--yes"];

#[test]
fn three_megabytes_are_covered_to_the_last_line_by_a_small_critic() {
    let desk = large();
    desk.configure("[budget]\ncalls = 400\n");
    let said = desk.gadfly(&[&REVIEW[..], &["--max-parts", "300"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.state(), "approved");
    let (mut seen, mut parts) = (HashSet::new(), 0);
    for brief in fs::read_dir(desk.beside("briefs")).unwrap().flatten() {
        let text = fs::read_to_string(brief.path()).unwrap();
        // Two bytes are never less than a token's worth of what these briefs hold.
        assert!(text.len() < 32_768 * 4, "a brief of {} bytes", text.len());
        seen.extend(text.lines().filter_map(|l| l.find("line ").map(|at| l[at..].to_owned())));
        parts += 1;
    }
    assert!(parts > 20, "{parts} parts");
    for file in 0..FILES {
        for n in 0..LINES {
            assert!(seen.contains(&line(file, n)), "line {n} of file {file} was shown to nobody");
        }
    }
}

#[test]
fn what_is_beyond_the_parts_is_named_and_never_approved() {
    let desk = large();
    let said = desk.gadfly(&[&REVIEW[..], &["--max-parts", "5"]].concat());
    assert_eq!(said.code, 5, "{}", said.err);
    assert!(desk.state().starts_with("unverified"), "{}", desk.state());
    let told = desk.told();
    assert!(told.contains("large/f29.txt"), "{told}");
    // Nor does the report that other programs read call it passed.
    let report =
        desk.read(&format!(".gadfly/runs/{}/critic-review-the-uncommitted-changes-r1.json", desk.run_id()));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((report["verdict"].as_str(), report["partial"].as_bool()), (Some("issues_found"), Some(true)));
    assert!(!said.out.contains("\"passed\""), "{}", said.out);
}

#[test]
fn calls_that_run_out_in_the_middle_approve_nothing() {
    let desk = large();
    desk.configure("[budget]\ncalls = 6\n");
    let said = desk.gadfly(&[&REVIEW[..], &["--max-parts", "300"]].concat());
    assert_eq!(said.code, 6, "{}", said.err);
    assert_eq!(desk.state(), "out_of_budget");
}
