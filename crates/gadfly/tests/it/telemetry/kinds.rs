//! What a collector is told of each kind of run, and of one that was killed and taken up again.

use std::collections::BTreeSet;
use std::fs;

use gadfly_testbed::{Behaviour, Server};
use serde_json::json;

use crate::telemetry::collector::{Collector, Manner, Received, only};
use crate::telemetry::desk::{Desk, wait_for};
use crate::telemetry::pursuit::{GOAL, PROGRESSING, claims, pursuit, reads, writes};
use crate::telemetry::stage::{PIPELINE, three};

pub const RUN: [&str; 9] =
    ["run", "Write a line", "--worker", "w", "--critic", "c", "--criterion", "it is short", "--yes"];

pub fn looped() -> Desk {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a first draft", "a second draft"]);
    desk.saying("c", &["[STATUS: REJECTED]\n- name the sample size", "[STATUS: APPROVED]\nGood."]);
    desk
}

/// One trace; every parent is there; every name is in the guide; times go forward.
fn sound(spans: &[Received]) {
    let guide =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/traces.md")).unwrap();
    let traces: BTreeSet<_> = spans.iter().map(|span| &span.trace).collect();
    assert_eq!(traces.len(), 1);
    for span in spans {
        let there = span.parent.is_empty() || spans.iter().any(|one| one.id == span.parent);
        assert!(there, "the parent of {} is missing", span.name);
        assert!(span.start <= span.end && span.start > 0, "{}", span.name);
        let names = span.attributes.keys().chain(span.events.iter().flat_map(|(_, of)| of.keys()));
        for name in names.chain(span.events.iter().map(|(name, _)| name)) {
            assert!(guide.contains(&format!("`{name}`")), "{name} is not in the guide");
        }
    }
}

#[test]
fn a_loop_with_a_rejection_and_an_approval() {
    let desk = looped();
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.err.contains("could not be sent"), "{said:?}");
    let spans = collector.spans();
    sound(&spans);
    let request = &collector.requests()[0];
    assert_eq!(
        (request.path.as_str(), request.headers["content-type"].as_str()),
        ("/v1/traces", "application/x-protobuf")
    );
    let root = only(&spans, "invoke_workflow revise");
    assert_eq!(
        (root.service.as_str(), root.attributes["gadfly.outcome"].as_str()),
        ("gadfly", Some("approved"))
    );
    let run = desk.run_id();
    assert!(
        spans.iter().all(|span| span.attributes["gadfly.run.id"] == run),
        "every span can be found by its run"
    );
    assert_eq!(root.attributes["gadfly.calls"], 4);
    let critics: Vec<&Received> = spans.iter().filter(|span| span.name == "invoke_agent c").collect();
    let verdicts: Vec<_> = critics.iter().flat_map(|span| span.verdicts()).collect();
    let of = |label: &str| ("revise".to_owned(), label.to_owned());
    assert_eq!(verdicts, [of("rejected"), of("approved")]);
    let workers: Vec<&Received> = spans.iter().filter(|span| span.name == "invoke_agent w").collect();
    assert_eq!((workers.len(), critics.len()), (2, 2));
    assert_eq!(critics[1].links, [workers[1].id.clone()], "a verdict points to what it judges");
    assert!(workers.iter().chain(&critics).all(|span| span.parent == root.id && span.error.is_none()));
}

#[test]
fn models_behind_an_api_are_told_with_provider_model_and_usage() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let script = [("judge".to_owned(), vec!["[STATUS: APPROVED]\nGood.".to_owned()])].into_iter().collect();
    let server = runtime.block_on(Server::start(Behaviour { script, ..Behaviour::default() })).unwrap();
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a draft"]);
    let url = server.v1();
    desk.configure(&format!("[agents.c]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"judge\"\n"));
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    sound(&spans);
    let call = only(&spans, "chat judge");
    assert!(call.client);
    let of = &call.attributes;
    assert_eq!(
        (&of["gen_ai.provider.name"], &of["gen_ai.request.model"]),
        (&json!("openai"), &json!("judge"))
    );
    assert_eq!((&of["gen_ai.agent.name"], &of["gadfly.role"]), (&json!("c"), &json!("critic")));
    assert_eq!(of["gen_ai.response.finish_reasons"], json!(["stop"]));
    for name in ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
        assert!(of[name].as_u64().unwrap() > 0, "{name}");
    }
    assert!(of["server.address"].as_str().unwrap().contains("127.0.0.1"), "{of:?}");
}

