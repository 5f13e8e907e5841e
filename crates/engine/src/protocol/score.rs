//! `score`: a critic deducts points by a rubric, the engine adds them up, at most three times.

pub mod reply;
pub mod settings;
