//! Lines on their way: byte for byte, in order, and whole. What we write ourselves stands between lines, never inside one.

use std::io::Read as _;

use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};
use tokio::runtime::Handle;
use tokio::sync::Mutex;

/// A line that is longer is passed on in pieces, and not read.
const LONGEST_READ: u64 = 16 << 20;
/// How much may wait between the editor and us.
const WAITING: usize = 256 << 10;
const CHUNK: usize = 64 << 10;

/// What becomes of a line.
pub enum Passing {
    AsItIs,
    /// This is passed on in its place.
    Instead(Vec<u8>),
    /// As it is, and this after it.
    WithMore(Vec<u8>),
    /// It was for us, or is held.
    Not,
}

/// One side's reader, as we write to it.
pub struct Outlet(Mutex<Box<dyn AsyncWrite + Send + Unpin>>);

impl Outlet {
    pub fn new(to: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Self(Mutex::new(Box::new(to)))
    }

    /// One line or several, whole.
    pub async fn line(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut to = self.0.lock().await;
        to.write_all(bytes).await?;
        to.flush().await
    }

    /// Nothing more will come.
    pub async fn end(&self) {
        let _ = self.0.lock().await.shutdown().await;
    }
}

/// The editor's end of our standard streams.
pub fn standard() -> (impl AsyncRead + Unpin, impl AsyncWrite + Send + Unpin + 'static) {
    let (mut near, far) = tokio::io::duplex(WAITING);
    let runtime = Handle::current();
    // Not a task of the runtime's: a read that never ends would keep the process from ending.
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK];
        while let Ok(read @ 1..) = std::io::stdin().lock().read(&mut chunk) {
            let Some(bytes) = chunk.get(..read) else { return };
            if runtime.block_on(near.write_all(bytes)).is_err() {
                return;
            }
        }
    });
    (far, tokio::io::stdout())
}

/// Carries lines until one of the sides is gone. `hear` is shown each.
pub async fn pump(from: impl AsyncRead + Unpin, to: &Outlet, hear: impl AsyncFn(&[u8]) -> Passing) {
    let mut from = BufReader::with_capacity(CHUNK, from);
    let mut line = Vec::new();
    loop {
        line.clear();
        match (&mut from).take(LONGEST_READ).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let passed = if line.len() as u64 == LONGEST_READ && !line.ends_with(b"\n") {
            pass_pieces(&mut from, to, &mut line).await
        } else {
            match hear(&line).await {
                Passing::AsItIs => to.line(&line).await,
                Passing::Instead(other) => to.line(&other).await,
                Passing::WithMore(more) => to.line(&[line.as_slice(), &more].concat()).await,
                Passing::Not => Ok(()),
            }
        };
        if passed.is_err() {
            return;
        }
    }
}

/// The rest of a long line; nobody else writes meanwhile.
async fn pass_pieces(
    from: &mut BufReader<impl AsyncRead + Unpin>,
    to: &Outlet,
    piece: &mut Vec<u8>,
) -> std::io::Result<()> {
    let mut to = to.0.lock().await;
    loop {
        to.write_all(piece).await?;
        if piece.is_empty() || piece.ends_with(b"\n") {
            return to.flush().await;
        }
        piece.clear();
        from.take(LONGEST_READ).read_until(b'\n', piece).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives at the far end of an outlet.
    async fn carried(sent: Vec<u8>, hear: impl AsyncFn(&[u8]) -> Passing) -> Vec<u8> {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        let outlet = Outlet::new(near);
        let reading = async {
            let mut got = Vec::new();
            far.read_to_end(&mut got).await.unwrap();
            got
        };
        let sending = async {
            pump(sent.as_slice(), &outlet, hear).await;
            outlet.end().await;
        };
        tokio::join!(reading, sending).0
    }

    #[tokio::test]
    async fn every_byte_arrives_in_order_also_of_lines_nobody_reads() {
        let long = vec![b'x'; usize::try_from(LONGEST_READ).unwrap() + 12_345];
        let odd: &[u8] = b"{\"a\":1}\r\n\n not json \xff\n";
        let sent = [odd, &long, b"\n{\"b\":2}\n", b"no end"].concat();
        let got = carried(sent.clone(), async |_: &[u8]| Passing::AsItIs).await;
        assert!(got == sent, "{} of {} bytes", got.len(), sent.len());
    }

    #[tokio::test]
    async fn what_is_put_in_stands_between_lines() {
        let got = carried(b"a\nb\nc\n".to_vec(), async |line: &[u8]| match line {
            b"a\n" => Passing::WithMore(b"1\n".to_vec()),
            b"b\n" => Passing::Not,
            _ => Passing::Instead(b"2\n".to_vec()),
        })
        .await;
        assert_eq!(got, b"a\n1\n2\n");
    }
}
