//! The rules of `vote`: a worker drafts, the critic judges the draft several times, the majority decides.

use gadfly_engine::artifact::Manifest;
use gadfly_engine::brief::{ColdView, Previous, WorkerView};
use gadfly_engine::event::EventKind;
use gadfly_engine::judging::{JudgedText, Seat};
use gadfly_engine::machine::{AgentAnswer, CriticCall, Cx};
use gadfly_engine::manifest::Job;
use gadfly_engine::plan::{NodePlan, Target};
use gadfly_engine::protocol::{Protocol, RuleBook};
use gadfly_engine::reading::status::{self, Status};
use gadfly_engine::review::ReviewItem;
use gadfly_engine::turn::Role;
use gadfly_engine::{Digest, Halt, Outcome, RunManifest};
use serde::{Deserialize, Serialize};

pub const RULE_BOOK: RuleBook = RuleBook { name: "vote", version: 1, begin, manifest };

const WORKER: &str =
    "Write what the task asks for, so that it meets the rubric. Reply with the text alone.\n\n";
const CRITIC: &str = "You judge a draft by a rubric. You alone have read it; others judge it too, and you do not know what they say.\n\n";
const FORM: &str = "Reply with [STATUS: APPROVED] and a sentence that says why, or with [STATUS: REJECTED] and below it one \
                    line beginning with `- ` for each thing that must change.\n";

/// What one loop is about. Frozen with the plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VoteSettings {
    pub task: Digest,
    pub rubric: Vec<String>,
    pub draft: Option<Digest>,
    /// None: a review of the draft that was brought.
    pub worker: Option<String>,
    pub critic: String,
    pub rounds: u32,
    pub voices: u32,
    pub out: Option<Target>,
}

fn read(plan: &NodePlan) -> Result<VoteSettings, String> {
    VoteSettings::deserialize(&plan.settings)
        .map_err(|e| format!("the settings of `vote` cannot be read: {e}"))
}

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    let set = read(plan)?;
    let critic = Seat { agent: set.critic, fallback: None, lens: None };
    let manifest = RunManifest {
        task: Some(set.task),
        criteria: set.rubric,
        rounds: Some(set.rounds),
        ..RunManifest::default()
    };
    let manifest = manifest.sit(Job::Worker, set.worker.as_deref()).judged_by(&[critic]);
    Ok(manifest.writing(set.out.as_ref()).ruled_by(plan, &["task", "draft", "worker", "out"]))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = read(plan)?;
    if settings.worker.is_none() && settings.draft.is_none() {
        return Err("there is nothing to judge: name a worker, or bring a draft".into());
    }
    let limit = if settings.worker.is_some() { settings.rounds } else { 1 };
    Ok(Box::new(Vote { settings, limit, round: 1, draft: None, heard: 0, approvals: 0, open: Vec::new() }))
}

struct Vote {
    settings: VoteSettings,
    limit: u32,
    round: u32,
    draft: Option<Digest>,
    /// Verdicts on this draft, and how many of them approve.
    heard: u32,
    approvals: u32,
    /// What those who reject ask for.
    open: Vec<ReviewItem>,
}

impl Protocol for Vote {
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.emit(EventKind::RoundStarted { round: self.round, of: self.limit });
        match self.settings.draft {
            Some(draft) => self.put_to_the_vote(draft, true, cx),
            None => self.call_worker(None, cx),
        }
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        match answer.role() {
            Role::Worker | Role::Advisor => self.put_to_the_vote(answer.text, false, cx),
            Role::Critic => self.heard(answer, cx),
        }
    }

    fn raise_rounds(&mut self, rounds: u32) {
        if self.settings.worker.is_some() {
            self.limit = self.limit.max(rounds);
        }
    }

    fn draft(&self) -> Option<Digest> {
        self.draft
    }

    fn target(&self) -> Option<Target> {
        self.settings.out.clone().filter(|_| self.settings.worker.is_some())
    }

    fn material(&self) -> Vec<Digest> {
        std::iter::once(self.settings.task).chain(self.settings.draft).collect()
    }
}

