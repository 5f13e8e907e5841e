//! A table at which scripted people sit: replies in, a compact transcript out. Every critic call that
//! passes over it is checked for what must hold in any run. Tests only; every protocol's tests use it.

#![allow(clippy::unwrap_used, clippy::panic, dead_code)]

pub mod pipeline_line;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::budget::{Limits, Money, Price, Usage};
use crate::digest::Digest;
use crate::effect::{
    Answer, CallFailure, Class, Effect, EffectId, EffectKind, FailureKind, Observation, Reply, StopReason,
};
use crate::event::EventKind;
use crate::goal::StepEnd;
use crate::input::{Control, FORMAT, Input, InputKind, Stamp, Start};
use crate::machine::{Engine, Refused, Step};
use crate::plan::NodePlan;
use crate::plan::{AgentCard, Plan};
use crate::text::Text;
use crate::tool::{ToolAction, ToolCall, ToolDone, ToolEnd};
use crate::tree::{
    Change, ChangeKind, CommandRun, FileContent, FileSeen, Looked, RunEnd, Tree, Verified, WorkspacePlan,
};
use crate::turn::{Part, Permission, Role};

pub const SEED: &str = "5eed";
/// The task of every game. `revise` shows it to no critic.
pub const TASK: &str = "Write about the moon, says the person.";
/// Stands in workers' reasoning, which no critic may see.
pub const THOUGHT: &str = "a private thought";

/// A protocol's settings, as far as the table needs them.
pub trait Plays {
    fn root(&self) -> NodePlan;
}

pub struct Table<S> {
    pub engine: Engine,
    pub records: Vec<(Input, Step)>,
    pub settings: S,
    /// What no critic may be shown.
    pub secrets: Vec<&'static str>,
    pub workspace: Option<WorkspacePlan>,
    pub limits: Limits,
    pub agents: BTreeMap<String, AgentCard>,
    texts: Vec<Text>,
    active_ms: u64,
    log: String,
}

pub fn card() -> AgentCard {
    AgentCard {
        named_by: crate::plan::NamedBy::User,
        kind: "scripted".into(),
        model: None,
        sends_to: "this machine".into(),
        price: Some(Price { input: 1, output: 1, ..Price::default() }),
        person: false,
        max_output_tokens: 1000,
        timeout_ms: 60_000,
        limits: Limits::default(),
        window: None,
        per_call: Limits { tokens: Some(100), money: Some(Money(100)), ..Limits::default() },
        continues: false,
        tools: false,
        withheld: Vec::new(),
        structured: false,
        reached_as: None,
    }
}

impl<S: Plays> Table<S> {
    /// Ann works, Cato judges, Dora and Emil sit beside; whoever else is needed can be added.
    pub fn seated(settings: S) -> Self {
        let agents = ["ann", "cato", "dora", "emil"].map(|name| (name.to_owned(), card())).into();
        Self {
            engine: Engine::default(),
            records: Vec::new(),
            settings,
            secrets: vec![THOUGHT],
            workspace: None,
            limits: Limits::default(),
            agents,
            texts: vec![Text::new(TASK)],
            active_ms: 0,
            log: String::new(),
        }
    }

    pub fn with(mut self, change: impl FnOnce(&mut S)) -> Self {
        change(&mut self.settings);
        self
    }

