//! Bytes as they are stored: one codec byte, then the body, raw or zstd. It knows nothing of records but
//! what they look like: a dictionary trained on records of many loops makes theirs short, and quick to pack.

use std::cell::RefCell;
use std::io::{self, Cursor};
use std::sync::OnceLock;

use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::{CCtx, CParameter, DCtx, compress_bound, get_error_name};

/// The largest text or record body that is stored.
pub(crate) const MAX_BODY: usize = 32 << 20;
/// For short bodies the higher levels take longer and save nothing.
const LEVEL: i32 = 1;
/// Long bodies are drafts: few, kept for long, and worth some milliseconds.
const LONG: usize = 16 << 10;
const LONG_LEVEL: i32 = 9;
/// Below this a zstd frame is hardly shorter than what it encloses.
const TINY: usize = 128;
const RAW: u8 = 0;
const ZSTD: u8 = 1;
/// A record: zstd with the dictionary of that number.
const RECORD_1: u8 = 2;
/// A long record, beside the last long one before it: only what is new in it takes room.
const DELTA: u8 = 3;

/// Records from this length on are packed beside the one before.
pub(crate) const LONG_RECORD: usize = 8 << 10;

/// By `zstd --train` from records of the benchmark's loops, their tasks, agents, models and digests varied.
/// Stored records cannot be read without it: never edited after a release; a better one is a new number.
const RECORDS_1: &[u8] = include_bytes!("codec/records-1.dict");

static ENCODING_1: OnceLock<Option<EncoderDictionary<'static>>> = OnceLock::new();
static DECODING_1: OnceLock<Option<DecoderDictionary<'static>>> = OnceLock::new();

thread_local! {
    // Building a compressor costs more than compressing a record.
    static TEXTS: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static RECORDS: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static RECORDS_BACK: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// A text.
pub(crate) fn pack(body: &[u8]) -> io::Result<Vec<u8>> {
    if body.len() < TINY {
        return Ok(raw(body));
    }
    TEXTS.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some(Compressor::new(LEVEL)?);
        }
        let Some(compressor) = slot.as_mut() else { return Ok(raw(body)) };
        let level = if body.len() >= LONG { LONG_LEVEL } else { LEVEL };
        compressor.set_compression_level(level)?;
        squeeze(compressor, ZSTD, body)
    })
}

/// A record. `base` is the last long record of its chunk.
pub(crate) fn pack_record(body: &[u8], base: Option<&[u8]>) -> io::Result<Vec<u8>> {
    if let Some(base) = base.filter(|_| body.len() >= LONG_RECORD) {
        return pack_beside(body, base);
    }
    let known = ENCODING_1.get_or_init(|| EncoderDictionary::try_copy(RECORDS_1, LEVEL).ok());
    let Some(dictionary) = known else { return pack(body) };
    RECORDS.with_borrow_mut(|slot| {
        if slot.is_none() {
            *slot = Some(Compressor::with_prepared_dictionary(dictionary)?);
        }
        let Some(compressor) = slot.as_mut() else { return Ok(raw(body)) };
        squeeze(compressor, RECORD_1, body)
    })
}

fn pack_beside(body: &[u8], base: &[u8]) -> io::Result<Vec<u8>> {
    let window = (base.len() + body.len()).next_power_of_two().ilog2().clamp(10, 27);
    let mut compressor = CCtx::create();
    compressor.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(zstd_error)?;
    compressor.set_parameter(CParameter::WindowLog(window)).map_err(zstd_error)?;
    // What is the same lies far apart, between digests that nothing matches.
    compressor.set_parameter(CParameter::EnableLongDistanceMatching(true)).map_err(zstd_error)?;
    compressor.ref_prefix(base).map_err(zstd_error)?;
    let mut out: Vec<u8> = Vec::with_capacity(compress_bound(body.len()));
    compressor.compress2(&mut out, body).map_err(zstd_error)?;
    out.insert(0, DELTA);
    out.shrink_to_fit();
    Ok(out)
}

fn zstd_error(code: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, get_error_name(code))
}

fn squeeze(compressor: &mut Compressor<'_>, codec: u8, body: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = Vec::with_capacity(1 + compress_bound(body.len()));
    out.push(codec);
    let mut out = Cursor::new(out);
    out.set_position(1);
    compressor.compress_to_buffer(body, &mut out)?;
    let mut out = out.into_inner();
    if out.len() > body.len() {
        return Ok(raw(body));
    }
    out.shrink_to_fit();
    Ok(out)
}

fn raw(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 1);
    out.push(RAW);
    out.extend_from_slice(body);
    out
}

/// Whether a record needs the long one before it to be unpacked.
pub(crate) fn needs_base(packed: &[u8]) -> bool {
    packed.first() == Some(&DELTA)
}

/// The body again. `size` is what the store says it was; more than that is never unpacked.
pub(crate) fn unpack(packed: &[u8], size: usize) -> io::Result<Vec<u8>> {
    unpack_record(packed, size, None)
}

