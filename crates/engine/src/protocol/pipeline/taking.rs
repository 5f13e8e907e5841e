//! A pair is through: its result is brought to the project, or it is blocked. One after the other, a parallel group's
//! together.

use std::collections::BTreeSet;

use super::questions::{self, PipelineQuestion};
use super::{AtWork, EndedDispatch, PipelineProtocol, Stage};
use crate::artifact::ArtifactFile as FileEntry;
use crate::conflict::{Conflicts, Resolution, Way};
use crate::digest::Digest;
use crate::effect::NodePath;
use crate::event::EventKind;
use crate::machine::{Cx, TaskResult};
use crate::outcome::Outcome;
use crate::pipeline::PairVerdict;
use crate::pipeline::event::PipelineEvent;
use crate::protocol::PairResult;
use crate::protocol::score::settings::EscalateTo;
use crate::tree::{Accept, Acceptance, Change};

/// A result on its way to the project.
pub(super) struct Taking {
    node: NodePath,
    at: AtWork,
    result: PairResult,
    /// What of it is delivered, by path.
    only: Vec<String>,
    /// A conflict was asked about: what the checkout held then.
    seen: Option<Digest>,
}

impl PipelineProtocol {
    pub(super) fn pair_ended(&mut self, child: &NodePath, outcome: &Outcome, cx: &mut Cx<'_>) {
        let Some(at) = self.at_work.remove(child) else { return };
        self.ended.insert(child.clone(), (at, outcome.clone()));
        self.take_whole_groups(cx);
    }

    /// Results of a parallel group are taken together, without those that wait for a person.
    pub(super) fn take_whole_groups(&mut self, cx: &mut Cx<'_>) {
        let together = |one: &AtWork, other: &AtWork| {
            one.group.is_some() && one.group == other.group && one.wave == other.wave
        };
        let busy = self.at_work.iter().filter(|(node, _)| !cx.is_waiting(node)).map(|(_, at)| at);
        let busy: Vec<&AtWork> = busy.collect();
        let waits = |at: &AtWork| busy.iter().any(|other| together(at, other));
        let taken: Vec<NodePath> =
            self.ended.iter().filter(|(_, (at, _))| !waits(at)).map(|(node, _)| node.clone()).collect();
        for node in taken {
            if let Some((at, outcome)) = self.ended.remove(&node) {
                self.queue.push_back((node, at, outcome));
            }
        }
        self.identify(cx);
    }

    pub(super) fn take(&mut self, node: NodePath, at: AtWork, outcome: &Outcome, cx: &mut Cx<'_>) {
        let entry = self.settings.registry.get(&at.agent);
        let judges = entry.is_some_and(super::RegistryEntry::judges);
        let advisory = entry.is_some_and(super::RegistryEntry::is_advisory);
        let result = cx.result_of(&node);
        let is_whole = result.as_ref().is_some_and(|result| result.blocked.is_none());
        let counts = match outcome {
            Outcome::Approved { .. } => true,
            // Who judges has done its work, whatever it thinks of what it judged.
            Outcome::Rejected { .. } => judges,
            // What is said about it is reported, and blocks nothing.
            Outcome::Halted { .. } => advisory && is_whole,
            _ => false,
        };
        self.note_pass(&at.agent, result.as_ref(), counts);
        if let Some(result) = result.filter(|_| counts) {
            return self.deliver(node, at, result, cx);
        }
        self.not_taken(&node, &at.agent, outcome, cx);
        self.note_rejected(&node, &at.agent, cx);
        self.next(cx);
    }

    fn note_pass(&mut self, agent: &str, result: Option<&PairResult>, passed: bool) {
        let verdict = result.and_then(|result| result.verdict.as_ref());
        let escalated = verdict.is_some_and(|verdict| verdict.escalated);
        if escalated {
            self.escalated.insert(agent.to_owned());
        }
        let to_user =
            self.settings.registry.get(agent).is_some_and(|entry| entry.escalate_to == EscalateTo::User);
        let mut open = result.map(|result| result.recurring.clone()).unwrap_or_default();
        // What only the last round raised is told after what kept coming back.
        open.extend(verdict.iter().flat_map(|verdict| verdict.open.clone()));
        self.passes.push(EndedDispatch {
            agent: agent.to_owned(),
            score: verdict.map(|verdict| verdict.score),
            rounds: verdict.map_or(0, |verdict| verdict.rounds),
            passed,
            escalated_to_user: escalated && to_user,
            escalated_after: result.and_then(|result| result.escalated_after),
            open,
        });
    }

