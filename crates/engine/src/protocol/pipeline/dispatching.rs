//! IDENTIFY and DISPATCH: whoever's conditions hold is sent out, as many at once as there are jobs, never two who write
//! the same place.

use std::collections::{BTreeMap, BTreeSet};

use super::questions::{self, PipelineQuestion};
use super::settings::{COMPLETIONS, PairSettings, PipelineMode};
use super::{AtWork, PipelineProtocol, Stage};
use crate::artifact::ArtifactFile as FileEntry;
use crate::digest::Digest;
use crate::event::EventKind;
use crate::judging::PARTS;
use crate::machine::Cx;
use crate::pipeline::event::PipelineEvent;
use crate::pipeline::facts::{self, AgentReadiness};
use crate::pipeline::inputs::is_input;
use crate::pipeline::listing::ListedFile;
use crate::pipeline::registry::{Check, RegistryEntry};
use crate::protocol::score::files::{PairFiles, WorkerOutput};
use crate::protocol::score::settings::ScoreSettings as Score;

/// Inputs of one agent that are looked at.
const MOST_INPUTS: usize = 100;

impl PipelineProtocol {
    /// What follows from what is known now. Called whenever something changed.
    pub(super) fn identify(&mut self, cx: &mut Cx<'_>) {
        if self.stage != Stage::Working || self.surveying {
            return;
        }
        if self.taking.is_some() {
            return;
        }
        if let Some((node, at, outcome)) = self.queue.pop_front() {
            return self.take(node, at, &outcome, cx);
        }
        let mut ready: Vec<String> = Vec::new();
        let mut asking: Vec<(String, String)> = Vec::new();
        let mut refused: Vec<(String, Vec<String>)> = Vec::new();
        for (agent, standing) in self.standings() {
            match standing {
                AgentReadiness::Ready => ready.push(agent),
                AgentReadiness::Done { .. }
                    if self.again.contains_key(&agent) || self.has_new_reports(&agent) =>
                {
                    ready.push(agent);
                }
                AgentReadiness::Asking { conditions } => {
                    asking.extend(conditions.into_iter().map(|text| (agent.clone(), text)));
                }
                AgentReadiness::Blocked { gaps } => {
                    refused.push((agent.clone(), facts::refusal(&agent, &gaps)));
                }
                AgentReadiness::Done { .. } | AgentReadiness::Off { .. } => {}
            }
        }
        for (agent, text) in asking {
            self.ask_condition(&agent, text, cx);
        }
        self.wave += 1;
        for agent in ready {
            // Who waits for a person needs no place.
            let busy = self.at_work.keys().filter(|node| !cx.is_waiting(node)).count();
            if busy >= self.settings.jobs as usize {
                break;
            }
            self.dispatch(&agent, cx);
        }
        let idle = self.at_work.is_empty() && self.ended.is_empty() && self.queue.is_empty();
        if !idle || !self.asks.is_empty() {
            return;
        }
        for (agent, lines) in refused {
            if self.told.insert(lines.join("\n")) {
                cx.emit(EventKind::Pipeline(PipelineEvent::NotDispatched { agent, lines }));
            }
        }
        self.score(cx);
    }

    /// How everybody stands who could still be dispatched in this round.
    fn standings(&self) -> Vec<(String, AgentReadiness)> {
        let is_busy = |agent: &str| {
            self.at_work.values().any(|at| at.agent == agent)
                || self.ended.values().any(|(at, _)| at.agent == agent)
        };
        let could = |entry: &&RegistryEntry| {
            self.takes_part(entry) && !self.tried.contains(&entry.agent) && !is_busy(&entry.agent)
        };
        let entries: Vec<&RegistryEntry> = self.settings.registry.entries.iter().filter(could).collect();
        if self.settings.mode != PipelineMode::Pipeline {
            // Nothing is waited for but reports: without them there is nothing to decide.
            let reports = |entry: &&RegistryEntry| {
                let mut reporting = self.settings.registry.reporting_to(entry);
                reporting.all(|other| self.tried.contains(&other.agent) && !is_busy(&other.agent))
            };
            let ready = entries.into_iter().filter(reports);
            return ready.map(|entry| (entry.agent.clone(), AgentReadiness::Ready)).collect();
        }
        let facts = self.facts();
        let standings: BTreeMap<String, AgentReadiness> = facts.standings().into_iter().collect();
        let one = |entry: &RegistryEntry| {
            let standing = standings.get(&entry.agent).cloned();
            (entry.agent.clone(), standing.unwrap_or_else(|| facts.standing(entry)))
        };
        entries.into_iter().map(one).collect()
    }

    /// What is reported to an agent that decides, as it counts now.
    fn reports(&self, entry: &RegistryEntry) -> Vec<(String, Digest)> {
        let facts = self.facts();
        let reporting = self.settings.registry.reporting_to(entry);
        let verdicts = reporting.filter_map(|other| facts.current(&other.agent));
        verdicts
            .map(|verdict| {
                (
                    verdict.made.first().map_or_else(|| verdict.agent.clone(), |file| file.path.clone()),
                    verdict.reply,
                )
            })
            .collect()
    }

