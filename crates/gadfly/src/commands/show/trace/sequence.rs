//! A run as a sequence diagram in Mermaid: who is asked what, and what comes back. Whatever models, files or people
//! named is written so that it stays a word: nothing in it can end a line, a statement or a block.

use std::fmt::Write as _;

use super::kept::FirstAndLast;
use super::{Drawn, is_call, took};
use crate::output::safe;
use crate::telemetry::conventions as names;
use crate::telemetry::span::Span;

/// Messages shown from the beginning and from the end: renderers refuse what is much longer.
const HALF: usize = 90;
/// Agents with a line of their own; the calls of others are told on one line for all of them.
const MOST_AGENTS: usize = 12;
const LONGEST_NAME: usize = 40;
const LONGEST_WORDS: usize = 80;

/// Us, the tools, a person, and agents beyond those with a line of their own.
const GADFLY: &str = "g";
const TOOLS: &str = "t";
const PERSON: &str = "h";
const OTHERS: &str = "o";

/// What comes with one record has this order.
const REPLIES: u8 = 0;
const VERDICTS: u8 = 1;
const REQUESTS: u8 = 2;
const OUTCOME: u8 = 3;

struct SequenceMessage {
    /// The record it came with, and its place among what came with it.
    at: (u32, u8),
    line: String,
}

pub fn source(drawn: &Drawn) -> String {
    let spans: Vec<&Span> = drawn.spans.iter().chain(&drawn.under_way).collect();
    let agents = agents(&spans);
    let mut messages: Vec<SequenceMessage> = Vec::new();
    for span in drawn.spans.iter() {
        told(span, &agents, true, &mut messages);
    }
    for span in &drawn.under_way {
        told(span, &agents, false, &mut messages);
    }
    messages.sort_by_key(|message| message.at);
    let mut out = String::from("sequenceDiagram\n");
    let _ = writeln!(out, "    participant {GADFLY} as Gadfly");
    for (n, (name, role)) in agents.iter().take(MOST_AGENTS).enumerate() {
        let label = safe::line(name, LONGEST_NAME);
        let _ = writeln!(out, "    participant a{n} as {} - {}", word(&label), word(role));
    }
    let named = |who: &str| messages.iter().any(|m| m.line.contains(&format!(">{who}:")));
    for (who, label) in [(OTHERS, "other agents"), (TOOLS, "tools"), (PERSON, "a person")] {
        if named(who) {
            let _ = writeln!(out, "    participant {who} as {label}");
        }
    }
    let mut kept = FirstAndLast::new(HALF);
    kept.extend(messages);
    for message in kept.first() {
        let _ = writeln!(out, "    {}", message.line);
    }
    if kept.omitted() + drawn.spans.omitted() > 0 {
        let _ = writeln!(out, "    Note over {GADFLY}: what lies between is left out");
    }
    for message in kept.last() {
        let _ = writeln!(out, "    {}", message.line);
    }
    out
}

/// Who was called, in the order of the first call, with the role of it.
fn agents<'s>(spans: &[&'s Span]) -> Vec<(&'s str, &'s str)> {
    let mut calls: Vec<&&Span> = spans.iter().filter(|span| is_call(span)).collect();
    calls.sort_by_key(|span| span.seqs.begin);
    let mut agents: Vec<(&str, &str)> = Vec::new();
    for call in calls {
        let name = call.attributes.said(names::AGENT).unwrap_or_default();
        if agents.iter().all(|(known, _)| *known != name) {
            agents.push((name, call.attributes.said(names::ROLE).unwrap_or_default()));
        }
    }
    agents
}

