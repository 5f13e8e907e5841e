//! `gadfly next`: who can run now, who is done, who is blocked and by what.

use gadfly_engine::pipeline::world::Standing;
use gadfly_runtime::situation::{Asked, Situation};
use serde_json::json;

use super::asking;
use crate::cli::Next;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{print, standing};

pub async fn next(args: &Next, context: &Context) -> Code {
    say(args, context).await.map_or_else(|code| code, |()| exit::OK)
}

async fn say(args: &Next, context: &Context) -> Result<(), Code> {
    let asked = Asked { assume_manual: args.assume_manual, ..Asked::default() };
    let situation = asking::situation(context, asked).await?;
    let standings = situation.world().standings();
    if context.global.json {
        return print::out(&as_json(&situation, &standings).to_string());
    }
    asking::say_source(&situation);
    asking::say_refused(&situation);
    standing::all(&situation, &standings).iter().try_for_each(|line| print::out(line))
}

fn as_json(situation: &Situation, standings: &[(String, Standing)]) -> serde_json::Value {
    let agents: Vec<_> =
        standings.iter().map(|(agent, standing)| json!({ "agent": agent, "is": standing })).collect();
    let ready: Vec<_> =
        standings.iter().filter(|(_, s)| *s == Standing::Ready).map(|(agent, _)| agent).collect();
    json!({
        "project": situation.known.project,
        "ready": ready,
        "agents": agents,
        "source": asking::source_json(situation),
    })
}
