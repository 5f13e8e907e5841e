//! `dot.path op literal`: what must hold of a JSON file. One comparison, no language.

use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;

/// Longer predicates are refused.
const LONGEST: usize = 4096;
/// The most of a value that is shown.
const SHOWN: usize = 80;

/// A predicate that could be read.
#[derive(Clone, PartialEq, Debug)]
pub struct Predicate {
    path: Vec<String>,
    test: PredicateTest,
}

#[derive(Clone, PartialEq, Debug)]
enum PredicateTest {
    Exists,
    NotExists,
    Compare(Operator, Value),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    AtLeast,
    AtMost,
}

/// Longer ones first: `>=` begins with `>`.
const OPERATORS: [(&str, Operator); 6] = [
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    (">=", Operator::AtLeast),
    ("<=", Operator::AtMost),
    (">", Operator::Greater),
    ("<", Operator::Less),
];

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(OPERATORS.iter().find(|(_, known)| known == self).map_or("", |(sign, _)| sign))
    }
}

/// Reads a predicate; the error is a sentence that says how one is written.
pub fn parse(predicate: &str) -> Result<Predicate, String> {
    let text = predicate.trim();
    let wrong = |why: &str| {
        let text: String = text.chars().take(SHOWN).collect();
        format!(
            "`{text}` is no predicate: {why}. Write `dot.path op literal` with ==, !=, >, <, >= or <= and a JSON literal, \
             or `dot.path exists` or `dot.path notexists`."
        )
    };
    if text.len() > LONGEST {
        return Err(wrong("it is too long"));
    }
    let end = text.find(|c: char| c.is_whitespace() || "=!<>".contains(c)).unwrap_or(text.len());
    let (path, rest) = (&text[..end], text[end..].trim());
    let path: Vec<String> = path.split('.').map(ToOwned::to_owned).collect();
    if path.iter().any(String::is_empty) {
        return Err(wrong("the path has an empty name"));
    }
    let claim = match rest {
        "exists" => PredicateTest::Exists,
        "notexists" => PredicateTest::NotExists,
        "" => return Err(wrong("nothing is said of the path")),
        _ => {
            let found = OPERATORS.iter().find_map(|(sign, op)| Some((*op, rest.strip_prefix(sign)?)));
            let (operator, literal) = found.ok_or_else(|| wrong("the operator is not known"))?;
            let literal = literal.trim();
            let value: Value = serde_json::from_str(literal)
                .map_err(|_| wrong("what it is compared with is no JSON (texts need quotes)"))?;
            if !matches!(operator, Operator::Equal | Operator::NotEqual) && !value.is_number() {
                return Err(wrong("only numbers are greater or less"));
            }
            PredicateTest::Compare(operator, value)
        }
    };
    Ok(Predicate { path, test: claim })
}

/// Checks a predicate against a JSON text. The error is a sentence that says what is the case instead.
pub fn check(json: &str, predicate: &str) -> Result<(), String> {
    let predicate = parse(predicate)?;
    // Some editors put a mark before the text.
    let json = json.strip_prefix('\u{feff}').unwrap_or(json);
    let value: Value = serde_json::from_str(json).map_err(|e| format!("the file is no JSON: {e}"))?;
    predicate.holds(&value)
}

