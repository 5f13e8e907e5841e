//! The overview of a project with more runs than a page has: nothing that needs somebody or is at work is out of sight,
//! and what is shown of earlier runs stays true.

use std::fs;

use crate::JUDGE;
use crate::desk::{Desk, wait_for};
use crate::server::Server;
use crate::theatre::{begin, play};

fn batch(desk: &Desk, name: &str, runs: u32) {
    let line = |n: u32| format!("{{\"id\":\"t{n}\",\"task\":\"{name} {n}.\",\"rubric\":[\"short\"]}}\n");
    let file = format!("{name}.jsonl");
    desk.write(&file, &(0..runs).map(line).collect::<String>());
    let said = desk.gadfly(&["batch", &file, "--worker", "w", "--critic", "c", "--jobs", "4"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn no_run_is_lost_or_stale_on_the_overview() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let said = desk.gadfly(&JUDGE);
    assert_eq!(said.code, 4, "{said:?}");
    let waiting = desk.run_id();
    let gate = desk.held_program("slow", "echo A draft.");
    let run = ["run", "A slow one", "--worker", "slow", "--critic", "c", "--criterion", "x", "--yes"];
    let mut slow = desk.spawn(&run);
    wait_for("the slow run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    batch(&desk, "Earlier", 60);

    let server = Server::start(&desk);
    let Some(mut played) = begin(&desk, &server, "listing") else {
        fs::write(gate, "").unwrap();
        let _ = slow.wait();
        return;
    };
    let mut asked = |name: &str| {
        let file = desk.beside(name);
        wait_for(name, || file.exists() || played.is_over());
        file.exists()
    };
    if asked("answer-elsewhere") {
        assert_eq!(desk.gadfly(&["answer", &waiting, "[STATUS: APPROVED]"]).code, 0);
        assert_eq!(desk.gadfly(&["resume", &waiting, "--unattended"]).code, 0);
    }
    if asked("start-five") {
        batch(&desk, "Later", 5);
    }
    fs::write(gate, "").unwrap();
    played.end();
    assert!(slow.wait().unwrap().success());
}

#[test]
fn a_store_that_came_from_elsewhere_is_said_to_be_none_of_the_users_on_every_page() {
    let theirs = Desk::folder(&[]);
    theirs.saying("w", &["A draft."]);
    theirs.saying("c", &["[STATUS: APPROVED]"]);
    batch(&theirs, "Theirs", 1);
    let desk = Desk::folder(&[]);
    let mut copied = std::process::Command::new("cp");
    copied.arg("-a").arg(theirs.path(".gadfly")).arg(desk.path(".gadfly"));
    assert!(copied.status().unwrap().success());
    play(&desk, &Server::start(&desk), "foreign");
}

#[test]
fn what_is_not_there_is_not_asked_for_again() {
    let desk = Desk::folder(&[]);
    play(&desk, &Server::start(&desk), "gone");
}
