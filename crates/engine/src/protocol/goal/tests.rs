//! Whole goals: scripted workers, tools, critics and people in, a story out.

#![allow(clippy::unwrap_used, clippy::panic)]

mod caps;
mod claims;
mod commands;
mod crashes;
mod game;
mod hands;
mod long;
mod policy;
mod trying;
mod watching;
mod whole_change;
