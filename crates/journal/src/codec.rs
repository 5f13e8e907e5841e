//! Bytes as they are stored: one codec byte, then the body, raw or zstd. It knows nothing of records.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

/// The largest text or record body that is stored.
pub(crate) const MAX_BODY: usize = 32 << 20;
const LEVEL: i32 = 3;
/// Long bodies are drafts: few, kept for long, and worth some milliseconds.
const LONG: usize = 16 << 10;
const LONG_LEVEL: i32 = 9;
/// Below this a zstd frame is no shorter than what it encloses.
const TINY: usize = 64;
const RAW: u8 = 0;
const ZSTD: u8 = 1;

thread_local! {
    // Building a compressor costs more than compressing a record.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

pub(crate) fn pack(body: &[u8]) -> io::Result<Vec<u8>> {
    if body.len() >= TINY {
        let squeezed = COMPRESSOR.with_borrow_mut(|slot| -> io::Result<Vec<u8>> {
            if slot.is_none() {
                *slot = Some(Compressor::new(LEVEL)?);
            }
            let Some(compressor) = slot.as_mut() else { return Ok(Vec::new()) };
            let level = if body.len() >= LONG { LONG_LEVEL } else { LEVEL };
            compressor.set_compression_level(level)?;
            compressor.compress(body)
        })?;
        if !squeezed.is_empty() && squeezed.len() < body.len() {
            return Ok(prefixed(ZSTD, &squeezed));
        }
    }
    Ok(prefixed(RAW, body))
}

fn prefixed(codec: u8, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 1);
    out.push(codec);
    out.extend_from_slice(body);
    out
}

/// The body again. `size` is what the store says it was; more than that is never unpacked.
pub(crate) fn unpack(packed: &[u8], size: usize) -> io::Result<Vec<u8>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    if size > MAX_BODY {
        return Err(wrong("its stated size is over the limit"));
    }
    let body = match packed.split_first() {
        Some((&RAW, body)) => body.to_vec(),
        Some((&ZSTD, body)) => Decompressor::new()?.decompress(body, size)?,
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
