//! A criterion that holds counts only if it holds because of the work: what the change did to tests, to how they are run
//! and to other files the goal is judged by is found out first, and a person says whether it may stand.

use super::GoalProtocol;
use super::people::{self, Asking};
use super::verifying::Checking;
use crate::effect::EffectKind;
use crate::event::EventKind;
use crate::finding::Finding;
use crate::machine::Cx;
use crate::tree::{Examine, Examined};

impl GoalProtocol {
    /// The criterion holds on the state that was looked at.
    pub(super) fn examine(&mut self, mut checking: Checking, detail: String, cx: &mut Cx<'_>) {
        let Some(tree) = self.tree.as_ref().map(|tree| tree.digest).filter(|_| self.settings.examine) else {
            return self.weigh(checking, detail, &Examined::default(), cx);
        };
        checking.holds = Some(detail);
        let effect = checking.task(EffectKind::Examine(Examine { tree }), cx);
        self.await_check(effect, checking);
    }

    pub(super) fn examined(&mut self, mut checking: Checking, examined: &Examined, cx: &mut Cx<'_>) {
        let Some(detail) = checking.holds.take() else { return self.check_next(checking, cx) };
        self.weigh(checking, detail, examined, cx);
    }

    /// Files that were read are judged by what was found in them, all others by their being changed.
    fn weigh(&mut self, checking: Checking, detail: String, examined: &Examined, cx: &mut Cx<'_>) {
        let changes = self.tree.as_ref().map_or(&[][..], |tree| &tree.changes);
        let mut paths = self.protected.changed(changes);
        paths.retain(|path| self.protected.is_its_own(path) || !examined.read.contains(path));
        let findings = examined.findings.clone();
        if paths.is_empty() && findings.is_empty() {
            return self.drift_aside(checking, detail, cx);
        }
        cx.emit(EventKind::ProtectedChanged { paths: paths.clone(), findings: findings.clone() });
        let question = people::protected(&paths, &findings, &detail);
        self.ask(Asking::Protected { checking: Box::new(checking), detail, findings }, question, cx);
    }

    /// A person lets it stand, and says why.
    pub(super) fn waive(
        &mut self,
        checking: Checking,
        findings: &[Finding],
        detail: String,
        why: &str,
        by: &str,
        cx: &mut Cx<'_>,
    ) {
        self.notes.extend(findings.iter().map(|f| format!("waived by {by}: {}", f.line())));
        let findings = findings.iter().map(Finding::line).collect();
        cx.emit(EventKind::Waived { findings, reason: why.to_owned(), by: by.to_owned() });
        self.drift_aside(checking, detail, cx);
    }
}
