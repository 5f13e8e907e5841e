//! A worker behind an API, over real HTTP: it is offered tools in the wire's own form, and pursues a goal or does the
//! work of an audit with them.

use gadfly_testbed::{Behaviour, Server};

use crate::goals::desk::{Desk, passed};
use crate::goals::pursuit::{GOAL, RIGHT, data, events, steps};

const WATCHER: &str = "watcher";

/// A server, and a repository whose worker `w` is a model of it with hands.
pub fn served(kind: &str, latency_ms: u64) -> (tokio::runtime::Runtime, Server, Desk) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let script = [(WATCHER.to_owned(), vec!["PROGRESSING\nIt writes.".to_owned(), RIGHT.to_owned()])]
        .into_iter()
        .collect();
    let behaviour = Behaviour { latency: std::time::Duration::from_millis(latency_ms), script };
    let server = runtime.block_on(Server::start(behaviour)).unwrap();
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    let url = if kind == "anthropic" { format!("http://{}", server.addr) } else { server.v1() };
    let agent = |name: &str, model: &str| {
        format!(
            "[agents.{name}]\nkind = \"{kind}\"\nbase_url = \"{url}\"\nmodel = \"{model}\"\ncontext = 200000\n"
        )
    };
    desk.configure(&(agent("w", "hands:goal") + &agent("c", WATCHER)));
    (runtime, server, desk)
}

#[test]
fn an_api_worker_pursues_a_goal_with_tools() {
    for kind in ["openai", "anthropic"] {
        let (_runtime, server, desk) = served(kind, 0);
        let said = desk.gadfly(&[&GOAL[..], &["--critic-interval", "2"]].concat());
        assert_eq!(said.code, 0, "{kind}: {said:?}");
        assert_eq!(desk.read("done.txt"), "done\n", "{kind}");
        let events = events(&desk);
        let tools: Vec<String> = steps(&events).into_iter().map(|(_, tool, _)| tool).collect();
        assert_eq!(tools, ["write_file", "run_command", "claim_complete"], "{kind}");
        assert_eq!(data(&events, "watched").len(), 1, "{kind}");
        let calls = server.calls();
        assert_eq!(
            (calls.per_model["hands:goal"], calls.per_model[WATCHER]),
            (3, 2),
            "{kind}: steps, and the change"
        );
        assert!(desk.newest()["tokens"].as_u64().unwrap() > 0, "{kind}: what it used is counted");
    }
}

#[test]
fn an_api_worker_does_the_work_of_an_audit_with_tools() {
    for kind in ["openai", "anthropic"] {
        let (_runtime, server, desk) = served(kind, 0);
        desk.saying("judge", &[&passed(1)]);
        let audit = ["run", "Do it", "--protocol", "audit", "--worker", "w", "--critic", "judge"];
        let said = desk
            .gadfly(&[&audit[..], &["--criterion", "SC-1: it is done", "--unattended", "--yes"]].concat());
        assert_eq!(said.code, 0, "{kind}: {said:?}");
        assert_eq!(desk.read("done.txt"), "done\n", "{kind}: what was judged is with the user");
        assert_eq!(server.calls().per_model["hands:goal"], 3, "{kind}: write, look, say");
    }
}
