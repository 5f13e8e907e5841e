//! The tables of a trace, in Markdown: calls and verdicts. What models, files and people wrote stays text in its cell.

use std::fmt::Write as _;

use gadfly_engine::Money;
use gadfly_journal::Summary;

use super::sequence::result;
use super::{Drawn, is_call, took};
use crate::output::safe;
use crate::output::table::{cost, counted, moment};
use crate::telemetry::conventions as names;
use crate::telemetry::span::{AttributeValue, Moment, Span};

const LONGEST: usize = 60;
const LONGEST_REASON: usize = 200;

/// A text as one cell, or one line: no part of it is Markdown.
pub fn cell(text: &str, most: usize) -> String {
    let line = safe::line(text, most);
    if line.is_empty() {
        return "—".to_owned();
    }
    let mut out = String::with_capacity(line.len());
    for c in line.chars() {
        // Letters, digits and what has no meaning inside a line stay as they are.
        if c.is_ascii_punctuation() && !"-.,:;/%$'\"?=@".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

pub fn heading(summary: &Summary) -> String {
    format!(
        "{}, {}{}. Begun {}, {}, {}{} tokens, {}.\n",
        cell(&summary.protocol, LONGEST),
        cell(&summary.state, LONGEST),
        if summary.overruled { " (overruled)" } else { "" },
        moment(summary.created_ms),
        counted(summary.calls as usize, "call"),
        if summary.cost_unknown { "≥ " } else { "" },
        summary.tokens,
        cost(summary.cost, summary.cost_unknown),
    )
}

pub fn calls(drawn: &Drawn) -> String {
    let all = drawn.spans.iter().map(|span| (span, true));
    let all = all.chain(drawn.under_way.iter().map(|span| (span, false)));
    let mut rows: Vec<(&Span, bool)> = all.filter(|(span, _)| is_told(span)).collect();
    rows.sort_by_key(|(span, _)| span.seqs.begin);
    let mut out = String::from("## Calls\n\n");
    if rows.is_empty() {
        out.push_str("None.\n\n");
        return out;
    }
    out.push_str(
        "| who | as | round | model | took | tokens | cost | result |\n|---|---|---|---|---|---|---|---|\n",
    );
    let without_end = if drawn.is_interrupted { "no answer" } else { "under way" };
    for (span, is_over) in &rows {
        let said = |name| span.attributes.said(name);
        let who = said(names::AGENT).or(said(names::TOOL)).or(said(names::ABOUT));
        let who = who.unwrap_or(span.operation.as_str());
        let role = said(names::ROLE).unwrap_or(span.operation.as_str());
        let model = said(names::RESPONSE_MODEL).or(said(names::REQUEST_MODEL)).unwrap_or_default();
        let number = |n: Option<u64>| n.map_or_else(|| "—".to_owned(), |n| n.to_string());
        let input = span.attributes.counted(names::INPUT_TOKENS);
        let output = span.attributes.counted(names::OUTPUT_TOKENS);
        let tokens = input.map(|input| input.saturating_add(output.unwrap_or_default()));
        let cost = span.attributes.measured(names::COST);
        let cost = cost.map_or_else(|| "—".to_owned(), |usd| Money::from_usd(usd).to_string());
        let result = if *is_over { ended(span) } else { without_end.to_owned() };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {cost} | {} |",
            cell(who, LONGEST),
            cell(role, LONGEST),
            number(span.attributes.counted(names::ROUND)),
            cell(model, LONGEST),
            if *is_over { took(span) } else { "—".to_owned() },
            number(tokens),
            cell(&result, LONGEST),
        );
    }
    if rows.iter().any(|(span, _)| span.attributes.get(names::USAGE_UNKNOWN).is_some()) {
        out.push_str(
            "\nWhere an amount is missing, nobody knows it: there was no answer, or there is no price. \
             The sums above are lower bounds.\n",
        );
    }
    out.push('\n');
    out
}

/// The verdict or the failure; else why the answer ended.
fn ended(span: &Span) -> String {
    let is_judged = span.moments.iter().any(|one| one.name == names::EVALUATION_RESULT);
    match span.attributes.get(names::FINISH_REASONS) {
        _ if is_judged || span.failed.is_some() => result(span),
        Some(AttributeValue::Texts(reasons)) => reasons.join(", "),
        _ => "done".to_owned(),
    }
}

/// Calls, tools, commands and questions; looks and the like are of no interest here.
fn is_told(span: &Span) -> bool {
    is_call(span)
        || [names::EXECUTE_TOOL, names::VERIFY, names::ASK, names::ACCEPT, names::COMMIT]
            .contains(&span.operation)
}

pub fn verdicts(drawn: &Drawn) -> String {
    let mut rows: Vec<(&Span, &Moment)> = Vec::new();
    for span in drawn.spans.iter().chain(&drawn.under_way) {
        let told = [names::EVALUATION_RESULT, names::OVERRULED];
        rows.extend(span.moments.iter().filter(|m| told.contains(&m.name)).map(|m| (span, m)));
    }
    rows.sort_by_key(|(_, moment)| moment.at.seq);
    let mut out = String::from("## Verdicts\n\n");
    if rows.is_empty() {
        out.push_str("None.\n\n");
        return out;
    }
    out.push_str("| round | by | on | verdict | score | open | why |\n|---|---|---|---|---|---|---|\n");
    for (span, moment) in rows {
        let said = |name| moment.attributes.said(name).unwrap_or_default();
        let number = |n: Option<u64>| n.map_or_else(|| "—".to_owned(), |n| n.to_string());
        let score = moment.attributes.measured(names::SCORE);
        let is_overruled = moment.name == names::OVERRULED;
        let is_ours = span.parent.is_none() || is_overruled;
        let itself = if is_ours { "Gadfly" } else { span.operation.as_str() };
        let by = moment.attributes.said(names::CRITIC).unwrap_or(itself);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            number(moment.attributes.counted(names::ROUND)),
            cell(by, LONGEST),
            cell(said(names::EVALUATION), LONGEST),
            if is_overruled { "overruled".to_owned() } else { cell(said(names::LABEL), LONGEST) },
            score.map_or_else(|| "—".to_owned(), |score| score.to_string()),
            number(moment.attributes.counted(names::OPEN)),
            cell(said(names::EXPLANATION), LONGEST_REASON),
        );
    }
    out.push('\n');
    out
}
