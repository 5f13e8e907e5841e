//! The dashboard's server through the real binary, over raw sockets: who is let in, what is bounded, what an address
//! answers, and that what is done there is what a terminal would have done. What a browser makes of it is `browser`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::kit::desk;
use crate::kit::pursuit;

mod acting;
mod entrance;
mod listing;
mod proving;
mod reading;
use crate::kit::server;
mod standing;
