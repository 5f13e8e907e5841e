//! Goals: steps, observations between them, and what the critic says beside them.

use gadfly_engine::event::EventKind;
use gadfly_engine::goal::{Claimant, GoalStep, Nudge, ProgressVerdict, StepEnd};
use gadfly_engine::{Digest, Input, Outcome, Step};

use super::telling::{Telling, prose, step};

type GoalRecords = Box<dyn Iterator<Item = (Input, Step)>>;

/// The critic looks after so many steps.
const INTERVAL: u32 = 5;
/// Of so many records one is a step; the others only say how it goes on.
const PER_STEP: u32 = 3;

/// A goal that was reached after `steps` steps.
pub(super) fn reached(n: u32, steps: u32) -> GoalRecords {
    let end = move |telling: &mut Telling| {
        let (input, charged) = telling.answered("writer", prose("claim", n, 2));
        let claimed = EventKind::Claimed { by: Claimant::Worker, rationale: "the tests pass".into() };
        let verified = EventKind::GoalVerified { detail: "`make test` exits with 0".into() };
        let outcome = Outcome::Approved { draft: Digest::of(b"tree"), overruled: false, notes: vec![] };
        (input, step(vec![charged, claimed, verified], Some(outcome)))
    };
    told(n, steps * PER_STEP, Some(end))
}

/// A goal of so many records that nobody drives now.
pub(super) fn long(n: u32, records: u32) -> GoalRecords {
    told(n, records.saturating_sub(1), None::<fn(&mut Telling) -> (Input, Step)>)
}

fn told(
    n: u32,
    records: u32,
    end: Option<impl FnOnce(&mut Telling) -> (Input, Step) + 'static>,
) -> GoalRecords {
    let mut telling = Telling::new(n);
    let title = format!("Make test suite {n} green");
    let goal = Digest::of(title.as_bytes());
    let settings = serde_json::json!({
        "goal": goal, "worker": "writer", "critic": "reader", "root": format!("/project/{n}"),
    });
    let set = EventKind::GoalSet {
        goal,
        criterion: "`make test` exits with 0".into(),
        policy: "risk=write_local".into(),
        interval: INTERVAL,
        steps: 1_000_000,
    };
    let first = (telling.begin(&title, "goal", settings), step(vec![set], None));
    let mut end = end;
    let rest = (1..=records.saturating_add(1)).map_while(move |at| {
        if at > records {
            return end.take().map(|end| end(&mut telling));
        }
        if !at.is_multiple_of(PER_STEP) {
            return Some((telling.observed(format!("reading src/part-{at}.rs")), Step::default()));
        }
        Some(stepped(&mut telling, at / PER_STEP))
    });
    Box::new(std::iter::once(first).chain(rest))
}

fn stepped(telling: &mut Telling, n: u32) -> (Input, Step) {
    let done = GoalStep {
        n,
        tool: if n.is_multiple_of(3) { "run_command" } else { "edit_file" }.into(),
        args: format!("path=src/part-{n}.rs, from=1"),
        end: if n.is_multiple_of(7) { StepEnd::Err } else { StepEnd::Ok },
        preview: format!("{n} lines changed, the build goes through"),
        took_ms: 900,
    };
    let mut events = vec![EventKind::Stepped { step: done }];
    if !n.is_multiple_of(INTERVAL) {
        return (telling.observed(format!("step {n}")), step(events, None));
    }
    let (input, charged) = telling.answered("reader", prose("look", n, 2));
    let verdict = match n % 20 {
        0 => ProgressVerdict::Stuck,
        _ => ProgressVerdict::Progressing,
    };
    let reason = format!("steps up to {n} bring the suite closer to green");
    events.push(charged);
    events.push(EventKind::Watched {
        critic: "reader".into(),
        verdict,
        reason,
        from: n + 1 - INTERVAL,
        to: n,
    });
    if verdict == ProgressVerdict::Stuck {
        events.push(EventKind::Nudged { why: Nudge::Stuck, text: Digest::of(b"nudge") });
    }
    (input, step(events, None))
}
