//! What a rejection rests on: earlier items that are still open, something the revision changed, removed or broke, or only
//! new requirements. Similar wording may keep a rejection; it overrules one only where the critic itself says of every
//! earlier item that it is addressed.

use std::collections::BTreeSet;

use super::SentItem;
use crate::evidence::folded::folded;
use crate::reading::quote;
use crate::reading::status::{Bullet, Status, StatusReply};
use crate::review::ReviewItem;

/// How alike two wordings must be to count as the same item, as a share of their words.
const ALIKE: f64 = 0.6;
/// How much of an item's own words a tick must repeat to mean it.
const REPEATED: f64 = 0.3;
/// Shorter words say nothing about a text.
const SHORTEST: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ground {
    /// An approval, a first rejection, or one that rests on something the worker was asked for.
    Stands,
    /// Every earlier item is marked addressed and every open bullet is new.
    OnlyNew,
}

pub(super) fn ground(reply: &StatusReply, items: &[SentItem], draft: &str, previous: Option<&str>) -> Ground {
    let open: Vec<u32> = items.iter().filter(|s| s.open).map(|s| s.item.number).collect();
    if reply.status == Status::Approved || open.is_empty() {
        return Ground::Stands;
    }
    let addressed = marked_addressed(&reply.addressed, items);
    let recurs = reply.open.iter().any(|b| recurs_as(b, items).is_some());
    let all_addressed = open.iter().all(|n| addressed.contains(n));
    let introduced = previous.is_some_and(|p| reply.open.iter().any(|b| names_a_change(b, draft, p)));
    if all_addressed && !recurs && !introduced { Ground::OnlyNew } else { Ground::Stands }
}

/// The earlier items the critic marked addressed: by number, or in words that mean one of them more than any other.
pub(super) fn marked_addressed(ticked: &[Bullet], items: &[SentItem]) -> Vec<u32> {
    let known = |n: &u32| items.iter().any(|s| s.item.number == *n);
    let mut numbers: Vec<u32> = Vec::new();
    let mut worded: Vec<&Bullet> = Vec::new();
    for bullet in ticked {
        let cited: Vec<u32> = bullet.cites.iter().copied().filter(known).collect();
        if cited.is_empty() {
            worded.push(bullet);
        }
        numbers.extend(cited);
    }
    for bullet in worded {
        let said = significant(&bullet.whole);
        let best = items
            .iter()
            .filter(|s| s.open && !numbers.contains(&s.item.number))
            .map(|s| (s.item.number, repeated(&significant(&s.item.text), &said)))
            .filter(|(_, share)| *share >= REPEATED)
            .max_by(|a, b| a.1.total_cmp(&b.1));
        // A list's own number names the item where the words do not.
        let listed = bullet.listed.filter(known);
        numbers.extend(best.map(|(n, _)| n).or(listed));
    }
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The earlier item an open bullet speaks of, by number or by similar wording.
pub(super) fn recurs_as(bullet: &Bullet, items: &[SentItem]) -> Option<u32> {
    if let Some(n) = cited(bullet, items) {
        return Some(n);
    }
    let said = words(&bullet.text);
    let alike = items
        .iter()
        .map(|s| (s.item.number, likeness(&said, &words(&s.item.text))))
        .filter(|(_, like)| *like >= ALIKE)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(n, _)| n);
    // `2. still not named`: what only says that it is still so means the item of its number.
    alike.or_else(|| {
        bullet.listed.filter(|n| is_only_a_state(&bullet.text) && items.iter().any(|s| s.item.number == *n))
    })
}

/// Does a complaint repeat enough of an item's own words to mean it?
pub(super) fn shares_words(item: &str, said: &str) -> bool {
    repeated(&significant(item), &significant(said)) >= REPEATED
}

/// The first earlier item an open bullet cites by number.
fn cited(bullet: &Bullet, items: &[SentItem]) -> Option<u32> {
    bullet.cites.iter().copied().find(|n| items.iter().any(|s| s.item.number == *n))
}

