//! `gadfly show`: one run, readable at a glance; or its records, drafts, differences, log.

mod goal;
mod log;
mod pipeline;
mod powers;
mod rounds;
mod trace;
mod verify;

use gadfly_journal::view::PipelineView;
use gadfly_journal::{Journal, MailKind, ReadError, RunId, RunView, Window};
use gadfly_runtime::undo::undone_ms;
use owo_colors::OwoColorize as _;
use serde_json::json;

use crate::cli::Show;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::ending::{self, DraftIs};
use crate::output::table::{counted, moment, state as coloured};
use crate::output::{brief, diff, error, judged, next_command, print, safe};
use crate::session::print_draft;
use powers::Powers;

/// Records from which on a run is shown by its newest part.
const LONG: u32 = 1_000;
const SHOWN: Window = Window { rounds: 100, entries: 100, rounds_before: None, entries_before: None };

pub fn show(args: &Show, context: &Context) -> Code {
    match go(args, context) {
        Ok(()) => exit::OK,
        Err(code) => code,
    }
}

fn go(args: &Show, context: &Context) -> Result<(), Code> {
    let journal = context.journal()?;
    let run = find(&journal, &args.name.run)?;
    if args.verify {
        return verify::print(&run, context);
    }
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
    if let Some(format) = args.trace {
        return trace::print(&journal, &run, format, context.global.json);
    }
    let next = journal.next_seq(&run).map_err(fault)?;
    // Of a long run only what is shown is read, unless all of it is asked for.
    let is_long = next > LONG && !(args.diff || args.briefs || context.global.json);
    let state = if is_long { journal.page(&run, &SHOWN).map(|page| page.state) } else { journal.state(&run) };
    let state = state.map_err(fault)?;
    if args.draft {
        let Some(draft) = state.summary.last_draft else {
            return Err(error::usage(&format!("run `{run}` has no draft yet")));
        };
        let text = text(&journal, &draft)?;
        if context.global.json {
            return print::out(&json!({ "run": run, "draft": text }).to_string());
        }
        if state.summary.last_diff.is_some() {
            print::err(&format!(
                "the draft is a folder; these are its files. Its changes: {}",
                next_command::command(&format!("show {run} --diff"))
            ));
        }
        return print_draft(&text);
    }
    if args.briefs {
        return briefs(&state, context.global.json);
    }
    if args.diff {
        return diffs(&journal, &state, context.global.json);
    }
    let powers = powers(&journal, &run, if is_long { next - LONG } else { 0 })?;
    if context.global.json {
        let mut line = serde_json::to_value(&state).map_err(|e| error::fault(&e.to_string()))?;
        if let Some(fields) = line.as_object_mut().filter(|_| !powers.calls().is_empty()) {
            fields.insert("powers".to_owned(), json!(powers.calls()));
        }
        if let (Some(fields), Some(at_ms)) = (line.as_object_mut(), undone_ms(&journal, &state.summary)) {
            fields.insert("undone_ms".to_owned(), json!(at_ms));
        }
        return print::out(&line.to_string());
    }
    glance(&journal, &state, &powers, is_long)
}

/// What held the run's calls, from a record on.
fn powers(journal: &Journal, run: &RunId, from: u32) -> Result<Powers, Code> {
    let mut powers = Powers::default();
    for record in journal.replay_from(run, from) {
        powers.record(&record.map_err(fault)?);
    }
    Ok(powers)
}

#[allow(clippy::needless_pass_by_value)] // for `map_err`
fn fault(e: ReadError) -> Code {
    error::fault(&e.to_string())
}

fn text(journal: &Journal, digest: &gadfly_engine::Digest) -> Result<String, Code> {
    let found = journal.text(digest).map_err(fault)?;
    found.map(|t| t.to_string()).ok_or_else(|| error::fault(&format!("text {} is missing", digest.short())))
}

