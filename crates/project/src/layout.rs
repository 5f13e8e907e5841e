//! A project as it lies on disk: its agents, skills, rules, references, rubrics, memory and registry, in whichever of
//! the known layouts it is kept. Real files are messy; what had to be guessed is said with its place.
//!
//! It reads everything once, within bounds. What the registry means is `registry`'s; what is done with all of it is
//! the engine's and the runtime's.

pub mod agents;
mod check;
pub mod frontmatter;
mod named;
pub mod naming;
mod places;
mod reading;
pub mod rules;
pub mod skills;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use agents::{AgentFile, AgentRole};
pub use check::check;
pub use naming::{NameSources, ProjectName};
pub use rules::{Invariant, LearnedRule, ProjectRubric};
pub use skills::{Skill, SkillRoute};

use gadfly_engine::deduction::DeductionRow;

use crate::config::Config;
use crate::deduction_table;
use crate::place::{Problem, SourceSpan, brief};
use crate::registry::{self, RegistryFile};
use frontmatter::Frontmatter;
use places::LayoutPaths;
use reading::LayoutReader;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Layout {
    Native,
    Claude,
    Neuroflow,
    Nubos,
}

impl Layout {
    pub const ALL: [Self; 4] = [Self::Native, Self::Claude, Self::Neuroflow, Self::Nubos];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Claude => "claude",
            Self::Neuroflow => "neuroflow",
            Self::Nubos => "nubos",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.name() == name)
    }

    /// Where state files, receipts, traces and plans of a project go, from its root.
    pub const fn state_folder(self) -> &'static str {
        match self {
            Self::Claude => "quality_reports",
            Self::Native | Self::Neuroflow | Self::Nubos => ".gadfly",
        }
    }
}

/// Everything a project tells its agents.
#[derive(Clone, Debug)]
pub struct ProjectFiles {
    pub root: PathBuf,
    pub layout: Layout,
    /// Why it is that layout, for people.
    pub because: String,
    pub agents: BTreeMap<String, AgentFile>,
    pub skills: BTreeMap<String, Skill>,
    pub registry: Option<RegistryFile>,
    /// The project's files, then its rules: what stands earlier wins. The registry is not among them.
    pub always: Vec<Doc>,
    /// Read on demand.
    pub references: Vec<Doc>,
    /// Files with the rubrics of several critics; the first that knows one counts.
    pub rubrics: Vec<Doc>,
    /// What issues cost by severity, from tables in the rules: they count for every critic's rows about the same.
    pub scales: Vec<DeductionRow>,
    pub invariants: Vec<Invariant>,
    pub memory: Vec<LearnedRule>,
    pub names: NameSources,
    /// What had to be guessed, and where.
    pub guessed: Vec<Problem>,
    /// What could not be read, is refused, or is larger than it should be.
    pub problems: Vec<Problem>,
    own_rubrics: BTreeMap<String, Doc>,
}

/// One text of the project.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Doc {
    /// From the project's root.
    pub path: PathBuf,
    /// All of it, with frontmatter.
    pub text: String,
    /// Globs: it is about these files only. Empty: it always counts.
    pub paths: Vec<String>,
}

impl Doc {
    fn read(reader: &mut LayoutReader<'_>, path: &Path) -> Option<Self> {
        let text = reader.text_if_there(path)?;
        let paths = frontmatter::read(&text).list("paths").unwrap_or_default();
        Some(Self { path: path.to_owned(), text, paths })
    }

    /// Without frontmatter.
    pub fn body(&self) -> &str {
        crate::markdown::body(&self.text).trim()
    }

    pub fn tokens(&self) -> u32 {
        tokens(self.body())
    }
}

/// About how many tokens a text takes: four bytes each. For showing what a brief costs, never for reserving money.
pub fn tokens(text: &str) -> u32 {
    u32::try_from(text.len().div_ceil(4)).unwrap_or(u32::MAX)
}

/// A second critic for a gate artifact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dual {
    pub agent: String,
    pub critic: String,
    pub lens: Option<String>,
    /// None for what the layout brings.
    pub place: Option<SourceSpan>,
}

