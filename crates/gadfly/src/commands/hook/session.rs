//! The run of a Claude Code session: one at a time, found again by its title.

use gadfly_engine::input::What;
use gadfly_engine::{Control, Digest, Text};
use gadfly_journal::{Journal, ListFilter, RunId, Summary, summary};
use gadfly_runtime::Gadfly;

use super::input::Stopping;

const TITLE: &str = "Claude Code session";
/// Runs that are looked through; a session's own is among the newest.
const LOOKED_AT: u32 = 200;
/// Sessions of one project that are judged at once. More would be a hook that fires itself.
const MOST: usize = 3;
pub const BY: &str = "gadfly hook stop";

/// What to do about this stop.
pub enum Course {
    /// A loop of its own.
    Begin,
    /// The next draft of this run.
    GoOn(Box<Summary>),
    /// This very change was judged before, and this became of it.
    JudgedBefore(Box<Summary>),
    /// Somebody judges it at this moment, or too many are being judged.
    Leave(String),
}

pub fn title(stopping: &Stopping) -> String {
    format!("{TITLE} {}", stopping.session)
}

/// How this session's last run bears on the stop.
pub async fn course(
    gadfly: &Gadfly,
    stopping: &Stopping,
    task: &Text,
    change: &Text,
) -> Result<Course, String> {
    let filter = ListFilter { limit: LOOKED_AT, ..ListFilter::default() };
    let runs = gadfly.journal().list(&filter).map_err(|e| e.to_string())?;
    let title = title(stopping);
    let at_work =
        runs.iter().filter(|run| run.title.starts_with(TITLE) && run.state == summary::RUNNING).count();
    let Some(last) = runs.into_iter().find(|run| run.title == title) else {
        return Ok(if at_work >= MOST { too_many() } else { Course::Begin });
    };
    if last.ended {
        let judged = last.last_draft == Some(change.digest());
        return Ok(if judged {
            Course::JudgedBefore(Box::new(last))
        } else if at_work >= MOST {
            too_many()
        } else {
            Course::Begin
        });
    }
    if gadfly.is_driven(&last.run) {
        return Ok(Course::Leave(format!("another process works on its run {} just now", last.run)));
    }
    // The user has spoken since: that is other work, with rounds of its own. Only where Claude Code says so: a change
    // that is sent back goes on with its run, and so the cap holds.
    if stopping.sent_back == Some(false) && is_about_other(gadfly.journal(), &last.run, task.digest()) {
        let cancelled = gadfly.control(&last.run, Control::Cancel, BY).await;
        cancelled.map_err(|e| e.to_string())?;
        return Ok(Course::Begin);
    }
    Ok(Course::GoOn(Box::new(last)))
}

fn too_many() -> Course {
    Course::Leave(format!("{MOST} sessions of this project are being judged already"))
}

fn is_about_other(journal: &Journal, run: &RunId, task: Digest) -> bool {
    let Ok(records) = journal.records(run, 0, 1) else { return false };
    let Some(What::Started(start)) = records.first().map(|record| &record.input.what) else { return false };
    let recorded = start.plan.root.settings.get("task").cloned();
    recorded
        .and_then(|task| serde_json::from_value::<Digest>(task).ok())
        .is_some_and(|recorded| recorded != task)
}
