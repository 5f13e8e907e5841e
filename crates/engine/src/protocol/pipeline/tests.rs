//! The stories of a pipeline: a small world of files, workers and critics answers every effect.

mod graph;
mod stage;
mod stories;
