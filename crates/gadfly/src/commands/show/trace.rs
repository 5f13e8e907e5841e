//! `gadfly show --trace`: who was called when, with what result, as a diagram and tables; or the spans of the run as a
//! collector would be told of them. A run of any length is shown within bounds, and what is left out is said.

mod graph;
mod kept;
mod sequence;
mod tables;

use std::fmt::Write as _;

use gadfly_journal::summary::{INTERRUPTED, RUNNING};
use gadfly_journal::{Journal, RunId, RunView, Summary};

use super::fault;
use crate::cli::TraceFormat;
use crate::exit::Code;
use crate::output::{next_command, print};
use crate::telemetry::conventions as names;
use crate::telemetry::fold::{ContentPolicy, LOST, TraceFold};
use crate::telemetry::span::Span;
use kept::FirstAndLast;

/// Of long runs, this many spans from the beginning and from the end are shown.
const HALF: usize = 250;

/// What of a run's spans is drawn.
struct Drawn {
    spans: FirstAndLast<Span>,
    under_way: Vec<Span>,
    /// Nobody drives the run: what has no end yet may never get one.
    is_interrupted: bool,
}

pub fn print(journal: &Journal, run: &RunId, format: TraceFormat, json: bool) -> Result<(), Code> {
    let summary = journal.summary(run).map_err(fault)?;
    if json {
        return lines(journal, &summary);
    }
    let drawn = drawn(journal, &summary)?;
    let is_pipeline = summary.protocol == gadfly_journal::pipeline::PROTOCOL;
    let view = is_pipeline.then(|| journal.history(run)).transpose().map_err(fault)?;
    let source = match view.as_ref().and_then(RunView::project) {
        Some(project) => graph::source(project, &drawn),
        None => sequence::source(&drawn),
    };
    match format {
        TraceFormat::Mermaid => print::out(source.trim_end()),
        TraceFormat::Markdown => print::out(markdown(&summary, &drawn, &source).trim_end()),
    }
}

/// The spans, one in a line, each as soon as it has its end.
fn lines(journal: &Journal, summary: &Summary) -> Result<(), Code> {
    let mut fold = TraceFold::new(summary.run.clone());
    let mut out = Vec::new();
    for record in journal.replay(&summary.run) {
        fold.take(&record.map_err(fault)?, ContentPolicy::Nothing, &mut out);
        out.drain(..).try_for_each(|span| print::out(&span.json().to_string()))?;
    }
    end(&mut fold, summary, ContentPolicy::Nothing, &mut out);
    out.iter().try_for_each(|span| print::out(&span.json().to_string()))
}

/// A run that is at work just now has not come to an end, and was not interrupted.
fn end(fold: &mut TraceFold, summary: &Summary, content: ContentPolicy<'_>, out: &mut Vec<Span>) {
    if summary.state == RUNNING && !fold.is_settled() {
        fold.look(out);
    } else {
        fold.finish(content, out);
    }
}

fn drawn(journal: &Journal, summary: &Summary) -> Result<Drawn, Code> {
    let mut fold = TraceFold::new(summary.run.clone());
    let mut spans = FirstAndLast::new(HALF);
    let mut out = Vec::new();
    for record in journal.replay(&summary.run) {
        fold.take(&record.map_err(fault)?, ContentPolicy::Words, &mut out);
        spans.extend(out.drain(..));
    }
    end(&mut fold, summary, ContentPolicy::Words, &mut out);
    spans.extend(out);
    let under_way = fold.under_way().take(HALF).cloned().collect();
    Ok(Drawn { spans, under_way, is_interrupted: summary.state == INTERRUPTED })
}

fn markdown(summary: &Summary, drawn: &Drawn, source: &str) -> String {
    let run = &summary.run;
    let mut out = format!("# Trace of run {run}\n\n{}\n\n", tables::cell(&summary.title, 200));
    out.push_str(&tables::heading(summary));
    out.push_str("\n```mermaid\n");
    out.push_str(source);
    out.push_str("```\n\n");
    out.push_str(&tables::calls(drawn));
    out.push_str(&tables::verdicts(drawn));
    if drawn.spans.omitted() > 0 {
        let all = next_command::command(&format!("show {run} --trace --json"));
        let _ = writeln!(
            out,
            "{} spans from the middle of this run are left out here. All of them: `{}`",
            drawn.spans.omitted(),
            all.replace('`', "'")
        );
    }
    out
}

/// Whether somebody was called, and not merely sent out.
fn is_call(span: &Span) -> bool {
    span.attributes.get(names::ROLE).is_some()
}

/// `4ms`, `2.4s`, `3m 05s`. How long it took what never came to an end, nobody knows.
fn took(span: &Span) -> String {
    if span.failed.as_deref() == Some(LOST) {
        return "—".to_owned();
    }
    match span.end_ms.saturating_sub(span.start_ms) {
        ms @ 0..1000 => format!("{ms}ms"),
        ms @ 1000..10_000 => format!("{}.{}s", ms / 1000, ms % 1000 / 100),
        ms => gadfly_journal::pipeline::text::duration(ms),
    }
}

#[cfg(test)]
mod tests;
