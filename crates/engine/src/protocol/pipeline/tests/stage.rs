//! A world in memory: a checkout, a folder for every node, agents that are functions. It answers effects one by one,
//! and can be cut off after any record.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::rc::Rc;

use crate::budget::{Limits, Usage};
use crate::deduction::Level;
use crate::digest::Digest;
use crate::effect::{Answer, Effect, EffectKind, NodePath, Reply, StopReason};
use crate::event::{Event, EventKind};
use crate::input::{FORMAT, Input, InputKind, Stamp, Start};
use crate::judging::Seat;
use crate::machine::{Engine, Step};
use crate::outcome::Outcome;
use crate::pipeline::event::PipelineEvent;
use crate::pipeline::listing::{ListedFile, Listing, Surveyed};
use crate::pipeline::registry::{Atom, Check, Need, PairWeight, Product, RegistryEntry};
use crate::pipeline::{Gate, Pattern, Registry};
use crate::plan::{AgentCard, Plan};
use crate::protocol::Protocols;
use crate::protocol::harness::tree;
use crate::protocol::pipeline::settings::{Hooks, PairSettings, PipelineMode, PipelineSettings, Planning};
use crate::protocol::score::files::{ProjectCommand, WorkerOutput};
use crate::protocol::score::settings::EscalateTo;
use crate::question::Question;
use crate::replay::replay;
use crate::text::Text;
use crate::tool::{ToolAction, ToolDone, ToolEnd};
use crate::tree::{CommandRun, FileContent, FileSeen, Looked, RunEnd, Verified, WorkspacePlan};
use crate::turn::{Part, Role};

pub type Tree = BTreeMap<String, String>;

/// What an agent is asked: its name, its role, which of its calls this is, the brief; a worker may change the folder.
pub struct Asked<'a> {
    pub agent: &'a str,
    pub role: Role,
    pub nth: u32,
    pub brief: &'a str,
    pub folder: &'a mut Tree,
}

