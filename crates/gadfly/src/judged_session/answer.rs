//! What becomes of a session's turn, in words: for the agent, which is sent back, or for its user. Nothing is called
//! approved here that no critic approved, or whose critic was altered by the change itself.

use gadfly_engine::{Outcome, Waiting};
use gadfly_journal::{RunId, RunView};

use super::session::Case;
use crate::output::table::moment;
use crate::output::{next_command, safe};

/// What is sent back: enough to work on, and no flood.
const LONGEST_REASON: usize = 12_000;
/// Files that are named.
const MOST_NAMED: usize = 10;

/// How everything begins that is sent back. Some programs keep it among what the user said: it is told apart by this.
pub const OWN_WORDS: &str = "Gadfly judged this turn. ";

/// What becomes of a turn that wants to end.
#[derive(Debug)]
pub enum TurnDecision {
    /// It may end, and there is nothing to say.
    Silent,
    /// It may end. This and the next two are said to the user.
    Approved(String),
    /// It may end, and is not approved.
    Unapproved(String),
    /// Nobody could judge it.
    Unjudged(String),
    /// It may not end yet: what to fix.
    Back(String),
}

impl TurnDecision {
    /// Nobody judged it, for this reason.
    pub fn unjudged(why: &str) -> Self {
        Self::Unjudged(bounded(&format!("Gadfly did not judge this, so the work is not approved: {why}")))
    }

    fn unapproved(message: &str) -> Self {
        Self::Unapproved(bounded(message))
    }

    fn back(items: &str) -> Self {
        Self::Back(bounded(&format!("{OWN_WORDS}{items}")))
    }
}

/// This very change was judged before.
pub fn before(state: &RunView, case: &Case) -> TurnDecision {
    let (run, label) = (&state.summary.run, &state.summary.state);
    match (label.as_str(), case.altered.is_empty()) {
        ("approved", true) => TurnDecision::Silent,
        ("approved", false) => of(state, None, case),
        _ => TurnDecision::unapproved(&format!(
            "Gadfly: this change was judged before and is not approved (run {run}: {label}). {} has what is open.{}",
            next_command::command(&format!("show {run}")),
            aside(&case.altered)
        )),
    }
}

/// The change that was rejected comes again as it was: `times` with this one.
pub fn unchanged(state: &RunView, case: &Case, times: u32) -> TurnDecision {
    let (run, rounds) = (&state.summary.run, state.summary.rounds_max);
    let (critic, open) = (critic(state), open(state));
    let judged = state.last_judged().map_or(state.summary.rounds, |round| round.round);
    if judged.saturating_add(times) >= rounds {
        return TurnDecision::unapproved(&format!(
            "Gadfly: not approved. {critic} rejected this change in round {judged} of {rounds}, and it came back \
             unchanged until the rounds were used up: it is let through as it is. Open:{open}\nRun {run} waits for this \
             session: a changed state is judged at the next stop.{}",
            aside(&case.altered)
        ));
    }
    TurnDecision::back(&format!(
        "Nothing changed since the critic {critic} rejected this change (round {judged} of {rounds}). It was not judged \
         again; the same items are open. Fix every one, then stop again:{open}\n\n{}{}",
        advice(run),
        aside(&case.altered)
    ))
}

/// There is nothing to judge any more, but the session's run is not approved.
pub fn gone(state: &RunView, base: Option<&str>) -> TurnDecision {
    let summary = &state.summary;
    let run = &summary.run;
    if summary.state == "approved" {
        return TurnDecision::Silent;
    }
    let since =
        base.map_or("uncommitted".to_owned(), |base| format!("different from {}", safe::line(base, 60)));
    let how = if summary.ended { format!("ended as {}", summary.state) } else { "is open".to_owned() };
    let open = open(state);
    let items = if open.is_empty() { String::new() } else { format!(" Open:{open}\n") };
    TurnDecision::unapproved(&format!(
        "Gadfly: this session's work is not approved. Nothing is {since} any more, so there is nothing to judge, but run \
         {run} {how}.{items} What is committed can be judged with `--diff BASE` in the hook's command, or `{}`.",
        next_command::command("review --diff BASE")
    ))
}