/// Reads a project. It never fails: what is wrong is among the problems.
pub fn read(root: &Path, config: &Config) -> ProjectFiles {
    let mut reader = LayoutReader::new(root);
    let mut guessed = Vec::new();
    let (layout, because) = places::detect(&reader, config);
    let places = LayoutPaths::of(layout, &mut reader, config);
    let agents = agents::read_all(&mut reader, &places.agents, &mut guessed);
    let shelf = skills::SkillFolders { folder: &places.skills, home: &places.home, agents: &agents };
    let skills = skills::read_all(&mut reader, &shelf, &mut guessed);
    let registry = registry_of(&mut reader, &places, config).map(|(path, text)| {
        let mut file = registry::parse(&path, &text);
        // `Writer` is `writer` from here on.
        file.registry = registry::named(&file.registry, &known_agents(&agents, config));
        file
    });
    let is_there = |name: &str| agents.get(name).is_some_and(|agent| !agent.module);
    let may_assume = layout == Layout::Claude && places.registry.is_none();
    let assumed = if may_assume { registry::usual::usual(&is_there) } else { None };
    if assumed.is_some() {
        let message = "there is no registry: what agents of these names usually need and make is assumed";
        let help = format!("write your own at {} if it is otherwise", registry::usual::PLACE);
        reader.problems.push(Problem::warning(message).help(help));
    }
    let registry = registry.or(assumed);
    let always = always(&mut reader, &places);
    let invariants = rules::invariants(&always, &mut guessed);
    let references = places.references.iter().flat_map(|folder| docs(&mut reader, folder)).collect();
    let memory = [Path::new("MEMORY.md"), Path::new(".gadfly/memory.md")];
    let memory: Vec<Doc> = memory.into_iter().filter_map(|path| Doc::read(&mut reader, path)).collect();
    let rubrics = rubrics(&mut reader, &places);
    let scales = always.iter().flat_map(|doc| deduction_table::scales(&doc.text, &doc.path)).collect();
    let own_rubrics = own_rubrics(&mut reader, &places.home);
    let mut names = NameSources {
        configured: config.project.name.as_ref().map(|name| name.value.clone()),
        stated: always
            .iter()
            .find_map(|doc| naming::stated(&doc.text).map(|name| (name, doc.path.display().to_string()))),
        ..NameSources::default()
    };
    if let Some(file) = &registry {
        names.folders = naming::folders(&mut reader, &file.registry);
    }
    ProjectFiles {
        root: root.to_owned(),
        layout,
        because,
        skills,
        registry,
        invariants,
        references,
        memory: rules::learned(&memory),
        rubrics,
        scales,
        names,
        guessed,
        problems: reader.problems,
        own_rubrics,
        agents,
        always,
    }
}

impl ProjectFiles {
    /// What `{project}` stands for; `state` is the project of a state file, if there is one. None: somebody has to say.
    pub fn project_name(&self, state: Option<&str>) -> Option<ProjectName> {
        self.names.resolve(state)
    }

    /// One line about what was found, for people.
    pub fn summary(&self) -> String {
        let entries = self.registry.as_ref().map(|file| file.registry.entries.len());
        let entries = entries.map_or_else(|| "no registry".to_owned(), |n| format!("{n} entries"));
        let (agents, skills) = (self.agents.len(), self.skills.len());
        format!(
            "{} layout ({}): {entries}, {agents} agents, {skills} skills",
            self.layout.name(),
            self.because
        )
    }

    /// A critic's rubric: a file of its own, else its section of a file of rubrics.
    pub fn rubric_for(&self, critic: &str) -> Option<ProjectRubric> {
        let own = self.own_rubrics.get(critic).map(rules::own_rubric);
        own.or_else(|| self.rubrics.iter().find_map(|doc| rules::section(doc, critic)))
    }

    /// The agent of this name, if it can be dispatched.
    pub fn agent(&self, name: &str) -> Result<Option<&AgentFile>, Problem> {
        let Some(agent) = self.agents.get(name) else { return Ok(None) };
        if agent.module { Err(check::not_spawnable(agent, Some(&agent.place))) } else { Ok(Some(agent)) }
    }

    /// The skills that speak of an agent: first the one that sends it out most often, then those that name it first.
    pub fn skills_for(&self, agent: &str) -> Vec<&Skill> {
        let place = |skill: &Skill| skill.dispatches(&self.agents).iter().position(|name| name == agent);
        let mut found: Vec<_> = self.skills.values().filter_map(|s| place(s).map(|at| (at, s))).collect();
        found.sort_by_key(|(at, skill)| (std::cmp::Reverse(skill.sends(agent)), *at));
        found.into_iter().map(|(_, skill)| skill).collect()
    }

    /// Second critics: as configured, else what the layout has for agents and critics that are there.
    pub fn duals(&self, config: &Config) -> Vec<Dual> {
        const OF_CLAUDE: [(&str, &str, &str); 3] = [
            (
                "strategist",
                "coder-critic",
                "implementability: whether this can be coded and run as it is specified",
            ),
            (
                "coder",
                "strategist-critic",
                "strategy alignment: whether the code does what the strategy says",
            ),
            (
                "writer",
                "strategist-critic",
                "the match of claims and strategy: whether each claim rests on what the design identifies",
            ),
        ];
        if let Some(rows) = &config.duals {
            let row = |row: &crate::config::DualConfig| Dual {
                agent: row.agent.value.clone(),
                critic: row.critic.value.clone(),
                lens: row.lens.as_ref().map(|lens| lens.value.clone()),
                place: row.agent.place.clone(),
            };
            return rows.iter().map(row).collect();
        }
        let is_there = |name: &str| self.agents.contains_key(name) || config.agents.contains_key(name);
        let rows = OF_CLAUDE.into_iter().filter(|_| self.layout == Layout::Claude);
        let rows = rows.filter(|(agent, critic, _)| is_there(agent) && is_there(critic));
        let dual = |(agent, critic, lens): (&str, &str, &str)| Dual {
            agent: agent.to_owned(),
            critic: critic.to_owned(),
            lens: Some(lens.to_owned()),
            place: None,
        };
        rows.map(dual).collect()
    }
}

