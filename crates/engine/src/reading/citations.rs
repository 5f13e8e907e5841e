//! What a piece of evidence points at: `file:line` places, `file@test` names and passages in double quotes.
//!
//! Only these can be checked against the artifact. Backticks mark names and commands, which may well be
//! absent ("no `unwrap` is left"), so they are not taken for quotations.

use super::{place, quote};
use crate::corpus::Corpus;
use crate::evidence::folded::folded;
use crate::finding::{Finding, Location, Severity};

/// The most citations of one piece of evidence that are checked.
const MOST: usize = 50;
/// As much of the evidence as a citation repeats.
const LONGEST_SAYS: usize = 200;
/// A shorter passage in quotes proves nothing.
const SHORTEST_QUOTE: usize = 3;
/// Endings of host names, which look like `file:line` when a port follows.
const HOSTS: [&str; 12] =
    ["com", "org", "net", "io", "ai", "app", "dev", "local", "localhost", "internal", "example", "test"];

/// A line of the work has to be so long to stand in evidence by more than chance, in characters.
const LONGEST_CHANCE: usize = 12;
/// Longer files are not compared line by line.
const MOST_COMPARED: usize = 1 << 20;

/// The rule under which a citation is checked like a finding.
pub const EVIDENCE: &str = "evidence";

/// Every citation in the evidence of one criterion, in the shape evidence is checked in.
pub fn of(criterion: &str, evidence: &str, by: &str) -> Vec<Finding> {
    let mut found: Vec<(Option<Location>, Option<String>)> = Vec::new();
    // `[src/a.rs](src/a.rs#L3)`, `src\\a.rs:3`.
    let plain = evidence.replace('\\', "/");
    let words =
        plain.split(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '(' | ')')).filter_map(|word| {
            let named = || named_test(word).map(|(place, name)| (Some(place), Some(name.to_owned())));
            place::cited(word).map(|place| (Some(place), None)).or_else(named)
        });
    let quotes = quote::passages(evidence).into_iter().filter(|q| q.chars().count() >= SHORTEST_QUOTE);
    let quotes = quotes.map(|quote| (None, Some(quote.to_owned())));
    for cited in words.chain(quotes) {
        if !found.contains(&cited) {
            found.push(cited);
        }
        if found.len() == MOST {
            break;
        }
    }
    let says: String = evidence.chars().take(LONGEST_SAYS).collect();
    let citation = |(place, quote): (Option<Location>, Option<String>)| {
        let mut citation = Finding::new(EVIDENCE, Severity::Fail, says.clone(), by);
        citation.criterion = Some(criterion.to_owned());
        citation.place = place;
        citation.quote = quote;
        citation
    };
    found.into_iter().map(citation).collect()
}

fn named_test(word: &str) -> Option<(Location, &str)> {
    let (path, name) = bare(word).split_once('@')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-:.".contains(c));
    let has_extension = path.rsplit('/').next()?.contains('.');
    let is_mail = name.rsplit_once('.').is_some_and(|(_, end)| HOSTS.contains(&end));
    (is_name && has_extension && !is_mail && place::looks_like_a_file(path))
        .then(|| (Location { path: path.to_owned(), line: None, end: None }, name))
}

fn bare(word: &str) -> &str {
    let word = word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '`', '*', '“', '«', ',', ';']);
    word.trim_end_matches([')', ']', '}', '>', '"', '\'', '`', '*', '”', '»', ',', ';', '.', ':', '!', '?'])
}

/// Does a piece of evidence name something that can be looked up: a file that is known, or a name that stands in the work?
pub fn names_something(evidence: &str, corpus: &Corpus) -> bool {
    let is_named = |word: &str| {
        let word = bare(word);
        // `half(x)` is called `half`.
        let name = word.split('(').next().unwrap_or(word);
        let is_name = name.len() >= 3
            && (name.contains('_')
                || word.contains('(')
                || name.contains("::")
                || name.chars().skip(1).any(char::is_uppercase));
        // `calc.py` where one file is called so; `calc.half`.
        let ending = format!("/{word}");
        let dotted = name.rsplit_once('.').filter(|(module, name)| module.len() >= 2 && name.len() >= 3);
        corpus.has(word)
            || word.contains('.') && corpus.texts().any(|(path, _)| path.ends_with(&ending))
            || dotted.is_some_and(|(module, name)| {
                corpus.texts().any(|(path, text)| path.contains(module) && text.contains(name))
            })
            || is_name
                && corpus.texts().any(|(_, text)| text.contains(name.rsplit("::").next().unwrap_or(name)))
    };
    let quoted = quote::all(evidence).into_iter().filter(|q| q.chars().count() >= SHORTEST_QUOTE);
    let plain = folded(evidence);
    // A whole line of the work, word for word.
    let stands =
        |line: &str| line.trim().chars().count() >= LONGEST_CHANCE && plain.contains(&folded(line.trim()));
    evidence.split_whitespace().any(is_named)
        || corpus.texts().any(|(_, text)| text.len() < MOST_COMPARED && text.lines().any(stands))
        || quoted.into_iter().any(|q| {
            let q = folded(q);
            corpus.texts().any(|(_, text)| folded(text).contains(&q))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(evidence: &str) -> Vec<String> {
        of("SC-1", evidence, "critic")
            .iter()
            .map(|c| match (c.shown_place(), &c.quote) {
                (Some(place), Some(quote)) => format!("{place} holds {quote}"),
                (Some(place), None) => place,
                (None, quote) => format!("holds {}", quote.as_deref().unwrap_or_default()),
            })
            .collect()
    }

    #[test]
    fn places_tests_and_quotes_are_checkable() {
        let cases: &[(&str, &[&str])] = &[
            ("see src/auth.rs:12 and `src/b.rs:3-9`.", &["src/auth.rs:12", "src/b.rs:3-9"]),
            ("(main.py:7:14)", &["main.py:7"]),
            ("src/a.rs#L12-L15", &["src/a.rs:12-15"]),
            ("src/a.rs:15-12", &["src/a.rs:12-15"]),
            (
                "tests/AuthTest.php@returns_401 (passed in verify output)",
                &["tests/AuthTest.php holds returns_401"],
            ),
            ("it sends \"WWW-Authenticate: Bearer\" now", &["holds WWW-Authenticate: Bearer"]),
            ("“Grüße, Welt” stands there", &["holds Grüße, Welt"]),
            ("src/a.rs:0", &["src/a.rs:0"]),
        ];
        for (evidence, expected) in cases {
            assert_eq!(shown(evidence), *expected, "{evidence}");
        }
    }

    #[test]
    fn what_only_looks_like_a_citation_is_none() {
        for evidence in [
            "at 12:30 the server on localhost:8080 answered",
            "http://127.0.0.1:8080 and 127.0.0.1:80 and example.com:443",
            "a ratio of 3:1, Note: fine",
            "no `unwrap` is left; mail a@b.c or first.last@mail.example.com",
            "release v1.2:3 of api.example.io:443",
            "an open \"quote",
            "\"a\"",
        ] {
            assert_eq!(shown(evidence), [""; 0], "{evidence}");
        }
    }

    #[test]
    fn a_flood_of_citations_is_bounded() {
        let flood = (0..100_000).map(|n| format!("a.rs:{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(of("SC-1", &flood, "critic").len(), MOST);
        assert!(of("SC-1", &"\"".repeat(100_001), "critic").is_empty());
    }
}
