//! An approved tree on its way to a checkout that changed meanwhile: a person decides, and the decision holds
//! for exactly what they were shown.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so

use crate::budget::Limits;
use crate::conflict::{Conflict, ConflictKind, Conflicts, Resolution, Way};
use crate::digest::Digest;
use crate::effect::{EffectId, EffectKind, Reply};
use crate::input::{Control, InputKind};
use crate::machine::{AgentAnswer, Cx, Engine, Refused, TaskResult};
use crate::outcome::Outcome;
use crate::plan::NodePlan;
use crate::protocol::harness::{Plays, Table};
use crate::protocol::{Protocol, Protocols, RuleBook};
use crate::text::Text;
use crate::tree::{Acceptance, Look};

/// Approves what it sees.
struct Yes;

impl Plays for Yes {
    fn root(&self) -> NodePlan {
        NodePlan {
            protocol: "yes".into(),
            version: 1,
            limits: Limits::default(),
            settings: serde_json::Value::Null,
        }
    }
}

const YES: RuleBook = RuleBook {
    name: "yes",
    version: 1,
    begin: |_| Ok(Box::new(Yes)),
    manifest: |_| Ok(crate::RunManifest::default()),
};

impl Protocol for Yes {
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn answered(&mut self, _: AgentAnswer, _: &mut Cx<'_>) {}

    fn task_done(&mut self, _: &EffectId, what: TaskResult, cx: &mut Cx<'_>) {
        if let TaskResult::Looked(looked) = what {
            let draft = looked.tree.unwrap().digest;
            cx.finish(Outcome::Approved { draft, overruled: false, notes: Vec::new() });
        }
    }

    fn acceptance(&self) -> Option<Acceptance> {
        Some(Acceptance::Checkout)
    }
}

fn conflicts(seen: &str) -> Conflicts {
    let file = Conflict {
        path: "a".into(),
        kind: ConflictKind::BothChanged,
        merges: true,
        here: None,
        run: None,
        shown: String::new(),
    };
    let seen = Digest::of(seen.as_bytes());
    Conflicts { seen, files: vec![file], more: 0, mergeable: true, replaceable: true }
}

fn approved() -> Table<Yes> {
    let mut table = Table::seated(Yes);
    table.engine = Engine::new(Protocols::shipped().with(YES));
    let mut table = table.start();
    table.sees(&[("a", Some("b\n"))]);
    table
}

fn asked() -> Table<Yes> {
    let mut table = approved();
    table.replies(Reply::Conflicts(conflicts("one")));
    table
}

fn resolution(table: &Table<Yes>) -> Option<Resolution> {
    match table.open().kind {
        EffectKind::Accept(accept) => accept.resolution,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_conflict_is_a_question_and_the_answer_goes_with_the_next_acceptance() {
    for (word, way) in [("merge", Way::Merge), ("mine", Way::Mine), ("run", Way::Run)] {
        let mut t = approved();
        assert_eq!(resolution(&t), None);
        t.replies(Reply::Conflicts(conflicts("one")));
        assert_eq!(t.class(), "waiting(question)", "{}", t.log());
        t.answers(word);
        assert_eq!(resolution(&t), Some(Resolution { way, seen: Digest::of(b"one") }), "{}", t.log());
        t.accepted();
        assert_eq!(t.class(), "approved", "{}", t.log());
    }
}

#[test]
fn a_checkout_that_changed_again_is_asked_about_again() {
    let mut t = asked();
    t.answers("run").replies(Reply::Conflicts(conflicts("two")));
    assert_eq!(t.class(), "waiting(question)", "{}", t.log());
    let EffectKind::Ask(question) = t.open().kind else { panic!("{}", t.log()) };
    assert!(question.text.contains("since you answered"), "{}", question.text);
    t.answers("mine");
    assert_eq!(resolution(&t), Some(Resolution { way: Way::Mine, seen: Digest::of(b"two") }));
}

#[test]
fn stopping_parks_the_run_and_resuming_looks_at_the_checkout_again() {
    let mut t = asked();
    t.answers("stop");
    assert_eq!(t.class(), "waiting(paused)", "{}", t.log());
    t.resume();
    assert_eq!(resolution(&t), None, "what was seen then is nothing to go by now");
    t.accepted();
    assert_eq!(t.class(), "approved", "{}", t.log());
}

#[test]
fn killed_while_the_question_is_open_it_stays_the_same_question() {
    let mut t = asked();
    let id = t.open().id;
    t.resume();
    assert_eq!((t.class().as_str(), t.open().id), ("waiting(question)", id), "{}", t.log());
    t.answers("run");
    // Killed while it is being written, too: the decision is not asked for twice.
    t.resume();
    assert_eq!(resolution(&t).map(|r| r.way), Some(Way::Run), "{}", t.log());
    t.accepted();
    assert_eq!(t.class(), "approved");
}

#[test]
fn an_answer_that_is_no_way_out_is_refused_and_a_run_that_is_asked_about_can_be_cancelled() {
    let mut t = asked();
    let (effect, text) = (t.open().id, Text::new("yes"));
    let what = InputKind::Answered { effect, text: text.digest(), by: "eve".into() };
    assert!(matches!(t.try_put("yes", what, vec![text]), Err(Refused::NoSuchChoice(_))));
    t.control(Control::Cancel);
    assert_eq!(t.class(), "aborted", "{}", t.log());
}

#[test]
fn what_a_person_decided_about_is_replayed_alike() {
    let mut t = asked();
    t.answers("merge").replies(Reply::Conflicts(conflicts("two"))).answers("stop").resume().accepted();
    let records = t.records.iter().map(|(input, step)| (input, step));
    let replayed = crate::replay::replay(Protocols::shipped().with(YES), records);
    assert!(replayed.is_ok_and(|engine| engine.outcome() == t.engine.outcome()));
}

#[test]
fn records_of_before_read_as_they_did() {
    let digest = Digest::of(b"x");
    let accept = format!(r#"{{"tree":"{digest}","how":"checkout"}}"#);
    let accept: crate::tree::Accept = serde_json::from_str(&accept).unwrap();
    assert_eq!(accept.resolution, None);
    let reply: Reply = serde_json::from_str(r#"{"accepted":{"paths":["a"]}}"#).unwrap();
    let Reply::Accepted { merged, kept, .. } = reply else { panic!("{reply:?}") };
    assert!(merged.is_empty() && kept.is_empty());
}
