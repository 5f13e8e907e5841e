//! `gadfly why AGENT`: how one agent stands, condition by condition, and what would help.

use gadfly_engine::pipeline::Entry;
use gadfly_engine::pipeline::world::{Standing, refusal};
use gadfly_project::suggest;
use gadfly_runtime::situation::{Asked, Situation};
use serde_json::json;

use super::asking;
use crate::cli::Why;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, standing};

pub async fn why(args: &Why, context: &Context) -> Code {
    say(args, context).await.unwrap_or_else(|code| code)
}

async fn say(args: &Why, context: &Context) -> Result<Code, Code> {
    let asked = Asked { assume_manual: args.assume_manual, ..Asked::default() };
    let situation = asking::situation(context, asked).await?;
    let registry = &situation.known.registry;
    let Some(entry) = registry.get(&args.agent) else {
        let names: Vec<&str> = registry.entries.iter().map(|entry| entry.agent.as_str()).collect();
        let near =
            suggest::did_you_mean(&args.agent, &names).map(|near| format!(": {near}")).unwrap_or_default();
        return Err(error::usage(&format!("the registry has no agent `{}`{near}", args.agent)));
    };
    let is = situation.world().standing(entry);
    if context.global.json {
        print::out(&as_json(&situation, entry, &is).to_string())?;
    } else {
        asking::say_source(&situation);
        asking::say_refused(&situation);
        standing::one(&situation, entry, &is).iter().try_for_each(|line| print::out(line))?;
    }
    Ok(match is {
        Standing::Done { .. } | Standing::Ready => exit::OK,
        Standing::Asking { .. } => exit::WAITING,
        Standing::Blocked { .. } | Standing::Off { .. } => exit::HALTED,
    })
}

fn as_json(situation: &Situation, entry: &Entry, is: &Standing) -> serde_json::Value {
    let world = situation.world();
    let lines = match is {
        Standing::Blocked { gaps } => refusal(&entry.agent, gaps),
        _ => Vec::new(),
    };
    let verdict = world.verdict(&entry.agent).map(|verdict| {
        let stale = verdict.stale(&situation.listing);
        json!({ "critic": verdict.critic, "score": verdict.score, "changed": stale })
    });
    json!({
        "agent": entry.agent,
        "is": is,
        "at": situation.at_line(entry.line),
        "conditions": world.explain(entry),
        "refusal": lines,
        "verdict": verdict,
        "source": asking::source_json(situation),
    })
}
