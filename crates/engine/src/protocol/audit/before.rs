//! Before the first round: who says how the task should be built, and who writes its tests. Their work is part of what the
//! executor begins with; the tests are in scope, and whoever works later may not change them unseen.

use crate::blocks::Blocks;
use crate::digest::Digest;
use crate::finding::{ENGINE, Finding, Location, Severity};
use crate::machine::{Cx, WorkerCall};
use crate::tree::{Change, Tree};
use crate::work::Work;

use super::checks::scope::AuditScope;
use super::checks::test_files::is_test_file;
use super::routes::SILENCED_FAILURE;
use super::{AuditProtocol, AuditSettings, Awaiting};

const ARCHITECT: &str = include_str!("../../prompts/audit-architect-1.md");
const TEST_WRITER: &str = include_str!("../../prompts/audit-test-writer-1.md");

/// Those who have not been asked yet, and the tests that were written first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Before {
    architect: Option<String>,
    test_writer: Option<String>,
    /// By path, as the test writer left them.
    tests: Vec<(String, Digest)>,
}

impl Before {
    pub fn of(settings: &AuditSettings) -> Self {
        let (architect, test_writer) = (settings.architect.clone(), settings.test_writer.clone());
        Self { architect, test_writer, tests: Vec::new() }
    }
}

impl AuditProtocol {
    /// One after the other, then round 1.
    pub(super) fn before_work(&mut self, cx: &mut Cx<'_>) {
        if let Some(architect) = self.before_first.architect.take() {
            self.awaiting = Awaiting::Architect;
            return self.call_before(&architect, ARCHITECT, true, cx);
        }
        if let Some(writer) = self.before_first.test_writer.take() {
            self.awaiting = Awaiting::TestWriter;
            return self.call_before(&writer, TEST_WRITER, false, cx);
        }
        self.begin_round(cx);
    }

    fn call_before(&mut self, agent: &str, template: &'static str, advice: bool, cx: &mut Cx<'_>) {
        let template = cx.intern(template);
        let (task, rubric) = (self.task(cx), self.rubric(cx));
        let message = Blocks::of(template)
            .references(&self.settings.references)
            .references(&self.research)
            .line("Task id", &self.settings.task_id)
            .block("Task", task)
            .block("What it is judged by", rubric)
            .list("Verify commands", &self.settings.verify)
            .message();
        let tree = self.work.as_ref().map(Work::artifact);
        cx.call(WorkerCall { agent, messages: vec![message], tree, advice, tag: 0 });
    }

    /// The tests are part of the task from now on.
    pub(super) fn tests_written(&mut self, tree: Tree, cx: &mut Cx<'_>) {
        let written = |change: &Change| Some((change.path.clone(), change.after?));
        let tests = tree.changes.iter().filter(|change| is_test_file(&change.path));
        self.before_first.tests = tests.filter_map(written).collect();
        if !self.settings.scope.is_empty() {
            let paths = self.before_first.tests.iter().map(|(path, _)| format!("/{path}"));
            self.settings.scope.extend(paths);
            self.scope = AuditScope::new(&self.settings.scope);
        }
        let names: Vec<&str> = self.before_first.tests.iter().map(|(path, _)| path.as_str()).collect();
        if !names.is_empty() {
            let said =
                "Tests for this task were written before it; make them pass and leave them as they are";
            self.said.push(format!("{said}: {}", names.join(", ")));
        }
        self.work = Some(Work::Tree(tree));
        self.before_work(cx);
    }

    /// Tests that were written first and are not as they were.
    pub(super) fn changed_tests(&self, changes: &[Change]) -> Vec<Finding> {
        let now =
            |path: &str| changes.iter().find(|change| change.path == path).and_then(|change| change.after);
        let of_its_own = self.before_first.tests.iter();
        of_its_own
            .filter(|(path, digest)| now(path) != Some(*digest))
            .map(|(path, _)| {
                let says = "A test that was written for this task before the work was changed by it.";
                let mut finding = Finding::new(SILENCED_FAILURE, Severity::Fail, says, ENGINE);
                finding.place = Some(Location { path: path.clone(), line: None, end: None });
                finding.fix = "Put the test back as it was and mend the work.".into();
                finding
            })
            .collect()
    }
}
