//! Does a rationale hold a quantity: "M of N", a count, a measure?
//!
//! Digits count unless they belong to a name (`v2`, `UTF-8`) or a citation (`a.rs:12`); so do spelled
//! numbers from two to twelve and a few larger ones. "None", "zero" and "one" by themselves are turns of
//! speech: they count beside a total, and the total is then a quantity itself.

const SPELLED: [&str; 17] = [
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "dozen",
    "twenty", "thirty", "fifty", "hundred", "thousand",
];

/// Words after which "one" is a count.
const COUNTING: [&str; 5] = ["exactly", "only", "just", "least", "most"];

pub fn has_quantity(text: &str) -> bool {
    let text = without_empty_numbers(text);
    has_digits(&text) || has_spelled(&text)
}

/// Years and how sure somebody is measure nothing about the work.
fn without_empty_numbers(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%');
        let next = words.get(at + 1).map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
        let before = at.checked_sub(1).and_then(|n| words.get(n)).map(|w| w.to_lowercase());
        let year = bare.len() == 4
            && (bare.starts_with("19") || bare.starts_with("20"))
            && bare.bytes().all(|b| b.is_ascii_digit());
        let dated = before.as_deref().is_some_and(|w| {
            ["of", "in", "since", "by", "from", "until", "year", "early", "late"].contains(&w)
        });
        let sure = next.as_deref().is_some_and(|w| {
            ["confident", "sure", "certain", "confidence", "certainty", "positive", "clear"].contains(&w)
        });
        if year && (dated || next.is_none()) || sure {
            continue;
        }
        kept.push(word);
    }
    kept.join(" ")
}

fn has_digits(text: &str) -> bool {
    // The two characters before the one looked at.
    let mut before: [char; 2] = [' ', ' '];
    let mut in_token = false;
    for c in text.chars() {
        if c.is_numeric() && !in_token {
            let [second, first] = before;
            let named = is_name(first)
                || (first == '-' && is_name(second))
                || (first == ':' && !second.is_whitespace() && !second.is_numeric());
            if !named {
                return true;
            }
            in_token = true;
        } else if !(c.is_numeric() || matches!(c, '.' | ',' | '-' | ':')) {
            in_token = false;
        }
        before = [before[1], c];
    }
    false
}

/// Only letters of names like `v2`: a language without spaces puts its digits right after its words.
const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn has_spelled(text: &str) -> bool {
    let mut last = "";
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        if SPELLED.iter().any(|spelled| word.eq_ignore_ascii_case(spelled)) {
            return true;
        }
        if word.eq_ignore_ascii_case("one") && COUNTING.iter().any(|c| last.eq_ignore_ascii_case(c)) {
            return true;
        }
        last = word;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::has_quantity;

    #[test]
    fn counts_and_measures_are_quantities() {
        for text in [
            "5 of 5 requirements have a threshold",
            "12/12 confirmed",
            "100% of the branches",
            "p95 is below 30 ms",
            "0 of 14 lines apply",
            "0 occurrences in the file",
            "none of the seven callers",
            "exactly one caller, which was read",
            "at least one per section",
            "Two callers.",
            "(3)",
            "~3x",
            "共检查3处",
            "٣ من ٥",
            "½ of the text",
            "ratio 3:1",
            "see a.rs:12, where 4 branches are handled",
            "a dozen inputs",
        ] {
            assert!(has_quantity(text), "{text}");
        }
    }

    #[test]
    fn names_citations_and_turns_of_speech_are_not() {
        for text in [
            "",
            "none",
            "zero issues",
            "compliant",
            "no one could object",
            "one sees that it holds",
            "one of the better texts",
            "handled as UTF-8 by v2 of the parser",
            "see src/a.rs:12",
            "see src/a.rs:12-15",
            "see `draft:4`",
            "sha256 is used, as in ISO-8601",
            "someone, often, weight, tenant",
            "all present, fully covered",
            "as of 2026 nothing is missing",
            "I am 100% confident",
        ] {
            assert!(!has_quantity(text), "{text}");
        }
    }
}
