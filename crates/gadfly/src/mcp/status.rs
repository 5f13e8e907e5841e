//! How a run stands, for a model: the verdict, what is to be fixed, and what is wanted next and by which tool. Drawn
//! from the run's state; nothing is judged here.

use gadfly_engine::question::Question;
use gadfly_engine::review::Verdict;
use gadfly_engine::turn::Role;
use gadfly_engine::{EffectId, Outcome, Turn, Waiting};
use gadfly_journal::{RunId, RunView};
use gadfly_project::config::HOST;
use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use super::asking::OpenQuestion;
use super::render;
use super::reply::{ToolError, ToolReply, refused};
use super::state;
use crate::background::Background;
use crate::output::brief;

/// More items are counted; `list_findings` has them.
const MOST_ITEMS: usize = 100;
const MOST_NOTES: usize = 20;
/// A run that goes on faster than it can be looked at is shown as it was last seen.
const MOST_LOOKS: usize = 5;
/// A brief a model can read in one result. A longer one is said to be too long: half a brief is none.
pub const LONGEST_BRIEF: usize = 1 << 20;

#[derive(Debug, Serialize, JsonSchema)]
pub struct RunStatus {
    pub run: String,
    pub title: String,
    pub protocol: String,
    /// `running`, `interrupted`, `waiting(question)`, `approved`, `halted(cap)`, `unverified` …
    pub state: String,
    /// Over for good.
    pub ended: bool,
    /// The critic approved the last draft, or its last rejection was overruled by the protocol.
    pub approved: bool,
    /// Approved although the last verdict is a rejection: it only raised new requirements.
    pub overruled: bool,
    /// Of a loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds_max: Option<u32>,
    /// Of a goal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps_max: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic: Option<String>,
    /// `approved`, `rejected` or `unverified`: of the round that was judged last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_round: Option<u32>,
    /// Which part of a pipeline or goal that round belongs to; the whole run if it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged_part: Option<String>,
    pub judged_by: Vec<String>,
    /// Why they approve, in their own words.
    pub reasons: Vec<String>,
    /// Why the verdict is no independent one, where the host judged. Tell the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_independent: Option<String>,
    /// Why nothing here counts as approved: this store was not made by the user on this machine. Tell the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign: Option<String>,
    /// What the worker has to address; numbers stay the same for the whole loop.
    pub to_fix: Vec<OpenPoint>,
    /// Remarks that do not block.
    pub notes: Vec<String>,
    /// Why there is no verdict, where something went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    pub spent_usd: f64,
    pub calls: u32,
    pub next: NextStep,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct OpenPoint {
    pub number: u32,
    pub text: String,
    /// The round that first raised it.
    pub since_round: u32,
}

/// What is wanted next.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NextStep {
    pub what: WantedNext,
    /// Which tool, and how.
    pub how: String,
    /// What a draft has to be, as the loop briefs its worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// Where the files are that the worker of an audit changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    pub questions: Vec<OpenQuestion>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WantedNext {
    /// Your draft.
    Draft,
    /// A critic's report, through a review.
    Report,
    /// The user's decision.
    Answer,
    /// Somebody else, outside of this connection.
    Person,
    /// Time: it is at work.
    Patience,
    /// It stopped and can be taken up.
    Resume,
    Nothing,
}

/// The turn of an agent that a run waits for, if it is the host's.
pub struct HostTurn {
    pub effect: EffectId,
    pub turn: Turn,
    pub brief: String,
}

/// The host's open turn, with its brief.
pub fn host_turn(background: &Background, run: &RunId) -> Result<Option<HostTurn>, ToolError> {
    let summary = state::summary(background, run)?;
    let Some(effect) = summary.waiting_for.filter(|_| !summary.ended) else { return Ok(None) };
    let asked =
        brief::question(background.gadfly().journal(), run, &effect).map_err(|e| refused(e.to_string()))?;
    Ok(asked.filter(|(turn, _)| turn.agent == HOST).map(|(turn, brief)| HostTurn { effect, turn, brief }))
}

