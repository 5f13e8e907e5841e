//! What a person reads of a pipeline.

use gadfly_engine::pipeline::Gate;
use gadfly_engine::pipeline::aggregate::{Aggregate, ScoreRow};
use gadfly_engine::pipeline::learning::{LearnTag, Suggestion};

use gadfly_engine::event::EventKind;
use gadfly_engine::pipeline::PipelineEvent;

use super::*;
use crate::output::described;

fn plain(lines: &[String]) -> String {
    anstream::adapter::strip_str(&lines.join("\n")).to_string()
}

fn told(event: PipelineEvent) -> Vec<String> {
    let told = EventKind::Pipeline(event).describe(&|agent| agent.to_owned());
    told.map_or_else(Vec::new, |told| described::block(&told, &|_| None))
}

fn row(agent: &str, points: u32, score: Option<u32>) -> ScoreRow {
    ScoreRow { agent: agent.into(), points, score, because: None, optional: false }
}

#[test]
fn a_closed_gate_shows_its_table_its_sum_and_what_is_in_the_way() {
    let aggregate = Aggregate::of([
        ("Strategy", row("strategist", 3000, Some(70))),
        ("Code", row("coder", 1250, Some(90))),
        ("Paper", row("writer\u{1b}[2J", 2500, None)),
    ]);
    let said = plain(&gate(&Gate::commit().report(aggregate, &[])));
    assert!(!said.contains('\u{1b}'), "a name cannot act on the terminal");
    for part in [
        "Strategy",
        "12.5%",
        "below 80",
        "pass",
        "gate commit is closed",
        "overall is 75.88",
        "left out of the sum",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn what_an_agent_is_called_cannot_act_on_the_terminal_or_break_the_line() {
    let event = PipelineEvent::PairBlocked {
        agent: "evil\nname\u{1b}]0;x\u{7}".into(),
        because: "no\r\nreason".into(),
        score: Some(40),
        rounds: 3,
        open: vec!["a\u{202e}b".into()],
    };
    let lines = told(event);
    let said = plain(&lines);
    assert_eq!(lines.len(), 2);
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{said:?}");
}

#[test]
fn learnings_are_listed_under_their_heading_and_none_say_nothing() {
    let suggestion = Suggestion {
        tag: LearnTag::Friction,
        agent: "coder".into(),
        text: "coder did not pass in 3 rounds".into(),
        action: "make its rubric clearer".into(),
    };
    let said = plain(&told(PipelineEvent::Learned { suggestions: vec![suggestion] }));
    assert_eq!(
        said,
        "### Suggested Learnings\n  - [FRICTION] coder did not pass in 3 rounds --- make its rubric clearer"
    );
    assert!(told(PipelineEvent::Learned { suggestions: vec![] }).is_empty());
}
