//! The commands of a criterion. One that fails where it matters is run once more: what fails and then passes is flaky, and
//! never counts as passed. What passes in the worker's folder is run in a fresh one too, made of exactly what would be
//! delivered: what the worker built, or left where git does not look, decides nothing.

use super::people::{self, Asking};
use super::trying::could_run;
use super::verifying::{CheckReason, Checking, tail};
use super::{Criterion, GoalProtocol};
use crate::brief::one_line;
use crate::effect::EffectKind;
use crate::event::EventKind;
use crate::goal::CriterionTrial;
use crate::machine::Cx;
use crate::tool::Risk;
use crate::tree::{HeldCommand, RunEnd, Verified, Verify};

/// The commands that are run in a fresh folder, by the place of their leaf in the criterion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FreshCommands {
    at: usize,
    left: Vec<usize>,
    /// What holds in the worker's folder.
    detail: String,
}

const EVIDENCE: &str = ", evidence: ";

/// What is said of a command that passed, with the digests of its evidence: they bind it to this very run.
fn passed(line: &str, exit_code: i32, verified: &Verified) -> String {
    let evidence = verified.evidence.iter();
    let evidence: Vec<String> =
        evidence.map(|e| format!("{} ({} bytes, {})", e.path, e.bytes, e.digest.short())).collect();
    let evidence =
        if evidence.is_empty() { String::new() } else { format!("{EVIDENCE}{}", evidence.join(", ")) };
    format!("`{line}` exits with {exit_code}{evidence}")
}

impl GoalProtocol {
    pub(super) fn run_command(
        &mut self,
        checking: Checking,
        command: String,
        timeout_ms: u64,
        cx: &mut Cx<'_>,
    ) {
        let Some(tree) = self.tree.as_ref().map(|tree| tree.digest) else { return };
        let held = Some(HeldCommand { network: self.settings.policy.risk >= Risk::NetworkWrite });
        // In the worker's folder anybody could have put it there; in place there is no other.
        let counts = checking.fresh.is_some() || self.settings.acceptance.is_none();
        let evidence = match self.command_of(&checking) {
            Some(Criterion::Shell { evidence, .. }) if counts => evidence,
            _ => Vec::new(),
        };
        let fresh = checking.fresh.is_some();
        let verify = Verify { command, tree, runs: 1, timeout_ms, held, fresh, evidence };
        let effect = checking.task(EffectKind::Verify(verify), cx);
        self.await_check(effect, checking);
    }

    /// The command that is being run.
    fn command_of(&self, checking: &Checking) -> Option<Criterion> {
        match &checking.fresh {
            Some(fresh) => self.settings.until.leaves().get(fresh.at).map(|leaf| (*leaf).clone()),
            None => self.leaf(checking),
        }
    }

    /// A command of the criterion ended.
    pub(super) fn command_ran(&mut self, mut checking: Checking, verified: &Verified, cx: &mut Cx<'_>) {
        let Some(leaf @ Criterion::Shell { .. }) = self.command_of(&checking) else { return };
        let Criterion::Shell { command, exit_code, timeout_ms, evidence } = leaf else { return };
        let line = one_line(&command);
        let Some(run) = verified.runs.last() else {
            return self.command_is_known(checking, Err(format!("`{line}` did not run")), cx);
        };
        self.printed(&line, run.output);
        if checking.fresh.is_none() {
            self.check_took_ms = self.check_took_ms.map(|took| took.saturating_add(run.took_ms));
        }
        if run.end == RunEnd::Code(exit_code) {
            if let Some(failure) = checking.failed_once.take() {
                let detail = format!(
                    "`{line}` is flaky: run twice on the same files, it failed and then passed. {failure}"
                );
                return self.is_flaky(checking, detail, cx);
            }
            let left = |path: &&String| verified.evidence.iter().all(|left| left.path != **path);
            let counts = checking.fresh.is_some() || self.settings.acceptance.is_none();
            let result = match evidence.iter().find(left).filter(|_| counts) {
                Some(path) => Err(format!(
                    "`{line}` exits with {exit_code}, but did not write {path}, which is wanted as evidence"
                )),
                None => Ok(passed(&line, exit_code, verified)),
            };
            return self.command_is_known(checking, result, cx);
        }
        let can_run = could_run(verified, cx.text(&run.output));
        checking.could_not_run |= !can_run;
        let printed = match tail(cx.text(&run.output)) {
            nothing if nothing.trim().is_empty() => "It printed nothing.".to_owned(),
            tail => format!("Its output ends:\n{tail}"),
        };
        let failure = format!("`{line}`: {}, wanted exit code {exit_code}. {printed}", run.end);
        let matters =
            matches!(checking.why, CheckReason::Claim(_) | CheckReason::Cap(_)) || checking.fresh.is_some();
        // What takes too long takes as long once more.
        if matters && can_run && run.end != RunEnd::TimedOut && checking.failed_once.is_none() {
            checking.failed_once = Some(failure);
            return self.run_command(checking, command, timeout_ms, cx);
        }
        checking.failed_once = None;
        self.command_is_known(checking, Err(failure), cx);
    }

