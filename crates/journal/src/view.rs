//! A run as its records tell it: the one fold that summaries, `show`, pages, MCP, reports, the files of a project and
//! checkpoints read. No decision reads it.

mod goal;
mod pipeline;
mod round;
mod stored;
mod totals;

use std::collections::BTreeMap;

use gadfly_engine::effect::Committed;
use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::manifest::RunManifest;
use gadfly_engine::question::Question;
use gadfly_engine::{AgentCard, Digest, Effect, EffectId, EffectKind, Input, NodePath, Outcome, Reply, Step};
use serde::{Deserialize, Serialize};

use crate::encode::ChunkEnd;
use crate::journal::Journal;
use crate::read::{ReadError, Record};
use crate::rows::RunRow;
use crate::run_id::RunId;
use crate::summary::Summary;

pub(crate) use goal::belongs_on_rail;
pub use goal::{CapsUsed, Costs, FolderSeen, GoalCounts, GoalState, RailEntry, StepTaken};
pub use pipeline::{
    AgentRow, AgentStatus, Briefed, Drafted, EscalationSeen, FiledAgent, GivenVerdict, Invocation,
    PipelineHistory, PipelineView, RowStatus,
};
pub use round::{
    CriticCount, DeferredItem, EscalatedTo, FindingCounts, RoundRoute, RoundState, VerifyState, is_said_in,
};
pub(crate) use stored::{StoredTotals, TotalsToStore};
pub use totals::{RunTotals, Share, UnreviewedReply, Wish};

