//! A key that can be sent and nothing else: it is never shown, compared or stored.

use std::fmt;

/// A key. It has no `Display`, no `Serialize`, and its `Debug` says `***`.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn expose(&self) -> &str {
        &self.0
    }

    /// Takes the key out of a text that came from outside: a server may send back what it was sent.
    pub(crate) fn scrub(&self, text: String) -> String {
        // Very short keys are placeholders (`x`, `none`); replacing them would mangle the text.
        if self.0.len() >= 6 && text.contains(&self.0) { text.replace(&self.0, "***") } else { text }
    }

    /// How many bytes at the end of a text may be the beginning of the key.
    pub(crate) fn begun(&self, text: &str) -> usize {
        let ends = |cut: &usize| self.0.is_char_boundary(*cut) && text.ends_with(&self.0[..*cut]);
        (1..self.0.len()).rev().find(ends).unwrap_or(0)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Secret::new("sk-very-secret");
        assert_eq!(format!("{key:?} {:?}", Some(&key)), "*** Some(***)");
        assert_eq!(key.scrub("bad key sk-very-secret!".into()), "bad key ***!");
    }

    #[test]
    fn the_beginning_of_a_key_at_the_end_of_a_text_is_noticed() {
        let key = Secret::new("sk-sk-1");
        assert_eq!(
            ["", "x", "the s", "the sk-sk-", "the sk-sk-sk", "sk-sk-1"].map(|t| key.begun(t)),
            [0, 0, 1, 6, 5, 0]
        );
    }

    #[test]
    fn a_placeholder_key_does_not_mangle_replies() {
        assert_eq!(Secret::new("x").scrub("six boxes".into()), "six boxes");
    }
}
