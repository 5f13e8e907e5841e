//! `gadfly hook stop`: the change in the working tree is the draft of a `revise` loop whose worker is the session that
//! wants to stop. A rejection sends it back with what is to be fixed; the loop's own cap ends that. Whatever else
//! happens lets the stop through and says so: a hook that fails must not trap anybody.

use std::time::Duration;

use gadfly_engine::Text;
use gadfly_engine::work::Work;
use gadfly_journal::OpenError;
use gadfly_project::file;
use gadfly_runtime::prepare::ReviewTarget;
use gadfly_runtime::workspace::Range;

use super::input::{self, HookInput};
use super::program;
use crate::cli::StopHook;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::judged_session::request::{SessionTask, prepared, request};
use crate::judged_session::{Case, JudgedSession, TurnDecision, altered, gone, judged, nested, session};
use crate::output::print;
use crate::untrusted;

/// A change no critic reads in one go.
const LARGEST_CHANGE: usize = 4 << 20;

pub async fn stop(args: StopHook, context: &Context) -> Code {
    let program = args.program;
    let answer = if args.untrusted {
        Box::pin(answered_to_a_stranger(args, context)).await
    } else {
        Box::pin(answered(&args, context)).await
    };
    let answer = answer.unwrap_or_else(|why| TurnDecision::unjudged(&why));
    let said = program::said(program, &answer);
    if let Some(aside) = said.aside {
        print::err(&aside);
    }
    if let Some(line) = said.line {
        // Any other code than 0 would be shown as a failure, or block for ever.
        let _ = print::out(&line.to_string());
    }
    exit::OK
}

/// As [`answered`], by nothing that the session changed.
async fn answered_to_a_stranger(mut args: StopHook, context: &Context) -> Result<TurnDecision, String> {
    let range = args.diff.clone().map_or(Range::Uncommitted, Range::Since);
    let before = untrusted::context(context, Some(&range)).await?;
    for path in &mut args.by.rubric {
        *path = untrusted::at_base(&before, path)?;
    }
    Box::pin(answered(&args, &before)).await
}

async fn answered(args: &StopHook, context: &Context) -> Result<TurnDecision, String> {
    if nested::is_within_a_call(context) {
        return Ok(TurnDecision::Silent);
    }
    for path in &args.by.rubric {
        file::not_led_out(&context.root.dir, path).map_err(|e| e.to_string())?;
    }
    let (session, words) = match input::read(args.program)? {
        HookInput::Nothing => return agreed_beforehand(args, context).await,
        // Its work is the session's, and is judged when that wants to stop. Nor is anything judged that was broken off.
        HookInput::Subagent | HookInput::BrokenOff => return Ok(TurnDecision::Silent),
        HookInput::Stop(session, words) => (session, words),
    };
    let Some((change, changed)) = change(args, context).await? else {
        return nothing_left(args, context, &session);
    };
    let wish = SessionTask::of(&words);
    let (request, looped) = request(&args.by, context, &wish)?;
    if args.untrusted {
        untrusted::judges_count(context, &looped)?;
    }
    let altered = altered::altered(context, &args.by, &looped, changed.iter().map(String::as_str));
    let critic = looped.critic().map(|critic| critic.value);
    let case = Case { session, task: wish.task, change, critic, altered };
    let mut interrupts = Interrupts::catch();
    let interrupted = async {
        interrupts.next().await;
        "it was interrupted".to_owned()
    };
    let within = Duration::from_secs(args.seconds);
    Box::pin(judged(&args.by, context, &case, &request, within, interrupted)).await
}

/// The change as a diff, and every file that changed, also those that are left out. None if there is none.
async fn change(args: &StopHook, context: &Context) -> Result<Option<(Text, Vec<String>)>, String> {
    if args.by.exclude.iter().any(|glob| glob.trim().trim_matches('/').is_empty()) {
        return Err("an empty --exclude would leave everything out".to_owned());
    }
    let setup = context.setup();
    let wanted = ReviewTarget::Changes(args.diff.clone().map_or(Range::Uncommitted, Range::Since));
    let brought = setup.bring(&wanted, &args.by.exclude).await.map_err(|p| p.message)?;
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
    if !args.by.exclude.is_empty()
        && let Ok(Some(all)) = setup.bring(&wanted, &[]).await
        && let Work::Tree(all) = all.work
    {
        changed = all.changes.into_iter().map(|change| change.path).collect();
    }
    Ok(Some((change, changed)))
}

/// Nothing is there to be judged: only what is known of the session's work is said.
fn nothing_left(args: &StopHook, context: &Context, session: &JudgedSession) -> Result<TurnDecision, String> {
    let journal = match context.existing() {
        Ok(journal) => journal,
        Err(OpenError::Missing(_)) => return Ok(TurnDecision::Silent),
        Err(other) => return Err(other.to_string()),
    };
    let runs = session::runs(&journal, session)?;
    let Some(last) = runs.first() else { return Ok(TurnDecision::Silent) };
    let state = journal.state(&last.summary.run).map_err(|e| e.to_string())?;
    Ok(gone(&state, args.diff.as_deref()))
}

/// Called by hand, to agree once to what the project's files name.
async fn agreed_beforehand(args: &StopHook, context: &Context) -> Result<TurnDecision, String> {
    if !args.by.trust {
        print::err(
            "this is called by a coding agent when it wants to stop: `gadfly hook print --for PROGRAM` has the settings",
        );
        return Ok(TurnDecision::Silent);
    }
    let (request, _) = request(&args.by, context, &SessionTask::none())?;
    prepared(&args.by, context, &request).await?;
    print::err("agreed: the hook may use what this project's files name");
    Ok(TurnDecision::Silent)
}
