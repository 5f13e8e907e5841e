//! What a person does in the page: started, answered, steered, paused, resumed, cancelled; always what a terminal would do.

use serde_json::{Value, json};

use crate::serve::desk::{Desk, wait_for};
use crate::serve::server::Server;

fn settled(server: &Server, run: &str, state: &str) -> Value {
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    stream.until(state, |page| {
        page["state"]["summary"]["state"].as_str().is_some_and(|now| now.starts_with(state))
    })
}

#[test]
fn a_form_starts_a_loop_after_its_terms_were_seen() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let server = Server::start(&desk);
    let choices = server.get("/api/start").json();
    assert_eq!(choices["agents"].as_array().unwrap().len(), 2, "{choices}");
    let mut form = json!({ "task": "Write.", "worker": "w", "critic": "c", "criteria": ["is short"] });
    let asked = server.post("/api/start/loop", &form);
    assert_eq!(asked.status, 202, "{asked:?}");
    let terms = asked.json()["terms"].clone();
    assert!(terms["consent"].to_string().contains('w'), "{terms}");
    assert!(desk.gadfly(&["runs"]).out.is_empty(), "nothing is started by asking");
    form["agree"] = "0123".into();
    assert_eq!(server.post("/api/start/loop", &form).status, 202, "other words are no agreement");
    form["agree"] = terms["agree"].clone();
    form["task"] = "Something else, with other terms.".into();
    form["critic"] = "w".into();
    assert_eq!(server.post("/api/start/loop", &form).status, 202, "nor are terms of something else");
    (form["task"], form["critic"]) = ("Write.".into(), "c".into());
    let run = server.post("/api/start/loop", &form).json()["run"].as_str().unwrap().to_owned();
    let page = settled(&server, &run, "approved");
    assert_eq!(page["state"]["rounds"][0]["verdict"], "approved");
}

#[test]
fn what_is_wrong_with_a_form_is_said_and_nothing_is_started() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["A draft."]);
    let server = Server::start(&desk);
    for (form, status, part) in [
        (json!({}), 400, "task is empty"),
        (json!({ "task": "  " }), 400, "task is empty"),
        (json!({ "task": "x", "worker": "w", "critic": "nobody" }), 422, "nobody"),
        (json!({ "task": "x", "protocol": "magic" }), 422, "magic"),
        (json!({ "loop": "nothing" }), 400, "nothing"),
        (
            json!({ "task": "x", "worker": "w", "critic": "w", "budget_usd": -1 }),
            422,
            "“Budget in US$” must be a number from 0",
        ),
        (json!({ "task": "x", "surprise": 1 }), 422, "surprise"),
    ] {
        let answer = server.post("/api/start/loop", &form);
        assert_eq!(answer.status, status, "{form}: {answer:?}");
        assert!(answer.body.contains(part), "{form}: {answer:?}");
    }
    for (form, status) in [
        (json!({}), 400),
        (json!({ "goal": "x", "wall_clock": 0, "worker": "w" }), 422),
        (json!({ "named": "no" }), 400),
    ] {
        assert_eq!(server.post("/api/start/goal", &form).status, status, "{form}");
    }
    assert!(desk.gadfly(&["runs"]).out.is_empty());
}

