//! What a finding cites: a `file:line`, and text it quotes from the artifact. Whether either exists is
//! checked elsewhere (`evidence`).

use crate::finding::{Finding, Place};

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
    let mut claims: Vec<Finding> =
        places(text).take(MOST_PLACES).map(|place| Finding { place: Some(place), ..claim.clone() }).collect();
    if !is_about_absence(text) && !has_word(text, &NOWHERE) {
        claims.extend(quotation(text).map(|q| Finding { quote: Some(q.to_owned()), ..claim.clone() }));
    }
    claims
}

/// Fills in place, quote and absence from the text the critic wrote.
pub(super) fn attach(finding: &mut Finding, text: &str) {
    finding.place = places(text).next();
    finding.quote = quote(text);
    finding.absent = is_about_absence(text);
}

fn is_about_absence(text: &str) -> bool {
    has_word(text, &ABSENCE)
}

fn has_word(text: &str, list: &[&str]) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.any(|w| list.iter().any(|a| w.eq_ignore_ascii_case(a)))
}

/// The longest passage in quotation marks; if there is none, in backticks. A cited place is no quotation.
fn quote(text: &str) -> Option<String> {
    quotation(text).or_else(|| longest_between(text, '`', '`')).map(str::to_owned)
}

fn quotation(text: &str) -> Option<&str> {
    let marks = [('"', '"'), ('“', '”'), ('«', '»')];
    let quoted = marks.iter().filter_map(|(open, close)| longest_between(text, *open, *close));
    quoted.max_by_key(|q| q.len())
}

fn longest_between(text: &str, open: char, close: char) -> Option<&str> {
    let mut longest: Option<&str> = None;
    let mut rest = text;
    while let Some((inner, tail)) = rest.split_once(open).and_then(|(_, after)| after.split_once(close)) {
        let inner = inner.trim();
        let is_quotation = inner.chars().count() > 1 && located(inner).is_none();
        if is_quotation && longest.is_none_or(|l| l.len() < inner.len()) {
            longest = Some(inner);
        }
        rest = tail;
    }
    longest
}

/// Every `path:line` and `path:line-end`.
fn places(text: &str) -> impl Iterator<Item = Place> + '_ {
    let parts =
        |c: char| c.is_whitespace() || matches!(c, '`' | '"' | '“' | '”' | '(' | ')' | '[' | ']' | ',' | ';');
    text.split(parts).filter_map(located)
}

fn located(token: &str) -> Option<Place> {
    let token = token.trim_matches(|c: char| matches!(c, '.' | ':' | '*' | '_' | '\'' | '!' | '?'));
    let (path, lines) = token.rsplit_once(':')?;
    let (path, lines) = match path.rsplit_once(':') {
        // `a.rs:12:5` has a column.
        Some((file, line)) if is_number(line) && is_number(lines) => (file, line),
        _ => (path, lines),
    };
    let (first, last) = match lines.split_once(['-', '–']) {
        Some((first, last)) => (first, Some(last.trim_start_matches('L'))),
        None => (lines, None),
    };
    let first = first.trim_start_matches('L');
    let names_a_file = path == "draft" || (path.contains(['.', '/']) && path.contains(char::is_alphabetic));
    if !names_a_file || path.contains("://") || path.len() > 300 || !is_number(first) {
        return None;
    }
    let end = match last {
        Some(last) if !is_number(last) => return None,
        Some(last) => Some(last.parse().unwrap_or(u32::MAX)),
        None => None,
    };
    // A number too large for any file stays one: it has to be found wrong, not overlooked.
    Some(Place { path: path.to_owned(), line: Some(first.parse().unwrap_or(u32::MAX)), end })
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
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
