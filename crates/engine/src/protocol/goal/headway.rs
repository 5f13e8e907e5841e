//! Whether a goal gets on: what counts as headway between failed claims, calls that cannot be read, and what was made while
//! the worker had drifted, which is delivered only if somebody says so.

use std::collections::{BTreeMap, BTreeSet};

use super::people::{self, Asking};
use super::verifying::{CheckReason, Checking};
use super::{Awaiting, GoalProtocol};
use crate::brief::some_of;
use crate::digest::Digest;
use crate::goal::{Nudge, StepEnd};
use crate::machine::Cx;
use crate::tool::ToolCall;
use crate::tree::{Look, Tree};

/// Steps that changed something, between two failed claims, after which failures are counted anew.
const REAL_WORK: u32 = 5;
/// Calls in a row that cannot be read at which the critic is asked, and at which the goal stands still.
const UNREADABLE: u32 = 3;
const MOST_UNREADABLE: u32 = 9;
/// How much of a tool's form is shown, in characters.
const FORM: usize = 800;

#[derive(Default)]
pub(super) struct GoalHeadway {
    /// Steps since the last failed claim that may have changed something.
    pub changed: u32,
    /// Something was run since the folder was looked at for the critic: nobody knows what it changed.
    pub unseen: bool,
    /// What tools wrote since then.
    pub written: BTreeSet<String>,
    /// What the last failed claim came to: how many checks held, and on which state.
    failed_at: Option<(usize, Option<Digest>)>,
    /// Calls in a row that could not be read.
    pub unread: u32,
    /// What was changed when the critic was last asked, and the time before.
    before: ChangedFiles,
    now: ChangedFiles,
    /// A worker with tools of its own is being broken off because it has drifted.
    breaking: bool,
    /// Files made or changed while the worker had drifted.
    drifted: BTreeSet<String>,
    /// The worker was told to take them back.
    told: bool,
}

/// Changed files by path.
type ChangedFiles = BTreeMap<String, Content>;

#[derive(Clone, PartialEq, Eq, Debug)]
enum Content {
    /// As a look found it.
    Seen(Option<Digest>),
    /// Written by a tool, and not looked at since.
    Written,
}

impl GoalHeadway {
    /// The folder as the critic is asked about it.
    pub fn seen(&mut self, tree: Option<&Tree>) {
        let written = std::mem::take(&mut self.written);
        let changes = tree.iter().flat_map(|tree| &tree.changes);
        let now: ChangedFiles = changes.map(|c| (c.path.clone(), Content::Seen(c.after))).collect();
        self.before = std::mem::replace(&mut self.now, now);
        // What was written before, and not since, is what the look found.
        for (path, content) in self.before.iter_mut().filter(|(path, _)| !written.contains(*path)) {
            if let (Content::Written, Some(found)) = (&content, self.now.get(path)) {
                *content = found.clone();
            }
        }
    }

    /// As [`Self::seen`], where tools wrote files and nothing else was done: that needs no look.
    fn known(&mut self) {
        self.before = self.now.clone();
        for path in std::mem::take(&mut self.written) {
            self.before.remove(&path);
            self.now.insert(path, Content::Written);
        }
    }
}

impl GoalProtocol {
    /// The critic looks at the steps; what they led to is written down first.
    pub(super) fn call_critic(&mut self, cx: &mut Cx<'_>) {
        if self.is_driven(cx) && std::mem::take(&mut self.headway.unseen) {
            self.awaiting = Awaiting::LookForCritic;
            cx.look(Look { tree: None, paths: Vec::new() });
            return;
        }
        if self.is_driven(cx) {
            self.headway.known();
        } else {
            self.headway.seen(self.tree.as_ref());
        }
        self.awaiting = Awaiting::Critic;
        self.ask_critic(cx);
    }

    /// One more failed claim. "In a row" means: without headway in between.
    pub(super) fn count_failed_claim(&mut self, checking: &Checking) {
        let held = checking.known.iter().filter(|known| known.is_ok()).count();
        let tree = self.tree.as_ref().map(|tree| tree.digest);
        let worked = self.headway.changed >= REAL_WORK || !matches!(checking.why, CheckReason::Claim(_));
        let got_on =
            self.headway.failed_at.take().is_some_and(|(held_before, tree_before)| {
                held > held_before || worked && tree_before != tree
            });
        if got_on {
            self.failed_claims = 0;
        }
        self.failed_claims += 1;
        self.headway.failed_at = Some((held, tree));
        self.headway.changed = 0;
    }