fn told(span: &Span, agents: &[(&str, &str)], is_over: bool, out: &mut Vec<SequenceMessage>) {
    let began = (span.seqs.begin, REQUESTS);
    // What was lost or stopped at once has no record of its own for its end.
    let ended = if span.seqs.end > span.seqs.begin { (span.seqs.end, REPLIES) } else { began };
    let note = |text: &str| format!("Note over {GADFLY}: {}", word(text));
    let mut say = |at, line| out.push(SequenceMessage { at, line });
    let said = |name| span.attributes.said(name).unwrap_or_default();
    let back = |who: &str, what: &str| {
        let arrow = if span.failed.is_some() { "--x" } else { "-->>" };
        format!("{who}{arrow}{GADFLY}: {}", word(&safe::line(what, LONGEST_WORDS)))
    };
    if span.operation == names::INVOKE_WORKFLOW {
        if span.attributes.get(names::RESUMED) == Some(&crate::telemetry::span::AttributeValue::Flag(true)) {
            say((span.seqs.begin, REPLIES), note("resumed"));
        }
        let outcome = said(names::OUTCOME);
        for moment in &span.moments {
            let at = (moment.at.seq, VERDICTS);
            let of = |name| moment.attributes.said(name).unwrap_or_default();
            // Our own last word on the run is said below.
            let is_outcome = of(names::CRITIC).is_empty() && outcome.starts_with(of(names::LABEL));
            if moment.name == names::OVERRULED {
                say(at, note("rejection overruled"));
            } else if moment.name == names::EVALUATION_RESULT && !is_outcome {
                let text = format!("{} {}", of(names::EVALUATION), of(names::LABEL));
                say(at, note(&safe::line(&text, LONGEST_WORDS)));
            }
        }
        let end = match said(names::MESSAGE) {
            "" => outcome.to_owned(),
            why => safe::line(&format!("{outcome}: {why}"), LONGEST_WORDS),
        };
        if is_over {
            say((span.seqs.end, OUTCOME), note(&end));
        }
    } else if is_call(span) {
        let name = said(names::AGENT);
        let n = agents.iter().position(|(known, _)| *known == name).filter(|n| *n < MOST_AGENTS);
        let who = n.map_or_else(|| OTHERS.to_owned(), |n| format!("a{n}"));
        let round = span.attributes.counted(names::ROUND).map(|n| format!(", round {n}"));
        let asked = format!("{}{}", said(names::ROLE), round.unwrap_or_default());
        say(began, format!("{GADFLY}->>{who}: {}", word(&asked)));
        if is_over {
            say(ended, back(&who, &result(span)));
        }
    } else if span.operation == names::EXECUTE_TOOL {
        say(began, format!("{GADFLY}->>{TOOLS}: {}", word(&safe::line(said(names::TOOL), LONGEST_WORDS))));
        if is_over {
            say(ended, back(TOOLS, &result(span)));
        }
    } else if span.operation == names::ASK {
        say(began, format!("{GADFLY}->>{PERSON}: {}", word(&format!("question: {}", said(names::ABOUT)))));
        if is_over {
            say(ended, back(PERSON, &format!("answered after {}", took(span))));
        }
    } else if [names::VERIFY, names::ACCEPT, names::SAVE, names::COMMIT].contains(&span.operation) && is_over
    {
        say(ended, note(&format!("{} {}", span.operation.as_str(), result(span))));
    }
}

/// What came of it, in a few words: the verdict, why it failed, or how long it took.
pub(super) fn result(span: &Span) -> String {
    if let Some(why) = &span.failed {
        return why.clone();
    }
    let verdict = span.moments.iter().find(|one| one.name == names::EVALUATION_RESULT);
    let Some((one, label)) = verdict.and_then(|one| Some((one, one.attributes.said(names::LABEL)?))) else {
        return took(span);
    };
    let open = one.attributes.counted(names::OPEN).filter(|open| *open > 0);
    let open = open.map(|open| format!(", {open} open")).unwrap_or_default();
    let is_overruled = span.moments.iter().any(|one| one.name == names::OVERRULED);
    format!("{label}{open}{}", if is_overruled { ", overruled" } else { "" })
}

/// A text as Mermaid takes it for words: everything that could mean something to it is written by its number.
pub(super) fn word(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (n, part) in text.split(' ').enumerate() {
        if n > 0 {
            out.push(' ');
        }
        // It closes a block wherever it stands.
        let is_end = part.eq_ignore_ascii_case("end");
        for (at, c) in part.chars().enumerate() {
            if (c.is_alphanumeric() && !(is_end && at == 0)) || "-_./,".contains(c) {
                out.push(c);
            } else {
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    out
}
