//! Which row of the rubric a deduction means. A row is found by its id, by its text, or by points and
//! category where only one fits; two rows that fit equally well are none.

use std::collections::BTreeSet;

use super::Claim;
use crate::deduction::{DeductionRow, DeductionTable, Level, Points, slug, words};

/// The longest name that is compared, in characters.
const LONGEST_NAME: usize = 400;

/// A table with its texts folded once, to look many claims up.
pub(super) struct Rows<'a> {
    table: &'a DeductionTable,
    texts: Vec<Folded<'a>>,
}

struct Folded<'a> {
    row: &'a DeductionRow,
    whole: String,
    /// Without what stands in brackets.
    core: String,
}

/// A row's text must have so many characters to be looked for inside a sentence.
const SHORTEST_INSIDE: usize = 4;

impl<'a> Rows<'a> {
    pub(super) fn of(table: &'a DeductionTable) -> Self {
        let folded = |row: &'a DeductionRow| Folded {
            row,
            whole: spaced(&row.text),
            core: spaced(&without_brackets(&row.text)),
        };
        Self { table, texts: table.rows.iter().map(folded).collect() }
    }

    pub(super) fn find(&self, claim: &Claim, level: Level) -> Option<&'a DeductionRow> {
        let names = claim.names.iter().map(|n| n.chars().take(LONGEST_NAME).collect::<String>());
        let said: Vec<String> = names.filter(|n| !n.trim().is_empty()).collect();
        said.iter()
            .find_map(|name| self.by_id(name))
            .or_else(|| said.iter().find_map(|name| self.by_text(name)))
            .or_else(|| claim.gravity.and_then(|g| self.table.row(g.name())))
            .or_else(|| self.by_points(claim, level))
    }

    fn by_id(&self, name: &str) -> Option<&'a DeductionRow> {
        let plain = name.trim().trim_matches(['`', '*', '"', '\'', '[', ']', '#']).trim();
        self.table.row(plain).or_else(|| {
            // `noSampleSize` is three words.
            let spaced = slug(&crate::reading::relaxed::key(plain).replace('_', " "));
            let said = [slug(plain), spaced];
            let named = |row: &&DeductionRow| {
                said.iter().any(|said| !said.is_empty() && row.id.eq_ignore_ascii_case(said))
            };
            only(self.table.rows.iter().filter(named))
        })
    }

    fn by_text(&self, name: &str) -> Option<&'a DeductionRow> {
        let said = spaced(name);
        if said.trim().is_empty() {
            return None;
        }
        let equal = self.texts.iter().filter(|t| t.whole == said || t.core == said);
        if let Some(row) = only(equal.map(|t| t.row)) {
            return Some(row);
        }
        let inside = |part: &str| part.trim().chars().count() >= SHORTEST_INSIDE && said.contains(part);
        // The row's text inside what was said: of several the longest, for one may contain another.
        let contained: Vec<&Folded<'a>> =
            self.texts.iter().filter(|t| inside(&t.whole) || inside(&t.core)).collect();
        let longest = contained.iter().map(|t| t.core.len()).max();
        if let Some(row) = only(contained.iter().filter(|t| Some(t.core.len()) == longest).map(|t| t.row)) {
            return Some(row);
        }
        let several = said.split_whitespace().count() >= 2;
        let around = self.texts.iter().filter(|t| several && t.whole.contains(&said));
        only(around.map(|t| t.row)).or_else(|| self.by_words(&said))
    }

    /// Every word of the row that carries meaning occurs in what was said, in whatever order.
    fn by_words(&self, said: &str) -> Option<&'a DeductionRow> {
        // One source, two sources.
        let single = |word: &str| word.strip_suffix('s').filter(|w| w.len() >= 3).unwrap_or(word).to_owned();
        let said: BTreeSet<String> = said.split_whitespace().map(single).collect();
        let fits = self.texts.iter().filter_map(|t| {
            let carrying: Vec<&str> = t.core.split_whitespace().filter(|w| w.chars().count() >= 4).collect();
            let all = carrying.len() >= 2 && carrying.iter().all(|w| said.contains(&single(w)));
            all.then_some((t.row, carrying.len()))
        });
        let fits: Vec<(&DeductionRow, usize)> = fits.collect();
        let most = fits.iter().map(|(_, n)| *n).max();
        only(fits.into_iter().filter(|(_, n)| Some(*n) == most).map(|(row, _)| row))
    }

    /// The one row of the claim's category with these points.
    fn by_points(&self, claim: &Claim, level: Level) -> Option<&'a DeductionRow> {
        let (points, category) = (claim.points?, spaced(claim.category.as_deref()?));
        if category.trim().is_empty() {
            return None;
        }
        only(self.table.rows.iter().filter(|row| {
            let same = row.category.as_deref().map(spaced).is_some_and(|c| c == category);
            let each = self.table.rate(row, level).each;
            let times = claim.times.unwrap_or(1);
            let fits = match &row.points {
                Points::Flat(_) => each == points,
                _ => each == points || each.times(times) == points,
            };
            same && fits
        }))
    }
}

fn only<'a>(mut rows: impl Iterator<Item = &'a DeductionRow>) -> Option<&'a DeductionRow> {
    let first = rows.next()?;
    rows.all(|row| row.id == first.id).then_some(first)
}

/// Words with a space on either side of each, so that containment never splits a word.
fn spaced(text: &str) -> String {
    let mut spaced = String::from(" ");
    for word in words(text) {
        spaced.push_str(&word);
        spaced.push(' ');
    }
    spaced
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0u32;
    let mut kept = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '(' | '[' => depth = depth.saturating_add(1),
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}
