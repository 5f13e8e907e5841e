//! What is not clean never looks clean in a trace: answers nobody could read, rejections that were overruled, calls that
//! were lost, verdicts that came later than the answer. To a collector and to a person.

use std::fs;
use std::path::PathBuf;
use std::process::Child;

use serde_json::{Value, json};

use crate::telemetry::collector::{Collector, Manner, Received, only};
use crate::telemetry::desk::{Answer, Desk, report, wait_for};
use crate::telemetry::kinds::RUN;
use crate::telemetry::pursuit::{GOAL, claims, pursuit, reads, runs, writes};
use crate::telemetry::shown::shown;

fn calls<'s>(spans: &'s [Received], agent: &str) -> Vec<&'s Received> {
    let name = format!("invoke_agent {agent}");
    spans.iter().filter(|span| span.name == name).collect()
}

fn pair(name: &str, label: &str) -> (String, String) {
    (name.to_owned(), label.to_owned())
}

/// The lines, in this order.
fn ordered(text: &str, lines: &[&str]) {
    let mut from = 0;
    for line in lines {
        let at =
            text[from..].find(line).unwrap_or_else(|| panic!("`{line}` is not where it belongs in\n{text}"));
        from += at + line.len();
    }
}

#[test]
fn a_verdict_is_on_the_critics_call_also_if_what_it_cites_was_looked_at_first() {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let draft = |text| [("a.txt", text)];
    let (first, second) = (draft("two\n"), draft("three\n"));
    let answer = |files| Answer { text: "done", files, delete: &[] };
    desk.scripted("w", &[answer(&first), answer(&second)]);
    // A file that the change does not touch.
    let cited = [("SC-1", "Satisfied", "b.txt:1")];
    let finding = [("style", "fail", Some(("a.txt", 1)), "shorten it")];
    desk.saying(
        "c",
        &[&report("do-it", 1, &cited, &finding, "issues_found"), &report("do-it", 2, &cited, &[], "passed")],
    );
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    let verdicts: Vec<_> = calls(&spans, "c").iter().map(|call| call.verdicts()).collect();
    let of = |label: &str| vec![pair("audit", label), pair("SC-1", "Satisfied")];
    assert_eq!(verdicts, [of("rejected"), of("approved")]);
    assert_eq!(only(&spans, "invoke_workflow audit").verdicts(), []);
    let diagram = shown(&desk, &["--trace=mermaid"]);
    let order =
        ["critic, round 1", "a1-->>g: rejected, 1 open", "worker, round 2", "a1-->>g: approved", "accept"];
    ordered(&diagram, &order);
}

#[test]
fn an_answer_that_cannot_be_read_says_so_and_so_does_a_run_that_is_unverified() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a draft"]);
    desk.saying("c", &["Mostly fine, I would say [STATUS: APPROVED]."]);
    let collector = Collector::start(Manner::Good).of(&desk, "");
    assert_ne!(desk.gadfly(&RUN).code, 0);
    assert_eq!(desk.state(), "unverified");
    let spans = collector.spans();
    let critics = calls(&spans, "c");
    assert_eq!(critics.len(), 2, "it was asked once more");
    for call in critics {
        assert_eq!(call.error.as_deref(), Some("malformed"));
        assert_eq!(call.attributes["error.type"], "malformed");
        assert_eq!(call.verdicts(), [pair("revise", "unverified")]);
        assert!(!call.events[0].1.contains_key("gen_ai.evaluation.score.value"), "neither passed nor not");
        assert!(!call.events[0].1.contains_key("gen_ai.evaluation.explanation"), "the reason is content");
    }
    let root = only(&spans, "invoke_workflow revise");
    assert_eq!(
        (root.error.as_deref(), root.verdicts()),
        (Some("unverified"), vec![pair("revise", "unverified")])
    );
    assert!(!root.attributes.contains_key("gadfly.message"), "the reason is content");
    let page = shown(&desk, &["--trace"]);
    assert_eq!(page.matches("| malformed |\n").count(), 2, "{page}");
    assert_eq!(
        page.matches("| c | revise | unverified | — | — | no line states the status").count(),
        2,
        "{page}"
    );
    assert!(
        page.contains("| — | Gadfly | revise | unverified | — | — | critic \\`c\\`: two malformed"),
        "{page}"
    );
    assert_eq!(page.matches("a1--xg: malformed\n").count(), 2, "{page}");
    assert!(page.contains("Note over g: unverified#58; critic #96;c#96;"), "{page}");
}

