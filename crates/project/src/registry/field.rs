//! The names of fields, in the spellings that are seen: with and without bold, in English and Spanish.

use std::ops::Range;

/// What an entry declares.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Field {
    Phase,
    Group,
    Requires,
    Produces,
    Critic,
    Escalation,
    Weight,
    Conditional,
}

/// What an entry says more about its last PRODUCES.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Detail {
    Files,
    Sections,
    Content,
}

/// What stands before the colon of a bullet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Label {
    Known(Field),
    /// With what it is about, in parentheses: `Required sections (explainer)`.
    Detail(Detail, Option<String>),
    /// Upper case, and nothing we know.
    Unknown(String),
}

/// Folded as in [`fold`], the name people are shown first.
const NAMES: [(Field, &str, &[&str]); 8] = [
    (Field::Phase, "PHASE", &["phase", "fase"]),
    (Field::Group, "PARALLEL_GROUP", &["parallel group", "grupo paralelo"]),
    (Field::Requires, "REQUIRES", &["requires", "requiere"]),
    (Field::Produces, "PRODUCES", &["produces", "produce"]),
    (Field::Critic, "CRITIC", &["critic", "critico"]),
    (Field::Escalation, "ESCALATION_TARGET", &["escalation target", "escalation", "escalacion"]),
    (Field::Weight, "QUALITY_WEIGHT", &["quality weight", "peso calidad", "peso de calidad"]),
    (Field::Conditional, "CONDITIONAL", &["conditional", "condicional"]),
];

/// A longer label is a sentence.
const LONGEST: usize = 60;
/// Of a key, at most.
const MOST_WORDS: usize = 3;

impl Field {
    pub const fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name, _)| *name)
    }

    fn of(folded: &str) -> Option<Self> {
        NAMES.iter().find(|(_, _, all)| all.contains(&folded)).map(|(field, _, _)| *field)
    }
}

impl Detail {
    fn of(folded: &str) -> Option<Self> {
        match folded {
            "required files" | "archivos requeridos" | "ficheros requeridos" => Some(Self::Files),
            "required sections" | "secciones requeridas" => Some(Self::Sections),
            "required content" | "contenido requerido" => Some(Self::Content),
            _ => None,
        }
    }
}

/// The label a line begins with (after its bullet), its length in bytes, and where the value begins. `is_nested`: below
/// another bullet only upper case and bold are labels, because prose has colons too.
pub(super) fn label(line: &str, is_nested: bool) -> Option<(Label, usize, usize)> {
    let (key, key_end, value) = key(line)?;
    if key.chars().nth(LONGEST).is_some() {
        return None;
    }
    let is_upper = is_upper_case(key);
    let has_colon = line[..value].contains(':');
    let (name, about) = super::value::without_parenthesis(key);
    let folded = fold(name);
    if let Some(field) = Field::of(&folded)
        && (is_upper || line.starts_with("**") || !is_nested)
    {
        return Some((Label::Known(field), key_end, value));
    }
    if let Some(detail) = Detail::of(&folded) {
        let about = Some(about.to_owned()).filter(|about| !about.is_empty());
        return Some((Label::Detail(detail, about), key_end, value));
    }
    (is_upper && has_colon).then(|| (Label::Unknown(key.to_owned()), key_end, value))
}

/// `KEY: v`, `**KEY:** v`, `**KEY**: v`, `**KEY** v`: the key, where it ends, and where the value begins.
fn key(line: &str) -> Option<(&str, usize, usize)> {
    if let Some(bold) = line.strip_prefix("**")
        && let Some(close) = bold.find("**")
        && let inner = &bold[..close]
        && inner.find(':').is_none_or(|colon| colon + 1 == inner.len())
    {
        let after = &bold[close + 2..];
        let colon =
            if after.trim_start().starts_with(':') { after.find(':').map_or(0, |at| at + 1) } else { 0 };
        let name = inner.trim_end_matches(':').trim();
        return (inner.ends_with(':') || colon > 0 || Field::of(&fold(name)).is_some()).then_some((
            name,
            close + 4,
            close + 4 + colon,
        ));
    }
    let colon = line.find(':')?;
    let after = line[colon + 1..].chars().next();
    let name = line[..colon].trim_matches(['*', '`', ' ']);
    let is_key = after.is_none_or(|c| c.is_whitespace() || c == '*') && !name.contains('`');
    is_key.then_some((name, colon, colon + 1))
}

/// A known key with its colon inside the value of another field, outside backticks: it would be lost there. In prose a
/// key counts with a capital letter; after a value nobody reads (`is_read` is not set), only where a field would begin.
pub(super) fn strays(text: &str, is_read: bool) -> Vec<Range<usize>> {
    let code = super::value::code_spans(text);
    let mut found = Vec::new();
    for (colon, _) in text.match_indices(':') {
        let next = code.partition_point(|span| span.end <= colon);
        let is_code = code.get(next).is_some_and(|span| span.contains(&colon));
        let after = text[colon + 1..].chars().next();
        if is_code || after.is_some_and(|c| !c.is_whitespace() && c != '*') {
            continue;
        }
        let before = text[..colon].trim_end_matches(['*', ' ']);
        let from = before.ceil_char_boundary(before.len().saturating_sub(LONGEST));
        let breaks = before[from..].char_indices().rev().filter(|(_, c)| !is_of_key(*c));
        let starts = breaks.map(|(at, c)| from + at + c.len_utf8()).chain([from]);
        let starts: Vec<usize> = starts.filter(|start| *start < before.len()).take(MOST_WORDS).collect();
        let key = starts.into_iter().rev().find(|start| {
            let key = &before[*start..];
            let (ahead, is_known) = (&text[..*start], Field::of(&fold(key)).is_some());
            let is_bold = ahead.ends_with("**");
            let begins = ahead.trim_end().is_empty()
                || ahead.trim_end().ends_with(['-', '|', ';', ',', '·', '•', '/']);
            let is_capital = key.starts_with(char::is_uppercase);
            key.starts_with(char::is_alphabetic)
                && (is_known && (is_bold || begins || (is_read && is_capital))
                    || (Detail::of(&fold(key)).is_some() && (is_bold || begins)))
        });
        if let Some(start) = key {
            found.push(start..colon + 1);
        }
    }
    found
}

/// What stands in a key besides the spaces between its words.
fn is_of_key(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-')
}

fn is_upper_case(key: &str) -> bool {
    key.chars().filter(|c| c.is_alphabetic()).count() > 1 && !key.chars().any(char::is_lowercase)
}

/// The known field a name was probably meant to be.
pub(super) fn meant(key: &str) -> Option<&'static str> {
    let spelt = key.replace([' ', '-'], "_");
    crate::suggest::nearest(&spelt, Field::names())
}

/// Lower case, without accents, words between single spaces.
fn fold(key: &str) -> String {
    let letters = key.chars().flat_map(char::to_lowercase).filter_map(|c| match c {
        'á' | 'à' => Some('a'),
        'é' | 'è' => Some('e'),
        'í' => Some('i'),
        'ó' => Some('o'),
        'ú' | 'ü' => Some('u'),
        'ñ' => Some('n'),
        '\u{300}'..='\u{36f}' => None,
        '_' | '-' => Some(' '),
        other => Some(other),
    });
    let folded: String = letters.collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}
