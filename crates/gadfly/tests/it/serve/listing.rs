//! Which runs the overview is told: the newest page, whatever is under way before it, and older rows once more when they
//! may have changed.

use std::collections::HashSet;

use gadfly_bench::store::{Fill, fill};
use serde_json::Value;

use crate::serve::desk::{Desk, wait_for};
use crate::serve::server::Server;

fn ids(runs: &Value) -> Vec<String> {
    runs.as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap().to_owned()).collect()
}

fn filled(runs: u32) -> (Desk, Server) {
    let desk = Desk::folder(&[]);
    fill(&desk.path(".gadfly"), &custody(&desk), Fill { runs, records: 0, rounds: 0 }).unwrap();
    let server = Server::start(&desk);
    (desk, server)
}

#[test]
fn what_waits_for_somebody_is_told_however_many_runs_came_after() {
    let (_desk, server) = filled(200);
    let page = server.follow("/api/live/overview").next().unwrap().1;
    let (newest, further) = (ids(&page["runs"]), ids(&page["further"]));
    assert_eq!(newest.len(), 50);
    assert!(further.iter().all(|run| !newest.contains(run)), "each once");
    let all = page["runs"].as_array().unwrap().iter().chain(page["further"].as_array().unwrap());
    let waiting = all.filter(|run| run["state"] == "waiting(question)").count() as u64;
    assert_eq!(page["counts"]["waiting(question)"].as_u64(), Some(waiting));
    assert!(page["further"].as_array().unwrap().iter().all(|run| run["state"] == "waiting(question)"));
    let halted = server.follow("/api/live/overview?state=halted").next().unwrap().1;
    assert_eq!(halted["further"], Value::Array(vec![]), "a page of one state has that state alone");
}

#[test]
fn what_waits_is_bounded_in_a_large_store() {
    let (_desk, server) = filled(2_000);
    let page = server.follow("/api/live/overview").next().unwrap().1;
    assert_eq!(page["counts"]["waiting(question)"], 250);
    assert_eq!(ids(&page["further"]).len(), 100);
}

#[test]
fn what_is_at_work_is_told_until_it_ends_however_many_runs_came_after() {
    let desk = Desk::folder(&[]);
    let gate = desk.held_program("slow", "echo A draft.");
    desk.saying("w", &["A draft."]);
    desk.saying("c", &["[STATUS: APPROVED]"]);
    let mut child =
        desk.spawn(&["run", "Write.", "--worker", "slow", "--critic", "c", "--criterion", "short", "--yes"]);
    wait_for("the run is there", || desk.gadfly(&["runs", "--json"]).out.contains("running"));
    let run = desk.run_id();
    let line = |n: u32| format!("{{\"id\":\"t{n}\",\"task\":\"Write {n}.\",\"rubric\":[\"short\"]}}\n");
    desk.write("tasks.jsonl", &(0..55).map(line).collect::<String>());
    let said = desk.gadfly(&["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--jobs", "4"]);
    assert_eq!(said.code, 0, "{said:?}");
    let server = Server::start(&desk);
    let mut overview = server.follow("/api/live/overview");
    let first = overview.next().unwrap().1;
    assert!(!ids(&first["runs"]).contains(&run));
    assert_eq!(ids(&first["further"]), std::slice::from_ref(&run));
    std::fs::write(gate, "").unwrap();
    overview.until("it is under way no more", |page| page["further"] == Value::Array(vec![]));
    assert!(child.wait().unwrap().success());
    let asked = server.get(&format!("/api/runs?named={run},0000000000")).json();
    assert_eq!(ids(&asked["runs"]), [run]);
    assert_eq!(asked["runs"][0]["state"], "approved");
}

#[test]
fn older_rows_are_told_once_more_down_to_where_a_page_had_them() {
    let (desk, server) = filled(260);
    let newest = server.get("/api/runs").json();
    let next = |page: &Value| page["next"].as_str().unwrap().to_owned();
    let second = server.get(&format!("/api/runs?before={}", next(&newest))).json();
    let third = server.get(&format!("/api/runs?before={}", next(&second))).json();
    let again = format!("/api/runs?before={}&to={}", next(&newest), third["last"].as_str().unwrap());
    let told = server.get(&again).json();
    assert_eq!(ids(&told["runs"]), [ids(&second["runs"]), ids(&third["runs"])].concat());
    assert_eq!((&told["more"], &told["next"]), (&third["more"], &third["next"]));
    // The run that was the last one is gone meanwhile, and one in between.
    let (last, between) = (ids(&third["runs"])[49].clone(), ids(&second["runs"])[7].clone());
    for run in [&last, &between] {
        let said = desk.gadfly(&["runs", "rm", run]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    let told = server.get(&again).json();
    let rows: HashSet<String> = ids(&told["runs"]).into_iter().collect();
    assert_eq!((rows.len(), rows.contains(&last), rows.contains(&between)), (98, false, false));
    let all = server.get(&format!("/api/runs?before={}&to=1.0000000000", next(&newest))).json();
    assert_eq!((ids(&all["runs"]).len(), &all["more"]), (208, &false.into()));
}

#[test]
fn however_many_rows_there_are_they_are_told_in_bounded_parts() {
    let (_desk, server) = filled(2_300);
    let next = server.get("/api/runs").json()["next"].as_str().unwrap().to_owned();
    let told = server.get(&format!("/api/runs?before={next}&to=1.0000000000")).json();
    assert_eq!((ids(&told["runs"]).len(), &told["more"]), (2_000, &true.into()));
    let rest =
        server.get(&format!("/api/runs?before={}&to=1.0000000000", told["next"].as_str().unwrap())).json();
    assert_eq!((ids(&rest["runs"]).len(), &rest["more"]), (250, &false.into()));
}

#[test]
fn nonsense_is_refused_in_json() {
    let (_desk, server) = filled(3);
    let many = vec!["0000000000"; 51].join(",");
    for path in [
        "/api/runs?to=nonsense".to_owned(),
        "/api/runs?before=1.0000000000&to=".to_owned(),
        format!("/api/runs?named={many}"),
        "/api/runs?unknown=1".to_owned(),
        "/api/live/overview?unknown=1".to_owned(),
    ] {
        let answer = server.get(&path);
        assert_eq!(answer.status, 400, "{path}: {answer:?}");
        assert!(answer.json()["error"].is_string(), "{path}");
    }
    assert_eq!(server.get("/api/runs?named=").json()["runs"], Value::Array(vec![]));
}

/// Of the user whose store it is.
fn custody(desk: &Desk) -> gadfly_journal::Custody {
    gadfly_journal::Custody::at(&desk.beside("home/.local/state/gadfly"))
}
