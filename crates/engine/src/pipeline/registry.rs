//! The registry: who needs what, makes what, is judged by whom. As it was read, with the lines it was read from.

use serde::{Deserialize, Serialize};

use super::listing::Pattern;
use crate::protocol::score::settings::EscalateTo;

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Registry {
    /// In the order of the file.
    pub entries: Vec<RegistryEntry>,
}

/// One agent. A heading that names several has made an entry for each.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RegistryEntry {
    pub agent: String,
    /// Of its heading, from 1.
    pub line: u32,
    /// As written, without the note; none for `Any` and where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    #[serde(default)]
    pub requires: Need,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<Product>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic: Option<String>,
    #[serde(default)]
    pub escalate_to: EscalateTo,
    /// What the registry says about it: part of the question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub escalation_reason: String,
    #[serde(default)]
    pub weight: PairWeight,
    /// It runs only where the project enables it; the condition in the registry's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conditional: Option<String>,
}

/// What has to hold before an agent is dispatched.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// Nothing at all, if it is empty.
    All(Vec<Need>),
    Any(Vec<Need>),
    Atom(Atom),
}

impl Default for Need {
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

/// One condition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Atom {
    /// As it is written: what people are shown, and what an answer about it is remembered under.
    pub text: String,
    pub line: u32,
    pub check: Check,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    /// Only a person can say.
    Manual,
    /// A file, a folder with a real file in it, or a glob with a match.
    Path(Pattern),
    /// A folder with a file that ends in one of these: `.tex`.
    Contains { folder: Pattern, endings: Vec<String> },
    /// A current verdict of this critic on what it is the critic of.
    Score { critic: String, at_least: u32 },
    /// The weighted aggregate.
    Overall { at_least: u32 },
    /// Every component that is not conditional, and every other one that is scored.
    Components { at_least: u32 },
}

/// One thing an agent makes.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Product {
    /// Any of these will do; nearly always it is one.
    pub patterns: Vec<Pattern>,
    /// Files that have to be there, each with its whole path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Pattern>,
    /// Headings that have to stand in the first of `files`, or in what `patterns` name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<String>,
    pub line: u32,
}

impl Product {
    /// The pattern of the file its sections have to stand in.
    pub fn sectioned(&self) -> Option<&Pattern> {
        if self.sections.is_empty() { None } else { self.files.first().or_else(|| self.patterns.first()) }
    }

    pub fn matches(&self, path: &str) -> bool {
        self.patterns.iter().chain(&self.files).any(|pattern| pattern.matches(path))
    }
}

/// What an agent's score counts for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PairWeight {
    /// In hundredths of a percent: 12.5 % is 1250. Rows of one component are one component.
    Share {
        points: u32,
        component: String,
        /// Its score is 0 or 100.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        binary: bool,
    },
    /// Judged, and counted with another component.
    Shared { with: String },
    /// Reported; it never blocks.
    Advisory,
    #[default]
    None,
}

impl Need {
    /// Every condition, in the order of the file.
    pub fn atoms(&self) -> Vec<&Atom> {
        match self {
            Self::All(needs) | Self::Any(needs) => needs.iter().flat_map(Self::atoms).collect(),
            Self::Atom(atom) => vec![atom],
        }
    }
}

impl RegistryEntry {
    /// Nobody judges it and its score counts: it is dispatched as a critic, and its own verdict is the score.
    pub const fn judges(&self) -> bool {
        self.critic.is_none() && matches!(self.weight, PairWeight::Share { .. })
    }

    pub const fn is_advisory(&self) -> bool {
        matches!(self.weight, PairWeight::Advisory)
    }

    /// Whether another needs what this one makes, or its score.
    pub fn feeds(&self, other: &Self) -> bool {
        let makes = |pattern: &Pattern| {
            let made = self.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files));
            made.into_iter().any(|made| made.overlaps(pattern))
        };
        other.requires.atoms().iter().any(|atom| match &atom.check {
            Check::Path(pattern) | Check::Contains { folder: pattern, .. } => makes(pattern),
            Check::Score { critic, .. } => self.critic.as_ref() == Some(critic),
            Check::Manual | Check::Overall { .. } | Check::Components { .. } => false,
        })
    }

    /// Whether its products name this very file, and not just the folder it lies in.
    pub fn names(&self, path: &str) -> bool {
        let named = self.produces.iter().flat_map(|product| product.files.iter().chain(&product.patterns));
        named.filter(|pattern| !pattern.is_folder()).any(|pattern| pattern.matches(path))
    }

    /// Whether a file is among what it makes.
    pub fn makes(&self, path: &str) -> bool {
        self.produces.iter().any(|product| product.matches(path))
    }
}

impl Registry {
    /// Every place that some entry makes, and every one that some entry needs.
    pub fn places(&self) -> (Vec<Pattern>, Vec<Pattern>) {
        let products = self.entries.iter().flat_map(|entry| &entry.produces);
        let makes = products.flat_map(|product| product.patterns.iter().chain(&product.files)).cloned();
        let atoms = self.entries.iter().flat_map(|entry| entry.requires.atoms());
        let needs = atoms.filter_map(|atom| match &atom.check {
            Check::Path(pattern) | Check::Contains { folder: pattern, .. } => Some(pattern.clone()),
            Check::Manual | Check::Score { .. } | Check::Overall { .. } | Check::Components { .. } => None,
        });
        (makes.collect(), needs.collect())
    }

    /// Who judges and hands what it found to this agent, which decides on it: referees and their editor.
    pub fn reporting_to<'r>(&'r self, entry: &'r RegistryEntry) -> impl Iterator<Item = &'r RegistryEntry> {
        let decides = entry.critic.is_none() && !entry.judges();
        let reports = move |other: &&RegistryEntry| {
            let target = matches!(&other.escalate_to, EscalateTo::Agent(name) if *name == entry.agent);
            decides && other.judges() && target
        };
        self.entries.iter().filter(reports)
    }

    pub fn get(&self, agent: &str) -> Option<&RegistryEntry> {
        self.entries.iter().find(|entry| entry.agent == agent)
    }

    /// The entries this critic is the critic of.
    pub fn judged_by<'a>(&'a self, critic: &'a str) -> impl Iterator<Item = &'a RegistryEntry> {
        self.entries.iter().filter(move |entry| entry.critic.as_deref() == Some(critic))
    }

    /// The entries that make what a pattern names, in the order of the file.
    pub fn makers<'a>(&'a self, of: &'a Pattern) -> impl Iterator<Item = &'a RegistryEntry> {
        self.entries.iter().filter(move |entry| {
            entry.produces.iter().any(|p| p.patterns.iter().chain(&p.files).any(|made| made.overlaps(of)))
        })
    }
}
