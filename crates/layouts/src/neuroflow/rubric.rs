//! The rubric of a phase, as far as the project's own pages give it: only what can be a criterion is taken.

use gadfly_project::place::Sourced;
use gadfly_project::rubric::{Contributor, RubricSource};

use super::page::Page;

/// Keys that say what a text has to be, and how a criterion says it. Those marked apply to prose only.
const KEYS: [(&str, &str, bool); 8] = [
    ("target_journal", "follows the conventions of the target journal:", true),
    ("funder", "meets what the funder asks for:", true),
    ("writing_style", "is written in this style:", true),
    ("word_limit", "keeps to the word limit:", true),
    ("modality", "fits the project's modality:", false),
    ("research_question", "serves the project's research question:", false),
    ("goal", "serves the project's goal:", false),
    ("objectives", OBJECTIVE, false),
];
const OBJECTIVE: &str = "agrees with the project's objective:";

/// Headings whose bullets are criteria as they stand.
const CRITERIA: [&str; 7] = [
    "acceptance criteria",
    "success criteria",
    "criteria",
    "rubric",
    "requirements",
    "constraints",
    "must have",
];

/// Headings whose bullets are still to be settled.
const OPEN: [&str; 4] = ["open items", "open questions", "open issues", "to do"];

/// Phases whose drafts are not prose for a journal.
const CODE: [&str; 11] = [
    "experiment",
    "tool-build",
    "tool-validate",
    "data",
    "data-preprocess",
    "data-analyze",
    "brain-build",
    "brain-optimize",
    "brain-run",
    "finance",
    "git",
];

pub(super) struct Pages<'a> {
    pub config: Option<&'a Page>,
    pub objectives: Option<&'a Page>,
    pub flow: Option<&'a Page>,
    pub phase_flow: Option<&'a Page>,
    /// What a lab wants every review to look at.
    pub checklist: Option<&'a Page>,
}

/// The items by contributor, and a line for each page that gave some.
pub(super) fn of(phase: &str, pages: &Pages<'_>) -> (Vec<RubricSource>, Vec<String>) {
    let order = [
        (Contributor::Config, pages.config),
        (Contributor::Flow, pages.flow),
        (Contributor::PhaseFlow, pages.phase_flow),
    ];
    let (mut sources, mut notes) = (Vec::new(), Vec::new());
    for (n, (from, page)) in order.into_iter().enumerate() {
        let mut items = Vec::new();
        if let Some(page) = page {
            let own = from == Contributor::PhaseFlow;
            // The same key in a page nearer to the phase counts in its place.
            let nearer = |key: &str| {
                order.iter().skip(n + 1).filter_map(|(_, p)| *p).any(|p| !p.values(key).is_empty())
            };
            for (key, says, prose) in KEYS {
                if (prose && CODE.contains(&phase) && !own) || nearer(key) {
                    continue;
                }
                items.extend(page.values(key).into_iter().map(|v| v.map(|v| format!("{says} {v}"))));
            }
            items.extend(objectives(page.bullets_under(&["objectives", "project objectives"])));
            items.extend(page.bullets_under(&CRITERIA));
            if from != Contributor::Config {
                items.extend(open_items(page.open_under(&OPEN)));
            }
            note(page, items.len(), &mut notes);
        }
        if let (Contributor::Config, Some(page)) = (from, pages.checklist) {
            let found = page.items();
            note(page, found.len(), &mut notes);
            items.extend(found);
        }
        if let (Contributor::Config, Some(page)) = (from, pages.objectives) {
            let found = objectives(page.items());
            note(page, found.len(), &mut notes);
            items.extend(found);
        }
        sources.push(RubricSource { from, items });
    }
    (sources, notes)
}

fn open_items(items: Vec<Sourced<String>>) -> Vec<Sourced<String>> {
    items.into_iter().map(|i| i.map(|text| format!("takes account of the open item: {text}"))).collect()
}

fn objectives(items: Vec<Sourced<String>>) -> Vec<Sourced<String>> {
    items.into_iter().map(|i| i.map(|text| format!("{OBJECTIVE} {text}"))).collect()
}

fn note(page: &Page, count: usize, notes: &mut Vec<String>) {
    if count > 0 {
        let items = if count == 1 { "item" } else { "items" };
        notes.push(format!("{count} rubric {items} from {}", page.path.display()));
    }
}
