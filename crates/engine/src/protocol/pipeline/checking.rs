//! Commands on the project as it is: those of the gate, and the hooks before a commit. One that does not end as it should
//! closes what it stands before.

use super::PipelineProtocol;
use crate::digest::Digest;
use crate::event::EventKind;
use crate::machine::Cx;
use crate::outcome::Halt;
use crate::pipeline::event::PipelineEvent;
use crate::tree::{Look, Looked, RunEnd, Verified, Verify};

/// Time for one command of a gate.
const GATE_MS: u64 = 10 * 60_000;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CheckPurpose {
    Gate,
    Commit,
}

/// Commands under way.
pub(super) struct Checks {
    purpose: CheckPurpose,
    commands: Vec<One>,
    at: usize,
    tree: Option<Digest>,
}

struct One {
    line: String,
    timeout_ms: u64,
    /// The exit code that passes.
    exit: i32,
}

impl PipelineProtocol {
    /// Runs what stands before this; without any command it goes on at once.
    pub(super) fn check(&mut self, purpose: CheckPurpose, cx: &mut Cx<'_>) {
        let commands: Vec<One> = match purpose {
            CheckPurpose::Gate => {
                let commands = self.settings.gate.commands.iter();
                commands.map(|c| One { line: c.command.clone(), timeout_ms: GATE_MS, exit: c.exit }).collect()
            }
            CheckPurpose::Commit => {
                let hooks = self.settings.hooks.pre_commit.iter();
                hooks.map(|h| One { line: h.line.clone(), timeout_ms: h.timeout_ms, exit: 0 }).collect()
            }
        };
        if commands.is_empty() {
            return self.pass(purpose, cx);
        }
        self.checks = Some(Checks { purpose, commands, at: 0, tree: None });
        cx.look(Look { tree: None, paths: Vec::new() });
    }

    fn pass(&mut self, purpose: CheckPurpose, cx: &mut Cx<'_>) {
        match purpose {
            CheckPurpose::Gate => self.opened(cx),
            CheckPurpose::Commit => self.commit(cx),
        }
    }

    pub(super) fn looked(&mut self, looked: &Looked, cx: &mut Cx<'_>) {
        if let Some(checks) = &mut self.checks {
            checks.tree = looked.tree.as_ref().map(|tree| tree.digest);
        }
        self.next_check(cx);
    }

    fn next_check(&mut self, cx: &mut Cx<'_>) {
        let Some(checks) = &self.checks else { return };
        let (Some(one), Some(tree)) = (checks.commands.get(checks.at), checks.tree) else {
            let purpose = checks.purpose;
            self.checks = None;
            return self.pass(purpose, cx);
        };
        cx.verify(Verify::new(one.line.clone(), tree, one.timeout_ms));
    }

    pub(super) fn checked(&mut self, verified: &Verified, cx: &mut Cx<'_>) {
        let Some(checks) = &mut self.checks else { return };
        let Some(one) = checks.commands.get(checks.at) else { return };
        let end = verified.runs.last().map(|run| run.end);
        let (passed, command, purpose) =
            (end == Some(RunEnd::Code(one.exit)), one.line.clone(), checks.purpose);
        checks.at += 1;
        let hook = match purpose {
            CheckPurpose::Gate => format!("gate {}", self.settings.gate.name),
            CheckPurpose::Commit => "pre-commit".to_owned(),
        };
        let ran = PipelineEvent::HookRan {
            hook,
            command: command.clone(),
            green: passed,
            verified: verified.clone(),
        };
        cx.emit(EventKind::Pipeline(ran));
        if passed {
            return self.next_check(cx);
        }
        self.checks = None;
        let end = end.map_or_else(|| "it did not run".to_owned(), |end| end.to_string());
        match purpose {
            CheckPurpose::Gate => {
                let mut report = self.report();
                report.blocking.push(format!("the gate's command `{command}` failed: {end}"));
                self.closed(&report, cx);
            }
            CheckPurpose::Commit => {
                let open =
                    vec![format!("the pre-commit hook `{command}` failed ({end}); nothing was committed")];
                self.end_short(Halt::Guard, open, cx);
            }
        }
    }
}
