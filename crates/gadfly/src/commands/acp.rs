//! `gadfly acp`: between an editor and its agent, on standard input and output.

use crate::cli::{Acp, Global};
use crate::exit::Code;

pub async fn acp(args: Acp, global: &Global) -> Code {
    Box::pin(crate::acp::serve(args, global.clone())).await
}
