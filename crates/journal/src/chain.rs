//! Keyed digests over what is stored, so that a change is noticed by whoever reads it. The key is this machine's
//! (`custody`); a store made elsewhere was chained with another one and cannot be checked here.
//!
//! A record's link covers the run's id, its place, its stored bytes and the link before it. It says nothing of
//! whether the engine decided so: that is `verify`.

use crate::body::TextDigests;
use crate::run_id::RunId;

/// A keyed digest as it is stored: 128 bits are more than can be guessed.
pub(crate) type Mac = [u8; 16];

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Chain {
    key: [u8; 32],
}

/// The state of a run, as its row says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RunHeader {
    pub(crate) protocol: String,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    /// It came from another machine, as a file or with its store.
    pub(crate) foreign: bool,
    /// Records at the last seal; 0 before the first.
    pub(crate) sealed: u32,
    pub(crate) outcome: Option<String>,
    pub(crate) ended: bool,
}

impl Chain {
    pub(crate) const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// What a store says about the key it was chained with.
    pub(crate) fn fingerprint(&self) -> Mac {
        self.mac("key", &[])
    }

    /// What stands before a run's first record.
    pub(crate) fn start(&self, run: &RunId) -> Mac {
        self.mac("run", &[run.as_str().as_bytes()])
    }

    pub(crate) fn link(
        &self,
        before: &Mac,
        run: &RunId,
        seq: u32,
        texts: TextDigests<'_>,
        size: usize,
        body: &[u8],
    ) -> Mac {
        let (seq, size) = (seq.to_le_bytes(), (size as u64).to_le_bytes());
        let (input, step) = (texts.input.unwrap_or_default(), texts.step.unwrap_or_default());
        self.mac("record", &[before, run.as_str().as_bytes(), &seq, input, step, &size, body])
    }

    pub(crate) fn checkpoint(&self, run: &RunId, upto: u32, kinds: &[u8], size: usize, body: &[u8]) -> Mac {
        let (upto, size) = (upto.to_le_bytes(), (size as u64).to_le_bytes());
        self.mac("checkpoint", &[run.as_str().as_bytes(), &upto, kinds, &size, body])
    }

    pub(crate) fn row(&self, run: &RunId, row: &RunHeader) -> Mac {
        let (created, updated, sealed) =
            (row.created.to_le_bytes(), row.updated.to_le_bytes(), row.sealed.to_le_bytes());
        let flags = [u8::from(row.foreign), u8::from(row.ended), u8::from(row.outcome.is_some())];
        let outcome = row.outcome.as_deref().unwrap_or_default().as_bytes();
        let id = run.as_str().as_bytes();
        self.mac("row", &[id, row.protocol.as_bytes(), &created, &updated, &sealed, &flags, outcome])
    }

    /// What a seal is about: a run with its last record, or, with none, a run that was removed.
    pub(crate) fn sealed(&self, run: &RunId, last: Option<&Mac>) -> Mac {
        let last = last.map_or(&[][..], |link| link.as_slice());
        self.mac("sealed", &[run.as_str().as_bytes(), last])
    }

    pub(crate) fn seal(&self, before: &Mac, about: &Mac, runs: i64) -> Mac {
        self.mac("seal", &[before, about, &runs.to_le_bytes()])
    }

    /// Every part with its length, so that no two lists of parts run together.
    fn mac(&self, what: &str, parts: &[&[u8]]) -> Mac {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in std::iter::once(what.as_bytes()).chain(parts.iter().copied()) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let mut mac = Mac::default();
        hasher.finalize_xof().fill(&mut mac);
        mac
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_what_is_chained_counts() {
        let (chain, run) = (Chain::new([7; 32]), RunId::random().unwrap());
        let before = chain.start(&run);
        let link = |before, run, seq, texts, size, body: &[u8]| {
            let (input, step) = texts;
            chain.link(before, run, seq, TextDigests { input, step }, size, body)
        };
        let (texts, one) = ((None, Some(&[1_u8; 32][..])), (Some(&[1_u8; 32][..]), None));
        let right = link(&before, &run, 1, texts, 10, b"body");
        let other = RunId::random().unwrap();
        for changed in [
            link(&chain.start(&other), &run, 1, texts, 10, b"body"),
            link(&before, &other, 1, texts, 10, b"body"),
            link(&before, &run, 2, texts, 10, b"body"),
            link(&before, &run, 1, one, 10, b"body"),
            link(&before, &run, 1, texts, 11, b"body"),
            link(&before, &run, 1, texts, 10, b"bodY"),
            Chain::new([8; 32]).link(&before, &run, 1, TextDigests::default(), 10, b"body"),
        ] {
            assert_ne!(changed, right);
        }
        assert_ne!(chain.mac("x", &[b"ab", b"c"]), chain.mac("x", &[b"a", b"bc"]));
    }
}
