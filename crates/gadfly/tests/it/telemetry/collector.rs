//! A collector: it listens on this machine, reads OTLP over HTTP, and may behave badly.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use prost::Message as _;
use serde_json::{Value, json};

use crate::telemetry::desk::Desk;

/// How it treats who sends to it.
#[derive(Clone, Debug)]
pub enum Manner {
    Good,
    /// This status line, these headers, this body.
    Answers(String),
    /// It takes the request and says nothing.
    Silent,
    /// It closes the connection at once.
    Closes,
}

/// One request, as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// A span, as a page would show it.
#[derive(Clone, Debug)]
pub struct Received {
    pub name: String,
    pub trace: Vec<u8>,
    pub id: Vec<u8>,
    pub parent: Vec<u8>,
    pub start: u64,
    pub end: u64,
    pub attributes: BTreeMap<String, Value>,
    pub events: Vec<(String, BTreeMap<String, Value>)>,
    pub error: Option<String>,
    pub service: String,
    /// A request to somebody else.
    pub client: bool,
    /// The spans it points to.
    pub links: Vec<Vec<u8>>,
}

pub struct Collector {
    addr: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Collector {
    pub fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (manner, kept) = (manner.clone(), Arc::clone(&kept));
                std::thread::spawn(move || serve(stream, &manner, &kept));
            }
        });
        Self { addr, requests }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Makes it the collector of everything done at this desk, as the user's own configuration has it.
    pub fn of(self, desk: &Desk, more: &str) -> Self {
        desk.configure(&format!("[telemetry]\nendpoint = \"{}\"\n{more}", self.url()));
        self
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Every span once: telling of one twice has to be the same.
    pub fn spans(&self) -> Vec<Received> {
        let mut spans: Vec<Received> = Vec::new();
        for request in self.requests() {
            for span in read(&request.body) {
                match spans.iter().find(|known| known.id == span.id) {
                    Some(known) => assert_eq!(format!("{known:?}"), format!("{span:?}")),
                    None => spans.push(span),
                }
            }
        }
        spans
    }

    pub fn text(&self) -> String {
        self.requests().iter().map(|one| String::from_utf8_lossy(&one.body).into_owned()).collect()
    }
}

/// The one span of this name.
pub fn only<'s>(spans: &'s [Received], name: &str) -> &'s Received {
    let found: Vec<&Received> = spans.iter().filter(|span| span.name == name).collect();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(found.len(), 1, "{name} among {names:?}");
    found[0]
}

impl Received {
    /// Its verdicts: what was judged, and how.
    pub fn verdicts(&self) -> Vec<(String, String)> {
        let said = |of: &BTreeMap<String, Value>, name: &str| of[name].as_str().unwrap().to_owned();
        let results = self.events.iter().filter(|(name, _)| name == "gen_ai.evaluation.result");
        let pair = |(_, of): &(String, BTreeMap<String, Value>)| {
            (said(of, "gen_ai.evaluation.name"), said(of, "gen_ai.evaluation.score.label"))
        };
        results.map(pair).collect()
    }
}

fn serve(stream: TcpStream, manner: &Manner, kept: &Mutex<Vec<Request>>) {
    if matches!(manner, Manner::Closes) {
        return;
    }
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    if reader.read_line(&mut line).is_err() || line.is_empty() {
        return;
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
    }
    let length: usize = headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    kept.lock().unwrap().push(Request { path, headers, body });
    let mut stream = stream;
    match manner {
        Manner::Good => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
        Manner::Answers(answer) => {
            let _ = stream.write_all(answer.as_bytes());
        }
        // Until the other side gives up.
        Manner::Silent => drop(reader.read_to_end(&mut Vec::new())),
        Manner::Closes => {}
    }
}

fn read(body: &[u8]) -> Vec<Received> {
    let request = ExportTraceServiceRequest::decode(body).expect("a request of OTLP");
    let mut spans = Vec::new();
    for resource in request.resource_spans {
        let of = attributes(&resource.resource.unwrap().attributes);
        let service = of["service.name"].as_str().unwrap().to_owned();
        for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            let status = span.status.unwrap_or_default();
            spans.push(Received {
                client: span.kind == 3,
                links: span.links.into_iter().map(|link| link.span_id).collect(),
                name: span.name,
                trace: span.trace_id,
                id: span.span_id,
                parent: span.parent_span_id,
                start: span.start_time_unix_nano,
                end: span.end_time_unix_nano,
                attributes: attributes(&span.attributes),
                events: span.events.into_iter().map(|e| (e.name, attributes(&e.attributes))).collect(),
                error: (status.code == 2).then_some(status.message),
                service: service.clone(),
            });
        }
    }
    spans
}

fn attributes(all: &[KeyValue]) -> BTreeMap<String, Value> {
    all.iter().map(|one| (one.key.clone(), value(one.value.as_ref()))).collect()
}

fn value(any: Option<&AnyValue>) -> Value {
    match any.and_then(|any| any.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => json!(text),
        Some(any_value::Value::BoolValue(is)) => json!(is),
        Some(any_value::Value::IntValue(n)) => json!(n),
        Some(any_value::Value::DoubleValue(n)) => json!(n),
        Some(any_value::Value::ArrayValue(all)) => {
            Value::Array(all.values.iter().map(|one| value(Some(one))).collect())
        }
        _ => Value::Null,
    }
}
