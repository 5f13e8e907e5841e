//! `gadfly show`: one run, readable at a glance; or its records, drafts, differences, log.

mod log;

use gadfly_engine::review::Verdict;
use gadfly_engine::turn::Role;
use gadfly_journal::state::RoundState;
use gadfly_journal::{Journal, MailKind, ReadError, RunId, RunState};
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::cli::Show;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::ending::{self, DraftIs};
use crate::output::table::{counted, moment, size, state as coloured};
use crate::output::{again, brief, diff, error, print, safe};
use crate::session::print_draft;

pub fn show(args: &Show, context: &Context) -> Code {
    match go(args, context) {
        Ok(()) => exit::OK,
        Err(code) => code,
    }
}

fn go(args: &Show, context: &Context) -> Result<(), Code> {
    let journal = context.journal()?;
    let run = find(&journal, &args.name.run)?;
    if args.log {
        return log::print(&journal, &run, context.global.json);
    }
    if args.critic_log {
        let log = journal.critic_log(&run).map_err(fault)?;
        if context.global.json {
            return print::out(&json!({ "run": run, "critic_log": log.file() }).to_string());
        }
        return print::out(safe::block(&log.file()).trim_end());
    }
    let state = journal.state(&run).map_err(fault)?;
    if args.draft {
        let Some(draft) = state.summary.last_draft else {
            return Err(error::usage(&format!("run `{run}` has no draft yet")));
        };
        let text = text(&journal, &draft)?;
        if context.global.json {
            return print::out(&json!({ "run": run, "draft": text }).to_string());
        }
        return print_draft(&text);
    }
    if args.diff {
        return diffs(&journal, &state, context.global.json);
    }
    if context.global.json {
        let line = serde_json::to_string(&state).map_err(|e| error::fault(&e.to_string()))?;
        return print::out(&line);
    }
    glance(&journal, &state)
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn fault(e: ReadError) -> Code {
    error::fault(&e.to_string())
}

fn text(journal: &Journal, digest: &gadfly_engine::Digest) -> Result<String, Code> {
    let found = journal.text(digest).map_err(fault)?;
    found.map(|t| t.to_string()).ok_or_else(|| error::fault(&format!("text {} is missing", digest.short())))
}

fn glance(journal: &Journal, state: &RunState) -> Result<(), Code> {
    let s = &state.summary;
    print::out(&format!("{}  {}", s.run.bold(), safe::line(&s.title, 200)))?;
    let who = |role: &str, name: Option<&String>, model: Option<&String>| {
        let name = name.map_or("nobody yet", String::as_str);
        let model = model.map(|m| format!(" ({})", safe::line(m, 60))).unwrap_or_default();
        format!("{role} {}{model}", safe::line(name, 60))
    };
    let worker = who("worker", s.worker.as_ref(), s.worker_model.as_ref());
    let critic = who("critic", s.critic.as_ref(), s.critic_model.as_ref());
    print::out(&format!("{}, {}, {worker}, {critic}", coloured(&s.state), s.protocol))?;
    print::out(&format!("begun {}, last change {}", moment(s.created_ms), moment(s.updated_ms)))?;
    for round in &state.rounds {
        self::round(round, s.rounds_max)?;
    }
    for warning in &state.warnings {
        print::out(&format!("{} {}", "warning:".yellow(), safe::line(warning, 600)))?;
    }
    if let Some(effect) = &s.waiting_for {
        question(journal, &s.run, effect)?;
    }
    if s.state != "running" {
        for line in ending::block(state, state.outcome.as_ref(), DraftIs::InJournal) {
            print::out(&line)?;
        }
    }
    Ok(())
}

fn round(round: &RoundState, of: u32) -> Result<(), Code> {
    let verdict = match (round.verdict, round.overruled) {
        (_, true) => "rejected, overruled".green().to_string(),
        (Some(Verdict::Approved), _) => "approved".green().to_string(),
        (Some(Verdict::Rejected), _) => {
            format!("{}, {}", "rejected".red(), counted(round.open.len(), "open item"))
        }
        (None, _) => "not judged".yellow().to_string(),
    };
    let draft =
        round.draft.map_or_else(|| "no draft".to_owned(), |_| format!("draft of {}", size(round.bytes)));
    print::out(&format!("\nround {} of {of}: {draft}, {verdict}", round.round))?;
    for item in &round.open {
        let since =
            if item.since < round.round { format!(" (since round {})", item.since) } else { String::new() };
        print::out(&format!("  {}. {}{since}", item.number, safe::line(&item.text, 600)))?;
    }
    for stall in &round.stalls {
        print::out(&format!("  hint: {stall}"))?;
    }
    if !round.addressed.is_empty() {
        let numbers: Vec<String> = round.addressed.iter().map(ToString::to_string).collect();
        print::out(&format!("  addressed: {}", numbers.join(", ")))?;
    }
    for note in &round.notes {
        print::out(&format!("  note: {}", safe::line(note, 600)))?;
    }
    if !round.changed_unasked.is_empty() {
        let named: Vec<String> = round.changed_unasked.iter().map(|s| safe::line(s, 80)).collect();
        print::out(&format!("  hint: changed without being asked: {}", named.join(", ")))?;
    }
    Ok(())
}

fn question(journal: &Journal, run: &RunId, effect: &gadfly_engine::EffectId) -> Result<(), Code> {
    let Some((turn, brief)) = brief::question(journal, run, effect).map_err(fault)? else { return Ok(()) };
    print::out(&format!("\n{} is asked as {}:", safe::line(&turn.agent, 60), turn.role.name()))?;
    safe::block(&brief).trim_end().lines().try_for_each(|line| print::out(&format!("  │ {line}")))?;
    if turn.role == Role::Critic {
        print::out("a verdict begins with [STATUS: APPROVED] or [STATUS: REJECTED]")?;
    }
    let mail = journal.mail(run).map_err(fault)?;
    if mail.iter().any(|(_, m)| matches!(&m.what, MailKind::Answer { effect: to, .. } if to == effect)) {
        print::out(&format!(
            "an answer is given and not read yet: {}",
            again::command(&format!("resume {run}"))
        ))?;
    }
    Ok(())
}

fn diffs(journal: &Journal, state: &RunState, json: bool) -> Result<(), Code> {
    let drafts: Vec<_> = state.rounds.iter().filter_map(|r| Some((r.round, r.draft?))).collect();
    if drafts.len() < 2 {
        print::err("there are no two drafts to compare");
        return Ok(());
    }
    for pair in drafts.windows(2) {
        let [(a, old), (b, new)] = pair else { continue };
        let (old, new) = (text(journal, old)?, text(journal, new)?);
        let names = (format!("draft of round {a}"), format!("draft of round {b}"));
        if json {
            let run = &state.summary.run;
            print::out(&json!({ "run": run, "from": a, "to": b, "old": old, "new": new }).to_string())?;
            continue;
        }
        if old == new {
            print::out(&format!("the draft of round {b} is that of round {a}, unchanged"))?;
            continue;
        }
        for line in diff::unified(&old, &new, &names.0, &names.1) {
            print::out(&line)?;
        }
    }
    Ok(())
}
