//! The tests of this crate from outside, in one binary: a test is named `MODULE::NAME`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so

mod forgetting;
mod inbox;
mod ledger;
mod overview;
mod ownership;
mod page;
mod sample;
mod script;
mod storage;
mod store;
mod tamper;
mod transfer;
mod vouched;
