//! A run as one self-contained file: zstd over JSON lines, a header first, a checksum last. The
//! lines are a function of the run alone, so that equal runs have equal checksums.

use std::collections::HashSet;
use std::io::{self, Write};

use gadfly_engine::{Digest, Input, Step};
use serde::{Deserialize, Serialize};

use crate::journal::Journal;
use crate::read::ReadError;
use crate::run_id::RunId;

/// The version of the export file.
pub const EXPORT_FORMAT: u32 = 2;
pub(crate) const MAGIC: &str = "gadfly-run";
const LEVEL: i32 = 9;

/// Why a run was not exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the export could not be written: {0}")]
    Write(#[from] io::Error),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line<'a> {
    Header {
        magic: &'a str,
        format: u32,
        run: &'a RunId,
    },
    /// Comes before the first record that needs it.
    Text {
        digest: Digest,
        body: &'a str,
    },
    Record {
        seq: u32,
        input: &'a Input,
        step: &'a Step,
        input_texts: Vec<Digest>,
        step_texts: Vec<Digest>,
    },
    Footer {
        records: u32,
        checksum: Digest,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnedLine {
    Header { magic: String, format: u32, run: RunId },
    Text { digest: Digest, body: String },
    Record { seq: u32, input: Box<Input>, step: Box<Step>, input_texts: Vec<Digest>, step_texts: Vec<Digest> },
    Footer { records: u32, checksum: Digest },
}

impl Journal {
    /// Writes a run to `out`, compressed.
    pub fn export(&self, run: &RunId, out: impl Write) -> Result<(), ExportError> {
        let mut encoder = zstd::stream::write::Encoder::new(out, LEVEL)?;
        encoder.include_checksum(true)?;
        self.write_lines(run, &mut encoder)?;
        encoder.finish()?.flush()?;
        Ok(())
    }

    /// The checksum that an export of this run would have now.
    pub(crate) fn export_checksum(&self, run: &RunId) -> Result<Digest, ExportError> {
        self.write_lines(run, io::sink())
    }

    fn write_lines(&self, run: &RunId, out: impl Write) -> Result<Digest, ExportError> {
        let mut out = Summed { out, hash: blake3::Hasher::new() };
        out.line(&Line::Header { magic: MAGIC, format: EXPORT_FORMAT, run })?;
        let mut written = HashSet::new();
        let mut records = 0;
        for record in self.replay(run) {
            let record = record?;
            for text in record.input.texts.iter().chain(&record.step.texts) {
                if written.insert(text.digest()) {
                    out.line(&Line::Text { digest: text.digest(), body: text.as_str() })?;
                }
            }
            out.line(&Line::Record {
                seq: record.seq,
                input: &record.input,
                step: &record.step,
                input_texts: record.input.texts.iter().map(gadfly_engine::Text::digest).collect(),
                step_texts: record.step.texts.iter().map(gadfly_engine::Text::digest).collect(),
            })?;
            records += 1;
        }
        let checksum = Digest::from_bytes(*out.hash.finalize().as_bytes());
        out.line(&Line::Footer { records, checksum })?;
        Ok(checksum)
    }
}

struct Summed<W> {
    out: W,
    hash: blake3::Hasher,
}

impl<W: Write> Summed<W> {
    fn line(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut json = serde_json::to_vec(line).map_err(io::Error::other)?;
        json.push(b'\n');
        self.hash.update(&json);
        self.out.write_all(&json)
    }
}
