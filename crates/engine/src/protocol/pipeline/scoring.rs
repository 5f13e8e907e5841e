//! SCORE: the gate, who is sent out again, and how the run ends.

use super::checking::CheckPurpose;
use std::collections::BTreeSet;

use super::questions::{self, PipelineQuestion};
use super::settings::PipelineMode;
use super::{Again, EndedDispatch, PipelineProtocol, Stage};
use crate::digest::Digest;
use crate::event::EventKind;
use crate::machine::{Cx, TaskResult};
use crate::outcome::{Halt, Outcome};
use crate::pipeline::GateReport;
use crate::pipeline::aggregate::{Component, Hundredths};
use crate::pipeline::event::PipelineEvent;
use crate::pipeline::facts::AgentReadiness;
use crate::pipeline::learning::{self, PairRecord, Suggestion};
use crate::pipeline::registry::{Check, PairWeight, RegistryEntry};
use crate::tree::CommitFiles;

/// A component below this is sent out again.
const LOW: Hundredths = Hundredths(8_000);

impl PipelineProtocol {
    pub(super) fn begin_overall(&mut self, again: Vec<String>, cx: &mut Cx<'_>) {
        self.round += 1;
        self.tried.clone_from(&self.hopeless);
        self.blocked.retain(|agent, _| self.hopeless.contains(agent));
        let (round, of) = (self.round, self.overall.max(self.round));
        cx.emit(EventKind::Pipeline(PipelineEvent::OverallRound { round, of, again }));
    }

    pub(super) fn report(&self) -> GateReport {
        self.facts().gate(&self.settings.gate)
    }

    /// Nobody is at work and nobody can be dispatched.
    pub(super) fn score(&mut self, cx: &mut Cx<'_>) {
        if self.settings.mode != PipelineMode::Pipeline {
            return self.end_without_gate(cx);
        }
        let report = self.report();
        let (round, boxed) = (self.round, Box::new(report.clone()));
        cx.emit(EventKind::Pipeline(PipelineEvent::GateChecked { round, report: boxed }));
        // Somebody who is blocked is not done, whatever the sum of the others is.
        if report.is_open() && self.blocked.is_empty() {
            return self.check(CheckPurpose::Gate, cx);
        }
        self.closed(&report, cx);
    }

    /// The gate is open, commands and all.
    pub(super) fn opened(&mut self, cx: &mut Cx<'_>) {
        if self.settings.result_agreed {
            return self.end_well("--yes", cx);
        }
        let report = self.report();
        self.stage = Stage::Ending;
        let remaining = self.remaining(&report);
        let effect = cx.ask(questions::result(&report, &remaining));
        self.asks.insert(effect, PipelineQuestion::Result);
    }

    /// Once more, if there is a round left and somebody who could do better; else this is what there is.
    pub(super) fn closed(&mut self, report: &GateReport, cx: &mut Cx<'_>) {
        if self.round < self.overall {
            let again = self.low(report);
            let mut stuck: Vec<String> =
                self.blocked.keys().filter(|agent| !self.hopeless.contains(*agent)).cloned().collect();
            stuck.extend(self.undone());
            if !again.is_empty() || !stuck.is_empty() {
                let names: BTreeSet<String> =
                    again.iter().map(|(agent, _)| agent.clone()).chain(stuck).collect();
                self.begin_overall(names.into_iter().collect(), cx);
                self.again.extend(again);
                return self.survey(cx);
            }
        }
        let mut open = report.blocking.clone();
        open.extend(self.remaining(report));
        self.end_short(Halt::Cap, open, cx);
    }

    /// Who could raise the score: the components under 80, else the lowest if the sum is too low, each with what is
    /// open. Where somebody judged the work of others, those whose work it was.
    fn low(&self, report: &GateReport) -> Vec<(String, Again)> {
        let mut scored: Vec<&Component> =
            report.aggregate.components.iter().filter(|component| component.score.is_some()).collect();
        scored.sort_by_key(|component| component.score);
        let low: Vec<&Component> =
            scored.iter().filter(|component| component.score < Some(LOW)).copied().collect();
        let low = self.open_of(&low);
        let is_enough = report.aggregate.overall.is_some_and(|overall| overall.reaches(report.gate.overall));
        if !low.is_empty() || is_enough {
            return low;
        }
        let mut lowest = scored.into_iter().map(|component| self.open_of(&[component]));
        lowest.find(|open| !open.is_empty()).unwrap_or_default()
    }

