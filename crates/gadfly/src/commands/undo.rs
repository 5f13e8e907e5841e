//! `gadfly undo`: takes back what a run changed in the user's files, by being accepted or by working in place.

use gadfly_runtime::service::Gadfly;
use gadfly_runtime::undo::{Preview, UndoError, Undone};
use gadfly_runtime::workspace::WayBack;

use crate::cli;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::table::{counted, moment};
use crate::output::{ask, error, print, safe, terminal};

pub async fn undo(args: &cli::Undo, context: &Context) -> Code {
    go(args, context).await.unwrap_or_else(|code| code)
}

async fn go(args: &cli::Undo, context: &Context) -> Result<Code, Code> {
    let gadfly = context.open_existing()?;
    let run = find(gadfly.journal(), &args.name.run)?;
    if args.dry_run {
        let preview = gadfly.preview_undo(&run).await.map_err(|why| refused(&why))?;
        for line in foreseen(&preview) {
            print::out(&line)?;
        }
        return Ok(if preview.way.conflicts.is_empty() { exit::OK } else { exit::HALTED });
    }
    if !args.yes {
        agreed(&gadfly, &run).await?;
    }
    let undone = gadfly.undo(&run).await.map_err(|why| refused(&why))?;
    print::err_lines(&told(&undone));
    Ok(exit::OK)
}

/// Where it is not sure that all of it is the run's doing, a person says that it shall be taken back.
async fn agreed(gadfly: &Gadfly, run: &gadfly_journal::RunId) -> Result<(), Code> {
    let preview = match gadfly.preview_undo(run).await {
        // `undo` says so itself, when it has cleared away what a kill left beside the user's files.
        Err(UndoError::Nothing(_)) => return Ok(()),
        other => other.map_err(|why| refused(&why))?,
    };
    if preview.sure || preview.way.is_done() {
        return Ok(());
    }
    print::err_lines(&foreseen(&preview));
    let why = "the run was not at its end when it stopped: what others changed meanwhile would be taken back with it";
    print::err(why);
    if !terminal::can_ask() {
        return Err(error::usage("say that you want this: --yes"));
    }
    if ask::yes("take it back?", false) { Ok(()) } else { Err(exit::HALTED) }
}

fn refused(why: &UndoError) -> Code {
    match why {
        // The user's own later work stands in the way: like any other conflict, this is no mistake of theirs.
        UndoError::Changed { .. } => {
            error::usage(&why.to_string());
            exit::HALTED
        }
        UndoError::Already { run, at_ms } => error::usage(&format!(
            "run `{run}` was taken back already, on {}; nothing was done",
            moment(*at_ms)
        )),
        UndoError::Nothing(_)
        | UndoError::Committed { .. }
        | UndoError::Driven(_)
        | UndoError::Taken { .. } => error::usage(&why.to_string()),
        _ => error::fault(&why.to_string()),
    }
}

fn shown(path: &std::path::Path) -> String {
    safe::line(&path.to_string_lossy(), 400)
}

fn foreseen(preview: &Preview) -> Vec<String> {
    let Preview { root, way, .. } = preview;
    let files = way.restored.len() + way.removed.len();
    let head = format!("would be reverted in {}: {}", shown(root), counted(files, "file"));
    let conflicts = way.conflicts.iter();
    let stops = conflicts.map(|path| format!("  blocked by  {} (changed since)", safe::line(path, 400)));
    std::iter::once(head).chain(files_of(way)).chain(stops).chain(staying(way)).collect()
}

fn files_of(way: &WayBack) -> impl Iterator<Item = String> {
    let list = |word: &'static str, paths: &[String]| {
        paths.iter().map(move |path| format!("  {word}  {}", safe::line(path, 400))).collect::<Vec<_>>()
    };
    list("restore", &way.restored).into_iter().chain(list("remove ", &way.removed))
}

const LEFT: &str = "left as you changed it";

/// One line that names these files; none if there are none.
fn line(what: &str, paths: &[String]) -> Option<String> {
    let named = || paths.iter().map(|path| safe::line(path, 200)).collect::<Vec<_>>().join(", ");
    (!paths.is_empty()).then(|| format!("{what}: {}", named()))
}

/// What is not the run's, or not ours to take back.
fn staying(way: &WayBack) -> Vec<String> {
    [
        line(LEFT, &way.left_alone),
        line("left: repositories made since the run began", &way.repositories),
        line("warning: what git runs or obeys as you is not what it was, look at it", &way.hooks),
    ]
    .into_iter()
    .flatten()
    .collect()
}

pub(super) fn told(undone: &Undone) -> Vec<String> {
    match undone {
        Undone::Checkout { root, paths, left } => {
            let head = format!("reverted in {}: {}", shown(root), counted(paths.len(), "file"));
            let files = paths.iter().map(|path| format!("  {}", safe::line(path, 400)));
            std::iter::once(head).chain(files).chain(line(LEFT, left)).collect()
        }
        Undone::InPlace { root, way } => {
            let files = way.restored.len() + way.removed.len();
            let head = format!("reverted in {}: {}", shown(root), counted(files, "file"));
            std::iter::once(head).chain(files_of(way)).chain(staying(way)).collect()
        }
        Undone::BranchStays { name } => {
            let name = safe::line(name, 400);
            vec![format!("the branch `{name}` was made and stays; remove it with: git branch -D {name}")]
        }
        Undone::Restored { path } => {
            vec![format!("taken back: {} is what it was before the run", shown(path))]
        }
        Undone::Removed { path } => {
            vec![format!("taken back: {} is gone; it did not exist before the run", shown(path))]
        }
    }
}
