//! Separation of powers: what stands between an agent and what it may not do, and what was stopped there.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the record says that a layer does not hold although it should; the reason follows.
pub const NOT_HELD: &str = "no Landlock: ";

/// A guard. Each holds by itself; what one lets through the next may stop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The agent's own mode, set by its flags: it is asked not to.
    OwnMode,
    /// The protocol between us and the agent: what it asks for is refused.
    Protocol,
    /// The agent's own sandbox around its tools.
    OwnSandbox,
    /// The kernel's, around every process of the call.
    Landlock,
    /// The tree is compared before and after; what changed is undone and the reply is void.
    Compared,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OwnMode => "its own mode",
            Self::Protocol => "refusals",
            Self::OwnSandbox => "its own sandbox",
            Self::Landlock => "Landlock",
            Self::Compared => "tree compared",
        })
    }
}

/// A guard that is up during a call, and how far it reaches.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Guard {
    pub layer: Layer,
    /// For people: `--permission-mode plan`, `files; TCP out only`.
    pub how: String,
}

impl Guard {
    pub fn new(layer: Layer, how: impl Into<String>) -> Self {
        Self { layer, how: how.into() }
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.how.is_empty() { self.layer.fmt(f) } else { write!(f, "{} ({})", self.layer, self.how) }
    }
}
