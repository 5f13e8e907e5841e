//! Server-sent events, incrementally and within bounds: bytes in, the data of each event out.
//! Names and ids are not kept: both wire formats repeat the kind of an event inside its data.

use std::io::BufRead as _;

/// The most one event may have.
const MAX_EVENT: usize = 1024 * 1024;

#[derive(Default)]
pub(crate) struct Sse {
    /// The beginning of a line whose end has not come.
    line: Vec<u8>,
    /// The data of an event whose end has not come.
    data: Vec<u8>,
    has_data: bool,
}

/// An event longer than any real one.
#[derive(Debug)]
pub(crate) struct TooLong;

impl Sse {
    /// Feeds bytes; `each` gets the data of every event that is complete and may stop with an error.
    pub fn feed<E: From<TooLong>>(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((head, tail)) = split_line(bytes) {
            bytes = tail;
            if self.line.is_empty() {
                self.line_ended(head, &mut each)?;
            } else {
                self.line.extend_from_slice(head);
                let line = std::mem::take(&mut self.line);
                self.line_ended(&line, &mut each)?;
                self.line = line;
                self.line.clear();
            }
        }
        if self.line.len() + bytes.len() > MAX_EVENT {
            return Err(TooLong.into());
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// No more bytes follow: what has no end has come all the same.
    pub fn finish<E: From<TooLong>>(
        &mut self,
        mut each: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.line_ended(&line, &mut each)?;
        }
        self.line_ended(b"", &mut each)
    }

    fn line_ended<E: From<TooLong>>(
        &mut self,
        line: &[u8],
        each: &mut impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.is_empty() {
            if std::mem::take(&mut self.has_data) {
                let said = each(&self.data);
                self.data.clear();
                return said;
            }
        } else if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if self.data.len() + value.len() > MAX_EVENT {
                return Err(TooLong.into());
            }
            if self.has_data {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
            self.has_data = true;
        }
        Ok(())
    }
}

/// The first line without its end, and what follows it.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut tail = bytes;
    // Looks at many bytes at a time, which `position` does not.
    let length = tail.skip_until(b'\n').ok()?;
    Some((bytes[..length].strip_suffix(b"\n")?, tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Stopped;

    impl From<TooLong> for Stopped {
        fn from(_: TooLong) -> Self {
            Self
        }
    }

    fn events(pieces: &[&[u8]]) -> Result<Vec<String>, Stopped> {
        let (mut sse, mut out) = (Sse::default(), Vec::new());
        for piece in pieces {
            sse.feed(piece, |data| {
                out.push(String::from_utf8_lossy(data).into_owned());
                Ok::<_, Stopped>(())
            })?;
        }
        Ok(out)
    }

    const STREAM: &[u8] =
        b": hello\nevent: a\ndata: {\"x\":1}\n\ndata:two\r\ndata: lines\r\nid: 7\r\n\r\n\n\ndata: cut";

    #[test]
    fn events_are_the_same_however_the_bytes_arrive() {
        let expected = ["{\"x\":1}", "two\nlines"];
        assert_eq!(events(&[STREAM]).unwrap(), expected);
        for size in 1..STREAM.len() {
            let pieces: Vec<_> = STREAM.chunks(size).collect();
            assert_eq!(events(&pieces).unwrap(), expected, "in pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_end_is_stopped() {
        let piece = vec![b'x'; 64 * 1024];
        let line: Vec<&[u8]> = std::iter::repeat_n(piece.as_slice(), 17).collect();
        assert!(events(&line).is_err(), "one endless line");
        let mut data = b"data: ".to_vec();
        data.extend_from_slice(&piece);
        data.push(b'\n');
        let lines: Vec<&[u8]> = std::iter::repeat_n(data.as_slice(), 17).collect();
        assert!(events(&lines).is_err(), "endless lines of one event");
        assert!(events(&lines[..15]).is_ok(), "the bound is the only reason");
    }
}
