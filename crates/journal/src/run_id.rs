//! The name of a run: ten random characters that are easy to read aloud, addressable by prefix.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const LENGTH: usize = 10;
/// Crockford's alphabet: no i, l, o or u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(String);

/// Why a string is not a run id.
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{0}` is not a run id: ten characters of 0-9 and a-z without i, l, o and u are needed")]
pub struct NotARunId(String);

impl RunId {
    /// A fresh id. Fails only where the operating system gives no random bytes.
    pub fn random() -> std::io::Result<Self> {
        Ok(Self::from_bits(random_u64()?))
    }

    /// The id that belongs to a content: the same content gives the same run.
    pub fn derived(from: &gadfly_engine::Digest) -> Self {
        let first = from.as_bytes().first_chunk::<8>().copied().unwrap_or_default();
        Self::from_bits(u64::from_le_bytes(first))
    }

    /// What a run is called whose id cannot be read: ids are random, so no run has this one.
    pub(crate) fn of_row(number: u64) -> Self {
        Self::from_bits(number)
    }

    fn from_bits(bits: u64) -> Self {
        let id = (0..LENGTH).map(|i| {
            let five = (bits >> (5 * i)) & 31;
            char::from(ALPHABET[usize::try_from(five).unwrap_or(0)])
        });
        Self(id.collect())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

pub(crate) fn random_u64() -> std::io::Result<u64> {
    getrandom::u64().map_err(|e| std::io::Error::other(e.to_string()))
}

/// A prefix as a person typed it, made comparable; none if no id can start with it.
pub(crate) fn normal_prefix(typed: &str) -> Option<String> {
    let prefix = typed.trim().to_ascii_lowercase();
    let fits = (1..=LENGTH).contains(&prefix.len());
    (fits && prefix.bytes().all(|b| ALPHABET.contains(&b))).then_some(prefix)
}

impl FromStr for RunId {
    type Err = NotARunId;

    fn from_str(s: &str) -> Result<Self, NotARunId> {
        match normal_prefix(s) {
            Some(id) if id.len() == LENGTH => Ok(Self(id)),
            _ => Err(NotARunId(s.chars().take(64).collect())),
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_id_reads_back_and_differs_from_the_next() {
        let (one, two) = (RunId::random().unwrap(), RunId::random().unwrap());
        assert_eq!(one.as_str().parse::<RunId>().unwrap(), one);
        assert_ne!(one, two);
    }

    #[test]
    fn what_could_escape_a_path_or_pattern_is_refused() {
        for bad in ["", "../../etc/", "abc", "abcdefghi%", "abcdefghijk", "ilouilouil"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }
}
