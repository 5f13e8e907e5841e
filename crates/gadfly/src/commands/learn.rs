//! `gadfly learn`: what runs suggest to learn, and a person's word on it. Nothing is taken over by itself.

use std::path::PathBuf;

use gadfly_engine::pipeline::learning::Suggestion;
use gadfly_journal::Journal;
use gadfly_journal::pipeline::{Accepting, Decided, LearnError, PatternCounts, Promotion, Suggested};
use gadfly_project::layout::{self, Layout, ProjectFiles};
use gadfly_runtime::prepare::pipeline;
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::cli::LearnArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, safe};

const LONGEST: usize = 600;

pub fn learn(args: &LearnArgs, context: &Context) -> Code {
    say(args, context).map_or_else(|code| code, |()| exit::OK)
}

fn say(args: &LearnArgs, context: &Context) -> Result<(), Code> {
    let journal = context.journal()?;
    let all = journal.suggested().map_err(failed)?;
    let accept = meant(&args.accept, &all)?;
    let reject = meant(&args.reject, &all)?;
    if let Some(both) = accept.iter().find(|id| reject.contains(id)) {
        return Err(error::usage(&format!("`{both}` cannot be accepted and rejected")));
    }
    let decides = !accept.is_empty() || !reject.is_empty();
    if decides {
        decide(&journal, context, &all, &accept, &reject)?;
    }
    let promotions = if args.no_shared_state { Vec::new() } else { shared(context, &all) };
    if context.global.json {
        let all = journal.suggested().map_err(failed)?;
        return print::out(&as_json(&all, &promotions).to_string());
    }
    if !decides {
        for line in shown(&all, &promotions) {
            print::out(&line)?;
        }
    }
    Ok(())
}

/// The suggestions a person means by number or by the beginning of an id.
fn meant<'a>(typed: &[String], all: &'a [Suggested]) -> Result<Vec<&'a str>, Code> {
    let mut ids = Vec::new();
    for word in typed {
        let by_number = word.parse::<usize>().ok().and_then(|n| all.get(n.checked_sub(1)?));
        let by_id = || {
            let mut found = all.iter().filter(|s| word.len() >= 4 && s.id.starts_with(word.as_str()));
            found.next().filter(|_| found.next().is_none())
        };
        let Some(found) = by_number.or_else(by_id) else {
            let why = format!("there is no suggestion `{word}`: `gadfly learn` lists {} of them", all.len());
            return Err(error::usage(&why));
        };
        ids.push(found.id.as_str());
    }
    Ok(ids)
}

fn decide(
    journal: &Journal,
    context: &Context,
    all: &[Suggested],
    accept: &[&str],
    reject: &[&str],
) -> Result<(), Code> {
    let files = layout::read(&context.root.dir, &context.config);
    let (memory, skills) = (memory(&files), pipeline::skills(&files));
    let agent = |id: &str| all.iter().find(|s| s.id == id).map(|s| s.suggestion.agent.as_str());
    for id in accept {
        let skill = agent(id).and_then(|agent| skills.get(agent)).map(String::as_str);
        let line = journal.accept_suggestion(id, &Accepting { memory: &memory, skill }).map_err(failed)?;
        if !context.global.json {
            let path = memory.strip_prefix(&context.root.dir).unwrap_or(&memory).display().to_string();
            let skill = skill.map(|skill| format!(", and to the gotchas of /{skill}")).unwrap_or_default();
            print::out(&format!(
                "added to {path}{}: {}",
                safe::line(&skill, 100),
                safe::line(&line, LONGEST)
            ))?;
        }
    }
    for id in reject {
        journal.reject_suggestion(id).map_err(failed)?;
        if !context.global.json {
            print::out(&format!("rejected {id}"))?;
        }
    }
    Ok(())
}

/// Where the project keeps what it learned: its own file, else one of ours.
fn memory(files: &ProjectFiles) -> PathBuf {
    let own = files.root.join("MEMORY.md");
    if files.layout == Layout::Claude || own.is_file() { own } else { files.root.join(".gadfly/memory.md") }
}

/// Counts this project's patterns among those of the user's other projects. That it cannot be done costs nothing.
fn shared(context: &Context, all: &[Suggested]) -> Vec<Promotion> {
    let Some(state) = &context.user.state else { return Vec::new() };
    let patterns = PatternCounts::new(state);
    let suggestions: Vec<Suggestion> = all.iter().map(|s| s.suggestion.clone()).collect();
    if let Err(error) = patterns.count(&context.root.dir.display().to_string(), &suggestions) {
        error::warn(&format!("what your projects have in common cannot be counted: {error}"));
    }
    patterns.promotions()
}

const fn state(decided: Option<Decided>) -> &'static str {
    match decided {
        None => "open",
        Some(Decided::Accepted) => "accepted",
        Some(Decided::Rejected) => "rejected",
    }
}

fn shown(all: &[Suggested], promotions: &[Promotion]) -> Vec<String> {
    let mut lines = Vec::new();
    if all.is_empty() {
        lines.push("no run here suggests anything to learn".to_owned());
    }
    for (n, suggested) in all.iter().enumerate() {
        let Suggestion { tag, text, action, .. } = &suggested.suggestion;
        let text = safe::line(&format!("[{}] {text} --- {action}", tag.name()), LONGEST);
        let is = format!("{:<8}", state(suggested.decided));
        let is = if suggested.decided.is_none() { is.yellow().to_string() } else { is.dimmed().to_string() };
        lines.push(format!("{:>3}  {is}  {text}  {}", n + 1, suggested.run.dimmed()));
    }
    if all.iter().any(|suggested| suggested.decided.is_none()) {
        lines.push("to decide: gadfly learn --accept N … or --reject N …".to_owned());
    }
    if !promotions.is_empty() {
        lines.push("Seen in several of your projects: worth a rule or a template".bold().to_string());
        lines.extend(promotions.iter().map(|promotion| {
            format!("  {} projects: {}", promotion.projects, safe::line(&promotion.pattern, LONGEST))
        }));
    }
    lines
}

fn as_json(all: &[Suggested], promotions: &[Promotion]) -> serde_json::Value {
    let suggested: Vec<_> = all
        .iter()
        .enumerate()
        .map(|(n, s)| {
            json!({ "number": n + 1, "id": s.id, "run": s.run.to_string(), "at_ms": s.at_ms, "is": state(s.decided), "suggestion": s.suggestion })
        })
        .collect();
    let promotions: Vec<_> =
        promotions.iter().map(|p| json!({ "pattern": p.pattern, "projects": p.projects })).collect();
    json!({ "suggested": suggested, "promotions": promotions })
}

fn failed(error: LearnError) -> Code {
    match error {
        LearnError::Read(_) | LearnError::Write(_) => error::fault(&error.to_string()),
        other => error::usage(&other.to_string()),
    }
}
