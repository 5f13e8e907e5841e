//! The stories of a pipeline: a small world of files, workers and critics answers every effect.

mod graph;
mod research;
mod stage;
mod stories;
