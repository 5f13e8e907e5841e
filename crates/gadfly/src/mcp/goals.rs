//! Goals for a client: starting one that gadfly.toml names, or one in words once the user agreed to it and to the
//! commands that check it; and a word to its worker.

use gadfly_engine::goal::Already;
use gadfly_project::config::until;
use gadfly_runtime::prepare::GoalRequest;
use serde_json::json;

use super::approval::Beyond;
use super::arguments::{StartGoal, SteerGoal, wait};
use super::client::McpClient;
use super::reply::{ToolError, ToolReply, refused};
use super::starting::{Wanted, prepared};
use super::state::ServerState;
use super::waiting::follow;
use crate::agreement;
use crate::context::Context;

/// What a goal in words may have; it is part of every brief.
const LONGEST_GOAL: usize = 256 << 10;
const MOST_CHECKS: usize = 20;
const LONGEST_CHECK: usize = 4 << 10;

pub async fn start_goal(
    server: &ServerState,
    client: &McpClient,
    args: StartGoal,
) -> Result<ToolReply, ToolError> {
    let context = server.context();
    let request = request(&args, &context)?;
    let beyond = Beyond::of_goal(args.goal.as_deref(), args.until.as_deref().unwrap_or_default());
    beyond.refuse_unasked(server, client)?;
    let (prepared, terms) = prepared(server, &context, client, &Wanted::Goal(&request)).await?;
    beyond.allow(server, client).await?;
    agreement::named(&context, &prepared.start.plan);
    let background = server.opened(&context)?;
    let run = background.start(&context, *prepared).await.map_err(|why| refused(why.to_string()))?;
    let said = follow(server, &background, client, &run, wait(args.wait_seconds)).await?;
    Ok(said.with_before(&terms.consent.join("\n")))
}

fn request(args: &StartGoal, context: &Context) -> Result<GoalRequest, ToolError> {
    let mut request =
        GoalRequest { store: Some(context.store()), already: Already::Ask, ..GoalRequest::default() };
    let checks = args.until.as_deref().unwrap_or_default();
    match (&args.name, &args.goal) {
        (Some(_), Some(_)) => return Err(refused("give `name`, or `goal` with `until`, not both")),
        (None, None) => {
            let known: Vec<&str> = context.config.goals.keys().map(String::as_str).collect();
            return Err(refused(match known.as_slice() {
                [] => "give `goal` in words, with `until`; gadfly.toml names none".to_owned(),
                known => format!("give `name`, one of {}, or `goal` in words with `until`", known.join(", ")),
            }));
        }
        (Some(name), None) if !context.config.goals.contains_key(name) => {
            return Err(refused(format!("gadfly.toml has no goal `{name}`")));
        }
        (Some(_), None) if !checks.is_empty() => {
            return Err(refused(
                "`until` is for a goal in words: leave it out, gadfly.toml says when this one is met",
            ));
        }
        (Some(name), None) => request.goal_name = Some(name.clone()),
        (None, Some(goal)) => {
            if goal.trim().is_empty() || goal.len() > LONGEST_GOAL {
                return Err(refused(format!("`goal` has to have between 1 and {LONGEST_GOAL} bytes")));
            }
            if checks.len() > MOST_CHECKS
                || checks.iter().any(|one| one.trim().is_empty() || one.len() > LONGEST_CHECK)
            {
                return Err(refused(format!(
                    "`until` takes at most {MOST_CHECKS} commands of 1 to {LONGEST_CHECK} bytes each"
                )));
            }
            request.given.set("goal", goal.clone());
        }
    }
    let checks = checks.iter().map(|command| until::shell(command.trim().to_owned())).collect();
    if let Some(until) = until::together(checks, false) {
        request.given.set("until", until);
    }
    Ok(request)
}

/// Leaves a word for the worker of a goal.
pub fn steer_goal(
    server: &ServerState,
    client: &McpClient,
    args: &SteerGoal,
) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let told = background.gadfly().steer(&run, &args.text, &client.by());
    let is_driven = told.map_err(|e| refused(e.to_string()))?;
    let text = if is_driven {
        format!("left for the worker of `{run}`: it reads it at its next turn")
    } else {
        format!(
            "saved for the worker of `{run}`, which is not at work: it reads it once resume_run takes it up"
        )
    };
    ToolReply::new(text, &json!({ "run": run, "active": is_driven }))
}
