//! What a goal was set to: frozen with the plan.

use serde::{Deserialize, Serialize};

use super::criterion::Criterion;
use crate::brief::Reference;
use crate::digest::Digest;
use crate::goal::Already;
use crate::manifest::{Contact, Job, Purpose, RunManifest};
use crate::plan::NodePlan;
use crate::tool::Risk;
use crate::tree::Acceptance;

/// Steps from one look of the critic to the next, if nobody says.
pub const INTERVAL: u32 = 5;
/// The most steps, and turns, of a goal, if nobody says.
pub const STEPS: u32 = 300;
pub const TURNS: u32 = 400;
/// The most active time, in minutes, if nobody says.
pub const MINUTES: u64 = 60;
/// How long a command of a success criterion may take, if nobody says.
pub const CHECK_TIMEOUT_MS: u64 = 600_000;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GoalSettings {
    pub goal: Digest,
    pub worker: String,
    /// Who watches; none if nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<String>,
    pub interval: u32,
    /// A critic that cannot be read or reached stops the goal, in place of being left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict_critic: bool,
    /// Who answers `judge` and `vision` criteria; else the critic, else the worker's model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
    pub until: Criterion,
    pub policy: Policy,
    /// Files by which the goal is judged: patterns like those of `.gitignore`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protect: Vec<String>,
    /// Test files are among them, by the usual names of the language.
    pub protect_tests: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// Servers whose tools the worker is offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ToolServer>,
    /// Where the worker works, absolute: a path below it is the worker's own.
    #[serde(default)]
    pub root: String,
    /// Where the project lies below the top of the worker's tree.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub below: String,
    /// The kernel holds the worker's commands to its folder. If not, commands that name other places are asked about.
    pub held: bool,
    /// What follows if the criterion holds before anything was done. None: it is tried only when somebody claims it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub already: Option<Already>,
    /// What a change does to tests is found out before it counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub examine: bool,
    /// How the work gets to the user; none if it is done in place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acceptance: Option<Acceptance>,
}

/// The longest interval of a critic.
const LONGEST_INTERVAL: u32 = 1000;

impl GoalSettings {
    /// What is wrong with them.
    pub fn problem(&self) -> Option<String> {
        if self.interval > LONGEST_INTERVAL {
            return Some(format!(
                "the critic's interval is {}, at most {LONGEST_INTERVAL} are possible",
                self.interval
            ));
        }
        self.until.problem()
    }

    pub(super) fn read(plan: &NodePlan) -> Result<Self, String> {
        Self::deserialize(&plan.settings).map_err(|e| format!("the settings of `goal` cannot be read: {e}"))
    }

    pub(super) fn manifest(self) -> RunManifest {
        let leaves = self.until.leaves();
        let commands = leaves.iter().filter_map(|leaf| match leaf {
            Criterion::Shell { command, .. } | Criterion::Vision { command, .. } => Some(command),
            _ => None,
        });
        let urls = leaves.iter().filter_map(|leaf| match leaf {
            Criterion::Http { url, .. } => Some(Contact::Url(url.clone())),
            _ => None,
        });
        let servers = self.servers.iter().map(|server| Contact::Server(server.name.clone()));
        RunManifest {
            task: Some(self.goal),
            criteria: vec![self.until.humanised()],
            contacts: urls.chain(servers).collect(),
            risk: Some(self.policy.risk),
            root: Some(self.root).filter(|root| !root.is_empty()),
            ..RunManifest::default()
        }
        .sit(Job::Worker, Some(&self.worker))
        .sit(Job::Critic, self.critic.as_deref())
        .sit(Job::Judge, self.judge.as_deref())
        .running(&Purpose::Until, commands)
    }

    /// Who answers `judge` and `vision` criteria.
    pub fn judge(&self) -> &str {
        self.judge.as_deref().or(self.critic.as_deref()).unwrap_or(&self.worker)
    }
}

/// What may be done for a goal without asking.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Policy {
    pub risk: Risk,
    /// Tools that are never used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Tools that may be used; all if there are none here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
}

/// A server of tools the user configured. A tool of it is called `server__tool`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ToolServer {
    pub name: String,
    /// What using any of its tools counts as.
    pub risk: Risk,
}