    /// It decided on reports that others have replaced since, all of them.
    fn has_new_reports(&self, agent: &str) -> bool {
        let (Some(entry), Some(known)) = (self.settings.registry.get(agent), self.decided_on.get(agent))
        else {
            return false;
        };
        let now = self.reports(entry);
        // A report on work that was changed since does not count, and a new one is on its way.
        now.len() >= known.len() && now != *known
    }

    fn ask_condition(&mut self, agent: &str, text: String, cx: &mut Cx<'_>) {
        let is_asked = self
            .asks
            .values()
            .any(|ask| matches!(ask, PipelineQuestion::Condition { text: asked } if *asked == text));
        if !is_asked {
            let effect = cx.ask(questions::condition(agent, &text));
            self.asks.insert(effect, PipelineQuestion::Condition { text });
        }
    }

    /// Writes of one place come one after the other.
    fn is_in_the_way(&self, entry: &RegistryEntry) -> bool {
        let busy = self.at_work.values().chain(self.ended.values().map(|(at, _)| at));
        busy.filter_map(|at| self.settings.registry.get(&at.agent)).any(|other| overlap(entry, other))
    }

    fn dispatch(&mut self, agent: &str, cx: &mut Cx<'_>) {
        let Some(entry) = self.settings.registry.get(agent).cloned() else { return };
        let Some(pair) = self.settings.pairs.get(agent).cloned() else { return };
        if self.is_in_the_way(&entry) {
            return;
        }
        let nth = self.dispatches.get(agent).copied().unwrap_or(0) + 1;
        self.dispatches.insert(agent.to_owned(), nth);
        self.tried.insert(agent.to_owned());
        let reports = self.reports(&entry);
        if !reports.is_empty() {
            self.decided_on.insert(agent.to_owned(), reports);
        }
        let again = self.again.remove(agent);
        let open = again.as_ref().map(|again| again.open.clone()).unwrap_or_default();
        let settings = self.pair(&entry, &pair, &open, cx);
        if settings.worker.is_none() && settings.files.as_ref().is_none_or(|files| files.there.is_empty()) {
            return self.block(agent, "there is nothing it could judge".to_owned(), cx);
        }
        let base = agent.replace(['/', '#'], "-");
        let name = if nth == 1 { base } else { format!("{base}.{nth}") };
        let spawned = match settings.node_plan(self.settings.pair_limits) {
            Ok(plan) => cx.spawn(&name, &plan),
            Err(error) => Err(error.to_string()),
        };
        let at = match spawned {
            Ok(at) => at,
            Err(problem) => return self.block(agent, problem, cx),
        };
        cx.emit(EventKind::Pipeline(PipelineEvent::Dispatched {
            agent: agent.to_owned(),
            at: at.clone(),
            critic: settings.critics.first().map(|seat| seat.agent.clone()),
            phase: entry.phase.clone(),
            nth,
            loaded: pair.loaded,
        }));
        let (group, wave) = (entry.group.clone(), self.wave);
        self.at_work.insert(at, AtWork { agent: agent.to_owned(), group, wave, again });
    }

    pub(super) fn block(&mut self, agent: &str, because: String, cx: &mut Cx<'_>) {
        let (agent, open) = (agent.to_owned(), Vec::new());
        let blocked = PipelineEvent::PairBlocked {
            agent: agent.clone(),
            because: because.clone(),
            score: None,
            rounds: 0,
            open,
        };
        cx.emit(EventKind::Pipeline(blocked));
        self.blocked.insert(agent, because);
    }

    /// A pair, as a `score` loop over files.
    fn pair(&self, entry: &RegistryEntry, pair: &PairSettings, open: &[String], cx: &mut Cx<'_>) -> Score {
        let single = self.settings.mode != PipelineMode::Pipeline;
        let mut critics = pair.critics.clone();
        critics.truncate(if single { 1 } else { 2 });
        if let [only] = critics.as_mut_slice() {
            only.lens = None;
        }
        let judges = entry.judges();
        let task = match self.plan {
            Some(plan) if !judges => {
                let text =
                    format!("{}\n\nThe plan that was agreed to:\n{}", cx.text(&pair.task), cx.text(&plan));
                cx.intern(text)
            }
            _ => pair.task,
        };
        let reports: Vec<String> = self.reports(entry).into_iter().map(|(path, _)| path).collect();
        let task = if reports.is_empty() {
            task
        } else {
            let text =
                format!("{}\n\nReports to decide on, all of them: {}", cx.text(&task), reports.join(", "));
            cx.intern(text)
        };
        Score {
            task,
            rubric: pair.rubric.unwrap_or(pair.task),
            table: pair.table.clone(),
            severity: pair.severity,
            invariants: pair.invariants,
            references: Vec::new(),
            given: None,
            worker: (!judges).then(|| pair.worker.clone()),
            critics,
            rounds: self.settings.rounds,
            threshold: pair.threshold,
            escalate_to: entry.escalate_to.clone(),
            stop_early: false,
            out: None,
            max_parts: PARTS,
            escalates: self.settings.mode != PipelineMode::Simple
                && !entry.is_advisory()
                && !self.escalated.contains(&entry.agent),
            own_rubrics: if single { BTreeMap::new() } else { pair.own_rubrics.clone() },
            files: Some(self.files(entry, pair, open)),
        }
    }

