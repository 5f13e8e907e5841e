//! A worker that is offered tools, under `audit`: what it does with them, what it may not, and what is left of it
//! when the process dies, money runs out or somebody changes their mind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod crashes;
mod hostile;

use std::collections::BTreeMap;

use serde_json::json;

use crate::budget::{Limits, Money, Usage};
use crate::digest::Digest;
use crate::effect::{Effect, EffectId, EffectKind, FailureKind, Observation, Reply};
use crate::event::EventKind;
use crate::finding::Severity;
use crate::input::{Control, InputKind};
use crate::judging::{PARTS, Seat};
use crate::machine::{AgentAnswer, Cx, Engine, WorkerCall};
use crate::plan::NodePlan;
use crate::protocol::audit::report::AuditCriterion;
use crate::protocol::audit::{AuditSettings, VERIFY_TIMEOUT_MS, economy::Economy};
use crate::protocol::harness::{Plays, TASK, Table, card};
use crate::protocol::{Protocol, Protocols, RuleBook};
use crate::tool::{ToolAction, ToolEnd, ToolUse};
use crate::tree::{RunEnd, WorkspacePlan};
use crate::turn::{Part, Turn};

type Game = Table<AuditSettings>;

fn settings() -> AuditSettings {
    AuditSettings {
        task_id: "T1".into(),
        task: Digest::of(TASK.as_bytes()),
        criteria: vec![AuditCriterion { id: "SC-1".into(), claim: "a exists".into() }],
        scope: Vec::new(),
        verify: vec!["make test".into()],
        verify_runs: 1,
        verify_timeout_ms: VERIFY_TIMEOUT_MS,
        decisions: Vec::new(),
        references: Vec::new(),
        given: None,
        folder: true,
        worker: Some("ann".into()),
        build_fixer: None,
        researcher: None,
        architect: None,
        test_writer: None,
        critics: vec![Seat { agent: "cato".into(), fallback: None, lens: None }],
        rounds: 2,
        block_on: Severity::Nit,
        economy: Economy::Off,
        examine: false,
        acceptance: None,
        max_parts: PARTS,
        keeps_status: false,
        run_id: "r7".into(),
        report_dir: "runs/r7".into(),
    }
}

/// Ann is offered tools.
fn game() -> Game {
    let mut table = Table::seated(settings());
    table.workspace = Some(WorkspacePlan { project: "/project".into(), ..WorkspacePlan::default() });
    table.agents.get_mut("ann").unwrap().tools = true;
    table
}

/// The worker is asked for the first time.
fn begun(game: Game) -> Game {
    let mut game = game.start();
    game.sees(&[]).verifies(1, "nothing there yet");
    game
}

const FILE: &str = "fn a() {}\n";

fn approval() -> String {
    let criterion = json!({"id": "SC-1", "claim": "x", "verdict": "Satisfied", "evidence": "src/a.rs:1", "missing_info": null});
    json!({"critic": "critic", "task_id": "T1", "round": 1, "criteria": [criterion], "findings": [], "verdict": "passed"})
        .to_string()
}

fn turn<S: Plays>(table: &Table<S>) -> Turn {
    match table.open().kind {
        EffectKind::Turn(turn) => turn,
        other => panic!("a turn expected, not {}\n{}", other.name(), table.log()),
    }
}

fn tool<S: Plays>(table: &Table<S>) -> ToolUse {
    match table.open().kind {
        EffectKind::Tool(tool) => tool,
        other => panic!("a tool expected, not {}\n{}", other.name(), table.log()),
    }
}

/// What the model was told of its calls, in the order it made them.
fn results<S: Plays>(table: &Table<S>) -> Vec<String> {
    let texts = table.engine.texts().unwrap();
    let turn = turn(table);
    let parts = turn.messages.iter().flat_map(|message| &message.parts);
    let result = |part: &Part| match part {
        Part::Result(result) => Some(texts.get(&result.text).to_owned()),
        _ => None,
    };
    parts.filter_map(result).collect()
}

fn steps<S: Plays>(table: &Table<S>) -> Vec<String> {
    let events = table.records.iter().flat_map(|(_, step)| &step.events);
    let step = |what: &EventKind| match what {
        EventKind::Stepped { step } => Some(format!("{} {} {}", step.n, step.tool, step.end.name())),
        _ => None,
    };
    events.filter_map(|event| step(&event.what)).collect()
}

