//! Bounded memory of what a command writes: the head of its stdout, the tail of its stderr.
//!
//! Both read to the end of the pipe whatever they keep, so that the writer never blocks on us.

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::oneshot;

const CHUNK: usize = 16 << 10;

/// The first `max` bytes.
#[derive(Debug)]
pub struct OutputHead {
    pub bytes: Vec<u8>,
    pub overflowed: bool,
    max: usize,
}

impl OutputHead {
    pub const fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), overflowed: false, max }
    }

    /// Reads until the pipe ends; says once, through `over`, that more came than is kept.
    pub async fn fill(&mut self, mut from: impl AsyncRead + Unpin, over: oneshot::Sender<()>) {
        let mut over = Some(over);
        let mut chunk = vec![0_u8; CHUNK];
        while let Some(read) = next(&mut from, &mut chunk).await {
            let room = self.max - self.bytes.len();
            self.bytes.extend_from_slice(&chunk[..read.min(room)]);
            if read > room {
                self.overflowed = true;
                // The receiver is gone once the call is being ended for another reason.
                let _ = over.take().map(|over| over.send(()));
            }
        }
    }
}

/// The last `max` bytes.
#[derive(Debug)]
pub struct Tail {
    bytes: Vec<u8>,
    max: usize,
}

impl Tail {
    pub const fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max }
    }

    pub async fn fill(&mut self, mut from: impl AsyncRead + Unpin) {
        let mut chunk = vec![0_u8; CHUNK];
        while let Some(read) = next(&mut from, &mut chunk).await {
            self.bytes.extend_from_slice(&chunk[..read]);
            // Cutting only at twice the size moves every byte at most once on average.
            if self.bytes.len() > self.max * 2 {
                keep_last(&mut self.bytes, self.max);
            }
        }
    }

    pub fn into_bytes(mut self) -> Vec<u8> {
        keep_last(&mut self.bytes, self.max);
        self.bytes
    }
}

/// Drops bytes from the front until at most `max` are left.
pub fn keep_last(bytes: &mut Vec<u8>, max: usize) {
    bytes.drain(..bytes.len().saturating_sub(max));
}

/// A read error on a pipe of ours means the same as its end: nothing more will come.
async fn next(from: &mut (impl AsyncRead + Unpin), chunk: &mut [u8]) -> Option<usize> {
    from.read(chunk).await.ok().filter(|read| *read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_head_is_exact_and_overflow_is_said_only_beyond_it() {
        let bytes = vec![7_u8; CHUNK * 2];
        for (max, overflows) in [(CHUNK * 2, false), (CHUNK * 2 - 1, true), (0, true)] {
            let (over, mut overflowed) = oneshot::channel();
            let mut head = OutputHead::new(max);
            head.fill(bytes.as_slice(), over).await;
            assert_eq!(head.bytes.len(), max);
            assert_eq!((overflowed.try_recv().is_ok(), head.overflowed), (overflows, overflows), "max {max}");
        }
    }

    #[tokio::test]
    async fn the_tail_keeps_the_end() {
        let bytes: Vec<u8> = (0..CHUNK * 5).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let mut tail = Tail::new(1000);
        tail.fill(bytes.as_slice()).await;
        assert_eq!(tail.into_bytes(), bytes[bytes.len() - 1000..]);
    }
}
