//! What is known of those who judge in a pipeline: what kind of agent each is, the model behind it, and whose files name
//! it.

use std::collections::BTreeMap;
use std::fmt;

use gadfly_engine::event::EventKind;
use gadfly_engine::input::InputKind;
use gadfly_engine::plan::{NamedBy, is_canned};
use gadfly_engine::{AgentCard, Input, Reply, Step};
use serde::{Deserialize, Serialize};

/// Who gave a verdict.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct VerdictJudge {
    /// The kind of agent, as a configuration names it; empty if nobody recorded it.
    #[serde(default)]
    pub kind: String,
    /// The model behind it, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Whose files say what it is.
    #[serde(default)]
    pub layer: NamedBy,
}

impl VerdictJudge {
    /// Nobody judged: the reply was ready before the work was, in a file that only the project names.
    pub fn is_canned(&self) -> bool {
        is_canned(&self.kind, self.layer)
    }
}

/// For people: `anthropic claude-sonnet-4-5, named by the user`.
impl fmt::Display for VerdictJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind.is_empty() { "an agent of unknown kind" } else { &self.kind };
        let by = match self.layer {
            NamedBy::Program => "built-in",
            NamedBy::User => "named by the user",
            NamedBy::Project => "named by the project",
        };
        match &self.model {
            Some(model) => write!(f, "{kind} {model}, {by}"),
            None => write!(f, "{kind}, {by}"),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judges(BTreeMap<String, VerdictJudge>);

impl Judges {
    pub fn follow(&mut self, input: &Input, step: &Step) {
        match &input.what {
            InputKind::Started(start) => {
                start.plan.agents.iter().for_each(|(name, card)| self.know(name, card));
            }
            InputKind::Replied { reply: Reply::Done(answer), .. } => {
                let answering = step.events.iter().find_map(|event| match &event.what {
                    EventKind::Charged { agent, .. } => Some(agent),
                    _ => None,
                });
                if let (Some(agent), Some(model)) = (answering, &answer.model) {
                    self.0.entry(agent.clone()).or_default().model = Some(model.clone());
                }
            }
            _ => {}
        }
        for event in &step.events {
            if let EventKind::AgentChanged { agent, card } = &event.what {
                self.know(agent, card);
            }
        }
    }

    fn know(&mut self, agent: &str, card: &AgentCard) {
        let judge = VerdictJudge { kind: card.kind.clone(), model: card.model.clone(), layer: card.named_by };
        self.0.insert(agent.to_owned(), judge);
    }

    pub fn judge(&self, agent: &str) -> VerdictJudge {
        self.0.get(agent).cloned().unwrap_or_default()
    }
}
