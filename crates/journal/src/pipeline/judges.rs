//! What is known of those who judge in a pipeline: the model behind each, and whether it judges at all.

use std::collections::{BTreeMap, BTreeSet};

use gadfly_engine::event::Happened;
use gadfly_engine::input::What;
use gadfly_engine::{AgentCard, Input, Reply, Step};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Judges {
    models: BTreeMap<String, String>,
    /// Their replies were ready before the work was, in a file that only the project names.
    canned: BTreeSet<String>,
}

impl Judges {
    pub fn follow(&mut self, input: &Input, step: &Step) {
        match &input.what {
            What::Started(start) => start.plan.agents.iter().for_each(|(name, card)| self.know(name, card)),
            What::Replied { reply: Reply::Done(answer), .. } => {
                let answering = step.events.iter().find_map(|event| match &event.what {
                    Happened::Charged { agent, .. } => Some(agent),
                    _ => None,
                });
                if let (Some(agent), Some(model)) = (answering, &answer.model) {
                    self.models.insert(agent.clone(), model.clone());
                }
            }
            _ => {}
        }
        for event in &step.events {
            if let Happened::AgentChanged { agent, card } = &event.what {
                self.know(agent, card);
            }
        }
    }

    fn know(&mut self, agent: &str, card: &AgentCard) {
        match &card.model {
            Some(model) => drop(self.models.insert(agent.to_owned(), model.clone())),
            None => drop(self.models.remove(agent)),
        }
        if card.is_canned() {
            self.canned.insert(agent.to_owned());
        } else {
            self.canned.remove(agent);
        }
    }

    pub fn model(&self, agent: &str) -> Option<String> {
        self.models.get(agent).cloned()
    }

    pub fn is_canned(&self, agent: &str) -> bool {
        self.canned.contains(agent)
    }
}
