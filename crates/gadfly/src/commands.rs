//! One file per command. To add one: its arguments in `cli.rs`, a file here, a line in `dispatch`.

use crate::cli::{Cli, CliCommand};
use crate::context::Context;
use crate::exit::Code;

pub mod acp;
pub mod adopt;
pub mod answer;
pub mod batch;
pub mod check;
pub mod completions;
pub mod control;
pub mod demo;
pub mod doctor;
pub mod follow;
pub mod gate;
pub mod gc;
pub mod goal;
pub mod hook;
pub mod init;
pub mod learn;
pub mod mcp;
pub mod next;
pub mod own;
pub mod pipeline;
pub mod resume;
pub mod review;
pub mod run;
pub mod runs;
pub mod serve;
pub mod show;
pub mod steer;
pub mod transfer;
pub mod undo;
pub mod welcome;
pub mod why;

pub async fn dispatch(cli: Cli) -> Code {
    if let Some(store) = &cli.global.store {
        crate::output::next_command::at(store);
    }
    let Some(command) = cli.command else { return welcome::welcome(&Context::read(cli.global)) };
    let context = || Context::read(cli.global.clone());
    match command {
        CliCommand::Demo(args) => demo::demo(&args, &cli.global).await,
        CliCommand::Init(args) => init::init(&args, &context()).await,
        CliCommand::Doctor(args) => doctor::doctor(&args, &context()).await,
        CliCommand::Check(args) => check::check(&args, &context()),
        CliCommand::Run(args) => run::run(*args, &context()).await,
        CliCommand::Batch(args) => batch::batch(*args, &context()).await,
        CliCommand::Review(args) => review::review(*args, &context()).await,
        CliCommand::Goal(args) => goal::goal(*args, &context()).await,
        CliCommand::Pipeline(args) => pipeline::pipeline(*args, &context()).await,
        CliCommand::Next(args) => next::next(&args, &context()).await,
        CliCommand::Why(args) => why::why(&args, &context()).await,
        CliCommand::Gate(args) => gate::gate(&args, &context()).await,
        CliCommand::Adopt(args) => adopt::adopt(&args, &context()).await,
        CliCommand::Learn(args) => learn::learn(&args, &context()),
        CliCommand::Runs(args) => runs::runs(&args, &context()),
        CliCommand::Show(args) => show::show(&args, &context()),
        CliCommand::Follow(args) => follow::follow(&args, &context()).await,
        CliCommand::Resume(args) => resume::resume(args, &context()).await,
        CliCommand::Answer(args) => answer::answer(args, &context()),
        CliCommand::Steer(args) => steer::steer(&args, &context()),
        CliCommand::Pause(args) => control::pause(&args, &context()).await,
        CliCommand::Cancel(args) => control::cancel(&args, &context()).await,
        CliCommand::Undo(args) => undo::undo(&args, &context()).await,
        CliCommand::Serve(args) => serve::serve(args, context()).await,
        CliCommand::Mcp(args) => Box::pin(mcp::mcp(&args, &cli.global)).await,
        CliCommand::Acp(args) => Box::pin(acp::acp(*args, &cli.global)).await,
        CliCommand::Hook(args) => Box::pin(hook::hook(args, &context())).await,
        CliCommand::Own => own::own(&context()),
        CliCommand::Gc(args) => gc::gc(&args, &context()),
        CliCommand::Export(args) => transfer::export(&args, &context()).await,
        CliCommand::Import(args) => transfer::import(&args, &context()),
        CliCommand::Completions(args) => completions::completions(&args),
        CliCommand::Man => completions::man(),
    }
}
