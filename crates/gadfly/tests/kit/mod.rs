//! What tests of the binary share: projects in folders of their own, the binary in them, servers, scripted goals and pipelines.
#![allow(dead_code)] // not every binary of tests needs all of it

pub mod agreed;
pub mod desk;
pub mod kinds;
pub mod pursuit;
pub mod server;
pub mod stage;
