//! A collector that is down, slow, broken or hostile: the run comes to the same end, and one line says what was lost.

use std::net::TcpListener;

use crate::telemetry::collector::{Collector, Manner};
use crate::telemetry::desk::Said;
use crate::telemetry::kinds::{RUN, looped};

fn lost(said: &Said) -> Vec<&str> {
    said.err.lines().filter(|line| line.contains("could not be sent")).collect()
}

/// A run with this collector, against what it says without one.
fn unaffected(manner: &str, url: &str) -> String {
    let desk = looped();
    desk.configure(&format!("[telemetry]\nendpoint = \"{url}\"\n"));
    let said = desk.gadfly(&RUN);
    assert_eq!((said.code, said.out.as_str()), (0, "a second draft"), "{manner}: {said:?}");
    assert_eq!(desk.state(), "approved", "{manner}");
    let lost = lost(&said);
    assert_eq!(lost.len(), 1, "{manner}: {said:?}");
    assert!(lost[0].contains(" spans ") && lost[0].contains(url), "{manner}: {lost:?}");
    lost[0].to_owned()
}

#[test]
fn whatever_the_collector_does_the_run_comes_to_its_end_and_the_loss_is_said_once() {
    let answer = |status: &str, more: &str| {
        Manner::Answers(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n{more}Connection: close\r\n\r\n"))
    };
    let elsewhere = Collector::start(Manner::Good);
    let huge = format!("X-Long: {}\r\n", "x".repeat(4 << 20));
    let many = "X-Again: y\r\n".repeat(5000);
    let away = format!("Location: {}/v1/traces\r\n", elsewhere.url());
    for (what, manner, because) in [
        ("500", answer("500 Internal Server Error", ""), "status 500"),
        ("429", answer("429 Too Many Requests", "Retry-After: 3600\r\n"), "status 429"),
        ("closes", Manner::Closes, ""),
        ("says nothing", Manner::Silent, "no answer in time"),
        ("a huge header", answer("200 OK", &huge), ""),
        ("many headers", answer("200 OK", &many), ""),
        ("sends away", answer("307 Temporary Redirect", &away), "status 307"),
        ("no HTTP", Manner::Answers("\0\0\0garbage\r\n\r\n".to_owned()), ""),
    ] {
        let collector = Collector::start(manner);
        let said = unaffected(what, &collector.url());
        assert!(said.contains(because), "{what}: {said}");
    }
    assert_eq!(elsewhere.requests().len(), 0, "nobody is sent elsewhere");
    // A port where nobody listens.
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = unaffected("down", &format!("http://{gone}"));
    assert!(said.contains("cannot be reached"), "{said}");
}

#[test]
fn an_endless_answer_is_not_read_to_its_end() {
    let body = "x".repeat(32 << 20);
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let desk = looped();
    let collector = Collector::start(Manner::Answers(long)).of(&desk, "");
    let said = desk.gadfly(&RUN);
    assert_eq!((said.code, lost(&said).len()), (0, 0), "it was taken: {said:?}");
    assert!(!collector.spans().is_empty());
}

#[test]
fn an_address_that_cannot_be_meant_is_said_and_nothing_else_changes() {
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a b/"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://me:secret@localhost:4318"),
    ] {
        let desk = looped();
        let done = desk.command(&RUN).env(variable, value).output().unwrap();
        let err = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(0), "{err}");
        let lines = err.lines().filter(|line| line.contains("traces were not sent")).count();
        assert_eq!(lines, 1, "{err}");
        assert!(err.contains(variable) && !err.contains("secret"), "{err}");
        let names_the_place = err.contains("OTEL_EXPORTER_OTLP_HEADERS") && !err.contains("key_env");
        assert!(names_the_place || !value.contains('@'), "{err}");
    }
}
