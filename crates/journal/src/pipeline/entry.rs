//! One entry of the project's research journal: who did what, with which score. Rendered once, never changed.

use super::text::{LocalZone, words};
use crate::run_id::RunId;

/// The heading of a file that begins with us.
pub const HEADING: &str = "# Research Journal";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalEntry {
    pub at_ms: u64,
    pub agent: String,
    pub phase: Option<String>,
    pub target: String,
    pub score: Option<u32>,
    pub verdict: String,
    pub report: String,
}

impl JournalEntry {
    #[allow(clippy::too_many_arguments)] // the parts of one sentence; a struct for them would be this one
    pub(crate) fn judged(
        at_ms: u64,
        phase: Option<String>,
        critic: &str,
        target: String,
        score: Option<u32>,
        approved: bool,
        round: u32,
        open: &[String],
        run: &RunId,
    ) -> Self {
        let said = if approved { "approved" } else { "not approved" };
        let verdict = match open.first() {
            None => format!("{said} in round {round}"),
            Some(first) => format!("{said} in round {round}, {} open: {first}", open.len()),
        };
        Self { at_ms, agent: critic.to_owned(), phase, target, score, verdict, report: report(run) }
    }

    pub(crate) fn completed(
        at_ms: u64,
        phase: Option<String>,
        agent: &str,
        target: String,
        made: &[String],
        rounds: Option<u32>,
        run: &RunId,
    ) -> Self {
        let verdict = match rounds {
            None => "completed; nobody judges it".to_owned(),
            Some(1) => "completed in 1 round".to_owned(),
            Some(n) => format!("completed in {n} rounds"),
        };
        let report = paths(made).unwrap_or_else(|| report(run));
        Self { at_ms, agent: agent.to_owned(), phase, target, score: None, verdict, report }
    }

    pub(crate) fn blocked(
        at_ms: u64,
        phase: Option<String>,
        agent: &str,
        target: String,
        because: &str,
        run: &RunId,
    ) -> Self {
        let verdict = format!("blocked: {because}");
        Self { at_ms, agent: agent.to_owned(), phase, target, score: None, verdict, report: report(run) }
    }

    pub(crate) fn escalated(
        at_ms: u64,
        phase: Option<String>,
        agent: &str,
        to: &str,
        because: &str,
        run: &RunId,
    ) -> Self {
        let verdict = format!("escalated to {to}: {because}");
        let (target, report) = (agent.to_owned(), report(run));
        Self { at_ms, agent: "orchestrator".into(), phase, target, score: None, verdict, report }
    }

    /// A heading and one line per field; whatever the words say, they stay on their line.
    pub fn render(&self, zone: &LocalZone) -> String {
        let or_none = |text: &str| if text.is_empty() { "N/A".to_owned() } else { words(text) };
        let score = self.score.map_or_else(|| "N/A".to_owned(), |score| format!("{score}/100"));
        format!(
            "### {} — {}\n**Phase:** {}\n**Target:** {}\n**Score:** {score}\n**Verdict:** {}\n**Report:** {}\n",
            zone.minute(self.at_ms),
            or_none(&self.agent),
            or_none(self.phase.as_deref().unwrap_or_default()),
            or_none(&self.target),
            or_none(&self.verdict),
            or_none(&self.report),
        )
    }
}

fn report(run: &RunId) -> String {
    format!("gadfly show {run}")
}

/// Paths in one line, the first few by name.
pub(crate) fn paths(all: &[String]) -> Option<String> {
    const SHOWN: usize = 3;
    let shown = all.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match all.len() {
        0 => None,
        n if n <= SHOWN => Some(shown),
        n => Some(format!("{shown} and {} more", n - SHOWN)),
    }
}
