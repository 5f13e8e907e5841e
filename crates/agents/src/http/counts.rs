//! Counts of tokens as servers write them. A reply is not thrown away for what its server counted: whole numbers are read
//! in any of the usual forms, and what is no count is not known.

use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

/// A count; none if it is negative, not whole or no number at all.
pub(crate) fn count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    Ok(whole(&Value::deserialize(from)?))
}

/// A part of the usage; none if it is something else.
pub(crate) fn part<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(from)?).ok())
}

fn whole(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if fraction.bytes().any(|digit| digit != b'0') || !whole.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    whole.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_read_however_they_are_written_and_nothing_else_is() {
        for (json, expected) in [
            ("12", Some(12)),
            ("12.0", Some(12)),
            ("\"12\"", Some(12)),
            ("\" 12.00 \"", Some(12)),
            ("0", Some(0)),
            ("-1", None),
            ("-1.0", None),
            ("12.5", None),
            ("1e3", Some(1000)),
            ("1e300", None),
            ("\"\"", None),
            ("\"many\"", None),
            ("\"-1\"", None),
            ("null", None),
            ("[]", None),
            ("{\"n\": 1}", None),
            ("true", None),
        ] {
            assert_eq!(whole(&serde_json::from_str(json).unwrap()), expected, "{json}");
        }
    }
}
