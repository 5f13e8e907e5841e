//! The `gadfly` binary.
fn main() {}
