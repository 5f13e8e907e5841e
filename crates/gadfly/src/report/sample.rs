//! Runs for the tests of reports, folded from events as real ones are.

use std::collections::BTreeMap;

use gadfly_engine::budget::Reservation;
use gadfly_engine::budget::{Limits, Spent};
use gadfly_engine::event::EventKind;
use gadfly_engine::finding::{Finding, FindingStatus, Location, Severity};
use gadfly_engine::goal::{Claimant, GoalStep, Nudge, ProgressVerdict, StepEnd};
use gadfly_engine::input::InputKind;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::question::{About, Choice, Question};
use gadfly_engine::review::{
    Binding, Coverage, CoveredFile, CriterionVerdict, Review, ReviewItem, Score, Unseen, Verdict,
};
use gadfly_engine::tree::{CommandRun, RunEnd, Verified};
use gadfly_engine::{
    AgentCard, Class, Digest, Effect, EffectKind, Event, Halt, Input, Money, NodePath, Outcome, Plan, Reply,
    Stamp, Start, Step, Usage, Waiting,
};
use gadfly_journal::{Record, RunView};

pub const ROOT: &str = "/home/ann/project";

pub fn digest() -> Digest {
    Digest::of(b"x")
}

pub fn begun(protocol: &str, title: &str) -> RunView {
    let card = AgentCard {
        named_by: gadfly_engine::plan::NamedBy::User,
        kind: "openai".into(),
        model: Some("judge-1".into()),
        sends_to: "example.org".into(),
        price: None,
        person: false,
        max_output_tokens: 1000,
        timeout_ms: 1000,
        limits: Limits::default(),
        window: None,
        per_call: Limits::default(),
        continues: false,
        tools: false,
        withheld: Vec::new(),
        structured: false,
        reached_as: None,
    };
    let out = serde_json::json!({ "path": format!("{ROOT}/docs/a plan.md") });
    let critics = serde_json::json!([{ "agent": "reader" }]);
    let settings = match protocol {
        "audit" => serde_json::json!({
            "task_id": "T-1", "task": digest(), "rounds": 3, "critics": critics, "given": { "draft": digest() },
        }),
        "revise" => serde_json::json!({
            "task": digest(), "phase": "", "rubric": ["is short"], "critic": "reader", "rounds": 3, "overrule": true,
            "draft": digest(), "out": out,
        }),
        _ => serde_json::json!({
            "task": digest(), "rubric": digest(), "severity": "medium", "threshold": 80, "rounds": 3,
            "critics": critics, "given": { "draft": digest() }, "out": out,
        }),
    };
    let root = NodePlan { protocol: protocol.into(), version: 1, limits: Limits::default(), settings };
    let agents = BTreeMap::from([("reader".to_owned(), card)]);
    let plan = Plan {
        caller: None,
        title: title.into(),
        root,
        agents: agents.into(),
        limits: Limits::default(),
        workspace: None,
    };
    let start = Start { format: 1, plan, seed: "00".into() };
    let mut state = RunView::new("0123456789".parse().unwrap());
    let at = Stamp { wall_ms: 1_794_778_200_123, active_ms: 0 };
    let input = Input { at, what: InputKind::Started(Box::new(start)), texts: vec![] };
    state.apply(&Record { seq: 0, input, step: Step::default() });
    let run = Spent { tokens: 1500, money: Money(42_000_000), calls: 2, ..Spent::default() };
    let (effect, agent) = ("run#1".parse().unwrap(), "reader".into());
    let charged = EventKind::Charged { effect, agent, usage: Usage::default(), cost: Money(1), run };
    step(&mut state, vec![charged], None);
    state
}

pub fn step(state: &mut RunView, events: Vec<EventKind>, outcome: Option<Outcome>) {
    let effect = "run#1".parse().unwrap();
    let what = InputKind::Replied { effect, reply: Reply::Cancelled { sent: false } };
    let at = Stamp { wall_ms: 1_794_778_260_000, active_ms: 1 };
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    let input = Input { at, what, texts: vec![] };
    state.apply(&Record { seq: 1, input, step: Step { events, outcome, ..Step::default() } });
}

pub fn round(n: u32) -> EventKind {
    EventKind::RoundStarted { round: n, of: 3 }
}

pub fn finding(number: u32, rule: &str, severity: Severity, says: &str) -> Finding {
    let mut finding = Finding::new(rule, severity, says, "reader");
    (finding.number, finding.since) = (number, 1);
    finding.place = Some(Location { path: "src/a b.rs".into(), line: Some(12), end: Some(14) });
    finding.quote = Some("let x = 1;".into());
    finding
}

