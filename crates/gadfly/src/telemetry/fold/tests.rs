//! What records become: hand-made ones, so that each says one thing.

use std::collections::BTreeMap;
use std::sync::Arc;

use gadfly_engine::budget::{Limits, Money, Reservation, Spent, Usage};
use gadfly_engine::effect::{CallFailure, FailureKind, StopReason};
use gadfly_engine::input::{Input, Stamp, Start};
use gadfly_engine::plan::{NodePlan, Plan};
use gadfly_engine::question::{About, Question};
use gadfly_engine::review::{Binding, Coverage, Review, ReviewItem, Verdict};
use gadfly_engine::tree::{Look, Looked};
use gadfly_engine::turn::{Message, Part, Permission, Role, Speaker, Turn};
use gadfly_engine::{Answer, Effect, EffectKind, Reply, Step, Text};

use super::*;
use crate::telemetry::span::AttributeValue;

const SECRET: &str = "the secret plan";

pub fn run() -> RunId {
    "0123456789".parse().unwrap()
}

fn id(n: u32) -> EffectId {
    EffectId { node: NodePath::root(), n }
}

fn card(kind: &str, model: Option<&str>) -> AgentCard {
    let card = serde_json::json!({
        "kind": kind, "model": model, "sends_to": "this machine", "max_output_tokens": 100, "timeout_ms": 1,
    });
    serde_json::from_value(card).unwrap()
}

fn start(agents: &[(&str, AgentCard)]) -> InputKind {
    let root = NodePlan {
        protocol: "revise".into(),
        version: 1,
        limits: Limits::default(),
        settings: serde_json::Value::Null,
    };
    let agents: BTreeMap<String, AgentCard> =
        agents.iter().map(|(name, card)| ((*name).to_owned(), card.clone())).collect();
    let plan = Plan {
        caller: None,
        title: SECRET.into(),
        root,
        agents: agents.into(),
        limits: Limits::default(),
        workspace: None,
    };
    InputKind::Started(Box::new(Start { format: 1, plan, seed: "00".into() }))
}

fn record(seq: u32, what: InputKind, events: Vec<EventKind>, effects: Vec<Effect>) -> Record {
    let at = Stamp { wall_ms: 1000 + u64::from(seq) * 10, active_ms: 0 };
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    Record {
        seq,
        input: Input { at, what, texts: Vec::new() },
        step: Step { events, effects, outcome: None, texts: Vec::new() },
    }
}

fn effect(n: u32, class: Class, kind: EffectKind) -> Effect {
    Effect { id: id(n), class, time_ms: None, reserve: Reservation::default(), repeats: None, kind }
}

