//! Ties the agent's streams to what answers them: one handler per thing it may ask for. Handlers run one after
//! the other; what waits is put aside.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionRequest,
    SessionNotification, TerminalOutputRequest, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
    WriteTextFileRequest,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::messages::{self, Noise};
use super::serving::Serving;
use super::session::{PromptSpec, SessionEnd, converse};

type ToAgent = ConnectionTo<Agent>;

/// How long the rest of the output of an agent that is gone may take.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Connects both sides and holds the conversation. The connection is gone when this is over.
pub(super) async fn talk_with(
    input: impl AsyncWrite + Send + Unpin + 'static,
    output: impl AsyncRead + Unpin,
    serving: Arc<Serving>,
    asked: PromptSpec,
) -> (Result<SessionEnd, Error>, Noise) {
    let (near, far) = tokio::io::duplex(64 * 1024);
    let (observe, noise) = (serving.observe.clone(), Mutex::default());
    let mut carrying = std::pin::pin!(messages::carry(output, far, &observe, &noise));
    let mut talking = std::pin::pin!(connect(input, near, serving, asked));
    let mut carried = false;
    let ended = loop {
        tokio::select! {
            ended = &mut talking => break ended,
            () = &mut carrying, if !carried => carried = true,
        }
    };
    if ended.as_ref().map_or(true, SessionEnd::by_hanging_up) && !carried {
        // Its last words may still be on the way.
        let _ = tokio::time::timeout(LAST_WORDS, carrying).await;
    }
    let noise = noise.lock().unwrap_or_else(PoisonError::into_inner).clone();
    (ended, noise)
}

async fn connect(
    input: impl AsyncWrite + Send + Unpin + 'static,
    output: impl AsyncRead + Send + 'static,
    serving: Arc<Serving>,
    asked: PromptSpec,
) -> Result<SessionEnd, Error> {
    let transport = ByteStreams::new(input.compat_write(), output.compat());
    let client = Client.v1().name("gadfly");
    let for_agent = || Arc::clone(&serving);
    let client = client.on_receive_notification(
        {
            let serving = for_agent();
            async move |update: SessionNotification, _cx| {
                serving.hear(update).await;
                Ok(())
            }
        },
        on_receive_notification!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: RequestPermissionRequest, responder, _cx| {
                responder.respond(serving.may(asked).await)
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: ReadTextFileRequest, responder, _cx| {
                responder.respond_with_result(serving.read(asked).await)
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: WriteTextFileRequest, responder, _cx| {
                responder.respond_with_result(serving.write(asked).await)
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: CreateTerminalRequest, responder, cx: ToAgent| match serving
                .terminal(asked)
                .await
            {
                Ok((id, work)) => {
                    cx.spawn(async move {
                        work.done().await;
                        Ok(())
                    })?;
                    responder.respond(CreateTerminalResponse::new(id))
                }
                Err(error) => responder.respond_with_error(error),
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: TerminalOutputRequest, responder, _cx| {
                responder.respond_with_result(serving.terminals.output(&asked.terminal_id))
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: WaitForTerminalExitRequest, responder, cx: ToAgent| {
                let ended = Arc::clone(&serving).exited(asked.terminal_id);
                // Whoever waits must not keep others from being served.
                cx.spawn(async move {
                    let ended = ended.await.map(WaitForTerminalExitResponse::new);
                    let _ = responder.respond_with_result(ended);
                    Ok(())
                })
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: KillTerminalRequest, responder, _cx| {
                let killed = serving.terminals.kill(&asked.terminal_id);
                responder.respond_with_result(killed.map(|()| KillTerminalResponse::new()))
            }
        },
        on_receive_request!(),
    );
    let client = client.on_receive_request(
        {
            let serving = for_agent();
            async move |asked: ReleaseTerminalRequest, responder, _cx| {
                let released = serving.terminals.release(&asked.terminal_id);
                responder.respond_with_result(released.map(|()| ReleaseTerminalResponse::new()))
            }
        },
        on_receive_request!(),
    );
    client.connect_with(transport, async move |cx: ToAgent| Ok(converse(cx, serving, asked).await)).await
}
