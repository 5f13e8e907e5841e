//! When the guard blocks, and when it must not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;

/// A worker's calls through a guard; says whether each was done.
#[derive(Default)]
struct Worker(LoopGuard);

impl Worker {
    fn does(&mut self, tool: &str, args: &str, result: &str) -> bool {
        if self.0.before(tool, args).is_some() {
            return false;
        }
        self.0.after(tool, args, result_of(result), false);
        true
    }

    fn runs(&mut self, line: &str, result: &str) -> bool {
        self.does("run_command", &serde_json::json!({"command": line}).to_string(), result)
    }

    fn edits(&mut self, new: &str, result: &str) -> bool {
        self.does("edit_file", &serde_json::json!({"path": "a", "old": "x", "new": new}).to_string(), result)
    }
}

#[test]
fn the_fourth_identical_call_is_blocked_if_nothing_new_came_of_the_three() {
    let mut worker = Worker::default();
    for _ in 0..3 {
        assert!(worker.runs("cargo test", "1 failed in 0.01s"));
    }
    assert!(!worker.runs("cargo test", ""));
    assert!(
        !worker.does("run_command", r#" {"command" : "cargo test"} "#, ""),
        "the same call, written differently"
    );
    assert!(worker.runs("cargo test a", "1 failed"), "another call");
    assert!(worker.runs("cargo test", "1 failed"), "and after it this one may be tried again");
}

#[test]
fn a_failing_edit_is_blocked_and_a_changing_one_is_not() {
    let mut worker = Worker::default();
    for _ in 0..3 {
        assert!(worker.edits("y", "the old text does not occur"));
    }
    assert!(!worker.edits("y", ""));
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.edits(&format!("y{n}"), "the old text does not occur"), "{n}");
    }
}

#[test]
fn a_result_that_changes_begins_anew() {
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.runs("git log -1", &format!("commit {n}")), "{n}");
    }
    let mut worker = Worker::default();
    for result in ["a", "a", "b", "b", "a", "a", "a"] {
        assert!(worker.runs("x", result));
    }
    assert!(!worker.runs("x", "a"));
}

#[test]
fn editing_and_testing_in_turn_is_work() {
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.edits(&format!("y{n}"), "done"), "{n}");
        assert!(worker.runs("cargo test", "1 failed"), "the same failure after another edit, {n}");
    }
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.edits("y", "done"), "{n}");
        assert!(worker.runs("cargo test", &format!("{n} failed")), "{n}");
    }
}

#[test]
fn cycles_of_two_and_three_are_blocked_once_they_have_come_round_twice() {
    for period in [2, 3] {
        let mut worker = Worker::default();
        assert!(worker.runs("begin", ""));
        for n in 0..period * 2 {
            assert!(worker.runs(&format!("look {}", n % period), "same"), "{period}: {n}");
        }
        assert!(!worker.runs("look 0", "same"), "{period}");
        assert!(worker.runs("look 9", "same"), "what leaves the circle is done");
        assert!(worker.runs("look 0", "same"), "and breaks it");
    }
}

#[test]
fn a_cycle_that_brings_something_new_is_none() {
    for period in [2, 3] {
        let mut worker = Worker::default();
        for n in 0..30 {
            let result = if n % period == 0 { n.to_string() } else { "same".to_owned() };
            assert!(worker.runs(&format!("look {}", n % period), &result), "{period}: {n}");
        }
    }
}

#[test]
fn waiting_is_no_circle() {
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.runs("sleep 30", ""), "{n}");
    }
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.runs("sleep 30", ""), "{n}");
        assert!(worker.runs("gh run list", "in progress"), "{n}");
    }
    let mut worker = Worker::default();
    for n in 0..20 {
        assert!(worker.runs("sleep 30 && gh run list", "in progress"), "{n}");
        assert!(worker.does("ci__wait_for", "{}", "not yet"), "{n}");
    }
}

#[test]
fn the_fifth_block_halts() {
    let mut guard = LoopGuard::default();
    for _ in 0..3 {
        assert_eq!(guard.before("x", "{}"), None);
        guard.after("x", "{}", result_of("a"), false);
    }
    let mut in_its_turn = || {
        guard.new_turn();
        guard.before("x", "{}").unwrap().halt
    };
    let halts: Vec<bool> = (0..6).map(|_| in_its_turn()).collect();
    assert_eq!(halts, [false, false, false, false, true, true]);
    assert_eq!(guard.blocks(), 6);
}

