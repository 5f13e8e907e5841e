//! One run and everything around it: agents, a folder, a person, a process that dies now and then.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gadfly_engine::budget::{Limits, Usage};
use gadfly_engine::deduction::{Amount, DeductionRow, DeductionTable, Level, Points};
use gadfly_engine::effect::{Effect, EffectKind};
use gadfly_engine::event::EventKind;
use gadfly_engine::finding::Severity;
use gadfly_engine::input::{FORMAT, InputKind};
use gadfly_engine::judging::Seat;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::{audit, converge, score};
use gadfly_engine::tool::{ToolAction, ToolCall, ToolDone, ToolEnd};
use gadfly_engine::tree::{
    Change, ChangeKind, CommandRun, FileContent, FileSeen, Looked, RunEnd, Tree, Verified, WorkspacePlan,
};
use gadfly_engine::{
    AgentCard, Answer, Class, Digest, Engine, Input, Outcome, Part, Plan, Reply, Role, Stamp, Start,
    StopReason, Target, Text,
};

use super::chance::Chance;
use super::replies::{self, CRITERIA, TASK_ID};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Game {
    Score,
    Audit,
    Converge,
}

pub struct World {
    pub engine: Engine,
    pub records: Vec<(Input, gadfly_engine::Step)>,
    pub worker_calls: u32,
    game: Game,
    rounds: u32,
    critics: usize,
    chance: Chance,
    /// The worker's folder is what its last call made of it.
    version: usize,
    granted: u32,
}

const TASK: &str = "Describe the moon.";

impl World {
    pub fn start(game: Game, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let rounds = 1 + u32::try_from(chance.below(4)).unwrap();
        let critics = if game == Game::Score { 1 + chance.below(2) } else { 1 };
        let task = Text::new(TASK);
        let rubric = Text::new("- name the source\n");
        let root = root(game, rounds, critics, &task, &rubric, &mut chance);
        let agents = ["ann", "cato", "dora", "emil", "rita"].map(|n| (n.to_owned(), card(n)));
        let workspace = (game == Game::Audit).then(WorkspacePlan::default);
        let mut agents = BTreeMap::from(agents);
        // In every other audit the workers have no tools of their own.
        for name in ["ann", "emil"] {
            agents
                .entry(name.to_owned())
                .and_modify(|card| card.tools = game == Game::Audit && seed % 2 == 1);
        }
        let plan = Plan {
            caller: None,
            title: "moon".into(),
            root,
            agents: agents.into(),
            limits: Limits::default(),
            workspace,
        };
        let start = Start { format: FORMAT, plan, seed: format!("{seed:x}") };
        let mut world = Self {
            engine: Engine::default(),
            records: Vec::new(),
            worker_calls: 0,
            game,
            rounds,
            critics,
            chance,
            version: 0,
            granted: 0,
        };
        world.put(InputKind::Started(Box::new(start)), vec![task, rubric]);
        world
    }

    pub const fn critics(&self) -> usize {
        self.critics
    }

    /// Rounds, once more after an escalation, and what persons granted.
    pub fn most_worker_calls(&self) -> u32 {
        let escalations = if self.game == Game::Score { 2 } else { 1 };
        // A call that was lost or failed is made again.
        let again = self.records.iter().flat_map(|(_, s)| &s.effects).filter(|e| e.repeats.is_some()).count();
        self.rounds * escalations + self.granted + u32::try_from(again).unwrap()
    }

    pub fn events(&self) -> impl Iterator<Item = &EventKind> {
        self.records.iter().flat_map(|(_, step)| step.events.iter().map(|e| &e.what))
    }

    /// What the user got: approved files and accepted trees.
    pub fn delivered(&self) -> impl Iterator<Item = Digest> {
        self.records.iter().flat_map(|(_, s)| &s.effects).filter_map(|e| match &e.kind {
            EffectKind::Save(save) if save.approved && e.repeats.is_none() => Some(save.content),
            EffectKind::Accept(accept) if e.repeats.is_none() => Some(accept.tree),
            _ => None,
        })
    }

