//! How severely a critic judges, by the phase of the project. A table; no decision is made here.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How severe a critic is to be. The greatest is the most severe.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Low,
    Medium,
    MediumHigh,
    High,
    Maximum,
}

/// A phase of a project that has a severity of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    Discovery,
    Strategy,
    Execution,
    PeerReview,
    Presentation,
}

impl Level {
    pub const ALL: [Self; 5] = [Self::Low, Self::Medium, Self::MediumHigh, Self::High, Self::Maximum];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::MediumHigh => "medium-high",
            Self::High => "high",
            Self::Maximum => "maximum",
        }
    }

    /// What the critic is asked to be.
    pub const fn stance(self) -> &'static str {
        match self {
            Self::Low => "encouraging",
            Self::Medium => "constructive",
            Self::MediumHigh => "professional, advisory",
            Self::High => "strict",
            Self::Maximum => "adversarial",
        }
    }

    /// Tolerates case and punctuation: `Medium High`, `MAX`, `medium_high`.
    pub fn parse(text: &str) -> Option<Self> {
        match letters(text).as_str() {
            "low" => Some(Self::Low),
            "medium" | "med" => Some(Self::Medium),
            "mediumhigh" | "medhigh" => Some(Self::MediumHigh),
            "high" => Some(Self::High),
            "maximum" | "max" => Some(Self::Maximum),
            _ => None,
        }
    }
}

impl Phase {
    pub const ALL: [Self; 5] =
        [Self::Discovery, Self::Strategy, Self::Execution, Self::PeerReview, Self::Presentation];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Discovery => "Discovery",
            Self::Strategy => "Strategy",
            Self::Execution => "Execution",
            Self::PeerReview => "Peer Review",
            Self::Presentation => "Presentation",
        }
    }

    pub const fn level(self) -> Level {
        match self {
            Self::Discovery => Level::Low,
            Self::Strategy => Level::Medium,
            Self::Execution => Level::High,
            Self::PeerReview => Level::Maximum,
            Self::Presentation => Level::MediumHigh,
        }
    }

    /// Tolerates case, punctuation and shortening: `peer-review`, `Peer Review`, `Disc.`, `Exec`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = letters(text);
        let text = text.strip_suffix("phase").unwrap_or(&text);
        if text.len() < 4 {
            return None;
        }
        Self::ALL.into_iter().find(|phase| letters(phase.name()).starts_with(text))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How severe a critic is told to be. The phase is named where the level is its own.
pub fn shown_severity(level: Level, phase: Option<Phase>) -> String {
    let (name, stance) = (level.name().to_uppercase(), level.stance());
    match phase.filter(|phase| phase.level() == level) {
        Some(phase) => format!("{name} ({}: {stance})", phase.name()),
        None => format!("{name} ({stance})"),
    }
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphabetic()).flat_map(char::to_lowercase).take(40).collect()
}
