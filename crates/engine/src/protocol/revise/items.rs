//! What a rejection rests on: earlier items that are still open, an error the revision introduced, or
//! only new requirements. Similar wording may keep a rejection, it never overrules one.

use super::Sent;
use crate::brief::{neutralise, one_line};
use crate::review::Item;
use crate::status_grammar::{Bullet, Status, StatusReply};

/// How alike two wordings must be to count as the same item, as a share of their words.
const ALIKE: f64 = 0.6;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ground {
    /// An approval, a first rejection, or one that rests on something the worker was asked for.
    Stands,
    /// Every earlier item is marked addressed and every open bullet is new.
    OnlyNew,
    /// It speaks of none of the earlier items.
    Unaccounted,
}

pub(super) fn ground(reply: &StatusReply, items: &[Sent], draft: &str, previous: Option<&str>) -> Ground {
    let open: Vec<u32> = items.iter().filter(|s| s.open).map(|s| s.item.number).collect();
    if reply.status == Status::Approved || open.is_empty() {
        return Ground::Stands;
    }
    let addressed = marked_addressed(&reply.addressed, items);
    let recurs = reply.open.iter().any(|b| recurs_as(b, items).is_some());
    if !recurs && addressed.is_empty() {
        return Ground::Unaccounted;
    }
    let all_addressed = open.iter().all(|n| addressed.contains(n));
    let introduced = previous.is_some_and(|p| quote_new_text(&reply.open, draft, p));
    if all_addressed && !recurs && !introduced { Ground::OnlyNew } else { Ground::Stands }
}

/// The earlier items the critic marked addressed: by number, or by repeating an item's own words.
pub(super) fn marked_addressed(ticked: &[Bullet], items: &[Sent]) -> Vec<u32> {
    let mut numbers: Vec<u32> = ticked
        .iter()
        .flat_map(|bullet| {
            let cited: Vec<u32> =
                bullet.cites.iter().copied().filter(|n| items.iter().any(|s| s.item.number == *n)).collect();
            if !cited.is_empty() {
                return cited;
            }
            let said = format!(" {} ", words(&bullet.text).join(" "));
            items
                .iter()
                .filter(|s| {
                    let item = words(&s.item.text).join(" ");
                    !item.is_empty() && said.contains(&format!(" {item} "))
                })
                .map(|s| s.item.number)
                .collect()
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// The earlier item an open bullet speaks of, by number or by similar wording.
pub(super) fn recurs_as(bullet: &Bullet, items: &[Sent]) -> Option<u32> {
    if let Some(n) = cited(bullet, items) {
        return Some(n);
    }
    let said = words(&bullet.text);
    items
        .iter()
        .map(|s| (s.item.number, likeness(&said, &words(&s.item.text))))
        .filter(|(_, like)| *like >= ALIKE)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(n, _)| n)
}

/// The first earlier item an open bullet cites by number.
pub(super) fn cited(bullet: &Bullet, items: &[Sent]) -> Option<u32> {
    bullet.cites.iter().copied().find(|n| items.iter().any(|s| s.item.number == *n))
}

/// Does one of the bullets quote text that the revision brought in?
fn quote_new_text(bullets: &[Bullet], draft: &str, previous: &str) -> bool {
    let fold = |t: &str| crate::brief::one_line(&neutralise(t));
    let (draft, previous) = (fold(draft), fold(previous));
    bullets.iter().flat_map(|b| quotes(&b.text)).any(|q| {
        let q = fold(q);
        q.chars().count() >= 2 && draft.contains(&q) && !previous.contains(&q)
    })
}

/// Is every one of these items new, and about text that the draft before had, too? An item that quotes
/// nothing is unsure.
pub(super) fn only_new_about_old_text(open: &[Item], round: u32, previous: &str) -> bool {
    let previous = one_line(&neutralise(previous));
    let stood_there = |item: &Item| {
        let quoted = quotes(&item.text);
        !quoted.is_empty() && quoted.iter().all(|q| previous.contains(&one_line(&neutralise(q))))
    };
    !open.is_empty() && open.iter().all(|item| item.since == round && stood_there(item))
}

/// Quoted passages: "…", “…”, «…», `…`.
pub(crate) fn quotes(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”'), ('«', '»'), ('`', '`')] {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inner, tail)) = after.split_once(close) else { break };
            found.push(inner.trim());
            rest = tail;
        }
    }
    found.retain(|q| !q.is_empty());
    found
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

/// Shared words over all words.
fn likeness(a: &[String], b: &[String]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let a: std::collections::BTreeSet<&String> = a.iter().collect();
    let b: std::collections::BTreeSet<&String> = b.iter().collect();
    a.intersection(&b).count() as f64 / a.union(&b).count() as f64
}
