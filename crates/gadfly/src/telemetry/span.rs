//! A span as plain data: what is exported, drawn and printed as JSON. Everything in it is bounded and free of control
//! characters. Which spans there are is the fold's business.

use std::fmt::Write as _;

use gadfly_engine::Digest;
use gadfly_journal::RunId;
use serde_json::{Value as Json, json};

use super::conventions::{AttributeShape, EventName, Name, Operation};
use crate::output::safe;

/// The longest name, model, label or id, in characters.
const LONGEST_NAME: usize = 160;
/// The most of a text that is content, in bytes.
pub const LONGEST_CONTENT: usize = 16 * 1024;
/// The most events of one span. What is left out is counted.
const MOST_EVENTS: usize = 128;
const MOST_TEXTS: usize = 32;

/// One trace per run, the same for everyone who tells of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TraceId(pub [u8; 16]);

#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SpanId(pub [u8; 8]);

impl TraceId {
    pub fn of(run: &RunId) -> Self {
        let digest = Digest::of(format!("trace {run}").as_bytes());
        Self(digest.as_bytes().first_chunk::<16>().copied().unwrap_or([1; 16]))
    }

    pub fn hex(self) -> String {
        hex(&self.0)
    }
}

impl SpanId {
    /// The span of one thing of a run: whoever names the same thing gets the same id.
    pub fn of(run: &RunId, kind: &str, thing: &str) -> Self {
        let digest = Digest::of(format!("span {run} {kind} {thing}").as_bytes());
        Self(digest.as_bytes().first_chunk::<8>().copied().unwrap_or([1; 8]))
    }