pub fn review(n: u32, verdict: Verdict, findings: Vec<Finding>) -> Review {
    let open = findings.iter().filter(|f| f.is_supported());
    let open = open.map(|f| ReviewItem { number: f.number, text: f.line(), since: f.since }).collect();
    Review {
        binding: Binding {
            round: n,
            artifact: digest(),
            critic: "reader".into(),
            lens: None,
            rubric: digest(),
        },
        verdict,
        open: if verdict == Verdict::Rejected { open } else { vec![] },
        addressed: vec![],
        reason: String::new(),
        rendered: None,
        notes: vec![],
        deviations: vec![],
        coverage: Coverage {
            entries: vec![CoveredFile { path: "src/a b.rs".into(), lines: 40, from: None }],
            unseen: vec![],
        },
        prompt: digest(),
        reply: digest(),
        more_calls: vec![],
        findings,
        fixed: vec![],
        criteria: vec![],
        score: None,
    }
}

/// An audit that halted: verify ran, one finding is fixed, one recurs, one is new, one cites nothing.
pub fn audit() -> RunView {
    let mut state = begun("audit", "Add a cache");
    let first = vec![
        finding(1, "unmet-criterion", Severity::Fail, "no eviction"),
        finding(2, "style", Severity::Nit, "a long line"),
    ];
    let reviewed = EventKind::Reviewed { round: 1, review: review(1, Verdict::Rejected, first) };
    step(&mut state, vec![round(1), reviewed], None);
    let mut again = finding(1, "unmet-criterion", Severity::Fail, "no eviction");
    (again.standing, again.criterion, again.fix) =
        (FindingStatus::Recurring, Some("SC-1".into()), "evict the oldest".into());
    let mut new = finding(3, "edge-case-gap", Severity::Risk, "zero capacity panics");
    new.since = 2;
    let wrong = Finding {
        unsupported: Some("there is no line 900".into()),
        ..finding(0, "style", Severity::Nit, "?")
    };
    let mut second = review(2, Verdict::Rejected, vec![again, new, wrong]);
    second.fixed = vec![2];
    second.criteria = vec![criterion("SC-1", "Unsatisfied", false), criterion("SC-2", "Satisfied", true)];
    let run = CommandRun { end: RunEnd::Code(0), output: digest(), took_ms: 900 };
    let verified = Verified { runs: vec![run], changed: vec![], evidence: Vec::new() };
    let ran = EventKind::VerifyRan { round: 2, command: "make test".into(), green: true, verified };
    let open = vec!["no eviction".to_owned()];
    let halted = Outcome::Halted { reason: Halt::Cap, draft: None, open };
    step(&mut state, vec![round(2), ran, EventKind::Reviewed { round: 2, review: second }], Some(halted));
    state
}

pub fn criterion(id: &str, verdict: &str, clean: bool) -> CriterionVerdict {
    let (id, verdict) = (id.to_owned(), verdict.to_owned());
    CriterionVerdict { id, claim: "It is bounded".into(), verdict, clean, because: "src/a b.rs:12".into() }
}

pub fn score(approved: bool) -> RunView {
    let mut state = begun("score", "Judge the plan");
    let mut row = finding(1, "Claims", Severity::Risk, "the effect is overstated");
    row.place = Some(Location { path: "draft".into(), line: Some(3), end: None });
    let verdict = if approved { Verdict::Approved } else { Verdict::Rejected };
    let mut judged = review(1, verdict, vec![row]);
    let value = if approved { 90 } else { 70 };
    judged.score = Some(Score {
        value,
        unfloored: value.into(),
        threshold: 80,
        stated: None,
        computed: true,
        arithmetic: vec!["100".into(), format!("−{} Claims (1 ×)", 100 - value), format!("= {value}")],
    });
    let outcome = if approved {
        Outcome::Approved { draft: digest(), overruled: false, notes: vec![] }
    } else {
        Outcome::Rejected { draft: None, open: vec!["the effect is overstated".into()] }
    };
    step(&mut state, vec![round(1), EventKind::Reviewed { round: 1, review: judged }], Some(outcome));
    state
}

pub fn unverified() -> RunView {
    let mut state = begun("audit", "Add a cache");
    let mut judged = review(1, Verdict::Approved, vec![]);
    judged.coverage.unseen =
        vec![Unseen { what: "big.sql, lines 900–2400".into(), because: "too large".into() }];
    let unseen = vec!["big.sql, lines 900–2400".to_owned()];
    let outcome = Outcome::Unverified { reason: "no critic saw big.sql".into(), draft: None, unseen };
    step(&mut state, vec![round(1), EventKind::Reviewed { round: 1, review: judged }], Some(outcome));
    state
}

