//! What the agents of a goal are told. The goal, when it is reached and what may be done are in every prompt of the
//! worker; the critic sees steps from the record and nothing the worker says about itself.

use std::fmt::Write as _;

use super::GoalProtocol;
use crate::brief::{self, enclose, one_line};
use crate::digest::Digest;
use crate::goal::GoalStep;
use crate::machine::Cx;
use crate::reading::shown::neutralise;
use crate::tool::{Image, Offered, offline, policy, transcript};
use crate::turn::{Message, Part, Speaker};

const WORKER: &str = include_str!("../../prompts/goal-worker-1.md");
const HANDS: &str = include_str!("../../prompts/goal-autonomous-1.md");
const CRITIC: &str = include_str!("../../prompts/goal-critic-1.md");
pub(super) const JUDGE: &str = include_str!("../../prompts/goal-judge-1.md");
const VISION: &str = include_str!("../../prompts/goal-vision-1.md");
const LAST: &str = include_str!("../../prompts/goal-last-1.md");

/// Of how many of the last commands a judge is shown the output.
const EVIDENCE: usize = 3;

impl GoalProtocol {
    /// What every prompt of the worker begins with.
    pub(super) fn charge(&self, cx: &mut Cx<'_>) -> Vec<Part> {
        let template = cx.intern(if self.is_driven(cx) { WORKER } else { HANDS });
        let settings = &self.settings;
        let network = match (offline::has_network(settings.policy.risk), self.is_driven(cx)) {
            (true, _) => "",
            (false, true) => offline::CHARGE,
            (false, false) => offline::ASKED,
        };
        let mut parts = vec![
            Part::Blob(template),
            Part::Text("GOAL:\n".into()),
            Part::Blob(settings.goal),
            Part::Text(format!(
                "\n\nREACHED WHEN: {}\nALLOWED: {}\n{network}\n",
                settings.until.humanised(),
                policy::describe(&settings.policy, &settings.root)
            )),
        ];
        for reference in &settings.references {
            parts.push(Part::Text(format!("REFERENCE {}:\n", one_line(&reference.name))));
            parts.push(Part::Blob(reference.text));
            parts.push(Part::Text("\n\n".into()));
        }
        parts
    }

    /// The next turn of a worker whose tools we use, and how many parts of its beginning stay the same.
    pub(super) fn driven_messages(&self, cx: &mut Cx<'_>) -> (Vec<Message>, usize) {
        let first = self.charge(cx);
        let settled = first.len();
        let begins: usize = first.iter().map(|part| part.size(cx.texts())).sum();
        let room = transcript::room(cx.window(&self.settings.worker), begins);
        (self.transcript.messages(cx.texts(), first, room), settled)
    }

    /// The next turn of a worker with tools of its own: it may or may not remember the one before.
    pub(super) fn autonomous_messages(&self, words: &[Digest], cx: &mut Cx<'_>) -> (Vec<Message>, usize) {
        let mut parts = self.charge(cx);
        let settled = parts.len();
        if !self.steps.is_empty() {
            let log = self.log();
            parts.push(Part::Text(format!(
                "WHAT YOU DID SO FAR ({} steps; the last of them):\n{log}\n",
                self.n
            )));
        }
        for text in words {
            parts.push(Part::Blob(*text));
            parts.push(Part::Text("\n\n".into()));
        }
        (vec![Message { from: Speaker::User, parts }], settled)
    }

    /// The last steps, one line each.
    pub(super) fn log(&self) -> String {
        let mut log = String::new();
        for step in &self.steps {
            let _ = writeln!(log, "{}", step.listed());
        }
        log
    }

