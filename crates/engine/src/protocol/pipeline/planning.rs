//! Plan first: requirements if they are wanted, a plan, a person's yes. Nothing is dispatched before.

use super::PipelineProtocol;
use super::questions::{self, PipelineQuestion};
use super::settings::Planning;
use crate::blocks::Blocks;
use crate::budget::Usage;
use crate::digest::Digest;
use crate::effect::{CallFailure, FailureKind};
use crate::event::EventKind;
use crate::machine::{AgentAnswer, Cx, WorkerCall};
use crate::pipeline::event::PipelineEvent;
use crate::reading::reasoning;

const PLAN: &str = include_str!("../../prompts/pipeline-plan-1.md");
const SPEC: &str = include_str!("../../prompts/pipeline-spec-1.md");

/// How far the run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    Planning,
    Working,
    /// The result is being agreed to, or put on a branch.
    Ending,
}

const TAG_SPEC: u32 = 1;
const TAG_PLAN: u32 = 2;

impl PipelineProtocol {
    pub(super) fn begin_planning(&mut self, cx: &mut Cx<'_>) {
        match self.settings.plan.clone() {
            Planning::None => self.begin_work(cx),
            Planning::Given { text } => self.drafted(text, "the user", false, cx),
            Planning::Drafted { spec: true, .. } => self.ask_for(TAG_SPEC, None, None, cx),
            Planning::Drafted { spec: false, .. } => self.ask_for(TAG_PLAN, None, None, cx),
        }
    }

    /// `so_far` is the list of requirements, or the plan that has to change; `said` what a person said about it.
    fn ask_for(&self, tag: u32, so_far: Option<Digest>, said: Option<Digest>, cx: &mut Cx<'_>) {
        let Planning::Drafted { by, brief, .. } = &self.settings.plan else { return };
        let template = cx.intern(if tag == TAG_SPEC { SPEC } else { PLAN });
        let mut blocks = Blocks::of(template).block("Request", self.settings.request).text(*brief);
        if let Some(so_far) = so_far {
            blocks = blocks.block("So far", so_far);
        }
        if let Some(said) = said {
            blocks = blocks.block("What the user says about it", said);
        }
        let messages = vec![blocks.message()];
        cx.call(WorkerCall { agent: by, messages, tree: None, advice: true, tag });
    }

    pub(super) fn planned(&mut self, answer: AgentAnswer, cx: &mut Cx<'_>) {
        let text = reasoning::without_leading(cx.text(&answer.text)).trim().to_owned();
        if text.is_empty() {
            let message = "the reply holds no plan".to_owned();
            let failure = CallFailure { kind: FailureKind::BadReply, message, usage: Usage::default() };
            return cx.unusable(answer, failure);
        }
        let (by, spec) = (answer.agent().to_owned(), answer.tag() == TAG_SPEC);
        if spec && !lists_requirements(&text) {
            let message = "the reply lists no requirements (MUST, SHOULD, MAY)".to_owned();
            let failure = CallFailure { kind: FailureKind::BadReply, message, usage: Usage::default() };
            return cx.unusable(answer, failure);
        }
        let text = cx.intern(text);
        self.drafted(text, &by, spec, cx);
    }

    fn drafted(&mut self, text: Digest, by: &str, spec: bool, cx: &mut Cx<'_>) {
        let blocked = blocked(cx.text(&text));
        let event = PipelineEvent::PlanDrafted { text, by: by.to_owned(), spec, blocked: blocked.clone() };
        cx.emit(EventKind::Pipeline(event));
        if !blocked.is_empty() {
            // What is blocked cannot be agreed to, not even in advance.
            let effect = cx.ask(questions::blocked_plan(&blocked, spec));
            self.asks.insert(effect, PipelineQuestion::Plan { text, spec });
        } else if spec {
            self.spec = Some(text);
            self.ask_for(TAG_PLAN, Some(text), None, cx);
        } else if self.settings.plan_agreed {
            self.agreed(text, "--yes", cx);
        } else {
            let required = self.spec.map(|spec| cx.text(&spec).to_owned());
            let effect = cx.ask(questions::plan(cx.text(&text), required.as_deref()));
            self.asks.insert(effect, PipelineQuestion::Plan { text, spec });
        }
    }