pub fn revise() -> RunView {
    let mut state = begun("revise", "Write the abstract");
    let mut judged = review(1, Verdict::Rejected, vec![]);
    judged.open = vec![ReviewItem { number: 1, text: "State the sample size.".into(), since: 1 }];
    let open = vec!["State the sample size.".to_owned()];
    let halted = Outcome::Halted { reason: Halt::Cap, draft: None, open };
    step(&mut state, vec![round(1), EventKind::Reviewed { round: 1, review: judged }], Some(halted));
    state
}

pub fn interrupted() -> RunView {
    begun("score", "Judge the plan")
}

/// A goal whose terms are set.
pub fn goal() -> RunView {
    let mut state = begun("goal", "make the test suite pass");
    let set = EventKind::GoalSet {
        goal: digest(),
        criterion: "`cargo test` exits with 0".into(),
        policy: "risk=write_local".into(),
        interval: 5,
        steps: 300,
    };
    step(&mut state, vec![set], None);
    if let Some(goal) = &mut state.goal {
        goal.root = Some("/store/runs/0123456789/tree/work".into());
        goal.used.money = Money(42_000_000);
        goal.costs.worker.money = Money(40_000_000);
        (goal.costs.critic.calls, goal.costs.critic.money) = (2, Money(2_000_000));
    }
    state
}

pub fn goal_step(n: u32, args: &str, end: StepEnd, preview: &str) -> EventKind {
    let (tool, args, preview) = ("run_command".into(), args.to_owned(), preview.to_owned());
    EventKind::Stepped { step: GoalStep { n, tool, args, end, preview, took_ms: 10 } }
}

pub fn watched(verdict: ProgressVerdict, from: u32, to: u32, reason: &str) -> EventKind {
    EventKind::Watched { critic: "reader".into(), verdict, reason: reason.into(), from, to }
}

pub fn goal_verified() -> RunView {
    let mut state = goal();
    let events = vec![
        goal_step(1, "command=cargo test", StepEnd::Err, "exit code 101"),
        EventKind::Claimed { by: Claimant::Worker, rationale: "all tests pass".into() },
        EventKind::VerificationFailed { detail: "`cargo test` exited with 101".into(), in_a_row: 1 },
        goal_step(2, "command=sed -i s/1/2/ src/a.rs", StepEnd::Ok, "exit code 0"),
        watched(ProgressVerdict::Achieved, 1, 2, "the tests pass now"),
        EventKind::Claimed { by: Claimant::Critic, rationale: "the tests pass now".into() },
        EventKind::GoalVerified { detail: "`cargo test` exits with 0".into() },
    ];
    let approved = Outcome::Approved { draft: digest(), overruled: false, notes: vec![] };
    step(&mut state, events, Some(approved));
    state
}

pub fn goal_gave_up() -> RunView {
    let mut state = goal();
    let events = vec![
        goal_step(1, "command=cargo test", StepEnd::Err, "exit code 101"),
        EventKind::GaveUp {
            reason: "the fixture is missing".into(),
            learned: "it was never committed".into(),
        },
    ];
    step(&mut state, events, Some(Outcome::Aborted));
    state
}

/// Stuck three times: a person is asked.
pub fn goal_stuck() -> RunView {
    let mut state = goal();
    let mut events: Vec<EventKind> =
        (1..=10).map(|n| goal_step(n, "command=cargo test", StepEnd::Err, "exit code 101")).collect();
    events.push(watched(ProgressVerdict::Stuck, 6, 10, "the same edit fails again and again"));
    events.push(EventKind::Nudged { why: Nudge::Stuck, text: digest() });
    events.push(EventKind::GoalPaused { because: "three times stuck in a row".into() });
    let choices = vec![Choice::new("go-on", "let it go on"), Choice::new("give-up", "end here")];
    let question = Question { about: About::Stuck, text: "How shall it go on?".into(), choices, free: true };
    let ask = Effect {
        id: "run#7".parse().unwrap(),
        class: Class::Person,
        time_ms: None,
        reserve: Reservation::default(),
        repeats: None,
        kind: EffectKind::Ask(question),
    };
    let what =
        InputKind::Replied { effect: "run#6".parse().unwrap(), reply: Reply::Cancelled { sent: false } };
    let at = Stamp { wall_ms: 1_794_778_260_000, active_ms: 1 };
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    let outcome = Some(Outcome::Waiting(Waiting::Question { effect: "run#7".parse().unwrap() }));
    let input = Input { at, what, texts: vec![] };
    let effects = vec![ask];
    state.apply(&Record { seq: 2, input, step: Step { events, effects, outcome, ..Step::default() } });
    state
}
