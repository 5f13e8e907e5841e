//! A record as it is stored: its JSON, packed, and the digests of the texts that came with it.

use gadfly_engine::{Digest, Input, Step, Text};
use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// The JSON of a record; texts are stored beside it.
#[derive(Serialize)]
pub(crate) struct RecordJson<'a> {
    pub(crate) input: &'a Input,
    pub(crate) step: &'a Step,
}

#[derive(Deserialize)]
pub(crate) struct OwnedPair {
    pub(crate) input: Input,
    pub(crate) step: Step,
}

/// The digests of a record's texts, one after the other; none at all where it brings none.
#[derive(Clone, Copy, Default)]
pub(crate) struct TextDigests<'a> {
    pub(crate) input: Option<&'a [u8]>,
    pub(crate) step: Option<&'a [u8]>,
}

impl<'a> TextDigests<'a> {
    /// The columns `input_texts` and `step_texts`.
    pub(crate) fn read(row: &'a Row<'_>, input: usize, step: usize) -> rusqlite::Result<Self> {
        let blob = |at| row.get_ref(at).map(|value| value.as_blob_or_null().unwrap_or_default());
        Ok(Self { input: blob(input)?, step: blob(step)? })
    }
}

pub(crate) fn split(digests: Option<&[u8]>) -> impl Iterator<Item = Digest> + '_ {
    let (digests, _) = digests.unwrap_or_default().as_chunks::<32>();
    digests.iter().copied().map(Digest::from_bytes)
}

pub(crate) fn joined(digests: impl IntoIterator<Item = Digest>) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = digests.into_iter().flat_map(|digest| *digest.as_bytes()).collect();
    (!bytes.is_empty()).then_some(bytes)
}

pub(crate) fn digests(texts: &[Text]) -> Option<Vec<u8>> {
    joined(texts.iter().map(Text::digest))
}
