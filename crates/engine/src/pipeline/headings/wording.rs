//! A heading reduced to its words. Composed and decomposed accents are not told to be the same.

use super::{LONGEST, latex};

/// A heading, or a required section, as it is compared.
pub fn normalised(heading: &str) -> String {
    let mut text: String = heading.chars().take(LONGEST).collect();
    text = text.trim().trim_matches('#').trim().to_owned();
    text = without_links(&without_tags(without_attributes(&text)));
    if text.contains('\\') {
        text = latex::plain(&text);
    }
    let text = words(&text);
    let text = without_numbers(without_label(&text));
    trimmed(text).to_lowercase()
}

/// Without `{#id .class}` at the end.
fn without_attributes(text: &str) -> &str {
    let Some(open) = text.ends_with('}').then(|| text.rfind('{')).flatten() else { return text };
    let inside = text[open + 1..].trim_start();
    if inside.starts_with(['#', '.', '-']) { text[..open].trim_end().trim_end_matches('#') } else { text }
}

/// Without `<a id="x"></a>`.
fn without_tags(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let is_tag = rest[open + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '/');
        let Some(close) = rest[open..].find('>').filter(|_| is_tag) else { break };
        plain.push_str(&rest[..open]);
        rest = &rest[open + close + 1..];
    }
    plain.push_str(rest);
    plain
}

/// `[Threats](#threats)` is `Threats`.
fn without_links(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (Some(open), Some(close)) = (rest[..middle].rfind('['), rest[middle..].find(')')) else { break };
        plain.push_str(&rest[..open]);
        plain.push_str(&rest[open + 1..middle]);
        rest = &rest[middle + close + 1..];
    }
    plain.push_str(rest);
    plain
}

/// Without emphasis and what cannot be seen; one space between words.
fn words(text: &str) -> String {
    let is_unseen = |c: &char| matches!(c, '*' | '`' | '\u{200b}'..='\u{200d}' | '\u{ad}' | '\u{feff}');
    let shown = text.chars().filter(|c| !is_unseen(c)).map(|c| match c {
        '_' => ' ',
        '’' => '\'',
        c => c,
    });
    let shown: String = shown.collect();
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Without `Section 1 — `, `Part II: `, `Sección 3.`: the word of a division with its number before the words.
fn without_label(text: &str) -> &str {
    const DIVISIONS: [&str; 14] = [
        "section",
        "sec",
        "part",
        "chapter",
        "step",
        "phase",
        "appendix",
        "sección",
        "seccion",
        "parte",
        "seção",
        "abschnitt",
        "teil",
        "capítulo",
    ];
    let Some((first, rest)) = text.split_once([' ', '.']) else { return text };
    if !DIVISIONS.contains(&first.to_lowercase().as_str()) {
        return text;
    }
    let rest = rest.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(rest.len());
    let number = rest[..end].trim_end_matches('.');
    let is_number = !number.is_empty()
        && (number.chars().all(|c| c.is_ascii_digit() || c == '.')
            || is_roman(number)
            || (number.len() == 1 && rest[end..].starts_with([':', ' ', ')'])));
    let words = rest[end..].trim_start_matches([')', ':', '.', ' ', '-', '–', '—', '|']);
    if is_number && !words.is_empty() { words } else { text }
}

/// Without `1.`, `1)`, `(2)`, `2.3`, `§ 2`, `IV.`, `A)` before the words. A heading of nothing else stays.
fn without_numbers(text: &str) -> &str {
    let text = text.trim();
    let start = text.trim_start_matches(['§', '(', ' ']);
    let end = start.find(|c: char| !(c.is_ascii_alphanumeric() || c == '.')).unwrap_or(start.len());
    // `1.Estimand` has no space: what is a number ends where its last digit or dot does.
    let digits = start.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(start.len());
    let (mark, rest) = start.split_at(if digits > 0 { digits } else { end });
    let is_closed = mark.ends_with('.') || rest.starts_with(')');
    let is_apart = rest.starts_with([' ', ':']);
    let name = mark.trim_end_matches('.');
    let is_number = if digits > 0 {
        (is_closed || is_apart) && name.starts_with(|c: char| c.is_ascii_digit())
    } else {
        is_closed && (is_roman(name) || (name.len() == 1 && name.is_ascii()))
    };
    let words = rest.trim_start_matches([')', ':', '.', ' ', '-', '–', '—']);
    if is_number && !words.is_empty() { words } else { text }
}

fn is_roman(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    if lower.is_empty() || lower.len() > 8 {
        return false;
    }
    let tens = ["xc", "xl", "lxxx", "lxx", "lx", "l", "xxx", "xx", "x"];
    let rest = tens.iter().find_map(|tens| lower.strip_prefix(tens)).unwrap_or(&lower);
    matches!(rest, "" | "i" | "ii" | "iii" | "iv" | "v" | "vi" | "vii" | "viii" | "ix")
}

/// Without punctuation and pictures around it.
fn trimmed(text: &str) -> &str {
    let is_accent = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    let before = text.trim_start_matches(|c: char| !c.is_alphanumeric() && !is_accent(c));
    let after = before.trim_end_matches(|c: char| {
        matches!(c, '.' | ':' | ';' | ',' | '!' | '?' | '"' | '\'' | '|' | '-' | ' ')
            || (!c.is_ascii() && !c.is_alphanumeric() && !is_accent(c))
    });
    if after.is_empty() { text } else { after }
}
