//! What people are asked about a goal, and what their word leads to. A question nobody answers leaves the goal
//! waiting; it is never taken for a no.

use std::fmt::Write as _;

use super::steps::Doing;
use super::verifying::Checking;
use super::{Awaiting, GoalProtocol, Interruption};
use crate::brief::{one_line, some_of};
use crate::event::EventKind;
use crate::finding::Finding;
use crate::machine::Cx;
use crate::outcome::{Halt, Outcome};
use crate::question::{About, Choice, Picked, Question};
use crate::tool::policy::{Lasting, in_full};
use crate::tool::shown::shown_args;
use crate::tool::{ToolCall, ToolUse};
use crate::turn::Role;

/// What a person is asked about.
pub(super) enum Asking {
    /// The goal stands still.
    Paused,
    Policy {
        call: ToolCall,
        what: ToolUse,
        /// What `always` would allow.
        lasting: Box<Lasting>,
    },
    Unknown(Box<Doing>),
    Manual(Box<Checking>),
    Protected {
        checking: Box<Checking>,
        detail: String,
        findings: Vec<Finding>,
    },
    /// The check passes and fails on the same files.
    Flaky {
        checking: Box<Checking>,
        detail: String,
    },
    /// What was made or changed while the worker had drifted would be delivered.
    Drift {
        checking: Box<Checking>,
        detail: String,
        paths: Vec<String>,
    },
    /// The critic objects to the change, or did not look at all of it.
    WholeChange {
        checking: Box<Checking>,
        detail: String,
        about: String,
    },
    Servers,
    /// The criterion holds before anything was done.
    Already {
        detail: String,
    },
}

fn asks(about: About, text: String, choices: Vec<Choice>, free: bool) -> Question {
    Question { about, text, choices, free }
}

