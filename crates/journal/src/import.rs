//! Taking in an exported run. The file is hostile: it is spooled, bounded, checked whole, and only
//! then written, in one transaction.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use gadfly_engine::Digest;
use rusqlite::{Connection, params};

use crate::codec::{self, MAX_BODY};
use crate::journal::Journal;
use crate::marks::Marks;
use crate::meters::Meters;
use crate::read::{Pair, ReadError};
use crate::run_id::{RunId, random_u64};
use crate::run_writer::{Blob, INSERT_RECORD};
use crate::schema::int;
use crate::store_error::{StoreError, failure};
use crate::summary::Summary;
use crate::transfer::{EXPORT_FORMAT, ExportError, MAGIC, OwnedLine};

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
    #[error("the export has format {found}, this Gadfly reads up to {known}: use a newer Gadfly")]
    Newer { found: u32, known: u32 },
    #[error("the export is cut short or damaged: {0}. Export the run again")]
    Damaged(String),
    #[error("the export is too large: {0}")]
    TooLarge(String),
    #[error("run `{0}` exists already with other content: remove it first, or keep it")]
    Different(RunId),
    #[error("the export could not be read: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Journal(#[from] ReadError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

failure!(ImportError);

impl Journal {
    /// Takes a run in and says its id. The same run again changes nothing.
    pub fn import(&self, from: impl Read) -> Result<RunId, ImportError> {
        self.import_within(from, MAX_FILE, MAX_UNPACKED)
    }

    pub(crate) fn import_within(
        &self,
        from: impl Read,
        max_file: u64,
        max_unpacked: u64,
    ) -> Result<RunId, ImportError> {
        let spool = Spool::of(self.dir(), from, max_file)?;
        let mut checked = Checked::default();
        let run = lines(spool.reader()?, max_unpacked, |line| checked.line(line))?;
        match self.export_checksum(&run) {
            Ok(ours) if Some(ours) == checked.checksum => return Ok(run),
            Ok(_) => return Err(ImportError::Different(run)),
            Err(ExportError::Read(ReadError::NotFound(_))) => {}
            Err(ExportError::Read(error)) => return Err(error.into()),
            Err(ExportError::Write(error)) => return Err(error.into()),
        }
        let (reader, id) = (spool.reader()?, run.clone());
        self.write(move |conn| insert(conn, &id, reader, max_unpacked))?;
        Ok(run)
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
                if format > EXPORT_FORMAT {
                    return Err(ImportError::Newer { found: format, known: EXPORT_FORMAT });
                }
                run = Some(id);
            }
            (_, None) => return Err(ImportError::NotAnExport("it has no header".to_owned())),
            (OwnedLine::Header { .. }, Some(_)) => {
                return Err(ImportError::Damaged("it has two headers".to_owned()));
            }
            (OwnedLine::Footer { records: said, checksum }, Some(id)) => {
                if said != records || *checksum.as_bytes() != *hash.finalize().as_bytes() {
                    return Err(ImportError::Damaged("its checksum does not fit".to_owned()));
                }
                let rest = reader.fill_buf().map_err(|e| ImportError::Damaged(e.to_string()))?;
                if records == 0 || !rest.is_empty() {
                    return Err(ImportError::Damaged("it has no records, or more after its end".to_owned()));
                }
                let id = id.clone();
                each(OwnedLine::Footer { records, checksum })?;
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
struct Checked {
    known: HashSet<Digest>,
    checksum: Option<Digest>,
}

impl Checked {
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
            OwnedLine::Footer { checksum, .. } => self.checksum = Some(checksum),
            OwnedLine::Header { .. } => {}
        }
        Ok(())
    }
}

/// The second reading, of the spool that was found good.
fn insert(conn: &Connection, run: &RunId, file: File, max_unpacked: u64) -> Result<(), ImportError> {
    let sql = "INSERT INTO runs(id, created, updated, next, ended, summary) VALUES(?1, 0, 0, 0, 0, '')
               ON CONFLICT(id) DO NOTHING";
    if conn.execute(sql, [run.as_str()])? == 0 {
        return Err(ImportError::Different(run.clone()));
    }
    let number = conn.last_insert_rowid();
    let (mut summary, mut meters) = (Summary::new(run.clone()), Meters::default());
    let mut next = 0_u32;
    lines(file, max_unpacked, |line| {
        match line {
            OwnedLine::Text { digest, body } => {
                let packed = codec::pack(body.as_bytes())?;
                Blob { hash: digest, size: body.len(), body: packed.into() }.insert(conn, number)?;
            }
            OwnedLine::Record { seq, input, step, input_texts, step_texts } => {
                let json = serde_json::to_vec(&Pair { input: &input, step: &step });
                let json = json.map_err(|e| ImportError::Damaged(e.to_string()))?;
                conn.prepare_cached(INSERT_RECORD)?.execute(params![
                    number,
                    seq,
                    int(json.len() as u64),
                    codec::pack_record(&json)?,
                    joined(&input_texts),
                    joined(&step_texts)
                ])?;
                Marks::of(&input, &step).insert(conn, number, seq)?;
                summary.apply(&input, &step);
                meters.apply(seq, &input, &step);
                next = seq.saturating_add(1);
            }
            OwnedLine::Header { .. } | OwnedLine::Footer { .. } => {}
        }
        Ok(())
    })?;
    let json = serde_json::to_string(&summary).map_err(|e| ImportError::Damaged(e.to_string()))?;
    let counted = serde_json::to_string(&meters).map_err(|e| ImportError::Damaged(e.to_string()))?;
    Meters::store(conn, number, &counted)?;
    conn.execute(
        "UPDATE runs SET created = ?2, updated = ?3, next = ?4, ended = ?5, outcome = ?6, summary = ?7
         WHERE number = ?1",
        params![
            number,
            int(summary.created_ms),
            int(summary.updated_ms),
            next,
            summary.ended,
            summary.outcome,
            json
        ],
    )?;
    Ok(())
}

fn joined(digests: &[Digest]) -> Option<Vec<u8>> {
    let bytes: Vec<u8> = digests.iter().flat_map(|d| *d.as_bytes()).collect();
    (!bytes.is_empty()).then_some(bytes)
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
        let endless = journal.import_within(io::repeat(b'x'), 1000, 1000);
        assert!(matches!(endless, Err(ImportError::TooLarge(_))));
        let bomb = packed(&vec![b' '; 1 << 22]);
        assert!(bomb.len() < 1000);
        let unpacked = journal.import_within(bomb.as_slice(), 1000, 1 << 20);
        assert!(matches!(unpacked, Err(ImportError::TooLarge(_))));
        // Sabotage: with the limit out of the way it is read to its end and found to be no export.
        let read = journal.import_within(bomb.as_slice(), 1000, 1 << 30);
        assert!(matches!(read, Err(ImportError::NotAnExport(_))));
    }
}
