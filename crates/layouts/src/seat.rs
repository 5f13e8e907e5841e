//! Who takes a part for which a project names nobody that is configured.

use gadfly_project::{Config, Sourced};

/// None where `[defaults]` has somebody: that is looked up there.
pub fn usual(role: &str, default: Option<&Sourced<String>>, config: &Config) -> Option<String> {
    let names = [format!("default-{role}"), "default".to_owned()];
    let known = names.into_iter().find(|name| config.agents.contains_key(name));
    known.filter(|_| default.is_none())
}
