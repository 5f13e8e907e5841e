//! What `check` says about the project's own files: registry, agents, skills, rubrics, hooks. It looks at no artifact's
//! bytes and decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gadfly_engine::pipeline::{Check, PairWeight, Pattern, Registry, RegistryEntry};
use gadfly_project::adopt::{NearMiss, near_misses};
use gadfly_project::layout::{self, Layout, ProjectFiles, ProjectName};
use gadfly_project::registry::{self, RegistryFile, RegistryNote};
use gadfly_project::{Config, Problem, deduction_table};
use gadfly_runtime::project_status::state_project;
use serde_json::json;

use crate::context::Context;
use crate::output::gate::percent;
use crate::output::safe;

/// Lines shown of one kind; `--json` has all.
const SHOWN: usize = 12;
/// Entries without their files for which strays are looked for.
const SOUGHT: usize = 20;
const MOST_HOOKS: usize = 100;
/// Components whose weights are shown one by one.
const MOST_WEIGHTS: usize = 20;

pub struct CheckedProject {
    files: ProjectFiles,
    pub problems: Vec<Problem>,
    name: Option<ProjectName>,
    notes: Vec<RegistryNote>,
    near: Vec<NearMiss>,
    hooks: Vec<String>,
}

impl CheckedProject {
    /// None if there is no more to a project than its configuration.
    pub fn look(context: &Context) -> Option<Self> {
        let (root, config) = (&context.root.dir, &context.config);
        let files = layout::read(root, config);
        let is_bare = files.registry.is_none() && files.agents.is_empty() && files.skills.is_empty();
        if is_bare && files.layout == Layout::Native && files.problems.is_empty() {
            return None;
        }
        let mut problems = files.problems.clone();
        let name = files.project_name(state_project(root).as_deref());
        let (mut notes, mut near) = (Vec::new(), Vec::new());
        if let Some(file) = &files.registry {
            problems.extend(file.problems.iter().cloned());
            problems.extend(layout::check(&files, config));
            problems.extend(rubrics(&files, &file.registry));
            problems.extend(unnamed(&file.registry).filter(|_| name.is_none()));
            problems.extend(uncast(&files, config));
            let agents = known(&files, config);
            notes.extend(file.notes.iter().cloned());
            notes.extend(registry::notes(file, &registry::CheckContext { agents: &agents, duals: &[] }));
            let project = name.as_ref().map_or("project", |name| name.name.as_str());
            near = strays(&registry::resolved(&file.registry, project), root);
        }
        let hooks = hooks(root, &files, config);
        Some(Self { files, problems, name, notes, near, hooks })
    }

    pub fn entries(&self) -> usize {
        self.registry().map_or(0, |file| file.registry.entries.len())
    }

    fn registry(&self) -> Option<&RegistryFile> {
        self.files.registry.as_ref()
    }

