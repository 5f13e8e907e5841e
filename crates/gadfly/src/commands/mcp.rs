//! `gadfly mcp`: the MCP server, on standard input and output.

use crate::cli::{Global, Mcp};
use crate::exit::Code;

pub async fn mcp(args: &Mcp, global: &Global) -> Code {
    Box::pin(crate::mcp::serve(global.clone(), args.trust)).await
}