    fn files(&self, entry: &RegistryEntry, pair: &PairSettings, open: &[String]) -> PairFiles {
        let verdict = self.facts().verdict(&entry.agent);
        let made = self.facts().made(entry);
        let mut artifact = verdict.map(|verdict| paths(&verdict.files)).unwrap_or_default();
        let mut lacking = Vec::new();
        let (before, there) = if entry.judges() {
            let judged = self.judged_by(entry);
            let there = paths(&judged);
            (judged.into_iter().chain(made).collect(), there)
        } else {
            let there = if open.is_empty() { paths(&self.facts().work_there(entry)) } else { Vec::new() };
            lacking =
                if there.is_empty() { Vec::new() } else { self.facts().gaps_of_output(entry, &|_| true) };
            if lacking.is_empty() {
                let is_judged = !pair.critics.is_empty();
                (made, if is_judged { there } else { Vec::new() })
            } else {
                artifact.extend(there);
                (made, Vec::new())
            }
        };
        PairFiles {
            agent: entry.agent.clone(),
            produces: entry.produces.clone(),
            output: if entry.judges() { WorkerOutput::Reply } else { pair.output },
            before,
            there,
            artifact: if entry.judges() { Vec::new() } else { artifact },
            open: open.to_vec(),
            lacking,
            inputs: self.inputs(entry, pair),
            also: self.settings.also.clone(),
            unjudged: self.settings.unjudged.clone(),
            identity: Some(pair.identity),
            critics: pair.critic_identities.clone(),
            verify: pair.verify.clone(),
            fixes: self.settings.fixes,
            completions: COMPLETIONS,
            pre_dispatch: self.settings.hooks.pre_dispatch.clone(),
            post_completion: self.settings.hooks.post_completion.clone(),
        }
    }

    /// What somebody's work is made from: what its conditions name, and what a second critic judges first elsewhere, whose
    /// lens it looks through. For who judges, its own work is all of it.
    fn inputs(&self, entry: &RegistryEntry, pair: &PairSettings) -> Vec<FileEntry> {
        if entry.judges() || pair.critics.is_empty() {
            return Vec::new();
        }
        let mut found = self.judged_by(entry);
        let facts = self.facts();
        for seat in pair.critics.iter().skip(1) {
            let judged = self.settings.registry.judged_by(&seat.agent);
            let verdicts = judged.filter_map(|other| facts.current(&other.agent));
            found.extend(verdicts.flat_map(|verdict| verdict.files.clone()));
        }
        let mut known = BTreeSet::new();
        let is_wanted = |file: &FileEntry| is_input(&file.path) && !entry.makes(&file.path);
        let found = found.into_iter().filter(|file| is_wanted(file) && known.insert(file.path.clone()));
        found.take(MOST_INPUTS).collect()
    }

    /// What somebody who is dispatched as a critic judges: the work its conditions name.
    fn judged_by(&self, entry: &RegistryEntry) -> Vec<FileEntry> {
        let facts = self.facts();
        let mut found: BTreeMap<String, FileEntry> = BTreeMap::new();
        let mut add = |file: FileEntry| {
            found.insert(file.path.clone(), file);
        };
        for atom in entry.requires.atoms() {
            match &atom.check {
                Check::Path(pattern) | Check::Contains { folder: pattern, .. } => {
                    self.listing.matching(pattern).map(file_entry).for_each(&mut add);
                }
                Check::Score { critic, .. } => {
                    let judged = self.settings.registry.judged_by(critic);
                    let verdicts = judged.filter_map(|entry| facts.current(&entry.agent));
                    verdicts.flat_map(|verdict| verdict.files.clone()).for_each(&mut add);
                }
                Check::Overall { .. } | Check::Components { .. } => {
                    let agents =
                        self.settings.registry.entries.iter().filter(|other| other.agent != entry.agent);
                    let verdicts = agents.filter_map(|entry| facts.current(&entry.agent));
                    verdicts.flat_map(|verdict| verdict.files.clone()).for_each(&mut add);
                }
                Check::Manual => {}
            }
        }
        found.into_values().collect()
    }
}

fn file_entry((path, found): (&str, ListedFile)) -> FileEntry {
    FileEntry { path: path.to_owned(), mode: found.mode, blob: found.digest }
}

fn paths(files: &[FileEntry]) -> Vec<String> {
    files.iter().map(|file| file.path.clone()).collect()
}

fn overlap(one: &RegistryEntry, other: &RegistryEntry) -> bool {
    let patterns = |entry: &RegistryEntry| -> Vec<_> {
        entry
            .produces
            .iter()
            .flat_map(|product| product.patterns.iter().chain(&product.files))
            .cloned()
            .collect()
    };
    let others = patterns(other);
    patterns(one).iter().any(|pattern| others.iter().any(|other| other.overlaps(pattern)))
}
