//! What `{project}` stands for. Whatever it is taken from, it becomes one part of a path: nothing else may come out.

use std::collections::{BTreeMap, BTreeSet};
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
    /// The folders that stand where the registry has the placeholder, with the number of places where each does.
    pub folders: BTreeMap<String, u32>,
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
        // What a project file states is as a rule the title of a paper; the folder that is there says how it was spelled.
        if let Some((stated, file)) = &self.stated
            && let Some(name) = self.spelled_like(stated)
        {
            return Some(found(&name, &format!("`{file}`")));
        }
        if let Some((name, from)) = self.usual_folder() {
            return Some(found(name, from));
        }
        let (stated, file) = self.stated.as_ref().filter(|_| self.folders.is_empty())?;
        Some(found(&self.folder_of(stated)?, &format!("`{file}`")))
    }

    /// The only folder, or the one that stands at more of the places than any other.
    fn usual_folder(&self) -> Option<(&str, &'static str)> {
        let most = self.folders.values().copied().max()?;
        let mut usual =
            self.folders.iter().filter(|(_, places)| **places == most).map(|(name, _)| name.as_str());
        let first = usual.next()?;
        let from = if self.folders.len() == 1 {
            "the only folder there is"
        } else {
            "the folder that most agents have"
        };
        usual.next().is_none().then_some((first, from))
    }

    fn spelled_like(&self, text: &str) -> Option<String> {
        let wanted = slug(text);
        self.folders.keys().find(|folder| *folder == text || slug(folder) == wanted).cloned()
    }

    /// A folder that is there and is spelled like it, else the text as one part of a path.
    fn folder_of(&self, text: &str) -> Option<String> {
        let wanted = slug(text);
        let same = self.spelled_like(text);
        let plain =
            || Some(text.trim().to_owned()).filter(|text| is_project_name(text) && !wanted.is_empty());
        let slugged = || Some(wanted.clone()).filter(|slug| is_project_name(slug));
        same.or_else(plain).or_else(slugged)
    }
}

/// What `**Project:** …` or `project_name: …` says. A template's `[Your project]` says nothing.
pub(super) fn stated(text: &str) -> Option<String> {
    let keys = ["**Project:**", "**Project**:", "**Project name:**", "project_name:", "Project:"];
    let value = text.lines().take(200).find_map(|line| {
        let line = line.trim_start_matches('\u{feff}').trim().trim_start_matches(['-', '#', '>']).trim();
        keys.iter().find_map(|key| line.strip_prefix(key))
    })?;
    // `<!-- confirm the title -->` is a note to whoever fills the template in.
    let value = value.split("<!--").next().unwrap_or(value);
    let value = value.trim().trim_matches(['"', '\'', '`', '*']).trim();
    let is_placeholder = value.starts_with(['[', '<', '{']);
    (!value.is_empty() && !is_placeholder).then(|| value.chars().take(200).collect())
}

/// The folders that stand where a pattern of the registry has `{project}/`.
pub(super) fn folders(reader: &mut LayoutReader<'_>, registry: &Registry) -> BTreeMap<String, u32> {
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
    let mut found: BTreeMap<String, u32> = BTreeMap::new();
    for parent in parents.into_iter().filter(|parent| !parent.is_empty()).take(MOST) {
        let inside = reader.entries_if_there(Path::new(parent.trim_end_matches('/')));
        let folders = inside.into_iter().filter(|entry| entry.is_folder).map(|entry| entry.name);
        for name in folders.filter(|name| is_project_name(name)).take(MOST) {
            *found.entry(name).or_default() += 1;
        }
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
        let folders = folders.iter().map(|folder| ((*folder).to_owned(), 1)).collect();
        NameSources { folders, ..NameSources::default() }
    }

    fn name(names: &NameSources, state: Option<&str>) -> Option<String> {
        names.resolve(state).map(|found| found.name)
    }

    #[test]
    fn the_order_is_configuration_state_folder_project_file() {
        let mut all = names(&["minwage"]);
        assert_eq!(name(&all, None).unwrap(), "minwage");
        all.stated = Some(("Trade & Wages".into(), "CLAUDE.md".into()));
        assert_eq!(name(&all, None).unwrap(), "minwage", "a title renames no folder");
        all.folders.clear();
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
    fn of_several_folders_the_one_that_most_agents_have_counts() {
        let mut all = names(&["cif", "old"]);
        all.stated = Some(("A Long Title".into(), "CLAUDE.md".into()));
        assert_eq!(name(&all, None), None, "neither: somebody has to say");
        all.folders.insert("cif".into(), 3);
        assert_eq!(name(&all, None).unwrap(), "cif");
        all.stated = Some(("Old".into(), "CLAUDE.md".into()));
        assert_eq!(name(&all, None).unwrap(), "old", "it is called by its name");
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
        assert_eq!(stated("**Project:** A Title <!-- [confirm] -->\n").unwrap(), "A Title");
        assert_eq!(stated("\u{feff}**Project:** Wages\r\n").unwrap(), "Wages");
        assert_eq!(stated("# Project config\nproject_name: \"eeg study\"\n").unwrap(), "eeg study");
    }
}
