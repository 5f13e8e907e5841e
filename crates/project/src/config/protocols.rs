//! The protocols that a loop can follow, as the doors of this program know them: the shipped ones, and those that a program
//! built on this one declares before it reads anything.

use std::fmt;
use std::sync::OnceLock;

use super::keys::Key;
use super::loops::options::{AUDIT, REVISE, SCORE};

/// What the command line, the file, the form and the schema have to know of a protocol.
#[derive(Debug)]
pub struct ProtocolCard {
    pub name: &'static str,
    /// What it does, in a line.
    pub says: &'static str,
    /// How many critics can judge side by side.
    pub critics: usize,
    /// The worker edits files in a folder; its reply is not the work.
    pub edits_files: bool,
    /// The shared options it takes, by name. What no protocol names here belongs to every loop.
    pub takes: &'static [&'static str],
    /// The options of its own.
    pub options: &'static [Key],
}

/// The rule book of a loop.
#[derive(Clone, Copy)]
pub struct LoopProtocol(&'static ProtocolCard);

static DECLARED: OnceLock<&'static [&'static ProtocolCard]> = OnceLock::new();

const SHIPPED: [LoopProtocol; 4] =
    [LoopProtocol::REVISE, LoopProtocol::SCORE, LoopProtocol::AUDIT, LoopProtocol::CONVERGE];

impl LoopProtocol {
    pub const REVISE: Self = Self(&ProtocolCard {
        name: "revise",
        says: "the critic approves, or rejects with fixes",
        critics: 1,
        edits_files: false,
        takes: &["phase", "rubric", "draft", "out"],
        options: REVISE,
    });
    pub const SCORE: Self = Self(&ProtocolCard {
        name: "score",
        says: "the critic takes off points by a rubric",
        critics: 2,
        edits_files: false,
        takes: &["critics", "phase", "rubric", "draft", "out", "max_parts"],
        options: SCORE,
    });
    pub const AUDIT: Self = Self(&ProtocolCard {
        name: "audit",
        says: "the worker edits a copy of the project; every criterion is judged",
        critics: 1,
        edits_files: true,
        takes: &["critics", "criteria", "max_parts"],
        options: AUDIT,
    });
    pub const CONVERGE: Self = Self(&ProtocolCard {
        name: "converge",
        says: "the critic answers named questions until nothing is left to fix",
        critics: 1,
        edits_files: false,
        takes: &["critics", "criteria", "draft", "out", "max_parts"],
        options: &[],
    });
    /// Protocols that no loop follows.
    pub const OF_GOALS: [&'static str; 1] = ["goal"];

    /// Adds protocols to the shipped ones, once, before anything is read. False if that was done before.
    pub fn declare(cards: &'static [&'static ProtocolCard]) -> bool {
        DECLARED.set(cards).is_ok()
    }

    pub fn all() -> impl Iterator<Item = Self> {
        SHIPPED
            .into_iter()
            .chain(DECLARED.get().into_iter().flat_map(|cards| cards.iter().copied().map(Self)))
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|protocol| protocol.name() == name)
    }

    /// Those that know an option of a loop; none if it belongs to every loop.
    pub fn that_take(option: &str) -> Vec<Self> {
        Self::all().filter(|protocol| protocol.takes(option)).collect()
    }

    fn takes(self, option: &str) -> bool {
        self.0.takes.contains(&option) || self.0.options.iter().any(|key| key.name == option)
    }

    pub const fn name(self) -> &'static str {
        self.0.name
    }

    pub const fn card(self) -> &'static ProtocolCard {
        self.0
    }
}

impl Default for LoopProtocol {
    fn default() -> Self {
        Self::REVISE
    }
}

impl PartialEq for LoopProtocol {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for LoopProtocol {}

impl fmt::Display for LoopProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for LoopProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
