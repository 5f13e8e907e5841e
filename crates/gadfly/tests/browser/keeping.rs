//! What a person has typed or opened stays theirs, and times go on, while the page changes around them.

use std::fs;

use crate::JUDGE;
use crate::desk::{Desk, wait_for};
use crate::server::Server;
use crate::theatre::{begin, play};

#[test]
fn half_an_answer_is_kept_when_somebody_else_answers() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["A first draft."]);
    let said = desk.gadfly(&JUDGE);
    assert_eq!(said.code, 4, "{said:?}");
    let server = Server::start(&desk);
    let Some(mut played) = begin(&desk, &server, "keeping") else { return };
    let asked = desk.beside("answer-elsewhere");
    wait_for("the page is ready", || asked.exists() || played.is_over());
    if asked.exists() {
        let run = desk.run_id();
        assert_eq!(desk.gadfly(&["answer", &run, "[STATUS: APPROVED]"]).code, 0);
        assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 0);
    }
    played.end();
}

#[test]
fn a_run_that_used_up_its_cap_goes_on_with_a_higher_one() {
    let desk = Desk::folder(&[]);
    desk.configure("[budget]\ncalls = 2\n");
    desk.saying("w", &["A first draft.", "A second draft."]);
    desk.saying("c", &["[STATUS: REJECTED]\n- say more", "[STATUS: APPROVED]"]);
    let run = ["run", "Write it", "--worker", "w", "--critic", "c", "--criterion", "x", "--yes"];
    desk.gadfly(&run);
    play(&desk, &Server::start(&desk), "raising");
}

#[test]
fn times_go_on_while_a_call_is_under_way() {
    let desk = Desk::folder(&[]);
    let gate = desk.held_program("slow", "echo A draft.");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let run = ["run", "A slow one", "--worker", "slow", "--critic", "c", "--criterion", "x", "--yes"];
    let mut slow = desk.spawn(&run);
    wait_for("the slow run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    play(&desk, &Server::start(&desk), "ticking");
    fs::write(gate, "").unwrap();
    let _ = slow.wait();
}
