//! One run driven in front of someone: live output, Ctrl-C, answers typed here, the last block, the exit
//! code. What to start or resume is the command's business.

use std::time::Duration;

use gadfly_engine::question::{Picked, Question};
use gadfly_engine::reading::status;
use gadfly_engine::turn::{Role, Turn};
use gadfly_engine::{EffectId, EffectKind, Outcome, Waiting};
use gadfly_journal::{ClaimError, Journal, ReadError, RunId};
use gadfly_project::config::HOST;
use gadfly_runtime::service::{DriveOptions, ResumeError};
use gadfly_runtime::{DriveError, Ended, Gadfly, Stop, Update};
use tokio::sync::{mpsc, watch};

use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::ending::{self, DraftIs};
use crate::output::screen::{Screen, ScreenItem};
use crate::output::{ask, brief, error, events, next_command, print, problems, safe, terminal};
use crate::typing::{AnswerEnd, Typing};
use crate::verdict::{Typed, VerdictDialog};

const UPDATES: usize = 256;
const FRAME: Duration = Duration::from_millis(120);
/// How long a reader is waited for once the person wants to stop.
const LAST_WORDS: Duration = Duration::from_secs(2);

pub struct Session<'a> {
    pub context: &'a Context,
    pub gadfly: &'a Gadfly,
    pub run: RunId,
    /// Someone is there: wait for answers.
    pub attended: bool,
    /// Approved drafts without a file go to standard output.
    pub print_draft: bool,
    /// Told as it goes. Of several at once only the ends are, each with this line above.
    pub only_end: Option<String>,
}

/// What a person here is asked for.
enum Awaited {
    /// The reply of an agent of kind `person`, as it is.
    Turn(Role),
    /// The verdict of one, step by step.
    Verdict(VerdictDialog),
    /// One of a question's ways out.
    Choice(Question),
}

