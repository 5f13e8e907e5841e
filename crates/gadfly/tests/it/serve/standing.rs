//! What the page of a run says about how it stands: what may be done, what was wished, what was never a cap, what a step
//! was in full.

use serde_json::json;

use crate::serve::desk::{Desk, wait_for};
use crate::serve::pursuit::{PROGRESSING, claims, hire, reads, runs, writes};
use crate::serve::server::Server;

#[test]
fn a_run_that_waits_for_an_answer_is_not_offered_to_be_resumed_without_one() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let server = Server::start(&desk);
    let form = json!({ "task": "Write.", "worker": "me", "critic": "c", "criteria": ["is short"] });
    let run = server.start_agreeing("/api/start/loop", form);
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    let page = stream.until("it waits", |page| {
        page["state"]["summary"]["state"] == "waiting(question)" && page["driven"] == false
    });
    assert_eq!((&page["can"]["resume"], &page["can"]["answer"]), (&false.into(), &true.into()));
    // Answered where nobody drives it, it can be taken up.
    assert_eq!(desk.gadfly(&["answer", &run, "A draft."]).code, 0);
    let page = stream.until("it is answered", |page| page["questions"][0]["answered"] == true);
    assert_eq!(page["can"]["resume"], true);
}

#[test]
fn a_wish_is_told_until_it_is_done() {
    let desk = Desk::folder(&[]);
    let gate = desk.held_program("w", "echo A draft.");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let mut child =
        desk.spawn(&["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short", "--yes"]);
    wait_for("the run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    let server = Server::start(&desk);
    let run = desk.run_id();
    let mut page = server.follow(&format!("/api/live/runs/{run}"));
    assert!(page.next().unwrap().1["wish"].is_null());
    assert_eq!(server.post(&format!("/api/runs/{run}/pause"), &json!({})).status, 200);
    page.until("the wish is told", |page| page["wish"] == "pause");
    // The process that drives it has read its mail: the page goes by the record now.
    wait_for("the wish is recorded", || {
        desk.gadfly(&["show", &run, "--log"]).out.contains("pause_requested")
    });
    let mut second = server.follow(&format!("/api/live/runs/{run}"));
    second.until("the wish is still told", |page| page["wish"] == "pause");
    std::fs::write(&gate, "").unwrap();
    let paused = page.until("it is paused", |page| page["state"]["summary"]["state"] == "waiting(paused)");
    assert!(paused["wish"].is_null());
    let _ = child.wait();
    let resumed = server.post(&format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!(resumed.status, 200, "{resumed:?}");
    let page = page.until("it ends", |page| page["state"]["summary"]["state"] == "approved");
    assert!(page["wish"].is_null());
}

#[test]
fn a_review_has_no_rounds_to_use_up() {
    let desk = Desk::folder(&[("notes.md", "We saw several mice.\n")]);
    desk.saying("c", &["[STATUS: REJECTED]\n- say how many"]);
    let said = desk.gadfly(&["review", "notes.md", "--critic", "c", "--criterion", "is exact", "--yes"]);
    let server = Server::start(&desk);
    let run = desk.run_id();
    let page = server.follow(&format!("/api/live/runs/{run}")).next().unwrap().1;
    assert_eq!(page["kind"], "review", "{said:?}");
    let meters = page["meters"].as_array().unwrap();
    assert!(meters.iter().all(|meter| meter["name"] != "rounds"), "{meters:?}");
}

#[test]
fn a_step_can_be_read_in_full() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    let long = "x".repeat(300);
    let steps = [
        runs(&format!("echo {long}; echo the end")),
        writes("done.txt", "first line\nsecond line\n"),
        reads("done.txt").then(claims("there")),
    ];
    hire(&desk, "w", &steps, "");
    desk.saying("c", &[PROGRESSING]);
    let goal = ["goal", "Write done.txt.", "--worker", "w", "--critic", "c", "--until", "test -f done.txt"];
    let said = desk.gadfly(&[&goal[..], &["--yes", "--unattended"]].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    let server = Server::start(&desk);
    let run = desk.run_id();
    let page = server.follow(&format!("/api/live/runs/{run}")).next().unwrap().1;
    let in_full = |n: usize| {
        let seq = &page["state"]["goal"]["steps"][n]["seq"];
        let text = server.get(&format!("/api/runs/{run}/texts/step-{seq}")).json();
        text["text"].as_str().unwrap().to_owned()
    };
    let first = in_full(0);
    assert!(
        first.starts_with("run_command\n") && first.contains(&format!("echo {long}; echo the end")),
        "{first}"
    );
    assert!(first.ends_with("the end"), "{first}");
    assert!(in_full(1).contains("first line\nsecond line"), "{}", in_full(1));
    let none = server.get(&format!("/api/runs/{run}/texts/step-0")).json();
    assert!(none["text"].as_str().unwrap().contains("No more of this step"), "{none}");
    assert_eq!(server.get(&format!("/api/runs/{run}/texts/step-x")).status, 404);
    assert_eq!(server.get("/api/runs/0000000000/texts/step-1").status, 404);
}