/// What the worker is told: the critic's words, with the item's own before them where the critic only says that it is
/// still open.
pub(super) fn told(bullet: &Bullet, earlier: Option<&ReviewItem>, items: &[SentItem]) -> String {
    // A number that names no item belongs to what the bullet says.
    let said = if cited(bullet, items).is_some() { &bullet.text } else { &bullet.whole };
    match earlier {
        Some(item) if is_only_a_state(said) => {
            let said = said.trim().trim_end_matches('.');
            if said.is_empty() { item.text.clone() } else { format!("{} ({said})", item.text) }
        }
        _ => said.clone(),
    }
}

/// `still not addressed`, `open`, `not fixed`: nothing that could be done without the item itself.
fn is_only_a_state(text: &str) -> bool {
    const STATES: [&str; 26] = [
        "still",
        "not",
        "open",
        "unresolved",
        "unaddressed",
        "addressed",
        "fixed",
        "resolved",
        "missing",
        "no",
        "yet",
        "partially",
        "partly",
        "the",
        "is",
        "it",
        "same",
        "remains",
        "unchanged",
        "was",
        "has",
        "been",
        "done",
        "as",
        "before",
        "item",
    ];
    let words = words(text);
    words.len() <= 8
        && words
            .iter()
            .all(|word| STATES.contains(&word.as_str()) || word.chars().all(|c| c.is_ascii_digit()))
}

/// Does a bullet name something that the revision brought in, took out or changed: in a quotation of whatever marks, or by
/// a word that only one of the two drafts has, or by saying so?
fn names_a_change(bullet: &Bullet, draft: &str, previous: &str) -> bool {
    const SAID: [&str; 18] = [
        "revision",
        "removed",
        "deleted",
        "dropped",
        "introduced",
        "broke",
        "broken",
        "lost",
        "regress",
        "no longer",
        "new error",
        "newly",
        "changed",
        "replaced",
        "reintroduced",
        "overwritten",
        "truncated",
        "now says",
    ];
    let lower = bullet.whole.to_lowercase();
    if SAID.iter().any(|word| lower.contains(word)) {
        return true;
    }
    let (now, before) = (folded(draft).to_lowercase(), folded(previous).to_lowercase());
    let quoted = quote::all(&bullet.whole).into_iter().any(|q| {
        let q = folded(q).to_lowercase();
        q.chars().count() >= 2 && now.contains(&q) != before.contains(&q)
    });
    let (now, before) = (significant(&now), significant(&before));
    let changed: BTreeSet<&String> = now.symmetric_difference(&before).collect();
    quoted || significant(&bullet.whole).iter().any(|word| changed.contains(word))
}

/// Is every one of these items new, and about text that the draft before had, too? An item that quotes
/// nothing is unsure.
pub(super) fn only_new_about_old_text(open: &[ReviewItem], round: u32, previous: &str) -> bool {
    let previous = folded(previous);
    let stood_there = |item: &ReviewItem| {
        let quoted = quote::all(&item.text);
        !quoted.is_empty() && quoted.iter().all(|q| previous.contains(&folded(q)))
    };
    !open.is_empty() && open.iter().all(|item| item.since == round && stood_there(item))
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

/// The words that say what a text is about.
fn significant(text: &str) -> BTreeSet<String> {
    const COMMON: [&str; 20] = [
        "that", "this", "with", "from", "have", "been", "does", "still", "should", "must", "name", "state",
        "stated", "named", "whether", "which", "what", "here", "than", "into",
    ];
    words(text)
        .into_iter()
        .filter(|w| w.chars().count() >= SHORTEST && !COMMON.contains(&w.as_str()))
        .collect()
}

/// How much of the one stands in the other.
fn repeated(item: &BTreeSet<String>, said: &BTreeSet<String>) -> f64 {
    if item.is_empty() {
        return 0.0;
    }
    item.intersection(said).count() as f64 / item.len() as f64
}

/// Shared words over all words.
fn likeness(a: &[String], b: &[String]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let a: BTreeSet<&String> = a.iter().collect();
    let b: BTreeSet<&String> = b.iter().collect();
    a.intersection(&b).count() as f64 / a.union(&b).count() as f64
}
