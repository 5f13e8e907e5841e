//! A local model server that speaks the real wire formats, with their faults. For tests and benchmarks only.
//!
//! `POST /v1/chat/completions`, `/v1/responses`, `/v1/messages` and `/v1beta/models/MODEL:generateContent` or
//! `:streamGenerateContent`, `GET /v1/models`; `GET /calls` says what arrived, `POST /reset` forgets it. The
//! request's model selects the behaviour:
//!
//! | model | does |
//! |---|---|
//! | `uncounted:MODEL` | as MODEL, without a word of what it used (chat completions) |
//! | `worker`, `worker:N` | a draft that depends only on the brief, of at least N bytes |
//! | `critic:R,R,A` | rejects, rejects, approves, by the brief's `Iteration: N` line (`M`: malformed) |
//! | `agent`, `agent:R,A` | behind a program with tools: writes the file its task names, or, asked for a verdict, gives it (default `R,A`) |
//! | `intruder`, `intruder:R,A` | the same, but asked for a verdict it first tries to write with the program's tools |
//! | `restless` | calls a tool, again and again |
//! | `hands`, `hands:HOW` | asks for the first tool it is offered, then says what it was told; refuses what an API would. HOW is `goal` (writes `done.txt` with the tools it is offered, looks at it, and claims the goal), `whole`, `split`, `stop` (ends as if well), or a fault: `cut`, `unfinished`, `huge`, `hang`, `length`, `unasked` (asks though it is offered nothing) |
//! | `slow`, `slow:MS` | event by event, with a pause before each |
//! | `whole` | not streamed, whatever was asked |
//! | `split` | in pieces that respect no boundary |
//! | `think` | with reasoning beside and inside the text |
//! | `echo-key` | says the key it was sent |
//! | `fault:429`, `fault:429-then-ok:K`, `fault:500`, `fault:500-then-ok:K`, `fault:401`, `fault:quota`, `fault:quota-then-ok:K`, `fault:busy`, `fault:redirect`, `fault:context`, `fault:param`, `fault:echo-key`, `fault:echo-key-late` | an HTTP error |
//! | `fault:cut`, `fault:unfinished`, `fault:malformed`, `fault:empty`, `fault:huge`, `fault:hang`, `fault:hang-connect` | a broken reply |
//! | `fault:length`, `fault:refusal` | a reply that ends so |
//! | any other | a critic that approves if the brief speaks of `[STATUS:`, else a worker |

pub mod acp;
mod answer;
mod brief;
mod calls;
pub mod cli;
mod connection;
mod conversation;
mod hands;
pub mod mcp;
mod program;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

pub use calls::{Arrival, Calls};

/// Thousands of loops may connect at the same moment.
const BACKLOG: u32 = 8192;

/// What holds for every call of a server.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// Waited before each answer begins.
    pub latency: Duration,
    /// Texts by model: the Nth for `Iteration: N`, the last from then on. They come before the behaviours above.
    pub script: BTreeMap<String, Vec<String>>,
}

pub(crate) struct ServerShared {
    pub behaviour: Behaviour,
    pub calls: calls::Counter,
    /// Calls from this one on get no answer yet.
    pub held_from: watch::Sender<u64>,
}

/// A running server. It ends, with its connections, when this value is dropped.
pub struct Server {
    pub addr: SocketAddr,
    shared: Arc<ServerShared>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Listens on a free port of the loopback interface.
    pub async fn start(behaviour: Behaviour) -> io::Result<Self> {
        Self::start_on(0, behaviour).await
    }

    /// Listens on a port of the loopback interface; 0 takes a free one.
    #[allow(clippy::unused_async)] // must be called inside a runtime; the signature says so
    pub async fn start_on(port: u16, behaviour: Behaviour) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], port)))?;
        let listener = socket.listen(BACKLOG)?;
        let addr = listener.local_addr()?;
        let (held_from, _) = watch::channel(u64::MAX);
        let shared = Arc::new(ServerShared { behaviour, calls: calls::Counter::default(), held_from });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { addr, shared, accepting })
    }

    /// The address for `base_url` of an OpenAI-compatible agent.
    pub fn v1(&self) -> String {
        format!("http://{}/v1", self.addr)
    }

    pub fn calls(&self) -> Calls {
        self.shared.calls.read()
    }

    pub fn reset(&self) {
        self.shared.calls.reset();
    }

    /// Answers so many calls, and those after them only once this is called again: what happens meanwhile happens in the
    /// middle of the work, however slow the machine is.
    pub fn hold_after(&self, calls: u64) {
        self.shared.held_from.send_replace(calls);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<ServerShared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => {
                    let shared = Arc::clone(&shared);
                    shared.calls.connected();
                    // A client that goes away is no error of the server's.
                    connections.spawn(async move { connection::serve(socket, shared).await.is_ok() });
                }
                // Out of descriptors: those in use must be given back before the next accept.
                Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
