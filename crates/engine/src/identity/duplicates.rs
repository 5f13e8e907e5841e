//! One point stated twice in one round, by one critic or by two. Merging loses a finding, so it needs more than
//! a match across rounds does: the same rule and criterion, no place or quote that speaks against it.

use std::collections::HashMap;

use super::MATCHED;
use super::traits::{ArtifactView, Traits};
use crate::digest::Digest;
use crate::finding::Finding;

/// A duplicate, and where the finding that stays stands in the list afterwards.
pub(super) struct Merged {
    pub(super) duplicate: Finding,
    pub(super) kept: usize,
}

/// Rule and criterion: findings that differ in either are never duplicates.
type Drawer = (String, Option<String>);

/// Takes duplicates out. What stays has the highest severity of them and whatever it did not say itself.
pub(super) fn merge(findings: &mut Vec<Finding>, view: &mut ArtifactView<'_>) -> Vec<Merged> {
    let mut kept: Vec<Finding> = Vec::with_capacity(findings.len());
    let mut merged = Vec::new();
    let mut word_for_word: HashMap<Digest, usize> = HashMap::new();
    let mut by_rule: HashMap<Drawer, Vec<(usize, Traits)>> = HashMap::new();
    let mut compared = 0;
    for finding in findings.drain(..) {
        if !finding.is_supported() {
            kept.push(finding);
            continue;
        }
        let exact = exact(&finding);
        let mut same = word_for_word.get(&exact).copied();
        if same.is_none() && compared < MATCHED {
            compared += 1;
            let traits = view.traits(&finding);
            let alike = by_rule.entry((traits.rule.clone(), finding.criterion.clone())).or_default();
            same = alike.iter().find(|(_, earlier)| is_duplicate(earlier, &traits)).map(|(at, _)| *at);
            if same.is_none() {
                alike.push((kept.len(), traits));
            }
        }
        match same.and_then(|at| Some((at, kept.get_mut(at)?))) {
            Some((at, stays)) if stays.absent == finding.absent => {
                take_over(stays, &finding);
                merged.push(Merged { duplicate: finding, kept: at });
            }
            _ => {
                word_for_word.insert(exact, kept.len());
                kept.push(finding);
            }
        }
    }
    *findings = kept;
    merged
}

fn exact(finding: &Finding) -> Digest {
    let place = finding.shown_place();
    let parts = (&finding.rule, &finding.criterion, place, &finding.quote, &finding.says, finding.absent);
    Digest::of(format!("{parts:?}").as_bytes())
}

fn take_over(stays: &mut Finding, duplicate: &Finding) {
    stays.severity = stays.severity.max(duplicate.severity);
    if stays.fix.is_empty() {
        stays.fix.clone_from(&duplicate.fix);
    }
    let fill = |own: &mut Option<String>, other: &Option<String>| {
        if own.is_none() {
            own.clone_from(other);
        }
    };
    fill(&mut stays.quote, &duplicate.quote);
    fill(&mut stays.within, &duplicate.within);
    if stays.place.is_none() {
        stays.place.clone_from(&duplicate.place);
    }
    if stays.raw.is_none() {
        stays.raw.clone_from(&duplicate.raw);
    }
}

/// Rule and criterion are equal already.
fn is_duplicate(a: &Traits, b: &Traits) -> bool {
    let apart = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    if apart(&a.path, &b.path) || apart(&a.within, &b.within) {
        return false;
    }
    let one_quote = !a.quote.is_empty() && a.quote == b.quote;
    let other_specifics = a.says.names_others(&b.says) || a.says.counts_others(&b.says);
    let other_subject = !one_quote && a.says.substitutes(&b.says);
    if other_specifics || other_subject || a.says_all().opposes(b.says_all()) {
        return false;
    }
    let one_line = a.line.is_some() && a.line == b.line && a.path == b.path;
    if !one_line && a.line.is_some() && b.line.is_some() {
        return false;
    }
    let wording = a.says.likeness(&b.says).max(a.says_all().likeness(b.says_all()));
    match (a.quote.is_empty(), b.quote.is_empty()) {
        (false, false) => (one_quote || one_line && overlap(&a.quote, &b.quote)) && wording >= 350,
        _ if one_line => wording >= 500,
        // Nothing but words: only the same ones, for `logging in` is not `logging out`.
        (true, true) => a.path == b.path && a.says_exactly == b.says_exactly,
        _ => false,
    }
}

fn overlap(a: &str, b: &str) -> bool {
    a.contains(b) || b.contains(a)
}