impl Session<'_> {
    /// Drives what `begin` starts, and tells it. The code is the outcome's.
    pub async fn drive<F, D>(&self, interrupts: &mut Interrupts, begin: F) -> Code
    where
        F: FnOnce(DriveOptions) -> D,
        D: Future<Output = Result<Ended, ResumeError>>,
    {
        let (tell_stop, stop) = watch::channel(Stop::No);
        let (tell, mut updates) = mpsc::channel(UPDATES);
        let mut driving = Box::pin(begin(DriveOptions {
            attended: self.attended,
            stop,
            updates: self.is_told().then_some(tell),
        }));
        // Nothing is driven yet: these are the records of before.
        let earlier = self.gadfly.journal().replay(&self.run).map_while(Result::ok);
        let screen = Screen::new(self.run.clone(), self.context.global.json, earlier);
        // A record the screen has no room for yet. Until it has, the run's own queue fills, and only that.
        let mut unshown = None;
        let mut typing = Typing::new();
        let mut question = None;
        let mut stopping = Stop::No;
        let mut frames = tokio::time::interval(FRAME);
        let ended = loop {
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    if stopping == Stop::Now {
                        std::process::exit(exit::INTERRUPTED.0.into());
                    }
                    stopping = if stopping == Stop::No { Stop::Drain } else { Stop::Now };
                    let _ = tell_stop.send(stopping);
                    screen.say(match stopping {
                        Stop::Drain => "stopping: nothing new is started, replies under way are waited for briefly \
                                        (Ctrl-C again stops at once)",
                        _ => "stopping at once",
                    });
                }
                room = screen.room(), if unshown.is_some() => {
                    if let (Ok(room), Some(what)) = (room, unshown.take()) {
                        room.send(what);
                    }
                }
                Some(update) = updates.recv(), if unshown.is_none() => {
                    let asked = self.asks(&update);
                    let told = !self.context.global.json && tells_question(&update);
                    let lossy = matches!(update, Update::Progress { .. });
                    unshown = screen.offer(ScreenItem::Update(update)).filter(|_| !lossy);
                    if let Some(effect) = asked {
                        question = self.ask(&effect, told, &screen);
                        typing.listen(ends(question.as_ref()));
                    }
                }
                ended = &mut driving => break ended,
                answer = typing.next(), if question.is_some() => {
                    question = question.take().and_then(|awaited| self.typed(answer, awaited, &screen, &mut typing));
                }
                _ = frames.tick(), if self.is_told() && screen.is_live() => drop(screen.offer(ScreenItem::Frame)),
            }
        };
        // The run is over: now a slow reader is waited for, as long as the person wants.
        let impatient = tokio::spawn(async {
            Interrupts::catch().next().await;
            std::process::exit(exit::INTERRUPTED.0.into())
        });
        let rest = std::iter::from_fn(|| updates.try_recv().ok()).map(ScreenItem::Update);
        let closing = screen.close(unshown.into_iter().chain(rest));
        if stopping == Stop::No {
            closing.await;
        } else if tokio::time::timeout(LAST_WORDS, closing).await.is_err() {
            // Whoever asked to stop need not ask again because nobody reads.
            std::process::exit(exit::INTERRUPTED.0.into());
        }
        let code = match ended {
            Ok(ended) => self.finish(&ended, stopping != Stop::No),
            Err(ResumeError::Drive(why))
                if matches!(self.gadfly.journal().summary(&self.run), Err(ReadError::NotFound(_))) =>
            {
                // Not even its first record was written: there is nothing to resume.
                error::fault(&why.to_string())
            }
            Err(ResumeError::Agents { problems: found, .. })
                if matches!(self.gadfly.journal().summary(&self.run), Err(ReadError::NotFound(_))) =>
            {
                problems::refuse(&found, &self.context.root.dir)
            }
            Err(error) => refuse(self.context, &self.run, error),
        };
        if let Some(why) = self.gadfly.unsigned() {
            error::warn(&safe::line(&format!("what the run left is not signed: {why}"), 600));
        }
        impatient.abort();
        code
    }

    /// Programs are told all of it: each line names its run.
    const fn is_told(&self) -> bool {
        self.only_end.is_none() || self.context.global.json
    }

    /// The question a person here can answer.
    fn asks(&self, update: &Update) -> Option<EffectId> {
        let Update::Record { record, .. } = update else { return None };
        match &record.step.outcome {
            Some(Outcome::Waiting(Waiting::Question { effect })) if self.attended => Some(effect.clone()),
            _ => None,
        }
    }

    /// `told`: the question itself was just shown.
    fn ask(&self, effect: &EffectId, told: bool, screen: &Screen) -> Option<Awaited> {
        if let Some(question) = self.gadfly.question(&self.run, effect).ok().flatten() {
            let mut lines = vec![String::new()];
            if !told {
                lines.extend(ask::question(&question));
                lines.push(String::new());
            }
            lines.push("Type the answer and end it with a line that has only a dot,".to_owned());
            lines.push(self.elsewhere());
            let _ = screen.offer(ScreenItem::Lines(lines));
            return Some(Awaited::Choice(question));
        }
        let (turn, brief) = brief::question(self.gadfly.journal(), &self.run, effect).ok().flatten()?;
        if let Some(why) = only_by_token(&turn, &self.run) {
            screen.say(&why);
            return None;
        }
        let mut lines = vec![String::new()];
        lines.extend(safe::block(&brief).lines().map(|line| format!("  │ {line}")));
        lines.push(String::new());
        let folder = self.gadfly.folder_at(&self.run, &effect.node);
        if let Some(folder) = folder.filter(|_| turn.tree.is_some()) {
            lines.push(format!("The files are in {}", safe::line(&folder.to_string_lossy(), 400)));
        }
        let role = turn.role.name();
        let awaited = if let Some(asked) = turn.verdict {
            let how = next_command::command(&format!("answer {} --approve", self.run));
            let points = if asked.passes_at.is_some() { " --points N" } else { "" };
            lines.push(format!(
                "You are the {role}. From another terminal: {how}, or --reject \"what to fix\"{points}"
            ));
            let asking = VerdictDialog::begin(asked);
            lines.push(asking.prompt());
            Awaited::Verdict(asking)
        } else {
            lines.push(format!(
                "You are the {role}. Type the answer and end it with a line that has only a dot,"
            ));
            lines.push(self.elsewhere());
            Awaited::Turn(turn.role)
        };
        let _ = screen.offer(ScreenItem::Lines(lines));
        Some(awaited)
    }

    fn elsewhere(&self) -> String {
        format!("or answer from another terminal: {}", next_command::command(&format!("answer {}", self.run)))
    }

    /// Takes what was typed. What is awaited after it, if anything.
    fn typed(&self, text: String, awaited: Awaited, screen: &Screen, typing: &mut Typing) -> Option<Awaited> {
        let Awaited::Verdict(mut asking) = awaited else {
            return (!self.answer(text, Some(&awaited), screen)).then_some(awaited);
        };
        match asking.typed(&text) {
            Typed::Whole(verdict) => {
                let _ = self.answer(verdict.written(), None, screen);
                return None;
            }
            Typed::Neither if status::status_line(&text).is_some() => {
                // A whole verdict, typed or pasted in the form that models use.
                typing.goes_on(&text);
                return Some(Awaited::Turn(Role::Critic));
            }
            Typed::Neither => screen.say("type a to approve or r to reject"),
            Typed::Next(remark) => {
                if let Some(remark) = remark {
                    screen.say(&safe::line(&remark, 600));
                }
                let _ = screen.offer(ScreenItem::Lines(vec![asking.prompt()]));
            }
        }
        let awaited = Awaited::Verdict(asking);
        typing.listen(ends(Some(&awaited)));
        Some(awaited)
    }

    /// Whether the answer was taken.
    fn answer(&self, text: String, awaited: Option<&Awaited>, screen: &Screen) -> bool {
        if text.trim().is_empty() {
            screen.say("the answer is empty; type it again");
            return false;
        }
        if let Some(why) = awaited.and_then(|awaited| self.unfit(&text, awaited)) {
            screen.say(&format!("{why}; type it again"));
            return false;
        }
        match self.gadfly.answer(&self.run, text, "terminal") {
            Ok(_) => true,
            Err(e) => {
                screen.say(&safe::block(&e.to_string()));
                true
            }
        }
    }

    /// Why this is no answer to what was asked.
    fn unfit(&self, text: &str, awaited: &Awaited) -> Option<String> {
        match awaited {
            Awaited::Choice(question) => match question.pick(text) {
                Picked::Neither(why) => Some(why),
                Picked::Choice { .. } | Picked::Free(_) => None,
            },
            Awaited::Verdict(_) => None,
            Awaited::Turn(role) => unreadable(self.gadfly.journal(), &self.run, text, *role),
        }
    }

    fn finish(&self, ended: &Ended, stopped: bool) -> Code {
        let outcome = match ended {
            Ended::Outcome(outcome) => Some(outcome),
            Ended::Interrupted => None,
        };
        let code = match outcome {
            Some(Outcome::Waiting(_)) if stopped => exit::INTERRUPTED,
            _ => exit::of_ended(ended),
        };
        let state = match self.gadfly.journal().state(&self.run) {
            Ok(state) => state,
            Err(e) => return error::fault(&e.to_string()),
        };
        // A folder is no text to print: it was accepted, or committed.
        let printable =
            state.summary.out.is_none() && state.summary.last_diff.is_none() && state.pipeline.is_none();
        let approved = matches!(outcome, Some(Outcome::Approved { .. })) && printable;
        let draft =
            match state.summary.last_draft.filter(|_| approved).map(|d| self.gadfly.journal().text(&d)) {
                Some(Ok(text)) => text,
                Some(Err(e)) => return error::fault(&e.to_string()),
                None => None,
            };
        // What a caller of `audit` reads: the envelope of the last report, one line of JSON.
        let envelope = state.reports.last().filter(|_| draft.is_none() && outcome.is_some());
        let envelope =
            envelope.and_then(|report| self.gadfly.journal().text(&report.envelope).ok().flatten());
        if self.context.global.json {
            let result = events::FinalLine { draft: draft.as_deref(), envelope: envelope.as_deref() };
            return match print::out(&events::of_outcome(&self.run, outcome, result, code)) {
                Ok(()) | Err(exit::OK) => code,
                Err(fault) => fault,
            };
        }
        if let Some(head) = &self.only_end {
            print::err(head);
        }
        let printed = if self.print_draft { DraftIs::Printed } else { DraftIs::InJournal };
        ending::print(&state, outcome, printed);
        let shown = match (&draft, &envelope) {
            (Some(text), _) if self.print_draft => Some(print_draft(text)),
            (None, Some(envelope)) if self.print_draft => Some(print::out(envelope)),
            _ => None,
        };
        match shown {
            None | Some(Ok(()) | Err(exit::OK)) => code,
            Some(Err(fault)) => {
                print::err(&format!(
                    "the draft is kept: {}",
                    next_command::command(&format!("show {} --draft", self.run))
                ));
                fault
            }
        }
    }
}