#[test]
fn what_a_project_wants_is_agreed_to_before_anything_of_it_runs() {
    let desk = Desk::folder(&[]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let mark = desk.beside("ran");
    desk.write(
        "gadfly.toml",
        &format!(
            "[agents.local]\nkind = \"command\"\ncommand = [\"sh\", \"-c\", \"touch {}; echo A draft.\"]\n",
            mark.display()
        ),
    );
    let server = Server::start(&desk);
    let mut form = json!({ "task": "Write.", "worker": "local", "critic": "c", "criteria": ["is short"] });
    let asked = server.post("/api/start/loop", &form);
    assert_eq!(asked.status, 202, "{asked:?}");
    let terms = asked.json()["terms"].clone();
    assert!(terms["wanted"].to_string().contains("touch"), "{terms}");
    form["agree"] = terms["agree"].clone();
    let asked = server.post("/api/start/loop", &form).json();
    assert!(
        asked["terms"]["consent"].to_string().contains("local"),
        "trusted; who is sent what comes next: {asked}"
    );
    assert!(!mark.exists());
    let run = server.start_agreeing("/api/start/loop", form);
    settled(&server, &run, "approved");
}

#[test]
fn a_question_is_answered_in_the_page_and_the_run_goes_on() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("c", &["[STATUS: REJECTED]\n- shorter", "[STATUS: APPROVED]"]);
    let server = Server::start(&desk);
    let form = json!({ "task": "Write.", "worker": "me", "critic": "c", "criteria": ["is short"] });
    let run = server.start_agreeing("/api/start/loop", form);
    let waiting = settled(&server, &run, "waiting");
    let asked = &waiting["questions"][0];
    assert_eq!((&asked["kind"], &asked["role"]), (&"turn".into(), &"worker".into()), "{waiting:#}");
    let brief = server.get(&format!("/api/runs/{run}/texts/{}", asked["brief"].as_str().unwrap()));
    assert!(brief.json()["text"].as_str().unwrap().contains("Write."), "{brief:?}");
    let path = format!("/api/runs/{run}/answer");
    let effect = asked["effect"].clone();
    assert_eq!(server.post(&path, &json!({ "effect": effect, "text": "  " })).status, 400);
    assert_eq!(server.post(&path, &json!({ "effect": "nonsense", "text": "x" })).status, 400);
    let said = server.post(&path, &json!({ "effect": effect, "text": "A long draft." }));
    assert_eq!(said.status, 200, "{said:?}");
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    let again = stream.until("it asks for the next draft", |page| {
        page["questions"][0]["effect"].is_string() && page["questions"][0]["effect"] != effect
    });
    assert_eq!(again["state"]["rounds"][0]["verdict"], "rejected");
    let effect = &again["questions"][0]["effect"];
    assert_eq!(server.post(&path, &json!({ "effect": effect, "text": "Short." })).status, 200);
    settled(&server, &run, "approved");
    assert_eq!(server.post(&path, &json!({ "effect": effect, "text": "Late." })).status, 409);
}

#[test]
fn of_two_answers_to_one_question_the_second_is_refused() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    let gate = desk.held_program("c", "echo '[STATUS: APPROVED]'");
    let server = Server::start(&desk);
    let form = json!({ "task": "Write.", "worker": "me", "critic": "c", "criteria": ["is short"] });
    let run = server.start_agreeing("/api/start/loop", form);
    let effect = settled(&server, &run, "waiting")["questions"][0]["effect"].clone();
    let path = format!("/api/runs/{run}/answer");
    assert_eq!(
        server.post(&format!("/api/runs/{run}/resume"), &json!({})).status,
        409,
        "it waits for an answer"
    );
    let said = std::thread::scope(|scope| {
        let answer = |text: &'static str| {
            let (server, path, effect) = (&server, &path, &effect);
            scope.spawn(move || server.post(path, &json!({ "effect": effect, "text": text })).status)
        };
        let both = [answer("One."), answer("Two.")];
        both.map(|one| one.join().unwrap())
    });
    assert!(said.contains(&200) && said.contains(&409), "{said:?}");
    std::fs::write(&gate, "").unwrap();
    settled(&server, &run, "approved");
}

#[test]
fn a_run_out_of_calls_goes_on_with_a_higher_cap() {
    let desk = Desk::folder(&[("gadfly.toml", "[budget]\ncalls = 1\n")]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let server = Server::start(&desk);
    let form = json!({ "task": "Write.", "worker": "w", "critic": "c", "criteria": ["is short"] });
    let run = server.start_agreeing("/api/start/loop", form);
    settled(&server, &run, "out_of_budget");
    let path = format!("/api/runs/{run}/resume");
    assert_eq!(server.post(&path, &json!({ "raise": { "calls": "many" } })).status, 422);
    assert_eq!(server.post(&path, &json!({ "raise": { "calls": 5 } })).status, 200);
    settled(&server, &run, "approved");
}

#[test]
fn a_critics_answer_that_is_no_verdict_is_refused_while_it_can_be_mended() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["A draft."]);
    let server = Server::start(&desk);
    let run = server.start_agreeing(
        "/api/start/loop",
        json!({ "task": "Write.", "worker": "w", "critic": "me", "criteria": ["is short"] }),
    );
    let waiting = settled(&server, &run, "waiting");
    let effect = &waiting["questions"][0]["effect"];
    let path = format!("/api/runs/{run}/answer");
    let refused = server.post(&path, &json!({ "effect": effect, "text": "looks fine to me" }));
    assert_eq!(refused.status, 422, "{refused:?}");
    assert!(refused.body.contains("[STATUS: APPROVED]"));
    assert_eq!(server.post(&path, &json!({ "effect": effect, "text": "[STATUS: APPROVED]" })).status, 200);
    settled(&server, &run, "approved");
}