/// Everybody who has a file or settings, except modules.
fn known_agents(agents: &BTreeMap<String, AgentFile>, config: &Config) -> BTreeSet<String> {
    let files = agents.values().filter(|agent| !agent.module).map(|agent| agent.name.clone());
    files.chain(config.agents.keys().cloned()).collect()
}

fn registry_of(
    reader: &mut LayoutReader<'_>,
    places: &LayoutPaths,
    config: &Config,
) -> Option<(PathBuf, String)> {
    let path = places.registry.as_ref()?;
    let text = reader.needed_if_there(path);
    if let (None, Some(named)) = (&text, &config.project.registry) {
        let message = format!("the registry `{}` cannot be read", brief(&path.display().to_string()));
        reader.problems.push(Problem::error(message).at(named.place.as_ref()));
    }
    text.map(|text| (path.clone(), text))
}

/// Every Markdown file of a folder, by name.
fn docs(reader: &mut LayoutReader<'_>, folder: &Path) -> Vec<Doc> {
    const MOST: usize = 500;
    let entries = reader.entries_if_there(folder).into_iter();
    let files = entries.filter(|e| !e.is_folder && e.name.to_ascii_lowercase().ends_with(".md")).take(MOST);
    files.filter_map(|entry| Doc::read(reader, &entry.path)).collect()
}

/// Each text once: `AGENTS.md` is often a link to `CLAUDE.md`, or a copy.
fn always(reader: &mut LayoutReader<'_>, places: &LayoutPaths) -> Vec<Doc> {
    let files: Vec<Doc> = places.always.iter().filter_map(|path| Doc::read(reader, path)).collect();
    let rules = places.rules.iter().flat_map(|folder| docs(reader, folder));
    let rules = rules.filter(|doc| Some(&doc.path) != places.registry.as_ref());
    let rules = rules.filter(|doc| doc.path.file_name().is_none_or(|name| name != RUBRICS));
    let mut once: Vec<Doc> = Vec::new();
    for doc in files.into_iter().chain(rules) {
        if once.iter().all(|other| other.text != doc.text) {
            once.push(doc);
        }
    }
    once
}

const RUBRICS: &str = "scoring-rubrics.md";

fn rubrics(reader: &mut LayoutReader<'_>, places: &LayoutPaths) -> Vec<Doc> {
    let mut folders = vec![PathBuf::from("rubrics"), PathBuf::new()];
    folders.extend(places.rules.clone());
    folders.extend(places.references.clone());
    folders.extend([places.home.join("rubrics"), places.home.clone()]);
    for entry in reader.entries_if_there(&places.skills).into_iter().filter(|entry| entry.is_folder) {
        folders.extend(["config", "templates", "references"].map(|inner| entry.path.join(inner)));
    }
    let mut found: Vec<Doc> = Vec::new();
    for folder in folders {
        let path = folder.join(RUBRICS);
        if found.iter().all(|doc| doc.path != path) {
            found.extend(Doc::read(reader, &path));
        }
    }
    found
}

/// `rubrics/NAME.md` and `.toml`, of the root, then of the layout, then ours.
fn own_rubrics(reader: &mut LayoutReader<'_>, home: &Path) -> BTreeMap<String, Doc> {
    const MOST: usize = 2_000;
    let mut found = BTreeMap::new();
    for folder in [PathBuf::from("rubrics"), home.join("rubrics"), PathBuf::from(".gadfly/rubrics")] {
        for entry in reader.entries_if_there(&folder).into_iter().filter(|e| !e.is_folder) {
            let stem = entry.name.strip_suffix(".md").or_else(|| entry.name.strip_suffix(".toml"));
            let Some(stem) = stem.filter(|_| entry.name != RUBRICS && found.len() < MOST) else { continue };
            if !found.contains_key(stem)
                && let Some(doc) = Doc::read(reader, &entry.path)
            {
                found.insert(stem.to_owned(), doc);
            }
        }
    }
    found
}

fn say_guesses(path: &Path, text: &str, found: &Frontmatter, guessed: &mut Vec<Problem>) {
    for guess in &found.guesses {
        let place = SourceSpan::new(path, text, guess.span.clone());
        guessed.push(Problem::warning(&guess.message).at(Some(&place)));
    }
}

#[cfg(test)]
mod tests;
