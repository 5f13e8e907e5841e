//! The MCP server at the real binary: driven by the official TypeScript SDKs, and by raw lines where no SDK would send
//! such a thing.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

mod ending;
pub mod lines;
mod raw;
mod scenarios;
pub mod support;
mod tasks;
