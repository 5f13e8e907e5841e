//! `gadfly export` and `gadfly import`: one run, carried elsewhere as a file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use gadfly_journal::signature::Signature;
use gadfly_journal::{Checksum, ExportError, ImportError, Imported, Journal, RunId};

use gadfly_runtime::clock::wall_ms;

use crate::cli::{Export, Import};
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::{error, print, safe, terminal};
use crate::project_status;

pub async fn export(args: &Export, context: &Context) -> Code {
    go_export(args, context).await.unwrap_or_else(|code| code)
}

async fn go_export(args: &Export, context: &Context) -> Result<Code, Code> {
    let journal = context.journal()?;
    let run = find(&journal, &args.name.run)?;
    let signed = sign(&journal, &run, context).await?;
    let signed = signed.as_ref().map(|(checksum, signature)| (*checksum, signature));
    let path = args.file.clone().unwrap_or_else(|| PathBuf::from(format!("gadfly-{run}.jsonl.zst")));
    if path == Path::new("-") {
        if terminal::stdout_is_terminal() {
            return Err(error::usage("an export is binary: name a file, or send it through a pipe"));
        }
        return match journal.export_signed(&run, signed, io::stdout().lock()) {
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
    journal.export_signed(&run, signed, &mut file).map_err(|e| wrong(&e))?;
    file.flush().and_then(|()| file.sync_all()).map_err(|e| wrong(&e))?;
    std::fs::rename(&part, &path).map_err(|e| wrong(&e))?;
    let by = signed.map(|(_, signature)| format!(", signed with {}", signature.key())).unwrap_or_default();
    print::err(&format!("run {run} is in {shown}{by}; take it in elsewhere with: gadfly import {shown}"));
    Ok(exit::OK)
}

/// Where the user names a key, it vouches for what was made here, and for nothing that came from elsewhere.
async fn sign(
    journal: &Journal,
    run: &RunId,
    context: &Context,
) -> Result<Option<(Checksum, Signature)>, Code> {
    let Some(signer) = context.setup().signer() else { return Ok(None) };
    if !journal.counts_here(run).map_err(|e| error::fault(&e.to_string()))? {
        print::err("the export is not signed: the run was not made here");
        return Ok(None);
    }
    let checksum = journal.export_checksum(run).map_err(|e| error::fault(&e.to_string()))?;
    let (kind, payload) = checksum.payload();
    let signature = signer.sign(kind, &payload).await;
    let signature = signature.map_err(|e| error::usage(&format!("the export could not be signed: {e}")))?;
    Ok(Some((checksum, signature)))
}

pub fn import(args: &Import, context: &Context) -> Code {
    go_import(args, context).unwrap_or_else(|code| code)
}

fn go_import(args: &Import, context: &Context) -> Result<Code, Code> {
    let gadfly = context.open()?;
    let signers = args.verify.as_deref().map(project_status::signers).transpose()?;
    let signers = signers.as_ref().map(|signers| (signers, wall_ms()));
    let imported = if args.file == Path::new("-") {
        gadfly.journal().import(io::stdin().lock(), signers, gadfly.follower())
    } else {
        let file = File::open(&args.file);
        let file = file.map_err(|e| error::usage(&format!("{} cannot be read: {e}", args.file.display())))?;
        gadfly.journal().import(file, signers, gadfly.follower())
    };
    let Imported { run, signed_by } = imported.map_err(|e| match e {
        ImportError::Store(_) | ImportError::Journal(_) => error::fault(&e.to_string()),
        other => error::usage(&other.to_string()),
    })?;
    print::out(run.as_str())?;
    let by = signed_by.map_or_else(|| "it is not signed".to_owned(), |by| format!("signed by {by}"));
    let by = safe::line(&by, 300);
    print::err(&format!("the run is in this store ({by}); see it with: gadfly show {run}"));
    Ok(exit::OK)
}