fn paused(because: &str, log: &str) -> Question {
    let steps = if log.is_empty() { String::new() } else { format!("\n\nThe last steps:\n{log}") };
    let text = format!("{because}{steps}");
    let choices = vec![
        Choice::new("go-on", "let it go on as it is"),
        Choice::taking("steer", "TEXT", "let it go on, and tell it this"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Stuck, text, choices, true)
}

/// `in_full` is what the reason leaves out.
pub(super) fn policy(reason: &str, in_full: Option<String>, lasting: &Lasting) -> Question {
    let choices = vec![
        Choice::new("allow", "this once"),
        Choice::new("always", &format!("{lasting}, for this reason, in this goal")),
        Choice::new("deny", "not this; it goes on without"),
        Choice::new("stop", "end the goal here"),
    ];
    let text = in_full.map_or_else(|| reason.to_owned(), |in_full| format!("{reason}\n\n{in_full}"));
    asks(About::Policy, text, choices, false)
}

/// What was cut off is shown whole: who decides about a command must have seen how it ends. The careful way out comes
/// first, because it is the one that is suggested.
pub(super) fn unknown(tool: &str, args: &str) -> Question {
    let what = in_full(args, "").unwrap_or_else(|| shown_args(tool, args));
    let text = format!(
        "The process was stopped in the middle of a step, and nobody knows what came of it. `{}` was to do this:\n\n{what}\n\nDoing it again may do it twice.",
        one_line(tool)
    );
    let choices = vec![
        Choice::new("skip", "leave it, and tell the worker that its outcome is unknown"),
        Choice::new("again", "do it again"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Unknown, text, choices, false)
}

pub(super) fn manual(rationale: &str) -> Question {
    let text = format!("The goal is said to be reached: {rationale}\n\nIs it?");
    let choices = vec![
        Choice::new("yes", "it is reached"),
        Choice::taking("no", "TEXT", "it is not; this is told to the worker"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Manual, text, choices, false)
}

/// What was found is named; files nobody can say more about are only listed.
pub(super) fn protected(paths: &[String], findings: &[Finding], detail: &str) -> Question {
    let mut text = format!("The check passes ({detail}), but ");
    let mut stands = Choice::new("accept", "the changes are right; the goal is reached");
    if !findings.is_empty() {
        text.push_str("the change may be what lets it pass:\n");
        for (n, finding) in findings.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", n + 1, finding.line());
        }
        stands =
            Choice::taking("waive", "WHY", "they are right; the goal is reached, and WHY is kept on record");
    }
    if !paths.is_empty() {
        let also = if findings.is_empty() { "" } else { "Also, " };
        let _ = write!(text, "{also}files it goes by were changed on the way: {}.", some_of(paths));
    }
    let text = format!("{}\n\nLook at the changes before you let them stand.", text.trim_end());
    let choices = vec![
        stands,
        Choice::taking("reject", "TEXT", "they are not; this is told to the worker"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Protected, text, choices, false)
}

pub(super) fn flaky(detail: &str) -> Question {
    let text = format!("{detail}\n\nA flaky check proves nothing. Is the goal reached?");
    let choices = vec![
        Choice::new("accept", "it is, as far as you can tell"),
        Choice::new("again", "run the check once more, from the beginning"),
        Choice::taking("reject", "TEXT", "it is not; this is told to the worker"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Manual, text, choices, false)
}

pub(super) fn drift(paths: &[String], detail: &str) -> Question {
    let text = format!(
        "The check passes ({detail}), but these files were made or changed while the worker had drifted from the goal: {}.",
        some_of(paths)
    );
    let choices = vec![
        Choice::new("all", "deliver them with the rest"),
        Choice::new("without", "the worker takes them back and claims again"),
        Choice::new("stop", "end the goal here; nothing is delivered, and the folder stays"),
    ];
    asks(About::Drift, text, choices, false)
}

pub(super) fn objection(objection: &str, detail: &str) -> Question {
    let text = format!(
        "The check passes ({detail}), but the critic objects to the change:\n{objection}\n\nLook at the change before you accept it."
    );
    let choices = vec![
        Choice::new("accept", "the change is right; the goal is reached"),
        Choice::taking("reject", "TEXT", "it is not; this is told to the worker"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Protected, text, choices, false)
}

pub(super) fn not_looked(about: &str, detail: &str) -> Question {
    let text = format!("The check passes ({detail}), but {about}");
    let choices = vec![
        Choice::new("accept", "the change is right; the goal is reached"),
        Choice::new("again", "ask the critic once more"),
        Choice::taking("reject", "TEXT", "it is not; this is told to the worker"),
        Choice::new("stop", "end the goal here"),
    ];
    asks(About::Protected, text, choices, false)
}

pub(super) fn already(detail: &str) -> Question {
    let text = format!("The goal is met already, before anything was done: {detail}");
    let choices = vec![
        Choice::new("done", "that is enough; the goal ends here, and nothing is paid"),
        Choice::new("work", "have it worked on all the same"),
    ];
    asks(About::Manual, text, choices, false)
}

pub(super) fn servers(because: &str) -> Question {
    let choices = vec![Choice::new("go-on", "work without them"), Choice::new("stop", "end the goal here")];
    asks(About::Stuck, because.to_owned(), choices, false)
}

impl GoalProtocol {
    pub(super) fn ask(&mut self, asking: Asking, question: Question, cx: &mut Cx<'_>) {
        self.awaiting = Awaiting::Person(Box::new(asking), question.clone());
        cx.ask(question);
    }

    /// The goal stands still until a person says how it goes on.
    pub(super) fn pause(&mut self, because: &str, cx: &mut Cx<'_>) {
        cx.emit(EventKind::GoalPaused { because: because.to_owned() });
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        let question = paused(because, &steps.join("\n"));
        self.ask(Asking::Paused, question, cx);
    }

    /// A person has a word for the worker: it goes on if it stood still, and listens now if it has tools of its own.
    pub(super) fn listen_to_person(&mut self, cx: &mut Cx<'_>) {
        match &self.awaiting {
            Awaiting::Person(asking, _) if matches!(**asking, Asking::Paused) => {
                cx.withdraw_questions();
                self.begin_anew(cx);
            }
            // It is still to be asked: what it is asked with holds the word, too.
            Awaiting::Worker if cx.recall(Role::Worker) => {
                self.turns = self.turns.saturating_sub(1);
                self.awaiting = Awaiting::Nothing;
            }
            Awaiting::Worker if !self.is_driven(cx) => self.interrupt(Interruption::Words, cx),
            _ => {}
        }
    }

    pub(super) fn person_said(
        &mut self,
        asking: Asking,
        question: &Question,
        (said, by): (&str, &str),
        cx: &mut Cx<'_>,
    ) {
        let (word, rest) = match question.pick(said) {
            Picked::Choice { word, rest } => (word.to_owned(), rest),
            _ => (String::new(), said.trim().to_owned()),
        };
        if word == "stop" {
            let draft = self.tree.as_ref().map(|tree| tree.digest);
            let open = vec!["a person ended it".to_owned()];
            return self.end(Outcome::Halted { reason: Halt::Stuck, draft, open }, cx);
        }
        match (asking, word.as_str()) {
            (Asking::Paused, "go-on") => self.begin_anew(cx),
            (Asking::Paused, _) => {
                self.tell_worker(format!("PERSON: {rest}"), cx);
                self.begin_anew(cx);
            }
            (Asking::Policy { call, what, lasting }, "always") => {
                self.allowed.insert(*lasting);
                self.begin(call, what, cx);
            }
            (Asking::Policy { call, what, .. }, "allow") => self.begin(call, what, cx),
            (Asking::Policy { call, .. }, _) => self.declined(&call, &rest, cx),
            (Asking::Unknown(doing), word) => self.unknown_decided(*doing, word == "again", cx),
            (Asking::Manual(checking), "yes") => {
                self.learned_of(*checking, Ok("a person says so".to_owned()), cx);
            }
            (Asking::Manual(checking), _) => {
                self.learned_of(*checking, Err(format!("a person says no: {rest}")), cx);
            }
            (Asking::Protected { checking, detail, .. }, "accept") => self.drift_aside(*checking, detail, cx),
            (Asking::Protected { checking, detail, findings }, "waive") => {
                self.waive(*checking, &findings, detail, &rest, by, cx);
            }
            (Asking::Protected { checking, findings, .. }, _) => {
                let mut detail =
                    format!("files the goal is judged by were changed, and a person does not agree: {rest}");
                for finding in &findings {
                    detail.extend(["\n- ", &finding.line()]);
                }
                self.does_not_hold(&checking, &detail, cx);
            }
            (Asking::Flaky { checking, detail }, "accept") => {
                self.holds(*checking, format!("a person accepts it: {detail}"), cx);
            }
            (Asking::Flaky { checking, .. }, "again") => {
                let Checking { why, rationale, .. } = *checking;
                self.check_next(Checking { rationale, ..Checking::new(why) }, cx);
            }
            (Asking::Flaky { checking, .. }, _) => {
                self.does_not_hold(&checking, &format!("the check is flaky, and a person says: {rest}"), cx);
            }
            (Asking::Drift { checking, detail, .. }, "all")
            | (Asking::WholeChange { checking, detail, .. }, "again") => {
                self.look_over(*checking, detail, cx);
            }
            (Asking::Drift { checking, paths, .. }, _) => self.without_drift(&checking, &paths, cx),
            (Asking::WholeChange { detail, about, .. }, "accept") => self.overrule(about, detail, by, cx),
            (Asking::WholeChange { checking, about, .. }, _) => {
                self.does_not_hold(
                    &checking,
                    &format!("{about}\nA person does not agree with it either: {rest}"),
                    cx,
                );
            }
            (Asking::Servers, _) => self.next_turn(cx),
            (Asking::Already { detail }, "done") => self.end_as_met(detail, cx),
            (Asking::Already { .. }, _) => self.set_out(cx),
        }
    }

    /// A person let it go on: what was counted toward standing still is counted anew.
    fn begin_anew(&mut self, cx: &mut Cx<'_>) {
        (self.only_talk, self.failed_claims, self.critic.stuck) = (0, 0, 0);
        self.forgive();
        self.go_on(cx);
    }
}
