//! Commands for the person to type next, complete: with the store they need, if it is not the project's own.

use std::path::Path;
use std::sync::OnceLock;

use super::safe;

static STORE: OnceLock<String> = OnceLock::new();

/// Every command told from now on names this store.
pub fn at(store: &Path) {
    let shown = safe::line(&store.to_string_lossy(), 4096);
    let plain = shown.chars().all(|c| c.is_alphanumeric() || "-_./+@%".contains(c));
    let quoted = if plain { shown } else { format!("'{}'", shown.replace('\'', r"'\''")) };
    let _ = STORE.set(quoted);
}

/// `gadfly`, the store if need be, and the rest.
pub fn command(rest: &str) -> String {
    match STORE.get() {
        Some(store) => format!("gadfly --store {store} {rest}"),
        None => format!("gadfly {rest}"),
    }
}
