//! What an address answers: pages that follow a run live, texts in slices, differences word by word.

use serde_json::{Value, json};

use crate::serve::desk::{Desk, wait_for};
use crate::serve::server::Server;

const REJECTED: &str = "[STATUS: REJECTED]\n- \"several\" is no number: say how many.";

fn revised() -> (Desk, Server) {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["We saw several mice.\nThe rest stays.\n", "We saw 40 mice.\nThe rest stays.\n"]);
    desk.saying("c", &[REJECTED, "[STATUS: APPROVED]"]);
    assert_eq!(
        desk.gadfly(&["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short"]).code,
        0
    );
    let server = Server::start(&desk);
    (desk, server)
}

#[test]
fn the_overview_has_every_run_and_counts_them() {
    let (desk, server) = revised();
    let (name, page) = server.follow("/api/live/overview").next().unwrap();
    assert_eq!(name, "overview");
    assert_eq!(page["counts"]["approved"], 1);
    let card = &page["runs"][0];
    assert_eq!(card["run"], desk.run_id());
    assert_eq!((&card["kind"], &card["state"]), (&"loop".into(), &"approved".into()));
    assert_eq!(
        server.follow("/api/live/overview?state=halted").next().unwrap().1["runs"],
        Value::Array(vec![])
    );
}

#[test]
fn a_store_that_came_from_elsewhere_is_said_to_be_none_of_the_users_until_they_own_it() {
    let (theirs, _server) = revised();
    let desk = Desk::folder(&[]);
    let mut copied = std::process::Command::new("cp");
    copied.arg("-a").arg(theirs.path(".gadfly")).arg(desk.path(".gadfly"));
    assert!(copied.status().unwrap().success());
    let server = Server::start(&desk);
    let (_, page) = server.follow("/api/live/overview").next().unwrap();
    assert_eq!(page["counts"]["approved"], 1, "it can be read");
    let said = page["foreign"].as_str().unwrap();
    assert!(said.contains("not made by you on this machine") && said.contains("gadfly own"), "{said}");
    drop(server);
    assert_eq!(desk.gadfly(&["own"]).code, 0);
    let server = Server::start(&desk);
    assert_eq!(server.follow("/api/live/overview").next().unwrap().1["foreign"], Value::Null);
}

