//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub async fn init(_a: &crate::cli::Init, _c: &Context) -> Code { OK }
