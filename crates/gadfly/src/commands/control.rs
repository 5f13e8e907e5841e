//! `gadfly pause` and `gadfly cancel`: asked of whoever drives the run.

use gadfly_engine::{Control, Outcome};
use gadfly_runtime::Ended;
use gadfly_runtime::service::Controlled;

use super::undo::told;
use crate::cli::RunName;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::{error, next_command, print};
use crate::session::refuse;

pub async fn pause(args: &RunName, context: &Context) -> Code {
    control(args, context, Control::Pause).await.unwrap_or_else(|code| code)
}

pub async fn cancel(args: &RunName, context: &Context) -> Code {
    control(args, context, Control::Cancel).await.unwrap_or_else(|code| code)
}

async fn control(args: &RunName, context: &Context, wanted: Control) -> Result<Code, Code> {
    let gadfly = context.open_existing()?;
    let run = find(gadfly.journal(), &args.run)?;
    let done =
        gadfly.control(&run, wanted.clone(), "terminal").await.map_err(|e| refuse(context, &run, e))?;
    match done {
        Controlled::Asked if wanted == Control::Pause => {
            print::err(&format!(
                "asked: the run pauses after its calls under way; {} goes on",
                next_command::command(&format!("resume {run}"))
            ));
        }
        Controlled::Asked => print::err("asked: the process that drives the run ends it"),
        Controlled::Done { ended: Ended::Outcome(outcome @ Outcome::Aborted), taken_back } => {
            for undone in &taken_back {
                print::err_lines(&told(undone));
            }
            print::err(&format!("run {run} is {}", outcome.label()));
        }
        Controlled::Done { ended, .. } => {
            let how = match &ended {
                Ended::Outcome(outcome) => outcome.label(),
                Ended::Interrupted => "interrupted".to_owned(),
            };
            return Err(error::fault(&format!("run `{run}` was not ended: it is {how}")));
        }
        Controlled::NotDriven => {
            return Err(error::usage(&format!(
                "nobody drives run `{run}`, so there is nothing to pause; `{}` would go on",
                next_command::command(&format!("resume {run}"))
            )));
        }
    }
    Ok(exit::OK)
}
