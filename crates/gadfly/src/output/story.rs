//! A run told in lines: a fold over its records. The same lines live, piped and when followed.
//! What one critic said is `review`.

mod review;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gadfly_engine::budget::Spent;
use gadfly_engine::event::EventKind;
use gadfly_engine::event::words::{Description, Tone};
use gadfly_engine::goal::{ARGS, PREVIEW, StepEnd};
use gadfly_engine::input::InputKind;
use gadfly_engine::isolation::NOT_HELD;
use gadfly_engine::manifest::{PlannedRead, RunManifest};
use gadfly_engine::pipeline::PipelineEvent;
use gadfly_engine::{
    AgentCard, Class, Digest, Effect, EffectId, EffectKind, Event, NodePath, Observation, Part,
};
use gadfly_journal::Record;
use gadfly_journal::view::FindingCounts;
use owo_colors::OwoColorize as _;

use super::table::{counted, size};
use super::{described, diff, judged, pipeline, rail, safe};

/// Longer items are cut on the screen; `show --log` has them whole.
const LONGEST_ITEM: usize = 600;
/// Of texts that were said beside the steps of a goal, the newest are kept, each cut.
const SAID: usize = 16;
const LONGEST_SAID: usize = 600;
/// Steps of one call that are kept in mind while they are under way.
const UNDER_WAY: usize = 64;

pub struct Story {
    agents: BTreeMap<String, AgentCard>,
    /// The last draft of each loop.
    drafts: BTreeMap<NodePath, String>,
    /// How many files were brought to be judged as they are.
    files: usize,
    /// What numbered findings said, for when they are gone.
    points: BTreeMap<(NodePath, u32), String>,
    /// Whose pair works at which node of a pipeline.
    pairs: BTreeMap<NodePath, String>,
    spent: Spent,
    /// Whose call an open effect is.
    asked: BTreeMap<EffectId, String>,
    /// What agents have begun, by their own names for it: it is told when it has ended.
    begun: BTreeMap<EffectId, Vec<(String, String)>>,
    /// What was last said to hold an agent: it is told again only when it changes.
    held: BTreeMap<String, String>,
    /// Say when an agent is asked: where no live line shows it.
    say_asked: bool,
    /// A goal is pursued: its steps say that the worker is at work, once it is said who works.
    is_goal: bool,
    known: BTreeSet<String>,
    /// What was lately said to a worker or by it, for lines that are drawn again.
    said: VecDeque<(Digest, String)>,
}

impl Story {
    pub fn new(say_asked: bool) -> Self {
        Self {
            agents: BTreeMap::new(),
            drafts: BTreeMap::new(),
            files: 0,
            points: BTreeMap::new(),
            pairs: BTreeMap::new(),
            spent: Spent::default(),
            asked: BTreeMap::new(),
            begun: BTreeMap::new(),
            held: BTreeMap::new(),
            say_asked,
            is_goal: false,
            known: BTreeSet::new(),
            said: VecDeque::new(),
        }
    }

    /// `writer (qwen3)`.
    pub fn agent(&self, name: &str) -> String {
        let model = self.agents.get(name).and_then(|c| c.model.as_deref());
        match model {
            Some(model) => format!("{} ({})", safe::line(name, 60), safe::line(model, 60)),
            None => safe::line(name, 60),
        }
    }

    /// A text that was lately said to a goal's worker, or by it.
    pub fn said(&self, digest: &Digest) -> Option<String> {
        self.said.iter().find(|(known, _)| known == digest).map(|(_, text)| text.clone())
    }

    pub fn record(&mut self, record: &Record) -> Vec<String> {
        let mut lines = Vec::new();
        match &record.input.what {
            InputKind::Started(start) => {
                (*start.plan.agents).clone_into(&mut self.agents);
                let reads = RunManifest::of(&start.plan).reads;
                self.files = reads.iter().filter(|read| matches!(read, PlannedRead::Judged(_))).count();
            }
            // A step of a watched agent is told as such, below.
            InputKind::Observed {
                observation: Observation::Step { .. } | Observation::StepEnded { .. },
                ..
            } if self.is_goal || tells_step(record) => {}
            InputKind::Observed { effect, observation } => {
                let mut told = Vec::new();
                self.observed(effect, observation, &mut told);
                lines.extend(self.of_pair(&effect.node, told));
            }
            InputKind::Answered { by, .. } => lines.push(format!("  answered by {}", safe::line(by, 60))),
            InputKind::Replied { effect, .. } => {
                self.asked.remove(effect);
                let left = self.begun.remove(effect).unwrap_or_default();
                let told = left.iter().map(|(_, line)| ended(line, StepEnd::Unknown, "")).collect();
                lines.extend(self.of_pair(&effect.node, told));
            }
            InputKind::Controlled(_) | InputKind::Resumed { .. } => {}
        }
        // What became of findings belongs to the reviews; a new round may begin in the same record.
        let is_review = |event: &&Event| matches!(event.what, EventKind::Reviewed { .. });
        let last_review = record.step.events.iter().rfind(is_review);
        for event in &record.step.events {
            let mut told = Vec::new();
            self.happened(event, record, &mut told);
            if last_review.is_some_and(|last| std::ptr::eq(last, event)) {
                self.moved(&event.node, record, &mut told);
            }
            lines.extend(self.of_pair(&event.node, told));
        }
        for effect in &record.step.effects {
            let mut told = Vec::new();
            self.asked(effect, &mut told);
            lines.extend(self.of_pair(&effect.id.node, told));
        }
        lines
    }

