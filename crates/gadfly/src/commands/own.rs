//! `gadfly own`: a person makes a store theirs that came from elsewhere, or that lacks what was in it.

use gadfly_journal::{Journal, TakeError};

use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, table};

pub fn own(context: &Context) -> Code {
    take(context).unwrap_or_else(|code| code)
}

fn take(context: &Context) -> Result<Code, Code> {
    let taken = Journal::own(&context.store(), &context.user.custody()).map_err(|why| match why {
        TakeError::Open(_) | TakeError::Busy => error::usage(&why.to_string()),
        TakeError::Read(_) | TakeError::Store(_) => error::fault(&why.to_string()),
    })?;
    if taken.is_own {
        print::err("this store is yours already; nothing was changed");
        return Ok(exit::OK);
    }
    for run in &taken.unreadable {
        print::err(&format!("run {run} cannot be read; it stays, and is shown as damaged"));
    }
    let runs = table::counted(usize::try_from(taken.runs).unwrap_or(usize::MAX), "run");
    print::err(&format!(
        "this store is yours now, with {runs}. What came from another machine stays marked: no gate counts it"
    ));
    Ok(exit::OK)
}
