//! An adversary at the real binary: critics that lie or meddle, loops that lead nowhere, bad input, `kill -9`.
//! What is wrong is caught, named in the record, and neither passes work nor costs the user a byte.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::corpus;

mod bad_input;
mod checkout;
use crate::kit::desk;
mod forgetting;
mod headway;
mod killed;
mod lies;
mod meddling;
mod parallel;
mod parts;
mod reasons;
mod reviewed;
mod weakened;
