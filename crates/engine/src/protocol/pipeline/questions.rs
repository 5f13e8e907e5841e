//! What people are asked in a pipeline, and what their answers mean.

use super::PipelineProtocol;
use crate::brief::some_of;
use crate::conflict::Way;
use crate::digest::Digest;
use crate::effect::EffectId;
use crate::event::EventKind;
use crate::machine::Cx;
use crate::outcome::{Halt, Outcome};
use crate::pipeline::GateReport;
use crate::pipeline::event::PipelineEvent;
use crate::question::{About, Choice, Picked, Question};

const APPROVE: &str = "approve";
const REVISE: &str = "revise";
const STOP: &str = "stop";
const YES: &str = "yes";
const NO: &str = "no";

/// An open question.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum PipelineQuestion {
    Plan {
        text: Digest,
        spec: bool,
    },
    Condition {
        text: String,
    },
    /// About the delivery that is under way.
    Outside,
    /// About the delivery that is under way, too.
    Replaced,
    Conflict(Question),
    Result,
}

pub(super) fn plan(text: &str, required: Option<&str>) -> Question {
    let required =
        required.map_or_else(String::new, |list| format!("These are the requirements:\n\n{list}\n\n"));
    let text = format!("{required}This is the plan:\n\n{text}\n\nShall it be carried out?");
    let choices = vec![
        Choice::new(APPROVE, "carry it out"),
        Choice::taking(REVISE, "TEXT", "have it drafted again, with what you say"),
        Choice::new(STOP, "end here; nothing was done"),
    ];
    Question { about: About::Plan, text, choices, free: false }
}

pub(super) fn blocked_plan(blocked: &[String], spec: bool) -> Question {
    let what = if spec { "The requirements cannot be planned" } else { "The plan cannot be carried out" };
    let mut text = format!("{what} before these are decided:\n");
    for line in blocked {
        text.push_str("- ");
        text.push_str(line);
        text.push('\n');
    }
    let choices = vec![
        Choice::taking(REVISE, "TEXT", "say how; it is drafted again with your answer"),
        Choice::new(STOP, "end here; nothing was done"),
    ];
    Question { about: About::Plan, text, choices, free: false }
}

pub(super) fn condition(agent: &str, condition: &str) -> Question {
    let text = format!(
        "Before [{agent}] can be dispatched, this has to hold, and no program can tell:\n{condition}\nDoes it?"
    );
    let choices = vec![
        Choice::new(YES, "it holds; remembered for this project"),
        Choice::new(NO, "it does not; the agent is not dispatched"),
    ];
    Question { about: About::Condition, text, choices, free: false }
}

pub(super) fn outside(agent: &str, paths: &[String]) -> Question {
    let text = format!(
        "[{agent}] wrote files that its registry entry does not name: {}.\nShall they be brought into the project, too?",
        some_of(paths)
    );
    let choices = vec![Choice::new(YES, "bring them as well"), Choice::new(NO, "only what the entry names")];
    Question { about: About::Outside, text, choices, free: false }
}

pub(super) fn replaced(agent: &str, paths: &[String]) -> Question {
    let text = format!(
        "[{agent}] wrote anew what was in the project before it was sent out, and little of it is left: {}.\nShall its version take the place of yours?",
        some_of(paths)
    );
    let choices = vec![
        Choice::new(YES, "take its version; `gadfly undo` brings yours back"),
        Choice::new(NO, "keep yours; nothing of this agent is delivered"),
    ];
    Question { about: About::Replaced, text, choices, free: false }
}

pub(super) fn result(report: &GateReport, remaining: &[String]) -> Question {
    let overall = report.aggregate.overall.map_or_else(|| "no score".to_owned(), |o| o.to_string());
    let mut text = format!("The gate `{}` is open: overall {overall}.\n", report.gate.name);
    for line in remaining {
        text.push_str("- ");
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("Do you agree to this result?");
    let choices = vec![
        Choice::new(APPROVE, "agree; the run ends"),
        Choice::taking(REVISE, "AGENT", "send this agent out once more"),
        Choice::new(STOP, "end here without agreeing; what was delivered stays"),
    ];
    Question { about: About::Result, text, choices, free: false }
}

impl PipelineProtocol {
    pub(super) fn told_by_person(&mut self, effect: &EffectId, said: Digest, by: &str, cx: &mut Cx<'_>) {
        let Some(ask) = self.asks.remove(effect) else { return };
        let said = cx.text(&said).to_owned();
        match ask {
            PipelineQuestion::Plan { text, spec } => self.told_of_plan(text, spec, &said, by, cx),
            PipelineQuestion::Condition { text } => {
                let holds = is_yes(&said);
                self.manual.insert(text.clone(), holds);
                let event = PipelineEvent::ConditionSaid { text, holds, by: by.to_owned() };
                cx.emit(EventKind::Pipeline(event));
                self.identify(cx);
            }
            PipelineQuestion::Outside => self.told_of_outside(is_yes(&said), cx),
            PipelineQuestion::Replaced => self.told_of_replaced(is_yes(&said), cx),
            PipelineQuestion::Conflict(question) => {
                let way = match question.pick(&said) {
                    Picked::Choice { word, .. } => Way::of(word),
                    _ => None,
                };
                self.told_of_conflict(way, cx);
            }
            PipelineQuestion::Result => self.told_of_result(&said, by, cx),
        }
    }

    fn told_of_plan(&mut self, text: Digest, spec: bool, said: &str, by: &str, cx: &mut Cx<'_>) {
        match plan("", None).pick(said) {
            Picked::Choice { word: APPROVE, .. } => self.agreed(text, by, cx),
            Picked::Choice { word: REVISE, rest } => self.replan(text, spec, rest, cx),
            _ => {
                let open = vec!["the plan was not agreed to".to_owned()];
                cx.finish(Outcome::Halted { reason: Halt::Plan, draft: Some(text), open });
            }
        }
    }

    fn told_of_result(&mut self, said: &str, by: &str, cx: &mut Cx<'_>) {
        match result(&self.report(), &[]).pick(said) {
            Picked::Choice { word: APPROVE, .. } => self.end_well(by, cx),
            Picked::Choice { word: REVISE, rest } => self.send_again(rest.trim(), cx),
            _ => {
                let open = vec!["the result was not agreed to".to_owned()];
                self.end_short(Halt::Stuck, open, cx);
            }
        }
    }
}

fn is_yes(said: &str) -> bool {
    matches!(outside("", &[]).pick(said), Picked::Choice { word: YES, .. })
}
