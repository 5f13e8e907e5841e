//! `gadfly doctor --try`: one tiny call per agent, after the person agreed, and what each showed.

use gadfly_engine::Money;
use gadfly_engine::masked::masked;
use gadfly_project::Config;
use gadfly_project::starter::FoundAgent;
use gadfly_project::suggest::did_you_mean;
use gadfly_runtime::doctor::{self, TrialReport, TrialResult};
use owo_colors::OwoColorize as _;
use serde_json::json;

use super::mark;
use crate::agreement::{self, Uses};
use crate::cli::Doctor;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{ask, error, next_command, print, problems, safe, terminal};
use crate::proposal;

pub async fn trying(names: &[String], args: &Doctor, context: &Context) -> Result<Code, Code> {
    if context.problems.iter().any(gadfly_project::Problem::is_error) {
        return Err(problems::refuse(&context.problems, &context.root.dir));
    }
    let proposed = if context.config.agents.is_empty() { Some(proposed(context).await?) } else { None };
    let (context, without_model) = match &proposed {
        Some((context, without)) => (context, without.as_slice()),
        None => (context, &[][..]),
    };
    let names = chosen(names, &context.config)?;
    let uses = Uses { agents: names.clone(), ..Uses::default() };
    agreement::trust(context, &uses, args.trust)?;
    agree(&names, &context.config, args.yes)?;
    let setup = context.setup().insisting();
    let mut failed = false;
    for name in &names {
        let tried = if without_model.contains(name) {
            TrialReport::not_tried(name, "nobody knows its models: put one into gadfly.toml")
        } else {
            doctor::try_agent(&setup, name).await
        };
        failed |= matches!(tried.ended, TrialResult::Failed(_));
        if context.global.json {
            print::out(&masked(&json!({ "tried": tried }).to_string()))?;
        } else {
            in_words(&tried).iter().try_for_each(|line| print::out(&masked(line)))?;
        }
    }
    Ok(if failed { exit::FAILED } else { exit::OK })
}

/// What this machine has, as a configuration of the person's own, and which of it has no model yet.
async fn proposed(context: &Context) -> Result<(Context, Vec<String>), Code> {
    let env = gadfly_runtime::agents::environment();
    let diagnosis =
        doctor::diagnose(&context.root, &context.config, &context.store(), &context.user, &env).await;
    let found = doctor::proposal(&diagnosis);
    match proposal::config(&found, context) {
        Some(config) if !config.agents.is_empty() => {
            let without = |f: &&FoundAgent| f.kind.is_http() && f.model.is_none();
            let without = found.iter().filter(without).map(|f| f.name.clone()).collect();
            Ok((context.with(config), without))
        }
        _ => Err(error::usage("there is nothing to try: no agent is configured and none was found")),
    }
}

fn chosen(names: &[String], config: &Config) -> Result<Vec<String>, Code> {
    let known: Vec<&str> = config.agents.keys().map(String::as_str).collect();
    for name in names {
        if !config.agents.contains_key(name) {
            let help = did_you_mean(name, &known).map(|help| format!("; {help}")).unwrap_or_default();
            return Err(error::usage(&format!("there is no agent `{name}`{help}")));
        }
    }
    let mut chosen: Vec<String> =
        if names.is_empty() { config.agents.keys().cloned().collect() } else { names.to_vec() };
    let mut seen = std::collections::BTreeSet::new();
    chosen.retain(|name| seen.insert(name.clone()));
    Ok(chosen)
}

fn agree(names: &[String], config: &Config, yes: bool) -> Result<(), Code> {
    print::err("one small call each, which costs what a call of a few words costs there:");
    for agent in names.iter().filter_map(|name| config.agents.get(name)) {
        let line = format!("  {} ({}) → {}", agent.name, agent.kind.value, agent.sends_to());
        print::err(&safe::line(&line, 300));
    }
    if yes {
        return Ok(());
    }
    if !terminal::can_ask() {
        let again = next_command::command_line();
        return Err(error::usage(&format!(
            "not a terminal, so nothing was sent. To agree:\n  {again} --yes"
        )));
    }
    if ask::yes("Call them?", true) {
        return Ok(());
    }
    print::err("nothing was sent");
    Err(exit::OK)
}

fn in_words(tried: &TrialReport) -> Vec<String> {
    let name = safe::line(&tried.agent, 60);
    let mut lines = Vec::new();
    match &tried.ended {
        TrialResult::Answered => {
            let model =
                tried.model.as_ref().map(|m| format!(" as {}", safe::line(m, 80))).unwrap_or_default();
            let seconds = format!("{}.{} s", tried.took_ms / 1000, tried.took_ms % 1000 / 100);
            lines.push(mark(true, &format!("{name} answered{model} in {seconds}, {}", spent(tried))));
            lines.push(format!(
                "      as a critic: {}",
                if tried.structured {
                    "keeps to a schema"
                } else {
                    "answers in text; its verdicts are read from that"
                }
            ));
        }
        TrialResult::Failed(why) => {
            lines.push(mark(false, &format!("{name} failed: {}", safe::line(why, 600))));
            if tried.tokens > 0 {
                lines.push(format!("      {}", spent(tried)));
            }
        }
        TrialResult::NotTried(why) => {
            lines.push(format!("  {} {name} was not tried: {}", "–".dimmed(), safe::line(why, 300)));
        }
    }
    if !tried.guards.is_empty() {
        lines.push(format!("      sandbox: {}", safe::line(&tried.guards.join(", "), 400)));
    }
    lines.extend(tried.notes.iter().map(|note| format!("      {}", safe::line(note, 300))));
    lines
}

fn spent(tried: &TrialReport) -> String {
    let cost = tried.cost.map_or_else(|| "cost unknown".to_owned(), |usd| Money::from_usd(usd).to_string());
    format!("{} tokens, {cost}", tried.tokens)
}
