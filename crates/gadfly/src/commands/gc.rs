//! `gadfly gc`: old runs and texts nobody needs. It only says what it would do, unless told to do it.

use gadfly_journal::Gc;
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::os::remove_whole_tree;

use super::runs::refuse_half_written;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::table::{counted, size};
use crate::output::{error, print};

const DAY_MS: u64 = 86_400_000;

pub fn gc(args: &crate::cli::Gc, context: &Context) -> Code {
    go(args, context).unwrap_or_else(|code| code)
}

fn go(args: &crate::cli::Gc, context: &Context) -> Result<Code, Code> {
    let journal = context.journal()?;
    let before_ms = wall_ms().saturating_sub(u64::from(args.older_than).saturating_mul(DAY_MS));
    let what = Gc { before_ms, keep_parked: !args.abandoned, dry_run: !args.apply };
    let collect = |what: &Gc| journal.gc(what, remove_whole_tree).map_err(|e| error::fault(&e.to_string()));
    if args.apply {
        for run in &collect(&Gc { dry_run: true, ..what.clone() })?.runs {
            refuse_half_written(&journal, run)?;
        }
    }
    let report = collect(&what)?;
    if context.global.json {
        let line = serde_json::json!({
            "runs": report.runs, "blobs": report.blobs, "bytes": report.bytes, "folders": report.folders,
            "applied": args.apply,
        });
        print::out(&line.to_string())?;
        return Ok(exit::OK);
    }
    for run in &report.runs {
        print::out(run.as_str())?;
    }
    let blobs = usize::try_from(report.blobs).unwrap_or(usize::MAX);
    let mut sum =
        format!("{}, {}, {}", counted(report.runs.len(), "run"), counted(blobs, "text"), size(report.bytes));
    if report.folders > 0 {
        sum = format!("{sum}, {} in folders", size(report.folders));
    }
    if args.apply {
        print::err(&format!("removed {sum}"));
    } else {
        let kept = if args.abandoned { "" } else { "; parked runs are kept" };
        print::err(&format!("would remove {sum}{kept}. `--apply` does it"));
    }
    Ok(exit::OK)
}
