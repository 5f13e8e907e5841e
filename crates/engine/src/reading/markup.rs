//! Replies in HTML and in XML. HTML is written anew as the lines a person sees of it; XML, whose elements name what they hold, as
//! a JSON report. What is not closed, or holds text beside elements, is left as it is.

use serde_json::{Map, Value};

use super::{forms, lines};

/// Deeper elements are not read.
const DEEPEST: usize = 12;
/// Longer replies are in no such form.
const LONGEST: usize = 1 << 20;

/// Elements that only change how a text looks.
const INLINE: [&str; 16] = [
    "b", "strong", "i", "em", "u", "span", "code", "a", "small", "mark", "font", "sup", "sub", "tbody",
    "thead", "label",
];
/// Elements that stand on lines of their own.
const BLOCKS: [&str; 21] = [
    "html",
    "body",
    "p",
    "div",
    "section",
    "article",
    "header",
    "footer",
    "main",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "table",
    "br",
    "hr",
    "blockquote",
    "pre",
    "details",
    "summary",
];
const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// A tag, with where it stands.
struct Tag<'t> {
    start: usize,
    end: usize,
    name: &'t str,
    closes: bool,
    /// `<br/>`
    empty: bool,
    attributes: &'t str,
}

/// The next tag from here on: `<`, a name, and no other `<` before its `>`.
fn next_tag(text: &str, from: usize) -> Option<Tag<'_>> {
    let mut at = from;
    loop {
        let start = at + text.get(at..)?.find('<')?;
        let rest = &text[start + 1..];
        let end = rest.find(['<', '>']).filter(|end| rest[*end..].starts_with('>'));
        at = start + 1;
        let Some(end) = end else { continue };
        let body = rest[..end].trim();
        let closes = body.starts_with('/');
        let body = body.trim_start_matches('/');
        let empty = body.ends_with('/');
        let body = body.trim_end_matches('/').trim();
        let length =
            body.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))).unwrap_or(body.len());
        let (name, attributes) = body.split_at(length);
        if name.starts_with(|c: char| c.is_ascii_alphabetic())
            && (attributes.is_empty() || attributes.starts_with(' '))
        {
            return Some(Tag { start, end: start + end + 2, name, closes, empty, attributes });
        }
    }
}

/// Is it an element of HTML?
fn is_shown(name: &str) -> bool {
    is_one(name, &INLINE) || is_one(name, &BLOCKS) || is_one(name, &HEADINGS)
}

