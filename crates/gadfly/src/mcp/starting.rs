//! Starting a loop for a client: from arguments to a request, through what the project's files want, to a run that is
//! driven here.

use std::path::{Component, Path, PathBuf};

use gadfly_project::config::HOST;
use gadfly_project::{Sourced, file};
use gadfly_runtime::prepare::{GoalRequest, Prepared, Request};

use super::approval::Beyond;
use super::arguments::{StartLoop, wait};
use super::asking;
use super::client::McpClient;
use super::reply::{ToolError, ToolReply, refused};
use super::state::{ServerState, told};
use super::submit;
use super::waiting::follow;
use super::working::post_draft;
use crate::agreement;
use crate::context::Context;
use crate::terms::{self, Ready, Terms};

/// What a task and one criterion may have; they are part of every brief.
const LONGEST_TASK: usize = 256 << 10;
const LONGEST_CRITERION: usize = 8 << 10;
const MOST_CRITERIA: usize = 200;
/// Folders nothing is read from on a client's word.
const KEPT: [&str; 2] = [".git", ".gadfly"];

pub async fn start_loop(
    server: &ServerState,
    client: &McpClient,
    args: StartLoop,
) -> Result<ToolReply, ToolError> {
    let context = server.context();
    let request = request(&args, &context)?;
    if args.own.draft.is_some() && worker(&request, &context).as_deref() != Some(HOST) {
        return Err(refused(
            "`draft` is your first draft, and here you are not the worker: leave `draft` out",
        ));
    }
    args.own.draft.as_deref().map_or(Ok(()), |draft| submit::fits("draft", draft))?;
    let beyond = Beyond::of_start(&request, &context);
    beyond.refuse_unasked(server, client)?;
    let (prepared, terms) = prepared(server, &context, client, &Wanted::Loop(&request)).await?;
    beyond.allow(server, client).await?;
    agreement::named(&context, &prepared.start.plan);
    let background = server.opened(&context)?;
    let run = background.start(&context, *prepared).await.map_err(|why| refused(why.to_string()))?;
    if let Some(draft) = args.own.draft {
        // The run has asked for it once it waits; before that there is nobody to submit it to.
        follow(server, &background, client, &run, wait(args.own.wait_seconds)).await?;
        post_draft(&background, client, &run, draft)?;
    }
    let said = follow(server, &background, client, &run, wait(args.own.wait_seconds)).await?;
    Ok(said.with_before(&terms.consent.join("\n")))
}

/// What a client wants to be started.
pub(super) enum Wanted<'a> {
    Loop(&'a Request),
    Goal(&'a GoalRequest),
}

/// What was asked for, once everything is agreed to that preparing it needs.
pub(super) async fn prepared(
    server: &ServerState,
    context: &Context,
    client: &McpClient,
    wanted: &Wanted<'_>,
) -> Result<(Box<Prepared>, Terms), ToolError> {
    // Once more after the user agreed; files that keep changing are not asked about for ever.
    for _ in 0..2 {
        let setup = server.setup(context);
        let ready = match wanted {
            Wanted::Loop(request) => terms::of_loop(context, &setup, request).await,
            Wanted::Goal(request) => terms::of_goal(context, &setup, request).await,
        };
        match ready.map_err(|problems| told(&problems))? {
            Ready::Prepared(prepared, terms) => return Ok((prepared, terms)),
            Ready::Untrusted(terms) => asking::agree(server, context, client, &terms, None).await?,
        }
    }
    Err(refused("what this project's files want has changed meanwhile: call again"))
}

fn request(args: &StartLoop, context: &Context) -> Result<Request, ToolError> {
    let own = &args.own;
    if args.given.text("task").is_some_and(|task| task.len() > LONGEST_TASK) {
        return Err(refused(format!(
            "the task has more than {LONGEST_TASK} bytes: it is part of every brief"
        )));
    }
    let criteria = own.criteria.as_deref().unwrap_or_default();
    if criteria.len() > MOST_CRITERIA || criteria.iter().any(|one| one.len() > LONGEST_CRITERION) {
        return Err(refused(format!(
            "at most {MOST_CRITERIA} criteria of at most {LONGEST_CRITERION} bytes each: use a rubric file"
        )));
    }
    let mut given = args.given.clone();
    if own.loop_name.is_none() {
        given.or_set("worker", HOST);
    }
    Ok(Request {
        loop_name: own.loop_name.clone(),
        given,
        rubrics: own.rubric.iter().map(|path| rubric(path, context)).collect::<Result<_, _>>()?,
        criteria: criteria.iter().cloned().map(Sourced::flag).collect(),
        store: Some(context.store()),
        ..Request::default()
    })
}

/// A file of the project: what is read here goes to the critic, wherever that is.
fn rubric(path: &str, context: &Context) -> Result<PathBuf, ToolError> {
    let named = Path::new(path);
    let below = named.strip_prefix(&context.root.dir).unwrap_or(named);
    let found = file::inside(&context.root.dir, below).map_err(|e| refused(format!("rubric: {e}")))?;
    if is_private(&found, &context.root.dir, &context.store()) {
        return Err(refused(
            "rubric: what Gadfly and git keep for themselves is no rubric: name another file",
        ));
    }
    Ok(found)
}

/// Below the store, where tokens and other runs are, or in a `.git`. Links are followed.
fn is_private(named: &Path, root: &Path, store: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let is_kept = |part: Component<'_>| {
        part.as_os_str().to_str().is_some_and(|name| KEPT.iter().any(|kept| name.eq_ignore_ascii_case(kept)))
    };
    let has_kept =
        |path: &Path, root: &Path| path.strip_prefix(root).is_ok_and(|below| below.components().any(is_kept));
    let found = real(named);
    found.starts_with(real(store)) || has_kept(named, root) || has_kept(&found, &real(root))
}

/// Who will work, as far as that is configured.
fn worker(request: &Request, context: &Context) -> Option<String> {
    request.configured(&context.config).0.options.worker.map(|worker| worker.value)
}
