//! The program: commands in, exit code out. Everything it does goes through `gadfly-runtime`.
//!
//! The binary `gadfly` is [`main_with`] and nothing else. A program with protocols of its own calls it with them, and has them
//! on its command line, in `gadfly.toml`, on the page and through MCP: `examples/own-protocol` is one.

mod acp;
mod agreement;
mod background;
mod cli;
mod commands;
mod context;
mod exit;
mod interrupts;
mod judged_session;
mod mcp;
mod output;
mod project_status;
mod proposal;
mod quota;
mod report;
mod serve;
mod session;
mod telemetry;
mod terms;
mod typing;
mod untrusted;
mod verdict;

use clap::Parser as _;
use gadfly_engine::masked::masked;
use gadfly_runtime::prepare::ProtocolEntry;

/// Runs the program with the shipped protocols and these.
pub fn main_with(protocols: &'static [ProtocolEntry]) -> std::process::ExitCode {
    // First of all: started as a supervisor, this never returns.
    gadfly_runtime::supervise();
    gadfly_runtime::os::keep_memory_private();
    gadfly_runtime::prepare::declare(protocols);
    gadfly_project::adapter::declare(gadfly_layouts::ADAPTERS);
    let cli = cli::Cli::try_parse().unwrap_or_else(|wrong| {
        // To most programs, 2 from a hook means "not yet": a mistyped flag would hold it for ever.
        let is_hook = std::env::args_os().any(|word| word == "hook") && wrong.use_stderr();
        // It repeats what it does not know: a key that was typed in the wrong place, too.
        let (said, kept) = (wrong.to_string(), masked(&wrong.to_string()));
        if said == kept {
            let _ = wrong.print();
        } else {
            output::print::err(kept.trim_end());
        }
        std::process::exit(if is_hook { exit::FAILED.0.into() } else { wrong.exit_code() })
    });
    let code = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(commands::dispatch(cli)),
        Err(error) => {
            output::error::fault(&format!("the asynchronous runtime could not be started: {error}"))
        }
    };
    telemetry::finish();
    std::process::ExitCode::from(code.0)
}
