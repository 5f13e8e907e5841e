//! `gadfly export` and `gadfly import`: one run, carried elsewhere as a file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gadfly_journal::{ExportError, ImportError};

use crate::cli::{Export, Import};
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::{error, print, terminal};

pub fn export(args: &Export, context: &Context) -> Code {
    go_export(args, context).unwrap_or_else(|code| code)
}

fn go_export(args: &Export, context: &Context) -> Result<Code, Code> {
    let journal = context.journal()?;
    let run = find(&journal, &args.name.run)?;
    let path = args.file.clone().unwrap_or_else(|| PathBuf::from(format!("gadfly-{run}.jsonl.zst")));
    if path == Path::new("-") {
        if terminal::stdout_is_terminal() {
            return Err(error::usage("an export is binary: name a file, or send it through a pipe"));
        }
        return match journal.export(&run, io::stdout().lock()) {
            Ok(()) => Ok(exit::OK),
            Err(ExportError::Write(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(exit::OK),
            Err(e) => Err(error::fault(&e.to_string())),
        };
    }
    // Never over something else, and never half a file under the final name.
    let shown = path.display();
    if path.exists() {
        return Err(error::usage(&format!("{shown} exists already: name another file, or remove it")));
    }
    let mut name = path.clone().into_os_string();
    name.push(".part");
    let part = PathBuf::from(name);
    let wrong = |e: &dyn std::fmt::Display| {
        let _ = std::fs::remove_file(&part);
        error::fault(&format!("{shown} cannot be written: {e}"))
    };
    let mut file =
        File::create(&part).map_err(|e| error::usage(&format!("{shown} cannot be written: {e}")))?;
    journal.export(&run, &mut file).map_err(|e| wrong(&e))?;
    file.flush().and_then(|()| file.sync_all()).map_err(|e| wrong(&e))?;
    std::fs::rename(&part, &path).map_err(|e| wrong(&e))?;
    print::err(&format!("run {run} is in {shown}; take it in elsewhere with: gadfly import {shown}"));
    Ok(exit::OK)
}

pub fn import(args: &Import, context: &Context) -> Code {
    go_import(args, context).unwrap_or_else(|code| code)
}

fn go_import(args: &Import, context: &Context) -> Result<Code, Code> {
    let gadfly = context.open()?;
    let imported = if args.file == Path::new("-") {
        gadfly.journal().import(io::stdin().lock(), gadfly.follower())
    } else {
        let file = File::open(&args.file);
        let file = file.map_err(|e| error::usage(&format!("{} cannot be read: {e}", args.file.display())))?;
        gadfly.journal().import(file, gadfly.follower())
    };
    let run = imported.map_err(|e| match e {
        ImportError::Store(_) | ImportError::Journal(_) => error::fault(&e.to_string()),
        other => error::usage(&other.to_string()),
    })?;
    print::out(run.as_str())?;
    print::err(&format!("the run is in this store; see it with: gadfly show {run}"));
    Ok(exit::OK)
}
