//! `gadfly mcp`: the MCP server, on standard input and output.

use crate::cli::{Global, Mcp};
use crate::exit::Code;
use crate::mcp::Agreed;

pub async fn mcp(args: &Mcp, global: &Global) -> Code {
    let agreed = Agreed { trust: args.trust, host_critic: args.host_critic, raise: args.allow_raise };
    Box::pin(crate::mcp::serve(global.clone(), agreed)).await
}
