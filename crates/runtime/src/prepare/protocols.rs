//! The protocols a loop can follow, each with what this program needs to run it. To add one to the shipped: its rule book in
//! the engine, its card in `project/config/protocols.rs`, its file here, and its row in `SHIPPED`. A program built on this one
//! declares its own.

use std::sync::OnceLock;

use gadfly_engine::Digest;
use gadfly_engine::protocol::{Protocols, RuleBook};
use gadfly_project::config::ProtocolCard;
use gadfly_project::{LoopConfig, LoopProtocol, Problem};

use super::inherited::Inherits;
use super::{Material, Request, RunSettings, audit, converge, revise, score};

/// A protocol of loops: what the doors know of it, its rules, and how its settings are made.
pub struct ProtocolEntry {
    pub card: &'static ProtocolCard,
    pub book: RuleBook,
    pub settings: MakesSettings,
    /// Makes settings of a task alone, for batches.
    pub of_task: Option<SettingsOfTask>,
    /// Reads what an earlier run leaves to one that starts from its draft.
    pub inherits: Option<Inherits>,
}

/// Makes the settings of a loop about a task, from what is configured alone.
pub type SettingsOfTask = fn(&LoopConfig, Digest) -> Option<Box<dyn RunSettings>>;

/// Makes the settings of a loop from what is configured, asked for and read. Problems are added; none without settings.
pub type MakesSettings =
    fn(&LoopConfig, &Request, &mut Material, &mut Vec<Problem>) -> Option<Box<dyn RunSettings>>;

static SHIPPED: [ProtocolEntry; 4] = [revise::ENTRY, score::ENTRY, audit::ENTRY, converge::ENTRY];
static DECLARED: OnceLock<&'static [ProtocolEntry]> = OnceLock::new();

/// Adds protocols to the shipped ones for the whole program: once, before anything is read.
pub fn declare(entries: &'static [ProtocolEntry]) {
    let cards: Vec<&'static ProtocolCard> = entries.iter().map(|entry| entry.card).collect();
    if DECLARED.set(entries).is_ok() {
        LoopProtocol::declare(cards.leak());
    }
}

/// The rule books of all of them, and of goals and pipelines.
pub fn rule_books() -> Protocols {
    let declared = DECLARED.get().copied().unwrap_or_default();
    declared.iter().fold(Protocols::shipped(), |books, entry| books.with(entry.book))
}

pub(super) fn named(name: &str) -> Option<&'static ProtocolEntry> {
    let declared = DECLARED.get().copied().unwrap_or_default();
    SHIPPED.iter().chain(declared).find(|entry| entry.card.name == name)
}

/// The settings of a loop's protocol.
pub(super) fn settings_of(
    config: &LoopConfig,
    request: &Request,
    material: &mut Material,
    problems: &mut Vec<Problem>,
) -> Option<Box<dyn RunSettings>> {
    let entry = named(config.options.protocol.value.name())?;
    (entry.settings)(config, request, material, problems)
}

/// The settings of loops that differ only in task and rubric. None if the protocol needs more than these.
pub(crate) fn settings_of_task(config: &LoopConfig, task: Digest) -> Option<Box<dyn RunSettings>> {
    (named(config.options.protocol.value.name())?.of_task?)(config, task)
}
