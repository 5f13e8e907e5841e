//! Passages between quotation marks, of whatever language. Whether they stand in the work is checked elsewhere
//! (`evidence`).

/// Opening and closing marks. A straight single quote is one only between words: `aren't` opens nothing.
const MARKS: [(char, &[char]); 12] = [
    ('"', &['"']),
    ('“', &['”', '“', '"']),
    ('„', &['“', '”', '"']),
    ('‟', &['”', '"']),
    ('«', &['»']),
    ('»', &['«']),
    ('‹', &['›']),
    ('「', &['」']),
    ('『', &['』']),
    ('‘', &['’']),
    ('‚', &['‘', '’']),
    ('\'', &['\'']),
];
/// Passages looked at in one text.
const MOST: usize = 50;
/// Marks tried, and how far the closing one is looked for, in bytes.
const MOST_TRIES: usize = 400;
const LONGEST: usize = 2_000;

/// Everything quoted in a text, and what stands in backticks.
pub fn all(text: &str) -> Vec<&str> {
    let mut found = passages(text);
    found.extend(backticked(text));
    found
}

/// Everything between quotation marks; backticks set off names, not passages.
pub fn passages(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut tries = 0;
    while let Some((start, open)) = next_mark(text, at).filter(|_| tries < MOST_TRIES) {
        tries += 1;
        let after = start + open.len_utf8();
        let closers = MARKS.iter().find(|(mark, _)| *mark == open).map_or(&[][..], |(_, closers)| *closers);
        let window = &text[after..text.floor_char_boundary(after.saturating_add(LONGEST))];
        let Some(length) = window.find(|c| closers.contains(&c)) else {
            at = after;
            continue;
        };
        let inner = text[after..after + length].trim();
        let close = text[after + length..].chars().next().map_or(0, char::len_utf8);
        if !inner.is_empty() {
            found.push(inner);
        }
        at = after + length + close;
        if found.len() == MOST {
            break;
        }
    }
    found
}

fn next_mark(text: &str, from: usize) -> Option<(usize, char)> {
    let rest = text.get(from..)?;
    let mut before = text[..from].chars().next_back();
    for (at, c) in rest.char_indices() {
        let opens = MARKS.iter().any(|(mark, _)| *mark == c);
        let in_word = matches!(c, '\'' | '‘' | '‚') && before.is_some_and(char::is_alphanumeric);
        if opens && !in_word {
            return Some((from + at, c));
        }
        before = Some(c);
    }
    None
}

pub fn backticked(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('`').skip(1).step_by(2).map(str::trim);
    inside.filter(|inner| !inner.is_empty()).take(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotation_marks_of_any_kind_count() {
        for (text, expected) in [
            ("the \"straight\" ones", vec!["straight"]),
            ("“curly” and „deutsch“ and «français»", vec!["curly", "deutsch", "français"]),
            ("'per grupo' is misspelt", vec!["per grupo"]),
            ("‘single’ 「corner」", vec!["single", "corner"]),
            ("the writer's own words aren't quoted", vec![]),
            ("`name` only", vec![]),
            ("an open \"quote", vec![]),
        ] {
            assert_eq!(passages(text), expected, "{text}");
        }
        assert_eq!(all("`name` and \"x\""), ["x", "name"]);
    }

    #[test]
    fn a_text_of_many_marks_is_bounded() {
        assert_eq!(passages(&"\"a\" ".repeat(100_000)).len(), MOST);
        let _ = passages(&"„".repeat(100_000));
    }
}
