//! The agents of a run, by name: how each is reached, and the card the engine knows it by.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use gadfly_agents::{Agent, Network};
use gadfly_engine::AgentCard;
use gadfly_engine::tool::policy::OwnTools;

use crate::call_site::settings::ProgramSetting;
use crate::sandbox;

/// Shared by all runs that have it.
#[derive(Clone, Default)]
pub struct AgentSet(Arc<BTreeMap<String, AgentHandle>>);

#[derive(Clone)]
pub struct AgentHandle {
    pub card: AgentCard,
    /// None for a person, who is reached through the inbox.
    pub agent: Option<Arc<dyn Agent>>,
    pub needs: Needs,
}

/// What an agent that is a program needs of this machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Needs {
    /// What of the network its processes may use.
    pub network: Network,
    /// Folders of its own state. They are made before it is called: in a sandbox it could not make them.
    pub state: Vec<PathBuf>,
    /// What of its state is settings, which no call may change.
    pub settings: Vec<ProgramSetting>,
}

impl Default for Needs {
    fn default() -> Self {
        Self { network: Network::Out, state: Vec::new(), settings: Vec::new() }
    }
}

impl AgentSet {
    pub fn add(&mut self, name: impl Into<String>, card: AgentCard, agent: Option<Arc<dyn Agent>>) {
        self.add_program(name, card, agent, Needs::default());
    }

    pub fn add_program(
        &mut self,
        name: impl Into<String>,
        card: AgentCard,
        agent: Option<Arc<dyn Agent>>,
        needs: Needs,
    ) {
        Arc::make_mut(&mut self.0).insert(name.into(), AgentHandle { card, agent, needs });
    }

    /// Notes which configured agent a member is reached as, and what it is not offered.
    pub fn stand_in(&mut self, name: &str, configured: &str, withheld: &[String]) {
        if let Some(member) = Arc::make_mut(&mut self.0).get_mut(name) {
            member.card.reached_as = (name != configured).then(|| configured.to_owned());
            withheld.clone_into(&mut member.card.withheld);
        }
    }

    /// Who has tools of its own and cannot be held to some of them has all: refusing the work would help nobody.
    pub fn offer_all_if_unheld(&mut self, name: &str) {
        let Some(member) = Arc::make_mut(&mut self.0).get_mut(name) else { return };
        let own = OwnTools { denied: member.card.withheld.clone(), beyond: Vec::new() };
        let agent = member.agent.as_ref().filter(|_| !member.card.tools);
        if agent.is_some_and(|agent| sandbox::unheld(agent.as_ref(), &own).is_some()) {
            member.card.withheld.clear();
        }
    }

    pub fn extend(&mut self, other: Self) {
        Arc::make_mut(&mut self.0).extend(Arc::unwrap_or_clone(other.0));
    }

    pub fn get(&self, name: &str) -> Option<&AgentHandle> {
        self.0.get(name)
    }

    /// Whether somebody in it looks at files by itself.
    pub fn any_works_in_a_folder(&self) -> bool {
        self.0.values().any(|member| member.agent.as_ref().is_some_and(|agent| agent.works_in_a_folder()))
    }

    pub fn cards(&self) -> BTreeMap<String, AgentCard> {
        self.0.iter().map(|(name, m)| (name.clone(), m.card.clone())).collect()
    }
}
