//! `gadfly answer`: a person's reply, left in the inbox of the run that asks.

use gadfly_engine::EffectId;
use gadfly_engine::question::Question;
use gadfly_engine::reading::person::{PersonVerdict, Word};
use gadfly_engine::turn::{Role, Turn};
use gadfly_journal::RunId;
use gadfly_project::file;
use gadfly_runtime::Gadfly;
use gadfly_runtime::service::AnswerError;

use crate::cli::AnswerArgs;
use crate::context::{Context, find};
use crate::exit::{self, Code};
use crate::output::{ask, brief, error, next_command, print, safe, terminal};
use crate::session::{only_by_token, unreadable};
use crate::verdict;

pub fn answer(args: AnswerArgs, context: &Context) -> Code {
    match go(args, context) {
        Ok(code) | Err(code) => code,
    }
}

fn go(args: AnswerArgs, context: &Context) -> Result<Code, Code> {
    let gadfly = context.open_existing()?;
    let run = find(gadfly.journal(), &args.name.run)?;
    let fault = |e: &dyn std::fmt::Display| error::fault(&e.to_string());
    let summary = gadfly.journal().summary(&run).map_err(|e| fault(&e))?;
    let open = gadfly.open_questions(&run).map_err(|e| fault(&e))?;
    let named = args.effect.as_deref().map(|id| named(id, &open, &run)).transpose()?;
    // Others may still be at work: then the run asks, and does not wait yet.
    let first = || open.first().filter(|_| gadfly.is_driven(&run)).map(|(effect, _)| effect.clone());
    let Some(effect) = named.or(summary.waiting_for).or_else(first) else {
        return Err(error::usage(&format!("run `{run}` asks nothing: it is {}", summary.state)));
    };
    let question = gadfly.question(&run, &effect).map_err(|e| fault(&e))?;
    if let Some(verdict) = verdict_of(&args)? {
        let turn = brief::question(gadfly.journal(), &run, &effect).map_err(|e| fault(&e))?;
        let reply = reply(&verdict, &run, turn.as_ref().map(|(turn, _)| turn))?;
        return leave(&gadfly, &run, &effect, reply, &open);
    }
    // Words without quotes are a sentence, too.
    let text = (!args.text.is_empty()).then(|| args.text.join(" "));
    let text = match (text, args.file) {
        (None, Some(path)) => file::read_text(&path).map_err(|e| error::usage(&e.to_string()))?,
        (Some(text), _) if text != "-" => text,
        (text, _) => {
            if let Some(question) =
                question.as_ref().filter(|_| text.is_none() && terminal::person_at_stdin())
            {
                print::err_lines(&ask::question(question));
            }
            super::run::read_stdin("the answer")?
        }
    };
    if text.trim().is_empty() {
        return Err(error::usage("the answer is empty"));
    }
    if question.is_none() {
        let asked = brief::question(gadfly.journal(), &run, &effect).map_err(|e| fault(&e))?;
        if let Some(why) = asked.as_ref().and_then(|(turn, _)| only_by_token(turn, &run)) {
            return Err(error::usage(&why));
        }
        let why = asked.and_then(|(turn, _)| unreadable(gadfly.journal(), &run, &text, turn.role));
        if let Some(why) = why.filter(|_| !args.force) {
            return Err(error::usage(&format!(
                "{why}. --approve and --reject need no form, --force sends it as it is"
            )));
        }
    }
    leave(&gadfly, &run, &effect, text, &open)
}

/// Approving or rejecting, by a flag.
fn verdict_of(args: &AnswerArgs) -> Result<Option<PersonVerdict>, Code> {
    let points = args.points;
    if let Some(reason) = &args.approve {
        return Ok(Some(PersonVerdict::given(Word::Approves, reason.clone(), points)));
    }
    let text = match args.reject.as_slice() {
        [] if points.is_some() => return Err(error::usage("--points goes with --approve or --reject")),
        [] => return Ok(None),
        [one] if one == "-" => super::run::read_stdin("the fixes")?,
        fixes => fixes.join("\n"),
    };
    Ok(Some(PersonVerdict::given(Word::Rejects, text, points)))
}

/// The reply of the critic whose turn it is.
fn reply(verdict: &PersonVerdict, run: &RunId, turn: Option<&Turn>) -> Result<String, Code> {
    let Some(turn) = turn.filter(|turn| turn.role == Role::Critic) else {
        return Err(error::usage(&format!("run `{run}` asks for no verdict: give the answer as a text")));
    };
    let refused = only_by_token(turn, run);
    let reply = refused.map_or_else(|| verdict::composed(turn, verdict), Err);
    reply.map_err(|why| error::usage(&safe::line(&why, 600)))
}

/// Leaves the answer for the run, and says what became of it.
fn leave(
    gadfly: &Gadfly,
    run: &RunId,
    effect: &EffectId,
    text: String,
    open: &[(EffectId, Question)],
) -> Result<Code, Code> {
    let asked = gadfly.answer_to(run, effect, text, "gadfly answer").map_err(|e| match e {
        AnswerError::NothingAsked { .. } | AnswerError::NoAnswer { .. } => error::usage(&e.to_string()),
        AnswerError::Read(_) | AnswerError::Post(_) => error::fault(&e.to_string()),
    })?;
    if asked.replaced {
        print::err("your earlier answer was not read yet: this one takes its place");
    }
    if asked.driven {
        print::err("answered: the run goes on where it is driven");
    } else {
        print::err(&format!(
            "answered; the run is not active, resume it with: {}",
            next_command::command(&format!("resume {run}"))
        ));
    }
    let others = open.iter().filter(|(other, _)| *other != asked.effect);
    for (other, question) in others {
        let about = question.about.name();
        let how = next_command::command(&format!("answer {run} --effect {other} \"…\""));
        print::err(&format!("another question is open ({about}): {how}"));
    }
    Ok(exit::OK)
}

/// The open question a person means.
fn named(id: &str, open: &[(EffectId, Question)], run: &RunId) -> Result<EffectId, Code> {
    let found = open.iter().find(|(effect, _)| effect.to_string() == id);
    found.map(|(effect, _)| effect.clone()).ok_or_else(|| {
        let known: Vec<String> = open.iter().map(|(effect, _)| effect.to_string()).collect();
        let known = if known.is_empty() { "it asks nothing".to_owned() } else { known.join(", ") };
        error::usage(&format!("run `{run}` has no open question `{}`: {known}", safe::line(id, 80)))
    })
}