    /// The agent of a pipeline whose pair works at a node.
    pub fn pair(&self, node: &NodePath) -> Option<String> {
        let agent = self.pairs.iter().find(|(at, _)| at.contains(node)).map(|(_, agent)| agent)?;
        Some(safe::line(agent, 60))
    }

    /// Several pairs work at once: whose line it is stands before it.
    fn of_pair(&self, node: &NodePath, lines: Vec<String>) -> Vec<String> {
        match self.pair(node) {
            Some(agent) => {
                lines.into_iter().map(|line| format!("{} {line}", format!("  [{agent}]").dimmed())).collect()
            }
            None => lines,
        }
    }

    fn asked(&mut self, effect: &Effect, lines: &mut Vec<String>) {
        if let EffectKind::Ask(question) = &effect.kind {
            lines.extend(indented(judged::question(question)));
        }
        let EffectKind::Turn(turn) = &effect.kind else { return };
        let who = format!("{} {}", turn.role.name(), turn.agent);
        // Turn after turn of the same conversation: its steps are told.
        let mut parts = turn.messages.iter().flat_map(|message| &message.parts);
        let goes_on = self.is_goal && !self.known.insert(who.clone())
            || parts.any(|part| matches!(part, Part::Result(_)));
        self.asked.insert(effect.id.clone(), who);
        let (role, agent) = (turn.role.name(), self.agent(&turn.agent));
        if effect.class == Class::Person {
            lines.push(format!("  {} {agent} is asked as {role}", "?".yellow()));
        } else if self.say_asked && (!goes_on || effect.repeats.is_some()) {
            let again = if effect.repeats.is_some() { ", once more" } else { "" };
            lines.push(format!("  {role} {agent}: working{again}…"));
        }
    }

    fn observed(&mut self, effect: &EffectId, observation: &Observation, lines: &mut Vec<String>) {
        match observation {
            Observation::Note { line } if line.starts_with(NOT_HELD) => {
                self.tell_held(effect, NOT_HELD, line, lines);
            }
            Observation::Step { line, call: Some(call) } => {
                let begun = self.begun.entry(effect.clone()).or_default();
                if begun.len() < UNDER_WAY {
                    begun.push((call.clone(), line.clone()));
                }
            }
            Observation::StepEnded { call, end, said } => {
                let begun = self.begun.entry(effect.clone()).or_default();
                if let Some(at) = begun.iter().position(|(known, _)| known == call) {
                    lines.push(ended(&begun.remove(at).1, *end, said));
                }
            }
            Observation::Step { line, call: None } => {
                lines.push(format!("    · {}", safe::line(line, ARGS)));
            }
            Observation::Note { line } => lines.push(format!("    · {}", safe::line(line, 200))),
            Observation::Retrying { attempt, kind, message } => {
                lines.push(format!(
                    "    {kind}, attempt {attempt} failed: {}; trying again",
                    safe::line(message, 300)
                ));
            }
            Observation::Guarded { guards } => {
                let up: Vec<String> = guards.iter().map(|g| safe::line(&g.to_string(), 120)).collect();
                let up = if up.is_empty() { "none".to_owned() } else { up.join(", ") };
                let first = guards.first().map_or_else(String::new, |guard| guard.layer.to_string());
                self.tell_held(effect, &first, &format!("sandbox: {up}"), lines);
            }
            Observation::Stopped { layer, what } => {
                lines.push(format!("    {} stopped by {layer}: {}", "✗".red(), safe::line(what, 200)));
            }
            Observation::Usage { .. } | Observation::Used { .. } | Observation::Session { .. } => {}
        }
    }

    /// Once for every agent, role and matter, and again when it is different.
    fn tell_held(&mut self, effect: &EffectId, matter: &str, line: &str, lines: &mut Vec<String>) {
        let who = self.asked.get(effect).cloned().unwrap_or_default();
        let about = format!("{who} {matter}");
        if self.held.insert(about, line.to_owned()).as_deref() != Some(line) {
            lines.push(format!("    {}", safe::line(line, 400)).dimmed().to_string());
        }
    }

    fn happened(&mut self, event: &Event, record: &Record, lines: &mut Vec<String>) {
        let Event { node, what } = event;
        self.learn(what);
        match what {
            EventKind::DraftMade { bytes, given: true, diff: None, .. } if self.files > 1 => {
                lines.push(format!("  your files: {} in {} files", size(*bytes), self.files));
            }
            EventKind::DraftMade { blob, diff: None, .. } => self.drafted(node, blob, what, record, lines),
            EventKind::Reviewed { review, .. } => self.reviewed(what, review, lines),
            EventKind::Stepped { step } => lines.push(format!("  {}", rail::step(step))),
            EventKind::Pipeline(PipelineEvent::GateChecked { report, .. }) => {
                lines.extend(pipeline::gate(report));
            }
            _ => {
                let Some(told) = self.described(what, record) else { return };
                let block = self.block(&told, record);
                lines.extend(if told.tone == Tone::Heading { block } else { indented(block) });
            }
        }
    }

