//! Which layout a project is kept in, and where each has its files.

use std::path::{Path, PathBuf};

use super::Layout;
use super::reading::LayoutReader;
use crate::config::Config;
use crate::place::{Problem, Sourced, brief};

/// The most specific layout that holds its own files, and why it is that one.
pub(super) fn detect(reader: &LayoutReader<'_>, config: &Config) -> (Layout, String) {
    if let Some(stated) = &config.project.layout {
        let place = stated.place.as_ref().map(|at| format!(" ({}:{})", at.file.display(), at.line));
        let name = stated.value.name();
        return (stated.value, format!("`layout = \"{name}\"` is set{}", place.unwrap_or_default()));
    }
    let own: [(Layout, &[&str]); 3] = [
        (
            Layout::Nubos,
            &[
                ".nubos-pilot/config.json",
                ".nubos-pilot/STATE.md",
                ".nubos-pilot/PROJECT.md",
                ".nubos-pilot/roadmap.yaml",
                ".nubos-pilot/milestones/",
            ],
        ),
        (Layout::Neuroflow, &[".neuroflow/project_config.md", ".neuroflow/flow.md"]),
        (Layout::Claude, &[".claude/rules/permissions.md", ".claude/permissions.md", ".claude/agents/"]),
    ];
    let is_there = |path: &&&str| {
        let is_folder = path.ends_with('/');
        if is_folder { reader.is_folder(Path::new(path)) } else { reader.is_file(Path::new(path)) }
    };
    let found = own.into_iter().find_map(|(layout, files)| Some((layout, files.iter().find(is_there)?)));
    match found {
        Some((layout, file)) => (layout, format!("`{file}` is there")),
        None => (Layout::Native, "no other layout's files are there".into()),
    }
}

/// Where everything is, from the root.
pub(super) struct LayoutPaths {
    /// The layout's own folder; empty in the native one.
    pub home: PathBuf,
    pub agents: PathBuf,
    pub skills: PathBuf,
    /// None: there is none.
    pub registry: Option<PathBuf>,
    /// Files that are always loaded, the earlier layer first.
    pub always: Vec<PathBuf>,
    pub rules: Option<PathBuf>,
    pub references: Option<PathBuf>,
}

impl LayoutPaths {
    pub fn of(layout: Layout, reader: &mut LayoutReader<'_>, config: &Config) -> Self {
        let project = &config.project;
        let claude = PathBuf::from(".claude");
        let (home, agents, skills) = match layout {
            Layout::Native => (PathBuf::new(), "agents", "skills"),
            Layout::Claude | Layout::Neuroflow | Layout::Nubos => {
                (claude, ".claude/agents", ".claude/skills")
            }
        };
        // A plugin's own repository, and one that carries a copy of it, has them at the top.
        let top = |reader: &LayoutReader<'_>, own: &str, top: &str| {
            let is_plain = reader.is_folder(Path::new(own)) || !reader.is_folder(Path::new(top));
            PathBuf::from(if is_plain { own } else { top })
        };
        let agents = named(reader, project.agents.as_ref()).unwrap_or_else(|| top(reader, agents, "agents"));
        let skills = named(reader, project.skills.as_ref()).unwrap_or_else(|| top(reader, skills, "skills"));
        let usual: &[&str] = match layout {
            Layout::Native => &["permissions.md"],
            _ => &[".claude/rules/permissions.md", ".claude/permissions.md", "permissions.md"],
        };
        let there = usual.iter().map(PathBuf::from).find(|path| reader.is_file(path));
        let registry = named(reader, project.registry.as_ref()).or(there);
        let mut always = vec!["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"];
        if layout == Layout::Neuroflow {
            always.extend([".neuroflow/project_config.md", ".neuroflow/flow.md", ".neuroflow/objectives.md"]);
        }
        let is_claude = layout != Layout::Native;
        Self {
            home,
            agents,
            skills,
            registry,
            always: always.into_iter().map(PathBuf::from).collect(),
            rules: is_claude.then(|| PathBuf::from(".claude/rules")),
            references: is_claude.then(|| PathBuf::from(".claude/references")),
        }
    }
}

/// A path that the configuration names, from the root.
fn named(reader: &mut LayoutReader<'_>, path: Option<&Sourced<PathBuf>>) -> Option<PathBuf> {
    let path = path?;
    let inside = path.value.strip_prefix(reader.root).map(Path::to_owned);
    if inside.is_err() {
        let shown = brief(&path.value.display().to_string());
        let message = format!("`{shown}` does not lie in this project");
        reader.problems.push(Problem::error(message).at(path.place.as_ref()));
    }
    inside.ok()
}