fn write_a() -> (&'static str, &'static str) {
    ("write_file", r#"{"path":"src/a.rs","content":"fn a() {}\n"}"#)
}

#[test]
fn a_worker_uses_tools_until_it_is_done_and_is_judged_as_any_other() {
    let mut game = begun(game());
    let first = turn(&game);
    assert_eq!((first.tree, first.nth), (None, 0));
    let offered = game.engine.texts().unwrap().get(&first.tools.unwrap()).to_owned();
    assert!(offered.contains("edit_file") && !offered.contains("fetch_url"), "{offered}");
    assert!(game.prompt(&game.open()).contains("You have tools, and you work only through them"));

    game.wants(&[write_a(), ("run_command", r#"{"command":"make test"}"#)]);
    let writing = tool(&game);
    assert!(matches!(&writing.action, ToolAction::WriteFile { path, .. } if path == "src/a.rs"));
    assert!(writing.begin.is_some(), "the folder is put where the work begins");
    game.did(ToolEnd::Done, "wrote 10 bytes");
    assert_eq!((tool(&game).begin, tool(&game).keep_as), (None, 2));
    game.did(ToolEnd::Ran(RunEnd::Code(2)), "boom");
    assert_eq!(results(&game), ["wrote 10 bytes", "exit code 2\nboom"]);
    assert_eq!(turn(&game).nth, 1);
    game.wants(&[("run_command", r#"{"command":"make test"}"#)]).did(ToolEnd::Ran(RunEnd::Code(0)), "fine");
    game.says("Done.").sees(&[("src/a.rs", Some(FILE))]).verifies(0, "1 passed");
    let cold = game.prompt(&game.open());
    assert!(!cold.contains("wrote 10 bytes") && !cold.contains("Done."), "the critic sees only the work");
    game.says(&approval()).accepted();
    assert_eq!(game.class(), "approved", "{}", game.log());
    assert_eq!(steps(&game), ["1 write_file ok", "2 run_command err", "3 run_command ok"]);
    assert_eq!(game.engine.spent().calls, 2, "the work is one call, the judgement another");
}

#[test]
fn a_worker_that_does_nothing_is_judged_on_the_folder_as_it_was() {
    let mut game = begun(game());
    game.says("There is nothing to do.");
    assert!(tool(&game).begin.is_some() && tool(&game).action.only_reads());
    game.did(ToolEnd::Done, "");
    assert!(matches!(game.open().kind, EffectKind::Look(_)), "{}", game.log());
}

#[test]
fn a_worker_without_tools_works_as_before() {
    let mut table = game();
    table.agents.get_mut("ann").unwrap().tools = false;
    let game = begun(table);
    assert!(turn(&game).tree.is_some() && turn(&game).tools.is_none());
}

#[test]
fn a_failed_turn_is_repeated_with_the_same_conversation() {
    let mut game = begun(game());
    game.wants(&[write_a()]).did(ToolEnd::Done, "wrote 10 bytes");
    let before = turn(&game);
    game.fails(FailureKind::Unavailable);
    assert_eq!(game.class(), "failed");
    game.resume();
    assert_eq!(turn(&game).messages, before.messages);
    assert_eq!(game.open().repeats, Some("run#5".parse().unwrap()));
    game.replies(Reply::DeniedQuota { until_ms: None, message: "later".into(), usage: Usage::default() });
    assert_eq!(game.class(), "waiting(quota)");
    game.resume();
    assert_eq!((turn(&game).messages, results(&game).len()), (before.messages, 1));
}

#[test]
fn money_that_runs_out_in_the_middle_parks_and_more_of_it_goes_on() {
    let limits = Limits { money: Some(Money(115)), ..Limits::default() };
    let mut game = begun(game().limited(limits));
    game.wants(&[write_a()]).did(ToolEnd::Done, "wrote 10 bytes");
    assert_eq!(game.class(), "out_of_budget", "{}", game.log());
    game.resume();
    assert_eq!(game.class(), "out_of_budget");
    game.resume_with(Limits { money: Some(Money(1000)), ..Limits::default() }, None);
    assert_eq!(results(&game), ["wrote 10 bytes"]);
}

#[test]
fn a_cap_on_calls_counts_the_work_and_not_its_turns() {
    let mut game = begun(game().limited(Limits { calls: Some(1), ..Limits::default() }));
    for n in 0..5 {
        game.wants(&[("read_file", &format!(r#"{{"path":"{n}"}}"#))]).did(ToolEnd::Done, "text");
    }
    game.says("Done.").sees(&[("src/a.rs", Some(FILE))]).verifies(0, "fine");
    assert_eq!(game.class(), "out_of_budget", "the critic would be the second\n{}", game.log());
}

#[test]
fn pausing_and_cancelling_work_in_the_middle() {
    let mut game = begun(game());
    game.wants(&[write_a(), ("list_files", "{}")]).control(Control::Pause).did(ToolEnd::Done, "wrote");
    assert_eq!(game.class(), "waiting(paused)", "{}", game.log());
    game.resume();
    assert!(matches!(tool(&game).action, ToolAction::ListFiles { .. }));
    game.did(ToolEnd::Done, "src/a.rs").control(Control::Pause).wants(&[("list_files", "{}")]);
    assert_eq!(game.class(), "waiting(paused)");
    game.resume().control(Control::Cancel).replies(Reply::Cancelled { sent: true });
    assert_eq!(game.class(), "aborted", "{}", game.log());
}

#[test]
fn an_agent_that_is_reached_differently_begins_anew() {
    let mut game = begun(game());
    game.wants(&[write_a()]).did(ToolEnd::Done, "wrote").fails(FailureKind::Unavailable);
    let agents = BTreeMap::from([("ann".to_owned(), card())]);
    game.try_put(
        "resume",
        InputKind::Resumed { limits: Limits::default(), rounds: None, agents },
        Vec::new(),
    )
    .unwrap();
    let turn = turn(&game);
    assert!(turn.tree.is_some() && turn.tools.is_none() && turn.messages.len() == 1);
    game.says("Done.").sees(&[("src/a.rs", Some(FILE))]);
}

/// Calls one worker in the folder, and calls it off when told so.
struct Fickle(Option<EffectId>);

impl Plays for Fickle {
    fn root(&self) -> NodePlan {
        let settings = serde_json::Value::Null;
        NodePlan { protocol: "fickle".into(), version: 1, limits: Limits::default(), settings }
    }
}

const FICKLE: RuleBook = RuleBook {
    name: "fickle",
    version: 1,
    begin: |_| Ok(Box::new(Fickle(None))),
    manifest: |_| Ok(crate::RunManifest::default()),
};

impl Protocol for Fickle {
    fn start(&mut self, cx: &mut Cx<'_>) {
        let tree = Some(cx.intern("tree"));
        self.0 =
            Some(cx.call(WorkerCall { agent: "ann", messages: Vec::new(), tree, advice: false, tag: 0 }));
    }

    fn answered(&mut self, _: AgentAnswer, cx: &mut Cx<'_>) {
        cx.finish(crate::outcome::Outcome::Rejected { draft: None, open: Vec::new() });
    }

    fn observed(&mut self, _: &EffectId, _: &Observation, cx: &mut Cx<'_>) {
        cx.cancel(&self.0.clone().unwrap());
    }

    fn cancelled(&mut self, effect: &EffectId, cx: &mut Cx<'_>) {
        assert_eq!(Some(effect), self.0.as_ref(), "under the name it knows");
        cx.finish(crate::outcome::Outcome::Aborted);
    }
}

fn fickle() -> Table<Fickle> {
    let mut table = Table::seated(Fickle(None));
    table.engine = Engine::new(Protocols::shipped().with(FICKLE));
    table.agents.get_mut("ann").unwrap().tools = true;
    table.start()
}

#[test]
fn work_that_is_called_off_ends_wherever_it_is() {
    let over: [fn(&mut Table<Fickle>); 4] = [
        |table| _ = table.replies(Reply::Cancelled { sent: true }),
        |table| _ = table.did(ToolEnd::Done, "it was through already"),
        |table| _ = table.fails(FailureKind::Crashed),
        |table| _ = table.resume(),
    ];
    for end in over {
        let mut table = fickle();
        table.wants(&[write_a()]);
        observe(&mut table);
        assert!(table.log().contains("cancel run#2"), "{}", table.log());
        end(&mut table);
        assert_eq!(table.class(), "aborted", "{}", table.log());
    }
    let mut table = fickle();
    table.wants(&[write_a()]).did(ToolEnd::Done, "");
    observe(&mut table);
    assert!(table.log().contains("cancel run#3"), "{}", table.log());
    table.wants(&[write_a()]);
    assert_eq!(table.class(), "aborted", "no further tool is used\n{}", table.log());
}

fn observe(table: &mut Table<Fickle>) {
    let observation = Observation::step("something");
    let what = InputKind::Observed { effect: table.open().id, observation };
    table.try_put("something", what, Vec::new()).unwrap();
}

fn is_turn(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Turn(_))
}