    pub fn log(&self) -> String {
        let mut out = String::new();
        for (input, step) in &self.records {
            let _ = writeln!(out, "> {}", serde_json::to_string(&input.what).unwrap());
            for event in &step.events {
                let _ = writeln!(out, "  {}", serde_json::to_string(&event.what).unwrap());
            }
            for effect in &step.effects {
                let _ = writeln!(out, "  {} {}", effect.id, effect.kind.name());
            }
            if let Some(outcome) = &step.outcome {
                let _ = writeln!(out, "  = {}", outcome.label());
            }
        }
        out
    }

    /// Until it ends; a loop that does not is cut off and fails its test.
    pub fn play(&mut self) {
        for _ in 0..400 {
            if self.engine.outcome().is_some_and(Outcome::is_ended) {
                return;
            }
            let open: Vec<Effect> = self.engine.open_effects().cloned().collect();
            let working = open.iter().filter(|e| e.class != Class::Person).count();
            if open.is_empty() || (working == 0 && self.chance.percent(5)) || self.chance.percent(3) {
                let what =
                    InputKind::Resumed { limits: Limits::default(), rounds: None, agents: BTreeMap::new() };
                self.put(what, Vec::new());
                continue;
            }
            let effect = open[self.chance.below(open.len())].clone();
            self.reply(&effect);
        }
    }

    fn put(&mut self, what: InputKind, texts: Vec<Text>) {
        let input = Input { at: Stamp::default(), what, texts };
        let step = self.engine.on(&input).unwrap_or_else(|why| panic!("{why}\n{}", self.log()));
        for effect in &step.effects {
            // The further turns of a worker that uses tools belong to the same call.
            if matches!(&effect.kind, EffectKind::Turn(t) if t.role == Role::Worker && t.messages.len() == 1)
            {
                self.worker_calls += 1;
            }
        }
        self.records.push((input, step));
    }

    fn reply(&mut self, effect: &Effect) {
        let mut texts = Vec::new();
        let reply = match &effect.kind {
            EffectKind::Turn(turn) if turn.tools.is_some() && self.chance.percent(40) => {
                self.calls(turn.nth, &mut texts)
            }
            EffectKind::Tool(tool) => {
                let end = match (&tool.action, self.chance.below(4)) {
                    (_, 0) => ToolEnd::Error,
                    (ToolAction::RunCommand { .. }, n) => {
                        ToolEnd::Ran(RunEnd::Code(i32::try_from(n).unwrap() - 1))
                    }
                    _ => ToolEnd::Done,
                };
                let shown = Text::new(format!("{end:?}"));
                let done = ToolDone { end, shown: shown.digest(), bytes: 1, took_ms: 1 };
                texts.push(shown);
                Reply::Tool(done)
            }
            EffectKind::Turn(turn) => {
                let said = match turn.role {
                    Role::Worker => self.work(),
                    Role::Advisor => "Use the second way.".to_owned(),
                    Role::Critic => {
                        let number = self.number(effect);
                        let good = self.chance.percent(45);
                        replies::critic(self.game, number, good, &mut self.chance)
                    }
                };
                let text = Text::new(said);
                let answer = Answer {
                    parts: vec![Part::Blob(text.digest())],
                    stop: StopReason::EndTurn,
                    usage: Usage::default(),
                    model: None,
                    took_ms: 1,
                    report: None,
                    violations: Vec::new(),
                    session: None,
                };
                texts.push(text);
                Reply::Done(answer)
            }
            EffectKind::Examine(_) => Reply::Examined(gadfly_engine::tree::Examined::default()),
            EffectKind::Look(look) if look.tree.is_some() => {
                let files =
                    look.paths.iter().map(|path| FileSeen { path: path.clone(), what: FileContent::Missing });
                Reply::Looked(Looked { tree: None, files: files.collect() })
            }
            EffectKind::Look(_) => {
                let (tree, brought) = self.tree();
                texts.extend(brought);
                Reply::Looked(Looked { tree: Some(tree), files: Vec::new() })
            }
            EffectKind::Verify(_) => {
                let code = i32::from(self.chance.percent(25));
                let output = Text::new(format!("ran, exit {code}\n"));
                let run = CommandRun { end: RunEnd::Code(code), output: output.digest(), took_ms: 1 };
                texts.push(output);
                Reply::Verified(Verified { runs: vec![run], changed: Vec::new(), evidence: Vec::new() })
            }
            EffectKind::Ask(question) => {
                let answer = self.decide(question);
                let text = Text::new(answer);
                let what =
                    InputKind::Answered { effect: effect.id.clone(), text: text.digest(), by: "eve".into() };
                return self.put(what, vec![text]);
            }
            EffectKind::Save(save) => Reply::Saved { path: save.target.path.clone() },
            EffectKind::Accept(_) => Reply::Accepted {
                paths: vec!["src/a.rs".into()],
                commit: None,
                merged: Vec::new(),
                kept: Vec::new(),
            },
            EffectKind::Survey(_) | EffectKind::Commit(_) => panic!("no loop asks for that"),
            EffectKind::Cancel { .. } | EffectKind::Tell { .. } => return,
        };
        self.put(InputKind::Replied { effect: effect.id.clone(), reply }, texts);
    }