    fn not_taken(&mut self, node: &NodePath, agent: &str, outcome: &Outcome, cx: &mut Cx<'_>) {
        let result = cx.result_of(node);
        let verdict = result.as_ref().and_then(|result| result.verdict.as_ref());
        let score = verdict.map(|verdict| verdict.score);
        let rounds = verdict.map_or(0, |verdict| verdict.rounds);
        let open = match outcome {
            Outcome::Halted { open, .. } | Outcome::Rejected { open, .. } => open.clone(),
            _ => Vec::new(),
        };
        let because = result.as_ref().and_then(|result| result.blocked.clone()).unwrap_or_else(|| {
            let reached = score.map_or_else(String::new, |score| format!("; the last score was {score}"));
            format!("{}{reached}", outcome.label())
        });
        let blocked = PipelineEvent::PairBlocked {
            agent: agent.to_owned(),
            because: because.clone(),
            score,
            rounds,
            open,
        };
        cx.emit(EventKind::Pipeline(blocked));
        // What a program found wrong, and was mended in vain, is not tried again by itself.
        if result.is_some_and(|result| result.blocked.is_some()) {
            self.hopeless.insert(agent.to_owned());
        }
        self.blocked.insert(agent.to_owned(), because);
    }

    /// A draft that was judged and did not pass. Where the project has nothing better, what it reached counts.
    fn note_rejected(&mut self, node: &NodePath, agent: &str, cx: &mut Cx<'_>) {
        let Some(result) = cx.result_of(node).filter(|result| result.blocked.is_none()) else { return };
        let has_better = self.facts().current(agent).is_some_and(|current| !current.rejected);
        let Some(verdict) = result.verdict.filter(|_| !has_better) else { return };
        let verdict = PairVerdict { rejected: true, ..verdict };
        self.verdicts.push(verdict.clone());
        let scored = PipelineEvent::Scored { verdict: Box::new(verdict), delivered: false };
        cx.emit(EventKind::Pipeline(scored));
    }

    fn deliver(&mut self, node: NodePath, at: AtWork, result: PairResult, cx: &mut Cx<'_>) {
        let earlier = self.facts().current(&at.agent).filter(|_| at.again.is_some());
        let for_others = at.again.as_ref().is_some_and(|again| again.for_others);
        if let (Some(earlier), Some(verdict)) = (earlier, &result.verdict)
            && (verdict.score < earlier.score || (verdict.score == earlier.score && !for_others))
        {
            let verdict = Box::new(verdict.clone());
            cx.emit(EventKind::Pipeline(PipelineEvent::Scored { verdict, delivered: false }));
            return self.next(cx);
        }
        let is_outside = |change: &&Change| result.outside.contains(&change.path);
        let only =
            result.changes.iter().filter(|change| !is_outside(change)).map(|change| change.path.clone());
        let only: Vec<String> = only.collect();
        let gone = result.changes.iter().filter(|change| !is_outside(change) && change.after.is_none());
        let gone: Vec<String> = gone.map(|change| change.path.clone()).collect();
        if !gone.is_empty() {
            let message = format!("[{}] deletes {}", at.agent, crate::brief::some_of(&gone));
            cx.emit(EventKind::Warned { message });
        }
        let (agent, replaced) = (at.agent.clone(), self.replaced(&at, &result, cx));
        self.taking = Some(Taking { node, at, result, only, seen: None });
        if replaced.is_empty() {
            return self.ask_about_outside(cx);
        }
        let effect = cx.ask(questions::replaced(&agent, &replaced));
        self.asks.insert(effect, PipelineQuestion::Replaced);
    }

    pub(super) fn told_of_replaced(&mut self, yes: bool, cx: &mut Cx<'_>) {
        if yes { self.ask_about_outside(cx) } else { self.refused("the work that was there stays", cx) }
    }

    /// Files that nobody of ours had judged, and of which less than half is left: somebody's own work.
    fn replaced(&self, at: &AtWork, result: &PairResult, cx: &Cx<'_>) -> Vec<String> {
        if at.again.is_some() || self.facts().verdict(&at.agent).is_some() {
            return Vec::new();
        }
        let is_replaced = |change: &&Change| {
            let before = self.listing.get(&change.path).map(|found| found.digest);
            let (Some(before), Some(after)) = (before, change.after) else { return false };
            let is_known = cx.texts().contains(&before) && cx.texts().contains(&after);
            is_known && little_is_left(cx.text(&before), cx.text(&after))
        };
        let mine = result.changes.iter().filter(|change| !result.outside.contains(&change.path));
        mine.filter(is_replaced).map(|change| change.path.clone()).collect()
    }

    fn ask_about_outside(&mut self, cx: &mut Cx<'_>) {
        let Some(taking) = &self.taking else { return };
        let agent = taking.at.agent.clone();
        let is_outside = |change: &&Change| taking.result.outside.contains(&change.path);
        let outside: Vec<String> = taking.result.changes.iter().filter(is_outside).map(said_of).collect();
        if outside.is_empty() {
            return self.accept(None, cx);
        }
        let event = PipelineEvent::WroteOutside { agent: agent.clone(), paths: outside.clone() };
        cx.emit(EventKind::Pipeline(event));
        let effect = cx.ask(questions::outside(&agent, &outside));
        self.asks.insert(effect, PipelineQuestion::Outside);
    }

