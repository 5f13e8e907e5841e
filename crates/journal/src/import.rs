//! Taking in an exported run. The file is hostile: it is spooled, bounded, checked whole, and only
//! then written, in one transaction.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use rusqlite::Connection;

use crate::body::joined;
use crate::chain::Chain;
use crate::codec::{self, MAX_BODY};
use crate::encode::{ChunkEnd, Unstorable};
use crate::journal::Journal;
use crate::origin::Foreign;
use crate::read::{self, ReadError, Record};
use crate::run_id::{RunId, random_u64};
use crate::run_writer::Blob;
use crate::signature::{Signature, SignatureError, SignedBy, Signers, signed_by};
use crate::store_error::{StoreError, failure};
use crate::transfer::{Checksum, EXPORT_FORMAT, ExportError, MAGIC, OwnedLine};

const MAX_FILE: u64 = 1 << 30;
const MAX_UNPACKED: u64 = 8 << 30;
/// JSON writes a control character as six.
const MAX_LINE: u64 = 6 * MAX_BODY as u64 + 4096;
const MAX_WINDOW_LOG: u32 = 27;

/// Why an export was not taken in. The journal is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("this is not an exported run: {0}")]
    NotAnExport(String),
    #[error("the export has format {found}, this Gadfly reads format {known}: use the Gadfly that made it")]
    OtherFormat { found: u32, known: u32 },
    #[error("the export is cut short or damaged: {0}. Export the run again")]
    Damaged(String),
    #[error("the export is too large: {0}")]
    TooLarge(String),
    #[error("run `{0}` exists already with other content: remove it first, or keep it")]
    Different(RunId),
    #[error("the export was changed, or another Gadfly made it: {0}")]
    Differs(String),
    #[error("the export's signature is wrong, so somebody changed it: {0}")]
    Signature(#[from] SignatureError),
    #[error("the export does not count: {0}")]
    NotSigned(String),
    #[error(transparent)]
    Foreign(#[from] Foreign),
    #[error("the export could not be read: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Journal(#[from] ReadError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(ImportError);

/// A run that was taken in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    pub run: RunId,
    pub signed_by: Option<SignedBy>,
}

impl Journal {
    /// Takes a run in and says its id. The same run again changes nothing. `follow` sees every record, with the texts its
    /// input brought, and can refuse it. A signature has to fit; with signers (and the time) it has to be one of theirs.
    pub fn import(
        &self,
        from: impl Read,
        signers: Option<(&Signers, u64)>,
        follow: impl FnMut(&Record) -> Result<(), String> + Send + 'static,
    ) -> Result<Imported, ImportError> {
        self.import_within(from, MAX_FILE, MAX_UNPACKED, signers, follow)
    }

    pub(crate) fn import_within(
        &self,
        from: impl Read,
        max_file: u64,
        max_unpacked: u64,
        signers: Option<(&Signers, u64)>,
        follow: impl FnMut(&Record) -> Result<(), String> + Send + 'static,
    ) -> Result<Imported, ImportError> {
        let chain = self.own_chain()?.clone();
        let spool = Spool::of(self.dir(), from, max_file)?;
        let mut checked = ImportCheck::default();
        let run = lines(spool.reader()?, max_unpacked, |line| checked.line(line))?;
        let signatures: Vec<Signature> = checked.signature.into_iter().collect();
        let signed_by = signed_by(&signatures, signers).map_err(ImportError::NotSigned)?;
        match self.export_checksum(&run) {
            Ok(ours) if Some(ours) == checked.checksum => return Ok(Imported { run, signed_by }),
            Ok(_) => return Err(ImportError::Different(run)),
            Err(ExportError::Read(ReadError::NotFound(_))) => {}
            Err(ExportError::Read(error)) => return Err(error.into()),
            Err(ExportError::Write(error)) => return Err(error.into()),
            Err(ExportError::WentOn(run)) => return Err(ImportError::Different(run)),
        }
        let (reader, id) = (spool.reader()?, run.clone());
        self.write(move |conn| insert(conn, &chain, &id, reader, max_unpacked, follow))?;
        Ok(Imported { run, signed_by })
    }
}

/// A copy of the file in the journal's own folder, gone when dropped.
struct Spool {
    path: PathBuf,
    file: File,
}

impl Spool {
    fn of(dir: &Path, from: impl Read, max: u64) -> Result<Self, ImportError> {
        let path = dir.join(format!("import-{:016x}.tmp", random_u64()?));
        let file = File::options().read(true).write(true).create_new(true).open(&path)?;
        let mut spool = Self { path, file };
        let copied = io::copy(&mut from.take(max.saturating_add(1)), &mut spool.file)?;
        if copied > max {
            return Err(ImportError::TooLarge(format!("more than {max} bytes")));
        }
        Ok(spool)
    }

    fn reader(&self) -> io::Result<File> {
        let mut file = File::open(&self.path)?;
        file.rewind()?;
        Ok(file)
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Feeds every line between header and footer to `each`; both ends are checked here.
fn lines(
    file: File,
    max_unpacked: u64,
    mut each: impl FnMut(OwnedLine) -> Result<(), ImportError>,
) -> Result<RunId, ImportError> {
    let mut decoder = zstd::stream::read::Decoder::new(file)?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    let mut reader = BufReader::new(decoder.take(max_unpacked));
    let mut hash = blake3::Hasher::new();
    let (mut run, mut records, mut buffer) = (None, 0_u32, Vec::new());
    loop {
        buffer.clear();
        let read = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut buffer);
        let read = read.map_err(|e| match run {
            None => ImportError::NotAnExport(e.to_string()),
            Some(_) => ImportError::Damaged(e.to_string()),
        })?;
        if buffer.last() != Some(&b'\n') {
            return Err(if read as u64 >= MAX_LINE || reader.get_ref().limit() == 0 {
                ImportError::TooLarge(format!(
                    "unpacked it is over {max_unpacked} bytes or has an endless line"
                ))
            } else if run.is_none() {
                ImportError::NotAnExport("it has no header".to_owned())
            } else {
                ImportError::Damaged("it ends before its last line".to_owned())
            });
        }
        let line: OwnedLine = serde_json::from_slice(&buffer).map_err(|e| match run {
            None => ImportError::NotAnExport(e.to_string()),
            Some(_) => ImportError::Damaged(e.to_string()),
        })?;
        match (line, &run) {
            (OwnedLine::Header { magic, format, run: id }, None) if magic == MAGIC => {
                if format != EXPORT_FORMAT {
                    return Err(ImportError::OtherFormat { found: format, known: EXPORT_FORMAT });
                }
                run = Some(id);
            }
            (_, None) => return Err(ImportError::NotAnExport("it has no header".to_owned())),
            (OwnedLine::Header { .. }, Some(_)) => {
                return Err(ImportError::Damaged("it has two headers".to_owned()));
            }
            (OwnedLine::Footer { records: said, checksum, signature }, Some(id)) => {
                if said != records || *checksum.as_bytes() != *hash.finalize().as_bytes() {
                    return Err(ImportError::Damaged("its checksum does not fit".to_owned()));
                }
                let rest = reader.fill_buf().map_err(|e| ImportError::Damaged(e.to_string()))?;
                if records == 0 || !rest.is_empty() {
                    return Err(ImportError::Damaged("it has no records, or more after its end".to_owned()));
                }
                let id = id.clone();
                each(OwnedLine::Footer { records, checksum, signature })?;
                return Ok(id);
            }
            (line, Some(_)) => {
                if let OwnedLine::Record { seq, .. } = &line {
                    if *seq != records {
                        return Err(ImportError::Damaged(format!("record {records} is missing")));
                    }
                    records += 1;
                }
                each(line)?;
            }
        }
        hash.update(&buffer);
    }
}

/// The first reading: every text has its digest, every record has its texts.
#[derive(Default)]
struct ImportCheck {
    known: HashSet<Digest>,
    checksum: Option<Checksum>,
    signature: Option<Signature>,
}

impl ImportCheck {
    fn line(&mut self, line: OwnedLine) -> Result<(), ImportError> {
        match line {
            OwnedLine::Text { digest, body } => {
                if body.len() > MAX_BODY || Digest::of(body.as_bytes()) != digest {
                    return Err(ImportError::Damaged(format!("text {digest} does not have this digest")));
                }
                self.known.insert(digest);
            }
            OwnedLine::Record { seq, input_texts, step_texts, .. } => {
                if let Some(missing) = input_texts.iter().chain(&step_texts).find(|d| !self.known.contains(d))
                {
                    return Err(ImportError::Damaged(format!("text {missing} of record {seq} is missing")));
                }
            }
            OwnedLine::Footer { checksum, signature, .. } => {
                let checksum = Checksum(checksum);
                if let Some(signature) = signature {
                    let signature = Signature::read(&signature)?;
                    let (kind, payload) = checksum.payload();
                    signature.check(kind, &payload)?;
                    self.signature = Some(signature);
                }
                self.checksum = Some(checksum);
            }
            OwnedLine::Header { .. } => {}
        }
        Ok(())
    }
}

/// The second reading, of the spool that was found good.
fn insert(
    conn: &Connection,
    chain: &Chain,
    run: &RunId,
    file: File,
    max_unpacked: u64,
    mut follow: impl FnMut(&Record) -> Result<(), String>,
) -> Result<(), ImportError> {
    let mut end = ChunkEnd::new(chain, run, true);
    let (mut number, mut texts) = (0, Vec::new());
    lines(file, max_unpacked, |line| {
        match line {
            OwnedLine::Text { digest, body } => {
                let packed = codec::pack(body.as_bytes())?;
                texts.push(Blob { hash: digest, size: body.len(), body: packed.into() });
            }
            OwnedLine::Record { seq, input, step, input_texts, step_texts } => {
                let named = [joined(input_texts.iter().copied()), joined(step_texts)];
                let encoded = end.add(chain, &input, &step, named).map_err(|e| match e {
                    Unstorable::TooLarge(bytes) => {
                        ImportError::TooLarge(format!("record {seq} has {bytes} bytes"))
                    }
                    Unstorable::Encoding(message) => ImportError::Damaged(message),
                })?;
                if let Some(row) = encoded.standing.as_ref().filter(|_| seq == 0) {
                    let begun = row.begin(conn, run, None)?;
                    number = begun.ok_or_else(|| ImportError::Different(run.clone()))?;
                }
                encoded.insert(conn, number, None)?;
                encoded.follow_up(conn, chain, number)?;
                texts.drain(..).try_for_each(|text| text.insert(conn))?;
                let mut record = Record { seq, input: *input, step: *step };
                record.input.texts = read::texts(conn, joined(input_texts).as_deref())?;
                follow(&record).map_err(ImportError::Differs)?;
            }
            OwnedLine::Header { .. } | OwnedLine::Footer { .. } => {}
        }
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_file_over_the_limit_or_a_bomb_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(dir.path()).unwrap();
        let endless = journal.import_within(io::repeat(b'x'), 1000, 1000, None, |_| Ok(()));
        assert!(matches!(endless, Err(ImportError::TooLarge(_))));
        let bomb = packed(&vec![b' '; 1 << 22]);
        assert!(bomb.len() < 1000);
        let unpacked = journal.import_within(bomb.as_slice(), 1000, 1 << 20, None, |_| Ok(()));
        assert!(matches!(unpacked, Err(ImportError::TooLarge(_))));
        // Sabotage: with the limit out of the way it is read to its end and found to be no export.
        let read = journal.import_within(bomb.as_slice(), 1000, 1 << 30, None, |_| Ok(()));
        assert!(matches!(read, Err(ImportError::NotAnExport(_))));
    }
}
