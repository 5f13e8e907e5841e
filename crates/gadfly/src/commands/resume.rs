//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub async fn resume(_a: crate::cli::Resume, _c: &Context) -> Code { OK }
