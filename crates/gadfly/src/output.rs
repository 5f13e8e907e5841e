//! Everything that reaches the terminal or a pipe. Nothing else in the workspace prints.

pub mod error;
