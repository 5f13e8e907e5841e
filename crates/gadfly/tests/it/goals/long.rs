//! Five hundred steps with long outputs: nothing grows without bound, and the last prompt still holds the goal and
//! what is allowed.

use std::fs;

use crate::goals::pursuit::{
    GOAL, PROGRESSING, claims, events, prompts, pursuit, reads, runs, steps, writes,
};

const STEPS: u32 = 500;

#[test]
fn five_hundred_steps_with_long_outputs_stay_within_bounds() {
    // 100 kB each time, and never the same.
    let prints = runs("echo x >> n; seq $(wc -l < n) 20000").times(STEPS);
    let worker = [prints, writes("done.txt", "x"), reads("done.txt").then(claims("there"))];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let caps = ["--max-steps", "600", "--max-turns", "600", "--critic-interval", "10"];
    // Its own memory, at its highest, is told by whoever outlives it.
    let mut command = desk.command(&[&GOAL[..], &caps].concat());
    let mut child =
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let mut highest = 0;
    let code = loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = peak.and_then(|peak| peak.trim().split(' ').next()?.parse::<u64>().ok()).unwrap_or(0);
        highest = highest.max(kib);
        if let Some(status) = child.try_wait().unwrap() {
            break status.code();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!((code, desk.state().as_str()), (Some(0), "approved"), "{:?}", desk.newest());
    let events = events(&desk);
    assert_eq!(steps(&events).len(), 503);
    let worker = prompts(&events, "worker");
    let longest = worker.iter().map(String::len).max().unwrap();
    assert!(longest < 256 << 10, "a prompt of {longest} bytes");
    let critic = prompts(&events, "critic").iter().map(String::len).max().unwrap();
    assert!(critic < 64 << 10, "a prompt of {critic} bytes for the critic");
    for last in [worker.last().unwrap(), &worker[250]] {
        assert!(last.contains("GOAL:\nWrite the file done.txt."), "the goal");
        assert!(last.contains("ALLOWED: risk=write_local"), "the policy");
        assert!(last.contains("REACHED WHEN: `test -f done.txt`"), "the criterion");
    }
    assert!(highest > 0 && highest < 512 << 10, "{highest} KiB of memory");
    let journal = fs::metadata(desk.path(".gadfly/journal.db")).unwrap().len();
    assert!(journal < 64 << 20, "a journal of {journal} bytes");
}
