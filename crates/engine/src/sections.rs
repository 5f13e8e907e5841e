//! Compares two drafts by section, to show a person which sections changed although nobody asked.
//! A hint only: no decision reads it.

use std::collections::BTreeSet;

use crate::reading::quote;
use crate::review::ReviewItem;

/// Headings of the sections that differ and that no open item speaks of.
pub fn changed_unasked(previous: &str, draft: &str, asked: &[ReviewItem]) -> Vec<String> {
    let before = split(previous);
    let after = split(draft);
    if before.len().max(after.len()) < 2 {
        return Vec::new();
    }
    let mut changed = Vec::new();
    for (heading, body) in &after {
        let old = before.iter().find(|(h, _)| h == heading).map(|(_, b)| b.as_str());
        if old == Some(body.as_str()) {
            continue;
        }
        let old = old.unwrap_or("");
        if !is_asked_for(asked, heading, old, body) {
            changed.push(heading.clone());
        }
    }
    for (heading, body) in &before {
        if after.iter().all(|(h, _)| h != heading) && !is_asked_for(asked, heading, body, "") {
            changed.push(format!("{heading} (removed)"));
        }
    }
    changed
}

/// Sections by Markdown heading; what stands before the first is `(opening)`. Headings in code fences
/// are text.
fn split(draft: &str) -> Vec<(String, String)> {
    let mut sections: Vec<(String, String)> = vec![("(opening)".into(), String::new())];
    let mut fenced = false;
    for line in draft.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let heading = line.trim_start_matches('#');
        let level = line.len() - heading.len();
        if !fenced && (1..=6).contains(&level) && heading.starts_with(' ') {
            sections.push((heading.trim().to_owned(), String::new()));
        } else if let Some((_, body)) = sections.last_mut() {
            body.push_str(line.trim_end());
            body.push('\n');
        }
    }
    if sections.len() > 1 && sections[0].1.trim().is_empty() {
        sections.remove(0);
    }
    sections
}

/// Does any item speak of this section: by its heading, by a quote from it, or by a word that changed?
fn is_asked_for(asked: &[ReviewItem], heading: &str, old: &str, new: &str) -> bool {
    let heading = heading.to_lowercase();
    let changed: BTreeSet<String> =
        significant(old).symmetric_difference(&significant(new)).cloned().collect();
    asked.iter().map(|item| item.text.as_str()).any(|item| {
        item.to_lowercase().contains(&heading)
            || quote::all(item).iter().any(|q| old.contains(q) || new.contains(q))
            || !significant(item).is_disjoint(&changed)
    })
}

fn significant(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|w| w.chars().count() >= 5).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(text: &str) -> ReviewItem {
        ReviewItem { number: 1, text: text.into(), since: 1 }
    }

    #[test]
    fn a_section_nobody_asked_about_is_named() {
        let before = "# Methods\nWe measured ten mice.\n# Results\nAll was well.\n";
        let after = "# Methods\nWe measured ten mice twice.\n# Results\nEverything was splendid.\n";
        assert_eq!(changed_unasked(before, after, &[item("state in Methods how often")]), ["Results"]);
        assert_eq!(changed_unasked(before, before, &[]), Vec::<String>::new());
        assert_eq!(changed_unasked(before, "# Methods\nWe measured ten mice.\n", &[]), ["Results (removed)"]);
    }

    #[test]
    fn headings_inside_code_are_text() {
        assert_eq!(split("# A\n```\n# not a heading\n```\n").len(), 1);
    }
}
