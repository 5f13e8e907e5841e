//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub fn completions(_a: &crate::cli::Completions) -> Code { OK } pub fn man() -> Code { OK }