    /// A model wants tools to be used: some that exist, some that do not, some that it may not use.
    fn calls(&mut self, nth: u32, texts: &mut Vec<Text>) -> Reply {
        let said = Text::new("");
        let mut parts = vec![Part::Blob(said.digest())];
        texts.push(said);
        for n in 0..=self.chance.below(3) {
            let (name, args) = match self.chance.below(6) {
                0 => ("write_file", format!(r#"{{"path":"src/{nth}.rs","content":"{n}"}}"#)),
                1 => ("read_file", r#"{"path":"src/a.rs"}"#.to_owned()),
                2 => ("run_command", r#"{"command":"make test"}"#.to_owned()),
                3 => ("fetch_url", r#"{"url":"http://example.com"}"#.to_owned()),
                4 => ("edit_file", "{".to_owned()),
                _ => ("no_such_tool", "{}".to_owned()),
            };
            let args = Text::new(args);
            parts.push(Part::Call(ToolCall { id: "x".into(), name: name.into(), args: args.digest() }));
            texts.push(args);
        }
        Reply::Done(Answer {
            parts,
            stop: StopReason::ToolUse,
            usage: Usage::default(),
            model: None,
            took_ms: 1,
            report: None,
            violations: Vec::new(),
            session: None,
        })
    }

    fn decide(&mut self, question: &gadfly_engine::question::Question) -> String {
        let choice = &question.choices[self.chance.below(question.choices.len())];
        if choice.word == "grant" {
            self.granted += 1;
        } else {
            // Replanning and the like may begin a new count of rounds.
            self.granted += self.rounds;
        }
        match &choice.takes {
            Some(takes) if takes.starts_with('N') => format!("{} 1", choice.word),
            Some(_) => format!("{} do it the short way", choice.word),
            None => choice.word.clone(),
        }
    }

    fn work(&mut self) -> String {
        if self.chance.percent(80) {
            self.version += 1;
        }
        format!("The moon is far away, version {}.\n", self.version)
    }

    fn tree(&self) -> (Tree, Vec<Text>) {
        let body = format!("fn a() {{ {} }}\n", self.version);
        let diff = format!(
            "diff --git a/src/a.rs b/src/a.rs\n--- /dev/null\n+++ b/src/a.rs\n@@ -0,0 +1 @@\n+{body}"
        );
        let body = Text::new(body);
        let manifest = Text::new(format!("base 0\n100644 {} src/a.rs\n", body.digest()));
        let diff = Text::new(diff);
        let change = Change {
            path: "src/a.rs".into(),
            kind: ChangeKind::Added,
            mode: 0o100_644,
            binary: false,
            bytes: body.as_str().len() as u64,
            lines: 1,
            before: None,
            after: Some(body.digest()),
        };
        let tree = Tree { digest: manifest.digest(), diff: diff.digest(), changes: vec![change] };
        (tree, vec![body, manifest, diff])
    }

    /// The round or pass the brief names.
    fn number(&self, effect: &Effect) -> u32 {
        let EffectKind::Turn(turn) = &effect.kind else { return 0 };
        let texts = self.engine.texts().unwrap();
        let brief = turn.messages[0].render(texts);
        let line = brief.lines().find_map(|l| l.strip_prefix("Round: ").or_else(|| l.strip_prefix("Pass: ")));
        line.and_then(|n| n.trim().parse().ok()).unwrap_or(0)
    }
}

fn card(name: &str) -> AgentCard {
    let _ = name;
    AgentCard {
        named_by: gadfly_engine::plan::NamedBy::User,
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
    }
}

fn root(
    game: Game,
    rounds: u32,
    critics: usize,
    task: &Text,
    rubric: &Text,
    chance: &mut Chance,
) -> NodePlan {
    let seats: Vec<Seat> = ["cato", "dora"][..critics]
        .iter()
        .map(|name| Seat {
            agent: (*name).to_owned(),
            fallback: chance.percent(30).then(|| "emil".to_owned()),
            lens: (critics > 1).then(|| format!("what {name} knows best")),
        })
        .collect();
    let limits = Limits::default();
    let (task, worker) = (task.digest(), Some("ann".to_owned()));
    let out = Some(Target { path: "out.md".into(), before: None });
    match game {
        Game::Score => score::settings::ScoreSettings {
            task,
            rubric: rubric.digest(),
            table: chance.percent(80).then(table),
            severity: Level::High,
            invariants: None,
            references: Vec::new(),
            given: None,
            worker,
            critics: seats,
            rounds,
            threshold: 80,
            escalate_to: match chance.below(3) {
                0 => score::settings::EscalateTo::Agent("rita".into()),
                1 => score::settings::EscalateTo::Orchestrator,
                _ => score::settings::EscalateTo::User,
            },
            stop_early: chance.percent(30),
            out,
            max_parts: 5,
            escalates: true,
            own_rubrics: std::collections::BTreeMap::new(),
            files: None,
        }
        .node_plan(limits),
        Game::Audit => audit::settings::AuditSettings {
            task_id: TASK_ID.into(),
            task,
            criteria: ["SC-1", "SC-2"]
                .map(|id| audit::report::AuditCriterion { id: id.into(), claim: "it works".into() })
                .to_vec(),
            scope: Vec::new(),
            verify: if chance.percent(70) { vec!["make test".into()] } else { Vec::new() },
            verify_runs: 1,
            verify_timeout_ms: 1000,
            decisions: Vec::new(),
            references: Vec::new(),
            folder: true,
            given: None,
            worker,
            build_fixer: chance.percent(50).then(|| "emil".to_owned()),
            researcher: chance.percent(50).then(|| "rita".to_owned()),
            architect: None,
            test_writer: None,
            critics: seats,
            rounds,
            block_on: [Severity::Nit, Severity::Risk, Severity::Fail][chance.below(3)],
            economy: audit::economy::Economy::Full,
            examine: true,
            acceptance: Some(gadfly_engine::tree::Acceptance::Checkout),
            keeps_status: false,
            run_id: "r1".into(),
            report_dir: "reports".into(),
            max_parts: 5,
        }
        .node_plan(limits),
        Game::Converge => converge::settings::ConvergeSettings {
            task,
            criteria: CRITERIA
                .map(|name| converge::sets::ConvergeCriterion {
                    name: name.into(),
                    question: "Is it?".into(),
                })
                .to_vec(),
            references: Vec::new(),
            deferred: Vec::new(),
            given: None,
            worker,
            critics: seats,
            rounds,
            out,
            max_parts: 5,
        }
        .node_plan(limits),
    }
    .unwrap()
}

fn table() -> DeductionTable {
    let row = |id: &str, points| DeductionRow {
        id: id.to_owned(),
        category: None,
        text: id.replace('-', " "),
        points,
        at: BTreeMap::new(),
    };
    DeductionTable {
        rows: vec![
            row("missing-source", Points::Flat(Amount::whole(20))),
            row("vague", Points::Per { each: Amount::whole(10), unit: None, max: Some(Amount::whole(30)) }),
            row("no-unit", Points::Per { each: Amount::whole(5), unit: Some("number".into()), max: None }),
        ],
        ..DeductionTable::default()
    }
}
