//! `gadfly steer`: a person's word to the worker of a goal, left where whoever drives it finds it.

use gadfly_project::file;
use gadfly_runtime::service::SteerError;

use crate::cli::SteerArgs;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::{error, next_command, print};

pub fn steer(args: &SteerArgs, context: &Context) -> Code {
    go(args, context).unwrap_or_else(|code| code)
}

fn go(args: &SteerArgs, context: &Context) -> Result<Code, Code> {
    let gadfly = context.open_existing()?;
    let run = find(gadfly.journal(), &args.name.run)?;
    // Words without quotes are a sentence, too.
    let text = match &args.file {
        Some(path) => file::read_text(path).map_err(|e| error::usage(&e.to_string()))?,
        None if args.text.as_slice() == ["-"] => super::run::read_stdin("what the worker is told")?,
        None => args.text.join(" "),
    };
    let driven = gadfly.steer(&run, &text, "terminal").map_err(|e| match e {
        SteerError::NoGoal { .. }
        | SteerError::Ended { .. }
        | SteerError::Empty
        | SteerError::TooLong { .. } => error::usage(&e.to_string()),
        SteerError::Read(_) | SteerError::Post(_) => error::fault(&e.to_string()),
    })?;
    if driven {
        print::err("left for the worker: it reads it at its next turn");
    } else {
        print::err(&format!(
            "saved; the run is not active, and the worker reads it when you resume it: {}",
            next_command::command(&format!("resume {run}"))
        ));
    }
    Ok(exit::OK)
}
