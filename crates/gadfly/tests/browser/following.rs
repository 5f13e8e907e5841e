//! Runs that are followed, answered and led from the page while they go on.

use std::fmt::Write as _;
use std::fs;

use serde_json::json;

use crate::JUDGE;
use crate::desk::{Desk, wait_for};
use crate::pursuit::{PROGRESSING, hire, runs, writes};
use crate::server::Server;
use crate::theatre::{begin, play};

/// A critic that gives these replies, each only when the scenario lets it: `go1`, `go2`, … beside the project.
fn patient_critic(desk: &Desk, replies: &[String]) {
    let here = desk.beside("");
    let mut arms = String::new();
    for (at, reply) in replies.iter().enumerate() {
        writeln!(arms, "{}) cat <<'END'\n{reply}\nEND\n;;", at + 1).unwrap();
    }
    desk.program(
        "c",
        &format!(
            "cat >/dev/null\ncd {}\nn=$(($(cat n 2>/dev/null || echo 0) + 1))\necho $n >n\n\
             while [ ! -e go$n ]; do sleep 0.02; done\ncase $n in\n{arms}esac",
            here.display()
        ),
    );
    desk.configure("sandbox = \"off\"\n");
}

/// Leaves words for the scenario, all at once.
pub fn tell(desk: &Desk, name: &str, words: &str) {
    let new = desk.beside("new");
    fs::write(&new, words).unwrap();
    fs::rename(new, desk.beside(name)).unwrap();
}

/// A project with one run that waits for a person's verdict.
pub fn waiting() -> Desk {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["A first draft."]);
    let said = desk.gadfly(&JUDGE);
    assert_eq!(said.code, 4, "{said:?}");
    desk
}

#[test]
fn a_loop_is_started_by_the_form_and_followed_to_its_verdict() {
    let rubric = "| Problem | Deduction |\n|---|---|\n| No sample size | -30 |\n| No method | -30 |\n";
    let desk = Desk::folder(&[("rubric.md", rubric)]);
    desk.saying(
        "w",
        &[
            "We asked people.\nThey answered.\n",
            "We asked 412 people.\nThey answered.\n",
            "We asked 412 people by phone.\nThey answered.\n",
        ],
    );
    let lacks = |rows: &[&str]| {
        let one = |row: &&str| json!({"row": row, "times": 1, "quote": "They answered.", "says": format!("there is {row}"), "fix": "state it"});
        json!({ "deductions": rows.iter().map(one).collect::<Vec<_>>() }).to_string()
    };
    let replies = [&["no-sample-size", "no-method"][..], &["no-method"], &[]].map(lacks);
    patient_critic(&desk, &replies);
    play(&desk, &Server::start(&desk), "loop");
}

#[test]
fn a_goal_is_started_steered_paused_resumed_and_cancelled() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    let waits = |n: u32| runs(&format!("echo x > begun{n}; while [ ! -e go{n} ]; do sleep 0.02; done"));
    hire(&desk, "w", &[waits(1), waits(2), writes("done.txt", "x")], "");
    desk.saying("c", &[PROGRESSING]);
    play(&desk, &Server::start(&desk), "goal");
}

#[test]
fn a_question_is_answered_in_the_page() {
    let desk = waiting();
    play(&desk, &Server::start(&desk), "question");
}

#[test]
fn two_tabs_show_the_same_run_and_keep_their_own_words() {
    let desk = waiting();
    play(&desk, &Server::start(&desk), "tabs");
}

#[test]
fn a_page_outlives_its_server_and_comes_back_with_it() {
    let desk = waiting();
    let server = Server::start(&desk);
    let port = server.port;
    let Some(mut played) = begin(&desk, &server, "reconnect") else { return };
    let asked = |name: &str, played: &mut crate::theatre::Played| {
        let file = desk.beside(name);
        wait_for(name, || file.exists() || played.is_over());
        file.exists()
    };
    if asked("kill-the-server", &mut played) {
        drop(server);
        wait_for("the page noticed", || std::net::TcpListener::bind(("127.0.0.1", port)).is_ok());
        let server = Server::at(&desk, port);
        tell(&desk, "it-is-back", &server.link());
        if asked("answer-elsewhere", &mut played) {
            let run = desk.run_id();
            assert_eq!(desk.gadfly(&["answer", &run, "[STATUS: APPROVED]"]).code, 0);
            assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 0);
        }
        played.end();
    } else {
        played.end();
    }
}
