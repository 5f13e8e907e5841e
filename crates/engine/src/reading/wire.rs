//! A reply in YAML, in XML or of one JSON object per line, written anew as one JSON report.

use serde_json::{Map, Value, json};

use super::{lines, markup};

/// Deeper YAML is not read.
const DEEPEST: usize = 12;
/// Longer texts are in no such form.
const LONGEST: usize = 1 << 20;

/// A reply in another form, as one JSON report.
pub(super) struct Rewritten {
    pub json: String,
    /// What it counts or states is its own, so that a lost line would show. Otherwise it can only reject.
    pub is_whole: bool,
}

/// A reply in YAML, in XML or of one object per line, as one JSON report.
pub(super) fn as_json(text: &str) -> Option<Rewritten> {
    if text.len() > LONGEST {
        return None;
    }
    let body = lines::unwrapped(text).trim();
    let (value, is_whole) = match body.as_bytes().first()? {
        b'{' => (per_line(body)?, false),
        b'<' => (markup::xml(body)?, true),
        _ => (yaml(body)?, true),
    };
    // Deductions whose number nobody states may have lost one.
    let is_whole = is_whole
        && (value.get("deductions").is_none()
            || value.get("count").is_some()
            || value.get("score").is_some());
    Some(Rewritten { json: value.to_string(), is_whole })
}

impl Rewritten {
    /// What is read of a reply that may have been written anew. One that is only another form of JSON is read as that, and as
    /// nothing else unless it rejects: what its words say may be half of it.
    pub fn or<T, E>(
        rewritten: Option<Self>,
        read_json: impl FnOnce(&str) -> Result<T, E>,
        passes: impl Fn(&T) -> bool,
        read_words: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(rewritten) = rewritten else { return read_words() };
        match read_json(&rewritten.json) {
            Ok(read) if rewritten.is_whole || !passes(&read) => Ok(read),
            refused => match (read_words(), refused) {
                (Ok(read), Err(refused)) if passes(&read) && rewritten.is_whole => Err(refused),
                (read, _) => read,
            },
        }
    }
}

/// One deduction per line, and perhaps the total on one of its own.
fn per_line(body: &str) -> Option<Value> {
    let (mut rows, mut report) = (Vec::new(), Map::new());
    for line in body.lines().filter(|line| !line.trim().is_empty()) {
        let row = serde_json::from_str::<Value>(line.trim().trim_end_matches(',')).ok()?;
        if row.get("row").is_some_and(Value::is_string) {
            rows.push(row);
        } else {
            report.extend(
                row.as_object().filter(|row| row.contains_key("score") || row.contains_key("count"))?.clone(),
            );
        }
    }
    report.entry("count").or_insert_with(|| json!(rows.len()));
    (rows.len() > 1).then(|| {
        report.insert("deductions".into(), Value::Array(rows));
        Value::Object(report)
    })
}

struct Row<'t> {
    indent: usize,
    text: &'t str,
}

/// Plain YAML: mappings, sequences, scalars; nothing else. At least two keys, so that a sentence with a colon is none.
fn yaml(body: &str) -> Option<Value> {
    let mut rows: Vec<Row<'_>> = body
        .lines()
        .filter(|line| !line.trim().is_empty() && line.trim() != "---" && !line.trim_start().starts_with('#'))
        .map(|line| Row { indent: line.len() - line.trim_start().len(), text: line.trim() })
        .collect();
    let mut at = 0;
    let value = block(&mut rows, &mut at, 0, 0)?;
    let object = value.as_object()?;
    // `Deductions:` above a list is a heading: keys of lists are written small.
    let lists = || object.iter().filter(|(_, value)| value.is_array());
    let is_small = |key: &str| key.starts_with(|c: char| c.is_ascii_lowercase());
    let is_yaml = lists().next().is_some() && lists().all(|(key, _)| is_small(key));
    (at == rows.len() && object.len() >= 2 && is_yaml).then_some(value)
}

fn block(rows: &mut [Row<'_>], at: &mut usize, indent: usize, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    if is_entry(rows.get(*at)?.text) {
        let mut list = Vec::new();
        while let Some(row) = rows.get_mut(*at).filter(|row| row.indent == indent && is_entry(row.text)) {
            let rest = row.text.trim_start_matches('-');
            let inner = indent + row.text.len() - rest.trim_start().len();
            let rest = rest.trim_start();
            if rest.is_empty() {
                *at += 1;
                let indent = rows.get(*at)?.indent;
                list.push(block(rows, at, indent, depth + 1)?);
            } else if pair(rest).is_some() {
                (row.indent, row.text) = (inner, rest);
                list.push(block(rows, at, inner, depth + 1)?);
            } else {
                list.push(scalar(rest));
                *at += 1;
            }
        }
        return Some(Value::Array(list));
    }
    let mut object = Map::new();
    while let Some(row) = rows.get(*at).filter(|row| row.indent == indent && !is_entry(row.text)) {
        let (key, rest) = pair(row.text)?;
        let key = key.to_owned();
        *at += 1;
        let value = if rest.is_empty() {
            match rows.get(*at) {
                Some(next) if next.indent > indent || next.indent == indent && is_entry(next.text) => {
                    let next = next.indent;
                    block(rows, at, next, depth + 1)?
                }
                _ => Value::Null,
            }
        } else if ["|", ">", "|-", ">-"].contains(&rest) {
            let from = *at;
            while rows.get(*at).is_some_and(|row| row.indent > indent) {
                *at += 1;
            }
            Value::String(rows[from..*at].iter().map(|row| row.text).collect::<Vec<_>>().join("\n"))
        } else {
            scalar(rest)
        };
        // A key that stands twice: the line between them is lost.
        if object.insert(key, value).is_some() {
            return None;
        }
    }
    (!object.is_empty()).then_some(Value::Object(object))
}

fn is_entry(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// `key: value`, where the key is one word.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.split_once(':')?;
    let key = key.trim_matches(['"', '\'']);
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    (plain && (rest.is_empty() || rest.starts_with(' '))).then(|| (key, rest.trim()))
}

fn scalar(text: &str) -> Value {
    match text {
        "null" | "~" => return Value::Null,
        "[]" => return json!([]),
        "{}" => return json!({}),
        _ => {}
    }
    let quoted = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    match quoted {
        Some(inner) => Value::String(inner.replace("''", "'")),
        None => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_yaml_is_read_and_sentences_are_not() {
        let text =
            "verdict: rejected\nitems:\n  - what: 'a \"b\"'\n    fix: c\n  - what: d\nnotes: []\nscore: null";
        let expected = json!({"verdict": "rejected", "items": [{"what": "a \"b\"", "fix": "c"}, {"what": "d"}],
            "notes": [], "score": null});
        assert_eq!(yaml(text), Some(expected));
        for text in ["Verdict: fine, I think.\nIt is good.", "status: approved", "- a\n- b", ""] {
            assert_eq!(yaml(text), None, "{text}");
        }
    }
}
