//! What people read of events.

use super::*;
use crate::goal::{Claimant, CriterionTrial, Nudge};
use crate::outcome::Halt;
use crate::pipeline::PipelineEvent;
use crate::tree::{CommandRun, RunEnd};

fn told(what: &EventKind) -> String {
    what.describe(&str::to_owned).unwrap().line(&|_| Some("look at parser.rs".into()))
}

#[test]
fn a_stored_text_is_said_where_it_is_at_hand_and_its_gist_elsewhere() {
    let text = Digest::of(b"");
    let nudged = EventKind::Nudged { why: Nudge::Stuck, text };
    assert_eq!(told(&nudged), "told: look at parser.rs");
    let gist = nudged.describe(&str::to_owned).unwrap();
    assert_eq!(gist.line(&|_| None), "told: step back and try another way");
    let by = |by: &str| EventKind::Steered { by: by.into(), text };
    assert_eq!(told(&by("terminal")), "you: look at parser.rs (steered)");
    assert_eq!(told(&by("dashboard")), "you: look at parser.rs (steered)");
    assert_eq!(told(&by("ann")), "ann: look at parser.rs (steered)");
    let last = EventKind::LastWords { because: "the cap".into(), text: None };
    assert_eq!(told(&last), "last words: nothing (stopped: the cap)");
}

#[test]
fn a_head_with_a_colon_of_its_own_gets_no_second_one() {
    let failed = EventKind::VerificationFailed { detail: "exit code 1".into(), in_a_row: 2 };
    assert_eq!(told(&failed), "verify:fail (2) exit code 1");
    let claimed = EventKind::Claimed { by: Claimant::Critic, rationale: "it is there".into() };
    assert_eq!(told(&claimed), "claim by the critic: it is there");
    assert_eq!(told(&EventKind::CancelRequested), "cancelled");
}

#[test]
fn every_verdict_of_the_watching_critic_has_a_tone_of_its_own() {
    use ProgressVerdict::{Achieved, Error, Misled, Progressing, Stuck};
    let tones = [Progressing, Stuck, Achieved, Misled, Error].map(Tone::from);
    for (n, tone) in tones.iter().enumerate() {
        assert!(!tones[n + 1..].contains(tone), "{tone:?}");
    }
}

#[test]
fn the_criterion_is_told_only_where_trying_it_says_something() {
    let tried = |found| EventKind::CriterionTried { found, detail: "exit code 127".into() };
    assert_eq!(tried(CriterionTrial::NotMet).describe(&str::to_owned), None);
    let refused = tried(CriterionTrial::CannotRun).describe(&str::to_owned).unwrap();
    assert!(refused.whole && refused.tone == Tone::Warning, "{refused:?}");
}

#[test]
fn a_command_says_how_it_ended_and_shows_its_output_only_if_it_is_red() {
    let output = Digest::of(b"error");
    let run = |green: bool| {
        let runs = vec![CommandRun { end: RunEnd::Code(i32::from(!green)), output, took_ms: 5 }];
        let verified = Verified { runs, changed: vec!["a.lock".into()], evidence: vec![] };
        command_ran("verify", "make test", green, &verified)
    };
    assert_eq!(run(false).line(&|_| None), "verify `make test`: exit code 1");
    assert_eq!((run(false).output, run(true).output), (Some(output), None));
    assert_eq!(run(true).below[0].text, "it changed files, which were put back: a.lock");
}

#[test]
fn a_long_list_below_an_event_has_an_end() {
    let open = (0..60).map(|n| format!("item {n}")).collect();
    let blocked = EventKind::Pipeline(PipelineEvent::PairBlocked {
        agent: "coder".into(),
        because: "no headway".into(),
        score: Some(40),
        rounds: 3,
        open,
    });
    let told = blocked.describe(&str::to_owned).unwrap();
    assert_eq!(told.line(&|_| None), "coder blocked after 3 rounds, last score 40: no headway");
    assert_eq!((told.below.len(), told.below[40].text.as_str()), (41, "and 20 more"));
}

#[test]
fn a_state_is_named_once_and_a_halt_says_why() {
    for reason in ["cap", "plateau", "churn", "oscillation", "guard", "stuck", "plan"] {
        let halted = run_state(&format!("halted({reason})"), false, false);
        assert_eq!(halted.head, format!("halted: {reason}"));
        assert!(!halted.body.is_empty(), "{reason}");
    }
    assert_eq!(run_state(&format!("halted({})", Halt::Cap), false, false).body, "the cap was reached");
    assert_eq!(run_state("approved", false, true).head, "reached");
    assert_eq!(run_state("approved", true, false).tone, Tone::Warning, "never better than it is");
    assert_eq!(run_state("waiting(question)", false, false).head, "waiting for you");
    assert_eq!(run_state("something_new", false, false).tone, Tone::Doubt);
}

#[test]
fn every_tone_is_listed() {
    let mut names: Vec<String> = Tone::ALL.iter().map(|tone| serde_json::to_string(tone).unwrap()).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), Tone::ALL.len());
}
