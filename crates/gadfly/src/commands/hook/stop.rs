//! `gadfly hook stop`: the change in the working tree is the draft of a `revise` loop whose worker is the session that
//! wants to stop. A rejection sends it back with what is to be fixed; the loop's own cap ends that. Whatever else
//! happens lets the stop through and says so: a hook that fails must not trap anybody.

use std::sync::Arc;
use std::time::Duration;

use gadfly_engine::turn::Role;
use gadfly_engine::work::Work;
use gadfly_engine::{Limits, Outcome, Text};
use gadfly_journal::{MailKind, RunId, RunState, Summary};
use gadfly_project::config::HOST;
use gadfly_project::{Flags, Problem, Sourced};
use gadfly_runtime::prepare::{Request, Wanted};
use gadfly_runtime::service::Raise;
use gadfly_runtime::workspace::Range;
use serde_json::json;

use super::input::{self, Stopping};
use super::session::{self, BY, Course};
use super::{nested, transcript};
use crate::agreement;
use crate::background::Background;
use crate::cli::StopHook;
use crate::commands::run::usd;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::{brief, print, safe};
use crate::terms::{self, Ready, Terms};

/// A change no critic reads in one go.
const LARGEST_CHANGE: usize = 4 << 20;
/// What is sent back: enough to work on, and no flood.
const LONGEST_REASON: usize = 12_000;
/// A run that was cut off may have one draft more to hear about before this one.
const MOST_TURNS: usize = 4;
const A_DAY: Duration = Duration::from_hours(24);
/// What a change is judged by if nobody says.
const USUAL: [&str; 3] = [
    "The change does everything the user asked for, and nothing that was not asked for.",
    "The change brings no bug, no broken reference and no unhandled error that can be seen in it.",
    "Nothing is left half done: no placeholder, no TODO, no test skipped or weakened instead of a fix.",
];

/// What becomes of the stop.
enum Answer {
    /// Nothing to say.
    Silent,
    /// It may stop; this is said to the user.
    Through(String),
    /// It may not yet: what to fix.
    Back(String),
}

pub async fn stop(args: StopHook, context: &Context) -> Code {
    let answer = Box::pin(judge(&args, context)).await.unwrap_or_else(|why| {
        Answer::Through(format!("Gadfly did not judge this: {why}. The work is not approved."))
    });
    let said = match answer {
        Answer::Silent => return exit::OK,
        Answer::Through(message) => json!({ "systemMessage": bounded(&message) }),
        Answer::Back(reason) => json!({ "decision": "block", "reason": bounded(&reason) }),
    };
    // Any other code than 0 would be shown as a failure, or block for ever.
    let _ = print::out(&said.to_string());
    exit::OK
}

async fn judge(args: &StopHook, context: &Context) -> Result<Answer, String> {
    if nested::is_within_a_call(context) {
        return Ok(Answer::Silent);
    }
    let stopping = input::read()?;
    let Some(stopping) = stopping else { return agreed_beforehand(args, context).await };
    let setup = context.setup();
    let range = args.diff.clone().map_or(Range::Uncommitted, Range::Since);
    let brought = setup.bring(&Wanted::Changes(range), &args.exclude).await.map_err(|p| p.message)?;
    let Some(brought) = brought else { return Ok(Answer::Silent) };
    let Work::Tree(tree) = &brought.work else { return Err("there is no change to be seen".to_owned()) };
    let change = brought.texts.iter().find(|text| text.digest() == tree.diff).cloned();
    let change = change.ok_or("the change cannot be read")?;
    if change.as_str().len() > LARGEST_CHANGE {
        return Err(format!(
            "the change has {} bytes, more than any critic reads at once",
            change.as_str().len()
        ));
    }
    let task = Text::new(task(&stopping));
    let background = Background::new(setup.open(&context.store()).map_err(|e| e.to_string())?);
    let course = session::course(background.gadfly(), &stopping, &task, &change).await?;
    let mut interrupts = Interrupts::catch();
    let judged = tokio::select! {
        judged = go(args, context, &background, &stopping, course, (&task, &change)) => judged,
        () = interrupts.next() => Err("it was interrupted".to_owned()),
        () = tokio::time::sleep(Duration::from_secs(args.seconds)) => {
            Err(format!("the critic was not done after {} seconds", args.seconds))
        }
    };
    background.close().await;
    judged
}

/// Called by hand, to agree once to what the project's files name.
async fn agreed_beforehand(args: &StopHook, context: &Context) -> Result<Answer, String> {
    if !args.trust {
        print::err(
            "this is called by Claude Code when it wants to stop: `gadfly hook print` has the settings",
        );
        return Ok(Answer::Silent);
    }
    let request = request(args, context, &Text::new("agreeing beforehand".to_owned()))?;
    prepared(args, context, &request).await?;
    print::err("agreed: the hook may use what this project's files name");
    Ok(Answer::Silent)
}

