//! Patterns of English words. Word characters, word ends and spaces in them are those of ASCII: the automata of all of
//! Unicode are twenty times as large, and English has no use for them. What may stand between words is any character. And the stems by which words are compared.

use regex::Regex;

/// None only for a pattern that is none, which every test of its rule notices.
pub fn pattern(pattern: &str) -> Option<Regex> {
    let compiled = Regex::new(&format!("(?-u){}", with_whole_characters(pattern)));
    debug_assert!(compiled.is_ok(), "{compiled:?}");
    compiled.ok()
}

/// What may be a character beyond ASCII is written so that it is matched as a whole.
fn with_whole_characters(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 64);
    let mut rest = pattern;
    while let Some(at) = rest.find(['[', '\\', '.']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let item = match rest.as_bytes() {
            [b'[', ..] => &rest[..class(rest)],
            [b'\\', ..] => &rest[..=rest[1..].chars().next().map_or(0, char::len_utf8)],
            _ => &rest[..1],
        };
        let is_wide = match item {
            "." | r"\W" | r"\S" | r"\D" => true,
            _ => {
                item.starts_with("[^") || item.starts_with('[') && (!item.is_ascii() || item.contains(r"\W"))
            }
        };
        if is_wide {
            out.extend(["(?u:", item, ")"]);
        } else {
            out.push_str(item);
        }
        rest = &rest[item.len()..];
    }
    out.push_str(rest);
    out
}

/// How long the class is that the text begins with.
fn class(text: &str) -> usize {
    let mut escaped = false;
    let first = if text.starts_with("[^") { 2 } else { 1 };
    for (at, c) in text.char_indices().skip(first) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ']' if at > first => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The stems of the words of a text that carry meaning, in small letters.
pub fn stems(text: &str) -> impl Iterator<Item = String> + '_ {
    const SHORTEST: usize = 4;
    const STEM: usize = 5;
    const COMMON: [&str; 20] = [
        "state", "states", "names", "most", "least", "that", "this", "with", "than", "must", "each", "every",
        "from", "given", "does", "have", "which", "only", "there", "what",
    ];
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() >= SHORTEST && !COMMON.contains(&word.as_str()))
        .map(|word| word.chars().take(STEM).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_words_may_be_any_character() {
        for (given, text) in [
            (r"(?i)\bisn['’]t\s+done\b", "It isn’t done."),
            (r"verdict\W{0,6}(?:is\W+)?reject", "verdict — “reject"),
            (r"\bnot[^.;\n]{0,9}seen\b", "not (naïf) seen"),
            (r"(?x)end\s*(?:$|[.,;!()–—])", "end —"),
            (r#"\ba "|“"#, "“"),
        ] {
            assert!(pattern(given).is_some_and(|p| p.is_match(text)), "{given}: {text}");
        }
        assert!(!pattern(r"a.b").unwrap().is_match("ab"));
        assert_eq!(pattern(r"[^a]+").unwrap().find("äöü a").unwrap().as_str(), "äöü ");
    }
}
