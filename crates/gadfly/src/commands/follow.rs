//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub async fn follow(_a: &crate::cli::RunName, _c: &Context) -> Code { OK }
