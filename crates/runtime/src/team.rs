//! The agents of a run, by name: how each is reached, and the card the engine knows it by.

use std::collections::BTreeMap;
use std::sync::Arc;

use gadfly_agents::Agent;
use gadfly_engine::AgentCard;

#[derive(Clone, Default)]
pub struct Team(BTreeMap<String, Member>);

#[derive(Clone)]
pub struct Member {
    pub card: AgentCard,
    /// None for a person, who is reached through the inbox.
    pub agent: Option<Arc<dyn Agent>>,
}

impl Team {
    pub fn add(&mut self, name: impl Into<String>, card: AgentCard, agent: Option<Arc<dyn Agent>>) {
        self.0.insert(name.into(), Member { card, agent });
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub fn get(&self, name: &str) -> Option<&Member> {
        self.0.get(name)
    }

    pub fn cards(&self) -> BTreeMap<String, AgentCard> {
        self.0.iter().map(|(name, m)| (name.clone(), m.card.clone())).collect()
    }
}
