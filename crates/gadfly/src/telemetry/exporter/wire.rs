//! Spans as the wire has them, and the request that carries them: OTLP over HTTP, protobuf.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Array, InstrumentationScope, KeyValue, StringValue, Value as OtelValue};
use opentelemetry_otlp::{Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanExporter as _, SpanLinks};
use tokio::runtime::{Builder, Runtime};

use super::super::client::{OtlpClient, TIMEOUT, Trouble};
use super::super::conventions as names;
use super::super::destination::Destination;
use super::super::span::{AttributeValue, Attributes, Span};

pub struct OtlpWire {
    runtime: Runtime,
    exporter: SpanExporter,
    scope: InstrumentationScope,
}

impl OtlpWire {
    pub fn new(destination: &Destination, trouble: Trouble) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
        let client = OtlpClient::new(destination, trouble).map_err(|e| e.to_string())?;
        let built = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(&destination.url)
            .with_headers(destination.headers.clone())
            .with_protocol(Protocol::HttpBinary)
            .with_timeout(TIMEOUT)
            .with_retry_policy(RetryPolicy::disabled())
            .build();
        let mut exporter = built.map_err(|e| e.to_string())?;
        let version = env!("CARGO_PKG_VERSION");
        let resource = Resource::builder()
            .with_service_name(destination.service.clone())
            .with_attribute(KeyValue::new("service.version", version))
            .build();
        exporter.set_resource(&resource);
        let scope = InstrumentationScope::builder("gadfly")
            .with_version(version)
            .with_attributes([KeyValue::new(names::FOLLOWS.as_str(), names::CONVENTIONS)])
            .build();
        Ok(Self { runtime, exporter, scope })
    }

    /// Whether the collector took them, in the time there is.
    pub fn send(&self, spans: &[Span], left: Option<Duration>) -> bool {
        let batch = spans.iter().map(|span| self.data(span)).collect();
        let time = left.map_or(TIMEOUT, |left| left.min(TIMEOUT));
        let sending = async { tokio::time::timeout(time, self.exporter.export(batch)).await };
        matches!(self.runtime.block_on(sending), Ok(Ok(())))
    }

    fn data(&self, span: &Span) -> SpanData {
        let context = |id| {
            let (trace, id) = (TraceId::from_bytes(span.trace.0), SpanId::from_bytes(id));
            SpanContext::new(trace, id, TraceFlags::SAMPLED, false, TraceState::NONE)
        };
        let mut events = SpanEvents::default();
        events.events = span
            .moments
            .iter()
            .map(|one| Event::new(one.name.as_str(), time(one.at.ms), attributes(&one.attributes), 0))
            .collect();
        events.dropped_count = span.dropped;
        let mut links = SpanLinks::default();
        links.links = span.judges.iter().map(|id| Link::with_context(context(id.0))).collect();
        SpanData {
            span_context: context(span.id.0),
            parent_span_id: span.parent.map_or(SpanId::INVALID, |id| SpanId::from_bytes(id.0)),
            parent_span_is_remote: false,
            span_kind: if span.client { SpanKind::Client } else { SpanKind::Internal },
            name: Cow::Owned(span.name.clone()),
            start_time: time(span.start_ms),
            end_time: time(span.end_ms),
            attributes: attributes(&span.attributes),
            dropped_attributes_count: 0,
            events,
            links,
            status: match &span.failed {
                Some(why) => Status::error(why.clone()),
                None => Status::Unset,
            },
            instrumentation_scope: self.scope.clone(),
        }
    }
}

fn time(ms: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(SystemTime::UNIX_EPOCH)
}

fn attributes(all: &Attributes) -> Vec<KeyValue> {
    let one = |value: &AttributeValue| match value {
        AttributeValue::Text(text) => OtelValue::String(text.clone().into()),
        AttributeValue::Texts(texts) => {
            OtelValue::Array(Array::String(texts.iter().cloned().map(StringValue::from).collect()))
        }
        AttributeValue::Whole(n) => OtelValue::I64(*n),
        AttributeValue::Number(n) => OtelValue::F64(*n),
        AttributeValue::Flag(is) => OtelValue::Bool(*is),
    };
    all.iter().map(|(name, value)| KeyValue::new(name.as_str(), one(value))).collect()
}
