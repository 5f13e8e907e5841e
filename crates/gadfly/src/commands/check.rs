//! stub
use crate::context::Context; use crate::exit::{Code, OK};
pub fn check(_c: &Context) -> Code { OK }