type Agents = Rc<dyn Fn(Asked<'_>) -> String>;
type Person = Rc<dyn Fn(&Question) -> Option<String>>;
type Commands = Rc<dyn Fn(&str, &Tree) -> i32>;

#[derive(Clone, Default)]
pub struct Folder {
    base: Tree,
    now: Tree,
    states: BTreeMap<Digest, Tree>,
}

#[derive(Clone)]
pub struct Stage {
    pub settings: PipelineSettings,
    pub checkout: Tree,
    folders: BTreeMap<NodePath, Folder>,
    pub agents: Agents,
    pub person: Person,
    pub commands: Commands,
    pub texts: Vec<Text>,
    pub records: Vec<(Input, Step)>,
    open: VecDeque<Effect>,
    pub outcome: Option<Outcome>,
    pub at_once: usize,
    clock: u64,
    /// The last effect is answered first.
    pub backwards: bool,
}

pub fn atom(text: &str, check: Check) -> Need {
    Need::Atom(Atom { text: text.into(), line: 1, check })
}

pub fn path(text: &str) -> Need {
    atom(text, Check::Path(Pattern::new(text)))
}

pub fn scored(critic: &str) -> Need {
    atom(&format!("{critic} score >= 80"), Check::Score { critic: critic.into(), at_least: 80 })
}

/// An agent that makes `out/NAME.md` and is judged by `NAME-critic`.
pub fn entry(agent: &str, requires: Need, percent: u32) -> RegistryEntry {
    RegistryEntry {
        agent: agent.into(),
        requires,
        produces: vec![Product { patterns: vec![Pattern(format!("out/{agent}.md"))], ..Product::default() }],
        critic: Some(format!("{agent}-critic")),
        escalate_to: EscalateTo::User,
        weight: PairWeight::Share { points: percent * 100, component: agent.into(), binary: false },
        ..RegistryEntry::default()
    }
}

impl Stage {
    pub fn of(entries: Vec<RegistryEntry>) -> Self {
        let mut texts = Vec::new();
        let mut keep = |text: String| {
            let text = Text::new(text);
            texts.push(text.clone());
            text.digest()
        };
        let request = keep("Write the paper.".into());
        let rubric = keep("Be right.".into());
        let mut pairs = BTreeMap::new();
        for entry in &entries {
            let itself = entry.judges().then(|| entry.agent.clone());
            let critics = entry.critic.clone().or(itself).into_iter();
            let critics = critics.map(|agent| Seat { agent, fallback: None, lens: None }).collect();
            let pair = PairSettings {
                worker: entry.agent.clone(),
                identity: keep(format!("You are {}.", entry.agent)),
                task: keep(format!("Do what {} does.", entry.agent)),
                rubric: Some(rubric),
                table: None,
                severity: Level::High,
                own_rubrics: BTreeMap::new(),
                critic_identities: BTreeMap::new(),
                invariants: None,
                critics,
                threshold: 80,
                output: WorkerOutput::Files,
                verify: Vec::new(),
                loaded: Vec::new(),
            };
            pairs.insert(entry.agent.clone(), pair);
        }
        let settings = PipelineSettings {
            state_files: None,
            project: "x".into(),
            request,
            registry: Registry { entries },
            enabled: BTreeSet::new(),
            pairs,
            gate: Gate::commit(),
            mode: PipelineMode::Pipeline,
            jobs: 4,
            rounds: 3,
            overall: 5,
            fixes: 2,
            manual: BTreeMap::new(),
            assume_manual: false,
            verdicts: Vec::new(),
            skills: BTreeMap::new(),
            also: Vec::new(),
            unjudged: Vec::new(),
            plan: Planning::None,
            plan_agreed: false,
            result_agreed: true,
            commit: None,
            hooks: Hooks::default(),
            pair_limits: Limits::default(),
        };
        Self {
            settings,
            checkout: Tree::new(),
            folders: BTreeMap::new(),
            agents: Rc::new(diligent),
            person: Rc::new(|_| None),
            commands: Rc::new(|_, _| 0),
            texts,
            records: Vec::new(),
            open: VecDeque::new(),
            outcome: None,
            at_once: 0,
            clock: 0,
            backwards: false,
        }
    }

    pub fn with_agents(mut self, agents: impl Fn(Asked<'_>) -> String + 'static) -> Self {
        self.agents = Rc::new(agents);
        self
    }

    pub fn with_person(mut self, person: impl Fn(&Question) -> Option<String> + 'static) -> Self {
        self.person = Rc::new(person);
        self
    }

    pub fn pair(&mut self, agent: &str) -> &mut PairSettings {
        self.settings.pairs.get_mut(agent).unwrap()
    }

    pub fn keep(&mut self, text: &str) -> Digest {
        let text = Text::new(text);
        self.texts.push(text.clone());
        text.digest()
    }

    fn cards(&self) -> BTreeMap<String, AgentCard> {
        let mut names: Vec<String> = vec!["planner".into()];
        for (agent, pair) in &self.settings.pairs {
            names.push(agent.clone());
            names.extend(pair.critics.iter().map(|seat| seat.agent.clone()));
        }
        let card = AgentCard {
            named_by: crate::plan::NamedBy::User,
            kind: "scripted".into(),
            model: None,
            sends_to: "this machine".into(),
            price: None,
            person: false,
            max_output_tokens: 1000,
            timeout_ms: 60_000,
            limits: Limits::default(),
            window: None,
            per_call: Limits::default(),
            continues: false,
            tools: false,
            withheld: Vec::new(),
            structured: false,
            reached_as: None,
        };
        names.into_iter().map(|name| (name, card.clone())).collect()
    }

    /// Starts, and answers everything until it stands still.
    pub fn plays(mut self) -> Self {
        let mut engine = Engine::default();
        let plan = Plan {
            caller: None,
            title: "a pipeline".into(),
            root: self.settings.node_plan(Limits::default()).unwrap(),
            agents: self.cards().into(),
            limits: Limits::default(),
            workspace: Some(WorkspacePlan {
                project: "p".into(),
                per_node: true,
                ..WorkspacePlan::default()
            }),
        };
        let start = Start { format: FORMAT, plan, seed: "5eed".into() };
        let texts = self.texts.clone();
        self.put(&mut engine, InputKind::Started(Box::new(start)), texts);
        self.go_on(&mut engine);
        self
    }

    /// Cuts the run off after this many records, as a crash would, and resumes it.
    pub fn resumed_after(&self, records: usize, begun: &Self) -> Self {
        let mut again = Self { records: self.records[..records].to_vec(), ..begun.clone() };
        // What the world did up to then it has done.
        let mut facts = begun.clone();
        for (_, step) in &self.records[..records] {
            for effect in &step.effects {
                let answered = self.records[..records].iter().any(
                    |(input, _)| matches!(&input.what, InputKind::Replied { effect: id, .. } if *id == effect.id),
                );
                if answered {
                    let _ = facts.reply(effect);
                }
            }
        }
        (again.checkout, again.folders) = (facts.checkout, facts.folders);
        let kept = again.records.iter().map(|(input, step)| (input, step));
        let mut engine = replay(Protocols::shipped(), kept).unwrap();
        again.clock = u64::try_from(records).unwrap();
        again.open =
            engine.open_effects().filter(|e| matches!(e.kind, EffectKind::Ask(_))).cloned().collect();
        if engine.outcome().is_some_and(Outcome::is_ended) {
            again.outcome = engine.outcome().cloned();
            return again;
        }
        let what = InputKind::Resumed { limits: Limits::default(), rounds: None, agents: BTreeMap::new() };
        again.put(&mut engine, what, Vec::new());
        again.go_on(&mut engine);
        again
    }

    fn go_on(&mut self, engine: &mut Engine) {
        for _ in 0..20_000 {
            let at_work: BTreeSet<&NodePath> =
                self.open.iter().map(|e| &e.id.node).filter(|node| **node != NodePath::root()).collect();
            self.at_once = self.at_once.max(at_work.len());
            let Some(at) = self.next() else { return };
            let Some(effect) = self.open.remove(at) else { return };
            if let EffectKind::Ask(question) = &effect.kind {
                let Some(text) = (self.person)(question) else { return };
                let text = Text::new(text);
                let what = InputKind::Answered { effect: effect.id, text: text.digest(), by: "ada".into() };
                self.put(engine, what, vec![text]);
                continue;
            }
            let (reply, texts) = self.reply(&effect);
            self.put(engine, InputKind::Replied { effect: effect.id, reply }, texts);
        }
        panic!("it never ends");
    }

    /// Persons are the last to answer.
    fn next(&self) -> Option<usize> {
        let is_ask = |e: &Effect| matches!(e.kind, EffectKind::Ask(_));
        let work: Vec<usize> =
            self.open.iter().enumerate().filter(|(_, e)| !is_ask(e)).map(|(at, _)| at).collect();
        let first = if self.backwards { work.last() } else { work.first() };
        first.copied().or_else(|| self.open.iter().position(is_ask))
    }

    fn put(&mut self, engine: &mut Engine, what: InputKind, texts: Vec<Text>) {
        self.clock += 1;
        let input = Input { at: Stamp { wall_ms: self.clock, active_ms: self.clock }, what, texts };
        let step = engine.on(&input).unwrap();
        for text in &step.texts {
            self.texts.push(text.clone());
        }
        self.texts.extend(input.texts.iter().cloned());
        for effect in &step.effects {
            match &effect.kind {
                EffectKind::Cancel { target } => self.open.retain(|open| open.id != *target),
                EffectKind::Tell { .. } => {}
                _ => self.open.push_back(effect.clone()),
            }
        }
        self.outcome.clone_from(&step.outcome);
        self.records.push((input, step));
    }

    fn text(&self, digest: &Digest) -> String {
        self.texts.iter().find(|t| t.digest() == *digest).map(|t| t.as_str().to_owned()).unwrap_or_default()
    }

    fn folder(&mut self, node: &NodePath) -> &mut Folder {
        let checkout = self.checkout.clone();
        self.folders.entry(node.clone()).or_insert_with(|| Folder {
            base: checkout.clone(),
            now: checkout,
            states: BTreeMap::new(),
        })
    }

    fn reply(&mut self, effect: &Effect) -> (Reply, Vec<Text>) {
        let node = effect.id.node.clone();
        match &effect.kind {
            EffectKind::Turn(turn) => {
                let brief: String = turn.messages.iter().map(|m| self.rendered(&m.parts)).collect();
                let mut now = Tree::new();
                if let Some(tree) = turn.tree {
                    let folder = self.folder(&node);
                    now = folder.states.get(&tree).cloned().unwrap_or_else(|| folder.base.clone());
                }
                let agents = Rc::clone(&self.agents);
                let (agent, role, nth) = (turn.agent.as_str(), turn.role, turn.nth);
                let said = agents(Asked { agent, role, nth, brief: &brief, folder: &mut now });
                if turn.tree.is_some() && turn.role == Role::Worker {
                    self.folder(&node).now = now;
                }
                let text = Text::new(said);
                (Reply::Done(answer(&text)), vec![text])
            }
            EffectKind::Survey(survey) => {
                let mut listing = Listing::default();
                for (path, body) in &self.checkout {
                    if survey.patterns.iter().any(|p| p.matches(path)) {
                        listing.insert(
                            path.clone(),
                            ListedFile { digest: Digest::of(body.as_bytes()), mode: 0o644 },
                        );
                    }
                }
                let mut texts = vec![Text::new(listing.text())];
                let mut read = Vec::new();
                for (path, body) in
                    self.checkout.iter().filter(|(p, _)| survey.read.iter().any(|r| r.matches(p)))
                {
                    let text = Text::new(body.as_str());
                    read.push((path.clone(), text.digest()));
                    texts.push(text);
                }
                (Reply::Surveyed(Surveyed { listing: texts[0].digest(), read }), texts)
            }
            EffectKind::Look(look) => self.look(&node, look.tree, &look.paths),
            EffectKind::Verify(verify) => {
                let folder = self.folder(&node);
                let state = folder.states.get(&verify.tree).cloned().unwrap_or_default();
                let code = (self.commands)(&verify.command, &state);
                let output = Text::new(format!("{} ended", verify.command));
                let run = CommandRun { end: RunEnd::Code(code), output: output.digest(), took_ms: 1 };
                (
                    Reply::Verified(Verified { runs: vec![run], changed: Vec::new(), evidence: Vec::new() }),
                    vec![output],
                )
            }
            EffectKind::Tool(tool) => {
                let ToolAction::WriteFile { path, content } = &tool.action else { panic!("{tool:?}") };
                let body = self.text(content);
                let folder = self.folder(&node);
                if let Some(state) = tool.begin.and_then(|begin| folder.states.get(&begin).cloned()) {
                    folder.now = state;
                }
                folder.now.insert(path.clone(), body);
                let shown = Text::new("written");
                let done = ToolDone { end: ToolEnd::Done, shown: shown.digest(), bytes: 7, took_ms: 1 };
                (Reply::Tool(done), vec![shown])
            }
            EffectKind::Accept(accept) => {
                let folder = self.folder(accept.at.as_ref().unwrap()).clone();
                let state = folder.states.get(&accept.tree).unwrap();
                let only = accept.only.clone().unwrap();
                for path in &only {
                    match state.get(path) {
                        Some(body) => _ = self.checkout.insert(path.clone(), body.clone()),
                        None => _ = self.checkout.remove(path),
                    }
                }
                (accepted(only), Vec::new())
            }
            EffectKind::Commit(commit) => {
                (accepted(commit.files.iter().map(|file| file.path.clone()).collect()), Vec::new())
            }
            other => panic!("nobody expected a {}", other.name()),
        }
    }

    fn rendered(&self, parts: &[Part]) -> String {
        let mut out = String::new();
        for part in parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Blob(d) | Part::Data(d) => out.push_str(&self.text(d)),
                Part::Slice(slice) => out.push_str(&self.text(&slice.text)),
                _ => {}
            }
        }
        out
    }

    fn look(&mut self, node: &NodePath, state: Option<Digest>, paths: &[String]) -> (Reply, Vec<Text>) {
        let folder = self.folder(node);
        let Some(state) = state else {
            let (base, now) = (folder.base.clone(), folder.now.clone());
            let changed = now.iter().filter(|(path, body)| base.get(*path) != Some(*body));
            let gone = base.keys().filter(|path| !now.contains_key(*path));
            let mut files: Vec<(&str, Option<&str>)> =
                changed.map(|(path, body)| (path.as_str(), Some(body.as_str()))).collect();
            files.extend(gone.map(|path| (path.as_str(), None)));
            let (seen, texts) = tree(&files);
            folder.states.insert(seen.digest, now);
            return (Reply::Looked(Looked { tree: Some(seen), files: Vec::new() }), texts);
        };
        let tree = folder.states.get(&state).cloned().unwrap_or_default();
        let mut texts = Vec::new();
        let files = paths.iter().map(|path| {
            let what = tree.get(path).map_or(FileContent::Missing, |body| {
                let text = Text::new(body.as_str());
                texts.push(text.clone());
                FileContent::Text(text.digest())
            });
            FileSeen { path: path.clone(), what }
        });
        let files = files.collect();
        (Reply::Looked(Looked { tree: None, files }), texts)
    }

    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.records.iter().flat_map(|(_, step)| &step.events)
    }

    /// What happened to the pipeline, a line each.
    pub fn story(&self) -> String {
        let mut out = String::new();
        for event in self.events() {
            match &event.what {
                EventKind::Pipeline(what) => {
                    if let Some(line) = crate::protocol::harness::pipeline_line::line(what) {
                        let _ = writeln!(out, "{line}");
                    }
                }
                EventKind::Escalated { to, because, .. } => _ = writeln!(out, "escalated to {to}: {because}"),
                EventKind::VerifyRan { command, green, .. } => {
                    let _ = writeln!(out, "verify `{command}` {}", if *green { "green" } else { "red" });
                }
                EventKind::Asked { about, .. } => _ = writeln!(out, "asked: {}", about.name()),
                EventKind::Accepted { paths, .. } => _ = writeln!(out, "delivered {}", paths.join(", ")),
                _ => {}
            }
        }
        let _ = writeln!(
            out,
            "→ {}",
            self.outcome.as_ref().map_or_else(|| "stands still".into(), Outcome::label)
        );
        out
    }

    pub fn dispatched(&self) -> Vec<String> {
        let dispatched = self.events().filter_map(|event| match &event.what {
            EventKind::Pipeline(PipelineEvent::Dispatched { agent, .. }) => Some(agent.clone()),
            _ => None,
        });
        dispatched.collect()
    }

    /// The briefs an agent got in this role.
    pub fn briefs(&self, agent: &str, role: Role) -> Vec<String> {
        let effects = self.records.iter().flat_map(|(_, step)| &step.effects);
        let turns = effects.filter_map(|effect| match &effect.kind {
            EffectKind::Turn(turn) if turn.agent == agent && turn.role == role => Some(turn.clone()),
            _ => None,
        });
        turns.map(|turn| turn.messages.iter().map(|m| self.rendered(&m.parts)).collect()).collect()
    }

    pub fn label(&self) -> String {
        self.outcome.as_ref().map_or_else(String::new, Outcome::label)
    }
}

