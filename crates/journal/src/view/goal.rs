//! A goal as its record tells it: every step, and beside the steps the rail: what the critic, the verification and
//! people said, in the order it happened. Also what is used of its caps and who cost what. A fold; no decision
//! reads it.

use std::collections::BTreeMap;

use gadfly_engine::event::EventKind;
use gadfly_engine::goal::{GoalStep, ProgressVerdict, StepEnd};
use gadfly_engine::input::InputKind;
use gadfly_engine::manifest::RunManifest;
use gadfly_engine::tree::Change;
use gadfly_engine::turn::Role;
use gadfly_engine::{
    Class, Digest, Effect, EffectId, EffectKind, Input, Limits, Money, NodePath, Plan, Reply, Step, Usage,
};
use serde::{Deserialize, Serialize};

use super::totals::{RunTotals, Share};
use crate::read::Record;
use crate::summary::Summary;

/// The protocol whose runs are goals.
const WATCH: &str = "goal";

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GoalState {
    pub node: NodePath,
    /// The goal's text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Digest>,
    /// When it is reached and what may be done for it, in people's words.
    pub criterion: String,
    pub policy: String,
    /// Steps from one look of the critic to the next; 0 if nobody watches.
    pub interval: u32,
    /// Where the worker works, absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// The worker works in the user's own files.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_place: bool,
    pub steps: Vec<StepTaken>,
    /// What was said beside the steps, by time.
    pub rail: Vec<RailEntry>,
    pub counts: GoalCounts,
    pub caps: Limits,
    pub used: CapsUsed,
    pub costs: Costs,
    /// The folder when it was last looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<FolderSeen>,
    #[serde(skip)]
    folding: Folding,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StepTaken {
    pub seq: u32,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    pub step: GoalStep,
}

/// Something said about a goal, or to its worker. `what` is the event itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RailEntry {
    pub seq: u32,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The step it came after; 0 before the first.
    pub after: u32,
    pub what: EventKind,
}

/// How often what happened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct GoalCounts {
    pub ok: u32,
    pub err: u32,
    pub blocked: u32,
    pub denied: u32,
    pub unknown: u32,
    pub progressing: u32,
    pub stuck: u32,
    pub achieved: u32,
    pub misled: u32,
    /// Looks of the critic that gave nothing readable.
    pub error: u32,
    pub claims: u32,
    pub failed_claims: u32,
    /// Claims in a row that were not met; 0 once one is.
    pub failed_in_a_row: u32,
}

/// What is used of the caps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct CapsUsed {
    pub steps: u32,
    pub turns: u32,
    pub active_ms: u64,
    pub tokens: u64,
    pub money: Money,
    /// The true amounts may be higher: show them with `≥`.
    pub unknown: bool,
}

/// Who cost what.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Costs {
    pub worker: Share,
    pub critic: Share,
    pub judge: Share,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FolderSeen {
    pub seq: u32,
    pub at_ms: u64,
    /// Its diff against the beginning, a text.
    pub diff: Digest,
    pub changes: Vec<Change>,
}