#[test]
fn a_goal_with_tools_and_a_watching_critic() {
    let desk =
        pursuit(&[writes("done.txt", "done\n"), reads("done.txt"), claims("it is there")], &[PROGRESSING]);
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&[&GOAL[..], &["--critic-interval", "1"]].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    sound(&spans);
    let root = only(&spans, "invoke_workflow goal");
    let wrote = only(&spans, "execute_tool write_file");
    assert_eq!((wrote.parent == root.id, wrote.error.as_deref()), (true, None));
    assert_eq!(wrote.attributes["gen_ai.operation.name"], "execute_tool");
    let watched = spans.iter().find(|span| span.name == "invoke_agent c").unwrap();
    assert_eq!(watched.verdicts(), [("progress".to_owned(), "progressing".to_owned())]);
    let checked: Vec<_> = spans.iter().filter(|span| span.name == "verify").collect();
    assert_eq!(checked.len(), 3, "before anything is paid, on the claim, and in a fresh folder");
    let told: Vec<_> = spans.iter().flat_map(Received::verdicts).filter(|(what, _)| what == "goal").collect();
    assert_eq!(told, [("goal".to_owned(), "met".to_owned())]);
}

#[test]
fn a_pipeline_with_a_span_for_every_agent_and_the_gate() {
    let desk = three();
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&PIPELINE);
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    sound(&spans);
    let root = only(&spans, "invoke_workflow pipeline");
    for (agent, score) in [("strategist", 92.0), ("coder", 88.0), ("writer", 96.0)] {
        let name = format!("invoke_agent {agent}");
        let sent = spans.iter().find(|span| span.name == name && span.parent == root.id).unwrap();
        let (_, judged) = sent.events.iter().find(|(name, _)| name == "gen_ai.evaluation.result").unwrap();
        assert_eq!(judged["gen_ai.evaluation.score.value"], score, "{agent}");
        let below: Vec<&str> =
            spans.iter().filter(|span| span.parent == sent.id).map(|span| span.name.as_str()).collect();
        assert!(below.contains(&name.as_str()), "{agent}: its own call is below it: {below:?}");
        assert!(below.contains(&format!("invoke_agent {agent}-critic").as_str()), "{agent}: {below:?}");
    }
    assert!(root.verdicts().contains(&("commit".to_owned(), "open".to_owned())), "{:?}", root.verdicts());
}

#[test]
fn a_run_that_was_killed_goes_on_in_the_same_trace() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a first draft"]);
    let (waiting, go) = (desk.beside("waiting"), desk.beside("go"));
    desk.program(
        "c",
        &format!(
            "cat >/dev/null\nif [ -e '{0}' ]; then printf '[STATUS: APPROVED]\\nGood.\\n'; exit; fi\n\
             : > '{1}'\nsleep 600",
            go.display(),
            waiting.display()
        ),
    );
    desk.configure(&format!("sandbox = \"off\"\nstate = [{:?}]\n", desk.beside("").display().to_string()));
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let mut child = desk.spawn(&[&RUN[..], &["--unattended"]].concat());
    wait_for("the critic is asked", || waiting.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    fs::write(go, "").unwrap();
    let said = desk.gadfly(&["resume", &desk.run_id(), "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    sound(&spans);
    let roots: Vec<&Received> = spans.iter().filter(|span| span.parent.is_empty()).collect();
    let ends: Vec<_> = roots.iter().map(|root| root.attributes["gadfly.outcome"].clone()).collect();
    assert_eq!(ends, ["interrupted", "approved"], "the stretch that died is told of by the next");
    only(&spans, "invoke_agent w");
    let critics: Vec<_> = spans.iter().filter(|span| span.name == "invoke_agent c").collect();
    let lost = critics.iter().find(|span| span.error.as_deref() == Some("lost")).unwrap();
    let again = critics.iter().find(|span| span.error.is_none()).unwrap();
    assert_eq!(again.attributes["gadfly.repeats"], lost.attributes["gadfly.effect"]);
}

#[test]
fn every_run_of_a_batch_is_a_trace_of_its_own() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a draft"]);
    desk.saying("c", &["[STATUS: APPROVED]\nGood."]);
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let task = |n| {
        let task =
            json!({ "id": format!("t{n}"), "task": format!("Write line {n}"), "rubric": ["it is short"] });
        format!("{task}\n")
    };
    desk.write("tasks.jsonl", &(0..20).map(task).collect::<String>());
    let said = desk.gadfly(&["batch", "tasks.jsonl", "--worker", "w", "--critic", "c", "--yes"]);
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    let roots = spans.iter().filter(|span| span.parent.is_empty());
    assert!(roots.clone().all(|root| root.attributes["gadfly.outcome"] == "approved"));
    let traces: BTreeSet<_> = roots.map(|root| &root.trace).collect();
    assert_eq!(traces.len(), 20);
    assert_eq!(spans.iter().filter(|span| span.name == "invoke_agent c").count(), 20);
}
