//! What adds up over the records of a run, in the order they come.

use gadfly_engine::budget::Reservation;
use gadfly_engine::{Answer, Class, Event, NodePath, Permission, Stamp, StopReason, Turn};

use super::*;
use crate::{Record, RunView};

fn view() -> RunView {
    RunView::new("0123456789".parse().unwrap())
}

fn told(view: &mut RunView, what: InputKind, events: Vec<EventKind>, effects: Vec<Effect>) {
    let input = Input { at: Stamp::default(), what, texts: vec![] };
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    view.apply(&Record { seq: 0, input, step: Step { events, effects, ..Step::default() } });
}

fn replied(view: &mut RunView, events: Vec<EventKind>) {
    let effect = "run#9".parse().unwrap();
    told(view, InputKind::Replied { effect, reply: Reply::Cancelled { sent: false } }, events, vec![]);
}

fn turn(id: u32, role: Role) -> Effect {
    let turn = Turn {
        agent: "reader".into(),
        role,
        permission: Permission::ReadOnly,
        messages: std::sync::Arc::default(),
        nth: 0,
        max_output_tokens: 1,
        tree: None,
        schema: None,
        case: None,
        report: None,
        session: None,
        tools: None,
        settled: 0,
        verdict: None,
        goes_on: false,
        own: None,
    };
    let (id, reserve) = (format!("run#{id}").parse().unwrap(), Reservation::default());
    Effect { id, class: Class::Paid, time_ms: None, reserve, repeats: None, kind: EffectKind::Turn(turn) }
}

/// One call in that role, and its reply.
fn called(view: &mut RunView, id: u32, role: Role, text: &str, events: Vec<EventKind>) -> Digest {
    let effect = turn(id, role);
    let (name, reply) = (effect.id.clone(), Digest::of(text.as_bytes()));
    let cancelled =
        InputKind::Replied { effect: "run#0".parse().unwrap(), reply: Reply::Cancelled { sent: false } };
    told(view, cancelled, vec![], vec![effect]);
    let answer = Answer {
        parts: vec![Part::Blob(reply)],
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        model: None,
        took_ms: 1,
        report: None,
        violations: vec![],
        session: None,
    };
    told(view, InputKind::Replied { effect: name, reply: Reply::Done(answer) }, events, vec![]);
    reply
}

fn resumed() -> InputKind {
    InputKind::Resumed { limits: Limits::default(), rounds: None, agents: BTreeMap::new() }
}

#[test]
fn rounds_are_raised_and_never_lowered() {
    let mut view = view();
    view.summary.rounds_max = 3;
    for (asked, has) in [(5, 5), (2, 5)] {
        let limits = Limits::default();
        replied(&mut view, vec![EventKind::LimitsRaised { limits, rounds: Some(asked) }]);
        assert_eq!(view.summary.rounds_max, has);
    }
}

#[test]
fn the_last_wish_counts_until_the_run_is_taken_up_again() {
    let mut view = view();
    replied(&mut view, vec![EventKind::PauseRequested]);
    for _ in 0..100 {
        replied(&mut view, vec![]);
    }
    assert_eq!(view.totals.wish, Some(Wish::Pause), "however many calls are still under way");
    replied(&mut view, vec![EventKind::CancelRequested]);
    assert_eq!(view.totals.wish, Some(Wish::Cancel));
    told(&mut view, resumed(), vec![EventKind::Resumed], vec![]);
    assert_eq!(view.totals.wish, None);
}

#[test]
fn what_a_critic_replied_is_unread_unless_it_became_a_review() {
    let mut view = view();
    let odd = called(&mut view, 1, Role::Critic, "lovely", vec![]);
    called(&mut view, 2, Role::Worker, "a draft", vec![]);
    let unread = |view: &RunView| view.totals.unread.iter().map(|one| one.reply).collect::<Vec<_>>();
    assert_eq!(unread(&view), [odd], "a worker's words are no judgement");
    let mut reviewed =
        crate::view::tests::review(1, "reader", gadfly_engine::review::Verdict::Approved, vec![]);
    let EventKind::Reviewed { review, .. } = &mut reviewed else { panic!("no review") };
    review.reply = Digest::of(b"approved");
    called(&mut view, 3, Role::Critic, "approved", vec![reviewed]);
    assert_eq!(unread(&view), [odd]);
    for n in 0..40 {
        called(&mut view, 10 + n, Role::Critic, &format!("again {n}"), vec![]);
    }
    assert_eq!(view.totals.unread.len(), MOST_UNREAD, "the newest ones");
    assert_eq!(view.totals.unread[MOST_UNREAD - 1].reply, Digest::of(b"again 39"));
}

#[test]
fn a_run_counts_how_often_it_was_taken_up_since_it_was_judged() {
    let mut view = view();
    for n in 1..=3 {
        told(&mut view, resumed(), vec![], vec![]);
        assert_eq!(view.totals.taken_up, n);
    }
    let review = crate::view::tests::review(1, "reader", gadfly_engine::review::Verdict::Rejected, vec![]);
    replied(&mut view, vec![review]);
    assert_eq!(view.totals.taken_up, 0);
}