/// What only the fold needs to know.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub(crate) struct Folding {
    open: BTreeMap<EffectId, PendingEffect>,
    /// Whether the goal is reached is being found out: whoever is asked now is the judge.
    verifying: bool,
    /// The whole change is before the critic: whoever is asked now is no judge.
    #[serde(default)]
    shown: bool,
    active_ms: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct PendingEffect {
    /// Whose call it is; none if it is no call.
    caller: Option<Caller>,
    person: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Caller {
    Worker,
    Critic,
    Judge,
}

impl GoalState {
    /// Takes a record in that `summary` and `totals` have taken in already. There is a goal from the record on that sets
    /// one. Steps and rail are kept only if `parts` are.
    pub(super) fn apply(
        goal: &mut Option<Self>,
        (seq, input, step): (u32, &Input, &Step),
        planned: Option<&RunManifest>,
        (summary, totals): (&Summary, &RunTotals),
        parts: bool,
    ) {
        if let (InputKind::Started(start), Some(planned)) = (&input.what, planned)
            && start.plan.root.protocol == WATCH
        {
            *goal = Some(Self::planned(&start.plan, planned));
        }
        for event in &step.events {
            if matches!(event.what, EventKind::GoalSet { .. })
                && goal.as_ref().is_none_or(|goal| goal.node != event.node)
            {
                *goal = Some(Self::new(event.node.clone()));
            }
        }
        let Some(goal) = goal else { return };
        goal.record(seq, input, step, totals);
        if !parts {
            goal.keep_numbers();
        }
        let used = &mut goal.used;
        (used.tokens, used.money, used.unknown) = (summary.tokens, summary.cost, summary.cost_unknown);
        let steps = totals.limits.steps.or(Some(summary.steps_max).filter(|steps| *steps > 0));
        goal.caps = Limits { steps, ..totals.limits };
    }

    /// Drops all but the numbers, which do not grow with the run.
    fn keep_numbers(&mut self) {
        let Self { node, counts, caps, used, costs, folding, .. } =
            std::mem::replace(self, Self::new(NodePath::root()));
        *self = Self { counts, caps, used, costs, folding, ..Self::new(node) };
    }

    /// Puts the numbers of the whole goal in the place of those of a part.
    pub(crate) fn count_as(&mut self, whole: Self) {
        let Self { counts, caps, used, costs, folding, .. } = whole;
        (self.counts, self.caps, self.used, self.costs, self.folding) = (counts, caps, used, costs, folding);
    }

    /// What a checkpoint keeps of a goal beside what is shown.
    pub(crate) const fn folding(&self) -> &Folding {
        &self.folding
    }

    pub(crate) fn go_on_with(&mut self, folding: Folding) {
        self.folding = folding;
    }

    /// Steps and rail of these records alone, when `before` steps came before them.
    pub(crate) fn stretch<'a>(
        &self,
        before: u32,
        records: impl Iterator<Item = &'a Record>,
    ) -> (Vec<StepTaken>, Vec<RailEntry>) {
        let mut goal = Self::new(self.node.clone());
        goal.used.steps = before;
        for Record { seq, input, step } in records {
            for event in &step.events {
                goal.happened(&event.node, &event.what, *seq, input.at.wall_ms);
            }
        }
        (goal.steps, goal.rail)
    }

    /// Whether the time of this goal passes now.
    pub fn is_at_work(&self) -> bool {
        self.folding.open.values().any(|open| !open.person)
    }

    fn new(node: NodePath) -> Self {
        Self {
            node,
            goal: None,
            criterion: String::new(),
            policy: String::new(),
            interval: 0,
            root: None,
            in_place: false,
            steps: Vec::new(),
            rail: Vec::new(),
            counts: GoalCounts::default(),
            caps: Limits::default(),
            used: CapsUsed::default(),
            costs: Costs::default(),
            folder: None,
            folding: Folding::default(),
        }
    }

    fn planned(plan: &Plan, manifest: &RunManifest) -> Self {
        let mut goal = Self::new(NodePath::root());
        (goal.goal, goal.root) = (manifest.task, manifest.root.clone());
        goal.in_place = plan.workspace.as_ref().is_some_and(|workspace| workspace.in_place);
        goal
    }

    /// Lets the time pass up to `active_ms`.
    fn pass(&mut self, active_ms: u64) {
        let passed = active_ms.saturating_sub(self.folding.active_ms);
        self.folding.active_ms = self.folding.active_ms.max(active_ms);
        if self.is_at_work() {
            self.used.active_ms = self.used.active_ms.saturating_add(passed);
        }
    }

    fn record(&mut self, seq: u32, input: &Input, step: &Step, totals: &RunTotals) {
        let at = input.at;
        self.pass(at.active_ms);
        let mut charged = None;
        match &input.what {
            InputKind::Replied { effect, reply } => {
                if let Reply::Looked(looked) = reply
                    && let Some(tree) = looked.tree.as_ref().filter(|_| self.node.contains(&effect.node))
                {
                    let (diff, changes) = (tree.diff, tree.changes.clone());
                    self.folder = Some(FolderSeen { seq, at_ms: at.wall_ms, diff, changes });
                }
                charged = self.folding.open.remove(effect);
            }
            InputKind::Answered { effect, .. } => drop(self.folding.open.remove(effect)),
            _ => {}
        }
        for event in &step.events {
            if let EventKind::Charged { effect, agent, usage, cost, run } = &event.what {
                self.used.active_ms = self.used.active_ms.max(run.active_ms);
                // Of a call that was lost it is still open here.
                let open = charged.or_else(|| self.folding.open.get(effect).copied());
                let unpriced = totals.is_unpriced(agent, usage);
                self.charge(open.and_then(|open| open.caller), usage, *cost, unpriced);
            }
            self.happened(&event.node, &event.what, seq, at.wall_ms);
        }
        if let InputKind::Resumed { .. } = &input.what {
            self.folding.open.retain(|_, open| open.person);
        }
        for effect in &step.effects {
            self.asked(effect);
        }
    }

    fn charge(&mut self, caller: Option<Caller>, usage: &Usage, cost: Money, unknown: bool) {
        let share = match caller {
            Some(Caller::Worker) => &mut self.costs.worker,
            Some(Caller::Critic) => &mut self.costs.critic,
            Some(Caller::Judge) => &mut self.costs.judge,
            None => return,
        };
        share.add(usage, cost, unknown);
    }

    fn asked(&mut self, effect: &Effect) {
        if !effect.kind.has_reply() || !self.node.contains(&effect.id.node) {
            return;
        }
        let caller = match &effect.kind {
            // The last words are the worker's, too, though it may do nothing any more.
            EffectKind::Turn(turn) if turn.role != Role::Critic => Some(Caller::Worker),
            EffectKind::Turn(_) if self.folding.verifying && !self.folding.shown => Some(Caller::Judge),
            EffectKind::Turn(_) => Some(Caller::Critic),
            _ => None,
        };
        if caller == Some(Caller::Worker) {
            // A claim that was answered with a nudge leads back to the worker.
            self.folding.verifying = false;
        }
        if matches!(&effect.kind, EffectKind::Turn(turn) if turn.role == Role::Worker)
            && effect.repeats.is_none()
        {
            self.used.turns = self.used.turns.saturating_add(1);
        }
        let open = PendingEffect { caller, person: effect.class == Class::Person };
        self.folding.open.insert(effect.id.clone(), open);
    }

    fn happened(&mut self, node: &NodePath, what: &EventKind, seq: u32, at_ms: u64) {
        let of_run =
            matches!(what, EventKind::Resumed | EventKind::PauseRequested | EventKind::CancelRequested);
        if of_run || (self.node.contains(node) && belongs_on_rail(what)) {
            let after = self.used.steps;
            self.rail.push(RailEntry { seq, at_ms, after, what: what.clone() });
        }
        match what {
            _ if !self.node.contains(node) => {}
            EventKind::GoalSet { goal, criterion, policy, interval, steps: _ } => {
                self.goal = Some(*goal);
                self.criterion.clone_from(criterion);
                self.policy.clone_from(policy);
                self.interval = *interval;
            }
            EventKind::Stepped { step } => {
                self.used.steps = self.used.steps.max(step.n);
                *self.counts.of_step(step.end) += 1;
                self.steps.push(StepTaken { seq, at_ms, step: step.clone() });
            }
            EventKind::Watched { verdict, .. } => *self.counts.of_verdict(*verdict) += 1,
            EventKind::ChangeShown { .. } => self.folding.shown = true,
            EventKind::ChangeLookedAt { .. } => self.folding.shown = false,
            EventKind::Claimed { .. } => {
                self.folding.verifying = true;
                self.counts.claims += 1;
            }
            EventKind::VerificationFailed { in_a_row, .. } => {
                self.folding.verifying = false;
                self.counts.failed_claims += 1;
                self.counts.failed_in_a_row = *in_a_row;
            }
            EventKind::GoalVerified { .. } => {
                self.folding.verifying = false;
                self.counts.failed_in_a_row = 0;
            }
            _ => {}
        }
    }
}

