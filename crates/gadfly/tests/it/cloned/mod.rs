//! A project that came from somebody else, and a secret in the wrong place: what its files name, where its links lead, and
//! what is never printed. Everything through the real binary, with agents of the user's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test that cannot go on says so
#![cfg(target_os = "linux")]

use crate::kit::desk;
use crate::kit::server;

mod guards;
mod judges;
mod judging;
mod links;
mod matrix;
mod outputs;
mod secrets;
mod stores;

/// As if what is recorded came from another machine: this one has another key, and no memory of it. The folders of its
/// runs stay.
fn forget_this_machine(desk: &desk::Desk) {
    for entry in std::fs::read_dir(desk.beside("home/.local/state/gadfly")).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if path.ends_with("work") => {}
            true => std::fs::remove_dir_all(path).unwrap(),
            false => std::fs::remove_file(path).unwrap(),
        }
    }
}
