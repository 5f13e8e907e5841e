//! The steps of a worker with tools of its own, as it tells them while it works: when one begins, and what came of it.
//! A step stands in the record once it has ended; one of which nothing more was told ends as unknown.

use super::steps::{OUTPUTS, keep_newest, preview};
use super::{GoalProtocol, Interruption};
use crate::brief::{one_line, some_of};
use crate::budget::{Account, Cap, Shortage};
use crate::digest::Digest;
use crate::goal::{ARGS, GoalStep, Nudge, StepEnd, cut};
use crate::machine::Cx;
use crate::tool::guard;
use crate::tool::shown::without_secrets;
use crate::tree::Tree;
use crate::turn::Role;

/// Steps that may be under way at once and are kept in mind.
const UNDER_WAY: usize = 64;

/// A step that has begun.
pub(super) struct OpenStep {
    /// The agent's name for it.
    call: String,
    line: String,
    at_ms: u64,
}

impl GoalProtocol {
    /// It has begun something, and says what in a line.
    pub(super) fn step_begun(&mut self, line: &str, call: Option<&str>, cx: &mut Cx<'_>) {
        self.steps_of_turn += 1;
        let line = cut(&without_secrets(&one_line(line)), ARGS);
        let args = as_command(&line);
        let block = self.guard.before("run_command", &args);
        let Some(call) = call else {
            return self.step_over(line, (StepEnd::Unknown, ""), 0, cx);
        };
        if self.begun.len() >= UNDER_WAY {
            let oldest = self.begun.remove(0);
            self.step_over(oldest.line, (StepEnd::Unknown, ""), 0, cx);
        }
        let at_ms = cx.spent().0.active_ms;
        self.begun.push(OpenStep { call: call.to_owned(), line: line.clone(), at_ms });
        if let Some(block) = block {
            self.in_a_circle(&line, block.halt, cx);
        }
    }

    /// It says what came of a step.
    pub(super) fn step_ended(&mut self, call: &str, end: StepEnd, said: &str, cx: &mut Cx<'_>) {
        let Some(at) = self.begun.iter().position(|begun| begun.call == call) else { return };
        let OpenStep { line, at_ms, .. } = self.begun.remove(at);
        let took_ms = cx.spent().0.active_ms.saturating_sub(at_ms);
        let result = guard::result_of(&format!("{}\n{said}", end.name()));
        self.guard.after("run_command", &as_command(&line), result, false);
        if !said.trim().is_empty() {
            let text = cx.intern(said.to_owned());
            self.outputs.push_back((line.clone(), text));
            keep_newest(&mut self.outputs, OUTPUTS);
        }
        self.step_over(line, (end, said), took_ms, cx);
    }

    /// Its call is over: what it began and never spoke of again is unknown.
    pub(super) fn leave_unknown(&mut self, cx: &mut Cx<'_>) {
        for OpenStep { line, .. } in std::mem::take(&mut self.begun) {
            self.enter_step(line, (StepEnd::Unknown, "nothing was told of how it ended"), 0, cx);
        }
    }

    fn enter_step(&mut self, args: String, (end, said): (StepEnd, &str), took_ms: u64, cx: &mut Cx<'_>) {
        let tool = self.settings.worker.clone();
        self.took_step(GoalStep { n: 0, tool, args, end, preview: preview(said), took_ms }, cx);
        self.unwatched += 1;
    }

    /// Enters a step while the worker goes on: caps hold within a turn, and the critic looks beside it.
    fn step_over(&mut self, args: String, came: (StepEnd, &str), took_ms: u64, cx: &mut Cx<'_>) {
        self.enter_step(args, came, took_ms, cx);
        let limit = cx.spent().1.steps.unwrap_or(super::settings::STEPS);
        if self.n >= limit {
            let (limit, committed) = (u64::from(limit), u64::from(self.n));
            let account = Account::Run;
            let shortage = Shortage { account, cap: Cap::Steps, limit, committed, wanted: 1 };
            return self.interrupt(Interruption::Cap(shortage), cx);
        }
        if !self.critic.asked && self.is_critics_turn() && self.interrupting.is_none() {
            self.ask_critic(cx);
        }
    }

    /// It does again what has brought the same result again and again. Nobody stands before its tools, so it is broken
    /// off and told; who does not listen is stopped.
    fn in_a_circle(&mut self, line: &str, halt: bool, cx: &mut Cx<'_>) {
        if !self.critic.blocked_before {
            (self.critic.blocked_before, self.critic.at_once) = (true, true);
        }
        if halt {
            self.halted = true;
            return self.interrupt(Interruption::Halt, cx);
        }
        if self.interrupting.is_some() {
            return;
        }
        let words = format!(
            "You went round in a circle: this step was made again and again, each time with the same result:\n- {line}\n\nIt \
             would bring nothing new. Change something first, or take another way. {}",
            super::watching::NO_IDEA_LEFT
        );
        self.nudge(Nudge::Stuck, words, cx);
        self.interrupt(Interruption::Words, cx);
    }

    /// A worker that tells nothing of its steps has not only talked if its folder is another one than before.
    pub(super) fn note_silent_work(&mut self, before: Option<Digest>, cx: &mut Cx<'_>) {
        let is_new = |tree: &&Tree| before.is_some_and(|before| before != tree.digest);
        let Some(tree) = self.tree.as_ref().filter(is_new).filter(|_| self.steps_of_turn == 0) else {
            return;
        };
        let paths: Vec<String> = tree.changes.iter().map(|change| change.path.clone()).collect();
        let args = if paths.is_empty() {
            "took its changes back".to_owned()
        } else {
            cut(&format!("changed so far: {}", one_line(&some_of(&paths))), ARGS)
        };
        self.only_talk = 0;
        self.enter_step(args, (StepEnd::Ok, "as its folder shows"), 0, cx);
    }

    /// Breaks a worker with tools of its own off; what follows comes when it has ended.
    pub(super) fn interrupt(&mut self, why: Interruption, cx: &mut Cx<'_>) {
        let stronger = matches!(self.interrupting, None | Some(Interruption::Words));
        if stronger {
            self.interrupting = Some(why);
        }
        if let Some(worker) = cx.at_work(Role::Worker) {
            cx.cancel(&worker);
        }
    }
}

/// A step as the guard knows commands: `Bash: sleep 5` waits as `sleep 5` does.
fn as_command(line: &str) -> String {
    let told = line.split_once(": ").map_or(line, |(_, told)| told);
    serde_json::json!({ "command": told, "step": line }).to_string()
}
