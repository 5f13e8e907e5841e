//! `revise`: a worker drafts, a critic says approved or rejected with bullets, at most three times.
//!
//! Only the decisions are here. Replies are read in `reading::status`, briefs are `brief`, the hint about
//! unasked changes is `sections`; failures, questions to critics and parking are the machine's.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::artifact::Manifest;
use crate::brief::{self, ColdView, Previous, Reference, WorkerView};
use crate::digest::Digest;
use crate::effect::{CallFailure, FailureKind};
use crate::event::EventKind;
use crate::judging::{JudgedText, Seat};
use crate::machine::{AgentAnswer, CriticCall, Cx};
use crate::manifest::{Job, PlannedPhase, PlannedWrite, RunManifest};
use crate::outcome::{Halt, Outcome};
use crate::plan::{NodePlan, Target};
use crate::protocol::{Protocol, RuleBook};
use crate::reading::status::{self, Status, StatusReply};
use crate::reading::{person, reasoning};
use crate::review::{Review, ReviewItem, Verdict};
use crate::sections;
use crate::stall::{Headway, Rejected};
use crate::turn::{Role, VerdictAsked};

mod items;
use items::Ground;

/// Version 2 of the rules: replies are read in `reading`.
pub const RULE_BOOK: RuleBook = RuleBook { name: "revise", version: 2, begin, manifest };

/// Rounds unless the user says otherwise.
pub const ROUNDS: u32 = 3;

const WORKER_DRAFT: &str = include_str!("../prompts/revise-worker-draft-1.md");
const WORKER_REVISION: &str = include_str!("../prompts/revise-worker-revision-1.md");
const CRITIC: &str = include_str!("../prompts/revise-critic-1.md");
const CRITIC_AGAIN: &str = include_str!("../prompts/revise-critic-again-1.md");
const FORM: &str = include_str!("../prompts/revise-form-1.md");
const FORM_AGAIN: &str = include_str!("../prompts/revise-form-again-1.md");
const FORM_JSON: &str = include_str!("../prompts/revise-form-json-1.md");

/// What one `revise` loop is about. Frozen with the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ReviseSettings {
    pub task: Digest,
    pub phase: String,
    pub rubric: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// A draft the user brought: the critic speaks first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Digest>,
    /// None: a review. The critic speaks once about the draft that was brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    pub critic: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_critic: Option<String>,
    pub rounds: u32,
    /// A rejection that rests only on new requirements is overruled.
    pub overrule: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<Target>,
    #[serde(default, skip_serializing_if = "ProjectPhase::is_none")]
    pub project: ProjectPhase,
}

/// What a project that works in phases says about the loop's phase.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProjectPhase {
    /// What precedes the worker's briefs: who it is, or the phase's skill and context.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preface: Option<Digest>,
    /// Who the critic is: the beginning of its briefs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic_identity: Option<Digest>,
    /// The phase whose skill was loaded: this one, or the closest that has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_skill: Option<String>,
    /// A log that the phase's loops share, beside the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_log: Option<String>,
}

