//! What `{project}` stands for. Whatever it is taken from, it becomes one part of a path: nothing else may come out.

use std::collections::BTreeSet;
use std::path::Path;

use gadfly_engine::deduction::slug;
use gadfly_engine::pipeline::{Check, Pattern, Registry};

use super::reading::LayoutReader;

/// One part of a path that is neither hidden nor a way out.
pub fn is_project_name(text: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&text.chars().count())
        && text.starts_with(char::is_alphanumeric)
        && text.chars().all(fits)
        && !text.ends_with('.')
}

/// The project's name, and where it was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProjectName {
    pub name: String,
    pub from: String,
}

/// Where the name can come from, in the order in which it is asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NameSources {
    pub configured: Option<String>,
    /// What the project's file says, as it is written, and the file.
    pub stated: Option<(String, String)>,
    /// The folders that stand where the registry has the placeholder.
    pub folders: BTreeSet<String>,
}

impl NameSources {
    /// `state` is the project of a state file, if there is one.
    pub fn resolve(&self, state: Option<&str>) -> Option<ProjectName> {
        let found = |name: &str, from: &str| ProjectName { name: name.to_owned(), from: from.to_owned() };
        if let Some(name) = &self.configured {
            return Some(found(name, "`[project] name`"));
        }
        if let Some(name) = state.and_then(|state| self.folder_of(state)) {
            return Some(found(&name, "the state file"));
        }
        if let Some((stated, file)) = &self.stated
            && let Some(name) = self.folder_of(stated)
        {
            return Some(found(&name, &format!("`{file}`")));
        }
        match self.folders.iter().next() {
            Some(only) if self.folders.len() == 1 => Some(found(only, "the only folder there is")),
            _ => None,
        }
    }

    /// A folder that is there and is spelled like it, else the text as one part of a path.
    fn folder_of(&self, text: &str) -> Option<String> {
        let wanted = slug(text);
        let same = self.folders.iter().find(|folder| *folder == text || slug(folder) == wanted);
        let plain =
            || Some(text.trim().to_owned()).filter(|text| is_project_name(text) && !wanted.is_empty());
        let slugged = || Some(wanted.clone()).filter(|slug| is_project_name(slug));
        same.cloned().or_else(plain).or_else(slugged)
    }
}

/// What `**Project:** …` or `project_name: …` says. A template's `[Your project]` says nothing.
pub(super) fn stated(text: &str) -> Option<String> {
    let keys = ["**Project:**", "**Project**:", "**Project name:**", "project_name:", "Project:"];
    let value = text.lines().take(200).find_map(|line| {
        let line = line.trim_start_matches('\u{feff}').trim().trim_start_matches(['-', '#', '>']).trim();
        keys.iter().find_map(|key| line.strip_prefix(key))
    })?;
    let value = value.trim().trim_matches(['"', '\'', '`', '*']).trim();
    let is_placeholder = value.starts_with(['[', '<', '{']);
    (!value.is_empty() && !is_placeholder).then(|| value.chars().take(200).collect())
}

/// The folders that stand where a pattern of the registry has `{project}/`.
pub(super) fn folders(reader: &mut LayoutReader<'_>, registry: &Registry) -> BTreeSet<String> {
    const MOST: usize = 1_000;
    let mut parents = BTreeSet::new();
    for pattern in patterns(registry) {
        if let Some((before, _)) = pattern.0.split_once("{project}/")
            && (before.is_empty() || before.ends_with('/'))
            && !before.contains(['*', '?', '[', '{'])
        {
            parents.insert(before);
        }
    }
    let mut found = BTreeSet::new();
    for parent in parents.into_iter().filter(|parent| !parent.is_empty()).take(MOST) {
        let inside = reader.entries_if_there(Path::new(parent.trim_end_matches('/')));
        let folders = inside.into_iter().filter(|entry| entry.is_folder).map(|entry| entry.name);
        found.extend(folders.filter(|name| is_project_name(name)).take(MOST));
    }
    found
}

fn patterns(registry: &Registry) -> impl Iterator<Item = &Pattern> {
    registry.entries.iter().flat_map(|entry| {
        let made = entry.produces.iter().flat_map(|p| p.patterns.iter().chain(&p.files));
        let needed = entry.requires.atoms().into_iter().filter_map(|atom| match &atom.check {
            Check::Path(pattern) | Check::Contains { folder: pattern, .. } => Some(pattern),
            _ => None,
        });
        made.chain(needed).collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folders: &[&str]) -> NameSources {
        NameSources { folders: folders.iter().map(|f| (*f).to_owned()).collect(), ..NameSources::default() }
    }

    fn name(names: &NameSources, state: Option<&str>) -> Option<String> {
        names.resolve(state).map(|found| found.name)
    }

    #[test]
    fn the_order_is_configuration_state_project_file_only_folder() {
        let mut all = names(&["minwage"]);
        assert_eq!(name(&all, None).unwrap(), "minwage");
        all.stated = Some(("Trade & Wages".into(), "CLAUDE.md".into()));
        assert_eq!(name(&all, None).unwrap(), "trade-wages");
        assert_eq!(name(&all, Some("tariffs")).unwrap(), "tariffs");
        all.configured = Some("mine".into());
        assert_eq!(name(&all, Some("tariffs")).unwrap(), "mine");
        assert_eq!(name(&names(&["a", "b"]), None), None, "two folders: somebody has to say");
    }

    #[test]
    fn a_folder_that_is_there_gives_the_spelling() {
        let mut all = names(&["Min_Wage", "other"]);
        all.stated = Some(("Min wage".into(), "CLAUDE.md".into()));
        assert_eq!(name(&all, None).unwrap(), "Min_Wage");
    }

    #[test]
    fn no_name_leads_out_of_the_project() {
        for bad in ["..", "../..", "/etc", ".git", "a/b", "a\\b", "", "x.", "a\nb"] {
            assert!(!is_project_name(bad), "{bad}");
            let found = name(&names(&[]), Some(bad));
            assert!(found.as_deref().is_none_or(is_project_name), "{bad}: {found:?}");
        }
        assert_eq!(name(&names(&[]), Some("../../etc")).unwrap(), "etc");
    }

    #[test]
    fn a_templates_placeholder_is_no_name() {
        assert_eq!(stated("# X\n**Project:** [Your project]\n"), None);
        assert_eq!(stated("\u{feff}**Project:** Wages\r\n").unwrap(), "Wages");
        assert_eq!(stated("# Project config\nproject_name: \"eeg study\"\n").unwrap(), "eeg study");
    }
}
