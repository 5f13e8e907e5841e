//! The single-use token of a review: it says which run and which open turn a report is for, and only this project's
//! journal can make one. Nothing is stored: it is good while that turn waits for its answer, and a turn takes one.

use std::str::FromStr as _;

use gadfly_engine::EffectId;
use gadfly_journal::RunId;

const PURPOSE: &str = "gadfly 2026 single-use token of a review";
/// Hexadecimal digits of the random part and of the proof.
const NONCE: usize = 16;
const PROOF: usize = 32;
/// Longer than any token of ours.
const LONGEST: usize = 512;

/// What a token claims; `seed` has to prove it.
pub struct TurnToken {
    pub run: RunId,
    pub effect: EffectId,
    nonce: String,
    proof: String,
}

impl TurnToken {
    /// A fresh token for one turn of a run. None only where the system gives no random bytes.
    pub fn issue(run: &RunId, effect: &EffectId, seed: &str) -> Option<String> {
        let nonce = format!("{:0NONCE$x}", getrandom::u64().ok()?);
        let proof = proof(run, effect, &nonce, seed);
        Some(format!("{run}:{effect}:{nonce}:{proof}"))
    }

    /// Reads what is claimed; proves nothing.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() > LONGEST {
            return None;
        }
        let (rest, proof) = text.rsplit_once(':')?;
        let (rest, nonce) = rest.rsplit_once(':')?;
        let (run, effect) = rest.split_once(':')?;
        let is_hex = |part: &str, digits: usize| {
            part.len() == digits && part.bytes().all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase())
        };
        if !is_hex(nonce, NONCE) || !is_hex(proof, PROOF) {
            return None;
        }
        Some(Self {
            run: RunId::from_str(run).ok()?,
            effect: EffectId::from_str(effect).ok()?,
            nonce: nonce.to_owned(),
            proof: proof.to_owned(),
        })
    }

    /// Whether it was issued for this run and turn by whoever knows the run's seed.
    pub fn is_genuine(&self, seed: &str) -> bool {
        let expected = proof(&self.run, &self.effect, &self.nonce, seed);
        // Compared as a whole, so that the time it takes says nothing about where they differ.
        let differences = expected.bytes().zip(self.proof.bytes()).fold(0u8, |all, (a, b)| all | (a ^ b));
        differences == 0 && expected.len() == self.proof.len()
    }

    /// What of it stands in the record.
    pub fn named(&self) -> &str {
        &self.nonce
    }
}

fn proof(run: &RunId, effect: &EffectId, nonce: &str, seed: &str) -> String {
    let key = blake3::derive_key(PURPOSE, seed.as_bytes());
    let mac = blake3::keyed_hash(&key, format!("{run}\n{effect}\n{nonce}").as_bytes());
    mac.to_hex().chars().take(PROOF).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued() -> (RunId, EffectId, String) {
        let (run, effect) = (RunId::random().unwrap(), EffectId::from_str("run/coder#3").unwrap());
        let token = TurnToken::issue(&run, &effect, "seed").unwrap();
        (run, effect, token)
    }

    #[test]
    fn a_token_says_what_it_is_for_and_proves_it() {
        let (run, effect, token) = issued();
        let read = TurnToken::read(&token).unwrap();
        assert_eq!((&read.run, &read.effect), (&run, &effect));
        assert!(read.is_genuine("seed"));
        assert_ne!(token, TurnToken::issue(&run, &effect, "seed").unwrap(), "no two are the same");
    }

    #[test]
    fn a_token_of_another_seed_run_turn_or_nonce_proves_nothing() {
        let (_, _, token) = issued();
        assert!(!TurnToken::read(&token).unwrap().is_genuine("another seed"));
        let other_run = RunId::random().unwrap();
        let (_, rest) = token.split_once(':').unwrap();
        let tampered = [
            format!("{other_run}:{rest}"),
            token.replace("#3", "#4"),
            token.replacen(token.rsplit(':').nth(1).unwrap(), "0123456789abcdef", 1),
            format!("{}{}", &token[..token.len() - 1], if token.ends_with('0') { '1' } else { '0' }),
        ];
        for text in tampered {
            assert!(TurnToken::read(&text).is_none_or(|read| !read.is_genuine("seed")), "{text}");
        }
    }

    #[test]
    fn what_is_no_token_is_not_read() {
        for text in ["", ":::", "abc", "run#3:0:0", &"a:".repeat(400), "\u{0}:\u{0}:\u{0}:\u{0}"] {
            assert!(TurnToken::read(text).is_none(), "{text:?}");
        }
    }
}