#[test]
fn a_rejection_that_was_overruled_is_told_with_the_approval() {
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a first draft", "a second draft"]);
    let new = "[STATUS: REJECTED]\nAddressed from iteration 1:\n- ✓ 1: it is named\nStill unresolved:\n- The line would be livelier with a quotation from a user.";
    desk.saying("c", &["[STATUS: REJECTED]\n- name the sample size", new]);
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&RUN);
    assert_eq!(said.code, 0, "{said:?}");
    let listed = desk.gadfly(&["runs"]).out;
    assert!(listed.contains("approved (overruled)"), "{listed}");
    let spans = collector.spans();
    assert_eq!(only(&spans, "invoke_workflow revise").attributes["gadfly.outcome"], "approved (overruled)");
    let last = calls(&spans, "c")[1];
    assert_eq!(last.verdicts(), [pair("revise", "rejected")]);
    let overruled = last.events.iter().find(|(name, _)| name == "gadfly.overruled").unwrap();
    assert!(!overruled.1.contains_key("gen_ai.evaluation.explanation"), "the reason is content");
    let page = shown(&desk, &["--trace"]);
    let heading = page.lines().find(|line| line.starts_with("revise, ")).unwrap();
    assert!(heading.starts_with("revise, approved (overruled). "), "{heading}");
    ordered(&page, &["a1-->>g: rejected, 1 open, overruled", "Note over g: approved #40;overruled#41;"]);
    assert!(
        page.contains("| 2 | Gadfly | — | overruled | — | — | nothing but new requirements: The line"),
        "{page}"
    );
}

