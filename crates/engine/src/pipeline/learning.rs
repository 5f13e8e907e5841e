//! What a project could learn from a run: patterns the engine sees in its own record. Nothing is applied by itself.

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suggestion {
    pub tag: Tag,
    pub agent: String,
    /// What was seen.
    pub text: String,
    /// What could be done about it.
    pub action: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE")]
pub enum Tag {
    /// At least 90 on the first pass.
    HighPerf,
    /// Three strikes.
    Friction,
    /// A person had to decide.
    Escalation,
}

impl Tag {
    pub const fn name(self) -> &'static str {
        match self {
            Self::HighPerf => "HIGH-PERF",
            Self::Friction => "FRICTION",
            Self::Escalation => "ESCALATION",
        }
    }
}

impl Suggestion {
    /// `- [FRICTION] … --- …`
    pub fn line(&self) -> String {
        format!("- [{}] {} --- {}", self.tag.name(), self.text, self.action)
    }

    /// What the same pattern in another project is told by: tag, agent and action.
    pub fn pattern(&self) -> String {
        format!("{} {} {}", self.tag.name(), self.agent, self.action)
    }
}
