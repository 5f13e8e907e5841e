//! A command's output on its way to whoever talks with it: in order, bounded, and never lost to slowness.
//!
//! While the command lives it waits for its listener. Once it has ended, what is left in the pipe is taken at
//! once, so that its end can be told whether anybody listens or not.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

const CHUNK: usize = 16 << 10;
/// How many chunks may wait for the listener.
const WAITING: usize = 4;

struct OutputChunk {
    bytes: Vec<u8>,
    /// Given back when the listener is done with the chunk.
    _room: Option<OwnedSemaphorePermit>,
}

/// The writing end.
pub struct Relay {
    chunks: Option<UnboundedSender<OutputChunk>>,
    room: Arc<Semaphore>,
    left: usize,
}

/// The listener's end.
pub struct OutputStream {
    chunks: UnboundedReceiver<OutputChunk>,
    now: Option<OutputChunk>,
    taken: usize,
}

/// Passes on the first `max` bytes.
pub fn relay(max: usize) -> (Relay, OutputStream) {
    let (send, chunks) = unbounded_channel();
    let relay = Relay { chunks: Some(send), room: Arc::new(Semaphore::new(WAITING)), left: max };
    (relay, OutputStream { chunks, now: None, taken: 0 })
}

impl Relay {
    /// Reads until the pipe ends; says once, through `over`, that more came than is passed on. In a `hurry` it
    /// waits for the listener no more.
    pub async fn fill(
        &mut self,
        mut from: impl AsyncRead + Unpin,
        over: oneshot::Sender<()>,
        hurry: CancellationToken,
    ) {
        let mut over = Some(over);
        loop {
            let room = tokio::select! {
                biased;
                room = Arc::clone(&self.room).acquire_owned() => room.ok(),
                () = hurry.cancelled() => None,
            };
            let mut bytes = vec![0_u8; CHUNK];
            // A read error on a pipe of ours means the same as its end: nothing more will come.
            let Ok(read @ 1..) = from.read(&mut bytes).await else { break };
            if read > self.left {
                // The receiver is gone once the call is being ended for another reason.
                let _ = over.take().map(|over| over.send(()));
            }
            bytes.truncate(read.min(self.left));
            self.left -= bytes.len();
            if bytes.is_empty() {
                continue;
            }
            let chunk = OutputChunk { bytes, _room: room };
            // Without a listener the pipe is emptied all the same: the command may have more to do than to talk.
            if self.chunks.as_ref().is_some_and(|chunks| chunks.send(chunk).is_err()) {
                self.chunks = None;
            }
        }
        self.chunks = None;
    }
}

impl AsyncRead for OutputStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        loop {
            let rest = self.now.as_ref().and_then(|chunk| chunk.bytes.get(self.taken..)).unwrap_or_default();
            if !rest.is_empty() {
                let length = rest.len().min(buf.remaining());
                buf.put_slice(rest.get(..length).unwrap_or_default());
                self.taken += length;
                return Poll::Ready(Ok(()));
            }
            self.now = None;
            self.taken = 0;
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.now = Some(chunk),
                None => return Poll::Ready(Ok(())),
            }
        }
    }
}
