//! What a project's own files tell of a pipeline beyond how its agents stand: dispatches, escalations, plans, verdicts,
//! entries of its journal, and what stands in the way. Kept only where such files are written or drawn.

use std::collections::BTreeMap;

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::pipeline::{PairVerdict, PipelineEvent, Product, Registry};
use gadfly_engine::protocol::pipeline::settings::PipelineSettings;
use gadfly_engine::review::{Review, Verdict};
use gadfly_engine::{EffectId, Input, NodePath, Step};

use super::parts::{AgentStatus, Drafted, EscalationSeen, GivenVerdict, Invocation};
use super::{AgentRow, RowStatus};
use crate::pipeline::entry::{JournalEntry, paths};
use crate::pipeline::judges::Judges;
use crate::run_id::RunId;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PipelineHistory {
    /// Of the rules of pipelines that the run follows.
    pub rules: u32,
    pub phase: Option<String>,
    pub invocations: Vec<Invocation>,
    pub escalations: Vec<EscalationSeen>,
    pub drafted: Vec<Drafted>,
    pub verdicts: Vec<GivenVerdict>,
    /// What belongs into the project's journal, in order.
    pub entries: Vec<JournalEntry>,
    /// The last record changed something that the files show.
    pub(crate) changed: bool,
    pub(crate) registry: Registry,
    run: RunId,
    now_ms: u64,
    active_ms: u64,
    judges: Judges,
    /// The verdict that counts for an agent, from this run or before it.
    standing: BTreeMap<String, PairVerdict>,
    rounds_max: BTreeMap<String, u32>,
    /// What the last review or verdict of an agent left open.
    open: BTreeMap<String, Vec<String>>,
    /// The files an agent made, once they are with the user.
    made: BTreeMap<String, Vec<String>>,
    /// Why an agent is blocked, and why one could not be dispatched.
    blocked: BTreeMap<String, String>,
    refused: BTreeMap<String, String>,
    waiting: Vec<(EffectId, String)>,
    /// Escalations nobody has decided about yet, by the node of the pair.
    handed_over: Vec<(NodePath, String)>,
    /// Rounds a pair may have, where it has not begun any.
    rounds: u32,
}

/// One agent as a project's files show it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FiledAgent<'a> {
    pub agent: &'a str,
    pub critic: Option<&'a str>,
    pub status: AgentStatus,
    pub round: u32,
    pub rounds_max: u32,
    pub last_score: Option<u32>,
    pub open: &'a [String],
    pub artifact: &'a [String],
    /// Why it is blocked.
    pub because: Option<String>,
}

impl PipelineHistory {
    pub(super) fn new(run: RunId, rules: u32, settings: PipelineSettings) -> Self {
        let mut history = Self {
            rules,
            phase: None,
            invocations: Vec::new(),
            escalations: Vec::new(),
            drafted: Vec::new(),
            verdicts: Vec::new(),
            entries: Vec::new(),
            changed: false,
            registry: settings.registry,
            run,
            now_ms: 0,
            active_ms: 0,
            judges: Judges::default(),
            standing: BTreeMap::new(),
            rounds_max: BTreeMap::new(),
            open: BTreeMap::new(),
            made: BTreeMap::new(),
            blocked: BTreeMap::new(),
            refused: BTreeMap::new(),
            waiting: Vec::new(),
            handed_over: Vec::new(),
            rounds: settings.rounds,
        };
        settings.verdicts.into_iter().for_each(|verdict| history.stands(verdict));
        history
    }

    pub(super) fn go_on(&mut self, input: &Input, step: &Step) {
        self.now_ms = input.at.wall_ms;
        self.active_ms = self.active_ms.max(input.at.active_ms);
        self.judges.follow(input, step);
        self.changed = step.outcome.is_some() || matches!(input.what, InputKind::Started(_));
    }

    /// What an agent is like in the files.
    pub fn filed<'a>(&'a self, row: &'a AgentRow) -> FiledAgent<'a> {
        let verdict = self.standing.get(&row.agent);
        let counts = verdict.filter(|_| matches!(row.status, RowStatus::Pending | RowStatus::Done));
        let status = match (row.status, counts) {
            (_, Some(verdict)) => AgentStatus::of(verdict),
            (RowStatus::Pending, None) => AgentStatus::Pending,
            (RowStatus::Working, None) => AgentStatus::InProgress,
            (RowStatus::Done, None) => AgentStatus::Completed,
            (RowStatus::Blocked, None) => AgentStatus::Blocked,
        };
        let below = |verdict: &PairVerdict| format!("scored {} of {}", verdict.score, verdict.threshold);
        let because = match counts {
            Some(verdict) => Some(below(verdict)),
            None => self.blocked.get(&row.agent).cloned(),
        };
        let critic = counts.map(|verdict| &verdict.critic).or(row.critic.as_ref());
        let list = |of: &'a BTreeMap<String, Vec<String>>| of.get(&row.agent).map_or(&[][..], Vec::as_slice);
        FiledAgent {
            agent: &row.agent,
            critic: critic.map(String::as_str),
            status,
            round: counts.map_or(row.rounds, |verdict| verdict.rounds),
            rounds_max: self.rounds_max.get(&row.agent).copied().unwrap_or(self.rounds),
            last_score: counts.map(|v| v.score).or(row.score).or_else(|| verdict.map(|v| v.score)),
            open: list(&self.open),
            artifact: list(&self.made),
            because: because.filter(|_| status == AgentStatus::Blocked),
        }
    }

