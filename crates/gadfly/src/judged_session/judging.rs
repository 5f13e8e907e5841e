//! One turn that is judged: which run it belongs to, handing its change in, and what is answered. It ends within its
//! time, and what was under way then is left for the next turn.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gadfly_engine::Outcome;
use gadfly_journal::{RunId, RunView};
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::prepare::Request;

use super::answer::{self, TurnDecision};
use super::request::{agree, prepared};
use super::session::{self, Case, Course};
use super::submitting::{rested, submit, take_up};
use super::{seats, session_proof};
use crate::background::Background;
use crate::cli::SessionJudge;
use crate::context::Context;
use crate::{agreement, terms};

/// Judges the case within this time, unless `stopped` is first, which says why.
pub async fn judged(
    by: &SessionJudge,
    context: &Context,
    case: &Case,
    request: &Request,
    within: Duration,
    stopped: impl Future<Output = String>,
) -> Result<TurnDecision, String> {
    let background = Background::new(context.setup().open(&context.store()).map_err(|e| e.to_string())?);
    let begun = JudgedRun::default();
    let judging = Judging { by, context, background: &background, case, request };
    let judged = tokio::select! {
        judged = Box::pin(judging.judge(&begun)) => judged,
        why = stopped => Err(why),
        () = tokio::time::sleep(within) => {
            Err(format!("the critic was not done after {} seconds", within.as_secs()))
        }
    };
    background.close().await;
    match (judged, begun.run()) {
        // What was under way may have come in while it was waited for at the end.
        (Err(why), Some(run)) => {
            let state = background.gadfly().journal().state(&run).map_err(|_| why.clone())?;
            if answer::is_heard(&state, case) { Ok(answer::of(&state, None, case)) } else { Err(why) }
        }
        (judged, _) => judged,
    }
}

/// The run that is worked on: its answer may come when nobody waits for it any more.
#[derive(Default)]
struct JudgedRun(Mutex<Option<RunId>>);

impl JudgedRun {
    fn is(&self, run: &RunId) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.clone());
    }

    fn run(&self) -> Option<RunId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One turn that is to be judged.
struct Judging<'a> {
    by: &'a SessionJudge,
    context: &'a Context,
    background: &'a Arc<Background>,
    case: &'a Case,
    request: &'a Request,
}

impl Judging<'_> {
    async fn judge(&self, begun: &JudgedRun) -> Result<TurnDecision, String> {
        let gadfly = self.background.gadfly();
        let course = session::course(gadfly, self.case).await?;
        match &course {
            Course::Leave(why) => return Err(why.clone()),
            Course::JudgedBefore(last) => return Ok(answer::before(&self.state(&last.run)?, self.case)),
            Course::Begin | Course::GoOn(_) | Course::Unchanged(_) => {}
        }
        let seat = seats::take(gadfly.journal().dir())?;
        let Some(_seat) = seat else {
            return Err(format!("{} sessions of this project are being judged already", seats::SEATS));
        };
        let run = match course {
            Course::Unchanged(last) => return self.sent_back_again(&last.run).await,
            Course::GoOn(last) => {
                self.agree(&last.run)?;
                last.run
            }
            _ => {
                session::close_left_behind(gadfly, wall_ms()).await;
                return self.anew(begun).await;
            }
        };
        begun.is(&run);
        submit(self.context, self.background, &run, &self.case.change).await?;
        let state = self.state(&run)?;
        let of_other = state.summary.last_draft != Some(self.case.change.digest());
        if matches!(state.outcome, Some(Outcome::Approved { .. })) && of_other {
            // What was cut off is approved now, in a state that is no longer there: this one has not been judged.
            return self.anew(begun).await;
        }
        Ok(answer::of(&state, self.background.reason(&run).as_deref(), self.case))
    }

    /// A loop for this session, about what the user asked.
    async fn anew(&self, begun: &JudgedRun) -> Result<TurnDecision, String> {
        let mut prepared = prepared(self.by, self.context, self.request).await?;
        prepared.start.plan.title = session::title(&self.case.session);
        session_proof::set(&mut prepared.start, &prepared.run, &self.case.session.id);
        agreement::named(self.context, &prepared.start.plan);
        let run = self.background.start(self.context, *prepared).await.map_err(|why| why.to_string())?;
        begun.is(&run);
        submit(self.context, self.background, &run, &self.case.change).await?;
        Ok(answer::of(&self.state(&run)?, self.background.reason(&run).as_deref(), self.case))
    }

    /// The rejection is on record: nobody is paid to say it again. That the session came back is recorded by taking the
    /// run up, which asks for a changed state and waits.
    async fn sent_back_again(&self, run: &RunId) -> Result<TurnDecision, String> {
        let state = self.state(run)?;
        let answer = answer::unchanged(&state, self.case, state.totals.taken_up.saturating_add(1));
        if matches!(answer, TurnDecision::Back(_)) {
            self.agree(run)?;
            take_up(self.context, self.background, run).await?;
            rested(self.background, run).await?;
        }
        Ok(answer)
    }

    fn agree(&self, run: &RunId) -> Result<(), String> {
        agree(self.by, self.context, &terms::of_resume(self.context, self.background.gadfly(), run)?)
    }

    fn state(&self, run: &RunId) -> Result<RunView, String> {
        self.background.gadfly().journal().state(run).map_err(|e| e.to_string())
    }
}
