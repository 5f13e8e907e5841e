//! `gadfly hook stop`: the change in the working tree is the draft of a `revise` loop whose worker is the session that
//! wants to stop. A rejection sends it back with what is to be fixed; the loop's own cap ends that. Whatever else
//! happens lets the stop through and says so: a hook that fails must not trap anybody.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gadfly_engine::work::Work;
use gadfly_engine::{Outcome, Text};
use gadfly_journal::{OpenError, RunId, RunView};
use gadfly_project::file;
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::prepare::{Request, ReviewTarget};
use gadfly_runtime::workspace::Range;

use super::answer::{self, HookDecision};
use super::input::{self, Stopping};
use super::request::{HookRequest, agree, prepared, request};
use super::session::{self, Case, Course};
use super::submitting::{rested, submit, take_up};
use super::{judge, nested, seats, session_proof};
use crate::agreement;
use crate::background::Background;
use crate::cli::StopHook;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::print;
use crate::{terms, untrusted};

/// A change no critic reads in one go.
const LARGEST_CHANGE: usize = 4 << 20;

pub async fn stop(args: StopHook, context: &Context) -> Code {
    let answer = if args.untrusted {
        Box::pin(answered_to_a_stranger(args, context)).await
    } else {
        Box::pin(answered(&args, context)).await
    };
    let answer = answer.unwrap_or_else(|why| HookDecision::unjudged(&why));
    if let Some(said) = answer.json() {
        // Any other code than 0 would be shown as a failure, or block for ever.
        let _ = print::out(&said.to_string());
    }
    exit::OK
}

/// As [`answered`], by nothing that the session changed.
async fn answered_to_a_stranger(mut args: StopHook, context: &Context) -> Result<HookDecision, String> {
    let range = args.diff.clone().map_or(Range::Uncommitted, Range::Since);
    let before = untrusted::context(context, Some(&range)).await?;
    for path in &mut args.rubric {
        *path = untrusted::at_base(&before, path)?;
    }
    Box::pin(answered(&args, &before)).await
}

async fn answered(args: &StopHook, context: &Context) -> Result<HookDecision, String> {
    if nested::is_within_a_call(context) {
        return Ok(HookDecision::Silent);
    }
    for path in &args.rubric {
        file::not_led_out(&context.root.dir, path).map_err(|e| e.to_string())?;
    }
    let Some(stopping) = input::read()? else { return agreed_beforehand(args, context).await };
    let Some((change, changed)) = change(args, context).await? else {
        return nothing_left(args, context, &stopping);
    };
    let wish = HookRequest::of(&stopping);
    let (request, looped) = request(args, context, &wish)?;
    if args.untrusted {
        untrusted::judges_count(context, &looped)?;
    }
    let altered = judge::altered(context, args, &looped, changed.iter().map(String::as_str));
    let critic = looped.critic().map(|critic| critic.value);
    let case = Case { stopping, task: wish.task, change, critic, altered };
    let background = Background::new(context.setup().open(&context.store()).map_err(|e| e.to_string())?);
    let begun = HookRun::default();
    let mut interrupts = Interrupts::catch();
    let judging = Judging { args, context, background: &background, case: &case, request: &request };
    let judged = tokio::select! {
        judged = Box::pin(judging.judge(&begun)) => judged,
        () = interrupts.next() => Err("it was interrupted".to_owned()),
        () = tokio::time::sleep(Duration::from_secs(args.seconds)) => {
            Err(format!("the critic was not done after {} seconds", args.seconds))
        }
    };
    background.close().await;
    match (judged, begun.run()) {
        // What was under way may have come in while it was waited for at the end.
        (Err(why), Some(run)) => {
            let state = background.gadfly().journal().state(&run).map_err(|_| why.clone())?;
            if answer::is_heard(&state, &case) { Ok(answer::of(&state, None, &case)) } else { Err(why) }
        }
        (judged, _) => judged,
    }
}