impl GoalCounts {
    const fn of_step(&mut self, end: StepEnd) -> &mut u32 {
        match end {
            StepEnd::Ok => &mut self.ok,
            StepEnd::Err => &mut self.err,
            StepEnd::Blocked => &mut self.blocked,
            StepEnd::Denied => &mut self.denied,
            StepEnd::Unknown => &mut self.unknown,
        }
    }

    const fn of_verdict(&mut self, verdict: ProgressVerdict) -> &mut u32 {
        match verdict {
            ProgressVerdict::Progressing => &mut self.progressing,
            ProgressVerdict::Stuck => &mut self.stuck,
            ProgressVerdict::Achieved => &mut self.achieved,
            ProgressVerdict::Misled => &mut self.misled,
            ProgressVerdict::Error => &mut self.error,
        }
    }
}

/// What somebody said about a goal or did to it, besides the steps themselves.
pub(crate) const fn belongs_on_rail(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::Watched { .. }
            | EventKind::WentOn { .. }
            | EventKind::CriticOff { .. }
            | EventKind::Nudged { .. }
            | EventKind::Claimed { .. }
            | EventKind::VerificationFailed { .. }
            | EventKind::GoalVerified { .. }
            | EventKind::CriterionTried { .. }
            | EventKind::ProtectedChanged { .. }
            | EventKind::Waived { .. }
            | EventKind::ChangeLookedAt { .. }
            | EventKind::ToolDisabled { .. }
            | EventKind::OutcomeUnknown { .. }
            | EventKind::Steered { .. }
            | EventKind::GoalPaused { .. }
            | EventKind::GaveUp { .. }
            | EventKind::Pipeline(_)
            | EventKind::LastWords { .. }
            | EventKind::Resumed
            | EventKind::PauseRequested
            | EventKind::CancelRequested
    )
}

#[cfg(test)]
mod tests;