#[test]
fn older_runs_come_page_by_page_each_once() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let task = |n: u32| json!({ "id": format!("t{n}"), "task": "Write.", "rubric": ["short"] }).to_string();
    let tasks = (0..120).map(task).collect::<Vec<_>>().join("\n");
    desk.write("tasks.jsonl", &tasks);
    let said = desk.gadfly(&["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--jobs", "4"]);
    assert_eq!(said.code, 0, "{said:?}");
    let server = Server::start(&desk);
    let (mut seen, mut page) = (Vec::new(), server.get("/api/runs").json());
    loop {
        let runs = page["runs"].as_array().unwrap();
        assert!(runs.len() <= 50);
        seen.extend(runs.iter().map(|run| run["run"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        page = server.get(&format!("/api/runs?before={next}")).json();
    }
    let all = seen.len();
    seen.sort();
    seen.dedup();
    assert_eq!((all, seen.len()), (120, 120));
    assert_eq!(server.get("/api/runs?before=nonsense").status, 400);
    assert_eq!(server.get("/api/runs?unknown=1").status, 400);
}

#[test]
fn the_page_of_a_run_is_what_show_says_with_its_plan_and_meters() {
    let (desk, server) = revised();
    let run = desk.run_id();
    let (name, page) = server.follow(&format!("/api/live/runs/{run}")).next().unwrap();
    assert_eq!(name, "page");
    let shown: Value = serde_json::from_str(&desk.gadfly(&["show", &run, "--json"]).out).unwrap();
    assert_eq!(page["state"]["rounds"], shown["rounds"]);
    assert_eq!(page["state"]["outcome"], shown["outcome"]);
    assert_eq!(page["plan"]["agents"]["w"]["kind"], "scripted");
    let rounds = page["meters"].as_array().unwrap().iter().find(|m| m["name"] == "rounds").unwrap();
    assert_eq!((&rounds["used"], &rounds["cap"]), (&2.into(), &3.into()));
    assert_eq!(page["can"]["resume"], false);
    assert_eq!(server.follow("/api/live/runs/0000000000").next().unwrap().0, "gone");
}

#[test]
fn drafts_are_read_and_compared_word_by_word() {
    let (desk, server) = revised();
    let run = desk.run_id();
    let page = server.follow(&format!("/api/live/runs/{run}")).next().unwrap().1;
    let draft = |n: usize| page["state"]["rounds"][n]["draft"].as_str().unwrap().to_owned();
    let text = server.get(&format!("/api/runs/{run}/texts/{}", draft(0))).json();
    assert_eq!(text["text"], "We saw several mice.\nThe rest stays.\n");
    let diff = server.get(&format!("/api/runs/{run}/diff?old={}&new={}", draft(0), draft(1))).json();
    let lines = diff["hunks"][0]["lines"].as_array().unwrap();
    let changed = |kind: &str| {
        let line = lines.iter().find(|line| line["kind"] == kind).unwrap();
        let words = line["words"].as_array().unwrap().iter().filter(|word| word[0] == true);
        words.map(|word| word[1].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!((changed("del").as_str(), changed("add").as_str()), ("several", "40"));
    assert!(lines.iter().any(|line| line["kind"] == "same"));
}

#[test]
fn what_a_critic_was_sent_and_what_it_said_can_be_read() {
    let (desk, server) = revised();
    let run = desk.run_id();
    let page = server.follow(&format!("/api/live/runs/{run}")).next().unwrap().1;
    let text = |of: &Value| server.get(&format!("/api/runs/{run}/texts/{}", of.as_str().unwrap())).json();
    let review = &page["state"]["rounds"][0]["reviews"][0];
    assert!(text(&review["prompt"])["text"].as_str().unwrap().contains("We saw several mice."));
    assert_eq!(text(&review["reply"])["text"], REJECTED);
}

#[test]
fn a_reply_in_json_can_be_read_in_words_and_as_it_came() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["A draft."]);
    let reply = r#"{"status": "approved", "reason": "It is short."}"#;
    desk.saying("c", &[reply]);
    let args = ["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short", "--yes"];
    assert_eq!(desk.gadfly(&args).code, 0);
    let (server, run) = (Server::start(&desk), desk.run_id());
    let page = server.follow(&format!("/api/live/runs/{run}")).next().unwrap().1;
    let text = |of: &Value| server.get(&format!("/api/runs/{run}/texts/{}", of.as_str().unwrap())).json();
    let review = &page["state"]["rounds"][0]["reviews"][0];
    assert_eq!(review["reason"], "It is short.", "{review:#}");
    assert_eq!(text(&review["rendered"])["text"], "[STATUS: APPROVED]\nIt is short.\n");
    assert_eq!(text(&review["reply"])["text"], reply);
}

#[test]
fn a_run_that_a_terminal_drives_is_followed_to_its_verdict() {
    let desk = Desk::folder(&[]);
    let gate = desk.held_program("w", "echo A draft.");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let mut child =
        desk.spawn(&["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short", "--yes"]);
    wait_for("the run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    let server = Server::start(&desk);
    let mut overview = server.follow("/api/live/overview");
    let mut page = server.follow(&format!("/api/live/runs/{}", desk.run_id()));
    let first = page.next().unwrap().1;
    assert_eq!((&first["state"]["summary"]["state"], &first["driven"]), (&"running".into(), &true.into()));
    assert_eq!((&first["driven_here"], &first["can"]["pause"]), (&false.into(), &true.into()));
    overview.until("it runs", |page| page["counts"]["running"] == 1);
    std::fs::write(gate, "").unwrap();
    page.until("it is approved", |page| page["state"]["summary"]["state"] == "approved");
    overview.until("the overview knows", |page| page["counts"]["approved"] == 1);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_run_whose_process_dies_is_shown_as_interrupted_and_one_that_is_removed_is_gone() {
    let desk = Desk::folder(&[]);
    desk.program("w", "sleep 600");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let mut child =
        desk.spawn(&["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short", "--yes"]);
    wait_for("the run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    let server = Server::start(&desk);
    let run = desk.run_id();
    let mut page = server.follow(&format!("/api/live/runs/{run}"));
    page.until("it runs", |page| page["state"]["summary"]["state"] == "running");
    child.kill().unwrap();
    child.wait().unwrap();
    let page_now = page.until("it is interrupted", |page| page["state"]["summary"]["state"] == "interrupted");
    assert_eq!(page_now["can"]["resume"], true);
    assert_eq!(desk.gadfly(&["runs", "rm", &run]).code, 0);
    let mut last = String::new();
    while let Some((name, _)) = page.next() {
        last = name;
    }
    assert_eq!(last, "gone");
}

#[test]
fn a_draft_of_ten_megabytes_comes_in_slices_and_the_page_stays_small() {
    let desk = Desk::folder(&[]);
    let line = "<script>alert(1)</script> \u{202e}backwards\u{1b}[2J\n";
    let size = 10 << 20;
    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let server = Server::start(&desk);
    let form = json!({ "task": "Write.", "worker": "me", "critic": "c", "criteria": ["is short"] });
    let run = server.start_agreeing("/api/start/loop", form);
    let mut stream = server.follow(&format!("/api/live/runs/{run}"));
    let effect = stream.until("it asks", |page| page["questions"][0]["effect"].is_string());
    let answer =
        json!({ "effect": effect["questions"][0]["effect"], "text": line.repeat(size / line.len()) });
    let said = server.post(&format!("/api/runs/{run}/answer"), &answer);
    assert_eq!(said.status, 200, "{said:?}");
    stream.until("it has its draft", |page| page["state"]["rounds"][0]["draft"].is_string());
    let page = server.follow(&format!("/api/live/runs/{run}")).next().unwrap().1;
    assert!(page.to_string().len() < 200_000, "{}", page.to_string().len());
    let draft = page["state"]["rounds"][0]["draft"].as_str().unwrap_or_else(|| panic!("{page:#}")).to_owned();
    let (mut from, mut read, mut slices) = (0, 0, 0);
    loop {
        let slice = server.get(&format!("/api/runs/{run}/texts/{draft}?from={from}")).json();
        let text = slice["text"].as_str().unwrap();
        assert!(text.len() <= 256 << 10);
        (read, slices) = (read + text.len(), slices + 1);
        match slice["next"].as_u64() {
            Some(next) => from = next,
            None => break,
        }
    }
    assert_eq!(read, line.len() * (size / line.len()));
    assert!(slices >= 40);
}

#[test]
fn replies_that_were_no_review_are_on_the_page_of_a_run_that_nobody_judged() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["Looks fine to me!", "Really fine!", "[STATUS: APPROVED]"]);
    let args = ["run", "Write.", "--worker", "w", "--critic", "c", "--criterion", "short"];
    assert_eq!(desk.gadfly(&args).code, 5);
    let server = Server::start(&desk);
    let page = || server.follow(&format!("/api/live/runs/{}", desk.run_id())).next().unwrap().1;
    let unread = page()["unread"].as_array().unwrap().clone();
    let said = unread.iter().map(|one| {
        assert_eq!(one["agent"], "c");
        let digest = one["reply"].as_str().unwrap();
        server.get(&format!("/api/runs/{}/texts/{digest}", desk.run_id())).json()["text"].clone()
    });
    assert_eq!(said.collect::<Vec<_>>(), ["Looks fine to me!", "Really fine!"]);
    assert_eq!(desk.gadfly(&["resume", &desk.run_id()]).code, 0);
    assert_eq!(page()["unread"], Value::Array(vec![]), "a run that was judged has its reviews");
}