impl Vote {
    fn rubric(&self, cx: &mut Cx<'_>) -> Digest {
        cx.intern(format!("- {}\n", self.settings.rubric.join("\n- ")))
    }

    fn call_worker(&self, rejected: Option<(Digest, &[ReviewItem])>, cx: &mut Cx<'_>) {
        let Some(worker) = &self.settings.worker else { return };
        let view = WorkerView {
            preface: None,
            task: self.settings.task,
            phase: "general",
            rubric: self.rubric(cx),
            references: &[],
            previous: rejected.map(|(draft, open)| Previous { draft, open }),
        };
        let message = view.message(cx.intern(WORKER));
        cx.call_worker(worker, vec![message]);
    }

    fn put_to_the_vote(&mut self, draft: Digest, given: bool, cx: &mut Cx<'_>) {
        let (artifact, bytes) = (Manifest::of_text(draft).digest(), cx.text(&draft).len() as u64);
        cx.emit(EventKind::DraftMade { round: self.round, artifact, blob: draft, bytes, given, diff: None });
        self.draft = Some(draft);
        (self.heard, self.approvals) = (0, 0);
        let (rubric, form) = (self.rubric(cx), cx.intern(FORM));
        for _ in 0..self.settings.voices {
            let view = ColdView {
                identity: None,
                task: self.settings.task,
                rubric,
                references: &[],
                iteration: self.round,
                draft,
                previous: None,
                again: None,
                form,
            };
            let critic = &self.settings.critic;
            cx.call_critic(
                CriticCall { agent: critic, fallback: None, instructions: &[CRITIC], schema: None },
                &view,
            );
        }
    }

    fn heard(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let Some(draft) = self.draft else { return };
        let reply = match status::read(cx.text(&answer.text), &cx.shown(&answer)) {
            Ok(reply) => reply,
            // The machine asks the critic what it meant; a doubt is no vote.
            Err(unread) => return cx.malformed(answer, self.round, &unread),
        };
        self.heard += 1;
        let known = self.open.len();
        let point = |(n, bullet): (usize, &status::Bullet)| {
            let number = u32::try_from(known + n + 1).unwrap_or(u32::MAX);
            ReviewItem { number, text: bullet.whole.clone(), since: self.round }
        };
        let open: Vec<ReviewItem> = reply.open.iter().enumerate().map(point).collect();
        let voice = format!("voice {} of {}", self.heard, self.settings.voices);
        let rubric = self.rubric(cx);
        let judged = JudgedText { round: self.round, draft, rubric, lens: Some(&voice) };
        let review = judged.review(&answer, &reply, open.clone(), cx);
        cx.emit(EventKind::Reviewed { round: self.round, review });
        match reply.status {
            Status::Approved => self.approvals += 1,
            Status::Rejected => self.open.extend(open),
        }
        if self.heard == self.settings.voices {
            self.count(draft, cx);
        }
    }

    fn count(&mut self, draft: Digest, cx: &mut Cx<'_>) {
        let points = std::mem::take(&mut self.open);
        let notes = || points.iter().map(|item| item.text.clone()).collect::<Vec<_>>();
        if self.approvals * 2 > self.settings.voices {
            return cx.finish(Outcome::Approved { draft, overruled: false, notes: notes() });
        }
        if self.settings.worker.is_none() {
            return cx.finish(Outcome::Rejected { draft: Some(draft), open: notes() });
        }
        if self.round >= self.limit {
            return cx.finish(Outcome::Halted { reason: Halt::Cap, draft: Some(draft), open: notes() });
        }
        self.round += 1;
        cx.emit(EventKind::RoundStarted { round: self.round, of: self.limit });
        self.call_worker(Some((draft, &points)), cx);
    }
}
