//! Tools of the worker and for going on with a run: drafts, verdicts, answers, resuming, pausing, cancelling.

use std::str::FromStr as _;

use gadfly_engine::turn::Role;
use gadfly_engine::{Control, EffectId, Limits, Money};
use gadfly_journal::RunId;
use gadfly_project::config::HOST;
use gadfly_runtime::service::{Controlled, Raise};
use serde_json::json;

use super::approval::Beyond;
use super::arguments::{AnswerQuestion, ResumeRun, RunAndWait, RunArgument, SubmitDraft, wait};
use super::asking::{self, OpenQuestion};
use super::client::McpClient;
use super::reply::{ToolError, ToolReply, refused};
use super::state::{self, ServerState};
use super::status::{self, HostTurn};
use super::submit;
use super::waiting::{agreed, follow, take_up, take_up_interrupted};
use crate::background::Background;

pub async fn submit_draft(
    server: &ServerState,
    client: &McpClient,
    args: SubmitDraft,
) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    post_draft(&background, client, &run, args.draft)?;
    follow(server, &background, client, &run, wait(args.wait_seconds)).await
}

/// Leaves the host's draft for the turn that waits for one.
pub fn post_draft(
    background: &Background,
    client: &McpClient,
    run: &RunId,
    draft: String,
) -> Result<(), ToolError> {
    submit::fits("draft", &draft)?;
    if draft.trim().is_empty() {
        return Err(refused("the draft is empty: submit the whole text"));
    }
    let Some(turn) = draft_turn(background, run)? else { return Err(no_draft_wanted(background, run)?) };
    submit::post(background, run, &turn.effect, draft, &client.by(), || {
        refused(format!(
            "another draft for this round was submitted already, and yours was not taken: get_verdict \
             {{run: \"{run}\"}} says how it stands"
        ))
    })
}

/// The turn of the host's that waits for a draft.
fn draft_turn(background: &Background, run: &RunId) -> Result<Option<HostTurn>, ToolError> {
    Ok(status::host_turn(background, run)?.filter(|turn| turn.turn.role != Role::Critic))
}

fn no_draft_wanted(background: &Background, run: &RunId) -> Result<ToolError, ToolError> {
    let now = state::summary(background, run)?;
    let why = if now.ended {
        format!("run `{run}` is over ({}): it takes no more drafts. start_loop begins another", now.state)
    } else if now.worker.as_deref() != Some(HOST) {
        let worker = now.worker.as_deref().unwrap_or("nobody");
        format!("the worker of run `{run}` is {worker}, not you: get_verdict says how it stands")
    } else {
        format!("run `{run}` wants no draft now, it is {}: get_verdict says what is wanted", now.state)
    };
    Ok(refused(why))
}

pub async fn get_verdict(
    server: &ServerState,
    client: &McpClient,
    args: RunAndWait,
) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    take_up_interrupted(server, &background, client, &run).await?;
    follow(server, &background, client, &run, wait(args.wait_seconds)).await
}

pub fn read_run(server: &ServerState, args: &RunArgument) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let said = status::of(&background, &run)?;
    let state = background.gadfly().journal().state(&run).map_err(|e| refused(e.to_string()))?;
    let report =
        crate::report::render(crate::report::ReportFormat::Markdown, &state, &background.gadfly().root().dir);
    Ok(ToolReply { text: format!("{}\n\n{report}", said.text), value: said.value })
}

pub async fn answer_question(
    server: &ServerState,
    client: &McpClient,
    args: AnswerQuestion,
) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let open = status::questions(&background, &run)?;
    let named = match args.effect.as_deref() {
        Some(id) => {
            let id = EffectId::from_str(id).map_err(|e| refused(e.to_string()))?;
            open.iter().find(|(effect, _)| *effect == id)
        }
        None => open.first(),
    };
    let Some((effect, question)) = named else {
        let known: Vec<String> = open.iter().map(|(effect, _)| effect.to_string()).collect();
        let known = if known.is_empty() { "it asks nothing".to_owned() } else { known.join(", ") };
        return Err(refused(format!("run `{run}` has no such open question: {known}")));
    };
    // Where the user can be asked they are: a model's word that they said so is not enough.
    let (answer, by) = if client.can_ask() {
        let asked = asking::ask(client, (&run, effect, question), Some(&args.answer), None).await?;
        let Some(answer) = asked else {
            return Err(refused(format!(
                "the user was asked and has not answered, so the question of run `{run}` stays open. Do not answer it \
                 for them"
            )));
        };
        (answer, client.by_user())
    } else {
        (args.answer, client.by())
    };
    let answered = background.gadfly().answer_first(&run, effect, answer, &by);
    answered.map_err(|e| refused(format!("{e}\n{}", OpenQuestion::new(&run, effect, question).text())))?;
    follow(server, &background, client, &run, wait(args.wait_seconds)).await
}

pub async fn resume_run(
    server: &ServerState,
    client: &McpClient,
    args: ResumeRun,
) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let now = state::summary(&background, &run)?;
    if now.ended {
        return Err(refused(format!("run `{run}` is over ({}): start_loop begins another", now.state)));
    }
    let limits = Limits { money: args.budget_usd.map(usd).transpose()?, ..Limits::default() };
    let raise = Raise { limits, rounds: args.rounds };
    let beyond = Beyond::of_resume(&background, &now, &raise)?;
    beyond.refuse_unasked(server, client)?;
    agreed(server, &background, client, &run, None).await?;
    beyond.allow(server, client).await?;
    take_up(server, &background, client, &run, raise).await?;
    follow(server, &background, client, &run, wait(args.wait_seconds)).await
}

/// Pauses or cancels.
pub async fn control(
    server: &ServerState,
    client: &McpClient,
    args: RunArgument,
    what: Control,
) -> Result<ToolReply, ToolError> {
    let (background, run) = server.run(&args.run)?;
    let done =
        background.gadfly().control(&run, what, &client.by()).await.map_err(|e| refused(e.to_string()))?;
    let text = match done {
        Controlled::Asked => {
            format!("run `{run}` was told; calls under way are finished first. get_verdict says when")
        }
        Controlled::Done { .. } => format!("run `{run}` is over"),
        Controlled::NotDriven => format!("run `{run}` is not at work, so there is nothing to pause"),
    };
    let state = state::summary(&background, &run)?.state;
    ToolReply::new(text, &json!({ "run": run, "state": state }))
}

/// A sum a model named.
pub fn usd(amount: f64) -> Result<Money, ToolError> {
    Money::of_usd(amount).ok_or_else(|| refused("budget_usd has to be an amount of dollars, like 0.50"))
}