/// How much a view keeps of what it is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) enum Keep {
    /// The numbers: as much for a long run as for a short one.
    Totals,
    /// What people look at.
    #[default]
    Parts,
    /// And what the files of a project tell of a pipeline.
    History,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RunView {
    pub summary: Summary,
    pub rounds: Vec<RoundState>,
    pub outcome: Option<Outcome>,
    pub warnings: Vec<String>,
    /// Files written: path, and whether the content was approved.
    pub saved: Vec<SavedFile>,
    /// The model behind each agent: as planned, or as the provider says once it answered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, String>,
    /// Verify commands as they ran before the first paid call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<VerifyState>,
    /// Every question to a person, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionState>,
    /// What those said who were asked for a decision.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub violations: Vec<Violation>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<RoundReport>,
    /// The approved tree is with the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Accepted>,
    /// The protocol's own summary of the whole loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The run has a folder whose state is judged.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub folder: bool,
    /// Steps, rail and meters of a goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalState>,
    /// The agents of a pipeline, its gate and what could be learned from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<PipelineView>,
    /// Caps in force, who cost what, what was asked of the run.
    #[serde(skip)]
    pub totals: RunTotals,
    #[serde(skip)]
    keep: Keep,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SavedFile {
    pub path: String,
    pub approved: bool,
}

/// A question to a person and, once there is one, its answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QuestionState {
    pub effect: EffectId,
    pub question: Question,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Decision>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Decision {
    pub by: String,
    pub text: Digest,
}

/// A critic that changed what it may only read.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Violation {
    pub agent: String,
    pub paths: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundReport {
    pub round: u32,
    pub name: String,
    pub report: Digest,
    pub envelope: Digest,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Accepted {
    pub paths: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Committed>,
    /// Files that are git's merge of both sides: nobody judged these bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    /// Files of which the user's version stayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

impl Accepted {
    fn and(&mut self, more: Self) {
        let Self { paths, commit, merged, kept } = more;
        for (mine, new) in [(&mut self.paths, paths), (&mut self.merged, merged), (&mut self.kept, kept)] {
            for path in new {
                if !mine.contains(&path) {
                    mine.push(path);
                }
            }
        }
        self.commit = commit.or_else(|| self.commit.take());
    }
}

impl RunView {
    pub fn new(run: RunId) -> Self {
        Self {
            summary: Summary::new(run),
            rounds: Vec::new(),
            outcome: None,
            warnings: Vec::new(),
            saved: Vec::new(),
            models: BTreeMap::new(),
            tried: Vec::new(),
            questions: Vec::new(),
            decisions: Vec::new(),
            violations: Vec::new(),
            reports: Vec::new(),
            accepted: None,
            result: None,
            folder: false,
            goal: None,
            pipeline: None,
            totals: RunTotals::default(),
            keep: Keep::Parts,
        }
    }

    /// With all that a project's files tell of a pipeline.
    pub fn with_history(run: RunId) -> Self {
        Self { keep: Keep::History, ..Self::new(run) }
    }

    /// The numbers alone.
    pub(crate) fn totals_of(run: RunId) -> Self {
        Self { keep: Keep::Totals, ..Self::new(run) }
    }

    pub fn apply(&mut self, record: &Record) {
        self.take_in(record.seq, &record.input, &record.step);
    }

    pub(crate) fn take_in(&mut self, seq: u32, input: &Input, step: &Step) {
        let planned = match &input.what {
            InputKind::Started(start) => Some(RunManifest::of(&start.plan)),
            _ => None,
        };
        let (planned, parts) = (planned.as_ref(), self.keep >= Keep::Parts);
        self.totals.apply(&mut self.summary, input, step, planned);
        note_models(&mut self.models, input, step);
        self.summary.name_models(&self.models);
        let numbers = (&self.summary, &self.totals);
        GoalState::apply(&mut self.goal, (seq, input, step), planned, numbers, parts);
        PipelineView::apply(&mut self.pipeline, &self.summary.run, input, step, self.keep);
        if parts {
            self.take_in_parts(input, step);
        }
    }

    fn take_in_parts(&mut self, input: &Input, step: &Step) {
        if let InputKind::Started(start) = &input.what {
            self.folder = start.plan.workspace.is_some();
        }
        for event in &step.events {
            self.happened(&event.node, &event.what);
        }
        for effect in &step.effects {
            self.asked(effect);
        }
        if step.outcome.is_some() {
            self.outcome.clone_from(&step.outcome);
        } else if self.summary.outcome.is_none() {
            self.outcome = None;
        }
    }

    /// Puts the numbers of the whole run in the place of those of a part of its records.
    pub(crate) fn count_as(&mut self, whole: Self) {
        let Self { summary, models, totals, goal, pipeline, .. } = whole;
        self.outcome.take_if(|_| summary.outcome.is_none());
        (self.summary, self.models, self.totals) = (summary, models, totals);
        if let (Some(part), Some(whole)) = (&mut self.goal, goal) {
            part.count_as(whole);
        }
        if let (Some(part), Some(whole)) = (&mut self.pipeline, pipeline) {
            part.stand_as(whole);
        }
    }

    /// The question that waits for its answer, if there is one.
    pub fn open_question(&self) -> Option<&QuestionState> {
        self.questions.iter().rfind(|asked| asked.answer.is_none())
    }

    /// A question that waits for its answer.
    pub fn question(&self, effect: &EffectId) -> Option<&QuestionState> {
        self.questions.iter().rfind(|asked| asked.effect == *effect && asked.answer.is_none())
    }

    /// Every question that waits for its answer, in the order they were asked.
    pub fn open_questions(&self) -> impl Iterator<Item = &QuestionState> {
        self.questions.iter().filter(|asked| asked.answer.is_none())
    }

    /// The last round that a critic judged.
    pub fn last_judged(&self) -> Option<&RoundState> {
        self.rounds.iter().rfind(|round| !round.reviews.is_empty())
    }

    /// For every critic, how many of its findings were supported and how many were not, in all rounds.
    pub fn critic_counts(&self) -> Vec<CriticCount> {
        let mut counts: Vec<CriticCount> = Vec::new();
        for review in self.rounds.iter().flat_map(|round| &round.reviews) {
            CriticCount::add(&mut counts, review);
        }
        counts
    }

    fn asked(&mut self, effect: &Effect) {
        let EffectKind::Ask(question) = &effect.kind else { return };
        // A question that is asked again after a stop is the same one.
        if let Some(before) = &effect.repeats {
            self.questions.retain(|asked| asked.effect != *before || asked.answer.is_some());
        }
        let (effect, question) = (effect.id.clone(), question.clone());
        self.questions.push(QuestionState { effect, question, answer: None });
    }

    fn happened(&mut self, node: &NodePath, what: &EventKind) {
        match what {
            EventKind::RoundStarted { round, .. } => self.begin(node, *round),
            EventKind::DraftMade { round, artifact, blob, bytes, given, diff } => {
                let at = self.round(node, *round);
                at.draft = Some(*blob);
                at.bytes = *bytes;
                at.artifact = Some(*artifact);
                at.given = *given;
                at.diff = *diff;
            }
            EventKind::ChangedUnasked { round, sections } => {
                self.round(node, *round).changed_unasked.clone_from(sections);
            }
            EventKind::Reviewed { round, review } => self.round(node, *round).judged(review),
            EventKind::Stalled { round, stalls } => self.round(node, *round).stalls.clone_from(stalls),
            EventKind::RejectionOverruled { round, notes } => {
                let at = self.round(node, *round);
                at.overruled = true;
                at.open.clear();
                at.notes.extend(notes.iter().cloned());
            }
            EventKind::Warned { message } => self.warnings.push(message.clone()),
            EventKind::Saved { path, approved } => {
                self.saved.push(SavedFile { path: path.clone(), approved: *approved });
            }
            EventKind::VerifyRan { round, command, green, verified } => {
                let ran = VerifyState { command: command.clone(), green: *green, verified: verified.clone() };
                let runs = if *round == 0 { &mut self.tried } else { &mut self.round(node, *round).verify };
                runs.push(ran);
            }
            EventKind::Routed { round, route, because } => {
                let routed = RoundRoute { route: route.clone(), because: because.clone() };
                self.round(node, *round).routes.push(routed);
            }
            EventKind::Escalated { round, to, because } => {
                let escalated = EscalatedTo { to: to.clone(), because: because.clone() };
                self.round(node, *round).escalations.push(escalated);
            }
            EventKind::Deferred { round, criterion, reason, by } => {
                let item =
                    DeferredItem { criterion: criterion.clone(), reason: reason.clone(), by: by.clone() };
                self.round(node, *round).deferred.push(item);
            }
            EventKind::RoundEnded { round, line } => self.round(node, *round).result = Some(line.clone()),
            // What a pair of a pipeline sums up is its own.
            EventKind::Summarised { .. } if self.pipeline.is_some() && *node != NodePath::root() => {}
            EventKind::Summarised { line } => self.result = Some(line.clone()),
            EventKind::Decided { by, text } => {
                self.decisions.push(Decision { by: by.clone(), text: *text });
            }
            EventKind::PersonSaid { effect, by, text } => {
                if let Some(asked) = self.questions.iter_mut().rfind(|asked| asked.effect == *effect) {
                    asked.answer = Some(Decision { by: by.clone(), text: *text });
                }
            }
            EventKind::Violated { agent, paths, .. } => {
                self.violations.push(Violation { agent: agent.clone(), paths: paths.clone() });
            }
            EventKind::Reported { round, name, report, envelope } => {
                let (round, name) = (*round, name.clone());
                self.reports.push(RoundReport { round, name, report: *report, envelope: *envelope });
            }
            EventKind::Accepted { paths, commit, merged, kept } => {
                let accepted = Accepted {
                    paths: paths.clone(),
                    commit: commit.clone(),
                    merged: merged.clone(),
                    kept: kept.clone(),
                };
                match &mut self.accepted {
                    // A pipeline brings its work pair by pair.
                    Some(before) if self.pipeline.is_some() => before.and(accepted),
                    _ => self.accepted = Some(accepted),
                }
            }
            EventKind::NodeStarted { .. }
            | EventKind::Charged { .. }
            | EventKind::SelfVerdictNoted { .. }
            | EventKind::ReplyMalformed { .. }
            | EventKind::FellBack { .. }
            | EventKind::CallFailed { .. }
            | EventKind::CallLost { .. }
            | EventKind::Overran { .. }
            | EventKind::SaveRefused { .. }
            | EventKind::Asked { .. }
            | EventKind::Conflicted { .. }
            // Those of a goal are folded into `goal`.
            | EventKind::GoalSet { .. }
            | EventKind::Stepped { .. }
            | EventKind::Watched { .. }
            | EventKind::WentOn { .. }
            | EventKind::CriticOff { .. }
            | EventKind::Nudged { .. }
            | EventKind::Claimed { .. }
            | EventKind::VerificationFailed { .. }
            | EventKind::GoalVerified { .. }
            | EventKind::CriterionTried { .. }
            | EventKind::ProtectedChanged { .. }
            | EventKind::Waived { .. }
            | EventKind::ChangeShown { .. }
            | EventKind::ChangeLookedAt { .. }
            | EventKind::ToolDisabled { .. }
            | EventKind::OutcomeUnknown { .. }
            | EventKind::Steered { .. }
            | EventKind::GoalPaused { .. }
            | EventKind::GaveUp { .. }
            | EventKind::Pipeline(_)
            | EventKind::LastWords { .. }
            | EventKind::PauseRequested
            | EventKind::CancelRequested
            | EventKind::Resumed
            | EventKind::LimitsRaised { .. }
            | EventKind::AgentChanged { .. } => {}
        }
    }

    /// A loop that starts over counts its rounds anew: a number that was judged already begins another round.
    fn begin(&mut self, node: &NodePath, round: u32) {
        let known = self.rounds.iter().rfind(|r| r.round == round && r.node == *node);
        if known.is_none_or(|r| !r.reviews.is_empty()) {
            self.rounds.push(RoundState::new(node.clone(), round));
        }
    }

    fn round(&mut self, node: &NodePath, round: u32) -> &mut RoundState {
        let found = self.rounds.iter().rposition(|r| r.round == round && r.node == *node);
        let at = found.unwrap_or_else(|| {
            self.rounds.push(RoundState::new(node.clone(), round));
            self.rounds.len() - 1
        });
        &mut self.rounds[at]
    }
}

/// The model behind each agent, as this record tells it.
pub(crate) fn note_models(models: &mut BTreeMap<String, String>, input: &Input, step: &Step) {
    match &input.what {
        InputKind::Started(start) => {
            let known = |(name, card): (&String, &AgentCard)| Some((name.clone(), card.model.clone()?));
            *models = start.plan.agents.iter().filter_map(known).collect();
        }
        InputKind::Replied { reply: Reply::Done(answer), .. } => {
            let charged = step.events.iter().find_map(|e| match &e.what {
                EventKind::Charged { agent, .. } => Some(agent.clone()),
                _ => None,
            });
            if let (Some(agent), Some(model)) = (charged, &answer.model) {
                models.insert(agent, model.clone());
            }
        }
        _ => {}
    }
    for event in &step.events {
        if let EventKind::AgentChanged { agent, card } = &event.what {
            match &card.model {
                Some(model) => drop(models.insert(agent.clone(), model.clone())),
                None => drop(models.remove(agent)),
            }
        }
    }
}

impl Journal {
    /// A run as all of its records tell it.
    pub fn state(&self, run: &RunId) -> Result<RunView, ReadError> {
        let mut view = self.folded(RunView::new(run.clone()))?;
        // Whether a process still drives the run is not in its records.
        view.summary.state = self.summary(run)?.state;
        Ok(view)
    }

    /// What a run's records add up to, read from its end.
    pub fn totals(&self, run: &RunId) -> Result<RunTotals, ReadError> {
        self.read(|conn| {
            let (snapshot, check) = (conn.unchecked_transaction()?, self.check());
            let row = RunRow::find(&snapshot, check, run)?;
            Ok(ChunkEnd::of(&snapshot, check, run, row.number)?.sums.totals)
        })
    }

    /// All records of a run, taken in by an empty view of it.
    pub(crate) fn folded(&self, mut view: RunView) -> Result<RunView, ReadError> {
        let run = view.summary.run.clone();
        for record in self.replay_from(&run, 0) {
            view.apply(&record?);
        }
        Ok(view)
    }
}

#[cfg(test)]
pub(crate) mod tests;
