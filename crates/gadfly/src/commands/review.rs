//! `gadfly review`: critics judge what is there, once. Findings and an exit code; with `--fix` a loop goes on.

use std::path::PathBuf;

use gadfly_engine::Outcome;
use gadfly_journal::RunView;
use gadfly_project::config::keys::ConfigSection;
use gadfly_project::{LoopProtocol, Problem, Sourced};
use gadfly_runtime::prepare::{Request, ReviewTarget, Submission};
use gadfly_runtime::workspace::Range;

use super::run::{LaunchOptions, drive, united};
use crate::agreement::{self, Uses};
use crate::cli::{Patience, ReviewArgs};
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, problems};
use crate::{proposal, untrusted};

pub async fn review(args: ReviewArgs, context: &Context) -> Code {
    let done = if args.untrusted {
        Box::pin(strangers(args, context)).await
    } else {
        match proposal::for_nobody(context, args.options.word(ConfigSection::Loop, "critic").is_some()).await
        {
            Ok(Some(proposed)) => Box::pin(go(args, &proposed)).await,
            Ok(None) => Box::pin(go(args, context)).await,
            Err(code) => Err(code),
        }
    };
    done.unwrap_or_else(|code| code)
}

/// As [`go`], by nothing that the change itself brings.
async fn strangers(mut args: ReviewArgs, context: &Context) -> Result<Code, Code> {
    let range = match wanted(&args)? {
        ReviewTarget::Changes(range) => Some(range),
        ReviewTarget::Paths(_) => None,
    };
    let before = untrusted::context(context, range.as_ref()).await.map_err(|why| error::usage(&why))?;
    let at_base = |path: PathBuf| untrusted::at_base(&before, &path).map_err(|why| error::usage(&why));
    for path in &mut args.rubric {
        *path = at_base(path.clone())?;
    }
    args.options.map_paths(at_base)?;
    Box::pin(go(args, &before)).await
}

async fn go(args: ReviewArgs, context: &Context) -> Result<Code, Code> {
    let files = args.options.overrides(ConfigSection::Loop).files();
    context.not_led_out(args.paths.iter().chain(&args.rubric).chain(&files))?;
    let root = &context.root.dir;
    let wanted = wanted(&args)?;
    let setup = context.setup();
    let brought = setup.bring(&wanted, &args.exclude).await.map_err(|p| problems::refuse(&[p], root))?;
    let Some(brought) = brought else {
        print::err("nothing to review");
        return Ok(exit::OK);
    };
    let request = request(&args, brought, context);
    let (looped, found) = request.configured(&context.config);
    if context.problems.iter().any(Problem::is_error) {
        return Err(problems::refuse(&united(&context.problems, found), root));
    }
    if args.untrusted {
        untrusted::judges_count(context, &looped).map_err(|why| error::usage(&why))?;
    }
    let one_text = request.review.as_ref().and_then(|b| b.file.clone());
    if args.fix
        && let Some(file) = one_text.filter(|_| looped.options.protocol.value != LoopProtocol::AUDIT)
    {
        // The critic speaks first, and the result replaces the file: that is the review, and the fix.
        let mut request = Request { review: None, ..request };
        request.given.set("draft", file);
        request.given.set("protocol", looped.options.protocol.value);
        request.given.or_set("task", "Improve this text so that it meets the rubric.");
        return Box::pin(fix(&request, &args, context)).await;
    }
    if !found.iter().any(Problem::is_error) {
        agreement::trust(context, &Uses::of(&looped, true, context), args.consent.trust)?;
    }
    let reports = if args.fix { &[][..] } else { &args.report[..] };
    let how = LaunchOptions {
        yes: args.consent.yes,
        dry_run: args.consent.dry_run,
        attended: false,
        print_draft: false,
        reports,
        patience: Patience::default(),
    };
    let driven = Box::pin(drive(&request, how, context)).await?;
    match (args.fix, driven.run) {
        (true, Some(state)) => match state.outcome.clone() {
            Some(Outcome::Rejected { open, .. }) => {
                Box::pin(fix_files(&request, &open, &args, context)).await
            }
            _ => finish(&args, &state, driven.code, context),
        },
        _ => Ok(driven.code),
    }
}

fn finish(args: &ReviewArgs, state: &RunView, code: Code, context: &Context) -> Result<Code, Code> {
    super::run::write_reports(&args.report, state, &context.root.dir)?;
    Ok(code)
}

/// What is to be looked at. Said with nothing, it is what is not committed yet.
fn wanted(args: &ReviewArgs) -> Result<ReviewTarget, Code> {
    Ok(match (&args.diff, &args.commit) {
        (Some(base), _) => ReviewTarget::Changes(Range::Since(base.clone())),
        (None, Some(rev)) => ReviewTarget::Changes(Range::Commit(rev.clone())),
        (None, None) if args.uncommitted => ReviewTarget::Changes(Range::Uncommitted),
        (None, None) if args.staged => ReviewTarget::Changes(Range::Staged),
        (None, None) if args.paths.is_empty() => {
            let why = "name what to review: files, a directory, --diff BASE, --uncommitted, --staged or --commit REV";
            return Err(error::usage(why));
        }
        (None, None) => ReviewTarget::Paths(args.paths.clone()),
    })
}

fn request(args: &ReviewArgs, brought: Submission, context: &Context) -> Request {
    let mut given = args.options.overrides(ConfigSection::Loop);
    for (name, value) in [("worker", &args.worker), ("task", &args.task)] {
        if let Some(value) = value {
            given.set(name, value.clone());
        }
    }
    Request {
        loop_name: args.loop_name.clone(),
        given,
        rubrics: args.rubric.clone(),
        criteria: args.criterion.iter().cloned().map(Sourced::flag).collect(),
        review: Some(brought),
        store: Some(context.store()),
        ..Request::default()
    }
}

/// A loop over the folder whose criteria are what was found.
async fn fix_files(
    reviewed: &Request,
    open: &[String],
    args: &ReviewArgs,
    context: &Context,
) -> Result<Code, Code> {
    let mut request = Request {
        loop_name: None,
        criteria: open.iter().map(|item| Sourced::flag(format!("Resolved: {item}"))).collect(),
        rubrics: Vec::new(),
        review: None,
        ..reviewed.clone()
    };
    request.given.set("protocol", LoopProtocol::AUDIT);
    request.given.remove("criteria");
    let listed: Vec<String> = open.iter().map(|item| format!("- {item}")).collect();
    let task = format!("Fix what a review found, and nothing else.\n\n{}\n", listed.join("\n"));
    request.given.set("task", task);
    print::err("");
    Box::pin(fix(&request, args, context)).await
}

async fn fix(request: &Request, args: &ReviewArgs, context: &Context) -> Result<Code, Code> {
    let (looped, found) = request.configured(&context.config);
    if !found.iter().any(Problem::is_error) {
        agreement::trust(context, &Uses::of(&looped, false, context), args.consent.trust)?;
    }
    let how = LaunchOptions {
        yes: args.consent.yes,
        dry_run: args.consent.dry_run,
        attended: true,
        print_draft: true,
        reports: &args.report,
        patience: Patience::default(),
    };
    Ok(Box::pin(drive(request, how, context)).await?.code)
}