pub(crate) fn unpack_record(packed: &[u8], size: usize, base: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    if size > MAX_BODY {
        return Err(wrong("its stated size is over the limit"));
    }
    let body = match packed.split_first() {
        Some((&RAW, body)) => body.to_vec(),
        Some((&ZSTD, body)) => Decompressor::new()?.decompress(body, size)?,
        Some((&RECORD_1, body)) => {
            let known = DECODING_1.get_or_init(|| DecoderDictionary::try_copy(RECORDS_1).ok());
            let dictionary = known.as_ref().ok_or_else(|| wrong("its dictionary cannot be loaded"))?;
            RECORDS_BACK.with_borrow_mut(|slot| {
                if slot.is_none() {
                    *slot = Some(Decompressor::with_prepared_dictionary(dictionary)?);
                }
                let decompressor = slot.as_mut().ok_or_else(|| wrong("it cannot be unpacked"))?;
                decompressor.decompress(body, size)
            })?
        }
        Some((&DELTA, body)) => {
            let base = base.ok_or_else(|| wrong("the record it builds on is missing"))?;
            let mut decompressor = DCtx::create();
            decompressor.ref_prefix(base).map_err(zstd_error)?;
            let mut out: Vec<u8> = Vec::with_capacity(size);
            decompressor.decompress(&mut out, body).map_err(zstd_error)?;
            out
        }
        Some(_) => return Err(wrong("its codec is unknown")),
        None => return Err(wrong("it is empty")),
    };
    if body.len() == size { Ok(body) } else { Err(wrong("its size is not the stated one")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_back_and_long_ones_shrink() {
        let long = "a line that repeats itself\n".repeat(500);
        for body in ["", "short", long.as_str()] {
            let packed = pack(body.as_bytes()).unwrap();
            assert_eq!(unpack(&packed, body.len()).unwrap(), body.as_bytes());
        }
        assert!(pack(long.as_bytes()).unwrap().len() < long.len() / 10);
    }

    #[test]
    fn a_record_comes_back_and_is_shorter_for_looking_like_one() {
        let record = r#"{"input":{"at":{"wall_ms":1,"active_ms":2},"what":{"replied":{"effect":"run#1","reply":{"done":{"parts":[],"stop":"end_turn","usage":{"input":76,"output":25},"model":"m","took_ms":3}}}}},"step":{"events":[{"node":"run","what":{"event":"round_started","round":2,"of":3}}]}}"#;
        let packed = pack_record(record.as_bytes(), None).unwrap();
        assert_eq!(unpack(&packed, record.len()).unwrap(), record.as_bytes());
        assert!(packed.len() * 2 < pack(record.as_bytes()).unwrap().len());
        let tiny = pack_record(b"{}", None).unwrap();
        assert_eq!(unpack(&tiny, 2).unwrap(), b"{}");
    }

    #[test]
    fn a_long_record_takes_what_is_new_in_it() {
        let line = |n: usize| format!("{{\"digest\":\"{}\"}},", gadfly_engine::Digest::of(&n.to_le_bytes()));
        let history = |n| (0..n).map(line).collect::<String>();
        for lines in [200, 5_000] {
            let (before, after) = (history(lines), history(lines + 2));
            let alone = pack_record(after.as_bytes(), None).unwrap();
            let beside = pack_record(after.as_bytes(), Some(before.as_bytes())).unwrap();
            assert!(
                beside.len() < 300 && beside.len() * 10 < alone.len(),
                "{} of {}",
                beside.len(),
                alone.len()
            );
            assert!(needs_base(&beside) && !needs_base(&alone));
            let back = |base| unpack_record(&beside, after.len(), base);
            assert_eq!(back(Some(before.as_bytes())).unwrap(), after.as_bytes());
            assert!(back(None).is_err());
        }
    }

    #[test]
    fn the_dictionary_of_stored_records_is_the_one_they_were_written_with() {
        let digest = gadfly_engine::Digest::of(RECORDS_1).to_string();
        assert_eq!(
            digest, "f0793b181b5d1448289c127ab12c72888b5aa8a87212e50fff829f29610eaf04",
            "it is never edited: add records-2.dict with a codec byte of its own"
        );
    }

    #[test]
    fn a_bomb_is_not_unpacked_beyond_its_stated_size() {
        let packed = pack(&vec![b'x'; 1 << 20]).unwrap();
        assert!(packed.len() < 1 << 10);
        assert!(unpack(&packed, 1 << 10).is_err());
        assert!(unpack(&packed, usize::MAX).is_err());
    }

    #[test]
    fn damage_is_noticed() {
        assert!(unpack(&[], 0).is_err());
        assert!(unpack(&[9, 1, 2], 2).is_err());
        assert!(unpack(&[ZSTD, 1, 2, 3], 100).is_err());
    }
}