impl ProjectPhase {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl ReviseSettings {
    pub fn node_plan(&self, limits: crate::budget::Limits) -> Result<NodePlan, serde_json::Error> {
        let settings = serde_json::to_value(self)?;
        Ok(NodePlan { protocol: RULE_BOOK.name.into(), version: RULE_BOOK.version, limits, settings })
    }
}

fn read(plan: &NodePlan) -> Result<ReviseSettings, String> {
    ReviseSettings::deserialize(&plan.settings)
        .map_err(|e| format!("the settings of `revise` cannot be read: {e}"))
}

fn manifest(plan: &NodePlan) -> Result<RunManifest, String> {
    let set = read(plan)?;
    let critic = Seat { agent: set.critic, fallback: set.fallback_critic, lens: None };
    let mut manifest = RunManifest {
        task: Some(set.task),
        criteria: set.rubric,
        rounds: Some(set.rounds),
        phase: Some(PlannedPhase { name: set.phase, skill: set.project.phase_skill }),
        ..RunManifest::default()
    }
    .sit(Job::Worker, set.worker.as_deref())
    .judged_by(&[critic])
    .writing(set.out.as_ref());
    manifest.writes.extend(set.project.shared_log.map(PlannedWrite::SharedLog));
    Ok(manifest.ruled_by(plan, &["task", "draft", "worker", "out"]))
}

fn begin(plan: &NodePlan) -> Result<Box<dyn Protocol>, String> {
    let settings = read(plan)?;
    if settings.rubric.iter().all(|r| r.trim().is_empty()) {
        return Err("the rubric is empty: a critic needs at least one criterion".into());
    }
    if settings.rounds == 0 {
        return Err("`rounds` is 0: at least one round is needed".into());
    }
    if settings.worker.is_none() && settings.draft.is_none() {
        return Err("there is nothing to judge: name a worker, or bring a draft".into());
    }
    let limit = if settings.worker.is_some() { settings.rounds } else { 1 };
    Ok(Box::new(ReviseProtocol {
        settings,
        limit,
        rubric: None,
        round: 0,
        draft: None,
        previous: None,
        items: Vec::new(),
        headway: Headway::default(),
    }))
}

struct ReviseProtocol {
    settings: ReviseSettings,
    limit: u32,
    rubric: Option<Digest>,
    round: u32,
    draft: Option<Digest>,
    /// The draft of the round before, which was rejected.
    previous: Option<Digest>,
    /// Every item ever sent to the worker, by number.
    items: Vec<SentItem>,
    headway: Headway,
}

/// An item once sent to the worker.
#[derive(Clone, Debug)]
struct SentItem {
    item: ReviewItem,
    open: bool,
}

impl Protocol for ReviseProtocol {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let rubric: Vec<String> = self.settings.rubric.iter().map(|r| brief::one_line(r)).collect();
        self.rubric = Some(cx.intern(format!("- {}\n", rubric.join("\n- "))));
        self.begin_round(cx);
        match self.settings.draft {
            Some(draft) => self.take_draft(draft, true, cx),
            None => self.call_worker(cx),
        }
    }

    fn answered(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        match answer.role() {
            Role::Worker | Role::Advisor => self.drafted(answer, cx),
            Role::Critic => self.reviewed(answer, cx),
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
        // A review names the file it judges and writes none.
        self.settings.out.clone().filter(|_| self.settings.worker.is_some())
    }

    fn material(&self) -> Vec<Digest> {
        let settings = &self.settings;
        let mut all = vec![settings.task];
        all.extend(settings.draft);
        all.extend(settings.references.iter().map(|r| r.text));
        all.extend(settings.project.preface);
        all.extend(settings.project.critic_identity);
        all
    }
}

impl ReviseProtocol {
    fn begin_round(&mut self, cx: &mut Cx<'_>) {
        self.round += 1;
        cx.emit(EventKind::RoundStarted { round: self.round, of: self.limit });
    }

    fn open_items(&self) -> Vec<ReviewItem> {
        self.items.iter().filter(|s| s.open).map(|s| s.item.clone()).collect()
    }

    fn rubric(&self) -> Digest {
        self.rubric.unwrap_or(self.settings.task)
    }

    fn call_worker(&mut self, cx: &mut Cx<'_>) {
        let Some(worker) = &self.settings.worker else { return };
        let open = self.open_items();
        let previous = self.previous.map(|draft| Previous { draft, open: &open });
        let instructions = cx.intern(if previous.is_some() { WORKER_REVISION } else { WORKER_DRAFT });
        let view = WorkerView {
            preface: self.settings.project.preface,
            task: self.settings.task,
            phase: &self.settings.phase,
            rubric: self.rubric(),
            references: &self.settings.references,
            previous,
        };
        let message = view.message(instructions);
        cx.call_worker(worker, vec![message]);
    }