async fn go(
    args: &StopHook,
    context: &Context,
    background: &Arc<Background>,
    stopping: &Stopping,
    course: Course,
    (task, change): (&Text, &Text),
) -> Result<Answer, String> {
    let (mut run, mut is_new) = match course {
        Course::Leave(why) => return Err(why),
        Course::JudgedBefore(last) => return Ok(before(&last)),
        Course::GoOn(last) => {
            let terms = terms::of_resume(context, background.gadfly(), &last.run)?;
            agree(args, context, &terms)?;
            (last.run, false)
        }
        Course::Begin => (begin(args, context, background, stopping, task).await?, true),
    };
    loop {
        submit(background, &run, change).await?;
        let state = background.gadfly().journal().state(&run).map_err(|e| e.to_string())?;
        let approves_other = matches!(state.outcome, Some(Outcome::Approved { .. }))
            && state.summary.last_draft != Some(change.digest());
        if is_new || !approves_other {
            return Ok(answer(&state, background.reason(&run)));
        }
        // What was cut off is approved now, in a state that is no longer there: this one has not been judged.
        (run, is_new) = (begin(args, context, background, stopping, task).await?, true);
    }
}

/// A loop for this session, about what the user asked.
async fn begin(
    args: &StopHook,
    context: &Context,
    background: &Arc<Background>,
    stopping: &Stopping,
    task: &Text,
) -> Result<RunId, String> {
    let request = request(args, context, task)?;
    let mut prepared = prepared(args, context, &request).await?;
    prepared.start.plan.title = session::title(stopping);
    agreement::named(context, &prepared.start.plan);
    background.start(*prepared).await.map_err(|why| why.to_string())
}

/// Hands the change in once and waits for what becomes of it.
async fn submit(background: &Arc<Background>, run: &RunId, change: &Text) -> Result<(), String> {
    let mut submitted = false;
    for _ in 0..MOST_TURNS {
        let now = settled(background, run).await?;
        if wants_draft(background, run, &now)? {
            if submitted {
                break;
            }
            let posted = now
                .waiting_for
                .map(|effect| background.gadfly().answer_to(run, &effect, change.as_str().to_owned(), BY));
            posted.transpose().map_err(|e| e.to_string())?;
            submitted = true;
        } else if submitted || now.ended || !can_go_on(&now) {
            break;
        } else {
            // It was cut off while a critic was at work: that is heard first.
            take_up(background, run).await?;
        }
    }
    Ok(())
}

/// Waits until the run rests and every answer in its inbox was read.
async fn settled(background: &Arc<Background>, run: &RunId) -> Result<Summary, String> {
    for _ in 0..MOST_TURNS {
        background.settled(run, A_DAY).await;
        let journal = background.gadfly().journal();
        let now = journal.summary(run).map_err(|e| e.to_string())?;
        let mail = journal.mail(run).map_err(|e| e.to_string())?;
        let unread = mail.iter().any(|(_, mail)| matches!(mail.what, MailKind::Answer { .. }));
        if now.ended || !unread {
            return Ok(now);
        }
        take_up(background, run).await?;
    }
    Err(format!("run {run} does not come to rest"))
}

async fn take_up(background: &Arc<Background>, run: &RunId) -> Result<(), String> {
    let taken = background.resume(run, Raise::default()).await;
    taken.map_err(|why| background.reason(run).unwrap_or_else(|| why.to_string()))
}

/// Whether the run waits for a state of the change.
fn wants_draft(background: &Background, run: &RunId, now: &Summary) -> Result<bool, String> {
    let Some(effect) = now.waiting_for.as_ref().filter(|_| !now.ended) else { return Ok(false) };
    let asked = brief::question(background.gadfly().journal(), run, effect).map_err(|e| e.to_string())?;
    Ok(asked.is_some_and(|(turn, _)| turn.agent == HOST && turn.role == Role::Worker))
}

/// Parked or cut off in a way that another try may mend.
fn can_go_on(now: &Summary) -> bool {
    now.waiting_for.is_none() && now.state != "out_of_budget"
}

fn before(last: &Summary) -> Answer {
    if last.state == "approved" {
        return Answer::Silent;
    }
    Answer::Through(format!(
        "Gadfly: this change was judged before and is not approved (run {}: {}). gadfly show {} has what is open.",
        last.run, last.state, last.run
    ))
}

