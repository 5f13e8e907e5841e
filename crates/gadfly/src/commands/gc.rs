//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub fn gc(_a: &crate::cli::Gc, _c: &Context) -> Code { OK }