/// What the run's state means for the stop.
pub fn of(state: &RunView, failed: Option<&str>, case: &Case) -> TurnDecision {
    let summary = &state.summary;
    let run = &summary.run;
    let (critic, open) = (critic(state), open(state));
    let altered = aside(&case.altered);
    let judged = state.last_judged();
    let of_this = judged.is_some_and(|round| round.draft == Some(case.change.digest()));
    match state.outcome.as_ref() {
        Some(Outcome::Approved { overruled, .. }) => {
            let how = if *overruled { ", whose last rejection only raised new requirements" } else { "" };
            if case.altered.is_empty() {
                let why = judged.and_then(|round| round.reasons().next());
                let why = why.map(|(_, reason)| format!(" {}", safe::line(reason, 300))).unwrap_or_default();
                let said = format!("Gadfly: approved by {critic}{how} (run {run}).{why}");
                return TurnDecision::Approved(bounded(&said));
            }
            TurnDecision::unapproved(&format!(
                "Gadfly: {critic} found nothing to object to{how} (run {run}), but this does not count.{altered} Look at \
                 it yourself."
            ))
        }
        Some(Outcome::Waiting(_)) if summary.waiting_for.is_some() && of_this && !open.is_empty() => {
            TurnDecision::back(&format!(
                "The critic {critic} rejected the change (round {} of {}). Fix every item, then stop again:{open}\n\n{}\
                 {altered}",
                judged.map_or(summary.rounds, |round| round.round),
                summary.rounds_max,
                advice(run)
            ))
        }
        Some(Outcome::Halted { reason, .. }) => TurnDecision::unapproved(&format!(
            "Gadfly: not approved. {critic} is still not satisfied, and the loop ends here ({reason}, run {run}). \
             Open:{open}{altered}"
        )),
        other => TurnDecision::Unjudged(bounded(&format!(
            "Gadfly: this change is not approved, because it could not be judged: {}{altered}",
            why_not(run, other, failed.unwrap_or(&summary.state))
        ))),
    }
}

/// Whether the run has a verdict on this very change, to be answered from.
pub fn is_heard(state: &RunView, case: &Case) -> bool {
    let of_this = state.last_judged().is_some_and(|round| round.draft == Some(case.change.digest()));
    let said = matches!(
        state.outcome,
        Some(Outcome::Approved { .. } | Outcome::Halted { .. } | Outcome::Waiting(Waiting::Question { .. }))
    );
    of_this && said
}

fn why_not(run: &RunId, outcome: Option<&Outcome>, state: &str) -> String {
    let again = format!("Run {run}; the next stop tries again.");
    let resume = next_command::command(&format!("resume {run}"));
    match outcome {
        Some(Outcome::Unverified { reason, .. }) => format!("no critic could judge it: {reason}. {again}"),
        Some(Outcome::Failed { failure }) => format!("{failure}. {again}"),
        Some(Outcome::OutOfBudget { shortage }) => {
            format!(
                "out of budget: {shortage}. Run {run}; to go on with a higher cap: {resume} --budget-usd USD"
            )
        }
        Some(Outcome::Waiting(Waiting::Quota { until_ms, message })) => {
            let until = until_ms.map(|at| format!(" until {}", moment(at))).unwrap_or_default();
            format!(
                "the critic's quota is used up{until}: {}. Run {run}; a stop after that tries again.",
                safe::line(message, 300)
            )
        }
        Some(Outcome::Waiting(Waiting::Paused)) => format!("run {run} is paused. To go on: {resume}"),
        Some(other) => format!("the run is {}. Run {run}.", other.label()),
        None => format!("{}. {again}", safe::block(state)),
    }
}

fn critic(state: &RunView) -> String {
    safe::line(state.summary.critic.as_deref().unwrap_or("the critic"), 60)
}

/// The open items of the last verdict, one per line.
fn open(state: &RunView) -> String {
    let items = state.last_judged().into_iter().flat_map(|round| &round.open);
    let lines: Vec<String> =
        items.map(|item| format!("\n{}. {}", item.number, safe::block(&item.text))).collect();
    lines.concat()
}

fn advice(run: &RunId) -> String {
    format!(
        "(Gadfly, run {run}, which waits for this session. If an item is wrong, say why in the work itself or ask the \
         user; do not argue by stopping again.)"
    )
}

/// That the change judges itself, if it does.
fn aside(altered: &[String]) -> String {
    if altered.is_empty() {
        return String::new();
    }
    let named = altered.iter().take(MOST_NAMED).map(|path| safe::line(path, 200)).collect::<Vec<_>>();
    let more = match altered.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(" This change alters its own judge: {}{more}.", named.join(", "))
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST_REASON) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}
