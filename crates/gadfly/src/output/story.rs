//! A run told in lines: a fold over its records. The same lines live, piped and when followed.
//! What one critic said is `review`.

mod review;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gadfly_engine::budget::Spent;
use gadfly_engine::event::EventKind;
use gadfly_engine::goal::{ARGS, PREVIEW, StepEnd};
use gadfly_engine::input::InputKind;
use gadfly_engine::isolation::NOT_HELD;
use gadfly_engine::manifest::{PlannedRead, RunManifest};
use gadfly_engine::pipeline::PipelineEvent;
use gadfly_engine::{
    AgentCard, Class, Digest, Effect, EffectId, EffectKind, Event, NodePath, Observation, Part,
};
use gadfly_journal::Record;
use gadfly_journal::state::FindingCounts;
use owo_colors::OwoColorize as _;

use super::rail::{self, RailLine};
use super::table::{counted, size};
use super::{diff, goal, judged, pipeline, safe};

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
        match what {
            EventKind::RoundStarted { round, of } => {
                lines.push(format!("round {round} of {of}").bold().to_string());
            }
            EventKind::DraftMade { bytes, given, diff: Some(_), .. } => {
                let whose = if *given { "your files" } else { "changes" };
                lines.push(format!("  {whose}: a diff of {}", size(*bytes)));
            }
            EventKind::DraftMade { bytes, given: true, .. } if self.files > 1 => {
                lines.push(format!("  your files: {} in {} files", size(*bytes), self.files));
            }
            EventKind::DraftMade { blob, bytes, given, .. } => {
                self.drafted(node, (blob, *bytes, *given), record, lines);
            }
            EventKind::ChangedUnasked { sections, .. } => {
                let named: Vec<String> =
                    sections.iter().map(|s| format!("“{}”", safe::line(s, 80))).collect();
                lines.push(format!("  hint: changed without being asked: {}", named.join(", ")));
            }
            EventKind::SelfVerdictNoted { line, .. } => {
                lines.push(format!(
                    "  noted: the worker judged itself (“{}”); it counts for nothing",
                    safe::line(line, 80)
                ));
            }
            EventKind::Reviewed { review, .. } => self.reviewed(review, lines),
            EventKind::ReplyMalformed { critic, problem, restating, .. } => {
                let then = if *restating { "; asking again" } else { "" };
                let critic = self.agent(critic);
                lines.push(format!(
                    "  {} could not read {critic}'s reply: {}{then}",
                    "!".yellow(),
                    safe::line(problem, 300)
                ));
            }
            EventKind::Stalled { stalls, .. } => {
                lines.extend(stalls.iter().map(|stall| format!("    hint: {stall}")));
            }
            EventKind::RejectionOverruled { .. } => {
                lines.push(format!("  {} only new requirements: the rejection is overruled", "✓".green()));
            }
            EventKind::FellBack { from, to, because } => {
                let (from, to) = (self.agent(from), self.agent(to));
                lines.push(format!(
                    "  {} {from} gave no verdict ({}); {to} judges instead",
                    "!".yellow(),
                    safe::line(because, 300)
                ));
            }
            EventKind::CallFailed { agent, role, failure, .. } => {
                let agent = self.agent(agent);
                lines.push(format!(
                    "  {} {} {agent} failed: {}",
                    "✗".red(),
                    role.name(),
                    safe::line(&failure.to_string(), 600)
                ));
            }
            EventKind::CallLost { agent, role, .. } => {
                let agent = self.agent(agent);
                lines.push(format!(
                    "  {} a call of {} {agent} was lost; it counts as spent",
                    "!".yellow(),
                    role.name()
                ));
            }
            EventKind::Charged { run, .. } => self.spent = *run,
            EventKind::Overran { shortage } => {
                lines.push(format!("  {} over budget: {shortage}", "!".yellow()));
            }
            EventKind::Saved { path, .. } => lines.push(format!("  saved {}", safe::line(path, 400))),
            EventKind::SaveRefused { message, .. } => {
                lines.push(format!("  {} {}", "✗".red(), safe::line(message, 600)));
            }
            EventKind::Warned { message } => {
                lines.push(format!("  {} {}", "warning:".yellow(), safe::line(message, 600)));
            }
            EventKind::GoalSet { goal, criterion, policy, interval, steps } => {
                self.is_goal = true;
                let text =
                    text_of(record, goal).map_or_else(String::new, |text| safe::line(text, LONGEST_ITEM));
                lines.push(format!("goal: {text}").bold().to_string());
                lines.push(format!("  {}", goal::terms(criterion, policy, *interval, *steps)));
            }
            EventKind::Stepped { step } => lines.push(format!("  {}", rail::step(step))),
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
            | EventKind::ChangeShown { .. }
            | EventKind::ChangeLookedAt { .. }
            | EventKind::ToolDisabled { .. }
            | EventKind::OutcomeUnknown { .. }
            | EventKind::Steered { .. }
            | EventKind::GoalPaused { .. }
            | EventKind::GaveUp { .. }
            | EventKind::LastWords { .. } => self.beside(what, record, lines),
            EventKind::Pipeline(event) => {
                if let PipelineEvent::Dispatched { agent, at, .. } = event {
                    self.pairs.insert(at.clone(), agent.clone());
                }
                lines.extend(pipeline::told(event, &|digest| text_of(record, digest).map(str::to_owned)));
            }
            EventKind::PauseRequested => lines.push("  pausing after the calls under way".to_owned()),
            EventKind::CancelRequested => lines.push("  cancelled".to_owned()),
            EventKind::Resumed => lines.push("resumed".bold().to_string()),
            EventKind::LimitsRaised { limits, rounds } => lines.push(raised(limits, *rounds)),
            EventKind::AgentChanged { agent, card } => {
                self.agents.insert(agent.clone(), (**card).clone());
                let to = safe::line(&card.sends_to, 80);
                lines.push(format!(
                    "  agent {} is reached differently now: {}, {to}",
                    self.agent(agent),
                    card.kind
                ));
            }
            EventKind::VerifyRan { command, green, verified, .. } => {
                let output = verified.runs.last().map(|run| run.output);
                let text = output.and_then(|digest| text_of(record, &digest));
                lines.extend(indented(judged::verify(command, *green, verified, text)));
            }
            EventKind::Routed { route, because, .. } => {
                lines.push(format!("  → {route}: {}", safe::line(because, 300)));
            }
            EventKind::Escalated { to, because, .. } => {
                lines.push(format!("  escalated to {}: {}", safe::line(to, 60), safe::line(because, 300)));
            }
            EventKind::Decided { by, text } => {
                let said = text_of(record, text).map(|said| format!(": {}", safe::line(said, 300)));
                lines.push(format!("  {} decided{}", safe::line(by, 60), said.unwrap_or_default()));
            }
            EventKind::Deferred { criterion, reason, by, .. } => lines.push(format!(
                "  deferred {} by {}: {}",
                safe::line(criterion, 80),
                safe::line(by, 60),
                safe::line(reason, 300)
            )),
            EventKind::RoundEnded { line, .. } | EventKind::Summarised { line } => {
                lines.push(format!("  {}", safe::line(line, 300)));
            }
            EventKind::Violated { agent, paths, .. } => lines.push(format!(
                "  {} {} changed files it may only read: {}; undone, its reply is void (tree compared)",
                "✗".red(),
                self.agent(agent),
                safe::line(&paths.join(", "), 300)
            )),
            EventKind::Conflicted { conflicts } => lines.push(format!(
                "  {} changed on both sides, here and by the run: nothing is written until you decide",
                counted(usize::try_from(conflicts.count()).unwrap_or(usize::MAX), "file")
            )),
            EventKind::Accepted { paths, commit, merged, kept } => {
                let how = match commit {
                    Some(commit) => {
                        let (id, branch) = (safe::line(&commit.id, 12), safe::line(&commit.branch, 100));
                        format!("committed {id} on branch {branch}")
                    }
                    None if self.pairs.is_empty() => {
                        format!("accepted into your checkout: {}", counted(paths.len(), "file"))
                    }
                    None => format!("delivered: {}", safe::line(&paths.join(", "), 300)),
                };
                lines.push(format!("  {} {how}", "✓".green()));
                let by_decision = [
                    (merged, "merged with yours by git: nobody judged the merged text"),
                    (kept, "left as you have it: not what was judged"),
                ];
                for (paths, what) in by_decision.into_iter().filter(|(paths, _)| !paths.is_empty()) {
                    lines.push(format!("  {} {} {what}", "!".yellow(), counted(paths.len(), "file")));
                }
            }
            EventKind::Reported { name, .. } => lines.push(format!("  report: {}", safe::line(name, 200))),
            EventKind::Asked { .. } | EventKind::PersonSaid { .. } | EventKind::NodeStarted { .. } => {}
        }
    }

    /// Something said beside the steps of a goal.
    fn beside(&mut self, what: &EventKind, record: &Record, lines: &mut Vec<String>) {
        let digest = match what {
            EventKind::Nudged { text, .. } | EventKind::Steered { text, .. } => Some(text),
            EventKind::LastWords { text, .. } => text.as_ref(),
            _ => None,
        };
        if let Some((digest, text)) = digest.and_then(|digest| Some((*digest, text_of(record, digest)?))) {
            if self.said.len() >= SAID {
                self.said.pop_front();
            }
            self.said.push_back((digest, text.chars().take(LONGEST_SAID).collect()));
        }
        lines.extend(
            RailLine::of(what, &|digest| self.said(digest)).map(|entry| format!("  {}", entry.line())),
        );
    }

    fn drafted(
        &mut self,
        node: &NodePath,
        (blob, bytes, given): (&Digest, u64, bool),
        record: &Record,
        lines: &mut Vec<String>,
    ) {
        let mut texts = record.input.texts.iter().chain(&record.step.texts);
        let text = texts.find(|t| t.digest() == *blob).map(|t| t.as_str().to_owned());
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
        let whose = match (given, is_files) {
            (true, false) => "your draft",
            (false, false) => "draft",
            (true, true) => "as it is",
            (false, true) => "files",
        };
        lines.push(format!("  {whose}: {}{change}", size(bytes)));
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

fn raised(limits: &gadfly_engine::Limits, rounds: Option<u32>) -> String {
    let caps = [
        rounds.map(|n| format!("{n} rounds")),
        limits.money.map(|m| m.to_string()),
        limits.tokens.map(|n| format!("{n} tokens")),
        limits.active_ms.map(|ms| format!("{} active minutes", ms / 60_000)),
        limits.calls.map(|n| format!("{n} calls")),
        limits.steps.map(|n| format!("{n} steps")),
        limits.turns.map(|n| format!("{n} turns")),
    ];
    format!("  raised to {}", caps.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests;
