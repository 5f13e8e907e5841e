//! Traces through the real binary: a collector in the test takes what runs send, and reads it as any collector would.
//! What a run does must not depend on who listens.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

#[path = "../judging/desk.rs"]
#[allow(dead_code)]
mod desk;
#[path = "../goals/pursuit.rs"]
#[allow(dead_code)]
mod pursuit;
#[path = "../pipeline/stage.rs"]
#[allow(dead_code)]
mod stage;

mod collector;
mod faults;
mod honest;
mod kinds;
mod privacy;
mod shown;
