//! What a worker starts so that it stays up: its commands reach it, verification reaches it, nobody else does, and nothing
//! of it is left.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::goals::desk::Desk;
use crate::goals::pursuit::{
    BARE, Driven, GOAL, PROGRESSING, Turn, claims, does, events, hire, prompts, pursuit, reads, runs, steps,
    writes,
};

const SERVE: &str = "exec python3 -u -m http.server 8765 --bind 127.0.0.1";
const ASK: &str =
    "python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:8765/a.txt').read())\"";

fn starts(name: &str, command: &str) -> Turn {
    does("start_process", json!({"name": name, "command": command}))
}

fn logs(name: &str) -> Turn {
    does("read_process_log", json!({"name": name}))
}

/// Waits, in the run's own network, until it answers.
fn waits() -> Turn {
    runs(&waits_for("8765"))
}

fn waits_for(port: &str) -> String {
    let ask = ASK.replace("8765", port);
    format!("for i in 1 2 3 4 5 6 7 8 9 10; do {ask} && exit 0; sleep 0.3; done; exit 1")
}

/// Whether something of this mark is running on the machine.
fn runs_somewhere(mark: &str) -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(mark))
}

fn is_gone(mark: &str) -> bool {
    let until = Instant::now() + Duration::from_secs(20);
    while Instant::now() < until {
        if !runs_somewhere(mark) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

fn http(desk: &Desk, more: &[&str]) -> crate::goals::desk::Said {
    let until = ["--until-http", "http://127.0.0.1:8765/a.txt 200 contains one"];
    desk.gadfly(&[&BARE[..], &until, more].concat())
}

#[test]
fn a_server_is_reached_by_commands_and_by_verification_and_by_nobody_else() {
    let worker = [
        starts("web", SERVE),
        waits(),
        logs("web").then(does("list_processes", json!({}))),
        claims("it answers"),
    ];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = http(&desk, &[]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("✓ verified: http://127.0.0.1:8765/a.txt answers with 200"), "{}", said.err);
    let told = prompts(&events(&desk), "worker");
    assert!(told[1].contains("`web` is running"), "{}", told[1]);
    assert!(told[2].contains("b'one\\n'"), "{}", told[2]);
    assert!(told[3].contains("GET /a.txt") && told[3].contains("web  running"), "{}", told[3]);
    assert!(TcpStream::connect("127.0.0.1:8765").is_err(), "it was in a network of its own");
    assert!(is_gone("http.server\u{0}8765"), "and is gone with the goal");
    let shown = desk.gadfly(&["show", &desk.run_id()]).out;
    assert!(shown.contains("start_process(name=web"), "{shown}");
}

#[test]
fn without_the_process_the_claim_does_not_hold() {
    let worker = [
        starts("web", SERVE),
        waits(),
        does("stop_process", json!({"name": "web"})),
        claims("it answers").times(5),
    ];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = http(&desk, &["--critic-interval", "0"]);
    assert_eq!(said.code, 4, "{said:?}");
    assert!(said.err.contains("verify:fail"), "{}", said.err);
}

#[test]
fn they_are_named_and_bounded_and_one_that_ends_at_once_says_why() {
    let mut worker = vec![
        starts("bad", "echo broken >&2; exit 3"),
        starts("../x", "sleep 1000"),
        starts("loud", "yes noise"),
        logs("loud"),
    ];
    worker.extend((1..=8).map(|n| starts(&format!("p{n}"), "sleep 987654")));
    worker.extend([
        starts("p1", "sleep 987654"),
        does("stop_process", json!({"name": "p1"})),
        logs("nobody"),
    ]);
    worker.extend([writes("done.txt", "x"), reads("done.txt").then(claims("there"))]);
    let desk = pursuit(&worker, &[PROGRESSING]);
    let said = desk.gadfly(&[&GOAL[..], &["--critic-interval", "0"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let events = events(&desk);
    let told = prompts(&events, "worker");
    assert!(told[1].contains("`bad` ended at once, ended with exit code 3") && told[1].contains("broken"));
    assert!(told[2].contains("letters, digits, `-` and `_`"), "{}", told[2]);
    assert!(told.last().unwrap().len() < 200_000, "a log of any length is shown in part");
    let all = told.last().unwrap();
    assert!(all.contains("8 processes are running, and more are not possible"), "{all}");
    assert!(all.contains("`p1` is running already") && all.contains("`p1` is stopped"), "{all}");
    assert!(all.contains("there is no process `nobody`"), "{all}");
    assert!(is_gone("sleep\u{0}987654") && is_gone("yes\u{0}noise"));
    assert!(steps(&events).len() > 15);
}

#[test]
fn after_a_crash_they_are_gone_and_the_worker_is_told() {
    let worker = [
        starts("web", "exec sleep 876543"),
        runs("sleep 876542"),
        writes("done.txt", "x"),
        reads("done.txt").then(claims("there")),
    ];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let mut driven = Driven::start(&desk, &GOAL);
    assert!(driven.until(&["\"effect_requested\"", "sleep 876542"]), "{}", driven.told);
    driven.kill();
    assert!(is_gone("sleep\u{0}876543"), "nothing survives the program");
    let run = desk.run_id();
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 4, "the command's outcome is unknown");
    assert_eq!(desk.gadfly(&["answer", &run, "skip"]).code, 0);
    let said = desk.gadfly(&["resume", &run, "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    let told = prompts(&events(&desk), "worker");
    assert!(told[2].contains("the processes you had started are gone: web"), "{}", told[2]);
}

#[test]
fn a_goal_that_is_parked_leaves_none_behind() {
    let worker = [starts("web", "exec sleep 765432"), runs("true").always()];
    let desk = pursuit(&worker, &[PROGRESSING]);
    hire(&desk, "w", &[starts("web", "exec sleep 765432"), runs("echo a").times(2)], "");
    let said = desk.gadfly(&[&GOAL[..], &["--max-steps", "2", "--critic-interval", "0"]].concat());
    assert_eq!(said.code, 6, "{said:?}");
    assert!(is_gone("sleep\u{0}765432"));
}

/// Everything else here runs as whoever runs the tests, often root, for whom the kernel opens every door.
#[test]
fn somebody_who_is_not_root_has_a_network_of_the_runs_own_too() {
    let nobody = "65534";
    let worker = [
        starts("web", &SERVE.replace("8765", "8767")),
        runs(&waits_for("8767")),
        writes("done.txt", "x"),
        reads("done.txt").then(claims("there")),
    ];
    let desk = pursuit(&worker, &[PROGRESSING]);
    let top = desk.beside("");
    let given =
        std::process::Command::new("chown").args(["-R", &format!("{nobody}:{nobody}")]).arg(&top).status();
    if !given.is_ok_and(|status| status.success()) {
        println!("skipped: only root can be somebody else");
        return;
    }
    // Cargo builds below a home that others may not enter.
    let program = top.join("gadfly");
    std::fs::copy(env!("CARGO_BIN_EXE_gadfly"), &program).unwrap();
    let plain = desk.command(&GOAL);
    let mut command = std::process::Command::new("setpriv");
    command
        .args(["--reuid", nobody, "--regid", nobody, "--clear-groups"])
        .arg(&program)
        .args(plain.get_args());
    command.current_dir(plain.get_current_dir().unwrap());
    for (name, value) in plain.get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}
