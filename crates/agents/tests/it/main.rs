//! The tests of this crate from outside, in one binary: a test is named `MODULE::NAME`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so

mod acp;
mod conformance;
mod fetch;
mod http;
mod http_tools;
mod mcp;
mod streams;
mod wire;
