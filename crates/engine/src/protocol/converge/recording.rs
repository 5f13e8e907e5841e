//! What goes on record of a pass: the review, deferrals, how many FAILs were mended. Decides nothing.

use super::pass::{PartReply, Pass};
use super::sets::ADVERSARIAL;
use super::{ConvergeProtocol, PassEnd};
use crate::event::EventKind;
use crate::identity::Moved;
use crate::judging::SeatReview;
use crate::machine::Cx;
use crate::reading;
use crate::reading::pass::{Claim, Claimed};
use crate::review::{self, CriterionVerdict, Verdict, open_items};
use crate::work::Work;

impl ConvergeProtocol {
    /// FAILs that were sent to the worker and are PASS or DEFER now.
    pub(super) fn count_fixes(&mut self, pass: &Pass) {
        let clean = pass.answers.iter().filter(|a| a.standpoint.is_clean()).map(|a| a.criterion.as_str());
        for name in clean.chain((!pass.realistic).then_some(ADVERSARIAL)) {
            self.fixes += u32::from(self.failing.remove(name));
        }
    }

    pub(super) fn defer_what_the_critic_defers(&mut self, pass: &Pass, critic: &str, cx: &mut Cx<'_>) {
        for answer in pass.deferred().filter(|a| !a.put_off) {
            if self.deferred.insert(answer.criterion.clone()) {
                cx.emit(EventKind::Deferred {
                    round: self.round,
                    criterion: answer.criterion.clone(),
                    reason: answer.because.clone(),
                    by: critic.to_owned(),
                });
            }
        }
    }

    pub(super) fn record(
        &self,
        heard: &SeatReview<PartReply>,
        pass: &Pass,
        moved: &Moved,
        work: &Work,
        ended: PassEnd,
        cx: &mut Cx<'_>,
    ) {
        let verdict = match (pass.is_clean() && !pass.realistic, heard.unseen.is_empty()) {
            (true, true) => Verdict::Approved,
            (true, false) => Verdict::Unverified,
            (false, _) => Verdict::Rejected,
        };
        let mut review = heard.review(self.round, work.artifact(), self.rubric(), verdict);
        let in_json = cx.text(&heard.reply()).trim_start().starts_with('{');
        if let Some(part) = heard.parts.first().filter(|_| in_json) {
            let text = reading::pass::rendered(part.judgement.reply(), &self.settings.criteria, self.round);
            review.rendered = Some(cx.intern(text));
        }
        review.open = open_items(&pass.blocking());
        review.criteria = pass.verdicts();
        if verdict == Verdict::Approved {
            review.reason = review::reason(review.criteria.iter().map(CriterionVerdict::line));
        }
        review.notes = pass.deferred().map(|a| format!("{} deferred: {}", a.criterion, a.because)).collect();
        review.deviations.extend(pass.deviations.iter().cloned());
        review.deviations.extend(false_claims(pass, ended));
        review.fixed = moved.fixed.iter().copied().filter(|n| !self.settled.contains(n)).collect();
        review.findings =
            pass.findings.iter().chain(&moved.merged).chain(&pass.unsupported).cloned().collect();
        cx.emit(EventKind::Reviewed { round: self.round, review });
    }
}

/// Results the critic states that are not those the verdicts add up to.
fn false_claims(pass: &Pass, ended: PassEnd) -> Vec<String> {
    let computed = match ended {
        PassEnd::Converged => (Claimed::Converged, "CONVERGED"),
        PassEnd::SafetyCap => (Claimed::SafetyCap, "SAFETY CAP"),
        PassEnd::Continue => (Claimed::Continue, "CONTINUE"),
        PassEnd::Escalate => (Claimed::Escalate, "ESCALATE"),
    };
    let differs = |claim: &&Claim| claim.result != computed.0;
    let said = |claim: &Claim| format!("the critic claims the result `{}`; it is {}", claim.text, computed.1);
    pass.claims.iter().filter(differs).map(said).collect()
}
