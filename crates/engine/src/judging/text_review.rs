//! The review of one text by one critic that approves or rejects.

use crate::artifact::Manifest;
use crate::digest::Digest;
use crate::machine::{AgentAnswer, Cx};
use crate::reading::status::{Status, StatusReply};
use crate::review::{Binding, Coverage, CoveredFile, Review, ReviewItem, Verdict};

/// What was judged, and by what.
#[derive(Clone, Copy, Debug)]
pub struct JudgedText<'a> {
    pub round: u32,
    pub draft: Digest,
    pub rubric: Digest,
    /// Tells critics of the same name apart.
    pub lens: Option<&'a str>,
}

impl JudgedText<'_> {
    /// The review that a reply is.
    pub fn review(
        self,
        answer: &AgentAnswer,
        reply: &StatusReply,
        open: Vec<ReviewItem>,
        cx: &Cx<'_>,
    ) -> Review {
        let lines = u32::try_from(cx.text(&self.draft).lines().count()).unwrap_or(u32::MAX);
        Review {
            binding: Binding {
                round: self.round,
                artifact: Manifest::of_text(self.draft).digest(),
                critic: answer.agent().to_owned(),
                lens: self.lens.map(str::to_owned),
                rubric: self.rubric,
            },
            verdict: match reply.status {
                Status::Approved => Verdict::Approved,
                Status::Rejected => Verdict::Rejected,
            },
            open,
            addressed: Vec::new(),
            reason: reply.reason.clone(),
            rendered: None,
            notes: reply.notes.clone(),
            deviations: reply.deviations.clone(),
            coverage: Coverage {
                entries: vec![CoveredFile { path: "draft".into(), lines, from: None }],
                unseen: Vec::new(),
            },
            prompt: cx.prompt_digest(answer),
            reply: answer.text,
            more_calls: Vec::new(),
            findings: Vec::new(),
            fixed: Vec::new(),
            criteria: Vec::new(),
            score: None,
        }
    }
}
