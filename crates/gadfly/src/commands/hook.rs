//! `gadfly hook`: being called by coding agents. What it says goes to standard output as the JSON that their hooks speak.

mod input;
mod program;
mod stop;
mod transcript;

use crate::cli::{Hook, HookCommand, HookProgram};
use crate::context::Context;
use crate::exit::Code;
use crate::output::print;

pub async fn hook(args: Hook, context: &Context) -> Code {
    match args.command {
        HookCommand::Stop(args) => Box::pin(stop::stop(*args, context)).await,
        HookCommand::Print { program } => settings(program),
    }
}

fn settings(program: HookProgram) -> Code {
    print::err(&format!("for {}:", program::settings_file(program)));
    let text = serde_json::to_string_pretty(&program::settings(program)).unwrap_or_default();
    match print::out(&text) {
        Ok(()) => crate::exit::OK,
        Err(code) => code,
    }
}
