//! Looks, verify runs and questions under a protocol that asks for one after the other.

use super::*;
use crate::budget::Limits;
use crate::effect::{CallFailure, EffectKind, FailureKind, Reply};
use crate::input::Control;
use crate::plan::NodePlan;
use crate::protocol::harness::{Plays, Table};
use crate::protocol::{Protocol, RuleBook};
use crate::question::{About, Choice, Picked, Question};
use crate::text::Text;
use crate::tree::{Look, Verify};

struct Errand;

impl Plays for Errand {
    fn root(&self) -> NodePlan {
        NodePlan {
            protocol: "errand".into(),
            version: 1,
            limits: Limits { active_ms: Some(100_000), ..Limits::default() },
            settings: serde_json::Value::Null,
        }
    }
}

const ERRAND: RuleBook = RuleBook {
    name: "errand",
    version: 1,
    begin: |_| Ok(Box::new(Errand)),
    manifest: |_| {
        Ok(crate::RunManifest::default().running(&crate::manifest::Purpose::Verify, [&"true".to_owned()]))
    },
};

fn question() -> Question {
    let choices = vec![Choice::new("yes", "go on"), Choice::new("no", "stop")];
    Question { about: About::Stuck, text: "Go on?".into(), choices, free: false }
}

impl Protocol for Errand {
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn answered(&mut self, _: AgentAnswer, _: &mut Cx<'_>) {}

    fn task_done(&mut self, _: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        match what {
            TaskResult::Looked(looked) => {
                let tree = looked.tree.unwrap().digest;
                cx.verify(Verify {
                    command: "true".into(),
                    tree,
                    runs: 1,
                    timeout_ms: 1000,
                    held: None,
                    fresh: false,
                    evidence: Vec::new(),
                });
            }
            TaskResult::Verified(_) => _ = cx.ask(question()),
            TaskResult::Said { text, .. } => match question().pick(cx.text(&text)) {
                Picked::Choice { word: "yes", .. } => cx.park(Outcome::Failed {
                    failure: CallFailure {
                        kind: FailureKind::Unavailable,
                        message: "later".into(),
                        usage: crate::budget::Usage::default(),
                    },
                }),
                _ => cx.finish(Outcome::Aborted),
            },
            _ => {}
        }
    }

    fn resumed(&mut self, cx: &mut Cx<'_>) {
        cx.finish(Outcome::Rejected { draft: None, open: Vec::new() });
    }
}

fn begun() -> Table<Errand> {
    let mut table = Table::seated(Errand);
    table.engine = Engine::new(Protocols::shipped().with(ERRAND));
    table.start()
}

#[test]
fn a_command_that_the_manifest_does_not_name_is_not_run() {
    let mut table = Table::seated(Errand);
    let silent = RuleBook { manifest: |_| Ok(crate::RunManifest::default()), ..ERRAND };
    table.engine = Engine::new(Protocols::shipped().with(silent));
    let mut t = table.start();
    t.sees(&[]);
    assert_eq!(t.class(), "failed", "{}", t.log());
    assert!(!t.log().contains("verify `true`"), "{}", t.log());
}

fn failed() -> Reply {
    Reply::Failed(CallFailure {
        kind: FailureKind::Crashed,
        message: "alas".into(),
        usage: crate::budget::Usage::default(),
    })
}

#[test]
fn one_thing_leads_to_the_next_until_a_person_decides() {
    let mut t = begun();
    t.sees(&[]).verifies(0, "fine");
    assert_eq!(t.class(), "waiting(question)", "{}", t.log());
    t.answers("no");
    assert_eq!(t.class(), "aborted");
}

#[test]
fn an_answer_that_is_none_of_the_ways_out_is_refused_and_changes_nothing() {
    let mut t = begun();
    t.sees(&[]).verifies(0, "fine");
    let (effect, text) = (t.open().id, Text::new("perhaps"));
    let what = InputKind::Answered { effect, text: text.digest(), by: "eve".into() };
    let refused = t.try_put("perhaps", what, vec![text]);
    assert_eq!(refused, Err(Refused::NoSuchChoice("answer with one of: yes, no".into())));
    assert_eq!(t.class(), "waiting(question)");
}

#[test]
fn what_was_lost_in_a_crash_is_asked_for_again_and_a_person_is_not() {
    let mut t = begun();
    t.resume();
    assert!(t.log().contains("run#2 look again, for run#1"), "{}", t.log());
    t.sees(&[]).resume();
    assert!(t.log().contains("again, for run#3"), "{}", t.log());
    t.verifies(0, "fine");
    let asked = t.open().id;
    t.resume();
    assert_eq!(t.open().id, asked, "the question stays the same one");
}

#[test]
fn a_failure_parks_the_run_and_resuming_tries_again() {
    let mut t = begun();
    t.replies(failed());
    assert_eq!(t.class(), "failed", "{}", t.log());
    t.resume().sees(&[]).replies(failed());
    assert_eq!(t.class(), "failed");
    t.resume().verifies(1, "red");
    assert_eq!(t.class(), "waiting(question)", "{}", t.log());
}

#[test]
fn a_paused_run_asks_for_nothing_until_it_goes_on() {
    let mut t = begun();
    t.control(Control::Pause).sees(&[]);
    assert_eq!(t.class(), "waiting(paused)", "{}", t.log());
    assert_eq!(t.engine.open_effects().count(), 0);
    t.resume();
    assert!(matches!(t.open().kind, EffectKind::Verify(_)), "{}", t.log());
    t.control(Control::Cancel).replies(Reply::Cancelled { sent: true });
    assert_eq!(t.class(), "aborted", "{}", t.log());
}

#[test]
fn a_cancelled_run_waits_for_no_person() {
    let mut t = begun();
    t.sees(&[]).verifies(0, "fine").control(Control::Cancel);
    assert_eq!(t.class(), "aborted", "{}", t.log());
}

#[test]
fn a_node_that_parked_the_run_is_told_when_it_goes_on() {
    let mut t = begun();
    t.sees(&[]).verifies(0, "fine").answers("yes");
    assert_eq!(t.class(), "failed", "{}", t.log());
    t.resume();
    assert_eq!(t.class(), "rejected", "{}", t.log());
}

#[test]
fn time_spent_on_commands_counts_and_time_with_a_person_does_not() {
    let mut t = begun();
    t.passes(99_000).sees(&[]).passes(2000).verifies(0, "fine").passes(10_000_000);
    t.answers("yes");
    assert_eq!(t.class(), "failed");
    let mut late = begun();
    late.passes(200_000).sees(&[]);
    assert_eq!(late.class(), "out_of_budget", "{}", late.log());
}

#[test]
fn a_reply_that_names_a_text_it_does_not_bring_is_refused() {
    let mut t = begun();
    let (tree, _) = crate::protocol::harness::tree(&[("a", Some("b\n"))]);
    let looked = crate::tree::Looked { tree: Some(tree), files: Vec::new() };
    let what = InputKind::Replied { effect: t.open().id, reply: Reply::Looked(looked) };
    assert!(matches!(t.try_put("looked", what, Vec::new()), Err(Refused::TextMissing(_))));
}
