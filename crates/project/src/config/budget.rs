//! Caps of a run, a loop or an agent, as the engine counts them.

use gadfly_engine::budget::{Limits, Money};

use super::keys;
use super::value::ConfigTable;

/// Exactly the caps that are written down. Zero means nothing at all.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // ranges are checked by the table of keys
pub(super) fn limits(table: &ConfigTable) -> Limits {
    Limits {
        tokens: table.whole("tokens").map(|n| n.value),
        money: table.number("usd").map(|n| Money::from_usd(n.value)),
        active_ms: table.number("minutes").map(|n| (n.value * 60_000.0).round() as u64),
        calls: table.whole("calls").map(|n| u32::try_from(n.value).unwrap_or(u32::MAX)),
        ..Limits::default()
    }
}

/// What a loop may use if nobody says anything: time and calls, no cap on money.
pub fn loop_default() -> Limits {
    Limits { active_ms: Some(keys::MINUTES * 60_000), calls: Some(keys::CALLS), ..Limits::default() }
}
