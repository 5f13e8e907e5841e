//! What workers, advisors and people are told in `score`. Critics' briefs are `judging`'s: nothing of this
//! reaches them.

use super::Score;
use super::history::History;
use crate::blocks::Blocks;
use crate::digest::Digest;
use crate::finding::{Finding, Standing};
use crate::machine::{Cx, WorkerCall};
use crate::question::{About, Choice, Question};

const WORKER_DRAFT: &str = include_str!("../../prompts/score-worker-draft-1.md");
const WORKER_REVISION: &str = include_str!("../../prompts/score-worker-revision-1.md");
const WORKER_FRESH: &str = include_str!("../../prompts/score-worker-fresh-1.md");
const WORKER_RESTRUCTURE: &str = include_str!("../../prompts/score-worker-restructure-1.md");
const ADVISOR: &str = include_str!("../../prompts/score-advisor-1.md");

pub(super) const RESTRUCTURE: &str = "restructure";
pub(super) const GIVE_UP: &str = "give-up";

/// What a worker is called for.
pub(super) enum Call<'a> {
    Draft,
    Revision {
        draft: Digest,
        findings: &'a [Finding],
        scores: &'a str,
    },
    /// Afresh from a decision.
    Fresh {
        decision: Digest,
    },
    /// Afresh with all that was found.
    Restructure,
}

impl Score {
    pub(super) fn call_worker(&self, call: &Call<'_>, cx: &mut Cx<'_>) {
        let Some(worker) = &self.settings.worker else { return };
        let template = match call {
            Call::Draft => WORKER_DRAFT,
            Call::Revision { .. } => WORKER_REVISION,
            Call::Fresh { .. } => WORKER_FRESH,
            Call::Restructure => WORKER_RESTRUCTURE,
        };
        let brief = Blocks::of(cx.intern(template))
            .references(&self.settings.shown_references())
            .block("Task", self.settings.task)
            .block("Rubric", self.rubric());
        let brief = match call {
            Call::Draft => brief.line("Mode", "Initial Draft"),
            Call::Revision { draft, findings, scores } => brief
                .line("Mode", "Revision")
                .line("Round", &format!("{} of {}", self.attempt.rounds, self.limit))
                .line("Score", &format!("{scores}; {} passes", self.settings.threshold))
                .block("Previous Draft", *draft)
                .list("Findings", &findings.iter().map(feedback).collect::<Vec<_>>()),
            Call::Fresh { decision } => brief.line("Mode", "Fresh Start").block("Decision", *decision),
            Call::Restructure => {
                brief.line("Mode", "Fresh Start").list("Findings of all rounds", &self.history.everything())
            }
        };
        cx.call_worker(worker, vec![brief.message()]);
    }

    pub(super) fn ask_agent(&self, agent: &str, because: &str, cx: &mut Cx<'_>) {
        let mut brief = Blocks::of(cx.intern(ADVISOR))
            .references(&self.settings.shown_references())
            .block("Task", self.settings.task)
            .block("Rubric", self.rubric());
        if let Some(work) = &self.work {
            brief = brief.block("Last Draft", work.blob());
        }
        let brief = brief
            .line("Why you are asked", because)
            .list("Findings of all rounds", &self.history.everything());
        let messages = vec![brief.message()];
        cx.call(WorkerCall { agent, messages, tree: None, advice: true, tag: 0 });
    }
}

/// A finding as the worker is told: what is known about it from earlier rounds comes first.
fn feedback(finding: &Finding) -> String {
    let before = match finding.standing {
        Standing::Recurring => format!("(still open since round {}) ", finding.since),
        Standing::Regressed => "(was fixed and is back) ".to_owned(),
        Standing::New | Standing::Unmatched => String::new(),
    };
    format!("{before}{}", finding.line())
}

/// A concrete question: what stands against what, and which ways there are.
pub(super) fn question(because: &str, history: &History) -> Question {
    let mut text = format!("The work does not pass: {because}.\n");
    for line in history.dispute() {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str("Which of these demands holds, which gives way, and what should the worker do instead? Your answer is what it starts afresh from.");
    let choices = vec![
        Choice::new(RESTRUCTURE, "let the worker write it anew, with another structure and all findings"),
        Choice::new(GIVE_UP, "end here; the last draft stays unapproved"),
    ];
    Question { about: About::Escalation, text, choices, free: true }
}