fn call(n: u32, agent: &str, role: Role) -> Effect {
    let parts = vec![Part::Text(SECRET.into())];
    let turn = Turn {
        agent: agent.to_owned(),
        role,
        permission: Permission::ReadOnly,
        messages: Arc::new(vec![Message { from: Speaker::User, parts }]),
        nth: 0,
        max_output_tokens: 100,
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
    effect(n, Class::Paid, EffectKind::Turn(turn))
}

fn answered(n: u32) -> InputKind {
    let answer = Answer {
        parts: vec![Part::Text(SECRET.into())],
        stop: StopReason::EndTurn,
        usage: Usage::default(),
        model: Some("m-1".into()),
        took_ms: 1,
        report: None,
        violations: Vec::new(),
        session: None,
    };
    InputKind::Replied { effect: id(n), reply: Reply::Done(answer) }
}

fn reviewed(critic: &str, verdict: Verdict) -> EventKind {
    let digest = Text::new("x").digest();
    let binding =
        Binding { round: 1, artifact: digest, critic: critic.to_owned(), lens: None, rubric: digest };
    let review = Review {
        binding,
        verdict,
        open: vec![ReviewItem { number: 1, text: SECRET.into(), since: 1 }],
        addressed: Vec::new(),
        reason: String::new(),
        rendered: None,
        notes: Vec::new(),
        deviations: Vec::new(),
        coverage: Coverage { entries: Vec::new(), unseen: Vec::new() },
        prompt: digest,
        reply: digest,
        more_calls: Vec::new(),
        findings: Vec::new(),
        fixed: Vec::new(),
        criteria: Vec::new(),
        score: None,
    };
    EventKind::Reviewed { round: 1, review }
}

fn charged(n: u32) -> EventKind {
    let usage = Usage { input: 5, output: 7, cache_read: 11, cache_write: 13, ..Usage::default() };
    let run = Spent { tokens: 36, money: Money(1_000_000_000), calls: 1, active_ms: 1, unknown: false };
    EventKind::Charged { effect: id(n), agent: "w".into(), usage, cost: Money(1_000_000_000), run }
}

pub fn folded(records: &[Record], content: ContentPolicy<'_>) -> Vec<Span> {
    let mut fold = TraceFold::new(run());
    let mut out = Vec::new();
    for record in records {
        fold.take(record, content, &mut out);
    }
    fold.finish(content, &mut out);
    out
}

pub fn a_round() -> Vec<Record> {
    let agents =
        [("w", card("openai", Some("big"))), ("c", card("scripted", None)), ("d", card("acp", None))];
    vec![
        record(0, start(&agents), vec![], vec![call(1, "w", Role::Worker)]),
        record(
            1,
            answered(1),
            vec![charged(1)],
            vec![call(2, "c", Role::Critic), call(3, "d", Role::Critic)],
        ),
        record(2, answered(2), vec![], vec![]),
        record(
            3,
            answered(3),
            vec![reviewed("c", Verdict::Rejected), reviewed("d", Verdict::Approved)],
            vec![call(4, "w", Role::Worker)],
        ),
    ]
}

fn named<'s>(spans: &'s [Span], name: &str) -> &'s Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no span {name}"))
}

#[test]
fn a_call_is_a_span_with_model_usage_and_cost_below_its_stretch() {
    let spans = folded(&a_round(), ContentPolicy::Nothing);
    let (root, worker) = (named(&spans, "invoke_workflow revise"), named(&spans, "chat big"));
    assert_eq!((worker.parent, worker.client), (Some(root.id), true));
    assert_eq!((worker.start_ms, worker.end_ms), (1000, 1010));
    let counted = |name| worker.attributes.counted(name);
    assert_eq!(counted(names::INPUT_TOKENS), Some(29), "with what came from caches");
    assert_eq!((counted(names::CACHE_READ), counted(names::CACHE_CREATION)), (Some(11), Some(13)));
    assert_eq!(worker.attributes.measured(names::COST), Some(1.0));
    assert_eq!(worker.attributes.said(names::RESPONSE_MODEL), Some("m-1"));
    assert_eq!(
        worker.attributes.get(names::FINISH_REASONS),
        Some(&AttributeValue::Texts(vec!["stop".into()]))
    );
    assert_eq!(root.attributes.said(names::OUTCOME), Some(INTERRUPTED));
}

#[test]
fn a_verdict_is_on_the_call_of_the_critic_who_gave_it_also_if_it_came_later() {
    let spans = folded(&a_round(), ContentPolicy::Nothing);
    let worker = named(&spans, "chat big").id;
    for (critic, verdict) in [("c", "rejected"), ("d", "approved")] {
        let call = named(&spans, &format!("invoke_agent {critic}"));
        let told: Vec<_> = call.moments.iter().map(|one| one.attributes.said(names::LABEL)).collect();
        assert_eq!(told, [Some(verdict)], "{critic}");
        assert_eq!(call.moments[0].name, names::EVALUATION_RESULT);
        assert_eq!(call.judges, Some(worker), "it points to what was judged");
    }
}

