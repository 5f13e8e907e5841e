//! `gadfly adopt`: what a project that was worked on elsewhere says about itself, which of its scores can be proved,
//! and what comes next. It writes nothing; a pipeline started from here goes on with what is proved.

use std::path::Path;

use gadfly_engine::pipeline::PairVerdict;
use gadfly_engine::pipeline::facts::AgentReadiness;
use gadfly_runtime::prepare::PipelineRequest;
use gadfly_runtime::project_status::{ProjectStatus, ProofSource, StatusQuery, StatusSources, VerdictProof};
use owo_colors::OwoColorize as _;
use serde_json::json;

use super::pipeline;
use super::run::LaunchOptions;
use crate::cli::{Adopt, Patience};
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, next_command, print, safe, standing, terminal};
use crate::project_status;

/// What a pipeline is asked for if nobody says.
const GO_ON: &str =
    "Go on from where this project stands: what is missing, blocked or below its gate comes next.";
/// Rows shown of one kind.
const SHOWN: usize = 40;
const LONGEST: usize = 300;

pub async fn adopt(args: &Adopt, context: &Context) -> Code {
    go(args, context).await.unwrap_or_else(|code| code)
}

async fn go(args: &Adopt, context: &Context) -> Result<Code, Code> {
    if !args.vouch.is_empty() {
        return vouch(&args.vouch, context).await;
    }
    say(context).await?;
    if args.yes {
        return Box::pin(start(args, context)).await;
    }
    if !context.global.json {
        print::err(&format!("to go on from here: {}", next_command::command("adopt --yes")));
    }
    Ok(exit::OK)
}

/// A person's word, agent by agent: all of them, or none.
async fn vouch(named: &[String], context: &Context) -> Result<Code, Code> {
    let status = project_status::project_status(context, StatusQuery::default()).await?;
    let sources = context.setup().sources(&status).await;
    let mut receipts = Vec::new();
    for one in named {
        let (agent, stated) =
            one.split_once('=').map_or((one.as_str(), None), |(agent, score)| (agent, Some(score)));
        let written = sources.adopted.scores.iter().rev().find(|score| score.agent.as_deref() == Some(agent));
        let (score, from) = match (stated.map(|score| score.trim().parse::<u32>()), written) {
            (Some(Ok(score)), _) => (score, "as you state it".to_owned()),
            (Some(Err(_)), _) => {
                return Err(error::usage(&format!("`{one}`: after `=` comes a score from 0 to 100")));
            }
            (None, Some(written)) => {
                (written.score, format!("{}:{}", written.place.file.display(), written.place.line))
            }
            (None, None) => {
                let message =
                    format!("no score of `{agent}` is written down here; state one: --vouch {agent}=SCORE");
                return Err(error::usage(&message));
            }
        };
        let receipt = status.vouched(agent, score, &from).map_err(|e| error::usage(&e.to_string()))?;
        receipts.push((receipt, from));
    }
    for (receipt, from) in &receipts {
        status.vouch(&context.root.dir, receipt).map_err(|e| error::fault(&e.to_string()))?;
        let files: Vec<&str> = receipt.files.iter().map(|file| file.path.as_str()).collect();
        let line =
            format!("{} {} ({from}): your word, for {}", receipt.agent, receipt.score, files.join(", "));
        print::out(&safe::line(&line, LONGEST))?;
    }
    if !context.global.json {
        print::err("it counts while these files stay as they are, and for no gate with --strict");
    }
    Ok(exit::OK)
}

/// A pipeline that takes up what is proved. Its plan is still shown and agreed to.
async fn start(args: &Adopt, context: &Context) -> Result<Code, Code> {
    let request = args.request.clone().unwrap_or_else(|| GO_ON.to_owned());
    let request = PipelineRequest { request, store: Some(context.store()), ..PipelineRequest::default() };
    let how = LaunchOptions {
        yes: true,
        dry_run: false,
        attended: terminal::can_ask(),
        print_draft: false,
        reports: &[],
        patience: Patience::default(),
    };
    Box::pin(pipeline::start(request, how, args.trust, context)).await
}

