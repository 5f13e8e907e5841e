//! `gadfly gc`: old runs and texts nobody needs. It only says what it would do, unless told to do it.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use gadfly_journal::GcOptions;
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::folder::unused_layers;
use gadfly_runtime::os::remove_whole_tree;

use super::runs::refuse_half_written;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::table::{counted, size};
use crate::output::{error, print, safe};

const DAY_MS: u64 = 86_400_000;

pub fn gc(args: &crate::cli::GcArgs, context: &Context) -> Code {
    go(args, context).unwrap_or_else(|code| code)
}

fn go(args: &crate::cli::GcArgs, context: &Context) -> Result<Code, Code> {
    let journal = context.journal()?;
    let before_ms = wall_ms().saturating_sub(u64::from(args.older_than).saturating_mul(DAY_MS));
    let what = GcOptions { before_ms, keep_parked: !args.abandoned, dry_run: !args.apply };
    let collect =
        |what: &GcOptions| journal.gc(what, remove_whole_tree).map_err(|e| error::fault(&e.to_string()));
    if args.apply {
        for run in &collect(&GcOptions { dry_run: true, ..what.clone() })?.runs {
            refuse_half_written(&journal, run)?;
        }
    }
    let report = collect(&what)?;
    let since = UNIX_EPOCH + Duration::from_millis(before_ms);
    let layers = unused_layers(&context.user.custody().work_of(&context.store()), since);
    if args.apply {
        for layer in &layers {
            remove_whole_tree(layer);
        }
    }
    let ownerless = context.user.custody().ownerless_work();
    // A disk may be unplugged, and what undoing needs would be gone when it is back: only what is old is removed.
    let removed: Vec<bool> =
        ownerless.iter().map(|(work, _)| args.abandoned && is_older(work, before_ms)).collect();
    if args.apply {
        for ((work, _), _) in ownerless.iter().zip(&removed).filter(|(_, removed)| **removed) {
            remove_whole_tree(work);
        }
    }
    if context.global.json {
        let line = serde_json::json!({
            "runs": report.runs, "blobs": report.blobs, "bytes": report.bytes, "folders": report.folders,
            "layers": layers, "ownerless": ownerless.iter().map(|(work, _)| work).collect::<Vec<_>>(), "applied": args.apply,
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
    if !layers.is_empty() {
        sum = format!("{sum}, {} of `prepare`", counted(layers.len(), "layer"));
    }
    for ((work, store), removed) in ownerless.iter().zip(removed) {
        let [work, store] = [work, store].map(|path| safe::line(&path.display().to_string(), 300));
        let what = match (removed, args.apply) {
            (true, true) => "removed",
            (true, false) => "would be removed",
            (false, _) if args.abandoned => "kept; somebody worked there since",
            (false, _) => "kept; `--abandoned` removes it",
        };
        print::err(&format!("folders of a store that is gone ({store}): {work}: {what}"));
    }
    if args.apply {
        print::err(&format!("removed {sum}"));
    } else {
        let kept = if args.abandoned { "" } else { "; parked runs are kept" };
        print::err(&format!("would remove {sum}{kept}. `--apply` does it"));
    }
    Ok(exit::OK)
}

/// Whether no run worked here since.
fn is_older(work: &Path, before_ms: u64) -> bool {
    let runs = fs::read_dir(work).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut changed = runs.chain([work.to_owned()]).map(|path| fs::metadata(path)?.modified());
    changed.all(|at| {
        let since = at.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        since.is_some_and(|since| since.as_millis() < u128::from(before_ms))
    })
}
