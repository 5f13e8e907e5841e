//! `watch`: an autonomous worker with tools pursues a goal while a second model watches it. The worker cannot stop
//! by itself: a verified claim, a report of giving up, a person or a cap ends it.

pub mod criterion;
pub mod settings;

pub use criterion::{Criterion, FileCheck};
pub use settings::{Policy, Server, Settings};
