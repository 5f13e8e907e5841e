//! What a run's state keeps of the events of the judging protocols.

use gadfly_engine::finding::{FindingStatus, Severity};
use gadfly_engine::question::{About, Choice};
use gadfly_engine::review::{
    Binding, Coverage, CriterionVerdict, Review, ReviewItem, Score, Unseen, Verdict,
};
use gadfly_engine::tree::{CommandRun, RunEnd, Verified};
use gadfly_engine::{Class, Event, Finding, Input, Stamp, Step};

use super::*;

fn digest() -> Digest {
    Digest::of(b"x")
}

fn state() -> RunView {
    RunView::new("0123456789".parse().unwrap())
}

pub(crate) fn apply(state: &mut RunView, events: Vec<EventKind>, effects: Vec<Effect>) {
    let effect = "run#1".parse().unwrap();
    let what = InputKind::Replied { effect, reply: Reply::Cancelled { sent: false } };
    let input = Input { at: Stamp::default(), what, texts: vec![] };
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    state.apply(&Record { seq: 1, input, step: Step { events, effects, ..Step::default() } });
}

pub(crate) fn finding(number: u32, standing: FindingStatus, by: &str) -> Finding {
    let mut finding = Finding::new("style", Severity::Fail, format!("point {number}"), by);
    (finding.number, finding.standing, finding.since) = (number, standing, 1);
    finding
}

pub(crate) fn review(round: u32, critic: &str, verdict: Verdict, findings: Vec<Finding>) -> EventKind {
    let open = findings.iter().filter(|f| f.is_supported());
    let open = open.map(|f| ReviewItem { number: f.number, text: f.line(), since: f.since }).collect();
    let review = Review {
        binding: Binding {
            round,
            artifact: digest(),
            critic: critic.into(),
            lens: Some(format!("{critic}'s lens")),
            rubric: digest(),
        },
        verdict,
        open,
        addressed: vec![],
        reason: String::new(),
        rendered: None,
        notes: vec![],
        deviations: vec![],
        coverage: Coverage {
            entries: vec![],
            unseen: vec![Unseen { what: "data.bin".into(), because: "binary".into() }],
        },
        prompt: digest(),
        reply: digest(),
        more_calls: vec![],
        findings,
        fixed: vec![9],
        criteria: vec![CriterionVerdict {
            id: "SC-1".into(),
            claim: "It works".into(),
            verdict: "Unsatisfied".into(),
            clean: false,
            because: "no test".into(),
        }],
        score: Some(Score {
            value: 72,
            unfloored: 72,
            threshold: 80,
            stated: None,
            computed: true,
            arithmetic: vec!["100".into(), "-28".into()],
        }),
    };
    EventKind::Reviewed { round, review }
}

#[test]
fn two_critics_of_a_round_are_one_verdict_and_all_their_findings() {
    let mut state = state();
    let unsupported =
        Finding { unsupported: Some("no such line".into()), ..finding(0, FindingStatus::New, "b") };
    let first = review(1, "a", Verdict::Rejected, vec![finding(1, FindingStatus::Recurring, "a")]);
    let shared = finding(1, FindingStatus::Recurring, "b");
    let second =
        review(1, "b", Verdict::Approved, vec![finding(2, FindingStatus::New, "b"), shared, unsupported]);
    apply(&mut state, vec![EventKind::RoundStarted { round: 1, of: 3 }, first, second], vec![]);
    let round = &state.rounds[0];
    assert_eq!(round.verdict, Some(Verdict::Rejected), "the last one heard does not decide alone");
    assert_eq!(round.open.iter().map(|i| i.number).collect::<Vec<_>>(), [1, 2]);
    let moved = FindingCounts { fixed: 1, recurring: 1, new: 1, ..FindingCounts::default() };
    assert_eq!(
        round.moved(),
        moved,
        "unsupported findings move nothing; a shared point and a fixed one count once"
    );
    assert_eq!(round.unsupported().count(), 1);
    assert_eq!(round.unseen().len(), 1);
    let counts: Vec<_> =
        state.critic_counts().into_iter().map(|c| (c.critic, c.supported, c.unsupported)).collect();
    assert_eq!(counts, [("a".to_owned(), 1, 0), ("b".to_owned(), 2, 1)]);
    assert_eq!(state.summary.last_verdict, Some(Verdict::Rejected));
    assert_eq!(state.summary.open_items, 2);
}

#[test]
fn the_worst_of_the_critics_verdicts_is_the_rounds() {
    use Verdict::{Approved, Rejected, Unverified};
    for (first, second, round) in [
        (Approved, Approved, Approved),
        (Approved, Unverified, Unverified),
        (Unverified, Rejected, Rejected),
        (Rejected, Approved, Rejected),
    ] {
        let mut state = state();
        let reviews = [review(1, "a", first, vec![]), review(1, "b", second, vec![])];
        let events = [EventKind::RoundStarted { round: 1, of: 3 }].into_iter().chain(reviews).collect();
        apply(&mut state, events, vec![]);
        assert_eq!((state.rounds[0].verdict, state.summary.last_verdict), (Some(round), Some(round)));
    }
}

