//! Traces through the real binary: a collector in the test takes what runs send, and reads it as any collector would.
//! What a run does must not depend on who listens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::kit::desk;
use crate::kit::pursuit;
use crate::kit::stage;

mod collector;
mod faults;
mod honest;
mod kinds;
mod privacy;
mod shown;
