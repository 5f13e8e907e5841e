//! `gadfly hook`: being called by Claude Code. What it says goes to standard output as the JSON that hooks speak.

mod answer;
mod input;
mod judge;
mod nested;
mod request;
mod seats;
mod session;
mod session_proof;
mod stop;
mod submitting;
mod transcript;

use serde_json::json;

use crate::cli::{Hook, HookCommand};
use crate::context::Context;
use crate::exit::Code;
use crate::output::print;

/// Above what `hook stop` takes by itself, so that it says what it has before it is killed.
const TIMEOUT_SECONDS: u64 = 600;

pub async fn hook(args: Hook, context: &Context) -> Code {
    match args.command {
        HookCommand::Stop(args) => Box::pin(stop::stop(*args, context)).await,
        HookCommand::Print => settings(),
    }
}

/// For .claude/settings.json.
fn settings() -> Code {
    let command =
        json!({ "type": "command", "command": "gadfly hook stop --untrusted", "timeout": TIMEOUT_SECONDS });
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [command] }] } });
    let text = serde_json::to_string_pretty(&settings).unwrap_or_default();
    match print::out(&text) {
        Ok(()) => crate::exit::OK,
        Err(code) => code,
    }
}
