//! A registry made definite: placeholders filled in, names as the agents' files spell them.

use std::collections::{BTreeSet, HashMap};

use gadfly_engine::pipeline::{Check, Need, Pattern, Registry, RegistryEntry};
use gadfly_engine::protocol::score::settings::EscalateTo;

/// `{project}` filled in everywhere; any other placeholder (`{name}`, `<name>`, `[topic]`, `YYYY-MM-DD`) is `*`.
/// Alternatives (`{R,py}`) stay.
pub fn resolved(registry: &Registry, project: &str) -> Registry {
    let project = plain_name(project);
    let pattern = |pattern: &mut Pattern| pattern.0 = filled(&pattern.0, &project);
    let mut registry = registry.clone();
    for entry in &mut registry.entries {
        each_atom(&mut entry.requires, &mut |text, check| {
            *text = text.replace("{project}", &project);
            match check {
                Check::Path(path) | Check::Contains { folder: path, .. } => pattern(path),
                Check::Manual | Check::Score { .. } | Check::Overall { .. } | Check::Components { .. } => {}
            }
        });
        for product in &mut entry.produces {
            product.patterns.iter_mut().chain(&mut product.files).for_each(pattern);
        }
    }
    registry
}

/// Every name of a critic, of somebody to escalate to and of an agent as it is known: `Writer` is `writer`. What is
/// known nowhere stays as it is; [`super::check`] reports it.
pub fn named(registry: &Registry, agents: &BTreeSet<String>) -> Registry {
    let mut registry = registry.clone();
    let files = Spellings::of(agents.iter().map(String::as_str));
    registry.entries.iter_mut().for_each(|entry| files.mend(&mut entry.agent));
    let entries: Vec<String> = registry.entries.iter().map(|entry| entry.agent.clone()).collect();
    let all = Spellings::of(entries.iter().chain(agents).map(String::as_str));
    let rename = |name: &mut String| all.mend(name);
    for entry in &mut registry.entries {
        let RegistryEntry { requires, critic, escalate_to, .. } = entry;
        critic.iter_mut().for_each(rename);
        if let EscalateTo::Agent(name) = escalate_to {
            rename(name);
        }
        each_atom(requires, &mut |_, check| {
            if let Check::Score { critic, .. } = check {
                rename(critic);
            }
        });
    }
    registry
}

/// Names as they are known, by their lower case: the first, then the others that differ only in case.
struct Spellings<'a>(HashMap<String, Vec<&'a str>>);

impl<'a> Spellings<'a> {
    fn of(known: impl Iterator<Item = &'a str>) -> Self {
        let mut all: HashMap<String, Vec<&str>> = HashMap::new();
        for name in known {
            let same = all.entry(name.to_lowercase()).or_default();
            if !same.contains(&name) {
                same.push(name);
            }
        }
        Self(all)
    }

    /// A name as it is known: exactly, else the first that differs only in case.
    fn mend(&self, name: &mut String) {
        let same = self.0.get(&name.to_lowercase()).map(Vec::as_slice).unwrap_or_default();
        if let Some(first) = same.first().filter(|_| !same.contains(&name.as_str())) {
            (*first).clone_into(name);
        }
    }
}

/// Recursion ends: parentheses are read only a few deep.
fn each_atom(need: &mut Need, f: &mut dyn FnMut(&mut String, &mut Check)) {
    match need {
        Need::All(needs) | Need::Any(needs) => needs.iter_mut().for_each(|need| each_atom(need, f)),
        Need::Atom(atom) => f(&mut atom.text, &mut atom.check),
    }
}

/// The project's name comes from files that others write: it may be no path and no pattern.
fn plain_name(project: &str) -> String {
    let is_bad =
        |c: char| c.is_control() || matches!(c, '/' | '\\' | '*' | '?' | '[' | ']' | '{' | '}' | '`');
    let name = project.trim().replace(is_bad, "-");
    if name.trim_matches('.').is_empty() { "-".into() } else { name }
}

fn filled(path: &str, project: &str) -> String {
    let dated = path.replace("YYYY-MM-DD", "*");
    let mut out = String::with_capacity(dated.len() + project.len());
    let mut rest = dated.as_str();
    while let Some(open) = rest.find(['{', '<', '[']) {
        let closes = match rest.as_bytes()[open] {
            b'{' => '}',
            b'<' => '>',
            _ => ']',
        };
        let Some(length) = rest[open + 1..].find(closes) else { break };
        let inside = &rest[open + 1..open + 1 + length];
        let end = open + length + 2;
        out.push_str(&rest[..open]);
        match inside.to_lowercase().replace(['-', ' '], "_").as_str() {
            "project" | "project_name" => out.push_str(project),
            // Alternatives, and a class of characters: `{R,py}`, `[a-z]`.
            _ if closes == '}' && inside.contains(',') => out.push_str(&rest[open..end]),
            word if closes == ']' && !is_word(word) => out.push_str(&rest[open..end]),
            // Next to another one it would cross folders.
            _ if out.ends_with('*') => {}
            _ => out.push('*'),
        }
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

fn is_word(text: &str) -> bool {
    text.len() > 3 && text.chars().all(|c| c.is_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_is_filled_in_and_other_placeholders_are_anything() {
        for (path, is) in [
            ("quality_reports/{project}/", "quality_reports/x/"),
            ("reviews/{project}_referee.md", "reviews/x_referee.md"),
            ("{script}_explainer.md", "*_explainer.md"),
            ("scripts/{R,py,jl}/", "scripts/{R,py,jl}/"),
            ("a/<name>/YYYY-MM-DD_report.md", "a/*/*_report.md"),
            ("a/[topic].md", "a/*.md"),
            ("a/[project-name].md", "a/x.md"),
            ("a/[a-z].md", "a/[a-z].md"),
            ("a/{b}{c}.md", "a/*.md"),
            ("a/{b", "a/{b"),
        ] {
            assert_eq!(filled(path, "x"), is, "{path}");
        }
    }

    #[test]
    fn a_projects_name_cannot_lead_out_of_the_project() {
        assert_eq!(filled("a/{project}/b", &plain_name("../..")), "a/..-../b");
        assert_eq!(filled("a/{project}/b", &plain_name("..")), "a/-/b");
        assert_eq!(filled("a/{project}/b", &plain_name("*")), "a/-/b");
    }
}
