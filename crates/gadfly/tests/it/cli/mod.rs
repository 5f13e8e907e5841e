//! The real binary, as a user meets it: exit code, standard output, standard error.
#![allow(clippy::unwrap_used, clippy::panic)] // a test that cannot go on says so

mod acting;
mod beforehand;
mod goals;
mod looking;
mod models;
mod outcomes;
mod people;
mod protocols;
mod proving;
mod questions;
mod reference;
mod refusals;
mod review;
mod stopping;
mod support;
mod terminal;
mod undo;
mod wire;