/// Where an answer to this ends.
fn ends(awaited: Option<&Awaited>) -> AnswerEnd {
    match awaited {
        Some(Awaited::Verdict(asking)) if asking.is_one_line() => AnswerEnd::Line,
        _ => AnswerEnd::Dot,
    }
}

/// The story of this record ends with a question to a person.
fn tells_question(update: &Update) -> bool {
    let Update::Record { record, .. } = update else { return false };
    record.step.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Ask(_)))
}

/// A draft on standard output: exactly its bytes, except where a terminal would act on them.
pub fn print_draft(text: &str) -> Result<(), Code> {
    if !terminal::stdout_is_terminal() {
        return print::out_bytes(text.as_bytes());
    }
    print::err("");
    print::out(safe::block(text).trim_end_matches('\n'))
}

/// Why nobody but an MCP host may answer this turn: its reviews count only with the token of the review.
pub fn only_by_token(turn: &Turn, run: &RunId) -> Option<String> {
    (turn.agent == HOST && turn.role == Role::Critic).then(|| {
        format!(
            "the critic of run `{run}` is `{HOST}`: its reviews come from an MCP host, through open_review and \
             submit_report, and count only with the token of the review"
        )
    })
}

/// Why a critic's answer would be malformed. Only `revise` has a form that is the same for every loop.
pub fn unreadable(journal: &Journal, run: &RunId, text: &str, role: Role) -> Option<String> {
    let revises = || journal.summary(run).is_ok_and(|s| s.protocol == "revise");
    if role != Role::Critic || !revises() {
        return None;
    }
    let why = status::read(text, &gadfly_engine::reading::quoted::Shown::default()).err()?;
    Some(format!("this is not a verdict: {why}"))
}

/// Says why a run could not be driven.
pub fn refuse(context: &Context, run: &RunId, why: ResumeError) -> Code {
    match why {
        ResumeError::Agents { problems: found, .. } => {
            error::usage(&why_agents(run));
            problems::refuse(&found, &context.root.dir)
        }
        ResumeError::Ended { .. }
        | ResumeError::Claim(ClaimError::NotFound(_) | ClaimError::Owned { .. } | ClaimError::Foreign(_)) => {
            error::usage(&why.to_string())
        }
        ResumeError::Drive(DriveError::Journal(_) | DriveError::Closed) => error::fault(&format!(
            "{why}\nnothing is lost: {}",
            next_command::command(&format!("resume {run}"))
        )),
        ResumeError::Drive(DriveError::Refused(_)) => error::usage(&why.to_string()),
        ResumeError::Claim(_)
        | ResumeError::Read(_)
        | ResumeError::Replay { .. }
        | ResumeError::HalfWritten { .. } => error::fault(&why.to_string()),
    }
}

fn why_agents(run: &RunId) -> String {
    format!("the agents of run `{run}` cannot be reached as configured now")
}