    /// For people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.files.summary()];
        if let Some(name) = &self.name {
            lines.push(format!("project {} (from {})", name.name, name.from));
        }
        if let Some(file) = self.registry() {
            lines.push(file.coverage.to_string());
            lines.extend(weighed(&file.registry));
            let path = file.path.display();
            let unknown = file
                .unknown
                .iter()
                .map(|(field, line)| format!("{path}:{line}: `{field}` means nothing here"));
            let notes = self.notes.iter().map(|note| format!("{path}:{}: {}", note.line, note.text));
            lines.extend(bounded("note", notes.chain(unknown)));
        }
        lines.extend(bounded(
            "guessed",
            self.files.guessed.iter().map(|guess| {
                let at = guess.at.as_ref().map(|at| format!("{}:{}: ", at.file.display(), at.line));
                format!("{}{}", at.unwrap_or_default(), guess.message)
            }),
        ));
        if !self.files.skills.is_empty() {
            let (mut index, mut largest) = (0_u32, 0_u32);
            for skill in self.files.skills.values() {
                index = index.saturating_add(skill.level1_tokens);
                largest = largest.max(skill.level2_tokens);
            }
            lines.push(format!(
                "skills: their index takes about {index} tokens, the longest of them {largest}"
            ));
        }
        lines.extend(bounded("hook", self.hooks.iter().cloned()));
        lines.extend(bounded(
            "suggestion",
            self.near
                .iter()
                .map(|near| format!("{} may be {}, which {} makes", near.found, near.wanted, near.agent)),
        ));
        lines.iter().map(|line| safe::line(line, 400)).collect()
    }

    /// For programs.
    pub fn as_json(&self) -> serde_json::Value {
        let file = self.registry();
        let notes: Vec<_> = self.notes.iter().map(|n| json!({ "text": n.text, "line": n.line })).collect();
        let near = self.near.iter();
        let near: Vec<_> =
            near.map(|n| json!({ "agent": n.agent, "wanted": n.wanted, "found": n.found })).collect();
        let skills = self.files.skills.values();
        let skills: Vec<_> = skills
            .map(|s| json!({ "name": s.name, "level_1_tokens": s.level1_tokens, "level_2_tokens": s.level2_tokens }))
            .collect();
        json!({
            "layout": self.files.layout.name(),
            "because": self.files.because,
            "name": self.name.as_ref().map(|name| json!({ "is": name.name, "from": name.from })),
            "registry": file.map(|file| &file.path),
            "entries": self.entries(),
            "agents": self.files.agents.len(),
            "skills": skills,
            "coverage": file.map(|f| json!({ "checked": f.coverage.checked, "manual": f.coverage.manual })),
            "weights": file.map(|file| weights(&file.registry)),
            "unknown_fields": file.map(|file| &file.unknown),
            "notes": notes,
            "guessed": self.files.guessed,
            "hooks": self.hooks,
            "near_misses": near,
        })
    }
}

/// Everybody who has a file or settings, except modules.
fn known(files: &ProjectFiles, config: &Config) -> BTreeSet<String> {
    let files = files.agents.values().filter(|agent| !agent.module).map(|agent| agent.name.clone());
    files.chain(config.agents.keys().cloned()).collect()
}

/// What is wrong with the tables critics deduct by.
fn rubrics(files: &ProjectFiles, registry: &Registry) -> Vec<Problem> {
    let own = |entry: &RegistryEntry| entry.judges().then(|| entry.agent.clone());
    let critics: BTreeSet<String> =
        registry.entries.iter().filter_map(|entry| entry.critic.clone().or_else(|| own(entry))).collect();
    let rubrics = critics.iter().filter_map(|critic| files.rubric_for(critic));
    let read = rubrics.map(|rubric| {
        let path = files.root.join(&rubric.path);
        deduction_table::read(&path, rubric.section.as_deref()).map_or_else(|e| e, |reading| reading.warnings)
    });
    read.flatten().collect()
}

/// A placeholder nobody can fill in.
fn unnamed(registry: &Registry) -> Option<Problem> {
    let made = registry.entries.iter().flat_map(|entry| &entry.produces);
    let mut made = made.flat_map(|product| product.patterns.iter().chain(&product.files));
    let mut needed = registry.entries.iter().flat_map(|entry| entry.requires.atoms());
    let is_used = made.any(|pattern| pattern.0.contains("{project}"))
        || needed.any(|atom| !matches!(atom.check, Check::Manual) && atom.text.contains("{project}"));
    is_used.then(|| {
        Problem::error("`{project}` is used in the registry but not set")
            .help("add to gadfly.toml: [project] name = \"my-paper\"")
    })
}

/// Agents that are known by their file and that nobody is configured to be.
fn uncast(files: &ProjectFiles, config: &Config) -> Option<Problem> {
    let is_set = |name: &str| config.agents.contains_key(name);
    let file = files.registry.as_ref()?;
    let nobody = file.registry.entries.iter().find(|entry| !is_set(&entry.agent) && !is_set("default"))?;
    let message = format!("no agent configured for `{}`: no pipeline can run yet", nobody.agent);
    let help =
        "add [agents.default] to gadfly.toml: it lends kind and model to all agents known by their files";
    Some(Problem::warning(message).help(help))
}