    pub fn limited(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    pub fn person(mut self, name: &str) -> Self {
        self.agents.entry(name.into()).and_modify(|c| c.person = true);
        self
    }

    /// Brings a text of the user's.
    pub fn bring(&mut self, body: &str) -> crate::digest::Digest {
        let text = Text::new(body);
        self.texts.push(text.clone());
        text.digest()
    }

    pub fn start(mut self) -> Self {
        let plan = Plan {
            caller: None,
            title: "moon".into(),
            root: self.settings.root(),
            agents: self.agents.clone(),
            limits: self.limits,
            workspace: self.workspace.clone(),
        };
        let start = Start { format: FORMAT, plan, seed: SEED.into() };
        let texts = std::mem::take(&mut self.texts);
        self.put("start", InputKind::Started(Box::new(start)), texts);
        self
    }

    /// The one effect that is under way.
    pub fn open(&self) -> Effect {
        let open: Vec<&Effect> = self.engine.open_effects().collect();
        assert_eq!(open.len(), 1, "one open effect expected\n{}", self.log);
        open[0].clone()
    }

    /// The open call of one agent, where several are under way.
    pub fn open_of(&self, agent: &str) -> Effect {
        let of = |e: &&Effect| matches!(&e.kind, EffectKind::Turn(t) if t.agent == agent);
        let open = self.engine.open_effects().find(of);
        open.unwrap_or_else(|| panic!("{agent} is not asked\n{}", self.log)).clone()
    }

    /// What one of several agents under way says.
    pub fn says_as(&mut self, agent: &str, reply: &str) -> &mut Self {
        let effect = self.open_of(agent).id;
        let text = Text::new(reply);
        let shown = format!("{effect} {agent} “{}”", crate::brief::one_line(reply));
        let reply = Reply::Done(answer(&text, StopReason::EndTurn, Usage::default()));
        self.put(&shown, InputKind::Replied { effect, reply }, vec![text])
    }

    /// The folder as it is now: path and content of every changed file; no content means deleted.
    pub fn sees(&mut self, files: &[(&str, Option<&str>)]) -> &mut Self {
        let (tree, texts) = tree(files);
        self.reply_with("looked", Reply::Looked(Looked { tree: Some(tree), files: Vec::new() }), texts)
    }

    /// Files read from the folder.
    pub fn reads(&mut self, files: &[(&str, Option<&str>)]) -> &mut Self {
        let mut texts = Vec::new();
        let mut seen = Vec::new();
        for (path, body) in files {
            let what = body.map_or(FileContent::Missing, |body| {
                texts.push(Text::new(body));
                FileContent::Text(Digest::of(body.as_bytes()))
            });
            seen.push(FileSeen { path: (*path).into(), what });
        }
        self.reply_with("read", Reply::Looked(Looked { tree: None, files: seen }), texts)
    }

    /// How the verify command that is under way ended, however often it is run on this state: what fails is run again, and
    /// what passes is run in a fresh folder.
    pub fn verifies(&mut self, code: i32, output: &str) -> &mut Self {
        let under_way = |game: &Self| match game.engine.open_effects().next().map(|e| e.kind.clone()) {
            Some(EffectKind::Verify(verify)) => Some((verify.command, verify.tree)),
            _ => None,
        };
        let first = under_way(self);
        self.verifies_once(code, output);
        while first.is_some() && under_way(self) == first {
            self.verifies_once(code, output);
        }
        self
    }

    /// How one run of it ended.
    pub fn verifies_once(&mut self, code: i32, output: &str) -> &mut Self {
        self.verifies_slowly(code, output, 5)
    }

    pub fn verifies_slowly(&mut self, code: i32, output: &str, took_ms: u64) -> &mut Self {
        let text = Text::new(output);
        let run = CommandRun { end: RunEnd::Code(code), output: text.digest(), took_ms };
        let verified = Verified { runs: vec![run], changed: Vec::new(), evidence: Vec::new() };
        self.reply_with(&format!("verify exit {code}"), Reply::Verified(verified), vec![text])
    }

    pub fn accepted(&mut self) -> &mut Self {
        self.replies(Reply::Accepted {
            paths: vec!["a".into()],
            commit: None,
            merged: Vec::new(),
            kept: Vec::new(),
        })
    }

    pub fn says(&mut self, reply: &str) -> &mut Self {
        self.says_using(reply, Usage { input: 10, output: 10, ..Usage::default() })
    }

    pub fn says_using(&mut self, reply: &str, usage: Usage) -> &mut Self {
        self.done(reply, StopReason::EndTurn, usage)
    }

    pub fn stops(&mut self, reply: &str, stop: StopReason) -> &mut Self {
        self.done(reply, stop, Usage::default())
    }

    fn done(&mut self, reply: &str, stop: StopReason, usage: Usage) -> &mut Self {
        let text = Text::new(reply);
        let shown = crate::brief::one_line(reply);
        let reply = Reply::Done(answer(&text, stop, usage));
        self.reply_with(&format!("“{shown}”"), reply, vec![text])
    }

    /// The model wants tools to be used: name and arguments of each.
    pub fn wants(&mut self, calls: &[(&str, &str)]) -> &mut Self {
        let said = Text::new("");
        let mut reply =
            answer(&said, StopReason::ToolUse, Usage { input: 10, output: 10, ..Usage::default() });
        let mut texts = vec![said];
        for (n, (name, args)) in calls.iter().enumerate() {
            let args = Text::new(*args);
            let call = ToolCall { id: format!("c{n}"), name: (*name).into(), args: args.digest() };
            reply.parts.push(Part::Call(call));
            texts.push(args);
        }
        let names: Vec<&str> = calls.iter().map(|(name, _)| *name).collect();
        self.reply_with(&format!("wants {}", names.join(", ")), Reply::Done(reply), texts)
    }

    /// What came of the tool that is at work.
    pub fn did(&mut self, end: ToolEnd, shown: &str) -> &mut Self {
        let text = Text::new(shown);
        let done = ToolDone { end, shown: text.digest(), bytes: shown.len() as u64, took_ms: 5 };
        let line = crate::brief::one_line(shown);
        self.reply_with(&format!("did “{line}”"), Reply::Tool(done), vec![text])
    }

    /// An agent with tools of its own says what it does.
    pub fn steps(&mut self, line: &str) -> &mut Self {
        let effect = self.open_of("ann").id;
        let observation = Observation::step(line);
        self.put(&format!("{effect} · {line}"), InputKind::Observed { effect, observation }, Vec::new())
    }

    /// It begins something.
    pub fn begins(&mut self, call: &str, line: &str) -> &mut Self {
        let effect = self.open_of("ann").id;
        let observation = Observation::Step { line: line.into(), call: Some(call.into()) };
        self.put(&format!("{effect} · {line} …"), InputKind::Observed { effect, observation }, Vec::new())
    }

    /// It says what came of it.
    pub fn ended(&mut self, call: &str, end: StepEnd, said: &str) -> &mut Self {
        let effect = self.open_of("ann").id;
        let observation = Observation::StepEnded { call: call.into(), end, said: said.into() };
        self.put(&format!("{effect} · {call} ended"), InputKind::Observed { effect, observation }, Vec::new())
    }

    pub fn fails(&mut self, kind: FailureKind) -> &mut Self {
        let failure = CallFailure { kind, message: "alas".into(), usage: Usage::default() };
        self.reply_with(&format!("failed({kind})"), Reply::Failed(failure), Vec::new())
    }

    pub fn replies(&mut self, reply: Reply) -> &mut Self {
        let shown = match &reply {
            Reply::DeniedQuota { .. } => "quota",
            Reply::Conflict { .. } => "conflict",
            Reply::Saved { .. } => "saved",
            Reply::Cancelled { sent: true } => "cancelled, sent",
            Reply::Cancelled { sent: false } => "cancelled, unsent",
            Reply::Accepted { .. } => "accepted",
            Reply::Conflicts(_) => "conflicts",
            Reply::Surveyed(_) => "surveyed",
            Reply::Done(_)
            | Reply::Failed(_)
            | Reply::Looked(_)
            | Reply::Examined(_)
            | Reply::Verified(_)
            | Reply::Tool(_) => "reply",
        };
        self.reply_with(shown, reply, Vec::new())
    }

    pub fn saved(&mut self) -> &mut Self {
        self.replies(Reply::Saved { path: "out.md".into() })
    }

    fn reply_with(&mut self, shown: &str, reply: Reply, texts: Vec<Text>) -> &mut Self {
        let effect = self.open().id;
        self.put(&format!("{effect} {shown}"), InputKind::Replied { effect, reply }, texts)
    }

    pub fn answers(&mut self, reply: &str) -> &mut Self {
        let (effect, text) = (self.open().id, Text::new(reply));
        let shown = format!("{effect} person “{}”", crate::brief::one_line(reply));
        self.put(&shown, InputKind::Answered { effect, text: text.digest(), by: "eve".into() }, vec![text])
    }

    pub fn control(&mut self, control: Control) -> &mut Self {
        let shown = format!("{control:?}").to_lowercase();
        self.put(&shown, InputKind::Controlled(control), Vec::new())
    }

    pub fn resume(&mut self) -> &mut Self {
        self.resume_with(Limits::default(), None)
    }

    pub fn resume_with(&mut self, limits: Limits, rounds: Option<u32>) -> &mut Self {
        self.put("resume", InputKind::Resumed { limits, rounds, agents: BTreeMap::new() }, Vec::new())
    }

    pub fn passes(&mut self, ms: u64) -> &mut Self {
        self.active_ms += ms;
        self
    }

    fn put(&mut self, shown: &str, what: InputKind, texts: Vec<Text>) -> &mut Self {
        self.try_put(shown, what, texts).unwrap();
        self
    }

    pub fn try_put(&mut self, shown: &str, what: InputKind, texts: Vec<Text>) -> Result<(), Refused> {
        let input = Input { at: Stamp { wall_ms: 0, active_ms: self.active_ms }, what, texts };
        let step = self.engine.on(&input)?;
        let _ = writeln!(self.log, "> {shown}");
        for event in &step.events {
            if let Some(line) = event_line(&event.what) {
                let _ = writeln!(self.log, "  {line}");
            }
        }
        for effect in &step.effects {
            let _ = writeln!(self.log, "  {}", effect_line(effect));
            self.check(effect);
        }
        if let Some(outcome) = &step.outcome {
            let _ = writeln!(self.log, "  = {}", outcome.label());
        }
        self.records.push((input, step));
        Ok(())
    }

    /// What holds for every call of every run: rules 2 and 3.
    fn check(&self, effect: &Effect) {
        let EffectKind::Turn(turn) = &effect.kind else { return };
        let expected = if turn.role == Role::Worker { Permission::Write } else { Permission::ReadOnly };
        assert_eq!(turn.permission, expected);
        if turn.role == Role::Critic {
            let prompt = self.prompt(effect);
            for secret in &self.secrets {
                assert!(!prompt.contains(secret), "the critic was shown “{secret}”:\n{prompt}");
            }
        }
    }

    pub fn prompt(&self, effect: &Effect) -> String {
        let EffectKind::Turn(turn) = &effect.kind else { return String::new() };
        let texts = self.engine.texts().unwrap();
        turn.messages.iter().map(|m| m.render(texts)).collect::<Vec<_>>().join("\n")
    }

    pub fn log(&self) -> &str {
        &self.log
    }

    pub fn class(&self) -> String {
        self.engine.outcome().map_or_else(|| "going".into(), crate::outcome::Outcome::label)
    }

    pub fn calls(&self, role: Role) -> usize {
        self.records
            .iter()
            .flat_map(|(_, step)| &step.effects)
            .filter(|e| matches!(&e.kind, EffectKind::Turn(t) if t.role == role))
            .count()
    }

    pub fn effect(&self, id: &str) -> Effect {
        let id: EffectId = id.parse().unwrap();
        self.records.iter().flat_map(|(_, s)| &s.effects).find(|e| e.id == id).unwrap().clone()
    }
}

fn answer(text: &Text, stop: StopReason, usage: Usage) -> Answer {
    Answer {
        parts: vec![Part::Blob(text.digest())],
        stop,
        usage,
        model: None,
        took_ms: 5,
        report: None,
        violations: Vec::new(),
        session: Some(format!("after {}", text.as_str())),
    }
}

/// A tree in which these files were added (or deleted, where there is no content), with its texts.
pub fn tree(files: &[(&str, Option<&str>)]) -> (Tree, Vec<Text>) {
    let (mut manifest, mut diff) = (String::from("base 0\n"), String::new());
    let (mut changes, mut texts) = (Vec::new(), Vec::new());
    for (path, body) in files {
        let _ = writeln!(diff, "diff --git a/{path} b/{path}");
        let lines = body.unwrap_or("old").lines().count();
        let kind = if body.is_some() { ChangeKind::Added } else { ChangeKind::Deleted };
        let after = body.map(|b| Digest::of(b.as_bytes()));
        if let Some(body) = body {
            let _ = writeln!(manifest, "100644 {} {path}", Digest::of(body.as_bytes()));
            let _ = writeln!(diff, "--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{lines} @@");
            body.lines().for_each(|l| _ = writeln!(diff, "+{l}"));
            texts.push(Text::new(*body));
        } else {
            let _ = writeln!(manifest, "deleted {path}");
            let _ = writeln!(diff, "--- a/{path}\n+++ /dev/null\n@@ -1 +0,0 @@\n-old");
        }
        changes.push(Change {
            path: (*path).into(),
            kind,
            mode: 0o100_644,
            binary: false,
            bytes: body.map_or(0, |b| b.len() as u64),
            lines: u32::try_from(lines).unwrap(),
            before: None,
            after,
        });
    }
    let (manifest, diff) = (Text::new(manifest), Text::new(diff));
    let tree = Tree { digest: manifest.digest(), diff: diff.digest(), changes };
    texts.extend([manifest, diff]);
    (tree, texts)
}

fn effect_line(effect: &Effect) -> String {
    let what = match &effect.kind {
        EffectKind::Turn(turn) => format!("ask {} {}", turn.role.name(), turn.agent),
        EffectKind::Save(save) if save.approved => "save approved".to_owned(),
        EffectKind::Save(_) => "save unapproved".to_owned(),
        EffectKind::Look(look) if look.paths.is_empty() => "look".to_owned(),
        EffectKind::Look(look) => format!("read {}", look.paths.join(", ")),
        EffectKind::Verify(verify) if verify.fresh => {
            format!("verify `{}` in a fresh folder", verify.command)
        }
        EffectKind::Examine(_) => "examine".to_owned(),
        EffectKind::Verify(verify) => format!("verify `{}`", verify.command),
        EffectKind::Ask(question) => {
            format!("question {}: {}", question.about.name(), question.shown_choices().join(" / "))
        }
        EffectKind::Accept(_) => "accept".to_owned(),
        EffectKind::Survey(_) => "survey".to_owned(),
        EffectKind::Commit(_) => "commit".to_owned(),
        EffectKind::Tool(tool) => match &tool.action {
            ToolAction::RunCommand { line, .. } => format!("do `{line}`"),
            other => format!("do {}", other.tool()),
        },
        EffectKind::Cancel { target } => format!("cancel {target}"),
        EffectKind::Tell { target, .. } => format!("tell {target}"),
    };
    let person = if effect.class == Class::Person { " (person)" } else { "" };
    let repeats = effect.repeats.as_ref().map_or(String::new(), |r| format!(" again, for {r}"));
    format!("{} {what}{person}{repeats}", effect.id)
}

fn event_line(event: &EventKind) -> Option<String> {
    Some(match event {
        EventKind::RoundStarted { round, of } => format!("round {round} of {of}"),
        EventKind::DraftMade { given: true, .. } => "draft given".into(),
        EventKind::SelfVerdictNoted { line, .. } => format!("self verdict: {line}"),
        EventKind::ChangedUnasked { sections, .. } => format!("changed unasked: {}", sections.join(", ")),
        EventKind::Reviewed { review, .. } => {
            let open: Vec<String> =
                review.open.iter().map(|i| format!("{}. {} (since {})", i.number, i.text, i.since)).collect();
            format!("{:?} {}", review.verdict, open.join(" | ")).trim_end().to_owned()
        }
        EventKind::ReplyMalformed { problem, restating, .. } => {
            let then = if *restating { ", restate" } else { "" };
            format!("malformed{then}: {}", problem.lines().next().unwrap_or_default())
        }
        EventKind::Stalled { stalls, .. } => format!("stalled: {stalls:?}"),
        EventKind::RejectionOverruled { notes, .. } => format!("overruled: {}", notes.join(" | ")),
        EventKind::FellBack { from, to, because } => format!("{from} → {to}: {because}"),
        EventKind::CallFailed { effect, failure, .. } => format!("{effect} failed: {failure}"),
        EventKind::CallLost { effect, .. } => format!("{effect} lost"),
        EventKind::Overran { shortage } => format!("overran: {shortage}"),
        EventKind::SaveRefused { message, .. } => format!("save refused: {message}"),
        EventKind::LimitsRaised { .. } => "limits raised".into(),
        EventKind::VerifyRan { command, green, .. } => {
            format!("verify `{command}` {}", if *green { "green" } else { "red" })
        }
        EventKind::Routed { route, because, .. } => format!("route {route}: {because}"),
        EventKind::PersonSaid { by, .. } => format!("{by} answered"),
        EventKind::Escalated { to, because, .. } => format!("escalated to {to}: {because}"),
        EventKind::Decided { by, .. } => format!("{by} decided"),
        EventKind::Deferred { criterion, reason, by, .. } => {
            format!("deferred {criterion} by {by}: {reason}")
        }
        EventKind::RoundEnded { line, .. } | EventKind::Summarised { line } => line.clone(),
        EventKind::Violated { agent, paths, .. } => format!("{agent} changed {}", paths.join(", ")),
        EventKind::Reported { name, .. } => format!("report {name}"),
        EventKind::Conflicted { conflicts } => format!("{} in conflict", conflicts.count()),
        EventKind::Accepted { paths, .. } => format!("accepted {}", paths.join(", ")),
        EventKind::Stepped { step } => step.to_string(),
        EventKind::Watched { verdict, reason, from, to, .. } => {
            format!("critic:{} {from}–{to} {reason}", verdict.name())
        }
        EventKind::WentOn { agent, because } => format!("{agent} goes on: {because}"),
        EventKind::CriticOff { because, .. } => format!("critic off: {because}"),
        EventKind::Nudged { why, .. } => format!("nudge {why:?}"),
        EventKind::Claimed { by, rationale } => format!("{by:?} claims: {rationale}"),
        EventKind::VerificationFailed { detail, in_a_row } => {
            format!("verify:fail ({in_a_row}) {}", crate::brief::one_line(detail))
        }
        EventKind::GoalVerified { detail } => format!("verified: {detail}"),
        EventKind::CriterionTried { found, detail } => {
            format!("tried: {found:?}: {}", crate::brief::one_line(detail))
        }
        EventKind::ProtectedChanged { paths, findings } => {
            let found: Vec<String> = findings.iter().map(|f| f.shown_place().unwrap_or_default()).collect();
            format!("protected changed: {}", [paths.clone(), found].concat().join(", "))
        }
        EventKind::Waived { findings, reason, by } => {
            format!("{by} waived {}: {reason}", findings.join(", "))
        }
        EventKind::ChangeLookedAt { seen, reason, .. } => format!("change looked at: {seen:?}: {reason}"),
        EventKind::ToolDisabled { tool, because } => format!("{tool} disabled: {because}"),
        EventKind::OutcomeUnknown { n, tool, handling } => format!("[{n}] {tool} unknown: {handling}"),
        EventKind::Steered { by, .. } => format!("{by} steered"),
        EventKind::GoalPaused { because } => format!("paused: {because}"),
        EventKind::GaveUp { reason, .. } => format!("gave up: {reason}"),
        EventKind::LastWords { because, .. } => format!("last words: {because}"),
        EventKind::Pipeline(what) => pipeline_line::line(what)?,
        EventKind::Asked { .. }
        | EventKind::GoalSet { .. }
        | EventKind::ChangeShown { .. }
        | EventKind::NodeStarted { .. }
        | EventKind::DraftMade { .. }
        | EventKind::Charged { .. }
        | EventKind::Saved { .. }
        | EventKind::Warned { .. }
        | EventKind::PauseRequested
        | EventKind::CancelRequested
        | EventKind::Resumed
        | EventKind::AgentChanged { .. } => return None,
    })
}