/// A run whose worker waits in its second call until it may go on: the places where it says so, and is told so.
fn in_its_second_call() -> (Desk, Child, PathBuf) {
    let desk = Desk::folder(&[]);
    let (drafted, waiting, go) = (desk.beside("drafted"), desk.beside("waiting"), desk.beside("go"));
    desk.program(
        "w",
        &format!(
            "cat >/dev/null\nif [ ! -e '{0}' ]; then : > '{0}'; printf 'a first draft'; exit; fi\n\
             if [ -e '{1}' ]; then printf 'a second draft'; exit; fi\n: > '{2}'\nsleep 600",
            drafted.display(),
            go.display(),
            waiting.display()
        ),
    );
    desk.configure(&format!("sandbox = \"off\"\nstate = [{}]\n", json!(desk.beside(""))));
    desk.saying("c", &["[STATUS: REJECTED]\n- name the sample size", "[STATUS: APPROVED]\nGood."]);
    let child = desk.spawn(&[&RUN[..], &["--unattended"]].concat());
    wait_for("the second draft is asked for", || waiting.exists());
    (desk, child, go)
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_run_that_is_at_work_was_not_interrupted() {
    let (desk, child, _) = in_its_second_call();
    let page = shown(&desk, &["--trace"]);
    assert!(page.contains("revise, running. ") && !page.contains("interrupted"), "it is at work: {page}");
    assert!(page.contains("| w | worker | 2 | — | — | — | — | under way |"), "{page}");
    assert!(page.contains("| 1 | c | revise | rejected |"), "{page}");
    let lines = shown(&desk, &["--trace", "--json"]);
    assert!(
        lines.contains("invoke_agent c") && !lines.contains("invoke_workflow"),
        "it has no end yet: {lines}"
    );
    killed(child);
}

#[test]
fn of_a_call_that_was_lost_nobody_knows_how_long_it_took_and_what_it_used() {
    let (desk, child, go) = in_its_second_call();
    killed(child);
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let page = shown(&desk, &["--trace"]);
    assert!(page.contains("| w | worker | 2 | — | — | — | — | no answer |"), "nobody works at it: {page}");
    fs::write(go, "").unwrap();
    let said = desk.gadfly(&["resume", &desk.run_id(), "--unattended"]);
    assert_eq!(said.code, 0, "{said:?}");

    let spans = collector.spans();
    let lost = calls(&spans, "w").into_iter().find(|call| call.error.as_deref() == Some("lost")).unwrap();
    let amounts = lost.attributes.keys().filter(|name| name.contains(".usage.") && name.contains("tokens"));
    assert_eq!(amounts.count(), 0, "{:?}", lost.attributes);
    assert_eq!(lost.attributes.get("gadfly.cost.usd"), None);
    assert_eq!(lost.attributes["gadfly.usage.unknown"], true);
    let ended =
        spans.iter().find(|span| span.attributes.get("gadfly.outcome") == Some(&json!("approved"))).unwrap();
    assert_eq!(ended.attributes["gadfly.usage.unknown"], true, "the sums of the run are lower bounds");

    let (page, run) = (shown(&desk, &["--trace"]), desk.newest());
    assert_eq!(run["cost_unknown"], true);
    let heading = page.lines().find(|line| line.starts_with("revise, ")).unwrap();
    assert!(heading.contains(&format!(" ≥ {} tokens, ≥ $", run["tokens"])), "{heading}");
    assert!(page.contains("| w | worker | 2 | — | — | — | — | lost |"), "{page}");
    assert!(page.contains("The sums above are lower bounds."), "{page}");
    let order = ["a1-->>g: rejected", "g->>a0: worker, round 2", "a0--xg: lost", "interrupted", "resumed"];
    ordered(&page, &[&order[..], &["g->>a0: worker, round 2", "a0-->>g: ", "a1-->>g: approved"]].concat());
}

#[test]
fn a_command_that_failed_is_no_success() {
    let worker = [runs("exit 3"), writes("done.txt", "done\n"), reads("done.txt"), claims("it is there")];
    let desk = pursuit(&worker, &["PROGRESSING\nOn."]);
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&GOAL);
    assert_eq!(said.code, 0, "{said:?}");
    let spans = collector.spans();
    let failed = spans.iter().find(|span| span.name == "execute_tool run_command").unwrap();
    assert_eq!(failed.error.as_deref(), Some("exit_code_3"));
    assert_eq!(only(&spans, "execute_tool write_file").error, None);
    let page = shown(&desk, &["--trace"]);
    let row = page.lines().find(|line| line.starts_with("| run\\_command |")).unwrap();
    assert!(row.ends_with("| exit\\_code\\_3 |"), "{row}");
    ordered(&page, &["g->>t: run_command", "t--xg: exit_code_3", "g->>t: write_file"]);
}

#[test]
fn long_prompts_and_replies_are_cut_and_stay_messages() {
    let desk = Desk::folder(&[]);
    // Every line end and every quote is longer in JSON.
    let draft = "a \"line\" of words\n\n".repeat(2500);
    desk.saying("w", &[&draft]);
    desk.saying("c", &["[STATUS: APPROVED]\nGood."]);
    let collector = Collector::start(Manner::Good).of(&desk, "content = true\n");
    let said = desk.gadfly(&RUN);
    assert_eq!(said.code, 0, "{}", said.err);
    let spans = collector.spans();
    let (worker, critic) = (calls(&spans, "w")[0], calls(&spans, "c")[0]);
    for (call, name) in [(worker, "gen_ai.output.messages"), (critic, "gen_ai.input.messages")] {
        let text = call.attributes[name].as_str().unwrap();
        assert!(text.len() <= 16 * 1024 && text.len() > 12 * 1024, "{} bytes", text.len());
        let messages: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}: {text}"));
        let parts = messages.as_array().unwrap().iter().flat_map(|one| one["parts"].as_array().unwrap());
        let words: String = parts.map(|part| part["content"].as_str().unwrap()).collect();
        assert!(words.contains("a \"line\" of words\n\na \"line\""), "{name}");
        assert!(
            words.contains("… (cut: ") || words.contains(" more "),
            "{name} says that it was cut: {words}"
        );
    }
}