#[test]
fn a_critic_heard_again_replaces_itself_and_a_new_count_begins_new_rounds() {
    let mut state = state();
    let begin = EventKind::RoundStarted { round: 1, of: 3 };
    let rejected = review(1, "a", Verdict::Rejected, vec![finding(1, FindingStatus::New, "a")]);
    apply(&mut state, vec![begin.clone(), rejected, review(1, "a", Verdict::Approved, vec![])], vec![]);
    assert_eq!((state.rounds.len(), state.rounds[0].reviews.len()), (1, 1));
    assert_eq!(state.rounds[0].verdict, Some(Verdict::Approved));
    apply(&mut state, vec![begin.clone(), begin], vec![]);
    assert_eq!(state.rounds.len(), 2, "what was judged is not overwritten by a loop that starts over");
    assert_eq!(state.last_judged(), Some(&state.rounds[0]));
}

#[test]
fn questions_are_open_until_they_are_answered() {
    let mut state = state();
    let choices = vec![Choice::new("give-up", "end here")];
    let question = Question { about: About::Stuck, text: "What now?".into(), choices, free: true };
    let ask = |id: &str, repeats: Option<&str>| Effect {
        id: id.parse().unwrap(),
        class: Class::Person,
        time_ms: None,
        reserve: gadfly_engine::budget::Reservation::default(),
        repeats: repeats.map(|r| r.parse().unwrap()),
        kind: EffectKind::Ask(question.clone()),
    };
    apply(&mut state, vec![], vec![ask("run#3", None)]);
    apply(&mut state, vec![], vec![ask("run#4", Some("run#3"))]);
    assert_eq!(state.questions.len(), 1, "asked again, it is the same question");
    assert_eq!(state.open_question().map(|a| a.effect.to_string()), Some("run#4".into()));
    let said = EventKind::PersonSaid { effect: "run#4".parse().unwrap(), by: "ann".into(), text: digest() };
    apply(&mut state, vec![said], vec![]);
    assert_eq!(state.open_question(), None);
    assert_eq!(state.questions[0].answer, Some(Decision { by: "ann".into(), text: digest() }));
}

#[test]
fn what_happened_around_a_judgement_is_kept_with_its_round() {
    let mut state = state();
    let run = CommandRun { end: RunEnd::Code(101), output: digest(), took_ms: 5 };
    let verified = Verified { runs: vec![run], changed: vec![], evidence: Vec::new() };
    let ran = |round| EventKind::VerifyRan {
        round,
        command: "make test".into(),
        green: false,
        verified: verified.clone(),
    };
    let events = vec![
        ran(0),
        EventKind::RoundStarted { round: 1, of: 3 },
        ran(1),
        EventKind::Routed { round: 1, route: "executor".into(), because: "red".into() },
        EventKind::Escalated { round: 1, to: "user".into(), because: "cap".into() },
        EventKind::Deferred { round: 1, criterion: "RISK".into(), reason: "later".into(), by: "ann".into() },
        EventKind::RoundEnded { round: 1, line: "CONTINUE (1 fixed)".into() },
        EventKind::Summarised { line: "done".into() },
        EventKind::Violated {
            effect: "run#1".parse().unwrap(),
            agent: "critic".into(),
            paths: vec!["a".into()],
        },
        EventKind::Accepted {
            paths: vec!["src/a.rs".into()],
            commit: None,
            merged: Vec::new(),
            kept: Vec::new(),
        },
        EventKind::Reported {
            round: 1,
            name: "critic-t-r1.json".into(),
            report: digest(),
            envelope: digest(),
        },
    ];
    apply(&mut state, events, vec![]);
    assert_eq!(state.rounds.len(), 1, "the try before the first call is no round");
    assert_eq!((state.tried.len(), state.rounds[0].verify.len()), (1, 1));
    let round = &state.rounds[0];
    assert_eq!((round.routes.len(), round.escalations.len(), round.deferred.len()), (1, 1, 1));
    assert_eq!(round.result.as_deref(), Some("CONTINUE (1 fixed)"));
    assert_eq!(state.result.as_deref(), Some("done"));
    assert_eq!((state.violations.len(), state.reports.len()), (1, 1));
    assert_eq!(state.accepted.as_ref().map(|a| a.paths.len()), Some(1));
    let json = serde_json::to_string(&state).unwrap();
    assert_eq!(serde_json::from_str::<RunView>(&json).unwrap(), state);
}

#[test]
fn tokens_from_a_cache_add_up_and_are_part_of_all_tokens() {
    use gadfly_engine::Money;
    use gadfly_engine::budget::{Spent, Usage};

    let mut state = state();
    let mut run = Spent::default();
    for cache_read in [0, 8_000, 100] {
        let usage = Usage { input: 1_000, output: 50, cache_read, cache_write: 10, ..Usage::default() };
        (run.tokens, run.calls) = (run.tokens + usage.tokens(), run.calls + 1);
        let (effect, agent) = ("run#1".parse().unwrap(), "critic".into());
        apply(&mut state, vec![EventKind::Charged { effect, agent, usage, cost: Money(1), run }], vec![]);
    }
    assert_eq!((state.summary.cached, state.summary.tokens), (8_100, 3 * 1_060 + 8_100));
}
