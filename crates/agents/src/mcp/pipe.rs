//! Messages over a program's standard input and output, one per line. What nobody asked for goes no further: a
//! server that floods us with notifications or requests fills no queue.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::lines::{Lines, ReadLine};

/// The longest message: a tool's whole text, with room for what JSON adds, or a large picture.
pub(super) const MAX_LINE: usize = 32 << 20;
/// How much of the first line that is no message is kept for people.
const NOISE: usize = 200;
/// Requests of the server's own (pings) that are answered in one connection: answers wait for a server that does
/// not read them.
const MOST_ASKED: u32 = 1000;

/// What was on a server's output beside messages.
#[derive(Clone, Default, Debug)]
pub(super) struct StrayOutput {
    /// The beginning of the first line that is no message.
    pub noise: Option<String>,
    pub overlong: bool,
}

pub(super) type PipeWriter = Box<dyn AsyncWrite + Send + Unpin>;
pub(super) type PipeReader = Box<dyn AsyncRead + Send + Unpin>;

pub(super) struct Pipe {
    input: Arc<tokio::sync::Mutex<Option<PipeWriter>>>,
    output: Lines<PipeReader>,
    heard: Arc<Mutex<StrayOutput>>,
    /// Cancelled when nothing more will be received.
    over: CancellationToken,
    asked: u32,
}

/// Just enough of a message to know what it is.
#[derive(Deserialize)]
struct MessageShape {
    method: Option<IgnoredAny>,
    id: Option<RequestId>,
}

impl Pipe {
    pub fn new(
        input: PipeWriter,
        output: PipeReader,
        heard: Arc<Mutex<StrayOutput>>,
        over: CancellationToken,
    ) -> Self {
        let input = Arc::new(tokio::sync::Mutex::new(Some(input)));
        Self { input, output: Lines::new(output, MAX_LINE), heard, over, asked: 0 }
    }

    /// The message in a line, if it is one for us.
    fn read(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let Ok(shape) = serde_json::from_slice::<MessageShape>(line) else {
            self.note(line);
            return None;
        };
        match shape {
            MessageShape { method: Some(_), id: None } => None,
            MessageShape { method: Some(_), id: Some(_) } => {
                self.asked = self.asked.saturating_add(1);
                serde_json::from_slice(line).ok().filter(|_| self.asked <= MOST_ASKED)
            }
            // Whoever waits for it is told at once.
            MessageShape { method: None, id: Some(id) } => {
                Some(serde_json::from_slice(line).unwrap_or_else(|e| {
                    let message = format!("the server's answer is no message of MCP: {e}");
                    ServerJsonRpcMessage::error(ErrorData::internal_error(message, None), Some(id))
                }))
            }
            MessageShape { method: None, id: None } => {
                self.note(line);
                None
            }
        }
    }

    fn note(&self, line: &[u8]) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.noise.is_none() && !line.trim_ascii().is_empty() {
            let text = String::from_utf8_lossy(line.trim_ascii());
            heard.noise = Some(text.chars().take(NOISE).collect());
        }
    }
}

impl Transport<RoleClient> for Pipe {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            match input.lock().await.as_mut() {
                Some(input) => {
                    input.write_all(&line).await?;
                    input.flush().await
                }
                None => Err(io::ErrorKind::NotConnected.into()),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            // A flood of lines that are passed over would keep everyone else waiting, timeouts included.
            tokio::task::coop::consume_budget().await;
            match self.output.next().await {
                Some(ReadLine::Whole(line)) => {
                    if let Some(message) = self.read(&line) {
                        return Some(message);
                    }
                }
                Some(ReadLine::TooLong) => {
                    self.heard.lock().unwrap_or_else(PoisonError::into_inner).overlong = true;
                    break;
                }
                None => break,
            }
        }
        self.over.cancel();
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        // Not waited for: a server that reads nothing would hold whoever still writes for ever.
        if let Ok(mut input) = self.input.try_lock() {
            input.take();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn pipe(output: impl AsyncRead + Send + Unpin + 'static) -> Pipe {
        Pipe::new(Box::new(tokio::io::sink()), Box::new(output), Arc::default(), CancellationToken::new())
    }

    async fn received(mut pipe: Pipe) -> (usize, Pipe) {
        let mut count = 0;
        while pipe.receive().await.is_some() {
            count += 1;
        }
        (count, pipe)
    }

    #[tokio::test]
    async fn noise_and_notifications_go_no_further_and_pings_are_counted() {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned() + "\n";
        let note =
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
        let flood = format!("npm warn old\n{note}\n[1]\n{}", ping.repeat(3000));
        let (count, pipe) = received(pipe(io::Cursor::new(flood))).await;
        assert_eq!(count, MOST_ASKED as usize, "without the bound each of 3000 would wait to be answered");
        assert_eq!(pipe.heard.lock().unwrap().noise.as_deref(), Some("npm warn old"));
        assert!(pipe.over.is_cancelled());
    }

    #[tokio::test]
    async fn an_answer_that_is_none_fails_the_request_it_names() {
        let mut pipe = pipe(&br#"{"jsonrpc":"1.0","id":7,"result":[]}"#[..]);
        let Some(ServerJsonRpcMessage::Error(error)) = pipe.receive().await else { panic!("no error") };
        assert_eq!(error.id, Some(RequestId::Number(7)));
    }

    #[tokio::test]
    async fn a_line_without_end_is_not_gathered_for_ever() {
        let (count, pipe) = received(pipe(tokio::io::repeat(b'{'))).await;
        assert!(count == 0 && pipe.heard.lock().unwrap().overlong, "without the bound this would not end");
    }
}