/// How the run stands at one moment.
pub fn of(background: &Background, run: &RunId) -> Result<ToolReply, ToolError> {
    let mut looks = 0;
    loop {
        let state = background.gadfly().journal().state(run).map_err(|e| refused(e.to_string()))?;
        let said = said(&state, background, run)?;
        let after = state::summary(background, run)?;
        looks += 1;
        // It may have gone on while we looked: then what is wanted next belongs to no moment at all.
        let is_whole = after.state == state.summary.state && after.waiting_for == state.summary.waiting_for;
        if is_whole || looks >= MOST_LOOKS {
            return Ok(said);
        }
    }
}

fn said(state: &RunView, background: &Background, run: &RunId) -> Result<ToolReply, ToolError> {
    let summary = &state.summary;
    let round = state.last_judged();
    let open = round.map(|round| round.open.as_slice()).unwrap_or_default();
    let overruled = round.is_some_and(|round| round.overruled);
    let to_fix =
        open.iter().filter(|_| !overruled && !summary.state.starts_with("approved")).take(MOST_ITEMS);
    let is_loop = !render::progress(summary).is_empty() && summary.steps_max == 0;
    let is_goal = summary.steps_max > 0;
    let judged_by = round.map(render::critics).unwrap_or_default();
    let not_independent =
        render::is_own_round(round).then(|| render::own_word(summary.worker.as_deref()).to_owned());
    let standing = RunStatus {
        run: run.to_string(),
        title: summary.title.clone(),
        protocol: summary.protocol.clone(),
        state: summary.state.clone(),
        ended: summary.ended,
        approved: matches!(state.outcome, Some(Outcome::Approved { .. })),
        overruled: summary.overruled,
        round: is_loop.then_some(summary.rounds),
        rounds_max: is_loop.then_some(summary.rounds_max),
        step: is_goal.then_some(summary.steps),
        steps_max: is_goal.then_some(summary.steps_max),
        worker: summary.worker.clone(),
        critic: summary.critic.clone(),
        verdict: round.and_then(|round| round.verdict).map(|verdict| word(verdict).to_owned()),
        judged_round: round.map(|round| round.round),
        judged_part: round.and_then(|round| render::part(&round.node)),
        judged_by,
        reasons: round.map(render::reasons).unwrap_or_default(),
        not_independent,
        foreign: state::foreign(background),
        to_fix: to_fix
            .map(|item| OpenPoint { number: item.number, text: item.text.clone(), since_round: item.since })
            .collect(),
        notes: round.map(|round| round.notes.iter().take(MOST_NOTES).cloned().collect()).unwrap_or_default(),
        because: because(state, background, run),
        spent_usd: summary.cost.usd(),
        calls: summary.calls,
        next: next(state, background, run)?,
    };
    ToolReply::new(render::text(&standing, summary, open.len()), &standing)
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "approved",
        Verdict::Unverified => "unverified",
        Verdict::Rejected => "rejected",
    }
}

fn because(state: &RunView, background: &Background, run: &RunId) -> Option<String> {
    let outcome = match state.outcome.as_ref() {
        Some(Outcome::Unverified { reason, .. }) => Some(reason.clone()),
        Some(Outcome::OutOfBudget { shortage }) => Some(shortage.to_string()),
        Some(Outcome::Failed { failure }) => Some(failure.to_string()),
        Some(Outcome::Waiting(Waiting::Quota { message, .. })) => Some(message.clone()),
        _ => None,
    };
    outcome.or_else(|| background.reason(run).filter(|_| !state.summary.ended))
}

