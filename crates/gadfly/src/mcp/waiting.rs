//! Waiting for a run, within bounds: until it rests, telling how far it is; asking the client's user what it asks;
//! and having it driven here when nobody else does.

use std::time::Duration;

use gadfly_journal::{RunId, summary};
use gadfly_runtime::service::Raise;
use tokio::time::Instant;

use super::asking;
use super::client::McpClient;
use super::reply::{ToolError, ToolReply, refused};
use super::state::{self, ServerState};
use super::{render, status};
use crate::background::Background;
use crate::terms;

const POLL: Duration = Duration::from_millis(150);
/// A client is told at least so often that the call is still alive.
const TELL: Duration = Duration::from_secs(5);
/// A run that asks more in one call is asked about in the next.
const MOST_QUESTIONS: usize = 16;
/// How often a run that cannot be taken up is tried again in one call.
const MOST_FAILURES: u32 = 3;

/// Waits until there is nothing to wait for, asks what can be asked here, and says how the run stands.
pub async fn follow(
    server: &ServerState,
    background: &std::sync::Arc<Background>,
    client: &McpClient,
    run: &RunId,
    at_most: Duration,
) -> Result<ToolReply, ToolError> {
    let until = Instant::now() + at_most;
    for _ in 0..MOST_QUESTIONS {
        if !rest(server, background, client, run, until).await? {
            break;
        }
        let open = status::questions(background, run)?.into_iter().next();
        let Some((effect, question)) =
            open.filter(|_| state::summary(background, run).is_ok_and(|s| !s.ended))
        else {
            break;
        };
        let asked = asking::ask(client, (run, &effect, &question), None, Some(run)).await?;
        let Some(answer) = asked else { break };
        let answered = background.gadfly().answer_first(run, &effect, answer, &client.by_user());
        answered.map_err(|e| refused(e.to_string()))?;
    }
    status::of(background, run)
}

/// Whether the run rests: over, parked, or waiting for somebody. False if it is still at work when time is up.
async fn rest(
    server: &ServerState,
    background: &std::sync::Arc<Background>,
    client: &McpClient,
    run: &RunId,
    until: Instant,
) -> Result<bool, ToolError> {
    let (mut told, mut failures) = (None, 0);
    let mut next_word = Instant::now();
    loop {
        let now = state::summary(background, run)?;
        if now.ended {
            return Ok(true);
        }
        let answered = state::is_answered(background, run, None)?;
        let driven = background.gadfly().is_driven(run);
        match (driven, answered) {
            // Here it is about to be parked: until then its folder may still be laid out.
            (_, false) if background.is_driven_here(run) => {}
            // It waits for somebody, or stopped.
            (false, false) => return Ok(true),
            (true, false) if now.waiting_for.is_some() => return Ok(true),
            (false, true) => match take_up(server, background, client, run, Raise::default()).await {
                // Another process may have had it for a moment: then the next look tells.
                Err(ToolError::Refused(_)) if failures < MOST_FAILURES => failures += 1,
                taken => taken?,
            },
            (true, _) => {}
        }
        if Instant::now() >= until {
            return Ok(false);
        }
        let word = format!("{}{}, {} calls", now.state, render::progress(&now), now.calls);
        if told.as_ref() != Some(&word) || Instant::now() >= next_word {
            client.tell(&word).await;
            next_word = Instant::now() + TELL;
            told = Some(word);
        }
        tokio::select! {
            () = client.gone() => return Err(refused(format!(
                "no longer waited for; run `{run}` goes on: get_verdict says how it stands"
            ))),
            () = tokio::time::sleep(POLL.min(until.saturating_duration_since(Instant::now()))) => {}
        }
    }
}

/// Has the run driven here, unless somebody else does. What its record wants is agreed to first.
pub async fn take_up(
    server: &ServerState,
    background: &std::sync::Arc<Background>,
    client: &McpClient,
    run: &RunId,
    raise: Raise,
) -> Result<(), ToolError> {
    agreed(server, background, client, run, Some(run)).await?;
    let taken = background.resume(&server.context(), run, raise).await;
    let Err(why) = taken else { return Ok(()) };
    let over = state::summary(background, run).is_ok_and(|now| now.ended);
    if over || background.gadfly().is_driven(run) {
        return Ok(());
    }
    let why = background.reason(run).unwrap_or_else(|| why.to_string());
    Err(refused(format!("run `{run}` could not be taken up: {why}. Nothing is lost: resume_run tries again")))
}

/// Has the user agree to what the run's record wants.
pub async fn agreed(
    server: &ServerState,
    background: &Background,
    client: &McpClient,
    run: &RunId,
    goes_on: Option<&RunId>,
) -> Result<(), ToolError> {
    let context = server.context();
    let terms = terms::of_resume(&context, background.gadfly(), run).map_err(refused)?;
    asking::agree(server, &context, client, &terms, goes_on).await
}

/// As [`take_up`], where the run was cut off in the middle: nobody has to decide anything for that.
pub async fn take_up_interrupted(
    server: &ServerState,
    background: &std::sync::Arc<Background>,
    client: &McpClient,
    run: &RunId,
) -> Result<(), ToolError> {
    let state = state::summary(background, run)?.state;
    if state == summary::INTERRUPTED {
        // A client that calls again has to come here again: only following it would not take it up.
        agreed(server, background, client, run, None).await?;
        take_up(server, background, client, run, Raise::default()).await
    } else {
        Ok(())
    }
}
