//! Who makes what, and how that is said: the hint under a gap.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::look::FactsIndex;
use crate::pipeline::listing::{Matcher, Pattern};
use crate::pipeline::registry::{Check, Product, Registry, RegistryEntry};

/// The products of a registry, found by where their paths begin.
pub(super) struct Makers<'a> {
    by_folder: BTreeMap<&'a str, Vec<Made<'a>>>,
    /// What `{project}` stood for, as far as the paths tell.
    project: Option<&'a str>,
}

pub(super) struct Made<'a> {
    pub(super) entry: &'a RegistryEntry,
    pub(super) product: &'a Product,
    pub(super) pattern: &'a Pattern,
    nth: usize,
    literal: &'a str,
    is_plain: bool,
    matcher: OnceCell<Matcher<'a>>,
}

impl<'a> Makers<'a> {
    pub(super) fn of(registry: &'a Registry) -> Self {
        let mut by_folder: BTreeMap<&str, Vec<Made<'_>>> = BTreeMap::new();
        for (nth, entry) in registry.entries.iter().enumerate() {
            for product in &entry.produces {
                for pattern in product.patterns.iter().chain(&product.files) {
                    let (literal, is_plain) = (pattern.literal(), pattern.is_plain_file());
                    let matcher = OnceCell::new();
                    let made = Made { entry, product, pattern, nth, literal, is_plain, matcher };
                    by_folder.entry(pattern.fixed()).or_default().push(made);
                }
            }
        }
        Self { by_folder, project: project(registry) }
    }

    /// Everything that may be the same file as one of a pattern.
    pub(super) fn of_pattern(&self, of: &Pattern) -> Vec<&Made<'a>> {
        let fixed = of.fixed();
        let above = std::iter::once("").chain(fixed.match_indices('/').map(|(at, _)| &fixed[..=at]));
        let above = above.filter(|folder| folder.len() < fixed.len());
        let mut near: Vec<&Made<'_>> =
            above.filter_map(|folder| self.by_folder.get(folder)).flatten().collect();
        let below = self.by_folder.range::<str, _>((Bound::Included(fixed), Bound::Unbounded));
        near.extend(below.take_while(|(folder, _)| folder.starts_with(fixed)).flat_map(|(_, made)| made));
        let (literal, is_plain, matcher) = (of.literal(), of.is_plain_file(), OnceCell::new());
        near.retain(|made| {
            let may = made.literal.starts_with(literal) || literal.starts_with(made.literal);
            may && match (made.is_plain, is_plain) {
                (true, true) => made.pattern == of,
                (true, false) => matcher.get_or_init(|| of.matcher()).matches(&made.pattern.0),
                (false, true) => made.matcher.get_or_init(|| made.pattern.matcher()).matches(&of.0),
                (false, false) => true,
            }
        });
        near
    }

    /// What promises sections of exactly what a pattern names, in the order of the registry.
    pub(super) fn sectioned(&self, of: &Pattern) -> Vec<&Made<'a>> {
        let mut made = if of.is_plain_file() {
            self.of_pattern(of)
        } else {
            let here = self.by_folder.get(of.fixed()).map(Vec::as_slice).unwrap_or_default();
            here.iter().filter(|made| made.pattern == of).collect()
        };
        made.retain(|made| made.product.sectioned() == Some(made.pattern));
        made.sort_by_key(|made| made.nth);
        made
    }

    /// `quality_reports/strategy/x/strategy_memo.md` is the `strategy memo`, `quality_reports/literature/x/` is the
    /// `literature`.
    pub(super) fn name(&self, of: &Pattern) -> String {
        let parts: Vec<&str> = of.0.split('/').filter(|part| !part.is_empty()).collect();
        let is_plain = |part: &str| !part.contains(['*', '?', '[', '{']);
        let name = if of.is_plain_file() {
            parts.last().map(|last| last.rsplit_once('.').map_or(*last, |(stem, _)| stem))
        } else {
            let folders: Vec<&str> = parts.iter().copied().take_while(|part| is_plain(part)).collect();
            let own = folders.iter().rev().find(|part| self.project != Some(**part)).copied();
            let is_deep = self.project.is_none() && of.is_folder() && folders.len() > 2;
            if is_deep { folders.get(folders.len() - 2).copied() } else { own }
        };
        let words = name.unwrap_or(&of.0).replace(['_', '-'], " ");
        let project = self.project.map(|project| project.replace(['_', '-'], " "));
        let without = project.as_deref().and_then(|project| {
            let before = words.strip_prefix(project).and_then(|rest| rest.strip_prefix(' '));
            before.or_else(|| words.strip_suffix(project).and_then(|rest| rest.strip_suffix(' ')))
        });
        without.unwrap_or(&words).trim().to_lowercase()
    }
}

/// The folder that comes last below most others: `x` of `literature/x/` and `strategy/x/`.
fn project(registry: &Registry) -> Option<&str> {
    let mut parents: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entry in &registry.entries {
        let made = entry.produces.iter().flat_map(|product| &product.patterns);
        let needed = entry.requires.atoms().into_iter().filter_map(|atom| match &atom.check {
            Check::Path(pattern) => Some(pattern),
            _ => None,
        });
        for pattern in made.chain(needed) {
            if let Some((parent, last)) = pattern.fixed().trim_end_matches('/').rsplit_once('/') {
                parents.entry(last).or_default().insert(parent);
            }
        }
    }
    let most = parents.iter().max_by_key(|(_, parents)| parents.len());
    most.filter(|(_, parents)| parents.len() > 1).map(|(last, _)| *last)
}

impl<'a> FactsIndex<'a> {
    /// Who makes what a pattern names: first who runs here, then who names exactly that.
    fn maker(&self, of: &Pattern, but: &RegistryEntry) -> Option<&'a RegistryEntry> {
        let made = self.makers().of_pattern(of);
        let others = made.iter().filter(|made| made.entry.agent != but.agent);
        others
            .min_by_key(|made| (!self.facts.is_on(made.entry), made.pattern != of, made.nth))
            .map(|made| made.entry)
    }

    /// `/strategize`, or `agent strategist`.
    pub(super) fn call(&self, entry: &RegistryEntry) -> String {
        match self.facts.skills.get(&entry.agent) {
            Some(skill) => format!("/{}", skill.trim_start_matches('/')),
            None => format!("agent {}", entry.agent),
        }
    }

    /// `Run /strategize first to produce the strategy memo.`
    pub(super) fn how_to_make(&self, pattern: &Pattern, but: &RegistryEntry) -> String {
        let name = self.makers().name(pattern);
        match self.maker(pattern, but) {
            Some(maker) if self.facts.is_on(maker) => {
                format!("Run {} first to produce the {name}.", self.call(maker))
            }
            Some(maker) => format!("Enable agent {} first to produce the {name}.", maker.agent),
            None => format!("No other agent makes the {name}: put it there yourself."),
        }
    }

    pub(super) fn how_to_complete(&self, pattern: &Pattern, maker: &RegistryEntry) -> String {
        format!("Run {} again to complete the {}.", self.call(maker), self.makers().name(pattern))
    }
}
