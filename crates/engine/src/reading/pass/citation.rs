//! What a finding cites: a `file:line`, and text it quotes from the artifact. Whether either exists is
//! checked elsewhere (`evidence`).

use crate::finding::Finding;
use crate::reading::{place, quote};

/// Words of a finding about something that is not there: it cannot quote it.
const ABSENCE: [&str; 9] =
    ["missing", "absent", "lacks", "lacking", "omits", "omitted", "deleted", "removed", "nowhere"];

/// Words with which a text in quotation marks is said not to occur.
const NOWHERE: [&str; 9] = ["0", "no", "none", "not", "never", "zero", "neither", "without", "instead"];

/// So many places of one answer are checked.
const MOST_PLACES: usize = 20;

/// What speaks for the work in this text: every place it cites, and what it quotes in quotation marks. Words
/// that are only said not to occur are no quotation, and backticks set off names, not passages.
pub(super) fn claims(claim: &Finding, text: &str) -> Vec<Finding> {
    let mut claims: Vec<Finding> = place::all(text)
        .take(MOST_PLACES)
        .map(|place| Finding { place: Some(place), ..claim.clone() })
        .collect();
    if !is_about_absence(text) && !has_word(text, &NOWHERE) {
        claims.extend(quotation(text).map(|q| Finding { quote: Some(q.to_owned()), ..claim.clone() }));
    }
    claims
}

/// Fills in place, quote and absence from the text the critic wrote.
pub(super) fn attach(finding: &mut Finding, text: &str) {
    finding.place = place::all(text).next();
    finding.quote = quote(text);
    finding.absent = is_about_absence(text);
}

fn is_about_absence(text: &str) -> bool {
    const DENIED: [&str; 2] = ["no task", "no step"];
    let lower = text.to_ascii_lowercase();
    has_word(text, &ABSENCE)
        || has_word(text, &["none", "nobody", "nothing", "neither"])
        || DENIED.iter().any(|phrase| lower.contains(phrase))
}

fn has_word(text: &str, list: &[&str]) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.any(|w| list.iter().any(|a| w.eq_ignore_ascii_case(a)))
}

/// The longest passage in quotation marks; if there is none, in backticks. A cited place is no quotation.
fn quote(text: &str) -> Option<String> {
    quotation(text).or_else(|| longest(quote::backticked(text))).map(str::to_owned)
}

fn quotation(text: &str) -> Option<&str> {
    longest(quote::passages(text).into_iter())
}

fn longest<'a>(passages: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let quoted = passages.filter(|p| p.chars().count() > 1 && place::cited(p).is_none());
    quoted.max_by_key(|p| p.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    fn cited(text: &str) -> (Option<String>, Option<String>, bool) {
        let mut finding = Finding::new("R", Severity::Fail, text, "critic");
        attach(&mut finding, text);
        (finding.shown_place(), finding.quote, finding.absent)
    }

    #[test]
    fn places_and_quotations_are_found() {
        let cases: [(&str, Option<&str>, Option<&str>); 14] = [
            ("src/a.rs:12 swallows the error", Some("src/a.rs:12"), None),
            ("(src/a.rs:12-15) swallows", Some("src/a.rs:12-15"), None),
            ("see `src/a.rs:12`.", Some("src/a.rs:12"), None),
            ("a.rs:12:5 is wrong", Some("a.rs:12"), None),
            ("draft:4 contradicts itself", Some("draft:4"), None),
            ("a.md:L4–L6 is vague", Some("a.md:4-6"), None),
            ("a.rs:99999999999 is wrong", Some("a.rs:4294967295"), None),
            ("at 10:30, ratio 3:1, http://host.org:8080 and localhost:80", None, None),
            ("the text says \"as soon as possible\"", None, Some("as soon as possible")),
            ("“soon” in draft:2", Some("draft:2"), Some("soon")),
            ("`a` is short, `retry_forever` loops", None, Some("retry_forever")),
            ("\"soon\" beside `a_much_longer_name`", None, Some("soon")),
            ("the writer's own words aren't quoted", None, None),
            ("", None, None),
        ];
        for (text, place, quote) in cases {
            let (found, quoted, _) = cited(text);
            assert_eq!((found.as_deref(), quoted.as_deref()), (place, quote), "{text}");
        }
    }

    #[test]
    fn what_is_missing_cannot_be_quoted() {
        assert!(cited("the section `Rollback` is missing").2);
        assert!(cited("The plan lacks a timeout").2);
        assert!(!cited("the timeout `30` is too short").2);
    }

    #[test]
    fn a_text_of_many_marks_is_read_once() {
        let text = "`a.b:1 \"".repeat(200_000);
        assert!(cited(&text).0.is_some());
    }
}