async fn say(context: &Context) -> Result<(), Code> {
    let status = project_status::project_status(context, StatusQuery::default()).await?;
    let sources = context.setup().sources(&status).await;
    let (proved, unproved): (Vec<&PairVerdict>, Vec<&PairVerdict>) =
        status.verdicts.iter().partition(|verdict| verdict.stale(&status.listing).is_none());
    if context.global.json {
        return print::out(&as_json(&status, &sources, &proved).to_string());
    }
    let mut lines = told(&sources, &status);
    lines.push(heading("Scores that count: their files are what was judged"));
    lines.extend(bounded(proved.iter().map(|verdict| {
        let from = match status.proofs.get(&verdict.agent) {
            Some(proof) if proof.is_vouched() => "vouched for by a person".to_owned(),
            Some(VerdictProof { run, source: ProofSource::Receipt { at, .. }, .. }) => {
                format!("receipt of run {run}, {at}")
            }
            Some(VerdictProof { run, source: ProofSource::Journal, .. }) => format!("run {run}"),
            None => String::new(),
        };
        format!("{} {} by {} ({from})", verdict.agent, verdict.score, verdict.critic)
    })));
    lines.push(heading("Scores that do not count"));
    let stale = unproved.iter().map(|verdict| {
        let path = verdict.stale(&status.listing).unwrap_or_default();
        format!("{} {}: {path} changed since it was judged", verdict.agent, verdict.score)
    });
    let adopted = sources.adopted.scores.iter().map(|score| {
        let agent = score.agent.as_deref().or(score.critic.as_deref()).unwrap_or("somebody");
        let (file, line) = (score.place.file.display(), score.place.line);
        format!("{agent} {} in {file}:{line}: {}", score.score, score.note)
    });
    let refused = sources.adopted.refused.iter().map(|refused| {
        let (file, line) = (refused.place.file.display(), refused.place.line);
        format!("{} in {file}:{line}: {}", refused.what, refused.why)
    });
    let receipts = status.refused.iter().map(|r| format!("{}: {}", r.what, r.why));
    lines.extend(bounded(stale.chain(receipts).chain(adopted).chain(refused)));
    if !sources.near.is_empty() {
        lines.push(heading("Artifacts under other names"));
        lines.extend(bounded(sources.near.iter().map(|near| {
            format!(
                "{} may be {}, which {} makes: git mv it, or correct the registry",
                near.found, near.wanted, near.agent
            )
        })));
    }
    lines.push(heading("What could run next"));
    lines.extend(standing::all(&status, &status.facts().standings()));
    lines.iter().try_for_each(|line| print::out(line))
}

fn told(sources: &StatusSources, status: &ProjectStatus) -> Vec<String> {
    let mut lines = vec![heading("What this project says about itself")];
    let shown = |path: &Path| safe::line(&path.display().to_string(), LONGEST);
    let mut row =
        |what: &str, text: String| lines.push(format!("  {what:<16} {}", safe::line(&text, LONGEST)));
    let adopted = &sources.adopted;
    for path in &adopted.read {
        let is_state = path.extension().is_some_and(|ending| ending == "json");
        let phase = adopted.phase.as_ref().filter(|_| is_state).map(|phase| format!(", phase {phase}"));
        row(
            if is_state { "state file" } else { "journal" },
            format!("{}{}", shown(path), phase.unwrap_or_default()),
        );
    }
    if adopted.read.is_empty() {
        row("state file", "none".to_owned());
    }
    if let Some((path, last)) = &sources.session {
        row("session report", format!("{}, last: {last}", shown(path)));
    }
    if let Some(path) = &sources.project_file {
        row("project file", shown(path));
    }
    if let Some(plan) = &sources.newest_plan {
        row("newest plan", shown(plan));
    }
    match &sources.recent {
        Err(why) => row("git", why.clone()),
        Ok(recent) => {
            for commit in &recent.commits {
                row("commit", commit.clone());
            }
            row(
                "uncommitted",
                recent.changes.last().map_or_else(|| "nothing".to_owned(), |sum| sum.trim().to_owned()),
            );
        }
    }
    row("project", status.known.project.clone());
    lines
}

fn heading(text: &str) -> String {
    text.bold().to_string()
}

fn bounded(rows: impl Iterator<Item = String>) -> Vec<String> {
    let mut rows: Vec<String> = rows.map(|row| format!("  {}", safe::line(&row, LONGEST))).collect();
    let more = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    if more > 0 {
        rows.push(format!("  and {more} more"));
    }
    if rows.is_empty() {
        rows.push("  none".to_owned());
    }
    rows
}

fn as_json(status: &ProjectStatus, sources: &StatusSources, proved: &[&PairVerdict]) -> serde_json::Value {
    let adopted = &sources.adopted;
    let scores: Vec<_> = adopted
        .scores
        .iter()
        .map(|s| json!({ "agent": s.agent, "critic": s.critic, "score": s.score, "at": s.place, "why_not": s.note }))
        .collect();
    let near: Vec<_> = sources
        .near
        .iter()
        .map(|near| json!({ "agent": near.agent, "wanted": near.wanted, "found": near.found }))
        .collect();
    let standings = status.facts().standings();
    let ready: Vec<&String> =
        standings.iter().filter(|(_, s)| *s == AgentReadiness::Ready).map(|(agent, _)| agent).collect();
    let proved: Vec<_> =
        proved.iter().map(|v| json!({ "agent": v.agent, "critic": v.critic, "score": v.score })).collect();
    json!({
        "project": status.known.project,
        "phase": adopted.phase,
        "read": adopted.read,
        "proved": proved,
        "unproved": scores,
        "near_misses": near,
        "ready": ready,
        "source": project_status::source_json(status),
    })
}