    fn command_is_known(&mut self, mut checking: Checking, result: Result<String, String>, cx: &mut Cx<'_>) {
        let Some(fresh) = checking.fresh.take() else { return self.learned_of(checking, result, cx) };
        match result {
            // With its evidence, if any was wanted.
            Ok(detail) if detail.contains(EVIDENCE) => {
                let detail = format!("{}; {detail}", fresh.detail);
                self.check_fresh(checking, fresh.left, detail, cx);
            }
            Ok(_) => self.check_fresh(checking, fresh.left, fresh.detail, cx),
            Err(detail) => {
                let detail = format!(
                    "it holds in the folder that was worked in, and not in a fresh one made of exactly what would be \
                     delivered (without what git ignores): {detail}"
                );
                match checking.why {
                    CheckReason::Cap(_) => self.is_not_met(checking, detail, cx),
                    CheckReason::Claim(_) | CheckReason::First | CheckReason::Interval => {
                        self.does_not_hold(&checking, &detail, cx);
                    }
                }
            }
        }
    }

    /// The criterion holds in the worker's folder.
    pub(super) fn holds_here(&mut self, checking: Checking, detail: String, cx: &mut Cx<'_>) {
        let passed = |at: &usize| checking.known.get(*at).is_some_and(Result::is_ok);
        let commands = self.settings.until.leaves().into_iter().enumerate();
        let commands = commands.filter(|(_, leaf)| matches!(leaf, Criterion::Shell { .. })).map(|(at, _)| at);
        // In place nothing is delivered: the user's own folder is what counts.
        let delivered = self.settings.acceptance.is_some();
        let left = commands.filter(passed).filter(|_| delivered).collect();
        self.check_fresh(checking, left, detail, cx);
    }

    fn check_fresh(&mut self, mut checking: Checking, mut left: Vec<usize>, detail: String, cx: &mut Cx<'_>) {
        if left.is_empty() {
            return self.holds(checking, detail, cx);
        }
        let at = left.remove(0);
        let leaf = self.settings.until.leaves().get(at).map(|leaf| (*leaf).clone());
        let Some(Criterion::Shell { command, timeout_ms, .. }) = leaf else { return };
        checking.fresh = Some(FreshCommands { at, left, detail });
        self.run_command(checking, command, timeout_ms, cx);
    }

    /// Neither passed nor failed: only a person can say what that means.
    fn is_flaky(&mut self, checking: Checking, detail: String, cx: &mut Cx<'_>) {
        cx.emit(EventKind::CriterionTried { found: CriterionTrial::Flaky, detail: detail.clone() });
        match checking.why {
            CheckReason::Cap(then) => self.have_last_words(then, cx),
            CheckReason::Claim(_) | CheckReason::First | CheckReason::Interval => {
                let question = people::flaky(&detail);
                self.ask(Asking::Flaky { checking: Box::new(checking), detail }, question, cx);
            }
        }
    }
}
