//! Stores of any size for tests and benchmarks. What `gadfly-bench` itself measures is in the program.

pub mod store;
