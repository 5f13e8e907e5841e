//! The secret that lets somebody in: made anew at each start, or given by the environment, and kept nowhere. What a page
//! makes of it, and how both sides show that they know it without saying it, is in `proof`.

use std::fmt::Write as _;

/// Shorter ones can be guessed.
const SHORTEST: usize = 24;
const LONGEST: usize = 256;

#[derive(Clone)]
pub struct PageToken {
    text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error(
        "GADFLY_SERVE_TOKEN has to have {SHORTEST} to {LONGEST} letters, digits, `-` or `_`: \
         `openssl rand -hex 24` makes a good one"
    )]
    Unfit,
    #[error("this machine gives no random numbers: {0}")]
    Random(String),
}

impl PageToken {
    /// The one from the environment, else a new one.
    pub fn of_start(given: Option<&str>) -> Result<Self, TokenError> {
        match given {
            Some(text) => Self::checked(text.trim()).ok_or(TokenError::Unfit),
            None => Ok(Self { text: random::<24>()? }),
        }
    }

    fn checked(text: &str) -> Option<Self> {
        let fits = (SHORTEST..=LONGEST).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        fits.then(|| Self { text: text.to_owned() })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compared by hash, so that the time it takes tells nothing about where it differs.
    pub fn is(&self, offered: &str) -> bool {
        blake3::hash(self.text.as_bytes()) == blake3::hash(offered.as_bytes())
    }
}

/// So many random bytes, two digits each.
pub fn random<const BYTES: usize>() -> Result<String, TokenError> {
    let mut bytes = [0_u8; BYTES];
    getrandom::fill(&mut bytes).map_err(|e| TokenError::Random(e.to_string()))?;
    Ok(hex(&bytes))
}

/// Two digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_another_one_at_each_start() {
        let (first, second) = (PageToken::of_start(None).unwrap(), PageToken::of_start(None).unwrap());
        assert_eq!(first.text().len(), 48);
        assert_ne!(first.text(), second.text());
        assert!(!second.is(first.text()));
    }

    #[test]
    fn a_token_of_ones_own_has_to_be_hard_to_guess() {
        for unfit in ["", "secret", "with spaces in it and long enough", &"x".repeat(300)] {
            assert!(PageToken::of_start(Some(unfit)).is_err(), "{unfit}");
        }
        let given = PageToken::of_start(Some("0123456789abcdef01234567")).unwrap();
        assert!(given.is("0123456789abcdef01234567"));
        assert!(!given.is("0123456789abcdef01234568") && !given.is(""));
    }
}
