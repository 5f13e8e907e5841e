//! Loops: drafts and reviews with findings, round after round.

use gadfly_engine::budget::Reservation;
use gadfly_engine::event::EventKind;
use gadfly_engine::finding::{Finding, FindingStatus, Severity};
use gadfly_engine::question::{About, Choice, Question};
use gadfly_engine::review::{Binding, Coverage, Review, ReviewItem, Verdict};
use gadfly_engine::{
    Class, Digest, Effect, EffectId, EffectKind, Halt, Input, NodePath, Outcome, Step, Text, Waiting,
};

use super::telling::{Telling, prose, step};

type RoundRecords = Box<dyn Iterator<Item = (Input, Step)>>;

pub(super) fn approved(n: u32, rounds: u32) -> RoundRecords {
    told(n, rounds, move |_, draft| {
        step(vec![], Some(Outcome::Approved { draft, overruled: false, notes: vec![] }))
    })
}

pub(super) fn halted(n: u32, rounds: u32) -> RoundRecords {
    told(n, rounds, |open, draft| {
        step(vec![], Some(Outcome::Halted { reason: Halt::Cap, draft: Some(draft), open }))
    })
}

/// It waits for a person.
pub(super) fn asking(n: u32) -> RoundRecords {
    told(n, 2, |_, _| {
        let id = EffectId { node: NodePath::root(), n: 900 };
        let question = Question {
            about: About::Stuck,
            text: "Two rounds brought the same point. Go on with it?".into(),
            choices: vec![
                Choice { word: "continue".into(), says: "try once more".into(), takes: None },
                Choice { word: "abort".into(), says: "stop here".into(), takes: None },
            ],
            free: true,
        };
        let outcome = Some(Outcome::Waiting(Waiting::Question { effect: id.clone() }));
        let effect = Effect {
            id,
            class: Class::Person,
            time_ms: None,
            reserve: Reservation::default(),
            repeats: None,
            kind: EffectKind::Ask(question),
        };
        Step { effects: vec![effect], ..step(vec![], outcome) }
    })
}

/// It goes on and on, and nobody drives it now.
pub(super) fn long(n: u32, rounds: u32) -> RoundRecords {
    told(n, rounds, |_, _| step(vec![], None))
}

/// The first record, three per round, and with the last review how it ends.
fn told(n: u32, rounds: u32, end: impl Fn(Vec<String>, Digest) -> Step + 'static) -> RoundRecords {
    let mut telling = Telling::new(n);
    let title = format!("Section {n} of the paper");
    let settings = serde_json::json!({
        "phase": "paper", "worker": "writer", "critic": "reader", "rounds": rounds,
        "out": { "path": format!("/project/section-{n}.md") },
    });
    let begun = telling.begin(&title, "revise", settings);
    let first = std::iter::once((begun, step(vec![started(1, rounds)], None)));
    let rest = (1..=rounds).flat_map(move |round| {
        let draft = prose(&title, round, 24);
        let observed = (telling.observed(format!("writing version {round}")), Step::default());
        let (digest, bytes) = (draft.digest(), draft.as_str().len() as u64);
        let (made, charged) = telling.answered("writer", draft.clone());
        let drafted =
            EventKind::DraftMade { round, artifact: digest, blob: digest, bytes, given: false, diff: None };
        let drafted = (made, Step { texts: vec![draft], ..step(vec![charged, drafted], None) });
        let reply = prose("review", n.wrapping_mul(1_000).wrapping_add(round), 4);
        let is_last = round == rounds;
        let review = review(round, digest, &reply, is_last);
        let open = review.open.iter().map(|item| item.text.clone()).collect();
        let (said, charged) = telling.answered("reader", reply);
        let mut events = step(vec![charged, EventKind::Reviewed { round, review }], None);
        if is_last {
            let end = end(open, digest);
            (events.effects, events.outcome) = (end.effects, end.outcome);
        } else {
            events.events.extend(step(vec![started(round + 1, rounds)], None).events);
        }
        [observed, drafted, (said, events)]
    });
    Box::new(first.chain(rest))
}

fn started(round: u32, of: u32) -> EventKind {
    EventKind::RoundStarted { round, of }
}

fn review(round: u32, artifact: Digest, reply: &Text, is_last: bool) -> Review {
    let findings: Vec<Finding> = (0..3)
        .map(|n| {
            let text = format!("Paragraph {n} says the same as the one before it, in other words.");
            let mut finding = Finding::new("clarity", Severity::Fail, text, "reader");
            finding.number = round + n;
            finding.since = if n == 2 { round } else { round.saturating_sub(1).max(1) };
            finding.standing = if n == 2 { FindingStatus::New } else { FindingStatus::Recurring };
            finding
        })
        .collect();
    let open =
        findings.iter().map(|f| ReviewItem { number: f.number, text: f.line(), since: f.since }).collect();
    Review {
        binding: Binding { round, artifact, critic: "reader".into(), lens: None, rubric: artifact },
        verdict: if is_last { Verdict::Approved } else { Verdict::Rejected },
        open,
        addressed: vec![round],
        reason: String::new(),
        rendered: None,
        notes: vec!["The tone is right.".into()],
        deviations: vec![],
        coverage: Coverage { entries: vec![], unseen: vec![] },
        prompt: reply.digest(),
        reply: reply.digest(),
        more_calls: vec![],
        findings,
        fixed: vec![round.saturating_sub(1)],
        criteria: vec![],
        score: None,
    }
}
