//! What someone who watches a judging run reads.

use gadfly_engine::budget::Reservation;
use gadfly_engine::finding::{Finding, FindingStatus, Severity};
use gadfly_engine::question::{About, Choice, Question};
use gadfly_engine::review::Verdict;
use gadfly_engine::tree::{CommandRun, RunEnd, Verified};
use gadfly_engine::{Event, Guard, Input, Layer, NodePath, Reply, Stamp, Step, Text};

use super::*;
use crate::report::sample::review;

fn told(story: &mut Story, events: Vec<EventKind>, effects: Vec<Effect>, texts: Vec<Text>) -> String {
    let effect = "run#1".parse().unwrap();
    let what = InputKind::Replied { effect, reply: Reply::Cancelled { sent: false } };
    let input = Input { at: Stamp::default(), what, texts };
    let events = events.into_iter().map(|what| Event { node: NodePath::root(), what }).collect();
    let record = Record { seq: 1, input, step: Step { events, effects, ..Step::default() } };
    anstream::adapter::strip_str(&story.record(&record).join("\n")).to_string()
}

fn finding(number: u32, standing: FindingStatus) -> Finding {
    let mut finding = Finding::new("style", Severity::Nit, format!("point {number}"), "reader");
    (finding.number, finding.standing, finding.since) = (number, standing, 1);
    finding
}

#[test]
fn two_critics_tell_each_finding_once_and_what_moved_once() {
    let mut story = Story::new(true);
    let first =
        review(1, Verdict::Rejected, vec![finding(1, FindingStatus::New), finding(2, FindingStatus::New)]);
    told(&mut story, vec![EventKind::Reviewed { round: 1, review: first }], vec![], vec![]);
    let mut one = review(2, Verdict::Rejected, vec![finding(2, FindingStatus::Recurring)]);
    one.fixed = vec![1];
    let mut two = review(2, Verdict::Approved, vec![]);
    (two.binding.critic, two.fixed) = ("second".into(), vec![1]);
    let events = [one, two].into_iter().map(|review| EventKind::Reviewed { round: 2, review });
    insta::assert_snapshot!(told(&mut story, events.collect(), vec![], vec![]), @r"
      ✗ rejected by reader: 1 open item
        = 2. nit style (recurring, since round 1): point 2
      ✓ approved by second
        ✓ 1. fixed: point 1
        round 2: 1 fixed, 1 recurring, 0 new, 0 regressed
    ");
}

#[test]
fn a_red_command_shows_its_last_words_and_a_question_its_ways_out() {
    let output = Text::new("compiling\nerror: no such field");
    let runs = vec![CommandRun { end: RunEnd::Code(101), output: output.digest(), took_ms: 5 }];
    let verified = Verified { runs, changed: vec![], evidence: Vec::new() };
    let ran = EventKind::VerifyRan { round: 1, command: "make test".into(), green: false, verified };
    let choices = vec![Choice::taking("grant", "N", "allow N more rounds")];
    let question = Question { about: About::Stuck, text: "No headway.".into(), choices, free: true };
    let ask = Effect {
        id: "run#3".parse().unwrap(),
        class: Class::Person,
        time_ms: None,
        reserve: Reservation::default(),
        repeats: None,
        kind: EffectKind::Ask(question),
    };
    insta::assert_snapshot!(told(&mut Story::new(true), vec![ran], vec![ask], vec![output]), @r"
      ✗ verify `make test`: exit code 101
        │ compiling
        │ error: no such field
      a question for you (stuck)
        │ No headway.
        1. grant N: allow N more rounds
        or any other answer in your own words
    ");
}

#[test]
fn what_holds_an_agent_is_told_once_and_again_when_it_changes() {
    let mut story = Story::new(true);
    let effect: EffectId = "run#1".parse().unwrap();
    story.asked.insert(effect.clone(), "critic c".into());
    let mut told = |observation: Observation| {
        let mut lines = Vec::new();
        story.observed(&effect, &observation, &mut lines);
        anstream::adapter::strip_str(&lines.join("\n")).to_string()
    };
    let guarded = |how: &str| Observation::Guarded { guards: vec![Guard::new(Layer::Landlock, how)] };
    let missing = || Observation::Note { line: format!("{NOT_HELD}too old") };
    assert_eq!(told(guarded("files")), "    sandbox: Landlock (files)");
    assert_eq!(told(guarded("files")), "");
    assert_eq!(told(missing()), "    no Landlock: too old");
    assert_eq!(told(missing()), "");
    assert_eq!(told(guarded("less")), "    sandbox: Landlock (less)");
    let stopped = || Observation::Stopped { layer: Layer::OwnMode, what: "Write a.txt".into() };
    assert_eq!(told(stopped()), "    ✗ stopped by its own mode: Write a.txt");
    assert_eq!(told(stopped()), "    ✗ stopped by its own mode: Write a.txt", "every one is told");
}

#[test]
fn a_goal_is_told_step_by_step_with_what_was_said_in_between() {
    use gadfly_engine::goal::{Nudge, ProgressVerdict, StepEnd};

    use crate::report::sample::{goal_step, watched};

    let (goal, nudge) = (Text::new("make the test\nsuite pass"), Text::new("step back\u{1b}[2J"));
    let set = EventKind::GoalSet {
        goal: goal.digest(),
        criterion: "`cargo test` exits with 0".into(),
        policy: "risk=write_local".into(),
        interval: 5,
        steps: 300,
    };
    let events = vec![
        set,
        goal_step(1, "command=cargo test", StepEnd::Err, "exit code 101"),
        watched(ProgressVerdict::Stuck, 1, 1, "nothing moves"),
        EventKind::Nudged { why: Nudge::Stuck, text: nudge.digest() },
        goal_step(2, "command=cargo test", StepEnd::Blocked, "the same call, the same result"),
        EventKind::GoalPaused { because: "five claims failed".into() },
    ];
    let mut story = Story::new(true);
    insta::assert_snapshot!(told(&mut story, events, vec![], vec![goal, nudge.clone()]), @r"
    goal: make the test suite pass
      reached when `cargo test` exits with 0 · risk=write_local · critic watches every 5 steps · at most 300 steps
      [1] run_command(command=cargo test) → err: exit code 101
      critic:stuck step 1 nothing moves
      → told: step back␛[2J
      [2] run_command(command=cargo test) → blocked: the same call, the same result
      ‖ paused: five claims failed
    ");
    assert!(story.said(&nudge.digest()).is_some(), "a panel that is drawn later can still say it");
}
