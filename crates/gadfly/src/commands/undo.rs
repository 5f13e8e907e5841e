//! `gadfly undo`: takes back what an approved run changed in the user's files.

use gadfly_runtime::undo::{UndoError, Undone};

use crate::cli::RunName;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::table::counted;
use crate::output::{error, print, safe};

pub async fn undo(args: &RunName, context: &Context) -> Code {
    go(args, context).await.unwrap_or_else(|code| code)
}

async fn go(args: &RunName, context: &Context) -> Result<Code, Code> {
    let gadfly = context.open_existing()?;
    let run = find(gadfly.journal(), &args.run)?;
    match gadfly.undo(&run).await {
        Ok(undone) => {
            print::err_lines(&told(&undone));
            Ok(exit::OK)
        }
        // The user's own later work stands in the way: like any other conflict, this is no mistake of theirs.
        Err(why @ UndoError::Changed { .. }) => {
            error::usage(&why.to_string());
            Err(exit::HALTED)
        }
        Err(why @ (UndoError::Nothing(_) | UndoError::Committed { .. })) => {
            Err(error::usage(&why.to_string()))
        }
        Err(why) => Err(error::fault(&why.to_string())),
    }
}

fn told(undone: &Undone) -> Vec<String> {
    let shown = |path: &std::path::Path| safe::line(&path.to_string_lossy(), 400);
    match undone {
        Undone::Checkout { root, paths } => {
            let head = format!("taken back in {}: {}", shown(root), counted(paths.len(), "file"));
            let files = paths.iter().map(|path| format!("  {}", safe::line(path, 400)));
            std::iter::once(head).chain(files).collect()
        }
        Undone::Restored { path } => {
            vec![format!("taken back: {} is what it was before the run", shown(path))]
        }
        Undone::Removed { path } => {
            vec![format!("taken back: {} is gone; it did not exist before the run", shown(path))]
        }
    }
}
