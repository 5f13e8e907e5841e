//! The entries of a run that is about some agents only. Whoever makes something is dispatched whatever it requires. Whoever
//! judges, as a critic of others or by an entry of its own, judges what is there: the files it was given, else what it
//! usually judges; its report goes where the skill saves it.

use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::registry::{Atom, Check, Need, PairWeight, Product, Registry, RegistryEntry};
use gadfly_engine::protocol::score::settings::EscalateTo;
use gadfly_project::{Problem, suggest};

use super::{PipelineRequest, ProjectRegistry};

/// All entries, or those that were asked for.
pub(super) fn entries(
    known: &ProjectRegistry,
    request: &PipelineRequest,
    problems: &mut Vec<Problem>,
) -> Registry {
    if request.only.is_empty() {
        return known.registry.clone();
    }
    let registry = &known.registry;
    // Who makes what others need comes first, as in the registry.
    let place = |name: &String| registry.entries.iter().position(|entry| entry.agent == *name);
    let mut names: Vec<&String> = request.only.iter().collect();
    names.sort_by_key(|name| place(name).unwrap_or(usize::MAX));
    let mut entries = Vec::new();
    for name in names {
        let judged = registry.judged_by(name).next();
        match (registry.get(name), judged) {
            (Some(entry), _) if entry.judges() => {
                let requires = looks_at(files_of(entry, registry), request);
                entries.push(RegistryEntry { conditional: None, requires, ..entry.clone() });
            }
            // Whoever is asked for by name runs.
            (Some(entry), _) => {
                entries.push(RegistryEntry { conditional: None, requires: Need::default(), ..entry.clone() });
            }
            (None, Some(first)) => entries.push(critic(name, first, known, request)),
            (None, None) => {
                let names: Vec<&str> = registry.entries.iter().map(|entry| entry.agent.as_str()).collect();
                problems.push(
                    Problem::error(format!("the registry has no agent `{name}`"))
                        .maybe_help(suggest::did_you_mean(name, &names)),
                );
            }
        }
    }
    Registry { entries }
}

/// A critic that is dispatched by itself: its verdict is about what is there, and its report is a file.
fn critic(
    name: &str,
    first: &RegistryEntry,
    known: &ProjectRegistry,
    request: &PipelineRequest,
) -> RegistryEntry {
    let makes = |entry: &RegistryEntry| made(entry).cloned().collect::<Vec<_>>();
    let usual = known.registry.judged_by(name).flat_map(makes).collect();
    let report = Product { patterns: vec![Pattern(report(name, known, request))], ..Product::default() };
    RegistryEntry {
        agent: name.to_owned(),
        phase: first.phase.clone(),
        requires: looks_at(usual, request),
        produces: vec![report],
        escalate_to: EscalateTo::User,
        weight: PairWeight::Share { points: 10_000, component: name.to_owned(), binary: false },
        ..RegistryEntry::default()
    }
}

/// What an entry that judges is about: files its conditions name, and the work whose scores they ask for.
fn files_of(entry: &RegistryEntry, registry: &Registry) -> Vec<Pattern> {
    let mut files: Vec<Pattern> = Vec::new();
    for atom in entry.requires.atoms() {
        match &atom.check {
            Check::Path(pattern) | Check::Contains { folder: pattern, .. } => files.push(pattern.clone()),
            Check::Score { critic, .. } => files.extend(registry.judged_by(critic).flat_map(made).cloned()),
            Check::Overall { .. } | Check::Components { .. } => {
                let workers = registry.entries.iter().filter(|other| other.critic.is_some());
                files.extend(workers.flat_map(made).cloned());
            }
            Check::Manual => {}
        }
    }
    files
}

fn made(entry: &RegistryEntry) -> impl Iterator<Item = &Pattern> {
    entry.produces.iter().flat_map(|product| product.patterns.iter().chain(&product.files))
}

/// The files that were named count, else the usual ones. Of a paper its main file stands for the parts it is made of.
fn looks_at(usual: Vec<Pattern>, request: &PipelineRequest) -> Need {
    let mut patterns: Vec<Pattern> = Vec::new();
    for file in &request.judged {
        patterns.push(Pattern(file.clone()));
        let ending = file.rsplit_once('.').map(|(_, ending)| format!(".{ending}"));
        if let Some(ending) = ending.filter(|_| usual.iter().any(|pattern| pattern.0 == *file)) {
            patterns.extend(usual.iter().filter(|pattern| pattern.0.ends_with(&ending)).cloned());
        }
    }
    if patterns.is_empty() {
        patterns = usual;
    }
    patterns.sort();
    patterns.dedup();
    let atom = |pattern: Pattern| {
        Need::Atom(Atom { text: format!("`{pattern}`"), line: 0, check: Check::Path(pattern) })
    };
    Need::All(patterns.into_iter().map(atom).collect())
}

/// Where a critic's report goes: where the skill saves one, if that is the one meant; else among the reviews.
fn report(critic: &str, known: &ProjectRegistry, request: &PipelineRequest) -> String {
    let about = request.judged.first().and_then(|file| std::path::Path::new(file).file_stem());
    let about = about.map_or_else(|| known.project.clone(), |stem| stem.to_string_lossy().into_owned());
    let filled = |path: &String| {
        let mut path = path.replace("YYYY-MM-DD_", "").replace("{project}", &known.project);
        while let (Some(from), Some(to)) = (path.find('['), path.find(']')) {
            if to < from {
                break;
            }
            path.replace_range(from..=to, &about);
        }
        path
    };
    let is_plain = |path: &String| Pattern(path.clone()).is_plain_file() && !path.contains("..");
    let critics = request.only.iter().filter(|name| known.registry.get(name).is_none()).count();
    let saved = request.reports.iter().map(filled).find(is_plain).filter(|_| critics == 1);
    saved.unwrap_or_else(|| format!("{}/reviews/{about}_{critic}.md", known.files.layout.state_folder()))
}
