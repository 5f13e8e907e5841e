//! A pipeline as the files of its project tell it: the view of its run, with its history.

use super::receipt::Receipt;
use crate::view::{AgentRow, FiledAgent, GivenVerdict, PipelineHistory, PipelineView, RunView};

#[derive(Clone, Copy, Debug)]
pub struct ProjectView<'a> {
    pub run: &'a RunView,
    pub pipeline: &'a PipelineView,
    pub history: &'a PipelineHistory,
}

impl RunView {
    /// None if it is no pipeline, or its history was not kept.
    pub fn project(&self) -> Option<ProjectView<'_>> {
        let pipeline = self.pipeline.as_ref()?;
        Some(ProjectView { run: self, pipeline, history: pipeline.history.as_deref()? })
    }

    /// Whether the last record changed something that the project's files show.
    pub fn changes_files(&self) -> bool {
        self.project().is_some_and(|project| project.history.changed)
    }
}

impl<'a> ProjectView<'a> {
    pub fn agents(self) -> impl Iterator<Item = FiledAgent<'a>> {
        self.pipeline.agents.iter().map(move |row: &AgentRow| self.history.filed(row))
    }

    pub fn agent(self, name: &str) -> Option<FiledAgent<'a>> {
        self.agents().find(|agent| agent.agent == name)
    }

    /// Who stands in the way, in one line; none while the pipeline goes on by itself.
    pub fn blocked_by(self) -> Option<String> {
        self.history.blocked_by(&self.pipeline.agents, self.run.outcome.is_some())
    }

    /// The sum that the gate was last asked about, as text.
    pub fn overall(self) -> Option<String> {
        let overall = self.pipeline.gate.as_ref()?.aggregate.overall?;
        Some(format!("{overall}/100"))
    }

    /// The receipts of its verdicts, the newest of each agent.
    pub fn receipts(self) -> Vec<Receipt> {
        // Ready-made replies are no verdict that anybody else should go by.
        let all = self.history.verdicts.iter();
        let judged: Vec<_> = all.filter(|given| !given.judge.is_canned()).collect();
        let is_newest = |at: usize, given: &GivenVerdict| {
            !judged[at + 1..].iter().any(|other| other.verdict.agent == given.verdict.agent)
        };
        let newest = judged.iter().enumerate().filter(|(at, given)| is_newest(*at, given));
        let (run, rules) = (&self.run.summary.run, self.history.rules);
        newest.map(|(_, given)| Receipt::new(run, rules, given)).collect()
    }
}
