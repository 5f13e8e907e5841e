//! JSON with its keys in order, so that the same value is the same text on every machine: whether a map
//! keeps the order in which it was written depends on what else is built with us.

use serde_json::Value;

/// The arguments with sorted keys: two identical calls have equal texts. What is no JSON stands as it is.
pub fn canonical(args: &str) -> String {
    let args = args.trim();
    serde_json::from_str::<Value>(args).map_or_else(|_| args.to_owned(), |value| sorted(&value))
}

/// The value in one line. A value that was read is no deeper than the reader allows.
pub fn sorted(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            out.push('{');
            for (at, (key, item)) in entries.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write(item, out);
            }
            out.push('}');
        }
        plain => out.push_str(&plain.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_calls_compare_equal_however_they_are_written() {
        let one = canonical(r#" {"b": [1, {"z": null, "a": "x\ny"}], "a": 2.5} "#);
        assert_eq!(one, r#"{"a":2.5,"b":[1,{"a":"x\ny","z":null}]}"#);
        assert_eq!(one, canonical(r#"{"a":2.5,"b":[1,{"a":"x\ny","z":null}]}"#));
        assert_ne!(canonical(r#"{"a":1}"#), canonical(r#"{"a":"1"}"#));
        assert_eq!(canonical(" not json "), "not json");
    }
}