#[test]
fn a_person_approves_or_rejects_in_the_page_without_a_token() {
    let desk = Desk::folder(&[]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["A draft.", "Another."]);
    let server = Server::start(&desk);
    let run = server.start_agreeing(
        "/api/start/loop",
        json!({ "task": "Write.", "worker": "w", "critic": "me", "criteria": ["is short"] }),
    );
    let waiting = settled(&server, &run, "waiting");
    let asked = &waiting["questions"][0];
    assert_eq!((&asked["judges"], &asked["free"]), (&true.into(), &false.into()), "{asked:#}");
    assert!(!asked.to_string().contains("STATUS"), "{asked:#}");
    let path = format!("/api/runs/{run}/answer");
    let give = |effect: &Value, verdict: &str, text: &str| {
        server.post(&path, &json!({ "effect": effect, "text": text, "verdict": verdict }))
    };
    let effect = asked["effect"].clone();
    let refused = give(&effect, "reject", " \n ");
    assert!(refused.status == 422 && refused.body.contains("one fix per line"), "{refused:?}");
    let refused = give(&effect, "approve", "It lacks a title and must be rewritten.");
    assert!(refused.status == 422 && refused.body.contains("speaks against it"), "{refused:?}");
    assert_eq!(give(&effect, "perhaps", "x").status, 422, "there are two verdicts");
    assert_eq!(give(&effect, "reject", "✓ say how many\nMinor: a title").status, 200);
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    let again = stream.until("it is asked again", |page| {
        page["questions"][0]["answered"] == false && page["questions"][0]["effect"] != effect
    });
    let open = again["state"]["rounds"][0]["open"].as_array().unwrap();
    assert_eq!(open.len(), 2, "{open:?}");
    assert_eq!(give(&again["questions"][0]["effect"], "approve", "It is short.").status, 200);
    let page = settled(&server, &run, "approved");
    assert_eq!(page["state"]["rounds"][1]["reviews"][0]["reason"], "It is short.", "{page:#}");
}

#[test]
fn a_review_of_the_host_is_not_given_in_the_page() {
    let desk = Desk::folder(&[("gadfly.toml", "[defaults]\ncritic = \"host\"\n")]);
    desk.saying("w", &["A draft."]);
    let server = Server::start(&desk);
    let run = server.start_agreeing(
        "/api/start/loop",
        json!({ "task": "Write.", "worker": "w", "criteria": ["is short"] }),
    );
    let effect = settled(&server, &run, "waiting")["questions"][0]["effect"].clone();
    let answer = json!({ "effect": effect, "text": "[STATUS: APPROVED]" });
    let refused = server.post(&format!("/api/runs/{run}/answer"), &answer);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.body.contains("token"), "{refused:?}");
}