    pub fn hex(self) -> String {
        hex(&self.0)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[derive(Clone, PartialEq, Debug)]
pub enum AttributeValue {
    Text(String),
    Texts(Vec<String>),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

/// Attributes of a span or an event, each bounded as its name says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Attributes(Vec<(Name, AttributeValue)>);

impl Attributes {
    /// A text. Content is only taken from those who may give it: see [`super::fold::ContentPolicy`].
    pub fn text(&mut self, name: Name, text: &str) {
        let text = match name.shape() {
            AttributeShape::Content => content(text),
            _ => safe::line(text, LONGEST_NAME),
        };
        self.put(name, AttributeValue::Text(text));
    }

    /// Content that is JSON. Whoever makes it cuts the texts in it: cut itself, it would be JSON no more.
    pub fn json(&mut self, name: Name, value: &Json) {
        let text = value.to_string();
        let text = if text.len() <= LONGEST_CONTENT {
            text
        } else {
            json!(format!("… ({} bytes are left out)", text.len())).to_string()
        };
        self.put(name, AttributeValue::Text(text));
    }

    pub fn texts<'t>(&mut self, name: Name, texts: impl IntoIterator<Item = &'t str>) {
        let texts = texts.into_iter().take(MOST_TEXTS).map(|text| safe::line(text, LONGEST_NAME)).collect();
        self.put(name, AttributeValue::Texts(texts));
    }

    pub fn whole(&mut self, name: Name, n: u64) {
        self.put(name, AttributeValue::Whole(i64::try_from(n).unwrap_or(i64::MAX)));
    }

    pub fn number(&mut self, name: Name, n: f64) {
        self.put(name, AttributeValue::Number(n));
    }

    pub fn flag(&mut self, name: Name, is: bool) {
        self.put(name, AttributeValue::Flag(is));
    }

    /// The last word counts.
    fn put(&mut self, name: Name, value: AttributeValue) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.0.push((name, value)),
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (Name, &AttributeValue)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    pub fn get(&self, name: Name) -> Option<&AttributeValue> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub fn said(&self, name: Name) -> Option<&str> {
        match self.get(name)? {
            AttributeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn counted(&self, name: Name) -> Option<u64> {
        match self.get(name)? {
            AttributeValue::Whole(n) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    pub fn measured(&self, name: Name) -> Option<f64> {
        match self.get(name)? {
            AttributeValue::Number(n) => Some(*n),
            _ => None,
        }
    }

    fn as_json(&self) -> Json {
        let field = |(name, value): (Name, &AttributeValue)| {
            let value = match value {
                AttributeValue::Text(text) => json!(text),
                AttributeValue::Texts(texts) => json!(texts),
                AttributeValue::Whole(n) => json!(n),
                AttributeValue::Number(n) => json!(n),
                AttributeValue::Flag(is) => json!(is),
            };
            (name.as_str().to_owned(), value)
        };
        Json::Object(self.iter().map(field).collect())
    }
}

/// A text of somebody's, cut where it is too long, with what acts on a reader made visible.
fn content(text: &str) -> String {
    let mut end = text.len().min(LONGEST_CONTENT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut kept = safe::block(&text[..end]);
    if end < text.len() {
        let _ = write!(kept, "… ({} bytes more)", text.len() - end);
    }
    kept
}

/// When something happened, and with which record it became known: milliseconds alone give no order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordTime {
    pub ms: u64,
    pub seq: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Moment {
    pub name: EventName,
    pub at: RecordTime,
    pub attributes: Attributes,
}

/// Between which records something took place: for whoever puts spans into an order that milliseconds do not give.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Seqs {
    pub begin: u32,
    pub end: u32,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Span {
    pub trace: TraceId,
    pub id: SpanId,
    pub parent: Option<SpanId>,
    pub operation: Operation,
    /// The operation, and what it was done to or by.
    pub name: String,
    /// It is a request to somebody else.
    pub client: bool,
    pub start_ms: u64,
    pub end_ms: u64,
    pub seqs: Seqs,
    pub attributes: Attributes,
    pub moments: Vec<Moment>,
    /// Events that were left out.
    pub dropped: u32,
    /// The span that this one is a judgement of.
    pub judges: Option<SpanId>,
    /// Why it failed: a short word.
    pub failed: Option<String>,
}

impl Span {
    pub fn new(run: &RunId, id: SpanId, operation: Operation, object: Option<&str>) -> Self {
        let name = match object {
            Some(object) => format!("{} {}", operation.as_str(), safe::line(object, LONGEST_NAME)),
            None => operation.as_str().to_owned(),
        };
        let mut attributes = Attributes::default();
        attributes.text(super::conventions::RUN, run.as_str());
        Self {
            trace: TraceId::of(run),
            id,
            parent: None,
            operation,
            name,
            client: false,
            start_ms: 0,
            end_ms: 0,
            seqs: Seqs::default(),
            attributes,
            moments: Vec::new(),
            dropped: 0,
            judges: None,
            failed: None,
        }
    }

    pub fn happened(&mut self, name: EventName, at: RecordTime, attributes: Attributes) {
        if self.moments.len() < MOST_EVENTS {
            self.moments.push(Moment { name, at, attributes });
        } else {
            self.dropped = self.dropped.saturating_add(1);
        }
    }

    pub fn fail(&mut self, why: &str) {
        let why = safe::line(why, LONGEST_NAME);
        self.attributes.text(super::conventions::ERROR_TYPE, &why);
        self.failed = Some(why);
    }

    /// One line of JSON: what a collector would be told.
    pub fn json(&self) -> Json {
        let moments = self.moments.iter().map(|moment| {
            json!({
                "name": moment.name.as_str(), "time_ms": moment.at.ms, "attributes": moment.attributes.as_json(),
            })
        });
        json!({
            "trace_id": self.trace.hex(),
            "span_id": self.id.hex(),
            "parent_span_id": self.parent.map(SpanId::hex),
            "name": self.name,
            "kind": if self.client { "client" } else { "internal" },
            "start_ms": self.start_ms,
            "end_ms": self.end_ms,
            "attributes": self.attributes.as_json(),
            "events": moments.collect::<Vec<_>>(),
            "links": self.judges.map(SpanId::hex).into_iter().collect::<Vec<_>>(),
            "error": self.failed,
        })
    }
}