#[test]
fn a_tool_that_only_fails_is_switched_off_once() {
    let mut guard = LoopGuard::default();
    let fails = |guard: &mut LoopGuard, tool: &str, n: u32, is_error| {
        guard.after(tool, &format!("{{\"n\":{n}}}"), result_of(&n.to_string()), is_error)
    };
    assert_eq!(fails(&mut guard, "fetch_url", 1, true), None);
    assert_eq!(fails(&mut guard, "fetch_url", 2, true), None);
    assert_eq!(fails(&mut guard, "fetch_url", 3, false), None, "a success of it begins anew");
    assert_eq!(fails(&mut guard, "fetch_url", 4, true), None);
    assert_eq!(fails(&mut guard, "fetch_url", 5, true), None);
    assert_eq!(fails(&mut guard, "read_file", 6, false), None, "a success of another tool does not");
    assert!(!guard.is_disabled("fetch_url"));
    let said = fails(&mut guard, "fetch_url", 7, true).unwrap();
    assert!(said.contains("`fetch_url`") && said.contains("switched off"), "{said}");
    assert!(guard.is_disabled("fetch_url") && !guard.is_disabled("read_file"));
    assert_eq!(guard.disabled().collect::<Vec<_>>(), ["fetch_url"]);
    assert_eq!(fails(&mut guard, "fetch_url", 8, true), None, "it is said once");
    assert_eq!(fails(&mut guard, "fetch_url", 9, false), None);
    assert!(guard.is_disabled("fetch_url"), "for the run");
    assert!(guard.before("fetch_url", "{}").is_some());
}

#[test]
fn what_is_kept_in_mind_is_bounded() {
    let mut guard = LoopGuard::default();
    for n in 0..5000 {
        guard.after(&format!("tool{n}"), "{}", result_of(""), true);
    }
    assert!(guard.calls.len() <= WINDOW && guard.errors.len() <= TOOLS);
}

#[test]
fn how_long_a_run_took_is_no_news_and_anything_else_is() {
    for (one, other) in [
        ("12 passed in 0.03s", "12 passed in 1.24s"),
        ("Time: 1.2 s", "Time: 3.4 s"),
        ("ok 12 ms", "ok 9 ms"),
        ("done (5ms)", "done (17ms)"),
    ] {
        assert_eq!(result_of(one), result_of(other), "{one}");
    }
    for (one, other) in [
        ("12 passed", "13 passed"),
        ("elapsed 30s", "elapsed 60s"),
        ("v1.2 so", "v1.3 so"),
        ("3 msgs", "4 msgs"),
    ] {
        assert_ne!(result_of(one), result_of(other), "{one}");
    }
}

#[test]
fn what_is_wished_for_at_once_is_blocked_each_time_and_counts_once() {
    let mut worker = Worker::default();
    for _ in 0..3 {
        assert!(worker.runs("ls", "a"));
    }
    for _ in 0..13 {
        assert!(!worker.runs("ls", ""), "nobody has told it yet");
    }
    assert_eq!(worker.0.blocks(), 1);
    worker.0.new_turn();
    assert!(!worker.runs("ls", ""));
    assert_eq!(worker.0.blocks(), 2);
}

/// A worker before a guard that looks further; says whether each call was done, and counts what it was told.
struct Watched(LoopGuard, usize);

impl Watched {
    fn new() -> Self {
        Self(LoopGuard::looking_further(), 0)
    }

    fn did(&mut self, line: &str, text: &str, took_ms: u64) -> bool {
        self.0.new_turn();
        let args = serde_json::json!({"command": line}).to_string();
        if self.0.before("run_command", &args).is_some() {
            return false;
        }
        let (failed, changed) = (!text.starts_with("exit code 0"), text == "exit code 0\n");
        let came = CallOutcome { text, is_error: false, failed, changed, took_ms };
        self.1 +=
            usize::from(matches!(self.0.heard("run_command", &args, &came), Some(GuardWord::Circle(_))));
        true
    }

    fn fails(&mut self, line: &str, text: &str) -> bool {
        self.did(line, &format!("exit code 1\n{text}"), 10)
    }

    fn prints(&mut self, line: &str, text: &str) -> bool {
        self.did(line, &format!("exit code 0\n{text}"), 10)
    }

    /// How many of many such calls are done before the guard halts the run; none if it never does.
    fn halted(mut self, mut call: impl FnMut(&mut Self, usize) -> bool) -> Option<usize> {
        (0..300).find(|n| !call(&mut self, *n) && self.0.blocks() >= HALT)
    }
}

