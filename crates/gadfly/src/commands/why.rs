//! `gadfly why AGENT`: how one agent stands, condition by condition, and what would help.

use gadfly_engine::pipeline::RegistryEntry;
use gadfly_engine::pipeline::facts::{AgentReadiness, refusal};
use gadfly_project::suggest;
use gadfly_runtime::project_status::{ProjectStatus, StatusQuery};
use serde_json::json;

use crate::cli::WhyArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, standing};
use crate::project_status;

pub async fn why(args: &WhyArgs, context: &Context) -> Code {
    say(args, context).await.unwrap_or_else(|code| code)
}

async fn say(args: &WhyArgs, context: &Context) -> Result<Code, Code> {
    let asked = StatusQuery { assume_manual: args.assume_manual, ..StatusQuery::default() };
    let status = project_status::project_status(context, asked).await?;
    let registry = &status.known.registry;
    let Some(entry) = registry.get(&args.agent) else {
        let names: Vec<&str> = registry.entries.iter().map(|entry| entry.agent.as_str()).collect();
        let near =
            suggest::did_you_mean(&args.agent, &names).map(|near| format!(": {near}")).unwrap_or_default();
        return Err(error::usage(&format!("the registry has no agent `{}`{near}", args.agent)));
    };
    let is = status.facts().standing(entry);
    if context.global.json {
        print::out(&as_json(&status, entry, &is).to_string())?;
    } else {
        project_status::say_source(&status);
        project_status::say_refused(&status);
        standing::one(&status, entry, &is).iter().try_for_each(|line| print::out(line))?;
    }
    Ok(match is {
        AgentReadiness::Done { .. } | AgentReadiness::Ready => exit::OK,
        AgentReadiness::Asking { .. } => exit::WAITING,
        AgentReadiness::Blocked { .. } | AgentReadiness::Off { .. } => exit::HALTED,
    })
}

fn as_json(status: &ProjectStatus, entry: &RegistryEntry, is: &AgentReadiness) -> serde_json::Value {
    let facts = status.facts();
    let lines = match is {
        AgentReadiness::Blocked { gaps } => refusal(&entry.agent, gaps),
        _ => Vec::new(),
    };
    let verdict = facts.verdict(&entry.agent).map(|verdict| {
        let stale = verdict.stale(&status.listing);
        json!({ "critic": verdict.critic, "score": verdict.score, "changed": stale })
    });
    json!({
        "agent": entry.agent,
        "is": is,
        "at": status.at_line(entry.line),
        "conditions": facts.explain(entry),
        "refusal": lines,
        "verdict": verdict,
        "source": project_status::source_json(status),
    })
}