/// The change as a diff, and every file that changed, also those that are left out. None if there is none.
async fn change(args: &StopHook, context: &Context) -> Result<Option<(Text, Vec<String>)>, String> {
    if args.exclude.iter().any(|glob| glob.trim().trim_matches('/').is_empty()) {
        return Err("an empty --exclude would leave everything out".to_owned());
    }
    let setup = context.setup();
    let wanted = ReviewTarget::Changes(args.diff.clone().map_or(Range::Uncommitted, Range::Since));
    let brought = setup.bring(&wanted, &args.exclude).await.map_err(|p| p.message)?;
    let Some(brought) = brought else { return Ok(None) };
    let Work::Tree(tree) = &brought.work else { return Err("there is no change to be seen".to_owned()) };
    let change = brought.texts.iter().find(|text| text.digest() == tree.diff).cloned();
    let change = change.ok_or("the change cannot be read")?;
    if change.as_str().len() > LARGEST_CHANGE {
        return Err(format!(
            "the change has {} bytes, more than any critic reads at once",
            change.as_str().len()
        ));
    }
    let mut changed: Vec<String> = tree.changes.iter().map(|change| change.path.clone()).collect();
    if !args.exclude.is_empty()
        && let Ok(Some(all)) = setup.bring(&wanted, &[]).await
        && let Work::Tree(all) = all.work
    {
        changed = all.changes.into_iter().map(|change| change.path).collect();
    }
    Ok(Some((change, changed)))
}

/// Nothing is there to be judged: only what is known of the session's work is said.
fn nothing_left(args: &StopHook, context: &Context, stopping: &Stopping) -> Result<HookDecision, String> {
    let journal = match context.existing() {
        Ok(journal) => journal,
        Err(OpenError::Missing(_)) => return Ok(HookDecision::Silent),
        Err(other) => return Err(other.to_string()),
    };
    let runs = session::runs(&journal, stopping)?;
    let Some(last) = runs.first() else { return Ok(HookDecision::Silent) };
    let state = journal.state(&last.summary.run).map_err(|e| e.to_string())?;
    Ok(answer::gone(&state, args.diff.as_deref()))
}

/// Called by hand, to agree once to what the project's files name.
async fn agreed_beforehand(args: &StopHook, context: &Context) -> Result<HookDecision, String> {
    if !args.trust {
        print::err(
            "this is called by Claude Code when it wants to stop: `gadfly hook print` has the settings",
        );
        return Ok(HookDecision::Silent);
    }
    let (request, _) = request(args, context, &HookRequest::none())?;
    prepared(args, context, &request).await?;
    print::err("agreed: the hook may use what this project's files name");
    Ok(HookDecision::Silent)
}

/// The run that is worked on: its answer may come when nobody waits for it any more.
#[derive(Default)]
struct HookRun(Mutex<Option<RunId>>);

impl HookRun {
    fn is(&self, run: &RunId) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(run.clone());
    }

    fn run(&self) -> Option<RunId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One stop that is to be judged.
struct Judging<'a> {
    args: &'a StopHook,
    context: &'a Context,
    background: &'a Arc<Background>,
    case: &'a Case,
    request: &'a Request,
}

impl Judging<'_> {
    async fn judge(&self, begun: &HookRun) -> Result<HookDecision, String> {
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
    async fn anew(&self, begun: &HookRun) -> Result<HookDecision, String> {
        let mut prepared = prepared(self.args, self.context, self.request).await?;
        prepared.start.plan.title = session::title(&self.case.stopping);
        session_proof::set(&mut prepared.start, &prepared.run, &self.case.stopping.session);
        agreement::named(self.context, &prepared.start.plan);
        let run = self.background.start(self.context, *prepared).await.map_err(|why| why.to_string())?;
        begun.is(&run);
        submit(self.context, self.background, &run, &self.case.change).await?;
        Ok(answer::of(&self.state(&run)?, self.background.reason(&run).as_deref(), self.case))
    }

    /// The rejection is on record: nobody is paid to say it again. That the session came back is recorded by taking the
    /// run up, which asks for a changed state and waits.
    async fn sent_back_again(&self, run: &RunId) -> Result<HookDecision, String> {
        let state = self.state(run)?;
        let answer = answer::unchanged(&state, self.case, state.totals.taken_up.saturating_add(1));
        if matches!(answer, HookDecision::Back(_)) {
            self.agree(run)?;
            take_up(self.context, self.background, run).await?;
            rested(self.background, run).await?;
        }
        Ok(answer)
    }

    fn agree(&self, run: &RunId) -> Result<(), String> {
        agree(self.args, self.context, &terms::of_resume(self.context, self.background.gadfly(), run)?)
    }

    fn state(&self, run: &RunId) -> Result<RunView, String> {
        self.background.gadfly().journal().state(run).map_err(|e| e.to_string())
    }
}