/// What the run's state means for the stop.
fn answer(state: &RunState, failed: Option<String>) -> Answer {
    let summary = &state.summary;
    let run = &summary.run;
    let critic = safe::line(summary.critic.as_deref().unwrap_or("the critic"), 60);
    let items: Vec<String> = match state.last_judged() {
        Some(round) => {
            round.open.iter().map(|item| format!("{}. {}", item.number, safe::block(&item.text))).collect()
        }
        None => Vec::new(),
    };
    let open = if items.is_empty() { String::new() } else { format!("\n{}", items.join("\n")) };
    match state.outcome.as_ref() {
        Some(Outcome::Approved { overruled, .. }) => {
            let how = if *overruled { ", whose last rejection only raised new requirements" } else { "" };
            Answer::Through(format!("Gadfly: approved by {critic}{how} (run {run})."))
        }
        Some(Outcome::Waiting(_)) if summary.waiting_for.is_some() && !items.is_empty() => {
            Answer::Back(format!(
                "The critic {critic} rejected the change (round {} of {}). Fix every item, then stop again:{open}\n\n(Gadfly, \
                 run {run}. If an item is wrong, say why in the work itself or ask the user; do not argue by stopping again.)",
                state.last_judged().map_or(summary.rounds, |round| round.round),
                summary.rounds_max
            ))
        }
        Some(Outcome::Halted { reason, .. }) => Answer::Through(format!(
            "Gadfly: not approved. {critic} is still not satisfied, and the loop ends here ({reason}, run {run}). Open:{open}"
        )),
        Some(Outcome::Unverified { reason, .. }) => {
            unjudged(run, &format!("no critic could judge it: {reason}"))
        }
        Some(Outcome::OutOfBudget { shortage }) => unjudged(run, &format!("out of budget: {shortage}")),
        Some(Outcome::Failed { failure }) => unjudged(run, &failure.to_string()),
        Some(other) => unjudged(run, &other.label()),
        None => unjudged(run, &failed.unwrap_or_else(|| summary.state.clone())),
    }
}

fn unjudged(run: &RunId, why: &str) -> Answer {
    Answer::Through(format!(
        "Gadfly: this change is not approved, because it could not be judged: {why}. Run {run}; the next stop tries again."
    ))
}

fn request(args: &StopHook, context: &Context, task: &Text) -> Result<Request, String> {
    let nothing_said = args.rubric.is_empty() && args.criterion.is_empty() && args.loop_name.is_none();
    let mut criteria: Vec<Sourced<String>> = args.criterion.iter().cloned().map(Sourced::flag).collect();
    if nothing_said {
        criteria.extend(USUAL.iter().map(|text| Sourced::flag((*text).to_owned())));
    }
    let mut flags = Flags {
        task: Some(task.as_str().to_owned()),
        protocol: Some("revise".to_owned()),
        worker: Some(HOST.to_owned()),
        critics: args.critic.iter().cloned().collect(),
        rounds: args.rounds,
        ..Flags::default()
    };
    let money =
        args.budget_usd.map(usd).transpose().map_err(|_| "--budget-usd needs an amount of dollars")?;
    flags.limits = Limits { money, ..Limits::default() };
    let request = Request {
        loop_name: args.loop_name.clone(),
        flags,
        rubrics: args.rubric.clone(),
        criteria,
        store: Some(context.store()),
        ..Request::default()
    };
    let (looped, _) = request.configured(&context.config);
    if looped.out.is_some() || looped.draft.is_some() {
        return Err("the loop it names reads or writes a file (`draft`, `out`), and a diff is no such file"
            .to_owned());
    }
    Ok(request)
}

async fn prepared(
    args: &StopHook,
    context: &Context,
    request: &Request,
) -> Result<Box<gadfly_runtime::prepare::Prepared>, String> {
    // Once more after what was wanted is agreed to.
    for _ in 0..2 {
        match terms::of_loop(context, request).await.map_err(|found| told(&found))? {
            Ready::Prepared(prepared, _) => return Ok(prepared),
            Ready::Untrusted(terms) => agree(args, context, &terms)?,
        }
    }
    Err("what this project's files want has changed meanwhile".to_owned())
}

fn agree(args: &StopHook, context: &Context, terms: &Terms) -> Result<(), String> {
    if terms.wanted.is_empty() {
        return Ok(());
    }
    if args.trust {
        return terms.trust(context);
    }
    Err(format!(
        "this project's files want to:\n{}\nand nobody has agreed to that yet. To agree, once, in a terminal here: gadfly \
         hook stop --trust",
        terms.wanted_lines().join("\n")
    ))
}

fn told(problems: &[Problem]) -> String {
    let wrong = problems.iter().filter(|problem| problem.is_error()).take(5);
    let with_help = |p: &Problem| match &p.help {
        Some(help) => format!("{} ({help})", p.message),
        None => p.message.clone(),
    };
    wrong.map(with_help).collect::<Vec<_>>().join("; ")
}

fn task(stopping: &Stopping) -> String {
    let words = stopping.transcript.as_deref().map(transcript::asked).unwrap_or_default();
    let asked = if words.is_empty() {
        "What the user asked for is not known here: judge the change by itself.".to_owned()
    } else {
        let quoted = words.iter().map(|word| {
            let lines: Vec<String> = word.lines().map(|line| format!("> {line}")).collect();
            lines.join("\n")
        });
        format!("What the user asked for, the latest last:\n\n{}", quoted.collect::<Vec<_>>().join("\n\n"))
    };
    format!(
        "A coding agent changed files of a project and wants to stop. The draft is its change as a unified diff; a \
         revision is the whole diff again.\n\n{asked}\n"
    )
}

fn bounded(text: &str) -> String {
    match text.char_indices().nth(LONGEST_REASON) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text.to_owned(),
    }
}
