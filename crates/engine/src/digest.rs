//! The identity of bytes: a BLAKE3 hash, used for texts, artifacts, rubrics and prompts alike.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A content hash. Two things with the same digest are the same thing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

/// Its first bytes are as good as all of them: they come out of a hash.
impl Hash for Digest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        if let Some(first) = self.0.first_chunk() {
            state.write_u64(u64::from_le_bytes(*first));
        }
    }
}

impl Digest {
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// Of what is said piece by piece, as if it were one text.
    pub fn of_pieces(say: impl FnOnce(&mut dyn FnMut(&str))) -> Self {
        let mut hasher = blake3::Hasher::new();
        say(&mut |piece| {
            hasher.update(piece.as_bytes());
        });
        Self(*hasher.finalize().as_bytes())
    }

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The first ten hexadecimal digits, for people.
    pub fn short(&self) -> String {
        self.hex(|hex| hex[..10].to_owned())
    }

    /// Hands over its hexadecimal digits, which no allocation is needed for: records are full of digests.
    fn hex<R>(&self, to: impl FnOnce(&str) -> R) -> R {
        const DIGITS: [u8; 16] = *b"0123456789abcdef";
        let mut hex = [0; 64];
        for (pair, byte) in hex.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
        }
        to(str::from_utf8(&hex).unwrap_or_default())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hex(|hex| f.write_str(hex))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// Why a string is not a digest.
#[derive(Debug, thiserror::Error)]
#[error("not a digest: 64 hexadecimal digits are needed")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(s: &str) -> Result<Self, NotADigest> {
        blake3::Hash::from_hex(s).map(|h| Self(*h.as_bytes())).map_err(|_| NotADigest)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.hex(|hex| s.serialize_str(hex))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        std::borrow::Cow::<str>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}
