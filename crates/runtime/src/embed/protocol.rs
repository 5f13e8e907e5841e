//! Protocols of the embedding program's own: any rule book, with its settings and agents.

use gadfly_engine::Text;
use gadfly_engine::plan::NodePlan;
use gadfly_engine::protocol::{Protocols, RuleBook};
use serde::Serialize;

use super::planning::{PlanDraft, PlansRun, RunOptions, unwritable};
use super::{OwnAgent, RunBuilder, RunError};

/// A protocol that the embedding program wrote.
#[derive(Clone)]
pub struct OwnProtocol {
    book: RuleBook,
    settings: serde_json::Value,
    texts: Vec<Text>,
}

impl RunBuilder<OwnProtocol> {
    /// A run by a rule book of the program's own. Its settings name the agents; bring each with
    /// [`agent`](RunBuilder::agent), and the texts they name by digest with [`text`](RunBuilder::text).
    pub fn protocol(
        book: RuleBook,
        settings: impl Serialize,
        title: impl Into<String>,
    ) -> Result<Self, RunError> {
        let settings = serde_json::to_value(settings).map_err(|e| RunError::Plan(unwritable(&e)))?;
        let protocol = OwnProtocol { book, settings, texts: Vec::new() };
        Ok(Self::of(protocol, title.into(), gadfly_project::config::loop_default()))
    }

    /// An agent, by the name that the protocol's settings have for it.
    pub fn agent(self, name: &str, agent: impl Into<OwnAgent>) -> Self {
        self.seat(name, agent)
    }

    /// A text of the user's that the settings name by its digest.
    pub fn text(mut self, text: Text) -> Self {
        self.protocol.texts.push(text);
        self
    }
}

impl PlansRun for OwnProtocol {
    fn node_plan(&self, options: &RunOptions, draft: &mut PlanDraft) -> Result<NodePlan, String> {
        draft.texts.extend(self.texts.iter().cloned());
        let (protocol, version) = (self.book.name.to_owned(), self.book.version);
        Ok(NodePlan { protocol, version, limits: options.limits, settings: self.settings.clone() })
    }

    fn protocols(&self) -> Protocols {
        Protocols::shipped().with(self.book)
    }
}