impl Predicate {
    /// Whether it holds; if not, why.
    pub fn holds(&self, json: &Value) -> Result<(), String> {
        let path = self.path.join(".");
        let found = self.path.iter().try_fold(json, |value, name| match value {
            Value::Object(map) => map.get(name),
            Value::Array(items) => name.parse::<usize>().ok().and_then(|at| items.get(at)),
            _ => None,
        });
        let (operator, wanted, found) = match (&self.test, found) {
            (PredicateTest::Exists, Some(_)) | (PredicateTest::NotExists, None) => return Ok(()),
            (PredicateTest::NotExists, Some(found)) => {
                return Err(format!("`{path}` is there, and should not be: it is {}", shown(found)));
            }
            (_, None) => return Err(format!("there is no `{path}`")),
            (PredicateTest::Compare(operator, wanted), Some(found)) => (*operator, wanted, found),
        };
        let holds = match operator {
            Operator::Equal => is_same(found, wanted),
            Operator::NotEqual => !is_same(found, wanted),
            order => match (found, wanted) {
                (Value::Number(found), Value::Number(wanted)) => {
                    compare(found, wanted).is_some_and(|is| match order {
                        Operator::Greater => is == Ordering::Greater,
                        Operator::Less => is == Ordering::Less,
                        Operator::AtLeast => is != Ordering::Less,
                        _ => is != Ordering::Greater,
                    })
                }
                _ => return Err(format!("`{path}` is {}, and only numbers can be {operator}", shown(found))),
            },
        };
        if holds {
            return Ok(());
        }
        Err(format!("`{path}` is {}, wanted: {operator} {}", shown(found), shown(wanted)))
    }
}

/// Equal without any conversion; 1 and 1.0 are the same number. No deeper than the reader allows.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, one)| other.get(key).is_some_and(|other| is_same(one, other)))
        }
        _ => one == other,
    }
}

fn compare(one: &Number, other: &Number) -> Option<Ordering> {
    // Whole numbers exactly: a float cannot tell large ones apart.
    if let (Some(one), Some(other)) = (one.as_i128(), other.as_i128()) {
        return Some(one.cmp(&other));
    }
    one.as_f64()?.partial_cmp(&other.as_f64()?)
}

fn shown(value: &Value) -> String {
    let text = crate::tool::json::sorted(value);
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"coverage":{"total":83.5,"lines":90},"tests":[{"name":"a","ok":true},{"name":"b"}],
        "status":"done","empty":null,"big":9007199254740993,"op":">="}"#;

    #[test]
    fn a_predicate_holds_or_says_what_is_the_case() {
        for holds in [
            "coverage.total >= 80",
            "coverage.total>=80",
            "coverage.lines == 90",
            "coverage.lines == 90.0",
            "coverage.lines != 91",
            "coverage.lines < 90.5",
            "coverage.lines > 89",
            "coverage.lines <= 90",
            "status == \"done\"",
            "op == \">=\"",
            "tests.0.ok == true",
            "tests.1.name != \"a\"",
            "tests.1.ok notexists",
            "tests.2 notexists",
            "empty exists",
            "empty == null",
            "big > 9007199254740992",
            "  coverage.total   exists ",
            "tests.0 == {\"ok\":true,\"name\":\"a\"}",
        ] {
            assert_eq!(check(JSON, holds), Ok(()), "{holds}");
        }
        let fails = [
            ("coverage.total >= 90", "`coverage.total` is 83.5, wanted: >= 90"),
            ("status == \"open\"", "`status` is \"done\", wanted: == \"open\""),
            ("coverage.lines == \"90\"", "`coverage.lines` is 90, wanted: == \"90\""),
            ("tests.0.ok == 1", "`tests.0.ok` is true, wanted: == 1"),
            ("nothing.here != 3", "there is no `nothing.here`"),
            ("tests.7 exists", "there is no `tests.7`"),
            ("status > 3", "`status` is \"done\", and only numbers can be >"),
            ("empty notexists", "`empty` is there, and should not be: it is null"),
            ("big == 9007199254740992", "`big` is 9007199254740993, wanted: == 9007199254740992"),
        ];
        for (predicate, why) in fails {
            assert_eq!(check(JSON, predicate), Err(why.to_owned()), "{predicate}");
        }
        assert!(check("{broken", "a exists").unwrap_err().starts_with("the file is no JSON"));
    }

    #[test]
    fn what_is_no_predicate_is_refused_with_how_one_is_written() {
        let long = "a".repeat(5000);
        for wrong in [
            "",
            "a",
            "a ==",
            "a = 3",
            "a == open",
            "a..b exists",
            ".a exists",
            "a >= \"3\"",
            "a exist",
            "== 3",
            "a b",
            &long,
        ] {
            let said = parse(wrong).unwrap_err();
            assert!(said.contains("dot.path"), "{wrong}: {said}");
        }
    }
}