    fn call_critic(&mut self, draft: Digest, cx: &mut Cx<'_>) {
        let open = self.open_items();
        let structured = cx.is_structured(&self.settings.critic);
        let form = match self.previous {
            _ if cx.is_person(&self.settings.critic) => Cow::Owned(person::form(VerdictAsked::default())),
            _ if structured => Cow::Borrowed(FORM_JSON),
            Some(_) => Cow::Owned(FORM_AGAIN.replace("{before}", &self.round.saturating_sub(1).to_string())),
            None => Cow::Borrowed(FORM),
        };
        let view = ColdView {
            identity: self.settings.project.critic_identity,
            task: self.settings.task,
            rubric: self.rubric(),
            references: &self.settings.references,
            iteration: self.round,
            draft,
            previous: self.previous.map(|draft| Previous { draft, open: &open }),
            again: self.previous.map(|_| cx.intern(CRITIC_AGAIN)),
            form: cx.intern(form),
        };
        let call = CriticCall {
            agent: &self.settings.critic,
            fallback: self.settings.fallback_critic.as_deref(),
            instructions: &[CRITIC],
            schema: structured.then_some(status::SCHEMA),
        };
        cx.call_critic(call, &view);
    }

    fn drafted(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let reply = cx.text(&answer.text);
        let body = reasoning::without_leading(reply);
        if body.trim().is_empty() {
            let message = "the worker's reply holds no draft".to_owned();
            let failure =
                CallFailure { kind: FailureKind::BadReply, message, usage: crate::budget::Usage::default() };
            return cx.unusable(answer, failure);
        }
        let draft = if body.len() == reply.len() {
            answer.text
        } else {
            let body = body.to_owned();
            cx.intern(body)
        };
        self.take_draft(draft, false, cx);
    }

    fn take_draft(&mut self, draft: Digest, given: bool, cx: &mut Cx<'_>) {
        let text = cx.text(&draft).to_owned();
        let round = self.round;
        let artifact = Manifest::of_text(draft).digest();
        cx.emit(EventKind::DraftMade {
            round,
            artifact,
            blob: draft,
            bytes: text.len() as u64,
            given,
            diff: None,
        });
        if let Some(line) = status::status_line(&text) {
            cx.emit(EventKind::SelfVerdictNoted { round, line });
        }
        if let Some(previous) = self.previous {
            let sections = sections::changed_unasked(cx.text(&previous), &text, &self.open_items());
            if !sections.is_empty() {
                cx.emit(EventKind::ChangedUnasked { round, sections });
            }
        }
        self.draft = Some(draft);
        self.call_critic(draft, cx);
    }

    fn reviewed(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let Some(draft) = self.draft else { return };
        let person = cx.person_verdict(&answer).map(|person| Ok(person.status()));
        let prose = || status::read(cx.text(&answer.text), &cx.shown(&answer));
        let read = person.unwrap_or_else(|| cx.no_value(&answer).map_or_else(prose, Err));
        let reply = match read {
            Ok(reply) => reply,
            Err(unread) => return cx.malformed(answer, self.round, &unread),
        };
        let ground = items::ground(&reply, &self.items, cx.text(&draft), self.previous.map(|p| cx.text(&p)));
        let addressed = items::marked_addressed(&reply.addressed, &self.items);
        let open = match reply.status {
            Status::Approved => Vec::new(),
            Status::Rejected => self.number(&reply, &addressed),
        };
        let rendered = cx.text(&answer.text).trim_start().starts_with('{');
        let rendered = rendered.then(|| cx.intern(status::rendered(&reply, self.round)));
        let judged = JudgedText { round: self.round, draft, rubric: self.rubric(), lens: None };
        let review = Review { addressed, rendered, ..judged.review(&answer, &reply, open.clone(), cx) };
        cx.emit(EventKind::Reviewed { round: self.round, review: review.clone() });
        if review.verdict == Verdict::Rejected {
            self.watch_headway(&review, cx);
        }

        match reply.status {
            Status::Approved => {
                cx.finish(Outcome::Approved { draft, overruled: false, notes: review.notes });
            }
            Status::Rejected if ground == Ground::OnlyNew && self.settings.overrule => {
                let mut notes: Vec<String> = open.into_iter().map(|i| i.text).collect();
                cx.emit(EventKind::RejectionOverruled { round: self.round, notes: notes.clone() });
                notes.extend(review.notes);
                cx.finish(Outcome::Approved { draft, overruled: true, notes });
            }
            Status::Rejected if self.settings.worker.is_none() => {
                let open = open.into_iter().map(|i| i.text).collect();
                cx.finish(Outcome::Rejected { draft: Some(draft), open });
            }
            Status::Rejected if self.round >= self.limit => {
                let open = open.into_iter().map(|i| i.text).collect();
                cx.finish(Outcome::Halted { reason: Halt::Cap, draft: Some(draft), open });
            }
            Status::Rejected => self.revise(draft, open, cx),
        }
    }