    /// A call that cannot be read is the model's failure and not the tool's: it is answered with the form, and the tool
    /// stays. Whoever cannot write a call at all is looked at by the critic, and then by a person.
    pub(super) fn unreadable_call(&mut self, call: &ToolCall, problem: &str, cx: &mut Cx<'_>) {
        let known = self.offered.iter().find(|tool| tool.name == call.name);
        let form = known.map(|tool| {
            let schema: String = tool.schema.to_string().chars().take(FORM).collect();
            format!("\n`{}` takes one JSON object of this form: {schema}", tool.name)
        });
        let words = format!("{problem}{}", form.unwrap_or_default());
        self.answer_call(call, StepEnd::Err, &words, 0, cx);
        self.unwatched += 1;
        self.headway.unread += 1;
        let unread = self.headway.unread;
        if unread.is_multiple_of(UNREADABLE) {
            self.critic.at_once = true;
            let words = format!(
                "Your last {unread} calls could not be read, so nothing was done. The tools are all there: write the arguments \
                 as one valid JSON object. A long text is better written in several calls."
            );
            self.nudge(Nudge::Unreadable, words, cx);
        }
        if unread >= MOST_UNREADABLE {
            self.headway.unread = 0;
            return self.pause(&format!("The worker's last {unread} calls could not be read."), cx);
        }
        self.next_call(cx);
    }

    /// A person had a word: what was switched off may be tried again.
    pub(super) fn forgive(&mut self) {
        self.guard.forgive();
        self.headway.unread = 0;
    }

    /// The critic says that the worker has drifted. Returns what it is told of what came of it.
    pub(super) fn note_drift(&mut self, cx: &Cx<'_>) -> String {
        if self.is_driven(cx) {
            return self.drift_words().map_or_else(String::new, |words| format!("\n\n{words}"));
        }
        // It is broken off now, and its folder looked at before it goes on.
        self.headway.seen(self.tree.as_ref());
        self.headway.breaking = true;
        String::new()
    }

    /// The folder of a worker that was broken off because it had drifted.
    pub(super) fn note_drift_of_hands(&mut self, cx: &mut Cx<'_>) {
        if std::mem::take(&mut self.headway.breaking) {
            self.headway.seen(self.tree.as_ref());
            if let Some(words) = self.drift_words() {
                self.nudge(Nudge::Drift, words, cx);
            }
        }
    }

    /// Names what was changed since the critic looked last.
    fn drift_words(&mut self) -> Option<String> {
        let GoalHeadway { before, now, drifted, told, .. } = &mut self.headway;
        let new = now.iter().filter(|(path, content)| before.get(*path) != Some(*content));
        let new: Vec<String> = new.map(|(path, _)| path.clone()).collect();
        if new.is_empty() {
            return None;
        }
        drifted.extend(new.iter().cloned());
        *told = false;
        Some(format!(
            "Made or changed while you had drifted: {}. Take back what the goal does not need; it is not delivered unasked.",
            some_of(&new)
        ))
    }

    /// The criterion holds. What drift left is the worker's to take back first, and then a person's to decide about.
    pub(super) fn drift_aside(&mut self, checking: Checking, detail: String, cx: &mut Cx<'_>) {
        let delivered = self.tree.iter().flat_map(|tree| &tree.changes);
        let paths: Vec<String> =
            delivered.map(|c| c.path.clone()).filter(|path| self.headway.drifted.contains(path)).collect();
        if paths.is_empty() {
            return self.look_over(checking, detail, cx);
        }
        // At a cap nobody is left who could take them back.
        let is_claim = matches!(checking.why, CheckReason::Claim(_));
        if is_claim && !std::mem::replace(&mut self.headway.told, true) {
            return self.without_drift(&checking, &paths, cx);
        }
        let question = people::drift(&paths, &detail);
        self.ask(Asking::Drift { checking: Box::new(checking), detail, paths }, question, cx);
    }

    /// The worker takes them back and claims again.
    pub(super) fn without_drift(&mut self, checking: &Checking, paths: &[String], cx: &mut Cx<'_>) {
        self.headway.told = true;
        let words = format!(
            "The goal is met, but these files were made or changed while you had drifted from it: {}. Remove them, or put them \
             back as they were, and claim again. If the goal needs one of them, leave it and claim again: a person decides.",
            some_of(paths)
        );
        self.nudge(Nudge::Drift, words, cx);
        match checking.why {
            CheckReason::Claim(_) => self.after_claim(cx),
            CheckReason::First | CheckReason::Interval | CheckReason::Cap(_) => self.next_turn(cx),
        }
    }
}
