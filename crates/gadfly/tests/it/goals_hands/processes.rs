//! What must stay up after its turn is started for a worker with tools of its own: it asks for it in the last lines of its
//! reply, whatever program it is.

use crate::goals_hands::desk::Desk;
use crate::goals_hands::worker::{Does, KINDS, Pursued};

const SERVE: &str = "START_PROCESS: web: exec python3 -u -m http.server 8767 --bind 127.0.0.1";
const HTTP: [&str; 12] = [
    "goal",
    "Make it answer.",
    "--worker",
    "w",
    "--critic-interval",
    "0",
    "--until-http",
    "http://127.0.0.1:8767/a.txt 200 contains one",
    "--yes",
    "--trust",
    "--unattended",
    "--json",
];

fn is_running() -> bool {
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains("http.server\u{0}8767"))
}

#[test]
fn a_server_it_asked_for_is_up_for_the_check_and_gone_with_the_goal() {
    for kind in &KINDS {
        let name = kind.name;
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        kind.hire(
            &desk,
            &[
                // It may not listen yet when it is asked first.
                ("What came of read_process_log: `web`: running", &[Does::Claim]),
                ("Verification failed", &[Does::Claim]),
                ("What came of start_process: `web` is running", &[Does::Say("PROCESS_LOG: web")]),
                ("", &[Does::Step("make a"), Does::Say(SERVE)]),
            ],
        );
        let pursued = Pursued::read(desk.gadfly(&HTTP));
        assert!(pursued.is_reached(), "{name}: {:?}", pursued.said);
        let steps = pursued.steps();
        assert!(
            steps.iter().any(|(_, args)| args.starts_with("name=web, command=exec python3")),
            "{name}: {steps:?}"
        );
        assert!(pursued.turns().len() >= 3 && pursued.nudges().is_empty(), "{name}: {:?}", pursued.turns());
        assert!(!is_running(), "{name}: it ended with the goal");
    }
}

#[test]
fn the_policy_holds_for_what_it_asks_for() {
    let kind = &KINDS[0];
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    let denied = "What came of start_process: Denied by the policy";
    kind.hire(
        &desk,
        &[(denied, &[Does::Say("ABORT_WITH_REPORT: no server is allowed")]), ("", &[Does::Say(SERVE)])],
    );
    let said = desk.gadfly(&[&HTTP[..], &["--deny", "start_process"]].concat());
    let pursued = Pursued::read(said);
    assert_eq!(pursued.said.code, 7, "{:?}", pursued.said);
    assert_eq!(pursued.ends()[0].0, "denied", "{:?}", pursued.ends());
}
