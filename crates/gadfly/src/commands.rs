//! One file per command. To add one: its arguments in `cli.rs`, a file here, a line in `dispatch`.

use crate::cli::{Cli, Command};
use crate::context::Context;
use crate::exit::Code;

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
        Command::Demo(args) => demo::demo(&args, &cli.global).await,
        Command::Init(args) => init::init(&args, &context()).await,
        Command::Doctor(args) => doctor::doctor(&args, &context()).await,
        Command::Check => check::check(&context()),
        Command::Run(args) => run::run(*args, &context()).await,
        Command::Batch(args) => batch::batch(*args, &context()).await,
        Command::Review(args) => review::review(*args, &context()).await,
        Command::Goal(args) => goal::goal(*args, &context()).await,
        Command::Pipeline(args) => pipeline::pipeline(*args, &context()).await,
        Command::Next(args) => next::next(&args, &context()).await,
        Command::Why(args) => why::why(&args, &context()).await,
        Command::Gate(args) => gate::gate(&args, &context()).await,
        Command::Adopt(args) => adopt::adopt(&args, &context()).await,
        Command::Learn(args) => learn::learn(&args, &context()),
        Command::Runs(args) => runs::runs(&args, &context()),
        Command::Show(args) => show::show(&args, &context()),
        Command::Follow(args) => follow::follow(&args, &context()).await,
        Command::Resume(args) => resume::resume(args, &context()).await,
        Command::Answer(args) => answer::answer(args, &context()),
        Command::Steer(args) => steer::steer(&args, &context()),
        Command::Pause(args) => control::pause(&args, &context()).await,
        Command::Cancel(args) => control::cancel(&args, &context()).await,
        Command::Undo(args) => undo::undo(&args, &context()).await,
        Command::Serve(args) => serve::serve(args, context()).await,
        Command::Mcp(args) => Box::pin(mcp::mcp(&args, &cli.global)).await,
        Command::Hook(args) => Box::pin(hook::hook(args, &context())).await,
        Command::Own => own::own(&context()),
        Command::Gc(args) => gc::gc(&args, &context()),
        Command::Export(args) => transfer::export(&args, &context()).await,
        Command::Import(args) => transfer::import(&args, &context()),
        Command::Completions(args) => completions::completions(&args),
        Command::Man => completions::man(),
    }
}