    fn open_of(&self, components: &[&Component]) -> Vec<(String, Again)> {
        let mut all: Vec<(String, Again)> = Vec::new();
        for row in components.iter().flat_map(|component| &component.rows) {
            let Some(entry) = self.settings.registry.get(&row.agent).filter(|entry| self.takes_part(entry))
            else {
                continue;
            };
            let Some(verdict) = self.facts().current(&row.agent).filter(|verdict| !verdict.open.is_empty())
            else {
                continue;
            };
            let for_others = entry.judges();
            let judged = if for_others { self.judged_workers(entry) } else { vec![entry] };
            for open in &verdict.open {
                let Some(whose) = who_mends(&judged, open).map(|entry| entry.agent.clone()) else { continue };
                match all.iter_mut().find(|(agent, _)| *agent == whose) {
                    Some((_, again)) => {
                        again.open.push(open.clone());
                        again.for_others |= for_others;
                    }
                    None => all.push((whose, Again { open: vec![open.clone()], for_others })),
                }
            }
        }
        all
    }

    /// The workers whose work somebody judges, in the order in which its conditions name them.
    fn judged_workers<'s>(&'s self, judge: &'s RegistryEntry) -> Vec<&'s RegistryEntry> {
        let registry = &self.settings.registry;
        let mut workers: Vec<&RegistryEntry> = Vec::new();
        for atom in judge.requires.atoms() {
            let named: Vec<&RegistryEntry> = match &atom.check {
                Check::Score { critic, .. } => registry.judged_by(critic).collect(),
                Check::Path(pattern) => registry.makers(pattern).collect(),
                _ => Vec::new(),
            };
            let is_new = |entry: &&RegistryEntry| {
                let is_known = workers.iter().any(|known| known.agent == entry.agent);
                !entry.judges() && self.takes_part(entry) && !is_known
            };
            let mut new: Vec<&RegistryEntry> = named.into_iter().filter(is_new).collect();
            workers.append(&mut new);
        }
        workers
    }

    /// What a person should know although the gate may be open.
    fn remaining(&self, report: &GateReport) -> Vec<String> {
        let blocked = self.blocked.iter().map(|(agent, because)| format!("[{agent}] is blocked: {because}"));
        let missing = report.missing.iter().map(|what| format!("not scored: {what}"));
        blocked.chain(missing).collect()
    }

    /// Whose work was done in this round and does not count any more: somebody changed it.
    fn undone(&self) -> Vec<String> {
        let could = |agent: &String| self.tried.contains(agent) && !self.blocked.contains_key(agent);
        let standings = self.facts().standings().into_iter();
        let ready = standings.filter(|(_, standing)| matches!(standing, AgentReadiness::Ready));
        let ready = ready.map(|(agent, _)| agent).filter(could);
        // Who needs no verdict and makes nothing is never done.
        ready.filter(|agent| self.facts().verdict(agent).is_some()).collect()
    }

    /// Once more, because a person wants it.
    pub(super) fn send_again(&mut self, agent: &str, cx: &mut Cx<'_>) {
        self.hopeless.remove(agent);
        let known = self.settings.registry.get(agent).is_some_and(|entry| self.takes_part(entry));
        self.stage = Stage::Working;
        if !known {
            return self.score(cx);
        }
        let open = self.facts().current(agent).map(|verdict| verdict.open.clone()).unwrap_or_default();
        self.begin_overall(vec![agent.to_owned()], cx);
        self.again.insert(agent.to_owned(), Again { open, for_others: false });
        self.survey(cx);
    }

    fn end_without_gate(&mut self, cx: &mut Cx<'_>) {
        let found = self.found_wanting();
        if self.blocked.is_empty() && !found.is_empty() {
            let draft = self.summarise("⚠", cx);
            return cx.finish(Outcome::Rejected { draft: Some(draft), open: found });
        }
        if self.blocked.is_empty() {
            return self.end_well("nobody", cx);
        }
        let open = self.blocked.iter().map(|(agent, because)| format!("[{agent}] {because}")).collect();
        self.end_short(Halt::Cap, open, cx);
    }

    /// What those who only judge found in work that does not pass.
    fn found_wanting(&self) -> Vec<String> {
        let judges = self.settings.registry.entries.iter().filter(|entry| entry.judges());
        let verdicts = judges.filter_map(|entry| self.facts().current(&entry.agent));
        let low = verdicts.filter(|verdict| verdict.score < verdict.threshold);
        low.flat_map(|verdict| verdict.open.iter().map(move |open| format!("[{}] {open}", verdict.agent)))
            .collect()
    }

    pub(super) fn end_short(&mut self, reason: Halt, open: Vec<String>, cx: &mut Cx<'_>) {
        let draft = self.summarise("⚠", cx);
        cx.finish(Outcome::Halted { reason, draft: Some(draft), open });
    }

    /// Agreed to. What was delivered becomes a commit, if that is wanted.
    pub(super) fn end_well(&mut self, _by: &str, cx: &mut Cx<'_>) {
        self.stage = Stage::Ending;
        if self.settings.commit.is_none() {
            return self.end(cx);
        }
        if self.delivered.is_empty() && self.deleted.is_empty() {
            let message = "this run delivered nothing, so there is nothing to commit".to_owned();
            cx.emit(EventKind::Warned { message });
            return self.end(cx);
        }
        self.check(CheckPurpose::Commit, cx);
    }

