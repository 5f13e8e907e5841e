//! Whose paths meet a path. Patterns can only meet if what is written out of one begins what is written out of the
//! other, so few of them have to be compared; a glob is made ready once.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use gadfly_engine::pipeline::Pattern;
use gadfly_engine::pipeline::listing::Matcher;

/// What some agents make, each thing once, by how it begins.
#[derive(Default)]
pub(super) struct Meeting<'a>(BTreeMap<&'a str, BTreeMap<&'a Pattern, MadePath<'a>>>);

#[derive(Default)]
struct MadePath<'a> {
    /// Numbers of agents.
    by: Vec<usize>,
    matcher: OnceCell<Matcher<'a>>,
}

impl<'a> Meeting<'a> {
    pub fn of(made: impl Iterator<Item = (usize, &'a Pattern)>) -> Self {
        let mut all = Self::default();
        for (number, pattern) in made {
            all.0.entry(pattern.literal()).or_default().entry(pattern).or_default().by.push(number);
        }
        all
    }

    /// Who makes something that can be one file with what a pattern names, in order.
    pub fn with(&self, pattern: &Pattern) -> Vec<usize> {
        let literal = pattern.literal();
        let longer = self.0.range(literal..).take_while(|(made, _)| made.starts_with(literal));
        let shorter = literal.char_indices().filter_map(|(at, _)| self.0.get(&literal[..at]));
        let own = OnceCell::new();
        let near = longer.map(|(_, near)| near).chain(shorter).flatten();
        let meets = near.filter(|(made, known)| {
            let theirs = || known.matcher.get_or_init(|| made.matcher());
            may_meet(made, pattern)
                && match (made.is_plain_file(), pattern.is_plain_file()) {
                    (true, true) => **made == pattern,
                    (true, false) => own.get_or_init(|| pattern.matcher()).matches(&made.0),
                    (false, true) => theirs().matches(&pattern.0),
                    (false, false) => true,
                }
        });
        let numbers: BTreeSet<usize> = meets.flat_map(|(_, known)| known.by.iter().copied()).collect();
        numbers.into_iter().collect()
    }
}

/// Two globs of one folder cannot mean one file if their ends differ.
fn may_meet(a: &Pattern, b: &Pattern) -> bool {
    let is_glob = |pattern: &Pattern| pattern.is_glob() && !pattern.is_folder();
    if !is_glob(a) || !is_glob(b) {
        return true;
    }
    let (x, y) = (end(a), end(b));
    x.ends_with(y) || y.ends_with(x)
}

fn end(pattern: &Pattern) -> &str {
    pattern.0.rsplit(['*', '?', ']', '}']).next().unwrap_or_default()
}
