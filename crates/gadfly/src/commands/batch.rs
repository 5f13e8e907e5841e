//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub async fn batch(_a: crate::cli::Batch, _c: &Context) -> Code { OK }