    /// What later lines need to know.
    fn learn(&mut self, what: &EventKind) {
        match what {
            EventKind::Charged { run, .. } => self.spent = *run,
            EventKind::GoalSet { .. } => self.is_goal = true,
            EventKind::AgentChanged { agent, card } => {
                drop(self.agents.insert(agent.clone(), (**card).clone()));
            }
            EventKind::Pipeline(PipelineEvent::Dispatched { agent, at, .. }) => {
                self.pairs.insert(at.clone(), agent.clone());
            }
            _ => {}
        }
    }

    /// The event in words. A text that is said with it is kept for lines that are drawn again.
    fn described(&mut self, what: &EventKind, record: &Record) -> Option<Description> {
        let told = what.describe(&|agent| self.agent(agent))?;
        if let Some((digest, text)) = told.text.and_then(|digest| Some((digest, text_of(record, &digest)?))) {
            if self.said.len() >= SAID {
                self.said.pop_front();
            }
            self.said.push_back((digest, text.chars().take(LONGEST_SAID).collect()));
        }
        Some(told)
    }

    fn block(&self, told: &Description, record: &Record) -> Vec<String> {
        let text = |digest: &Digest| self.said(digest).or_else(|| text_of(record, digest).map(str::to_owned));
        described::block(told, &text)
    }

    fn drafted(
        &mut self,
        node: &NodePath,
        blob: &Digest,
        what: &EventKind,
        record: &Record,
        lines: &mut Vec<String>,
    ) {
        let Some(mut told) = self.described(what, record) else { return };
        let text = text_of(record, blob).map(str::to_owned);
        // A pair of a pipeline makes files: what is kept of them is a list, not their lines.
        let is_files = self.pair(node).is_some();
        let change = match (self.drafts.get(node), &text) {
            (Some(old), Some(new)) if old == new => ", unchanged".to_owned(),
            _ if is_files => String::new(),
            (Some(old), Some(new)) => {
                let (more, less) = diff::changed_lines(old, new);
                format!(", +{more} −{less} lines")
            }
            (None, Some(new)) => format!(", {}", counted(new.lines().count(), "line")),
            _ => String::new(),
        };
        if is_files {
            told.head =
                if matches!(what, EventKind::DraftMade { given: true, .. }) { "as it is" } else { "files" }
                    .into();
        }
        told.body.push_str(&change);
        lines.extend(indented(self.block(&told, record)));
        match text {
            Some(text) => drop(self.drafts.insert(node.clone(), text)),
            None => drop(self.drafts.remove(node)),
        }
    }

    /// What became of the findings of the round before, once for all critics of a round.
    fn moved(&mut self, node: &NodePath, record: &Record, lines: &mut Vec<String>) {
        let reviews = || {
            record.step.events.iter().filter_map(|e| match &e.what {
                EventKind::Reviewed { round, review } => Some((*round, review)),
                _ => None,
            })
        };
        let fixed: BTreeSet<u32> = reviews().flat_map(|(_, r)| r.fixed.iter().copied()).collect();
        for number in &fixed {
            let said = self.points.get(&(node.clone(), *number)).map(String::as_str);
            lines.push(format!("    {}", judged::fixed(*number, said)));
        }
        let findings = || reviews().flat_map(|(_, r)| &r.findings).filter(|f| f.is_supported());
        let moved = FindingCounts::of(fixed.len(), findings());
        if let Some((round, _)) =
            reviews().next().filter(|(round, _)| *round > 1 && moved != FindingCounts::default())
        {
            lines.push(format!("    round {round}: {}", judged::moved(&moved)));
        }
        self.points.extend(findings().map(|f| ((node.clone(), f.number), f.line())));
    }
}

fn indented(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// The record tells what was seen as a step of its own.
/// A step outside of a goal: `· Bash: make → err: exit code 2`.
fn ended(line: &str, end: StepEnd, said: &str) -> String {
    let said = safe::line(said, PREVIEW);
    let said = if said.is_empty() { said } else { format!(": {said}") };
    let (end, style) = (end.name(), rail::step_style(end));
    let end = end.style(style);
    format!("    · {} → {end}{said}", safe::line(line, ARGS))
}

fn tells_step(record: &Record) -> bool {
    record.step.events.iter().any(|event| matches!(event.what, EventKind::Stepped { .. }))
}

fn text_of<'a>(record: &'a Record, digest: &Digest) -> Option<&'a str> {
    let mut texts = record.input.texts.iter().chain(&record.step.texts);
    texts.find(|t| t.digest() == *digest).map(gadfly_engine::Text::as_str)
}

#[cfg(test)]
mod tests;