fn glance(journal: &Journal, state: &RunView, powers: &Powers, is_long: bool) -> Result<(), Code> {
    let s = &state.summary;
    print::out(&format!("{}  {}", s.run.bold(), safe::line(&s.title, 200)))?;
    let who = |role: &str, name: Option<&String>, model: Option<&String>| {
        let name = name.map_or("nobody yet", String::as_str);
        let model = model.map(|m| format!(" ({})", safe::line(m, 60))).unwrap_or_default();
        format!("{role} {}{model}", safe::line(name, 60))
    };
    // Nobody works in a review.
    let worker = s.worker.as_ref().map(|w| format!(", {}", who("worker", Some(w), s.worker_model.as_ref())));
    let worker = worker.unwrap_or_default();
    let critic = critics(state).unwrap_or_else(|| who("critic", s.critic.as_ref(), s.critic_model.as_ref()));
    let part = match &state.pipeline {
        Some(view) => format!(", {}", counted(view.agents.len(), "agent")),
        None => format!("{worker}, {critic}"),
    };
    let undone = if undone_ms(journal, s).is_some() { " (undone)" } else { "" };
    print::out(&format!("{}{undone}, {}{part}", coloured(&s.state), s.protocol))?;
    print::out(&format!("started {}, last change {}", moment(s.created_ms), moment(s.updated_ms)))?;
    // A text that cannot be read is missing from the story; `--log` says why.
    let text = |digest: &gadfly_engine::Digest| journal.text(digest).ok().flatten().map(|t| t.to_string());
    if let Some(pursued) = &state.goal {
        goal::lines(state, pursued, &text, is_long).iter().try_for_each(|line| print::out(line))?;
        rounds::afterwards(state, &text).iter().try_for_each(|line| print::out(line))?;
    } else if let Some(view) = &state.pipeline {
        pipeline::lines(state, view, &text).iter().try_for_each(|line| print::out(line))?;
        rounds::afterwards(state, &text).iter().try_for_each(|line| print::out(line))?;
    } else {
        rounds::lines(state, &text).iter().try_for_each(|line| print::out(line))?;
    }
    let held = powers.lines();
    if !held.is_empty() {
        print::out("")?;
        held.iter().try_for_each(|line| print::out(line))?;
    }
    if !state.reports.is_empty() {
        let home = journal.run_dir(&s.run);
        print::out(&format!("reports are in {}", safe::line(&home.to_string_lossy(), 400)))?;
    }
    let home = journal.work_dir(&s.run);
    if state.folder && !s.ended && !home.is_dir() {
        let gone = format!("its folder is gone, so it cannot go on: {}", home.display());
        print::out(&format!("{} {}", "warning:".yellow(), safe::line(&gone, 400)))?;
    }
    for warning in &state.warnings {
        print::out(&format!("{} {}", "warning:".yellow(), safe::line(warning, 600)))?;
    }
    if let Some(effect) = &s.waiting_for {
        match state.question(effect) {
            Some(asked) => {
                print::out("")?;
                judged::question(&asked.question).iter().try_for_each(|line| print::out(line))?;
                answer_given(journal, &s.run, effect)?;
                let folder = journal.work_dir(&s.run).join("tree").join("work");
                if state.folder && folder.is_dir() {
                    print::out(&format!("its files are in {}", safe::line(&folder.to_string_lossy(), 400)))?;
                }
            }
            None => question(journal, &s.run, effect)?,
        }
    }
    for asked in
        state.open_questions().filter(|asked| !s.ended && s.waiting_for.as_ref() != Some(&asked.effect))
    {
        print::out("")?;
        judged::question(&asked.question).iter().try_for_each(|line| print::out(line))?;
        let (run, effect) = (&s.run, &asked.effect);
        print::out(&format!(
            "  {}",
            next_command::command(&format!("answer {run} --effect {effect} \"…\""))
        ))?;
    }
    if s.state != "running" {
        let undone = undone_ms(journal, s);
        for line in ending::block(state, state.outcome.as_ref(), DraftIs::InJournal, undone) {
            print::out(&line)?;
        }
    }
    Ok(())
}

/// Every critic that was heard, where there are several.
fn critics(state: &RunView) -> Option<String> {
    let counts = state.critic_counts();
    let named = counts.iter().map(|count| {
        let model = state.models.get(&count.critic).map(|m| format!(" ({})", safe::line(m, 60)));
        format!("{}{}", safe::line(&count.critic, 60), model.unwrap_or_default())
    });
    (counts.len() > 1).then(|| format!("critics {}", named.collect::<Vec<_>>().join(", ")))
}

