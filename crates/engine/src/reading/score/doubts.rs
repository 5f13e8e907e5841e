//! What speaks against a report by which the work would pass: its own words, and what they say of rows that it did not deduct.

use super::rows::Rows;
use super::{Claim, Expected, Said};
use crate::deduction::{self, Amount, DeductionTable};
use crate::finding::Finding;
use crate::reading::Unread;
use crate::reading::doubt::{self, Rule, Scope};
use crate::reading::forms;

/// What speaks against a report by which the work would pass.
pub(super) fn doubts(
    said: &Said,
    findings: &[Finding],
    stated: Option<Amount>,
    expected: &Expected<'_>,
) -> Result<(), Unread> {
    let basis = match expected.table {
        Some(_) => "what it deducts passes",
        None => "the stated score passes",
    };
    if let Some(stated) = stated.filter(|stated| *stated < Amount::whole(expected.threshold)) {
        return Err(Unread::torn(
            format!(
                "it states {stated}, which does not pass, and lists deductions by which the work would pass"
            ),
            &format!("score: {stated}"),
            &said.score_lines.first().cloned().unwrap_or_default(),
        ));
    }
    if let Some((why, passage)) = said.against.first() {
        return Err(Unread::torn(why.clone(), basis, passage));
    }
    if said.in_words && stated.is_none() {
        return Err(Unread::new(
            "it states no total, so that a deduction may have been lost: add a line `Score: N/100`",
        ));
    }
    // Beside deductions a report describes what is wrong; what is not among them was not deducted.
    let rows = expected.table.map(Rows::of);
    let is_deducted = |text: &str| {
        let claim = Claim { names: vec![text.to_owned()], ..Claim::default() };
        let named = rows.as_ref().and_then(|rows| rows.find(&claim, expected.level));
        match named {
            Some(row) => findings.iter().any(|finding| finding.rule == row.id),
            None => !findings.is_empty(),
        }
    };
    if let Some(passage) = said.undeducted.iter().find(|text| !is_deducted(text)) {
        return Err(Unread::torn(
            "it lists something against the work and takes nothing off",
            basis,
            passage,
        ));
    }
    // What a note says of something that was deducted is no more than that.
    let counts = |rule: &Rule, passage: &str| match rule {
        Rule::Demand | Rule::Defect | Rule::Condition | Rule::Unclear | Rule::Unaffirmed => {
            !findings.iter().any(|f| speaks_of(passage, f) || is_the_only(passage))
        }
        Rule::Shortfall => false,
        _ => true,
    };
    for text in said.notes.iter().chain(&said.prose) {
        // `Otherwise …` beside deductions: apart from those.
        let apart = ["Otherwise", "Other than that", "Apart from that", "Beyond that", "Aside from that"];
        let rest = apart.iter().find_map(|head| text.trim_start().strip_prefix(head));
        let text = rest.filter(|_| !findings.is_empty()).unwrap_or(text);
        let text = &if findings.is_empty() {
            text.to_owned()
        } else {
            text.replace(" otherwise ", " ").replace(" otherwise.", ".")
        };
        let text = &expected.table.map_or_else(|| text.to_owned(), |table| without_rows(text, table));
        for sentence in doubt::all_against(text, Scope::Prose) {
            let (rule, passage) = &sentence;
            if counts(rule, passage) || *rule != Rule::Unaffirmed && passes_and_turns(passage) {
                return Err(Unread::torn(rule.sentence(), basis, passage));
            }
        }
    }
    if said.passed_over && !findings.is_empty() && said.spoken_points.is_some() {
        let passage = said.spoken_points.clone().unwrap_or_default();
        if !findings.iter().any(|f| speaks_of(&passage, f)) {
            return Err(Unread::torn("points stand in its words that are not in its list", basis, &passage));
        }
    }
    Ok(())
}

/// A note that a row was considered and does not apply, without the row's name: that is a lack by itself.
fn without_rows(text: &str, table: &DeductionTable) -> String {
    let lower = text.to_ascii_lowercase();
    let decided = lower.contains(" but ") || lower.contains("decided against it, because");
    let waived = lower.contains("considered") && decided
        || ["does not apply", "do not apply", "not applicable", "doesn't apply"]
            .iter()
            .any(|w| lower.contains(w));
    let mut kept = text.to_owned();
    if waived {
        for row in &table.rows {
            while let Some(at) = kept.to_ascii_lowercase().find(&row.text.to_ascii_lowercase()) {
                kept.replace_range(at..at + row.text.len(), "that row");
            }
            // `claims without a design`, where the row is `Causal claim without design`
            if let Some((_, what)) = row.text.to_ascii_lowercase().split_once(" without ") {
                let what = what.trim_start_matches("a ");
                for phrase in
                    [format!("without a {what}"), format!("without {what}"), format!("without any {what}")]
                {
                    kept = kept.replace(&phrase, "of that row");
                }
            }
        }
    }
    kept
}

/// `PASS, but the number must be added before it is used`: a verdict that turns is about the whole, whatever was deducted.
fn passes_and_turns(passage: &str) -> bool {
    let first = passage.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|first| forms::is_one_of(first, forms::PASSING)) && doubt::turns(passage)
}

/// `The only thing I would deduct for is …`: it announces what the list holds.
fn is_the_only(passage: &str) -> bool {
    let lower = passage.trim_start_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    lower.starts_with("the only ")
        && lower.contains(" deduct")
        && !lower.contains("not ")
        && !doubt::turns(passage)
}

/// Does a passage share a word that carries meaning with what was deducted?
fn speaks_of(passage: &str, finding: &Finding) -> bool {
    let of = [&finding.rule, &finding.says, &finding.fix, finding.quote.as_ref().unwrap_or(&finding.rule)];
    let carrying: Vec<String> = of
        .into_iter()
        .flat_map(|text| deduction::words(text).collect::<Vec<_>>())
        .filter(|word| word.chars().count() >= 5)
        .collect();
    deduction::words(passage).any(|word| carrying.contains(&word))
}
