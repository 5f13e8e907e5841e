//! A run as one self-contained file: zstd over JSON lines, a header first, a checksum last. The
//! lines are a function of the run alone, so that equal runs have equal checksums.

use std::collections::HashSet;
use std::io::{self, Write};

use gadfly_engine::{Digest, Input, Step};
use serde::{Deserialize, Serialize};

use crate::journal::Journal;
use crate::read::ReadError;
use crate::run_id::RunId;
use crate::signature::Signature;

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
    #[error("run `{0}` went on while it was being signed: export it again when it has stopped")]
    WentOn(RunId),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExportLine<'a> {
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
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<&'a str>,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OwnedLine {
    Header {
        magic: String,
        format: u32,
        run: RunId,
    },
    Text {
        digest: Digest,
        body: String,
    },
    Record {
        seq: u32,
        input: Box<Input>,
        step: Box<Step>,
        input_texts: Vec<Digest>,
        step_texts: Vec<Digest>,
    },
    Footer {
        records: u32,
        checksum: Digest,
        #[serde(default)]
        signature: Option<String>,
    },
}

/// What a signature of an export is over: its checksum, which covers all lines before the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checksum(pub(crate) Digest);

impl Checksum {
    /// What is signed: its type and its bytes.
    pub fn payload(&self) -> (&'static str, Vec<u8>) {
        ("application/vnd.gadfly.export", self.0.to_string().into_bytes())
    }
}

impl Journal {
    /// Writes a run to `out`, compressed.
    pub fn export(&self, run: &RunId, out: impl Write) -> Result<(), ExportError> {
        self.export_signed(run, None, out)
    }

    /// As `export`, with a signature over the checksum it had when it was asked for.
    pub fn export_signed(
        &self,
        run: &RunId,
        signed: Option<(Checksum, &Signature)>,
        out: impl Write,
    ) -> Result<(), ExportError> {
        let mut encoder = zstd::stream::write::Encoder::new(out, LEVEL)?;
        encoder.include_checksum(true)?;
        let written = self.write_lines(run, signed.map(|(_, signature)| signature), &mut encoder)?;
        if signed.is_some_and(|(checksum, _)| checksum != written) {
            return Err(ExportError::WentOn(run.clone()));
        }
        encoder.finish()?.flush()?;
        Ok(())
    }

    /// The checksum that an export of this run would have now.
    pub fn export_checksum(&self, run: &RunId) -> Result<Checksum, ExportError> {
        self.write_lines(run, None, io::sink())
    }

    fn write_lines(
        &self,
        run: &RunId,
        signature: Option<&Signature>,
        out: impl Write,
    ) -> Result<Checksum, ExportError> {
        let mut out = Summed { out, hash: blake3::Hasher::new() };
        out.line(&ExportLine::Header { magic: MAGIC, format: EXPORT_FORMAT, run })?;
        let mut written = HashSet::new();
        let mut records = 0;
        for record in self.replay(run) {
            let record = record?;
            for text in record.input.texts.iter().chain(&record.step.texts) {
                if written.insert(text.digest()) {
                    out.line(&ExportLine::Text { digest: text.digest(), body: text.as_str() })?;
                }
            }
            out.line(&ExportLine::Record {
                seq: record.seq,
                input: &record.input,
                step: &record.step,
                input_texts: record.input.texts.iter().map(gadfly_engine::Text::digest).collect(),
                step_texts: record.step.texts.iter().map(gadfly_engine::Text::digest).collect(),
            })?;
            records += 1;
        }
        let checksum = Digest::from_bytes(*out.hash.finalize().as_bytes());
        out.line(&ExportLine::Footer { records, checksum, signature: signature.map(Signature::armored) })?;
        Ok(Checksum(checksum))
    }
}

struct Summed<W> {
    out: W,
    hash: blake3::Hasher,
}

impl<W: Write> Summed<W> {
    fn line(&mut self, line: &ExportLine<'_>) -> io::Result<()> {
        let mut json = serde_json::to_vec(line).map_err(io::Error::other)?;
        json.push(b'\n');
        self.hash.update(&json);
        self.out.write_all(&json)
    }
}
