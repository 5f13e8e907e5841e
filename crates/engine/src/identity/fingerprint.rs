//! A name for a finding that other tools can keep: the same as long as the point is, whatever line it moved to.

use std::collections::HashMap;

use super::traits::rule;
use super::words::plain_words;
use crate::corpus::normal;
use crate::digest::Digest;
use crate::evidence::folded::folded;
use crate::finding::Finding;

/// Hexadecimal digits of a fingerprint.
const DIGITS: usize = 32;

/// A stable fingerprint: from rule, criterion, path, section or function, and the quote; without a quote from
/// the wording. Never from a line, a round, a number or the critic.
pub fn fingerprint(finding: &Finding) -> String {
    let quote = finding.quote.as_deref().map(folded).filter(|quote| !quote.is_empty());
    let (kind, text) = match quote {
        Some(quote) => ("quote", quote),
        None => ("words", plain_words(&finding.says)),
    };
    let parts = [
        rule(&finding.rule),
        finding.criterion.clone().unwrap_or_default(),
        finding.place.as_ref().map(|place| normal(&place.path)).unwrap_or_default(),
        finding.within.clone().unwrap_or_default(),
        kind.to_owned(),
        text,
    ];
    let mut joined = String::new();
    for part in parts {
        joined.push_str(&part);
        joined.push('\0');
    }
    Digest::of(joined.as_bytes()).to_string().chars().take(DIGITS).collect()
}

/// The fingerprints of one review's findings. Those that would share one are counted in the order of their
/// lines: the first keeps the plain one, the next get `:2`, `:3` …
pub fn fingerprints(findings: &[Finding]) -> Vec<String> {
    let mut named: Vec<(usize, String)> = findings.iter().map(fingerprint).enumerate().collect();
    let line = |at: usize| findings.get(at).and_then(|f| f.place.as_ref()).and_then(|place| place.line);
    named.sort_by(|(a, _), (b, _)| (line(*a), a).cmp(&(line(*b), b)));
    let mut counts: HashMap<String, u32> = HashMap::new();
    for (_, name) in &mut named {
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            *name = format!("{name}:{count}");
        }
    }
    named.sort_by_key(|(at, _)| *at);
    named.into_iter().map(|(_, name)| name).collect()
}