    /// Reported beside the verdict; `revise` has its own cap and stops by nothing else.
    fn watch_headway(&mut self, review: &Review, cx: &mut Cx<'_>) {
        let previous = self.previous.map(|p| cx.text(&p));
        let rejected = Rejected {
            artifact: review.binding.artifact,
            open: review.open.iter().map(|i| i.number).collect(),
            only_new_about_old_text: previous
                .is_some_and(|p| items::only_new_about_old_text(&review.open, self.round, p)),
        };
        let stalls = self.headway.rejected(rejected);
        if !stalls.is_empty() {
            cx.emit(EventKind::Stalled { round: self.round, stalls });
        }
    }

    fn revise(&mut self, draft: Digest, open: Vec<ReviewItem>, cx: &mut Cx<'_>) {
        for sent in &mut self.items {
            sent.open = false;
        }
        for item in open {
            match self.items.iter_mut().find(|s| s.item.number == item.number) {
                Some(sent) => *sent = SentItem { item, open: true },
                None => self.items.push(SentItem { item, open: true }),
            }
        }
        self.previous = Some(draft);
        self.begin_round(cx);
        self.call_worker(cx);
    }

    /// The open items after a rejection: exactly what the critic left open.
    fn number(&self, reply: &StatusReply, addressed: &[u32]) -> Vec<ReviewItem> {
        let mut next = self.items.iter().map(|s| s.item.number).max().unwrap_or(0);
        let mut open: Vec<ReviewItem> = Vec::new();
        for bullet in &reply.open {
            let known = items::recurs_as(bullet, &self.items).filter(|n| open.iter().all(|i| i.number != *n));
            let earlier = known.and_then(|n| self.items.iter().find(|s| s.item.number == n)).map(|s| &s.item);
            let number = known.unwrap_or_else(|| {
                next += 1;
                next
            });
            let text = items::told(bullet, earlier, &self.items);
            open.push(ReviewItem { number, text, since: earlier.map_or(self.round, |item| item.since) });
        }
        // One item is left and one complaint is new, in some of its words: they are the same.
        let left: Vec<ReviewItem> = self
            .items
            .iter()
            .filter(|s| s.open && !addressed.contains(&s.item.number))
            .map(|s| s.item.clone())
            .collect();
        if let ([item], false) = (
            left.as_slice(),
            addressed.is_empty() || open.iter().any(|i| left.iter().any(|l| l.number == i.number)),
        ) {
            let mut fresh = open.iter_mut().filter(|i| i.since == self.round);
            if let (Some(one), None) = (fresh.next(), fresh.next())
                && items::shares_words(&item.text, &one.text)
            {
                (one.number, one.since) = (item.number, item.since);
            }
        }
        // Who ticks some of the items and lists no rest has not said that the others are done.
        if !addressed.is_empty() && !reply.lists_open {
            for sent in self.items.iter().filter(|s| s.open && !addressed.contains(&s.item.number)) {
                if open.iter().all(|i| i.number != sent.item.number) {
                    open.push(sent.item.clone());
                }
            }
        }
        open
    }
}

#[cfg(test)]
mod tests;