    /// Who stands in the way, in one line; none while the pipeline goes on by itself.
    pub fn blocked_by(&self, rows: &[AgentRow], has_stopped: bool) -> Option<String> {
        let handed_over = self.handed_over.last().map(|(_, why)| why);
        if let Some(why) = self.waiting.last().map(|(_, why)| why).or(handed_over) {
            return Some(why.clone());
        }
        let all: Vec<FiledAgent<'_>> = rows.iter().map(|row| self.filed(row)).collect();
        let blocked = all.iter().filter(|one| one.status == AgentStatus::Blocked);
        let why_blocked = |one: &FiledAgent<'_>| {
            format!("{}: {}", one.agent, one.because.as_deref().unwrap_or("its score is too low"))
        };
        let mut why: Vec<String> = blocked.map(why_blocked).collect();
        if why.is_empty() && has_stopped {
            let is_waiting =
                |one: &FiledAgent<'_>| matches!(one.status, AgentStatus::Pending | AgentStatus::InProgress);
            let is_pending = |agent: &String| all.iter().any(|one| one.agent == agent && is_waiting(one));
            let refused = self.refused.iter().filter(|(agent, _)| is_pending(agent));
            why = refused.map(|(_, line)| line.clone()).collect();
        }
        (!why.is_empty()).then(|| why.join("; "))
    }

    /// What a pair is about, for people: what its entry says it makes.
    pub fn target(&self, agent: &str) -> String {
        let products = self.registry.get(agent).map(|entry| entry.produces.as_slice()).unwrap_or_default();
        let named = |p: &Product| {
            let paths = if p.files.is_empty() { &p.patterns } else { &p.files };
            paths.iter().map(|path| path.0.clone()).collect::<Vec<_>>()
        };
        paths(&products.iter().flat_map(named).collect::<Vec<_>>()).unwrap_or_else(|| agent.to_owned())
    }

    /// A verdict counts from now on.
    fn stands(&mut self, verdict: PairVerdict) {
        let made = if verdict.made.is_empty() { &verdict.files } else { &verdict.made };
        self.made.insert(verdict.agent.clone(), made.iter().map(|file| file.path.clone()).collect());
        self.open.insert(verdict.agent.clone(), verdict.open.clone());
        self.standing.insert(verdict.agent.clone(), verdict);
    }

    /// What happened in the loop of a pair, or to the run.
    pub(super) fn happened(&mut self, node: &NodePath, what: &EventKind, rows: &[AgentRow]) {
        let row = rows.iter().find(|row| row.at.as_ref().is_some_and(|at| at.contains(node)));
        match (what, row) {
            (EventKind::Decided { .. }, _) => self.handed_over.retain(|(pair, _)| pair != node),
            (EventKind::RoundStarted { of, .. }, _) => {
                self.handed_over.retain(|(pair, _)| pair != node);
                let Some(row) = row else { return };
                self.rounds_max.insert(row.agent.clone(), *of);
                if let Some(sent) = self.invocations.iter_mut().rfind(|one| one.agent == row.agent) {
                    sent.rounds += 1;
                }
            }
            (EventKind::Reviewed { round, review }, Some(row)) => self.reviewed(row, *round, review),
            (EventKind::Escalated { round, to, because }, Some(row)) => {
                let (agent, now) = (row.agent.clone(), self.now_ms);
                self.handed_over.push((node.clone(), format!("{agent} was escalated to {to}: {because}")));
                let phase = row.phase.clone();
                self.entries.push(JournalEntry::escalated(now, phase, &agent, to, because, &self.run));
                let (to, because, round) = (to.clone(), because.clone(), *round);
                self.escalations.push(EscalationSeen { agent, to, because, round, at_ms: now });
            }
            (EventKind::Asked { effect, about }, _) => {
                let whom = row.map(|row| format!(" about {}", row.agent)).unwrap_or_default();
                self.waiting.push((effect.clone(), format!("a person is asked{whom}: {}", about.name())));
            }
            (EventKind::PersonSaid { effect, .. }, _) => self.waiting.retain(|(asked, _)| asked != effect),
            _ => return,
        }
        self.changed = true;
    }

    fn reviewed(&mut self, row: &AgentRow, round: u32, review: &Review) {
        let open: Vec<String> = review.open.iter().map(|item| item.text.clone()).collect();
        let entry = JournalEntry::judged(
            self.now_ms,
            row.phase.clone(),
            &review.binding.critic,
            self.target(&row.agent),
            review.score.as_ref().map(|score| score.value),
            review.verdict == Verdict::Approved,
            round,
            &open,
            &self.run,
        );
        self.entries.push(entry);
        if row.is_scored_by(review) {
            self.open.insert(row.agent.clone(), open);
        }
    }

    /// `rows` have taken it in already.
    pub(super) fn pipeline(&mut self, what: &PipelineEvent, rows: &[AgentRow]) {
        let now = self.now_ms;
        let phase =
            |agent: &str| rows.iter().find(|row| row.agent == agent).and_then(|row| row.phase.clone());
        let before = std::mem::replace(&mut self.changed, true);
        let entered = match what {
            PipelineEvent::PlanDrafted { text, by, spec, .. } => {
                let (text, by, spec) = (*text, by.clone(), *spec);
                self.drafted.push(Drafted { text, by, spec, at_ms: now, approved: None });
                return;
            }
            PipelineEvent::PlanApproved { text, by } => {
                for plan in self.drafted.iter_mut().filter(|plan| plan.text == *text) {
                    plan.approved = Some((by.clone(), now));
                }
                return;
            }
            PipelineEvent::Dispatched { agent, at, critic, nth, .. } => {
                self.invocations.push(Invocation {
                    agent: agent.clone(),
                    at: at.clone(),
                    critic: critic.clone(),
                    nth: *nth,
                    rounds: 0,
                    score: None,
                    status: AgentStatus::InProgress,
                    begun_ms: self.active_ms,
                    took_ms: 0,
                });
                self.refused.remove(agent);
                self.blocked.remove(agent);
                agent
            }
            PipelineEvent::FoundDone { agents } => {
                // Done is done, whatever its score.
                self.standing.retain(|agent, verdict| {
                    verdict.passes() || !agents.iter().any(|done| done.agent == *agent)
                });
                return;
            }
            PipelineEvent::NotDispatched { agent, lines } => {
                self.refused.insert(agent.clone(), lines.join(" "));
                return;
            }
            PipelineEvent::Scored { verdict, delivered } => {
                self.ended(&verdict.agent, AgentStatus::of(verdict), Some(verdict.score));
                if verdict.rejected {
                    // It is blocked, and was said to be.
                    return;
                }
                self.scored(verdict, *delivered, phase(&verdict.agent));
                &verdict.agent
            }
            PipelineEvent::Completed { agent, files } => {
                self.ended(agent, AgentStatus::Completed, None);
                let made: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
                let (phase, target) = (phase(agent), self.target(agent));
                self.entries.push(JournalEntry::completed(now, phase, agent, target, &made, None, &self.run));
                self.made.insert(agent.clone(), made);
                self.open.remove(agent);
                self.standing.remove(agent);
                agent
            }
            PipelineEvent::PairBlocked { agent, because, score, open, .. } => {
                self.ended(agent, AgentStatus::Blocked, *score);
                self.blocked.insert(agent.clone(), because.clone());
                self.open.insert(agent.clone(), open.clone());
                let (phase, target) = (phase(agent), self.target(agent));
                self.entries.push(JournalEntry::blocked(now, phase, agent, target, because, &self.run));
                agent
            }
            PipelineEvent::Begun { .. }
            | PipelineEvent::OverallRound { .. }
            | PipelineEvent::GateChecked { .. }
            | PipelineEvent::Learned { .. } => return,
            PipelineEvent::OutputIncomplete { .. }
            | PipelineEvent::WroteOutside { .. }
            | PipelineEvent::ConditionSaid { .. }
            | PipelineEvent::HookRan { .. } => return self.changed = before,
        };
        self.phase = phase(entered).or_else(|| self.phase.take());
    }

    fn scored(&mut self, verdict: &PairVerdict, delivered: bool, phase: Option<String>) {
        if !delivered {
            // What was delivered before stays, and so does its verdict.
            if let Some(before) = self.standing.get(&verdict.agent) {
                self.open.insert(verdict.agent.clone(), before.open.clone());
            }
            return;
        }
        let (now, judge) = (self.now_ms, self.judges.judge(&verdict.critic));
        self.verdicts.push(GivenVerdict { at_ms: now, judge, verdict: verdict.clone() });
        self.stands(verdict.clone());
        // Whoever judges has its entry from the review.
        if verdict.agent != verdict.critic {
            let (name, rounds) = (&verdict.agent, Some(verdict.rounds));
            let made = self.made.get(name).map_or(&[][..], Vec::as_slice);
            let target = self.target(name);
            let entry = JournalEntry::completed(now, phase, name, target, made, rounds, &self.run);
            self.entries.push(entry);
        }
    }

    fn ended(&mut self, agent: &str, status: AgentStatus, score: Option<u32>) {
        let mine = self.invocations.iter().filter(|sent| sent.agent == agent);
        let nodes: Vec<NodePath> = mine.map(|sent| sent.at.clone()).collect();
        self.handed_over.retain(|(pair, _)| !nodes.iter().any(|node| node.contains(pair)));
        if let Some(sent) = self.invocations.iter_mut().rfind(|sent| sent.agent == agent) {
            (sent.status, sent.score) = (status, score);
            sent.took_ms = self.active_ms.saturating_sub(sent.begun_ms);
        }
    }
}