#[test]
fn the_same_records_give_the_same_ids_and_another_run_gives_others() {
    let one = folded(&a_round(), ContentPolicy::Nothing);
    assert_eq!(one, folded(&a_round(), ContentPolicy::Nothing));
    let mut ids: Vec<SpanId> = one.iter().map(|span| span.id).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "no two spans share an id");
    let mut other = TraceFold::new("9876543210".parse().unwrap());
    let mut out = Vec::new();
    for record in a_round() {
        other.take(&record, ContentPolicy::Nothing, &mut out);
    }
    assert!(out.iter().all(|span| span.trace != one[0].trace && !ids.contains(&span.id)));
}

#[test]
fn a_call_that_died_with_its_process_is_told_of_when_the_run_is_resumed() {
    let mut records = a_round();
    let resumed = InputKind::Resumed {
        limits: Limits::default(),
        rounds: None,
        agents: std::collections::BTreeMap::new(),
    };
    let mut again = call(5, "w", Role::Worker);
    again.repeats = Some(id(4));
    records.push(record(4, resumed, vec![], vec![again]));
    records.push(record(5, answered(5), vec![], vec![]));
    let spans = folded(&records, ContentPolicy::Nothing);
    let calls: Vec<&Span> = spans.iter().filter(|span| span.name == "chat big").collect();
    let lost = calls.iter().find(|span| span.failed.is_some()).unwrap();
    assert_eq!((lost.failed.as_deref(), lost.end_ms), (Some("lost"), 1030), "the last that is known of it");
    let repeated = calls.iter().find(|span| span.attributes.get(names::REPEATS).is_some()).unwrap();
    let roots: Vec<&Span> = spans.iter().filter(|span| span.parent.is_none()).collect();
    assert_eq!(roots.len(), 2);
    assert_eq!((lost.parent, repeated.parent), (Some(roots[0].id), Some(roots[1].id)));
    assert_eq!((roots[0].end_ms, roots[0].attributes.said(names::OUTCOME)), (1030, Some(INTERRUPTED)));
    assert_eq!(roots[0].trace, roots[1].trace);
}

#[test]
fn a_question_is_open_until_a_person_answers_it_however_many_stretches_that_takes() {
    let question = Question { about: About::Stuck, text: SECRET.into(), choices: Vec::new(), free: true };
    let resumed = InputKind::Resumed {
        limits: Limits::default(),
        rounds: None,
        agents: std::collections::BTreeMap::new(),
    };
    let answer = InputKind::Answered { effect: id(1), text: Text::new("x").digest(), by: "me".into() };
    let asked = effect(1, Class::Person, EffectKind::Ask(question));
    let records = [
        record(0, start(&[]), vec![], vec![asked]),
        record(1, resumed, vec![], vec![]),
        record(2, answer, vec![], vec![]),
    ];
    let spans = folded(&records, ContentPolicy::Nothing);
    let ask = named(&spans, "ask stuck");
    assert_eq!((ask.start_ms, ask.end_ms, ask.failed.as_deref()), (1000, 1020, None));
    let mut fold = TraceFold::new(run());
    fold.take(&records[0], ContentPolicy::Nothing, &mut Vec::new());
    let open: Vec<&str> = fold.under_way().map(|span| span.name.as_str()).collect();
    assert_eq!(open, ["invoke_workflow revise", "ask stuck"]);
}

#[test]
fn a_failed_call_says_why_in_a_word_and_its_retries() {
    let failure =
        CallFailure { kind: FailureKind::RateLimited, message: SECRET.to_owned(), usage: Usage::default() };
    let retrying =
        Observation::Retrying { attempt: 1, kind: FailureKind::Unavailable, message: SECRET.to_owned() };
    let records = [
        record(0, start(&[]), vec![], vec![call(1, "w", Role::Worker)]),
        record(1, InputKind::Observed { effect: id(1), observation: retrying }, vec![], vec![]),
        record(2, InputKind::Replied { effect: id(1), reply: Reply::Failed(failure) }, vec![], vec![]),
    ];
    let spans = folded(&records, ContentPolicy::Nothing);
    let call = named(&spans, "invoke_agent w");
    assert_eq!(call.attributes.said(names::ERROR_TYPE), Some("rate_limited"));
    assert_eq!(call.moments[0].name, names::RETRY);
    assert_eq!(call.moments[0].attributes.said(names::ERROR_TYPE), Some("unavailable"));
}

