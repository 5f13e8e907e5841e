//! Workers whose call ends before their work does. An agent with tools of its own is bounded by the run's clock and
//! budget and not by the time of one call: it is broken off and goes on, in its conversation and in the folder as it
//! left it. The same after a crash or a failed call, if it has told which conversation it is in; otherwise its call is
//! repeated from the state before it.

use std::collections::VecDeque;
use std::sync::Arc;

use super::calls::{CallSpec, HeldWork};
use super::run::Run;
use crate::budget::CapScope;
use crate::effect::{CallFailure, EffectId, FailureKind, Observation};
use crate::event::EventKind;
use crate::goal::{StepEnd, cut};
use crate::turn::{Message, Part, Role, Speaker};

/// Steps of a call that are kept in mind, to be told to whoever goes on, and how much of each.
const REMEMBERED: usize = 30;
const LINE: usize = 400;

/// What a worker has told of a call that is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct CallProgress {
    /// It has told which conversation it is in.
    pub named: bool,
    pub steps: u32,
    /// Its last steps, each with the agent's name for it.
    last: VecDeque<(Option<String>, String)>,
}

impl CallProgress {
    pub fn hear(&mut self, observation: &Observation) {
        match observation {
            Observation::Session { .. } => self.named = true,
            Observation::Step { line, call } => {
                self.steps = self.steps.saturating_add(1);
                if self.last.len() == REMEMBERED {
                    self.last.pop_front();
                }
                self.last.push_back((call.clone(), cut(line, LINE)));
            }
            Observation::StepEnded { call, end, .. } => {
                let known = self.last.iter_mut().rev().find(|(of, _)| of.as_deref() == Some(call));
                if let Some((of, line)) = known {
                    *of = None;
                    line.push_str(" → ");
                    line.push_str(end.name());
                }
            }
            _ => {}
        }
    }

    /// One line for every step it knows of.
    fn log(&self) -> String {
        let line = |(call, line): &(Option<String>, String)| match call {
            Some(_) => format!("- {line} → {}\n", StepEnd::Unknown.name()),
            None => format!("- {line}\n"),
        };
        self.last.iter().map(line).collect()
    }
}

/// Which bound of this one call was reached, if that is why it ended.
pub const fn cut_short(failure: &CallFailure) -> Option<&'static str> {
    match failure.kind {
        FailureKind::Timeout => Some("the time of one call was up"),
        FailureKind::StepsUsedUp => Some("the steps of one call were used up"),
        _ => None,
    }
}

impl Run {
    /// A worker in the run's folder that uses tools of its own.
    pub fn has_own_hands(&self, call: &CallSpec) -> bool {
        let card = self.plan.agents.get(&call.agent);
        call.role == Role::Worker
            && call.tree.is_some()
            && call.tool_loop.is_none()
            && card.is_some_and(|card| !card.tools && !card.person)
    }

    /// Holds a call without an answer until the run goes on.
    pub fn hold(&mut self, id: &EffectId, call: CallSpec, begun: CallProgress) {
        let card = self.plan.agents.get(&call.agent);
        let key = (id.node.clone(), call.agent.clone());
        let remembers = card.is_some_and(|card| card.continues) && self.sessions.contains_key(&key);
        // A node that leads its worker tells it everything anew, whichever turn was lost. Elsewhere only the call that
        // named its conversation is known to be in it.
        let is_in_it = begun.named || call.goes_on || call.own_failures;
        self.held.push_back(if self.has_own_hands(&call) && remembers && is_in_it {
            HeldWork::GoOn { id: id.clone(), call, begun }
        } else {
            HeldWork::again(call, id)
        });
    }

    /// The run goes on, and so does a worker that was broken off.
    pub fn take_up(&mut self, id: &EffectId, call: CallSpec, begun: &CallProgress) {
        if !self.has_own_hands(&call) {
            // It is reached differently now.
            let next = self.next_id(&id.node);
            return self.request(next, call.afresh(), Some(id.clone()));
        }
        let because = "the run was stopped while it worked";
        if call.own_failures {
            let (agent, because) = (call.agent, because.to_owned());
            self.emit(&id.node, EventKind::WentOn { agent, because: because.clone() });
            return self.tell(&id.node, |protocol, cx| protocol.broken_off(&because, cx));
        }
        self.go_on(id, call, begun, because);
    }

    /// Asks a worker to go on with what it was doing.
    pub fn go_on(&mut self, id: &EffectId, call: CallSpec, begun: &CallProgress, because: &str) {
        let (agent, why) = (call.agent.clone(), because.to_owned());
        self.emit(&id.node, EventKind::WentOn { agent, because: why });
        let mut call = call.afresh();
        let log = begun.log();
        let log = if log.is_empty() { log } else { format!("\n\nThe last steps of that call:\n{log}") };
        let words = format!("{}{log}", told(because));
        Arc::make_mut(&mut call.messages)
            .push(Message { from: Speaker::User, parts: vec![Part::Text(words)] });
        // All of it counts as the one call it was asked for.
        (call.goes_on, call.kept) = (true, CapScope::ExceptCalls);
        let next = self.next_id(&id.node);
        self.request(next, call, None);
    }
}

/// What a worker is told that goes on.
pub fn told(because: &str) -> String {
    format!(
        "Your work on this was broken off ({because}), and you go on with it now. The folder is as you left it: look at what \
         is there, do not begin again, and do nothing a second time that is done."
    )
}
