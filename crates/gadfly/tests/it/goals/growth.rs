//! A goal's store grows with what is new, not with its history: a step late in a goal takes no more room than an early one.

use std::fs;

use crate::goals::pursuit::{GOAL, PROGRESSING, claims, pursuit, reads, writes};

/// The bytes of the store of a goal of so many steps.
fn stored(steps: usize) -> u64 {
    let mut worker: Vec<_> = (0..steps).map(|n| writes(&format!("part-{n}.txt"), "x")).collect();
    worker.extend([writes("done.txt", "x"), reads("done.txt").then(claims("there"))]);
    let desk = pursuit(&worker, &[PROGRESSING]);
    let caps = ["--max-steps", "600", "--max-turns", "600", "--critic-interval", "25"];
    let output = desk.command(&[&GOAL[..], &caps].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    fs::metadata(desk.path(".gadfly/journal.db")).unwrap().len()
}

#[test]
fn a_late_step_takes_no_more_room_than_an_early_one() {
    let (short, middle, long) = (stored(20), stored(120), stored(320));
    let (early, late) = ((middle - short) / 100, (long - middle) / 200);
    println!("{early} bytes a step up to 120 steps, {late} up to 320");
    assert!(late <= early + early / 3, "{late} bytes a step, after {early}");
    assert!(late < 6_000, "{late} bytes a step");
}
