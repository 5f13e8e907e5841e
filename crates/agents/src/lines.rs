//! Lines of a program's output, each bounded, so that no output can fill the memory. What they mean is not its
//! business.

use tokio::io::{AsyncRead, AsyncReadExt};

const CHUNK: usize = 64 << 10;

#[derive(PartialEq, Eq, Debug)]
pub(crate) enum ReadLine {
    /// Without its line break; the last one may have had none.
    Whole(Vec<u8>),
    /// It is longer than allowed. Said as soon as that is known; the rest of it is passed over.
    TooLong,
}

pub(crate) struct Lines<R> {
    from: R,
    most: usize,
    chunk: Box<[u8]>,
    /// What of `chunk` has been read and not yet looked at.
    waiting: std::ops::Range<usize>,
    line: Vec<u8>,
    passing_over: bool,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(from: R, most: usize) -> Self {
        let chunk = vec![0; CHUNK].into_boxed_slice();
        Self { from, most, chunk, waiting: 0..0, line: Vec::new(), passing_over: false, ended: false }
    }

    /// The next line; none when the output has ended. Nothing is lost if it is dropped before it is done.
    pub async fn next(&mut self) -> Option<ReadLine> {
        loop {
            while !self.waiting.is_empty() {
                if let Some(line) = self.take() {
                    return Some(line);
                }
            }
            if self.ended {
                return None;
            }
            match self.from.read(&mut self.chunk).await {
                Ok(n) if n > 0 => self.waiting = 0..n,
                // A pipe that breaks has ended: how the program ended says the rest.
                _ => {
                    self.ended = true;
                    let last = std::mem::take(&mut self.line);
                    return (!last.is_empty()).then_some(ReadLine::Whole(last));
                }
            }
        }
    }

    /// Looks at what waits up to the next line break.
    fn take(&mut self) -> Option<ReadLine> {
        let waiting = self.chunk.get(self.waiting.clone()).unwrap_or_default();
        let (piece, whole) = match waiting.iter().position(|b| *b == b'\n') {
            Some(at) => (waiting.get(..at).unwrap_or_default(), true),
            None => (waiting, false),
        };
        let too_long = self.line.len() + piece.len() > self.most;
        if !too_long && !self.passing_over {
            self.line.extend_from_slice(piece);
        }
        self.waiting.start += piece.len() + usize::from(whole);
        let known = self.passing_over;
        self.passing_over = (too_long || known) && !whole;
        if too_long && !known {
            self.line = Vec::new();
            return Some(ReadLine::TooLong);
        }
        (whole && !known).then(|| ReadLine::Whole(std::mem::take(&mut self.line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn all(text: &[u8], most: usize) -> Vec<ReadLine> {
        let mut lines = Lines::new(text, most);
        let mut out = Vec::new();
        while let Some(line) = lines.next().await {
            out.push(line);
        }
        out
    }

    fn whole(text: &str) -> ReadLine {
        ReadLine::Whole(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn the_last_line_needs_no_line_break() {
        assert_eq!(all(b"a\n\nb", 9).await, [whole("a"), whole(""), whole("b")]);
        assert_eq!(all(b"", 9).await, []);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        assert_eq!(all(b"aaaa\nb\ncccc", 3).await, [ReadLine::TooLong, whole("b"), ReadLine::TooLong]);
        let long = [vec![b'x'; 3 * CHUNK], b"\nend".to_vec()].concat();
        assert_eq!(all(&long, CHUNK).await, [ReadLine::TooLong, whole("end")]);
        assert_eq!(all(&long, 3 * CHUNK).await.len(), 2);
    }
}