    /// What the critic is asked, and how many parts of its beginning stay the same.
    pub(super) fn critic_messages(&self, window: &[GoalStep], cx: &mut Cx<'_>) -> (Vec<Message>, usize) {
        let lines: Vec<String> = window.iter().map(GoalStep::listed).collect();
        let steps = if lines.is_empty() { "(no steps yet)".to_owned() } else { lines.join("\n") };
        let (template, steps) = (cx.intern(CRITIC), cx.intern(steps));
        let goal = self.settings.goal;
        let fence = cx.fence(&[goal, steps]);
        let mut parts = vec![Part::Blob(template)];
        enclose(&mut parts, &fence, "goal", Part::Data(goal));
        parts.push(Part::Text(format!("Reached when: {}\n\n", neutralise(&self.settings.until.humanised()))));
        let settled = parts.len();
        enclose(&mut parts, &fence, "last steps", Part::Data(steps));
        parts.push(Part::Text("Your word:\n".into()));
        (vec![Message { from: Speaker::User, parts }], settled)
    }

    /// A question about the state of things, with the log and what the last commands printed.
    pub(super) fn judge_messages(&self, question: &str, rationale: &str, cx: &mut Cx<'_>) -> Vec<Message> {
        let (template, log) = (cx.intern(JUDGE), cx.intern(self.log()));
        let claim = cx.intern(rationale.to_owned());
        let last: Vec<(String, Digest)> = self.outputs.iter().rev().take(EVIDENCE).rev().cloned().collect();
        // A command is the worker's word, too: it stands inside the marks.
        let printed = |cx: &mut Cx<'_>, (command, output): (String, Digest)| {
            let text = format!("$ {}\n{}", brief::beginning_of(&command, COMMAND_SHOWN), cx.text(&output));
            cx.intern(text)
        };
        let outputs: Vec<Digest> = last.into_iter().map(|one| printed(cx, one)).collect();
        let mut enclosed = vec![self.settings.goal, log, claim];
        enclosed.extend(&outputs);
        enclosed.extend(self.tree.as_ref().map(|tree| tree.diff));
        let fence = cx.fence(&enclosed);
        let mut parts = vec![Part::Blob(template)];
        enclose(&mut parts, &fence, "goal", Part::Data(self.settings.goal));
        enclose(&mut parts, &fence, "steps, from the record", Part::Data(log));
        for text in outputs {
            enclose(&mut parts, &fence, "a command and its output", Part::Data(text));
        }
        if let Some(tree) = &self.tree {
            let diff = brief::beginning_of(cx.text(&tree.diff), DIFF_SHOWN);
            let diff = cx.intern(diff);
            enclose(&mut parts, &fence, "what was changed", Part::Data(diff));
        }
        enclose(&mut parts, &fence, "what the worker claims (no evidence)", Part::Data(claim));
        parts.push(Part::Text(format!("Does this hold: {}\n", neutralise(&one_line(question)))));
        vec![Message { from: Speaker::User, parts }]
    }

    pub(super) fn vision_messages(expected: &str, image: Image, cx: &mut Cx<'_>) -> Vec<Message> {
        let template = cx.intern(VISION);
        let ask = format!("Does the picture show this: {}\n", neutralise(&one_line(expected)));
        let parts = vec![Part::Blob(template), Part::Image(image), Part::Text(ask)];
        vec![Message { from: Speaker::User, parts }]
    }

    pub(super) fn last_messages(&self, because: &str, cx: &mut Cx<'_>) -> Vec<Message> {
        let template = cx.intern(LAST);
        let parts = vec![
            Part::Blob(template),
            Part::Text("GOAL:\n".into()),
            Part::Blob(self.settings.goal),
            Part::Text(format!(
                "\n\nREACHED WHEN: {}\n\nSTOPPED BECAUSE: {because}\n\nTHE LAST STEPS:\n{}",
                self.settings.until.humanised(),
                self.log()
            )),
        ];
        vec![Message { from: Speaker::User, parts }]
    }

    /// The tools that are offered now, as a stored text: those that failed again and again are not among them.
    pub(super) fn tools(&self, cx: &mut Cx<'_>) -> Digest {
        let usable: Vec<Offered> =
            self.offered.iter().filter(|tool| !self.guard.is_disabled(&tool.name)).cloned().collect();
        cx.intern(crate::tool::offered::as_text(&usable))
    }
}

/// How much of a command a judge is shown, in bytes.
const COMMAND_SHOWN: usize = 500;
/// How much of the diff a judge is shown, in bytes.
const DIFF_SHOWN: usize = 24 * 1024;
