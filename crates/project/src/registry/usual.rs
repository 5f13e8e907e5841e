//! The registry of a project that was begun before there was one: usual entries for agents of usual names, as far as
//! their files are there. Assumed, and said to be.

use std::path::PathBuf;

use super::{RegistryFile, parse};

/// Our own words about a layout that many projects share.
const USUAL: &str = include_str!("usual.md");
/// With fewer of them the names are a coincidence.
const FEWEST: usize = 4;

/// Where such a registry would be.
pub const PLACE: &str = ".claude/rules/permissions.md";

/// None if these agents are others.
pub fn usual(is_there: &dyn Fn(&str) -> bool) -> Option<RegistryFile> {
    let mut parts = USUAL.split("\n## ");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let critic =
            part.lines().find_map(|line| line.strip_prefix("- CRITIC: ")).filter(|name| *name != "None");
        if part.lines().next().is_some_and(is_there) && critic.is_none_or(is_there) {
            text.push_str("\n## ");
            text.push_str(part);
        }
    }
    let file = parse(&PathBuf::from(PLACE), &text);
    (file.registry.entries.len() >= FEWEST).then_some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_entries_are_read_without_a_problem() {
        let file = usual(&|_| true).unwrap();
        assert_eq!(file.registry.entries.len(), 11);
        assert_eq!(file.problems, []);
    }

    #[test]
    fn agents_of_other_names_have_no_registry() {
        assert!(usual(&|name| name.starts_with("coder")).is_none());
        let some = usual(&|name| !name.starts_with("theorist")).unwrap();
        assert!(some.registry.get("theorist").is_none());
    }
}
