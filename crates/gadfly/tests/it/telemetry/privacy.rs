//! What is sent, with what, and to whom: nothing of what agents say without a word of the user's, nothing to an address
//! of the project's before it is agreed to.

use crate::telemetry::collector::{Collector, Manner, only};
use crate::telemetry::desk::Desk;
use crate::telemetry::kinds::{RUN, looped};
use crate::telemetry::pursuit::{claims, does, pursuit, reads, writes};

#[test]
fn prompts_replies_tasks_and_findings_are_only_sent_if_content_is_asked_for() {
    for (more, is_sent) in [("", false), ("content = false\n", false), ("content = true\n", true)] {
        let desk = looped();
        let collector = Collector::start(Manner::Good).of(&desk, more);
        let said = desk.gadfly(&RUN);
        assert_eq!(said.code, 0, "{said:?}");
        let text = collector.text();
        for words in
            ["Write a line", "a first draft", "a second draft", "name the sample size", "it is short"]
        {
            assert_eq!(text.contains(words), is_sent, "{words:?} with {more:?}");
        }
        assert!(said.err.contains(if is_sent { "(with prompts" } else { "(without prompts" }), "{said:?}");
    }
}

#[test]
fn what_tools_are_given_is_content_too() {
    for (more, is_sent) in [("", false), ("content = true\n", true)] {
        let desk = pursuit(
            &[writes("done.txt", "a hidden word\n"), reads("done.txt"), claims("it is there")],
            &["PROGRESSING\nOn."],
        );
        let collector = Collector::start(Manner::Good).of(&desk, more);
        let said = desk.gadfly(&crate::telemetry::pursuit::GOAL);
        assert_eq!(said.code, 0, "{said:?}");
        for words in ["a hidden word", "test -f done.txt", "Write the file"] {
            assert_eq!(collector.text().contains(words), is_sent, "{words:?} with {more:?}");
        }
    }
}

#[test]
fn headers_go_to_the_address_they_are_for() {
    let desk = looped();
    let collector = Collector::start(Manner::Good).of(&desk, "headers_env = \"MINE\"\n");
    let other = Collector::start(Manner::Good);
    let go = |env: &[(&str, &str)]| {
        let done = desk.command(&RUN).envs(env.iter().copied()).output().unwrap();
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let both = [("MINE", "x-mine=1"), ("OTEL_EXPORTER_OTLP_HEADERS", "x-env=2")];
    go(&both);
    let sent = &collector.requests()[0].headers;
    assert_eq!((sent.get("x-mine").map(String::as_str), sent.get("x-env")), (Some("1"), None));
    let url = other.url();
    go(&[&both[..], &[("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()), ("OTEL_SERVICE_NAME", "night")]]
        .concat());
    let sent = &other.requests()[0].headers;
    assert_eq!((sent.get("x-env").map(String::as_str), sent.get("x-mine")), (Some("2"), None));
    assert_eq!(other.spans()[0].service, "night");
    let named = Collector::start(Manner::Good);
    let url = named.url();
    go(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url.as_str()),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=day,team=a"),
    ]);
    assert_eq!(named.spans()[0].service, "day", "the standard's other way to say it");
    let before = collector.requests().len() + other.requests().len();
    go(&[("MINE", "a=b"), ("OTEL_SDK_DISABLED", "true")]);
    assert_eq!(collector.requests().len() + other.requests().len(), before);
}

#[test]
fn a_projects_own_collector_gets_nothing_before_it_is_agreed_to() {
    let desk = looped();
    let collector = Collector::start(Manner::Good);
    desk.write("gadfly.toml", &format!("[telemetry]\nendpoint = \"{}\"\ncontent = true\n", collector.url()));
    let said = desk.gadfly(&RUN);
    assert_eq!(said.code, 2, "{said:?}");
    let asked = format!("send traces of runs, with prompts and replies, to {}", collector.url());
    assert!(said.err.contains(&asked), "{said:?}");
    assert_eq!(collector.requests().len(), 0);
    assert_eq!(desk.gadfly(&[&RUN[..], &["--trust"]].concat()).code, 0);
    let agreed = collector.requests().len();
    assert!(agreed > 0);
    assert_eq!(desk.gadfly(&RUN).code, 0, "once is enough");
    assert!(collector.requests().len() > agreed);
    let doctor = desk.gadfly(&["doctor"]);
    assert!(doctor.out.contains(&format!("traces  → {}", collector.url())), "{doctor:?}");
}

#[test]
fn an_interrupted_run_is_not_told_to_an_address_that_came_into_the_project_since() {
    // The user's own run waits for a person; then the project's file names a collector.
    let desk = Desk::folder(&[]);
    desk.saying("w", &["a first draft"]);
    desk.configure("[agents.me]\nkind = \"person\"\n");
    let args =
        ["run", "Write a line", "--worker", "w", "--critic", "me", "--criterion", "it is short", "--yes"];
    let said = desk.gadfly(&[&args[..], &["--unattended"]].concat());
    assert_eq!(said.code, 4, "{said:?}");
    let collector = Collector::start(Manner::Good);
    desk.write("gadfly.toml", &format!("[telemetry]\nendpoint = \"{}\"\n", collector.url()));
    let run = desk.run_id();
    let said = desk.gadfly(&["cancel", &run]);
    assert_eq!(desk.state(), "aborted", "{said:?}");
    assert_eq!(collector.requests().len(), 0, "nobody agreed to it");
    assert!(said.err.contains("traces were not sent"), "{said:?}");
}

#[test]
fn names_that_models_and_files_choose_are_bounded_and_plain() {
    let long = format!("\u{1b}[2J\u{202e}a\n{}", "m".repeat(512 << 10));
    let desk = pursuit(
        &[
            does(&long, serde_json::json!({})),
            writes("done.txt", "done\n"),
            reads("done.txt"),
            claims("it is there"),
        ],
        &["PROGRESSING\nOn."],
    );
    let collector = Collector::start(Manner::Good).of(&desk, "");
    let said = desk.gadfly(&crate::telemetry::pursuit::GOAL);
    let end: String = said.err.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
    assert_eq!(said.code, 0, "{end}");
    let spans = collector.spans();
    only(&spans, "invoke_workflow goal");
    for span in &spans {
        let texts = span.attributes.values().chain(span.events.iter().flat_map(|(_, of)| of.values()));
        let texts = texts.filter_map(|value| value.as_str()).chain([span.name.as_str()]);
        for text in texts {
            assert!(text.len() < 2048, "{} bytes in {}", text.len(), span.name.len());
            assert!(!text.chars().any(|c| c.is_control() || c == '\u{202e}'), "{text:?}");
        }
    }
}
