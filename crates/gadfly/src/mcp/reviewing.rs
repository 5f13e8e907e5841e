//! Reviews by a critic that the host runs itself: a brief with a single-use token, and a report that counts only with
//! it. So a verdict stays bound to the very turn it was asked for.

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::protocol::Protocols;
use gadfly_engine::turn::Role;
use gadfly_engine::{EffectId, Engine, Input, Text};
use gadfly_journal::{Journal, RunId};
use serde_json::json;

use super::arguments::{RunArgument, SubmitReport, wait};
use super::client::McpClient;
use super::reply::{ToolError, ToolReply, refused};
use super::state::{self, ServerState};
use super::status::{self, HostTurn, LONGEST_BRIEF};
use super::submit;
use super::token::TurnToken;
use super::waiting::follow;
use crate::background::Background;
use crate::session::unreadable;

/// The name under which a report without its token is refused everywhere.
const UNPROVEN: &str = "loop-post-critics-missing-critic-audit";

pub fn open_review(server: &ServerState, args: &RunArgument) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let Some(turn) = review_turn(&background, &run)? else {
        let now = state::summary(&background, &run)?;
        let critic = now.critic.as_deref().unwrap_or("nobody");
        return Err(refused(format!(
            "run `{run}` waits for no review of yours: it is {}, and its critic is {critic}. Only a loop started with \
             critic \"host\" is judged this way",
            now.state
        )));
    };
    if turn.brief.len() > LONGEST_BRIEF {
        return Err(refused(format!(
            "the brief has {} bytes, too many to be handed over here: this work needs a critic other than `host`",
            turn.brief.len()
        )));
    }
    let seed = state::start(&background, &run)?.seed;
    let token = TurnToken::issue(&run, &turn.effect, &seed);
    let token = token.ok_or_else(|| refused("the system gives no random bytes, so no token can be made"))?;
    let how = "Have a sub-agent judge that did not do the work and sees only this brief. Give its whole report, \
               unchanged, to submit_report with the token. The token is good for one report on this very draft.";
    let text = format!("review of run {run}\ntoken: {token}\n{how}\n\nThe brief:\n{}", turn.brief);
    let folder = background.gadfly().folder_at(&run, &turn.effect.node).filter(|_| turn.turn.tree.is_some());
    let value = json!({
        "run": run,
        "token": token,
        "how": how,
        "brief": turn.brief,
        "folder": folder.map(|folder| folder.to_string_lossy().into_owned()),
    });
    ToolReply::new(text, &value)
}

pub async fn submit_report(
    server: &ServerState,
    client: &McpClient,
    args: SubmitReport,
) -> Result<ToolReply, ToolError> {
    let claimed = args.token.as_deref().map(str::trim).filter(|token| !token.is_empty());
    let Some(claimed) = claimed else {
        return Err(unproven("a report counts only with the token that open_review gave with the brief"));
    };
    let Some(token) = TurnToken::read(claimed) else {
        return Err(unproven("this is no token of a review; open_review gives one"));
    };
    if args.report.trim().is_empty() {
        return Err(refused("the report is empty; the token is still good"));
    }
    let background = server.existing()?;
    post_report(&background, client, &token, args.report)?;
    follow(server, &background, client, &token.run, wait(args.wait_seconds)).await
}

/// Leaves the report for the turn its token was issued for, once.
fn post_report(
    background: &Background,
    client: &McpClient,
    token: &TurnToken,
    report: String,
) -> Result<(), ToolError> {
    submit::fits("report", &report)?;
    let run = &token.run;
    let unknown = |_| unproven("this token is for no run of this project");
    let seed = state::start(background, run).map_err(unknown)?.seed;
    if !token.is_genuine(&seed) {
        return Err(unproven("this token was not issued here for that review; open_review gives one"));
    }
    let used = || unproven("this token was used: a report for this review has been taken");
    if state::is_answered(background, run, Some(&token.effect))? {
        return Err(used());
    }
    let turn = review_turn(background, run)?;
    let Some(turn) = turn.filter(|turn| turn.effect == token.effect) else {
        return Err(unproven(&format!(
            "this token was used, or run `{run}` has moved on since: what it judges is no longer asked for. \
             open_review gives a new one if a review is still wanted"
        )));
    };
    let journal = background.gadfly().journal();
    let why = unreadable(journal, run, &report, turn.turn.role);
    if let Some(why) = why.or_else(|| rehearsed(journal, run, &turn.effect, &report)) {
        return Err(refused(format!("{why}. The token is still good")));
    }
    let by = format!("{}, review {}", client.by(), token.named());
    submit::post(background, run, &turn.effect, report, &by, used)
}

/// What the protocol would find wrong with the form of this report. It is asked itself, with the run as it is recorded,
/// and nothing is kept of its answer; where it cannot be asked the report is taken as it is.
fn rehearsed(journal: &Journal, run: &RunId, effect: &EffectId, report: &str) -> Option<String> {
    let mut engine = Engine::new(Protocols::shipped());
    let mut at = None;
    for record in journal.replay(run) {
        let record = record.ok()?;
        at = Some(record.input.at);
        engine.on(&record.input).ok()?;
    }
    let text = Text::new(report);
    let what = InputKind::Answered { effect: effect.clone(), text: text.digest(), by: String::new() };
    let step = engine.on(&Input { at: at?, what, texts: vec![text] }).ok()?;
    step.events.into_iter().find_map(|event| match event.what {
        EventKind::ReplyMalformed { problem, .. } => Some(format!("this report cannot be read: {problem}")),
        _ => None,
    })
}

/// The critic's turn of the host that a run waits for.
fn review_turn(background: &Background, run: &RunId) -> Result<Option<HostTurn>, ToolError> {
    Ok(status::host_turn(background, run)?.filter(|turn| turn.turn.role == Role::Critic))
}

fn unproven(why: &str) -> ToolError {
    refused(format!("{UNPROVEN}: {why}"))
}
