//! `gadfly next`: who can run now, who is done, who is blocked and by what.

use gadfly_engine::pipeline::facts::AgentReadiness;
use gadfly_runtime::project_status::{ProjectStatus, StatusQuery};
use serde_json::json;

use crate::cli::NextArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{print, standing};
use crate::project_status;

pub async fn next(args: &NextArgs, context: &Context) -> Code {
    say(args, context).await.map_or_else(|code| code, |()| exit::OK)
}

async fn say(args: &NextArgs, context: &Context) -> Result<(), Code> {
    let asked = StatusQuery { assume_manual: args.assume_manual, ..StatusQuery::default() };
    let status = project_status::project_status(context, asked).await?;
    let standings = status.facts().standings();
    if context.global.json {
        return print::out(&as_json(&status, &standings).to_string());
    }
    project_status::say_source(&status);
    project_status::say_refused(&status);
    standing::all(&status, &standings).iter().try_for_each(|line| print::out(line))
}

fn as_json(status: &ProjectStatus, standings: &[(String, AgentReadiness)]) -> serde_json::Value {
    let agents: Vec<_> =
        standings.iter().map(|(agent, standing)| json!({ "agent": agent, "is": standing })).collect();
    let ready: Vec<_> =
        standings.iter().filter(|(_, s)| *s == AgentReadiness::Ready).map(|(agent, _)| agent).collect();
    json!({
        "project": status.known.project,
        "ready": ready,
        "agents": agents,
        "source": project_status::source_json(status),
    })
}