fn question(journal: &Journal, run: &RunId, effect: &gadfly_engine::EffectId) -> Result<(), Code> {
    let Some((turn, brief)) = brief::question(journal, run, effect).map_err(fault)? else { return Ok(()) };
    print::out(&format!("\n{} is asked as {}:", safe::line(&turn.agent, 60), turn.role.name()))?;
    safe::block(&brief).trim_end().lines().try_for_each(|line| print::out(&format!("  │ {line}")))?;
    if let Some(asked) = turn.verdict {
        let points = if asked.passes_at.is_some() { " --points N" } else { "" };
        for (word, how) in [("approve:", "--approve \"why\""), ("reject: ", "--reject \"what to fix\"")] {
            print::out(&format!("{word} {}", next_command::command(&format!("answer {run} {how}{points}"))))?;
        }
    }
    answer_given(journal, run, effect)
}

fn answer_given(journal: &Journal, run: &RunId, effect: &gadfly_engine::EffectId) -> Result<(), Code> {
    let mail = journal.mail(run).map_err(fault)?;
    if mail.iter().any(|(_, m)| matches!(&m.what, MailKind::Answer { effect: to, .. } if to == effect)) {
        print::out(&format!(
            "an answer is given and not read yet: {}",
            next_command::command(&format!("resume {run}"))
        ))?;
    }
    Ok(())
}

/// What went into the briefs of a pipeline.
fn briefs(state: &RunView, json: bool) -> Result<(), Code> {
    let run = &state.summary.run;
    let Some(view) = &state.pipeline else {
        let why =
            format!("run `{run}` is no pipeline: {}", next_command::command(&format!("show {run} --log")));
        return Err(error::usage(&why));
    };
    if json {
        return print::out(&json!({ "run": run, "briefs": view.briefs }).to_string());
    }
    crate::output::pipeline::briefs(view).iter().try_for_each(|line| print::out(line))
}

/// The last change of every agent of a pipeline.
fn diffs_of_pairs(journal: &Journal, state: &RunView, view: &PipelineView, json: bool) -> Result<(), Code> {
    let mut shown = 0_u32;
    for row in &view.agents {
        let Some(at) = &row.at else { continue };
        let last = state.rounds.iter().rfind(|round| at.contains(&round.node) && round.diff.is_some());
        let Some((round, digest)) = last.and_then(|round| Some((round.round, round.diff?))) else { continue };
        let diff = text(journal, &digest)?;
        if diff.trim().is_empty() {
            continue;
        }
        shown += 1;
        if json {
            let run = &state.summary.run;
            let line = json!({ "run": run, "agent": row.agent, "round": round, "diff": diff });
            print::out(&line.to_string())?;
            continue;
        }
        print::out(&format!("[{}], round {round}", safe::line(&row.agent, 60)).bold().to_string())?;
        diff::coloured(&diff).iter().try_for_each(|line| print::out(line))?;
    }
    if shown == 0 {
        print::err("nothing was changed");
    }
    Ok(())
}

fn diffs(journal: &Journal, state: &RunView, json: bool) -> Result<(), Code> {
    if let Some(view) = &state.pipeline {
        return diffs_of_pairs(journal, state, view, json);
    }
    let mut trees: Vec<_> = state.rounds.iter().filter_map(|r| Some((r.round, r.diff?))).collect();
    if let Some(goal) = &state.goal {
        // A goal has no rounds: its folder as it was last seen.
        let Some(seen) = &goal.folder else {
            print::err("nobody has looked at its folder yet");
            return Ok(());
        };
        trees = vec![(0, seen.diff)];
    }
    if let Some((round, diff)) = trees.last() {
        // The whole change so far: what the critic judged and what would be accepted.
        let diff = text(journal, diff)?;
        if json {
            let run = &state.summary.run;
            return print::out(&json!({ "run": run, "round": round, "diff": diff }).to_string());
        }
        if diff.trim().is_empty() {
            print::err("nothing was changed");
            return Ok(());
        }
        return diff::coloured(&diff).iter().try_for_each(|line| print::out(line));
    }
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
