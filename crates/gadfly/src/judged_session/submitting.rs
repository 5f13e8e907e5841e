//! Handing a change in as the next draft of a session's run, and waiting for what becomes of it. A run that was cut off
//! or failed is tried once more per stop and not oftener: every try may cost money.

use std::sync::Arc;
use std::time::Duration;

use gadfly_engine::{Outcome, Text, Waiting};
use gadfly_journal::{MailKind, RunId, Summary};
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::service::Raise;

use super::session::{BY, wants_draft};
use crate::background::Background;
use crate::context::Context;

/// `--seconds` ends it before.
const A_DAY: Duration = Duration::from_hours(24);
/// How long a provider is left alone that names no time.
const UNKNOWN_QUOTA: Duration = Duration::from_mins(10);

/// Hands the change in once and waits until the run rests.
pub async fn submit(
    context: &Context,
    background: &Arc<Background>,
    run: &RunId,
    change: &Text,
) -> Result<(), String> {
    let mut tried = false;
    let mut now = rested(background, run).await?;
    if has_unread(background, run, &now)? {
        now = try_again(context, background, run, &mut tried).await?;
    }
    let journal = background.gadfly().journal();
    if !wants_draft(journal, &now)? && !tried && can_go_on(background, &now)? {
        // It was cut off while a critic was at work: that is heard first.
        now = try_again(context, background, run, &mut tried).await?;
    }
    if wants_draft(journal, &now)?
        && let Some(effect) = &now.waiting_for
    {
        let posted = background.gadfly().answer_first(run, effect, change.as_str().to_owned(), BY);
        posted.map_err(|e| e.to_string())?;
        take_up(context, background, run).await?;
        rested(background, run).await?;
    }
    Ok(())
}

pub async fn take_up(context: &Context, background: &Arc<Background>, run: &RunId) -> Result<(), String> {
    let taken = background.resume(context, run, Raise::default()).await;
    taken.map_err(|why| background.reason(run).unwrap_or_else(|| why.to_string()))
}

/// How the run stands once nobody here works on it.
pub async fn rested(background: &Arc<Background>, run: &RunId) -> Result<Summary, String> {
    background.settled(run, A_DAY).await;
    background.gadfly().journal().summary(run).map_err(|e| e.to_string())
}

async fn try_again(
    context: &Context,
    background: &Arc<Background>,
    run: &RunId,
    tried: &mut bool,
) -> Result<Summary, String> {
    *tried = true;
    take_up(context, background, run).await?;
    rested(background, run).await
}

/// An answer lies there that was posted before and never read.
fn has_unread(background: &Background, run: &RunId, now: &Summary) -> Result<bool, String> {
    let mail = background.gadfly().journal().mail(run).map_err(|e| e.to_string())?;
    Ok(!now.ended && mail.iter().any(|(_, mail)| matches!(mail.what, MailKind::Answer { .. })))
}

/// Parked or cut off in a way that another try may mend.
fn can_go_on(background: &Background, now: &Summary) -> Result<bool, String> {
    let state = background.gadfly().journal().state(&now.run).map_err(|e| e.to_string())?;
    Ok(is_worth_a_try(state.outcome.as_ref(), now.updated_ms, wall_ms()))
}

fn is_worth_a_try(outcome: Option<&Outcome>, updated_ms: u64, now_ms: u64) -> bool {
    match outcome {
        None | Some(Outcome::Unverified { .. } | Outcome::Failed { .. }) => true,
        Some(Outcome::Waiting(Waiting::Quota { until_ms, .. })) => {
            let unknown = u64::try_from(UNKNOWN_QUOTA.as_millis()).unwrap_or(u64::MAX);
            until_ms.unwrap_or(updated_ms.saturating_add(unknown)) <= now_ms
        }
        // A person paused it, is asked something, or has to raise a cap; or it is over.
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_left_alone_until_its_time_and_a_pause_is_a_persons() {
        let quota = |until_ms| Outcome::Waiting(Waiting::Quota { until_ms, message: String::new() });
        let known = quota(Some(5_000));
        assert!(!is_worth_a_try(Some(&known), 0, 4_999) && is_worth_a_try(Some(&known), 0, 5_000));
        let unknown = quota(None);
        assert!(!is_worth_a_try(Some(&unknown), 1_000, 600_999));
        assert!(is_worth_a_try(Some(&unknown), 1_000, 601_000));
        assert!(!is_worth_a_try(Some(&Outcome::Waiting(Waiting::Paused)), 0, u64::MAX));
        assert!(is_worth_a_try(None, 0, 0), "cut off");
    }
}