#[test]
fn what_nobody_drives_is_resumed_here_and_what_has_ended_is_left_alone() {
    let desk = Desk::folder(&[]);
    let gate = desk.held_program("w", "echo A draft.");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let mut child =
        desk.spawn(&["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short", "--yes"]);
    wait_for("the run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    let (server, run) = (Server::start(&desk), desk.run_id());
    let act = |what: &str, body: &Value| server.post(&format!("/api/runs/{run}/{what}"), body).status;
    assert_eq!(act("resume", &json!({})), 409, "it is at work");
    assert_eq!(act("steer", &json!({ "text": "x" })), 409, "it is no goal");
    child.kill().unwrap();
    child.wait().unwrap();
    settled(&server, &run, "interrupted");
    assert_eq!(act("pause", &json!({})), 409, "there is nothing to pause");
    let resumed = server.post(&format!("/api/runs/{run}/resume"), &json!({}));
    assert_eq!(resumed.status, 200, "{resumed:?}");
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    stream.until("the server drives it", |page| page["driven_here"] == true);
    std::fs::write(&gate, "").unwrap();
    settled(&server, &run, "approved");
    for (what, body) in [("resume", json!({})), ("cancel", json!({})), ("pause", json!({}))] {
        assert_eq!(act(what, &body), 409, "{what}");
    }
}

#[test]
fn a_run_is_cancelled_whether_it_is_driven_or_not() {
    let desk = Desk::folder(&[]);
    desk.program("w", "sleep 600");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    let server = Server::start(&desk);
    for worker in ["w", "me"] {
        let form = json!({ "task": "Write.", "worker": worker, "critic": "c", "criteria": ["is short"] });
        let run = server.start_agreeing("/api/start/loop", form);
        if worker == "me" {
            settled(&server, &run, "waiting");
        }
        assert_eq!(server.post(&format!("/api/runs/{run}/cancel"), &json!({})).status, 200);
        settled(&server, &run, "aborted");
    }
}

#[test]
fn when_the_server_ends_its_runs_are_interrupted_and_can_be_resumed() {
    let desk = Desk::folder(&[]);
    let gate = desk.held_program("w", "echo A draft.");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let server = Server::start(&desk);
    let run = server.start_agreeing(
        "/api/start/loop",
        json!({ "task": "Write.", "worker": "w", "critic": "c", "criteria": ["is short"] }),
    );
    settled(&server, &run, "running");
    assert_eq!(server.interrupt(), 0);
    assert_eq!(desk.state(), "interrupted");
    std::fs::write(&gate, "").unwrap();
    assert_eq!(desk.gadfly(&["resume", &run, "--unattended"]).code, 0);
    assert_eq!(desk.state(), "approved");
}

#[test]
fn a_form_starts_a_goal_that_is_steered_and_paused_and_goes_on() {
    let desk = Desk::repository(&[]);
    let worker = "[[reply]]\ncalls = [{ tool = \"run_command\", args = \"{\\\"command\\\": \\\"echo x > begun; \
                  while [ ! -e go ]; do sleep 0.05; done; rm go begun\\\"}\" }]\n\
                  [[reply]]\ncalls = [{ tool = \"write_file\", args = \"{\\\"path\\\": \\\"done.txt\\\", \\\"content\\\": \\\"x\\\"}\" }]\n\
                  [[reply]]\ncalls = [{ tool = \"read_file\", args = \"{\\\"path\\\": \\\"done.txt\\\"}\" }, \
                  { tool = \"claim_complete\", args = \"{\\\"rationale\\\": \\\"there\\\"}\" }]\n";
    std::fs::write(desk.beside("bin/w.toml"), worker).unwrap();
    let script = json!(desk.beside("bin/w.toml"));
    desk.configure(&format!("[agents.w]\nkind = \"scripted\"\nscript = {script}\n"));
    desk.saying("c", &["PROGRESSING\nIt goes on."]);
    let server = Server::start(&desk);
    let form = json!({ "goal": "Make done.txt.", "until": ["test -e done.txt"], "worker": "w", "critic": "c",
        "max_steps": 20, "wall_clock": 5 });
    let run = server.start_agreeing("/api/start/goal", form);
    let folder = || desk.work(&run).join("tree/work");
    wait_for("the command is at work", || folder().join("begun").exists());
    let post = |what: &str, body: &Value| server.post(&format!("/api/runs/{run}/{what}"), body);
    assert_eq!(post("steer", &json!({ "text": "" })).status, 400);
    assert_eq!(post("steer", &json!({ "text": "x".repeat(20_000) })).status, 400);
    assert_eq!(post("steer", &json!({ "text": "mind the gap" })).status, 200);
    assert_eq!(post("pause", &json!({})).status, 200);
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    let on_rail = |page: &Value, what: &str| {
        let rail = page["state"]["goal"]["rail"].as_array().cloned().unwrap_or_default();
        rail.iter().any(|entry| entry["what"]["event"] == what)
    };
    stream.until("both were heard", |page| on_rail(page, "steered") && on_rail(page, "pause_requested"));
    std::fs::write(folder().join("go"), "").unwrap();
    settled(&server, &run, "waiting(paused)");
    assert_eq!(post("resume", &json!({})).status, 200);
    let page = settled(&server, &run, "approved");
    assert_eq!(page["kind"], "goal");
    assert_eq!(desk.read("done.txt"), "x");
}