#[test]
fn what_agents_are_told_and_say_is_left_out_unless_it_is_asked_for() {
    let text = |spans: &[Span]| spans.iter().map(|span| span.json().to_string()).collect::<String>();
    let without = folded(&a_round(), ContentPolicy::Nothing);
    assert!(!text(&without).contains(SECRET));
    for span in &without {
        let all = span.attributes.iter().chain(span.moments.iter().flat_map(|m| m.attributes.iter()));
        let content = all.filter(|(name, _)| name.shape() == names::AttributeShape::Content);
        assert_eq!(content.count(), 0, "{}", span.name);
    }
    let texts = |_: &Digest| None;
    let with = text(&folded(&a_round(), ContentPolicy::All(&texts)));
    for name in [names::INPUT_MESSAGES, names::OUTPUT_MESSAGES, names::EXPLANATION, names::TITLE] {
        assert!(with.contains(name.as_str()), "{}", name.as_str());
    }
    assert!(with.contains(SECRET));
}

#[test]
fn names_of_any_length_and_kind_are_short_and_plain() {
    let hostile = format!("a\u{1b}[2J\u{202e}\n\0{}", "x".repeat(1 << 20));
    let agents = [(hostile.as_str(), card("openai", Some(&hostile)))];
    let records = [
        record(0, start(&agents), vec![], vec![call(1, &hostile, Role::Worker)]),
        record(1, answered(1), vec![], vec![]),
    ];
    for span in folded(&records, ContentPolicy::Words) {
        let line = span.json().to_string();
        assert!(line.len() < 8192, "{} bytes", line.len());
        assert!(!span.name.chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", span.name);
    }
}

#[test]
fn a_span_keeps_a_bounded_number_of_events_and_counts_the_rest() {
    let retrying = Observation::Retrying { attempt: 1, kind: FailureKind::Timeout, message: String::new() };
    let mut records = vec![record(0, start(&[]), vec![], vec![call(1, "w", Role::Worker)])];
    for seq in 1..=1000 {
        let what = InputKind::Observed { effect: id(1), observation: retrying.clone() };
        records.push(record(seq, what, vec![], vec![]));
    }
    records.push(record(1001, answered(1), vec![], vec![]));
    let spans = folded(&records, ContentPolicy::Nothing);
    let call = named(&spans, "invoke_agent w");
    assert_eq!(call.moments.len() + usize::try_from(call.dropped).unwrap(), 1000);
    assert!(call.moments.len() < 200);
}

#[test]
fn what_a_critic_cites_may_be_looked_at_before_its_verdict() {
    let look = effect(3, Class::Read, EffectKind::Look(Look { tree: None, paths: Vec::new() }));
    let looked = Reply::Looked(Looked { tree: None, files: Vec::new() });
    let looked = InputKind::Replied { effect: id(3), reply: looked };
    let mut records = a_round();
    records.truncate(1);
    records.push(record(1, answered(1), vec![], vec![call(2, "c", Role::Critic)]));
    records.push(record(2, answered(2), vec![], vec![look]));
    records.push(record(3, looked, vec![reviewed("c", Verdict::Rejected)], vec![call(4, "w", Role::Worker)]));
    let spans = folded(&records, ContentPolicy::Nothing);
    let critic = named(&spans, "invoke_agent c");
    let told: Vec<_> = critic.moments.iter().map(|one| (one.name, one.at.seq)).collect();
    assert_eq!(told, [(names::EVALUATION_RESULT, 3)]);
    assert_eq!(named(&spans, "invoke_workflow revise").moments, []);
    assert_eq!((critic.end_ms, critic.seqs.end), (1020, 2), "it ended with its answer");
}

/// What is told of a call that ends so and is charged this: tokens of the answer, cost, and that not all is known.
fn amounts(reply: Reply, usage: Usage, cost: Money, kind: &str) -> (Option<u64>, Option<f64>, bool) {
    let run = Spent { tokens: 36, money: cost, calls: 1, active_ms: 1, unknown: false };
    let charged = EventKind::Charged { effect: id(1), agent: "w".into(), usage, cost, run };
    let records = [
        record(0, start(&[("w", card(kind, None))]), vec![], vec![call(1, "w", Role::Worker)]),
        record(1, InputKind::Replied { effect: id(1), reply }, vec![charged], vec![]),
    ];
    let spans = folded(&records, ContentPolicy::Nothing);
    let of = &named(&spans, "invoke_agent w").attributes;
    let is_unknown = of.get(names::USAGE_UNKNOWN).is_some();
    (of.counted(names::OUTPUT_TOKENS), of.measured(names::COST), is_unknown)
}

#[test]
fn what_nobody_knows_is_not_told_as_nothing() {
    let failed = |kind| Reply::Failed(CallFailure { kind, message: String::new(), usage: Usage::default() });
    let used = Usage { input: 5, output: 7, ..Usage::default() };
    let InputKind::Replied { reply: done, .. } = answered(1) else { panic!() };
    // The reservation is charged for what has no answer.
    for reply in [failed(FailureKind::Timeout), Reply::Cancelled { sent: true }] {
        assert_eq!(amounts(reply, Usage::default(), Money(5), "acp"), (None, None, true));
    }
    let refused = failed(FailureKind::Unauthorised);
    assert_eq!(amounts(refused, Usage::default(), Money(0), "acp"), (Some(0), Some(0.0), false));
    assert_eq!(amounts(done.clone(), used, Money(0), "acp"), (Some(7), None, true), "it has no price");
    let told = Usage { cost: Some(Money(1_000_000_000)), ..used };
    assert_eq!(amounts(done, told, Money(1_000_000_000), "acp"), (Some(7), Some(1.0), false));
}

#[test]
fn messages_of_any_shape_fit_and_stay_json() {
    let hostile = ["\"\\\n\t", "\u{1b}\u{202e}", "ä–👩‍🔬", "x"];
    for (size, parts, messages) in [(1, 1, 5000), (3, 3000, 2), (40_000, 1, 1), (9000, 2, 3), (16_000, 1, 2)]
    {
        for text in hostile {
            let text = text.repeat(size);
            let parts: Vec<Part> = vec![Part::Text(text.clone()); parts];
            let message = Message { from: Speaker::User, parts: parts.clone() };
            let mut asked = call(1, "w", Role::Worker);
            let EffectKind::Turn(turn) = &mut asked.kind else { panic!() };
            turn.messages = Arc::new(vec![message; messages]);
            let InputKind::Replied { effect, reply: Reply::Done(mut answer) } = answered(1) else { panic!() };
            (answer.parts, answer.stop) = (parts, StopReason::Other(text));
            let replied = InputKind::Replied { effect, reply: Reply::Done(answer) };
            let records = [record(0, start(&[]), vec![], vec![asked]), record(1, replied, vec![], vec![])];
            let texts = |_: &Digest| None;
            let spans = folded(&records, ContentPolicy::All(&texts));
            for name in [names::INPUT_MESSAGES, names::OUTPUT_MESSAGES] {
                let said = named(&spans, "invoke_agent w").attributes.said(name).unwrap();
                assert!(said.len() <= 16 * 1024, "{} bytes", said.len());
                assert!(!said.chars().any(|c| c.is_control() || c == '\u{202e}'));
                let read: Vec<serde_json::Value> = serde_json::from_str(said).unwrap();
                let last = read.last().unwrap()["parts"].to_string();
                let is_whole = size == 1 && name == names::OUTPUT_MESSAGES;
                assert_eq!(last.contains("… (cut: ") || last.contains(" more "), !is_whole, "{last}");
            }
        }
    }
}
