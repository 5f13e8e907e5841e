//! Artifacts that lie beside the path the registry wants: a memo where the skill saves it, a report named by its date.
//! Proposals only: a person makes them aliases or moves the file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gadfly_engine::pipeline::{Pattern, Registry, RegistryEntry};

/// Deeper than any report folder in the wild.
const DEEPEST: usize = 4;
const MOST_FILES: usize = 20_000;
/// What skills save, where the registry wants a folder or another name: the folder's name, the file's beginning.
const SAVED_BY_SKILLS: [(&str, &str); 4] = [
    ("strategy", "strategy_memo"),
    ("literature", "lit_review"),
    ("data-assessment", "data_exploration"),
    ("theory", "theory_memo"),
];

/// A file that may be what an agent's entry names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NearMiss {
    pub agent: String,
    /// What the registry wants, and is not there.
    pub wanted: String,
    /// What is there.
    pub found: String,
}

/// For every file or folder of the registry that is not there, files that could be meant.
pub fn near_misses(registry: &Registry, root: &Path) -> Vec<NearMiss> {
    let mut tops = BTreeSet::new();
    for pattern in wanted(registry).map(|(_, pattern)| pattern) {
        tops.insert(pattern.0.split('/').next().unwrap_or_default().to_owned());
    }
    let mut files = Vec::new();
    for top in tops.iter().filter(|top| !top.is_empty() && !top.contains(['*', '?', '[', '{'])) {
        walk(root, top, 0, &mut files);
    }
    let mut found = BTreeSet::new();
    for (agent, pattern) in wanted(registry) {
        let matcher = pattern.matcher();
        if files.iter().any(|file| matcher.matches(file)) {
            continue;
        }
        for file in files.iter().filter(|file| is_near(pattern, file)) {
            // What another agent makes is no stray; nor is what the entry names itself.
            let is_others = |entry: &&RegistryEntry| entry.agent != agent && entry.makes(file);
            let is_named = |(_, named): &(&str, &Pattern)| named.is_plain_file() && named.0 == *file;
            if registry.entries.iter().any(|entry| is_others(&entry))
                || wanted(registry).any(|named| is_named(&named))
            {
                continue;
            }
            let (wanted, found_at) = (pattern.0.clone(), file.clone());
            found.insert(NearMiss { agent: agent.to_owned(), wanted, found: found_at });
        }
    }
    found.into_iter().collect()
}

fn wanted(registry: &Registry) -> impl Iterator<Item = (&str, &Pattern)> {
    registry.entries.iter().flat_map(|entry| {
        let products = entry.produces.iter();
        let named =
            products.flat_map(|p| if p.files.is_empty() { p.patterns.iter() } else { p.files.iter() });
        named.map(|pattern| (entry.agent.as_str(), pattern))
    })
}

/// Whether a file may be what a pattern names, under another name or at another place.
pub(crate) fn is_near(pattern: &Pattern, file: &str) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    let found = name(file);
    if pattern.is_folder() {
        // `quality_reports/literature/x/`: the folder that says what it is about comes before the project's.
        return pattern.0.split('/').any(|part| saved_as(part, &found));
    }
    let wanted = name(&pattern.0);
    let (Some((stem, ending)), Some((found_stem, found_ending))) = (split(&wanted), split(&found)) else {
        return false;
    };
    if ending != found_ending || pattern.is_glob() {
        return false;
    }
    let (stem, found_stem) = (tokens(stem), tokens(found_stem));
    let beside = |path: &str| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    // One word alone, as in `references.bib`, is a hint only in the same folder: `new_references.bib`.
    let is_telling = stem.len() > 1 || beside(&pattern.0) == beside(file);
    let holds = !stem.is_empty() && is_telling && found_stem.windows(stem.len()).any(|w| w == stem);
    // `x_referee_domain` and `2026-05-09_referee_domain`: the same but for what comes first.
    let shared = stem.iter().rev().zip(found_stem.iter().rev()).take_while(|(a, b)| a == b).count();
    let same_end = shared >= 2 && shared + 2 > stem.len();
    let saved = pattern.0.split('/').any(|part| saved_as(part, &found)) && stem == found_stem;
    holds || same_end || saved
}

fn saved_as(folder: &str, file: &str) -> bool {
    SAVED_BY_SKILLS.iter().any(|(known, beginning)| *known == folder && file.starts_with(beginning))
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.rsplit_once('.')
}

fn tokens(stem: &str) -> Vec<&str> {
    stem.split(['_', '-', ' ', '.']).filter(|token| !token.is_empty()).collect()
}

/// Plain files by their path in the project; no links are followed and nothing hidden is entered.
fn walk(root: &Path, at: &str, depth: usize, files: &mut Vec<String>) {
    let Ok(found) = fs::read_dir(root.join(at)) else { return };
    let mut entries: Vec<_> = found.filter_map(Result::ok).take(MOST_FILES).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) else { continue };
        if name.starts_with('.') || files.len() >= MOST_FILES {
            continue;
        }
        let path = format!("{at}/{name}");
        if kind.is_dir() && depth < DEEPEST {
            walk(root, &path, depth + 1, files);
        } else if kind.is_file() {
            files.push(path);
        }
    }
}