/// Files beside the paths that entries name and that are not there. Only the first of many are looked for.
fn strays(registry: &Registry, root: &Path) -> Vec<NearMiss> {
    let is_missing = |pattern: &Pattern| !pattern.is_glob() && !root.join(&pattern.0).exists();
    let lacks = |entry: &&RegistryEntry| {
        let mut made =
            entry.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files));
        made.any(is_missing)
    };
    let entries = registry.entries.iter().filter(lacks).take(SOUGHT).cloned().collect();
    let mut near = near_misses(&Registry { entries }, root);
    near.retain(|near| !registry.entries.iter().any(|entry| entry.makes(&near.found)));
    near
}

/// The weights for people: of very many only how many there are and what they add up to.
fn weighed(registry: &Registry) -> Vec<String> {
    let all = weights(registry);
    if all.len() <= MOST_WEIGHTS {
        let all = all.iter().map(|share| format!("weight {share}")).collect::<Vec<_>>().join(", ");
        return if all.is_empty() { Vec::new() } else { vec![all] };
    }
    let points = registry.entries.iter().filter_map(|entry| match entry.weight {
        PairWeight::Share { points, .. } => Some(points),
        _ => None,
    });
    let sum = percent(points.fold(0, u32::saturating_add));
    vec![format!("weights: {} components, together {sum} (--json has all)", all.len())]
}

/// The components and what they count for: as written, and of the whole.
fn weights(registry: &Registry) -> Vec<String> {
    let mut shares: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
    for entry in &registry.entries {
        if let PairWeight::Share { points, component, .. } = &entry.weight {
            let share = shares.entry(component.as_str()).or_insert((0, true));
            share.0 = share.0.saturating_add(*points);
            share.1 &= entry.conditional.is_some();
        }
    }
    let sum = |conditional: bool| -> u64 {
        shares
            .values()
            .filter(|(_, optional)| conditional || !optional)
            .map(|(points, _)| u64::from(*points))
            .sum()
    };
    let whole = sum(false).max(1);
    let of =
        |points: u32| u32::try_from((u64::from(points) * 10_000 + whole / 2) / whole).unwrap_or(u32::MAX);
    let shown = |(name, (points, optional)): (&&str, &(u32, bool))| match (optional, whole == 10_000) {
        (true, _) => format!("{name} {} (only where enabled)", percent(*points)),
        (false, true) => format!("{name} {}", percent(*points)),
        (false, false) => format!("{name} {} (normalised {})", percent(*points), percent(of(*points))),
    };
    shares.iter().map(shown).collect()
}

/// Commands that belong to events, and files that look as if they should.
fn hooks(root: &Path, files: &ProjectFiles, config: &Config) -> Vec<String> {
    let set = config.hooks.commands.iter();
    let set =
        set.flat_map(|(event, list)| list.iter().map(move |c| format!("{}: {}", event.name(), c.value)));
    let mut all: Vec<String> = set.collect();
    if files.layout == Layout::Claude {
        let found = std::fs::read_dir(root.join(".claude/hooks")).into_iter().flatten();
        let names = found.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MOST_HOOKS);
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        let is_named = |name: &String| all.iter().any(|hook| hook.contains(name.as_str()));
        let unused: Vec<&str> = names.iter().filter(|name| !is_named(name)).map(String::as_str).collect();
        let unused = match unused.as_slice() {
            [] => None,
            [one] => Some(format!(".claude/hooks/{one} is not run: name it under [hooks] to have it run")),
            many => Some(format!(
                "{} files of .claude/hooks are not run: name them under [hooks] to have them run",
                many.len()
            )),
        };
        all.extend(unused);
    }
    all
}

fn bounded(what: &str, rows: impl Iterator<Item = String>) -> Vec<String> {
    let mut rows: Vec<String> = rows.map(|row| format!("{what}: {row}")).collect();
    let more = rows.len().saturating_sub(SHOWN);
    rows.truncate(SHOWN);
    if more > 0 {
        rows.push(format!("{what}: and {more} more (--json has all)"));
    }
    rows
}
