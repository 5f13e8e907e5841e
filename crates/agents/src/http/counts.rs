//! Counts of tokens as servers write them. A reply is not thrown away for what its server counted: whole numbers are read
//! in any of the usual forms, and what is no count is not known.

use gadfly_engine::Money;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde_json::Value;

/// A count; none if it is negative or no number at all. Parts of a token are one more.
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
    if ![whole, fraction].iter().all(|digits| digits.bytes().all(|digit| digit.is_ascii_digit())) {
        return None;
    }
    let more = fraction.bytes().any(|digit| digit != b'0');
    whole.parse::<u64>().ok().map(|whole| whole.saturating_add(u64::from(more)))
}

/// Dollars that a server says a call cost.
pub(crate) fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Money>, D::Error> {
    let usd = match Value::deserialize(from)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(usd.and_then(Money::of_usd))
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
            ("12.5", Some(13)),
            ("\"12.x\"", None),
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