    pub(super) fn agreed(&mut self, text: Digest, by: &str, cx: &mut Cx<'_>) {
        cx.emit(EventKind::Pipeline(PipelineEvent::PlanApproved { text, by: by.to_owned() }));
        self.plan = Some(text);
        self.begin_work(cx);
    }

    /// A person wants it otherwise.
    pub(super) fn replan(&mut self, text: Digest, spec: bool, said: String, cx: &mut Cx<'_>) {
        let said = cx.intern(said);
        if matches!(self.settings.plan, Planning::Drafted { .. }) {
            return self.ask_for(if spec { TAG_SPEC } else { TAG_PLAN }, Some(text), Some(said), cx);
        }
        // A plan that was given has nobody who could draft it again: what was said is part of it now.
        let both = format!("{}\n\nThe user adds:\n{}\n", without_blocked(cx.text(&text)), cx.text(&said));
        let both = cx.intern(both);
        self.drafted(both, "the user", spec, cx);
    }

    fn begin_work(&mut self, cx: &mut Cx<'_>) {
        self.stage = Stage::Working;
        self.begin_overall(Vec::new(), cx);
        self.survey(cx);
    }
}

/// Lines that say something is blocked: `- MUST | BLOCKED | …`, `- BLOCKED: …`. Nothing inside a code fence is one.
fn blocked(text: &str) -> Vec<String> {
    lines(text).filter(|(line, fenced)| !fenced && is_blocked(line)).map(|(line, _)| item(line)).collect()
}

fn without_blocked(text: &str) -> String {
    let kept: Vec<&str> =
        lines(text).filter(|(line, fenced)| *fenced || !is_blocked(line)).map(|(line, _)| line).collect();
    kept.join("\n")
}

fn lines(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut fenced = false;
    text.lines().map(move |line| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        fenced ^= is_fence;
        (line, fenced || is_fence)
    })
}

fn item(line: &str) -> String {
    let line = line.trim();
    crate::brief::one_line(line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim())
}

/// Wherever the word stands, it counts: what was meant as blocked must not be agreed to because it was written
/// otherwise. A line that lists all the words only explains them.
fn is_blocked(line: &str) -> bool {
    let words = || line.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_');
    if ["CLEAR", "ASSUMED", "BLOCKED"].iter().all(|word| words().any(|w| w == *word)) {
        return false;
    }
    let is_cell = |cell: &str| cell.trim().trim_matches(['*', '`', '[', ']']).eq_ignore_ascii_case("blocked");
    words().any(|word| word == "BLOCKED") || line.split('|').any(is_cell)
}

/// Whether a text lists requirements at all.
fn lists_requirements(text: &str) -> bool {
    lines(text).any(|(line, fenced)| {
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        !fenced && words.any(|word| matches!(word, "MUST" | "SHOULD" | "MAY"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_blocked_is_found_where_a_requirement_stands() {
        for line in [
            "- **MUST** | BLOCKED | which data?",
            "* BLOCKED: the licence",
            "1. MUST | BLOCKED | x",
            "- [BLOCKED] x",
            "- MUST BLOCKED: x",
            "| MUST | which? | BLOCKED |",
            "| R1 | Blocked |",
            "- **R3** | MUST | BLOCKED | x",
        ] {
            assert_eq!(blocked(line).len(), 1, "{line}");
            assert_eq!(without_blocked(line), "", "{line}");
        }
        for line in [
            "- MUST | CLEAR | a",
            "CLEAR / ASSUMED / BLOCKED",
            "Nothing is blocked.",
            "```\n- BLOCKED: an example\n```",
        ] {
            assert_eq!(blocked(line), [""; 0], "{line}");
        }
        assert!(lists_requirements("- MUST | CLEAR | a") && !lists_requirements("I could not say."));
    }
}
