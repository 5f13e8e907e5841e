//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub fn show(_a: &crate::cli::Show, _c: &Context) -> Code { OK }
