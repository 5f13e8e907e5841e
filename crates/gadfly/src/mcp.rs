//! The MCP server: a host (Claude Code, Codex, an editor) starts loops, submits drafts and reports, and reads what
//! became of them. It reads the journal and calls the façade; what a run decides is the engine's, and nothing is kept
//! here that a restart would lose.
//!
//! To add a tool: its arguments in `arguments`, its row in `tools::all`, its line in `tools::call`.

mod approval;
mod arguments;
mod asking;
mod client;
mod findings;
mod goals;
mod render;
mod reply;
mod resources;
mod reviewing;
mod server;
mod starting;
mod state;
mod status;
mod submit;
mod token;
mod tools;
mod waiting;
mod working;

use rmcp::ServiceExt as _;
use rmcp::service::{QuitReason, ServerInitializeError};
use rmcp::transport::async_rw::AsyncRwTransport;

use crate::cli::Global;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::error;
use crate::telemetry;
pub use approval::Agreed;
use server::McpServer;
use state::ServerState;

/// A longer message is dropped unanswered. Anything that a tool would take is far shorter, also where every letter of
/// it is escaped; what is merely too long for the tool is refused in words.
const LONGEST_MESSAGE: usize = 64 << 20;

/// Serves one client on standard input and output until it goes. Standard output is the protocol's alone.
pub async fn serve(global: Global, agreed: Agreed) -> Code {
    let desk = ServerState::new(global, agreed);
    let mut interrupts = Interrupts::catch();
    let server = McpServer::new(desk.clone());
    let conversation = async {
        let (reads, writes) = rmcp::transport::io::stdio_pipes();
        let pipes = AsyncRwTransport::new_server(reads, writes).with_max_line_length(LONGEST_MESSAGE);
        let running = Box::pin(server.serve(pipes)).await.map_err(begin)?;
        match running.waiting().await {
            Ok(QuitReason::JoinError(e)) | Err(e) => Err(format!("the MCP connection broke: {e}")),
            Ok(_) => Ok(()),
        }
    };
    let ended = tokio::select! {
        ended = conversation => Some(ended),
        () = interrupts.next() => None,
    };
    desk.close().await;
    match ended {
        Some(Ok(())) => exit::OK,
        Some(Err(why)) if why.is_empty() => exit::OK,
        Some(Err(why)) => error::usage(&why),
        // A read of standard input may be under way, and would be waited for.
        None => {
            telemetry::finish();
            std::process::exit(exit::INTERRUPTED.0.into())
        }
    }
}

/// Why nobody was served; nothing if a client merely went.
fn begin(why: ServerInitializeError) -> String {
    match why {
        ServerInitializeError::ConnectionClosed(_) => String::new(),
        other => format!("no MCP client was met on standard input: {other}"),
    }
}
