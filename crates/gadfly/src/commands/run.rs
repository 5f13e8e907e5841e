//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub async fn run(_a: crate::cli::Run, _c: &Context) -> Code { OK }
