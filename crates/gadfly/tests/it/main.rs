//! The tests of this crate from outside, in one binary: a test is named `MODULE::NAME`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so

#[path = "../../../syntax/tests/it/corpus/mod.rs"]
mod corpus;
#[path = "../kit/mod.rs"]
mod kit;

mod acp;
mod batch;
mod cli;
mod cloned;
mod demo;
mod docs;
mod doctor;
mod examples;
mod goals;
mod goals_hands;
mod golden;
mod hook;
mod judging;
mod layouts;
mod load;
mod mcp;
mod money;
mod own_protocol;
mod pipeline;
mod powers;
mod project;
mod quota;
mod replies;
mod serve;
mod telemetry;
mod ways_in;
