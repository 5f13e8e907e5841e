//! How the project stands, for the commands that ask. Not a command itself.

use std::path::Path;

use gadfly_journal::signature::Signers;
use gadfly_journal::{Journal, OpenError};
use gadfly_project::{Problem, file};
use gadfly_runtime::project_status::{ProjectStatus, ProjectStatusError, ProofPolicy, StatusQuery};

use crate::context::Context;
use crate::exit::Code;
use crate::output::{error, print, problems, safe};

const LARGEST_KEYS: u64 = 1 << 20;

/// Looks, or says why that cannot be done.
pub async fn project_status(context: &Context, asked: StatusQuery) -> Result<ProjectStatus, Code> {
    if context.problems.iter().any(Problem::is_error) {
        return Err(problems::refuse(&context.problems, &context.root.dir));
    }
    let store = context.store();
    // Where only signatures count, a journal that cannot be read is in nobody's way.
    let journal = if matches!(asked.word, ProofPolicy::Signed(_)) { None } else { journal(context)? };
    let status = context.setup().project_status(&store, journal.as_ref(), asked).await;
    status.map_err(|error| refused(error, context))
}

/// The journal, if there is one.
pub fn journal(context: &Context) -> Result<Option<Journal>, Code> {
    match context.existing() {
        Ok(journal) => Ok(Some(journal)),
        Err(OpenError::Missing(_)) => Ok(None),
        Err(other) => Err(error::usage(&other.to_string())),
    }
}

pub fn refused(error: ProjectStatusError, context: &Context) -> Code {
    match error {
        ProjectStatusError::Project(found) => {
            let code = problems::refuse(&found, &context.root.dir);
            print::err("`gadfly check` says all about this project");
            code
        }
        ProjectStatusError::Journal(error) => error::fault(&error.to_string()),
        other => error::usage(&other.to_string()),
    }
}

/// Says whose word the scores are, where it is not the journal's alone.
pub fn say_source(status: &ProjectStatus) {
    let receipts = status.from_receipts();
    let folder = status.known.files.layout.state_folder();
    if !status.has_journal && receipts.is_empty() {
        print::err("note: there is no journal here and no receipt: nothing is scored yet");
    } else if !status.has_journal {
        print::err(&format!(
            "note: there is no journal here: scores are those of the receipts in {folder}/receipts/"
        ));
    } else if !receipts.is_empty() {
        let names = safe::line(&receipts.join(", "), 400);
        print::err(&format!(
            "note: the journal here does not know these scores, receipts in {folder}/receipts/ do: {names}"
        ));
    }
}

/// Says what does not count, and why.
pub fn say_refused(status: &ProjectStatus) {
    for refused in &status.refused {
        let text = format!("{} does not count: {}", refused.what, refused.why);
        error::warn(&safe::line(&text, 400));
    }
}

/// The keys in a file that a person named.
pub fn signers(path: &Path) -> Result<Signers, Code> {
    let wrong =
        |why: &dyn std::fmt::Display| error::usage(&format!("{} cannot be used: {why}", path.display()));
    let text = file::read_text_up_to(path, LARGEST_KEYS).map_err(|e| wrong(&e))?;
    Signers::read(&text).map_err(|e| wrong(&e))
}

/// The same, for programs.
pub fn source_json(status: &ProjectStatus) -> serde_json::Value {
    let refused = status.refused.iter();
    let refused: Vec<_> =
        refused.map(|refused| serde_json::json!({ "what": refused.what, "why": refused.why })).collect();
    serde_json::json!({
        "journal": status.has_journal,
        "from_receipts": status.from_receipts(),
        "refused": refused,
    })
}
