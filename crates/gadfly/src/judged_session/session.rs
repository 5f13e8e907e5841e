//! The runs of a session, and how the last of them bears on its turn. A run is the session's by its mark; the title only
//! makes it findable.

use std::time::Duration;

use gadfly_engine::manifest::{Job, RunManifest};
use gadfly_engine::protocol::revise;
use gadfly_engine::turn::Role;
use gadfly_engine::{Control, Digest, Text};
use gadfly_journal::{Journal, ListFilter, Summary};
use gadfly_project::config::HOST;
use gadfly_runtime::Gadfly;

use super::session_proof;
use crate::output::brief;

/// What stands between the program and the id in a title.
const TITLE: &str = " session ";
/// Runs that are looked through; a session's own is among the newest.
const LOOKED_AT: u32 = 200;
/// A session that has not come back after this long is gone: its run is closed.
const GONE_AFTER: Duration = Duration::from_hours(7 * 24);
const LONGEST_ID: usize = 64;
/// In whose name drafts are handed in.
pub const BY: &str = "the session";

/// A session of an agent that is driven elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub struct JudgedSession {
    /// Whose: `Claude Code`, `Codex` and so on.
    pub program: String,
    pub id: String,
    /// It only works because it was sent back. None: not said.
    pub sent_back: Option<bool>,
}

impl JudgedSession {
    /// An id is outside input, and stands in titles.
    pub fn is_id(id: &str) -> bool {
        let fits = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(fits) && !id.starts_with('.')
    }
}

/// What is to be judged.
pub struct Case {
    pub session: JudgedSession,
    pub task: Text,
    pub change: Text,
    /// Who would be asked now.
    pub critic: Option<String>,
    /// Files of the change that judge it.
    pub altered: Vec<String>,
}

/// A run that was begun for a session.
pub struct SessionRun {
    pub summary: Summary,
    task: Option<Digest>,
    critic: Option<String>,
}

/// What to do about this turn.
pub enum Course {
    /// A loop of its own.
    Begin,
    /// The next draft of this run.
    GoOn(Box<Summary>),
    /// This very change was rejected, and nothing was done about it since.
    Unchanged(Box<Summary>),
    /// This very change was judged before, and this became of it.
    JudgedBefore(Box<Summary>),
    /// Somebody judges it at this moment.
    Leave(String),
}

pub fn title(session: &JudgedSession) -> String {
    format!("{}{TITLE}{}", session.program, session.id)
}

/// The runs that were begun for this session, newest first.
pub fn runs(journal: &Journal, session: &JudgedSession) -> Result<Vec<SessionRun>, String> {
    let title = title(session);
    let filter = ListFilter { limit: LOOKED_AT, ..ListFilter::default() };
    let all = journal.list(&filter).map_err(|e| e.to_string())?;
    let named = all.into_iter().filter(|run| run.title == title);
    Ok(named.filter_map(|summary| own(journal, summary, &session.id)).collect())
}

/// How this session's last run bears on the turn.
pub async fn course(gadfly: &Gadfly, case: &Case) -> Result<Course, String> {
    let runs = runs(gadfly.journal(), &case.session)?;
    // Another critic's word is not that of the one who is to judge now.
    let Some(own) = runs.into_iter().find(|run| run.critic.is_some() && run.critic == case.critic) else {
        return Ok(Course::Begin);
    };
    let (same_task, last) = (own.task == Some(case.task.digest()), Box::new(own.summary));
    let same_change = last.last_draft == Some(case.change.digest());
    if last.ended {
        return Ok(if same_change && same_task { Course::JudgedBefore(last) } else { Course::Begin });
    }
    if gadfly.is_driven(&last.run) {
        return Ok(Course::Leave(format!("another process works on its run {} just now", last.run)));
    }
    // The user has spoken since: that is other work, with rounds of its own. Only where the program says so: a change
    // that is sent back goes on with its run, and so the cap holds.
    if case.session.sent_back == Some(false) && !same_task {
        let cancelled = gadfly.control(&last.run, Control::Cancel, BY).await;
        cancelled.map_err(|e| e.to_string())?;
        return Ok(Course::Begin);
    }
    Ok(if same_change && wants_draft(gadfly.journal(), &last)? {
        Course::Unchanged(last)
    } else {
        Course::GoOn(last)
    })
}

/// Whether the run waits for a state of the change.
pub fn wants_draft(journal: &Journal, now: &Summary) -> Result<bool, String> {
    let Some(effect) = now.waiting_for.as_ref().filter(|_| !now.ended) else { return Ok(false) };
    let asked = brief::question(journal, &now.run, effect).map_err(|e| e.to_string())?;
    Ok(asked.is_some_and(|(turn, _)| turn.agent == HOST && turn.role == Role::Worker))
}

/// Closes what sessions left behind that are gone: nobody else can answer what those runs ask.
pub async fn close_left_behind(gadfly: &Gadfly, now_ms: u64) {
    let waiting = ListFilter { states: vec!["waiting".to_owned()], limit: LOOKED_AT, offset: 0 };
    let Ok(runs) = gadfly.journal().list(&waiting) else { return };
    for run in runs.into_iter().filter(|run| is_left_behind(run, now_ms)) {
        let Some((_, session)) = run.title.split_once(TITLE) else { continue };
        let session = session.to_owned();
        let Some(own) = own(gadfly.journal(), run, &session) else { continue };
        if wants_draft(gadfly.journal(), &own.summary) == Ok(true) {
            // Another stop may have done it meanwhile.
            let _ = gadfly.control(&own.summary.run, Control::Cancel, BY).await;
        }
    }
}

fn is_left_behind(run: &Summary, now_ms: u64) -> bool {
    let idle = Duration::from_millis(now_ms.saturating_sub(run.updated_ms));
    run.title.contains(TITLE) && idle > GONE_AFTER
}

/// This run, if it was begun for the session.
fn own(journal: &Journal, summary: Summary, session: &str) -> Option<SessionRun> {
    let start = journal.start(&summary.run).ok()?;
    let manifest = RunManifest::of(&start.plan);
    let is_ours = start.plan.root.protocol == revise::RULE_BOOK.name
        && manifest.worker() == Some(HOST)
        && session_proof::is_set(&start, &summary.run, session);
    let critic = manifest.seated(Job::Critic).map(ToOwned::to_owned);
    is_ours.then_some(SessionRun { task: manifest.task, critic, summary })
}

#[cfg(test)]
mod tests {
    use gadfly_journal::RunId;

    use super::*;

    #[test]
    fn only_runs_of_sessions_that_stayed_away_are_left_behind() {
        let week = 7 * 24 * 60 * 60 * 1000;
        let mut run = Summary::new(RunId::random().unwrap());
        (run.title, run.updated_ms) = (format!("Codex{TITLE}s"), 1_000);
        assert!(is_left_behind(&run, 1_000 + week + 1));
        assert!(!is_left_behind(&run, 1_000 + week) && !is_left_behind(&run, 0));
        run.title = "a letter".to_owned();
        assert!(!is_left_behind(&run, u64::MAX));
    }
}
