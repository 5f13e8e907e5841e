//! `gadfly follow`: a run as it is recorded, wherever it is driven. History first, then live.

use std::time::Duration;

use gadfly_journal::{Journal, RunId};

use crate::cli::RunName;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::ending::{self, DraftIs};
use crate::output::view::View;
use crate::output::{error, events, print};

const POLL: Duration = Duration::from_millis(100);
const PAGE: u32 = 64;

pub async fn follow(args: &RunName, context: &Context) -> Code {
    let done = async {
        let journal = context.journal()?;
        let run = find(&journal, &args.run)?;
        let mut view = View::new(run.clone(), context.global.json);
        let mut interrupts = Interrupts::catch();
        let told = tokio::select! {
            told = tell(&journal, &run, &mut view) => told,
            // The run is not ours: it goes on.
            () = interrupts.next() => Err(exit::INTERRUPTED),
        };
        view.close();
        told?;
        finish(&journal, &run, context.global.json)
    };
    done.await.unwrap_or_else(|code: Code| code)
}

/// Until the run has ended, is parked, or nobody drives it any more.
async fn tell(journal: &Journal, run: &RunId, view: &mut View) -> Result<(), Code> {
    let fault = |e: gadfly_journal::ReadError| error::fault(&e.to_string());
    let mut next = 0;
    loop {
        // Asked first: what is recorded before this answer is read below.
        let driven = journal.is_owned(run).map_err(fault)?;
        loop {
            let page = journal.records(run, next, PAGE).map_err(fault)?;
            for record in &page {
                view.record(run, record)?;
                next = record.seq + 1;
            }
            if page.len() < PAGE as usize {
                break;
            }
        }
        let over = journal.summary(run).map_err(fault)?.ended;
        if over || !driven {
            return Ok(());
        }
        view.tick();
        tokio::time::sleep(POLL).await;
    }
}

fn finish(journal: &Journal, run: &RunId, json: bool) -> Result<Code, Code> {
    let state = journal.state(run).map_err(|e| error::fault(&e.to_string()))?;
    let outcome = state.outcome.as_ref();
    let code = outcome.map_or(exit::INTERRUPTED, exit::of_outcome);
    if json {
        print::out(&events::of_outcome(run, outcome, events::FinalLine::default(), code))?;
    } else {
        ending::print(&state, outcome, DraftIs::InJournal);
    }
    Ok(code)
}