fn next(state: &RunView, background: &Background, run: &RunId) -> Result<NextStep, ToolError> {
    let summary = &state.summary;
    let bare = |what, how: String| NextStep { what, how, brief: None, folder: None, questions: Vec::new() };
    if summary.ended {
        let how = match state.outcome {
            Some(Outcome::Approved { .. }) if render::is_own_round(state.last_judged()) => {
                "Nothing: the host itself approved it. Tell the user that no independent critic judged it."
            }
            Some(Outcome::Approved { overruled: true, .. }) => {
                "Nothing: the work is approved by overruling the critic's last rejection. Tell the user both."
            }
            Some(Outcome::Approved { .. }) => "Nothing: the work is approved.",
            Some(Outcome::Halted { .. }) => {
                "Nothing more here. Tell the user that the critic is not satisfied, and what is open."
            }
            _ => "Nothing: the run is over.",
        };
        return Ok(bare(WantedNext::Nothing, how.to_owned()));
    }
    let gadfly = background.gadfly();
    if state::is_answered(background, run, summary.waiting_for.as_ref())? {
        let how = "What was handed in is about to be taken up: call get_verdict, which waits.";
        return Ok(bare(WantedNext::Patience, how.to_owned()));
    }
    // Until it is parked its folder may still be laid out.
    if summary.waiting_for.is_some() && background.is_driven_here(run) {
        return Ok(bare(
            WantedNext::Patience,
            "It is about to wait for somebody: call get_verdict.".to_owned(),
        ));
    }
    let questions: Vec<OpenQuestion> =
        state.open_questions().map(|asked| OpenQuestion::new(run, &asked.effect, &asked.question)).collect();
    if let Some(turn) = host_turn(background, run)? {
        return Ok(for_host(background, run, &turn, questions));
    }
    if !questions.is_empty() {
        let how = "Put this to the user, in these words, and give their decision to answer_question. Do not decide it \
                   yourself: the record says who answered.";
        return Ok(NextStep { questions, ..bare(WantedNext::Answer, how.to_owned()) });
    }
    if summary.waiting_for.is_some() {
        let how = format!("A person is asked as part of this loop: gadfly answer {run}, in a terminal.");
        return Ok(bare(WantedNext::Person, how));
    }
    if gadfly.is_driven(run) {
        return Ok(bare(WantedNext::Patience, "It is at work: call get_verdict, which waits.".to_owned()));
    }
    let how = match state.outcome.as_ref() {
        None => "It was interrupted: get_verdict or resume_run goes on where it stopped. Nothing is lost.",
        Some(Outcome::OutOfBudget { .. }) => {
            "Its budget is used up. Ask the user: they raise it themselves, or agree when resume_run with a higher \
             budget_usd asks them."
        }
        Some(Outcome::Unverified { .. }) => {
            "No critic could judge it, so it is not approved: resume_run asks the critic again. Tell the user if it \
             stays so."
        }
        Some(_) => "resume_run goes on, once the reason is gone.",
    };
    Ok(bare(WantedNext::Resume, how.to_owned()))
}

/// What the host itself is asked for.
fn for_host(background: &Background, run: &RunId, turn: &HostTurn, questions: Vec<OpenQuestion>) -> NextStep {
    let folder = background.gadfly().folder_at(run, &turn.effect.node).filter(|_| turn.turn.tree.is_some());
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
    let brief = (turn.brief.len() <= LONGEST_BRIEF).then(|| turn.brief.clone());
    let (what, how) = match turn.turn.role {
        Role::Critic => {
            let how = "A review is wanted: open_review gives the brief and a single-use token; a fresh sub-agent of \
                       yours that did not do the work judges, and submit_report takes its report.";
            (WantedNext::Report, how.to_owned())
        }
        _ if folder.is_some() => {
            let how = "Change the files in `folder` as the brief says, then submit_draft with a short account of what \
                       you changed.";
            (WantedNext::Draft, how.to_owned())
        }
        _ => (
            WantedNext::Draft,
            format!(
                "Do what the brief says, then submit_draft {{run: \"{run}\", draft: …}} with the whole draft."
            ),
        ),
    };
    let brief = brief.filter(|_| what == WantedNext::Draft);
    NextStep { what, how, brief, folder, questions }
}

/// Every open question of a run.
pub fn questions(background: &Background, run: &RunId) -> Result<Vec<(EffectId, Question)>, ToolError> {
    background.gadfly().open_questions(run).map_err(|e| refused(e.to_string()))
}
