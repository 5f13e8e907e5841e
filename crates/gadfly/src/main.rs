//! The binary `gadfly`.

/// A loop is thousands of small allocations on several threads: docs/benchmarks.md has the difference.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    gadfly::main_with(&[])
}
