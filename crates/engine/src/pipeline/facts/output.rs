//! Whether an agent's products are what its entry promises.

use super::ProjectFacts;
use crate::pipeline::headings::has_section;
use crate::pipeline::listing::Pattern;
use crate::pipeline::registry::{Product, RegistryEntry};

/// What a product lacks: files, then sections. Empty if it names nothing that can be looked at.
pub(super) fn lacking(facts: &ProjectFacts<'_>, product: &Product) -> Vec<String> {
    let mut gaps = if product.patterns.len() > 1 {
        of_alternatives(facts, product)
    } else {
        let mut gaps = missing_files(facts, product, &mut product.files.iter());
        let is_empty =
            product.patterns.first().filter(|pattern| gaps.is_empty() && !facts.listing.has(pattern));
        gaps.extend(is_empty.map(|pattern| format!("missing {pattern}")));
        gaps
    };
    if let (true, Some(pattern)) = (gaps.is_empty(), of_sections(facts, product)) {
        gaps.extend(missing_sections(facts, pattern, &product.sections));
    }
    gaps
}

/// A file of an agent's work, if it was begun: one that the registry names, or else something in every folder it names.
/// One folder alone proves nothing, since templates and tools keep files there, too.
pub(super) fn begun(facts: &ProjectFacts<'_>, entry: &RegistryEntry) -> Option<String> {
    let products: Vec<Vec<&Pattern>> = entry
        .produces
        .iter()
        .map(|product| product.patterns.iter().chain(&product.files).collect())
        .collect();
    let found = |pattern: &&Pattern| {
        let mut paths = facts.listing.matching(pattern).map(|(path, _)| path);
        paths.find(|path| pattern.is_plain_file() || !sets_tools_up(path)).map(str::to_owned)
    };
    let mut named = products.iter().flatten().filter(|pattern| pattern.is_plain_file());
    if let Some(path) = named.find_map(found) {
        return Some(path);
    }
    let folders = products.iter().filter(|patterns| patterns.iter().any(|p| !p.is_plain_file()));
    let each: Option<Vec<String>> = folders.map(|patterns| patterns.iter().find_map(found)).collect();
    each?.into_iter().next()
}

/// A template brings these, whoever works there.
pub(super) fn sets_tools_up(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(stem, "latexmkrc" | "Makefile" | "README" | "LICENSE" | "_quarto")
        || matches!(ending, "cls" | "sty" | "bst" | "csl" | "scss" | "css" | "gitkeep")
}

/// Says so if nothing of a product was created or changed.
pub(super) fn unchanged(
    facts: &ProjectFacts<'_>,
    product: &Product,
    changed: &dyn Fn(&str) -> bool,
) -> Option<String> {
    let mut all = product.patterns.iter().chain(&product.files).peekable();
    all.peek()?;
    let is_changed = |pattern: &Pattern| facts.listing.matching(pattern).any(|(path, _)| changed(path));
    if all.any(is_changed) {
        return None;
    }
    let named = if product.patterns.is_empty() { &product.files } else { &product.patterns };
    Some(format!("{} was not changed", joined(named, " or ")))
}

/// Says which of these sections no file has that a pattern names.
pub(super) fn missing_sections(
    facts: &ProjectFacts<'_>,
    pattern: &Pattern,
    sections: &[String],
) -> Option<String> {
    let read: Vec<&Vec<String>> =
        facts.listing.matching(pattern).filter_map(|(path, _)| facts.headings.get(path)).collect();
    let is_missing = |section: &&String| !read.iter().any(|headings| has_section(headings, section));
    let missing: Vec<String> = sections.iter().filter(is_missing).map(|name| format!("\"{name}\"")).collect();
    let unread = if read.is_empty() { ", which cannot be read as text" } else { "" };
    match missing.len() {
        0 => None,
        1 => Some(format!("missing section {} in {pattern}{unread}", missing.concat())),
        _ => Some(format!("missing sections {} in {pattern}{unread}", missing.join(", "))),
    }
}

/// One alternative, with the files that belong into it, is enough.
fn of_alternatives(facts: &ProjectFacts<'_>, product: &Product) -> Vec<String> {
    let belongs = |pattern: &Pattern, file: &Pattern| pattern.matches(&file.0);
    let everywhere = product.files.iter().filter(|file| !product.patterns.iter().any(|p| belongs(p, file)));
    let mut gaps = missing_files(facts, product, &mut everywhere.into_iter());
    let is_whole = |pattern: &Pattern| {
        let mut files = product.files.iter().filter(|file| belongs(pattern, file));
        facts.listing.has(pattern) && files.all(|file| facts.listing.has(file))
    };
    if !product.patterns.iter().any(is_whole) {
        gaps.push(format!("none of: {}", joined(&product.patterns, ", ")));
    }
    gaps
}

/// The pattern sections have to stand in. Of alternatives the first that is there.
fn of_sections<'p>(facts: &ProjectFacts<'_>, product: &'p Product) -> Option<&'p Pattern> {
    let sectioned = product.sectioned()?;
    if facts.listing.has(sectioned) {
        return Some(sectioned);
    }
    let alternatives = if product.files.is_empty() { &product.patterns } else { &product.files };
    alternatives.iter().find(|pattern| facts.listing.has(pattern)).or(Some(sectioned))
}

fn missing_files(
    facts: &ProjectFacts<'_>,
    product: &Product,
    files: &mut dyn Iterator<Item = &Pattern>,
) -> Vec<String> {
    let folder = |file: &Pattern| product.patterns.iter().find(|p| p.is_folder() && file.0.starts_with(&p.0));
    let say = |file: &Pattern| match folder(file) {
        Some(folder) => format!("missing {} in {folder}", &file.0[folder.0.len()..]),
        None => format!("missing {file}"),
    };
    files.filter(|file| !facts.listing.has(file)).map(say).collect()
}

fn joined(patterns: &[Pattern], between: &str) -> String {
    patterns.iter().map(|pattern| pattern.0.as_str()).collect::<Vec<_>>().join(between)
}
