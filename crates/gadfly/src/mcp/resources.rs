//! Runs as resources: the list, each run as a page, its last draft.

use std::fmt::Write as _;

use gadfly_journal::{ListFilter, RunId};
use rmcp::ErrorData;
use rmcp::model::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use super::render;
use super::reply::ToolError;
use super::state::{self, ServerState};
use crate::output::safe;
use crate::report::{self, ReportFormat};

const LIST: &str = "gadfly://runs";
const MARKDOWN: &str = "text/markdown";
const PLAIN: &str = "text/plain";
const PAGE: u32 = 50;
/// What the list as one page has.
const NEWEST: u32 = 200;

/// The list of runs, and the runs themselves, a page at a time.
pub fn list(server: &ServerState, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let offset = match cursor.map(str::parse::<u32>) {
        None => 0,
        Some(Ok(offset)) => offset,
        Some(Err(_)) => return Err(ErrorData::invalid_params("this cursor was not given here", None)),
    };
    let mut resources = Vec::new();
    if offset == 0 {
        resources.push(
            Resource::new(LIST, "runs")
                .with_title("Runs")
                .with_description("The newest runs, up to 200, newest first. list_runs has all.")
                .with_mime_type(MARKDOWN),
        );
    }
    // A project without runs has a list that is empty.
    let Ok(background) = server.existing() else { return Ok(ListResourcesResult::with_all_items(resources)) };
    let filter = ListFilter { limit: PAGE, offset, ..ListFilter::default() };
    let runs = background.gadfly().journal().list(&filter).map_err(|e| internal(&e))?;
    let more = runs.len() >= PAGE as usize;
    resources.extend(runs.iter().map(|run| {
        let title = format!("{} ({})", safe::line(&run.title, 100), render::state(run));
        Resource::new(format!("{LIST}/{}", run.run), run.run.to_string())
            .with_title(title)
            .with_mime_type(MARKDOWN)
    }));
    let mut listed = ListResourcesResult::with_all_items(resources);
    listed.next_cursor = more.then(|| offset.saturating_add(PAGE).to_string());
    Ok(listed)
}

pub fn templates() -> ListResourceTemplatesResult {
    let template = |below: &str, name: &str, says: &str, mime: &str| {
        ResourceTemplate::new(format!("{LIST}/{{run}}{below}"), name)
            .with_description(says)
            .with_mime_type(mime)
    };
    ListResourceTemplatesResult::with_all_items(vec![
        template("", "run", "A run: how it stands, its findings, what it cost.", MARKDOWN),
        template("/draft", "draft", "The last draft of a run; of files their diff.", PLAIN),
    ])
}

pub fn read(server: &ServerState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let missing = || {
        ErrorData::resource_not_found(
            "there is no such resource",
            Some(json!({ "uri": safe::line(uri, 200) })),
        )
    };
    let rest = uri.strip_prefix(LIST).ok_or_else(missing)?;
    if rest.is_empty() {
        return all(server, uri);
    }
    let rest = rest.strip_prefix('/').ok_or_else(missing)?;
    let (id, below) = rest.split_once('/').map_or((rest, None), |(id, below)| (id, Some(below)));
    let (background, run) = server.run(id).map_err(|stopped| match stopped {
        ToolError::Refused(why) => ErrorData::resource_not_found(why, None),
        ToolError::NeedsInput(_) => missing(),
    })?;
    let journal = background.gadfly().journal();
    let state = journal.state(&run).map_err(|e| internal(&e))?;
    match below {
        None => {
            let mut page = report::render(ReportFormat::Markdown, &state, &background.gadfly().root().dir);
            if render::is_own_word(&state.summary) {
                page = format!("> {}\n\n{page}", render::own_word(state.summary.worker.as_deref()));
            }
            Ok(one(&page, uri, MARKDOWN))
        }
        Some("draft") => {
            let digest = state.summary.last_diff.or(state.summary.last_draft);
            let text =
                digest.map(|digest| journal.text(&digest)).transpose().map_err(|e| internal(&e))?.flatten();
            let text = text.ok_or_else(|| ErrorData::resource_not_found(no_draft(&run), None))?;
            Ok(one(&text, uri, PLAIN))
        }
        Some(_) => Err(missing()),
    }
}

fn all(server: &ServerState, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let mut page = "# Runs\n\n".to_owned();
    let Ok(background) = server.existing() else {
        page.push_str("There are none yet.\n");
        return Ok(one(&page, uri, MARKDOWN));
    };
    if let Some(why) = state::foreign(&background) {
        let _ = writeln!(page, "{why}\n");
    }
    let filter = ListFilter { limit: NEWEST + 1, ..ListFilter::default() };
    let mut runs = background.gadfly().journal().list(&filter).map_err(|e| internal(&e))?;
    let more = runs.len() > NEWEST as usize;
    runs.truncate(NEWEST as usize);
    for run in runs {
        // Titles are somebody's words: they begin no markup of their own.
        let title = safe::line(&run.title, 200).replace(['[', ']', '<', '>', '|', '`'], " ");
        let own = if render::is_own_word(&run) { ", judged by the host itself" } else { "" };
        let _ = writeln!(page, "- [{0}]({LIST}/{0}): {1}{own}, {title}", run.run, render::state(&run));
    }
    if more {
        let _ = writeln!(page, "\nThere are older ones, too: list_runs with an offset has them.");
    }
    Ok(one(&page, uri, MARKDOWN))
}

fn one(text: &str, uri: &str, mime: &str) -> ReadResourceResult {
    ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type(mime)])
}

fn no_draft(run: &RunId) -> String {
    format!("run `{run}` has no draft yet")
}

fn internal(error: &dyn std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