    pub(super) fn commit(&self, cx: &mut Cx<'_>) {
        let Some(commit) = &self.settings.commit else { return };
        let files = self.delivered.values().cloned().collect();
        let deleted = self.deleted.iter().cloned().collect();
        let (branch, message) = (commit.branch.clone(), commit.message.clone());
        cx.commit(CommitFiles { files, deleted, branch, message });
    }

    pub(super) fn committed(&mut self, what: TaskResult, cx: &mut Cx<'_>) {
        match what {
            TaskResult::NotAccepted { message } => {
                self.end_short(Halt::Guard, vec![format!("not committed: {message}")], cx);
            }
            _ => self.end(cx),
        }
    }

    fn end(&mut self, cx: &mut Cx<'_>) {
        let notes = self.remaining(&self.report());
        let draft = self.summarise("✓", cx);
        cx.finish(Outcome::Approved { draft, overruled: false, notes });
    }

    /// The end in words: what was reached, with its arithmetic, and what could be learned.
    fn summarise(&mut self, fence: &str, cx: &mut Cx<'_>) -> Digest {
        let report = self.report();
        let overall =
            report.aggregate.overall.map_or_else(|| "no score".to_owned(), |o| format!("overall {o}"));
        let rounds = if self.round == 1 { "round" } else { "rounds" };
        let gated = if self.settings.mode == PipelineMode::Pipeline {
            let is = if report.is_open() { "open" } else { "closed" };
            format!(", gate `{}` {is}", report.gate.name)
        } else {
            String::new()
        };
        let dispatched: u32 = self.dispatches.values().sum();
        let line =
            format!("{fence} {overall}{gated} ({dispatched} dispatched, {} overall {rounds})", self.round);
        cx.emit(EventKind::Summarised { line: line.clone() });
        let suggestions = self.suggestions();
        let mut text = format!("{line}\n\n{}\n", report.aggregate.arithmetic.join("\n"));
        if !suggestions.is_empty() {
            text.push_str("\n### Suggested Learnings\n");
            for suggestion in &suggestions {
                text.push_str(&suggestion.line());
                text.push('\n');
            }
        }
        cx.emit(EventKind::Pipeline(PipelineEvent::Learned { suggestions }));
        cx.intern(text)
    }
}

/// Words by which a finding asks for other results, and not for other sentences about them.
const ANALYSIS: [&str; 14] = [
    "new analysis",
    "robustness",
    "re-estimat",
    "reestimat",
    "standard error",
    "specification",
    "regression",
    "placebo",
    "script",
    "code",
    "bootstrap",
    "sample restriction",
    "cluster",
    "event study",
];

/// Of several whose work was judged together, who can mend a finding: whoever makes a file it names; of what asks for
/// another analysis, whoever makes what the first builds on; else the first.
fn who_mends<'r>(judged: &[&'r RegistryEntry], finding: &str) -> Option<&'r RegistryEntry> {
    let words = finding.split(|c: char| c.is_whitespace() || "`\"'()[],;".contains(c));
    let paths = words.map(|word| word.split(':').next().unwrap_or(word).trim_end_matches('.'));
    let mut paths = paths.filter(|word| word.contains('/') || word.contains('.'));
    if let Some(entry) = paths.find_map(|path| judged.iter().find(|entry| entry.makes(path))) {
        return Some(entry);
    }
    let says = finding.to_lowercase();
    let is_analysis = ANALYSIS.iter().any(|word| says.contains(word));
    let upstream = judged.iter().skip(1).find(|entry| matches!(entry.weight, PairWeight::Share { .. }));
    upstream.filter(|_| is_analysis).or_else(|| judged.first()).copied()
}

impl PipelineProtocol {
    fn suggestions(&self) -> Vec<Suggestion> {
        let record = |pass: &EndedDispatch| PairRecord {
            agent: pass.agent.clone(),
            critic: self.settings.registry.get(&pass.agent).and_then(|entry| entry.critic.clone()),
            score: pass.score,
            passed_in: pass.passed.then_some(pass.rounds),
            strikes: pass.rounds.saturating_sub(u32::from(pass.passed)),
            to_user: pass.escalated_to_user,
            escalated_after: pass.escalated_after,
            open: pass.open.clone(),
        };
        // The score of somebody who judges says nothing about how well it judges.
        let judges = |pass: &&EndedDispatch| {
            self.settings.registry.get(&pass.agent).is_some_and(RegistryEntry::judges)
        };
        let passes = self.passes.iter().filter(|pass| !judges(pass));
        learning::suggestions(&passes.map(record).collect::<Vec<_>>())
    }
}
