//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub async fn demo(_a: &crate::cli::Demo, _g: &crate::cli::Global) -> Code { OK }
