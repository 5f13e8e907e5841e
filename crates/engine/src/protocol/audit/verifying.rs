//! Running the verify commands: once before anybody is paid, and on every tree a worker leaves behind. A
//! green run says something about exactly the tree it ran on.

use crate::event::EventKind;
use crate::machine::Cx;
use crate::tree::{Verified, Verify};
use crate::work::Work;

use super::briefs::Red;
use super::routes::Route;
use super::{AuditProtocol, Awaiting};

impl AuditProtocol {
    /// Verify commands are tried once before anybody is paid, so that their state is known.
    pub(super) fn try_out(&mut self, at: usize, cx: &mut Cx<'_>) {
        if !self.run_command(at, 1, false, cx) {
            return self.before_work(cx);
        }
        self.awaiting = Awaiting::Trial(at);
    }

    pub(super) fn tried(&mut self, at: usize, verified: &Verified, cx: &mut Cx<'_>) {
        self.tell_of_run(0, at, verified, cx);
        self.try_out(at + 1, cx);
    }

    pub(super) fn verify(&mut self, at: usize, cx: &mut Cx<'_>) {
        // In a fresh folder: what the worker built, or left where git does not look, proves nothing.
        if !self.run_command(at, self.settings.verify_runs, true, cx) {
            return self.judge(cx);
        }
        self.awaiting = Awaiting::Verify(at);
    }

    /// Runs the command of this index on the work; false if there is none.
    fn run_command(&self, at: usize, runs: u32, fresh: bool, cx: &mut Cx<'_>) -> bool {
        let tree = self.work.as_ref().map(Work::artifact);
        let (Some(command), Some(tree)) = (self.settings.verify.get(at), tree) else { return false };
        let (command, timeout_ms) = (command.clone(), self.settings.verify_timeout_ms);
        cx.verify(Verify { runs, fresh, ..Verify::new(command, tree, timeout_ms) });
        true
    }

    fn tell_of_run(&self, round: u32, at: usize, verified: &Verified, cx: &mut Cx<'_>) {
        let command = self.settings.verify.get(at).cloned().unwrap_or_default();
        let green = verified.is_green();
        cx.emit(EventKind::VerifyRan { round, command, green, verified: verified.clone() });
    }

    pub(super) fn verified(&mut self, at: usize, verified: Verified, cx: &mut Cx<'_>) {
        self.tell_of_run(self.round, at, &verified, cx);
        let command = self.settings.verify.get(at).cloned().unwrap_or_default();
        if verified.is_green() {
            self.verified.push((command, verified));
            return self.verify(at + 1, cx);
        }
        if let Some(work) = &self.work {
            self.lineage.pass_by(work.artifact());
        }
        let red = Red::of(command, &verified);
        let because = red.sentence();
        self.red = Some(red);
        if self.round >= self.cap {
            self.route(Route::Stuck, &because, cx);
            return self.ask(self.stuck(&because, &self.open), cx);
        }
        self.route(Route::Executor, &because, cx);
        self.begin_round(cx);
    }
}
