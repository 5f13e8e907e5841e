//! What a person says to a run: answers to its questions, and words to the worker of a goal. Each is a letter; whoever
//! drives the run reads it.

use gadfly_engine::question::{Picked, Question};
use gadfly_engine::{EffectId, EffectKind};
use gadfly_journal::{Mail, MailId, MailKind, PostError, ReadError, RunId};

use super::Gadfly;
use crate::clock::wall_ms;

#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("run `{run}` asks nothing: it is {state}")]
    NothingAsked { run: RunId, state: String },
    /// The question names its ways out, and this is none of them.
    #[error("that is no answer to what run `{run}` asks: {why}")]
    NoAnswer { run: RunId, why: String },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Post(#[from] PostError),
}

#[derive(Debug, thiserror::Error)]
pub enum SteerError {
    #[error("run `{run}` is no goal: it follows `{protocol}`, and only the worker of a goal can be steered")]
    NoGoal { run: RunId, protocol: String },
    #[error("run `{run}` has ended ({outcome}): there is nobody left to steer")]
    Ended { run: RunId, outcome: String },
    #[error("there is nothing to say to the worker: the text is empty")]
    Empty,
    #[error("{bytes} bytes are too many for the worker to be told at once; the limit is {MOST_STEERED}")]
    TooLong { bytes: usize },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Post(#[from] PostError),
}

/// The most a person says to a worker at once: it is part of every later prompt.
pub const MOST_STEERED: usize = 16 * 1024;

/// A question that was answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AnsweredQuestion {
    pub effect: EffectId,
    /// A living process will take it up; else `resume` does.
    pub driven: bool,
    /// An earlier answer that nobody had read was taken back.
    pub replaced: bool,
}

impl Gadfly {
    /// Leaves a person's answer for the question a run asks; whoever drives it takes it up. Of several it is the one
    /// the run waits for, else the first.
    pub fn answer(&self, run: &RunId, text: String, by: &str) -> Result<AnsweredQuestion, AnswerError> {
        let summary = self.journal().summary(run)?;
        let waiting = summary.waiting_for.filter(|_| !summary.ended);
        let effect = match waiting {
            Some(effect) => Some(effect),
            // Others of the run are still at work: it asks, and does not wait yet.
            None if self.is_driven(run) => {
                self.open_questions(run)?.into_iter().next().map(|(effect, _)| effect)
            }
            None => None,
        };
        match effect {
            Some(effect) => self.answer_to(run, &effect, text, by),
            None => Err(AnswerError::NothingAsked { run: run.clone(), state: summary.state }),
        }
    }

    /// The questions of a run that nobody has answered yet, in the order they were asked.
    pub fn open_questions(&self, run: &RunId) -> Result<Vec<(EffectId, Question)>, ReadError> {
        let state = self.journal().state(run)?;
        if state.summary.ended {
            return Ok(Vec::new());
        }
        let open = state.questions.into_iter().filter(|asked| asked.answer.is_none());
        Ok(open.map(|asked| (asked.effect, asked.question)).collect())
    }

    /// As [`Self::answer`], to one question of several. An earlier answer that nobody has read yet is taken back: the
    /// last word is the one that was meant.
    pub fn answer_to(
        &self,
        run: &RunId,
        effect: &EffectId,
        text: String,
        by: &str,
    ) -> Result<AnsweredQuestion, AnswerError> {
        let effect = effect.clone();
        self.fits(run, &effect, &text)?;
        let earlier = self.unread_answers(run, &effect)?;
        let what = MailKind::Answer { effect: effect.clone(), text };
        self.journal().post(run, &Mail { by: by.to_owned(), at_ms: wall_ms(), what })?;
        for mail in &earlier {
            self.journal().discard_mail(*mail).map_err(PostError::from)?;
        }
        // After the letter: a driver that lets go of the run looks for letters then, so one of the two sees the other.
        let driven = self.is_driven(run);
        Ok(AnsweredQuestion { effect, driven, replaced: !earlier.is_empty() })
    }

    /// As [`Self::answer_to`], where nobody's answer may be taken back: for doors that several people, or programs, use
    /// at once. Of two answers the second is refused.
    pub fn answer_first(
        &self,
        run: &RunId,
        effect: &EffectId,
        text: String,
        by: &str,
    ) -> Result<AnsweredQuestion, AnswerError> {
        self.fits(run, effect, &text)?;
        let what = MailKind::Answer { effect: effect.clone(), text };
        self.journal().post_first_answer(run, &Mail { by: by.to_owned(), at_ms: wall_ms(), what })?;
        let driven = self.is_driven(run);
        Ok(AnsweredQuestion { effect: effect.clone(), driven, replaced: false })
    }

    /// Whether an answer lies there for a run that waits for one.
    pub fn has_unread_answer(&self, run: &RunId) -> bool {
        let waiting = self.journal().summary(run).ok().filter(|summary| !summary.ended);
        let asked = waiting.and_then(|summary| summary.waiting_for);
        asked.is_some_and(|effect| self.unread_answers(run, &effect).is_ok_and(|mail| !mail.is_empty()))
    }

    /// A question that names its ways out takes one of them.
    fn fits(&self, run: &RunId, effect: &EffectId, text: &str) -> Result<(), AnswerError> {
        if let Some(question) = self.question(run, effect)?
            && let Picked::Neither(why) = question.pick(text)
        {
            return Err(AnswerError::NoAnswer { run: run.clone(), why });
        }
        Ok(())
    }

    /// Leaves a person's word for the worker of a goal, which is told it at its next turn. True if a living
    /// process will; else it is when the run is resumed.
    pub fn steer(&self, run: &RunId, text: &str, by: &str) -> Result<bool, SteerError> {
        let summary = self.journal().summary(run)?;
        if summary.protocol != gadfly_engine::protocol::goal::RULE_BOOK.name {
            return Err(SteerError::NoGoal { run: run.clone(), protocol: summary.protocol });
        }
        if summary.ended {
            return Err(SteerError::Ended { run: run.clone(), outcome: summary.state });
        }
        let text = text.trim();
        match text.len() {
            0 => return Err(SteerError::Empty),
            bytes if bytes > MOST_STEERED => return Err(SteerError::TooLong { bytes }),
            _ => {}
        }
        let what = MailKind::Steer { text: text.to_owned() };
        let posted = self.journal().post(run, &Mail { by: by.to_owned(), at_ms: wall_ms(), what });
        match posted {
            // It ended between the look and the letter.
            Err(PostError::Ended { run, outcome }) => Err(SteerError::Ended { run, outcome }),
            other => other.map(|_| self.is_driven(run)).map_err(SteerError::Post),
        }
    }

    /// The question behind an effect; none if an agent's turn is what a person is asked for.
    pub fn question(&self, run: &RunId, asked: &EffectId) -> Result<Option<Question>, ReadError> {
        Ok(self.journal().effect(run, asked)?.and_then(|effect| match effect.kind {
            EffectKind::Ask(question) => Some(question),
            _ => None,
        }))
    }

    fn unread_answers(&self, run: &RunId, to: &EffectId) -> Result<Vec<MailId>, ReadError> {
        let answers = |mail: &Mail| matches!(&mail.what, MailKind::Answer { effect, .. } if effect == to);
        Ok(self
            .journal()
            .mail(run)?
            .into_iter()
            .filter(|(_, mail)| answers(mail))
            .map(|(id, _)| id)
            .collect())
    }
}