fn accepted(paths: Vec<String>) -> Reply {
    Reply::Accepted { paths, commit: None, merged: Vec::new(), kept: Vec::new() }
}

fn answer(text: &Text) -> Answer {
    Answer {
        parts: vec![Part::Blob(text.digest())],
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        model: None,
        took_ms: 1,
        report: None,
        violations: Vec::new(),
        session: None,
    }
}

/// Writes what it has to, and finds everything well.
#[allow(clippy::needless_pass_by_value)] // as every other agent here
pub fn diligent(asked: Asked<'_>) -> String {
    match asked.role {
        Role::Worker => {
            let path = format!("out/{}.md", asked.agent);
            let body = asked.folder.get(&path).cloned().unwrap_or_default();
            asked.folder.insert(path, format!("{body}work of {}\n", asked.agent));
            "Done.".to_owned()
        }
        Role::Critic => gives(92),
        Role::Advisor => "Do it differently.".to_owned(),
    }
}

/// A critic's report with this score.
pub fn gives(score: u32) -> String {
    let deductions = match 100 - score {
        0 => String::new(),
        points => format!(r#"{{"says": "worth {points}", "fix": "mend it", "times": 1}}"#),
    };
    format!(r#"{{"deductions": [{deductions}], "score": {score}, "notes": []}}"#)
}

pub fn command(line: &str) -> ProjectCommand {
    ProjectCommand { line: line.into(), timeout_ms: 1000 }
}