fn is_one(name: &str, of: &[&str]) -> bool {
    of.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The lines of a reply in HTML, as Markdown; none if it is in none. It begins with an element of HTML and closes one.
pub(super) fn html(text: &str) -> Option<String> {
    let body = lines::unwrapped(text).trim();
    let body = body.strip_prefix("<!DOCTYPE html>").unwrap_or(body);
    let first = next_tag(body, 0).filter(|tag| body[..tag.start].trim().is_empty() && !tag.closes)?;
    if body.len() > LONGEST || !is_shown(first.name) || !body.contains("</") {
        return None;
    }
    let (mut out, mut at, mut header) = (String::with_capacity(body.len()), 0, 0);
    while let Some(tag) = next_tag(body, at) {
        out.push_str(&body[at..tag.start]);
        at = tag.end;
        let name = tag.name.to_ascii_lowercase();
        match (name.as_str(), tag.closes) {
            ("li", false) => out.push_str("\n- "),
            ("tr", false) => (header, out) = (0, out + "\n|"),
            ("td" | "th", true) => {
                header += usize::from(name == "th");
                out.push('|');
            }
            ("tr", true) if header > 0 => out.extend(["\n", &"|---".repeat(header), "|"]),
            ("td" | "th", false) | ("tr" | "li", true) => {}
            (heading, false) if is_one(heading, &HEADINGS) => out.push_str("\n\n## "),
            (inline, _) if is_one(inline, &INLINE) => {}
            (block, _) if is_one(block, &BLOCKS) || is_one(block, &HEADINGS) => out.push('\n'),
            _ => out.push_str(&body[tag.start..tag.end]),
        }
    }
    out.push_str(&body[at..]);
    // A line of its own per row, and no line that only wraps one.
    Some(out.lines().map(|line| unescaped(line.trim())).collect::<Vec<_>>().join("\n"))
}

/// A text with elements in it, one per line, as lines: `<status>REJECTED</status>` is a status, `<fix>…</fix>` an item. It can
/// only reject: what approves stays as it is. None if there are no elements.
pub(super) fn elements(text: &str) -> Option<String> {
    const ITEMS: [&str; 8] = ["fix", "item", "issue", "point", "change", "problem", "finding", "bullet"];
    let element = |line: &str| -> Option<String> {
        let body = line.trim();
        let tag = next_tag(body, 0).filter(|tag| tag.start == 0)?;
        let inner = body[tag.end..].strip_suffix(&format!("</{}>", tag.name));
        match inner {
            Some(inner) if is_one(tag.name, &ITEMS) => Some(format!("- {}", unescaped(inner))),
            Some(inner) => {
                let stated = format!("{}: {}", tag.name, unescaped(inner));
                forms::status(&stated).filter(|s| s.labelled && s.says != forms::Says::Approved)?;
                Some(stated)
            }
            None => None,
        }
    };
    let found = text.contains("</") && text.lines().any(|line| element(line).is_some());
    found.then(|| {
        let lines = text.lines().map(|line| element(line).unwrap_or_else(|| line.to_owned()));
        lines.collect::<Vec<_>>().join("\n")
    })
}

/// A reply that is nothing but elements, as JSON: elements of one name are a list, and so is what a plural encloses.
pub(super) fn xml(text: &str) -> Option<Value> {
    let mut body = text.trim();
    if let Some(rest) = body.strip_prefix("<?xml") {
        body = rest.split_once("?>")?.1.trim();
    }
    if body.len() > LONGEST || !body.starts_with('<') || !body.ends_with('>') {
        return None;
    }
    if next_tag(body, 0).is_none_or(|tag| is_shown(tag.name)) {
        return None;
    }
    let (value, end) = content(body, 0, None, 0)?;
    let value = (end == body.len()).then_some(value)?;
    match value {
        // One element around everything only wraps it.
        Value::Object(mut object) if object.len() == 1 && object.values().all(Value::is_object) => {
            let name = object.keys().next()?.clone();
            object.remove(&name)
        }
        Value::Object(_) => Some(value),
        _ => None,
    }
}

/// What stands up to the closing tag of `inside`, or to the end of the text; and where that is.
fn content(text: &str, from: usize, inside: Option<&str>, depth: usize) -> Option<(Value, usize)> {
    if depth > DEEPEST {
        return None;
    }
    let mut children: Vec<(String, Value)> = Vec::new();
    let (mut said, mut at) = (String::new(), from);
    let end = loop {
        let Some(tag) = next_tag(text, at) else {
            said.push_str(&text[at..]);
            break inside.is_none().then_some(text.len())?;
        };
        said.push_str(&text[at..tag.start]);
        if tag.closes {
            break (inside == Some(tag.name)).then_some(tag.end)?;
        }
        let (mut value, end) = if tag.empty {
            (Value::Object(Map::new()), tag.end)
        } else {
            content(text, tag.end, Some(tag.name), depth + 1)?
        };
        let attributes = attributes(tag.attributes)?;
        if !attributes.is_empty() {
            let mut object = attributes;
            match value {
                Value::Object(inner) => object.extend(inner),
                Value::String(text) if text.is_empty() => {}
                other => drop(object.insert("text".into(), other)),
            }
            value = Value::Object(object);
        }
        children.push((tag.name.to_owned(), value));
        at = end;
    };
    let said = said.trim();
    if children.is_empty() {
        return Some((scalar(&unescaped(said)), end));
    }
    let first = children[0].0.clone();
    let plural =
        inside.is_some_and(|name| name.len() > 3 && name.get(..3) == first.get(..3) && name != first);
    if !said.is_empty() {
        return None;
    }
    if children.iter().all(|(name, _)| *name == first) && (children.len() > 1 && inside.is_some() || plural) {
        return Some((Value::Array(children.into_iter().map(|(_, value)| value).collect()), end));
    }
    let mut object = Map::new();
    for (name, value) in children {
        match object.get_mut(&name) {
            Some(Value::Array(list)) => list.push(value),
            Some(one) => *one = Value::Array(vec![one.take(), value]),
            None => drop(object.insert(name, value)),
        }
    }
    Some((Value::Object(object), end))
}

/// ` name="sample size" met="true"`
fn attributes(text: &str) -> Option<Map<String, Value>> {
    let (mut object, mut rest) = (Map::new(), text.trim());
    while !rest.is_empty() {
        let (name, tail) = rest.split_once('=')?;
        let mark = tail.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, tail) = tail[1..].split_once(mark)?;
        object.insert(name.trim().to_owned(), scalar(&unescaped(value)));
        rest = tail.trim_start();
    }
    Some(object)
}

fn scalar(text: &str) -> Value {
    match text {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        number => serde_json::from_str::<serde_json::Number>(number)
            .map_or_else(|_| Value::String(text.to_owned()), Value::Number),
    }
}

fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    plain.replace("&nbsp;", " ").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn html_is_read_as_the_lines_a_person_sees() {
        for (given, expected) in [
            (
                "<h2>[STATUS: REJECTED]</h2>\n<ul><li>One &amp; two</li><li>Three</li></ul>",
                "## [STATUS: REJECTED]\n- One & two\n- Three",
            ),
            ("<p><b>a</b><br/>b</p>", "a\nb"),
            (
                "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2</td></tr></table>",
                "|x|y|\n|---|---|\n|1|2|",
            ),
        ] {
            let lines = html(given).unwrap();
            assert_eq!(lines.lines().filter(|l| !l.is_empty()).collect::<Vec<_>>().join("\n"), expected);
        }
        for text in ["a <b>c</b>", "<review><status>x</status></review>", "x < y", "<p>open"] {
            assert_eq!(html(text), None, "{text}");
        }
    }

    #[test]
    fn xml_is_read_as_the_report_it_is() {
        for (given, expected) in [
            ("<r><status>APPROVED</status><fixes/></r>", json!({"status": "APPROVED", "fixes": {}})),
            ("<r><s>x</s><fixes><fix>a</fix></fixes></r>", json!({"s": "x", "fixes": ["a"]})),
            (
                "<v>x</v>\n<items><item n=\"1\">a</item><item>b</item></items>",
                json!({"v": "x", "items": [{"n": 1, "text": "a"}, "b"]}),
            ),
        ] {
            assert_eq!(xml(given), Some(expected), "{given}");
        }
        for text in ["<r><s>x</s>", "<r>text <s>x</s></r>", "<r><s>x</r></s>", "text", "<a><b>"] {
            assert_eq!(xml(text), None, "{text}");
        }
    }
}
