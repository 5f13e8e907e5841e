//! The `gadfly` binary: commands in, exit code out. Everything it does goes through `gadfly-runtime`.

mod agreement;
mod cli;
mod commands;
mod context;
mod exit;
mod interrupts;
mod output;
mod proposal;
mod quota;
mod report;
mod session;
mod typing;

use clap::Parser as _;

/// A loop is thousands of small allocations on several threads: docs/benchmarks.md has the difference.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    // First of all: started as a supervisor, this never returns.
    gadfly_runtime::supervise();
    gadfly_runtime::os::keep_memory_private();
    let cli = cli::Cli::parse();
    let code = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(commands::dispatch(cli)),
        Err(error) => {
            output::error::fault(&format!("the asynchronous runtime could not be started: {error}"))
        }
    };
    std::process::ExitCode::from(code.0)
}
