//! The bytes of a reply as they come: unpacked where a server packed them unasked, and told apart by how they begin, since
//! servers label them as they like.

use std::io::Write as _;

use flate2::write::GzDecoder;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use super::Broken;

/// Packed bytes are unpacked this many at a time, so that a few of them cannot become more than is allowed at once.
const AT_A_TIME: usize = 1024;

/// What a reply is, by its first bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Stream,
    /// One JSON value, though a stream was asked for.
    Whole,
    /// A page for people: nothing that an API says.
    Page,
    Other,
}

/// None while nothing but space has come: some servers keep a connection open with it.
pub(super) fn form(bytes: &[u8]) -> Option<Form> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace())?;
    Some(match first {
        b'{' | b'[' => Form::Whole,
        b'<' => Form::Page,
        // data, event, id, retry, and comments.
        b'd' | b'e' | b'i' | b'r' | b':' => Form::Stream,
        _ => Form::Other,
    })
}

/// Undoes what the server did to a reply's bytes.
pub(super) struct Unpacking {
    decoder: GzDecoder<Vec<u8>>,
    most: usize,
}

impl Unpacking {
    /// None if they are as they should be. Other packings are not asked for, and what they hold cannot be read.
    pub fn of(headers: &HeaderMap, most: usize) -> Option<Self> {
        let packed = headers.get(CONTENT_ENCODING)?.to_str().ok()?.trim();
        let is_gzip = ["gzip", "x-gzip"].iter().any(|name| packed.eq_ignore_ascii_case(name));
        is_gzip.then(|| Self { decoder: GzDecoder::new(Vec::new()), most })
    }

    /// What these bytes hold.
    pub fn feed(&mut self, packed: &[u8]) -> Result<Vec<u8>, Broken> {
        for some in packed.chunks(AT_A_TIME) {
            let written = self.decoder.write_all(some).and_then(|()| self.decoder.flush());
            written.map_err(|e| {
                Broken::Malformed(format!("it says that it is packed with gzip, and is not ({e})"))
            })?;
            if self.decoder.get_ref().len() > self.most {
                return Err(Broken::Malformed(format!("unpacked it is longer than {} bytes", self.most)));
            }
        }
        Ok(std::mem::take(self.decoder.get_mut()))
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unpacking(most: usize) -> Unpacking {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, "GZIP".parse().unwrap());
        Unpacking::of(&headers, most).unwrap()
    }

    #[test]
    fn a_reply_is_what_it_begins_with() {
        for (bytes, is) in [
            ("data: {}", Some(Form::Stream)),
            (": OPENROUTER PROCESSING", Some(Form::Stream)),
            ("\u{feff}event: x", Some(Form::Stream)),
            ("\n\n {\"a\":1}", Some(Form::Whole)),
            ("[{}]", Some(Form::Whole)),
            ("<!DOCTYPE html>", Some(Form::Page)),
            ("Bad gateway", Some(Form::Other)),
            (" \n", None),
        ] {
            assert_eq!(form(bytes.as_bytes()), is, "{bytes}");
        }
    }

    #[test]
    fn packed_bytes_are_unpacked_however_they_are_cut() {
        let text = b"data: {\"a\":1}\n\n".repeat(50);
        for size in [1, 7, 4096] {
            let mut unpacking = unpacking(1 << 20);
            let pieces = packed(&text);
            let all: Vec<u8> = pieces.chunks(size).flat_map(|some| unpacking.feed(some).unwrap()).collect();
            assert_eq!(all, text, "in pieces of {size}");
        }
    }

    #[test]
    fn a_few_bytes_do_not_become_too_many_and_what_is_not_packed_is_said() {
        let bomb = packed(&vec![b' '; 32 << 20]);
        assert!(unpacking(1 << 20).feed(&bomb).is_err());
        assert!(unpacking(1 << 20).feed(b"{\"plain\": true}").is_err());
    }
}
