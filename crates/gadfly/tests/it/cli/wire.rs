//! Replies as odd servers send them, over a real connection: a stream that breaks, counts that are no counts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::cli::support::Project;

const RUN: [&str; 4] = ["run", "Write the abstract", "--criterion", "at most 150 words"];

/// A server that answers the nth request with what `answer` says of n; a stream without an end is cut there.
struct Odd {
    url: String,
    asked: Arc<AtomicUsize>,
}

impl Odd {
    fn serve(answer: impl Fn(usize) -> String + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { return };
                if read_request(&stream).is_some() {
                    respond(&stream, &answer(count.fetch_add(1, Ordering::SeqCst)));
                }
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

fn read_request(stream: &TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    while reader.read_line(&mut line).ok()? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        line.clear();
    }
    reader.take(length).read_to_end(&mut Vec::new()).ok()?;
    (length > 0).then_some(())
}

/// The body is promised to be longer than it is unless it has an end.
fn respond(mut stream: &TcpStream, body: &str) {
    let more = if body.ends_with("[DONE]\n\n") { 0 } else { 1000 };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ncontent-length:";
    let _ = write!(stream, "{head} {}\r\n\r\n{body}", body.len() + more);
}

fn chunk(text: &str) -> String {
    let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    format!("data: {delta}\n\n")
}

fn whole(text: &str, usage: &str) -> String {
    let end = r#"{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}"#;
    format!("{}data: {end}\n\ndata: {{\"choices\": [], \"usage\": {usage}}}\n\ndata: [DONE]\n\n", chunk(text))
}

fn project(writer: &Odd, judge: &Odd, more: &str) -> Project {
    let project = Project::bare();
    let agent = |name: &str, url: &str| {
        format!("[agents.{name}]\nkind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"m\"\n{more}")
    };
    project.own(&(agent("writer", &writer.url) + &agent("judge", &judge.url)));
    project.write("gadfly.toml", "[defaults]\nworker = \"writer\"\ncritic = \"judge\"\n");
    project
}

const USAGE: &str = r#"{"prompt_tokens": 9, "completion_tokens": 3}"#;

fn approves() -> Odd {
    Odd::serve(|_| whole("[STATUS: APPROVED]\nAt most 150 words.", USAGE))
}

#[test]
fn a_stream_that_breaks_after_its_first_bytes_is_asked_for_once_more() {
    let writer = Odd::serve(|n| if n == 0 { chunk("Half of") } else { whole("The abstract.", USAGE) });
    let judge = approves();
    let project = project(&writer, &judge, "");
    let said = project.gadfly(&RUN);
    assert_eq!((said.code, writer.asked(), judge.asked()), (0, 2, 1), "{}", said.err);
    assert_eq!(said.out.trim(), "The abstract.");
    assert!(said.err.contains("it is called once more"), "{}", said.err);
    let row: serde_json::Value = serde_json::from_str(&project.gadfly(&["runs", "--json"]).out).unwrap();
    assert_eq!((&row["calls"], &row["cost_unknown"]), (&3.into(), &true.into()), "{row}");
}

#[test]
fn one_that_breaks_again_and_again_is_asked_for_twice_and_no_more() {
    let (writer, judge) = (Odd::serve(|_| chunk("Half of")), approves());
    let project = project(&writer, &judge, "");
    let said = project.gadfly(&RUN);
    assert_eq!((said.code, writer.asked()), (1, 2), "{}", said.err);
    assert!(said.err.contains("broke off after 7 bytes"), "{}", said.err);
    assert_eq!(project.states(), ["failed"]);
    // A critic that cannot be heard has judged nothing.
    let (writer, judge) =
        (Odd::serve(|_| whole("The abstract.", USAGE)), Odd::serve(|_| chunk("[STATUS: APPROVED]")));
    let project = self::project(&writer, &judge, "");
    let said = project.gadfly(&RUN);
    assert_eq!((said.code, judge.asked()), (5, 2), "{}", said.err);
}

#[test]
fn once_more_must_be_affordable() {
    let (writer, judge) = (Odd::serve(|_| chunk("Half of")), approves());
    let project = project(&writer, &judge, "");
    let said = project.gadfly(&[&RUN[..], &["--calls", "1"]].concat());
    assert_eq!((said.code, writer.asked()), (6, 1), "{}", said.err);
}

#[test]
fn a_good_reply_is_not_thrown_away_for_what_its_server_counted() {
    // What cannot be a count is not stated, and estimated.
    for (usage, tokens) in [
        (r#"{"prompt_tokens": 12.0, "completion_tokens": "3"}"#, Some(15)),
        (
            r#"{"prompt_tokens": "12", "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": -1}}"#,
            Some(15),
        ),
        (r#"{"prompt_tokens": -1, "completion_tokens": 3}"#, None),
        (r#"{"prompt_tokens": 12.5, "completion_tokens": []}"#, None),
        (r#"{"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": 7}"#, Some(15)),
        ("\"none\"", None),
        ("null", None),
    ] {
        let writer = Odd::serve(move |_| whole("The abstract.", usage));
        let counted = r#"{"prompt_tokens": 1, "completion_tokens": 1}"#;
        let judge = Odd::serve(move |_| whole("[STATUS: APPROVED]\nAt most 150 words.", counted));
        let project = project(&writer, &judge, "");
        let said = project.gadfly(&RUN);
        assert_eq!((said.code, writer.asked()), (0, 1), "{usage}: {}", said.err);
        let row: serde_json::Value = serde_json::from_str(&project.gadfly(&["runs", "--json"]).out).unwrap();
        let found = row["tokens"].as_u64().unwrap_or_default();
        assert_eq!(row["cost_unknown"] == true, tokens.is_none(), "{usage}: {row}");
        assert!(tokens.map_or(found > 17, |stated| found == stated + 2), "{usage}: {row}");
    }
}
