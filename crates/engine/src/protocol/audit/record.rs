//! What a judged round leaves behind for others: the report and its envelope, the route and why it was
//! taken. Nothing here decides.

use crate::event::EventKind;
use crate::judging::{self, SeatReview};
use crate::machine::{AgentAnswer, Cx};
use crate::outcome::Outcome;
use crate::review;

use super::AuditProtocol;
use super::judgement::AuditJudgement;
use super::report::{self, AuditReport, SatisfactionVerdict};
use super::routes::{self, Because, CRITIC_ERROR, Route, Routing};

impl AuditProtocol {
    /// Why this judgement neither passes nor rejects the work: somebody did not see or say enough, or, in a
    /// review, could not judge at all. In a loop a person is asked about the latter.
    pub(super) fn unverified(
        &self,
        routing: &Routing,
        report: &AuditReport,
        heard: &SeatReview<AuditJudgement>,
    ) -> Option<Outcome> {
        if routing.route == Route::Commit {
            return incomplete(report, heard);
        }
        let first = routing.blocking.first().filter(|_| self.settings.worker.is_none())?;
        let failed = routing.blocking.iter().all(|f| f.rule == CRITIC_ERROR);
        failed.then(|| Outcome::Unverified { reason: first.line(), draft: None, unseen: Vec::new() })
    }

    /// A worker that judges itself is noted.
    pub(super) fn note_self_verdict(&self, answer: &AgentAnswer, cx: &mut Cx<'_>) {
        if let Some(line) = crate::reading::audit::stated_verdict(cx.text(&answer.text)) {
            cx.emit(EventKind::SelfVerdictNoted { round: self.round, line });
        }
    }

    pub(super) fn route(&self, route: Route, because: &str, cx: &mut Cx<'_>) {
        let (round, route, because) = (self.round, route.name().to_owned(), because.to_owned());
        cx.emit(EventKind::Routed { round, route, because });
    }

    /// The report on disk, and the envelope for callers.
    pub(super) fn report(&self, report: &AuditReport, cx: &mut Cx<'_>) {
        let name = report::file_name(&report.task_id, report.round);
        let path = match self.settings.report_dir.as_str() {
            "" => name.clone(),
            folder => format!("{}/{name}", folder.trim_end_matches('/')),
        };
        let envelope = report.envelope(&self.settings.run_id, &path);
        let envelope = cx.intern(serde_json::to_string(&envelope).unwrap_or_default());
        let written = cx.intern(report.to_json());
        cx.emit(EventKind::Reported { round: report.round, name, report: written, envelope });
    }
}

/// Why a review without blocking findings is no pass all the same: somebody did not see or say enough.
fn incomplete(report: &AuditReport, heard: &SeatReview<AuditJudgement>) -> Option<Outcome> {
    if !heard.unseen.is_empty() {
        return Some(judging::unverified(&heard.unseen));
    }
    let unjudged: Vec<String> = report.unverified().map(|c| c.id.clone()).collect();
    (report.partial || !unjudged.is_empty()).then(|| Outcome::Unverified {
        reason: if unjudged.is_empty() {
            "the critic marked its report as partial".to_owned()
        } else {
            format!("the critic marked its report as partial and did not judge {}", unjudged.join(", "))
        },
        draft: None,
        unseen: if unjudged.is_empty() { vec!["a part of the review".to_owned()] } else { unjudged },
    })
}

pub(super) fn shown_criterion(judged: &report::JudgedCriterion) -> review::CriterionVerdict {
    let (word, because) = match judged.verdict {
        SatisfactionVerdict::Satisfied => ("Satisfied", &judged.evidence),
        SatisfactionVerdict::Unsatisfied => ("Unsatisfied", &judged.evidence),
        SatisfactionVerdict::InformationMissing => ("Information-Missing", &judged.missing_info),
        SatisfactionVerdict::Unverified => ("unverified", &judged.evidence),
    };
    review::CriterionVerdict {
        id: judged.id.clone(),
        claim: judged.claim.clone(),
        verdict: word.to_owned(),
        clean: judged.verdict == SatisfactionVerdict::Satisfied,
        because: because.clone(),
    }
}

/// Why a round's findings lead where they lead, in one sentence.
pub(super) fn because(routing: &Routing, cap: u32) -> String {
    let count = routing.blocking.len();
    let (findings, remain) = if count == 1 {
        ("1 finding".to_owned(), "remains")
    } else {
        (format!("{count} findings"), "remain")
    };
    match routing.because {
        Because::Clean if routing.notes.is_empty() => {
            "every criterion is satisfied, nothing was found".to_owned()
        }
        Because::Clean => format!("nothing blocks; {} kept as notes", routing.notes.len()),
        Because::Cap => format!("No round of {cap} is left, and {findings} {remain}."),
        Because::Findings => {
            let decides = routing.blocking.iter().max_by_key(|f| routes::of(&f.rule));
            let rule = decides.map_or("", |f| f.rule.as_str());
            format!("{findings}, decided by `{rule}`")
        }
    }
}
