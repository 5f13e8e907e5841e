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
    let head = parts.next().unwrap_or_default();
    let mut parts: Vec<&str> = parts.filter(|part| part.lines().next().is_some_and(is_there)).collect();
    // A critic that an entry needs must be there, and judge one of those that are left.
    loop {
        let judge: Vec<&str> =
            parts.iter().filter_map(|part| critic(part)).filter(|name| is_there(name)).collect();
        let before = parts.len();
        parts.retain(|part| needed(part).all(|name| judge.contains(&name)));
        if parts.len() == before {
            break;
        }
    }
    let text: String =
        std::iter::once(head.to_owned()).chain(parts.iter().map(|part| format!("\n## {part}"))).collect();
    let file = parse(&PathBuf::from(PLACE), &text);
    (file.registry.entries.len() >= FEWEST).then_some(file)
}

/// Who judges what an entry makes.
fn critic(part: &str) -> Option<&str> {
    part.lines().find_map(|line| line.strip_prefix("- CRITIC: ")).filter(|name| *name != "None")
}

/// Its critic, and those whose scores it needs.
fn needed(part: &str) -> impl Iterator<Item = &str> {
    let requires = part.lines().find_map(|line| line.strip_prefix("- REQUIRES: ")).unwrap_or_default();
    requires.split_whitespace().filter(|word| word.ends_with("-critic")).chain(critic(part))
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
        // An analyst of their own in place of the coder: nobody's work waits for a critic that is not there.
        let own = usual(&|name| !name.starts_with("coder")).unwrap();
        let left: Vec<&str> = own.registry.entries.iter().map(|entry| entry.agent.as_str()).collect();
        assert_eq!(left, ["librarian", "explorer", "strategist", "theorist", "verifier"]);
    }
}