    pub(super) fn told_of_outside(&mut self, yes: bool, cx: &mut Cx<'_>) {
        if let Some(taking) = self.taking.as_mut().filter(|_| yes) {
            let wanted = taking.result.changes.iter().filter(|change| !is_link(change));
            let wanted = wanted.filter(|change| taking.result.outside.contains(&change.path));
            taking.only.extend(wanted.map(|change| change.path.clone()));
            taking.only.sort();
        }
        self.accept(None, cx);
    }

    fn accept(&mut self, resolution: Option<Resolution>, cx: &mut Cx<'_>) {
        let Some(taking) = &self.taking else { return };
        if taking.only.is_empty() {
            // What was judged is in the project already.
            return self.taken(&[], cx);
        }
        cx.accept(Accept {
            tree: taking.result.tree,
            how: Acceptance::Checkout,
            resolution,
            at: Some(taking.node.clone()),
            only: Some(taking.only.clone()),
        });
    }

    pub(super) fn delivery_replied(&mut self, what: TaskResult, cx: &mut Cx<'_>) {
        if self.stage == Stage::Ending {
            return self.committed(what, cx);
        }
        match what {
            TaskResult::Accepted { kept, .. } => self.taken(&kept, cx),
            TaskResult::Conflicts(conflicts) => self.ask_about(&conflicts, cx),
            TaskResult::NotAccepted { message } => self.refused(&message, cx),
            _ => {}
        }
    }

    fn ask_about(&mut self, conflicts: &Conflicts, cx: &mut Cx<'_>) {
        let Some(taking) = &mut self.taking else { return };
        let question = conflicts.question(taking.seen.is_some());
        taking.seen = Some(conflicts.seen);
        let effect = cx.ask(question.clone());
        self.asks.insert(effect, PipelineQuestion::Conflict(question));
    }

    pub(super) fn told_of_conflict(&mut self, way: Option<Way>, cx: &mut Cx<'_>) {
        let seen = self.taking.as_ref().and_then(|taking| taking.seen);
        match (way, seen) {
            (Some(way), Some(seen)) => self.accept(Some(Resolution { way, seen }), cx),
            _ => self.refused("its files changed in the project meanwhile, and were left so", cx),
        }
    }

    fn refused(&mut self, because: &str, cx: &mut Cx<'_>) {
        if let Some(taking) = self.taking.take() {
            self.block(&taking.at.agent, format!("not delivered: {because}"), cx);
        }
        self.next(cx);
    }

    /// It is with the user: from now on it counts. Of what is `kept` the user's own version stayed.
    fn taken(&mut self, kept: &[String], cx: &mut Cx<'_>) {
        let Some(taking) = self.taking.take() else { return };
        let Taking { at, result, only, .. } = taking;
        let mine = |change: &&Change| only.contains(&change.path) && !kept.contains(&change.path);
        for change in result.changes.iter().filter(mine) {
            if let Some(blob) = change.after {
                let mode = if change.mode & 0o111 == 0 { 0o644 } else { 0o755 };
                let entry = FileEntry { path: change.path.clone(), mode, blob };
                self.deleted.remove(&change.path);
                self.delivered.insert(change.path.clone(), entry);
            } else {
                self.delivered.remove(&change.path);
                self.deleted.insert(change.path.clone());
            }
        }
        let event = match result.verdict {
            Some(verdict) => {
                self.verdicts.push(verdict.clone());
                PipelineEvent::Scored { verdict: Box::new(verdict), delivered: true }
            }
            None => PipelineEvent::Completed { agent: at.agent, files: result.files },
        };
        cx.emit(EventKind::Pipeline(event));
        self.next(cx);
    }

    /// The next result; after the last one the project is looked at again.
    fn next(&mut self, cx: &mut Cx<'_>) {
        if self.queue.is_empty() { self.survey(cx) } else { self.identify(cx) }
    }
}

/// Of a text of some length, less than half of the lines.
fn little_is_left(before: &str, after: &str) -> bool {
    const SHORT: usize = 12;
    fn lines(text: &str) -> impl Iterator<Item = &str> {
        text.lines().map(str::trim).filter(|line| !line.is_empty())
    }
    let (before, after): (Vec<&str>, BTreeSet<&str>) = (lines(before).collect(), lines(after).collect());
    let kept = before.iter().filter(|line| after.contains(*line)).count();
    before.len() >= SHORT && kept * 2 < before.len()
}

/// A change in words: who is asked must not take a deletion for a file.
fn said_of(change: &Change) -> String {
    match change.after {
        Some(_) if is_link(change) => format!("{} (a link, which is never brought)", change.path),
        Some(_) => change.path.clone(),
        None => format!("{} (deleted)", change.path),
    }
}

const fn is_link(change: &Change) -> bool {
    change.mode & 0o170_000 == 0o120_000
}