#[test]
fn circles_with_varied_arguments_clocks_counters_and_sham_waits_are_halted() {
    type Does = fn(&mut Watched, usize) -> bool;
    let circles: [(&str, Does); 9] = [
        ("a comment", |w, n| w.fails(&format!("sh check.sh # {n}"), "FAIL")),
        ("a comment, with success", |w, n| w.prints(&format!("ls # {n}"), "a b")),
        ("other arguments, the same failure", |w, n| w.fails(&format!("sh check.sh --try {n}"), "FAIL")),
        ("a clock", |w, n| w.fails("sh check.sh", &format!("12:00:{n:02} FAIL"))),
        ("a counter", |w, n| w.fails("sh count.sh", &format!("run {n} failed"))),
        ("a cycle of four", |w, n| w.prints(&format!("cat {}", ["a", "b", "c", "d"][n % 4]), "same")),
        ("a cycle of six with a clock", |w, n| {
            w.fails(&format!("look {}", ["a", "b", "c", "d", "e", "f"][n % 6]), &format!("at {n}"))
        }),
        ("a wait of nothing", |w, n| w.did("sleep 0.01; sh check.sh", &format!("exit code 1\n{n} FAIL"), 20)),
        ("a wait in the background", |w, n| {
            w.did(&format!("sleep 60 & sh check.sh # {n}"), "exit code 1\nFAIL", 20)
        }),
    ];
    for (name, call) in circles {
        let at = Watched::new().halted(call);
        assert!(at.is_some_and(|at| at < 60), "{name}: {at:?}");
    }
}

#[test]
fn honest_work_is_not_blocked_however_long_it_goes_on() {
    type Does = fn(&mut Watched, usize) -> bool;
    let honest: [(&str, Does); 9] = [
        ("polling with waits", |w, n| {
            w.did("sleep 5; curl -s localhost/status", &format!("exit code 0\n{n}% done"), 5020)
        }),
        ("polling for one word", |w, _| w.did("sleep 2 && gh run list", "exit code 0\nin progress", 2100)),
        ("tests after each change", |w, n| {
            w.did(&format!("sed -i s/a{n}/b/ f"), "exit code 0\n", 5) && w.fails("cargo test", "1 failed")
        }),
        ("tests after each written file", |w, n| {
            let came = CallOutcome {
                text: "wrote 5 bytes to f",
                is_error: false,
                failed: false,
                changed: true,
                took_ms: 1,
            };
            w.0.heard("write_file", &format!("{{\"n\":{n}}}"), &came);
            w.fails("cargo test", "1 failed")
        }),
        ("a number that grows", |w, n| w.prints("echo x >> log; wc -l < log", &n.to_string())),
        ("one command for many files", |w, n| w.prints(&format!("python3 convert.py page-{n}.md"), "done")),
        ("commands that print nothing", |w, n| w.did(&format!("mkdir -p d{n}"), "exit code 0\n", 3)),
        ("reading on", |w, n| w.prints(&format!("sed -n {n},+1p f"), &"line ".repeat(n + 1))),
        ("waits between failures", |w, n| {
            if n % 2 == 0 {
                w.did("sleep 3", "exit code 0\n", 3000)
            } else {
                w.fails("curl localhost:80", "refused")
            }
        }),
    ];
    for (name, call) in honest {
        let mut worker = Watched::new();
        for n in 0..200 {
            assert!(call(&mut worker, n), "{name}: {n}");
        }
        assert_eq!(worker.0.blocks(), 0, "{name}");
    }
}

#[test]
fn whoever_gets_out_of_a_circle_is_not_held_to_it() {
    let mut worker = Watched::new();
    for n in 0..12 {
        assert!(worker.fails(&format!("sh check.sh --try {n}"), "FAIL"));
    }
    assert_eq!(worker.1, 3, "it was told at every fourth");
    assert!(!worker.fails("sh check.sh --try again", "FAIL"));
    assert!(worker.fails("sh other.sh", "something else"), "every other one is done");
    assert!(worker.fails("sh check.sh --try 1", "FAIL"), "and something new ends it");
    for n in 0..5000 {
        let came = CallOutcome { text: "", is_error: true, failed: true, changed: false, took_ms: 0 };
        worker.0.heard(&format!("tool{n}"), "{}", &came);
    }
    assert!(worker.0.varied.len() <= 64 && worker.0.errors.len() <= TOOLS && worker.0.calls.len() <= WINDOW);
    assert!(worker.0.disabled().count() == 0, "each failed once");
}

#[test]
fn a_word_of_a_person_switches_tools_on_again() {
    let mut guard = LoopGuard::looking_further();
    let came = CallOutcome { text: "x", is_error: true, failed: true, changed: false, took_ms: 0 };
    for n in 0..3 {
        guard.heard("fetch_url", &n.to_string(), &came);
    }
    assert!(guard.is_disabled("fetch_url"));
    guard.forgive();
    assert!(!guard.is_disabled("fetch_url") && guard.before("fetch_url", "{}").is_none());
}
