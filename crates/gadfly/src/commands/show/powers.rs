//! What held every call of a run, and what was stopped: a fold over its records, as data and as lines.

use std::collections::BTreeMap;

use gadfly_engine::input::InputKind;
use gadfly_engine::turn::Role;
use gadfly_engine::{EffectId, EffectKind, Guard, Layer, Observation, Reply};
use gadfly_journal::Record;
use owo_colors::OwoColorize as _;
use serde::Serialize;

use crate::output::safe;
use crate::output::table::counted;

/// More of what was stopped is counted.
const MOST: usize = 20;

/// One call that something held, or that did what it may not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HeldCall {
    pub effect: EffectId,
    pub agent: String,
    pub role: Role,
    pub guards: Vec<Guard>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<StoppedAttempt>,
    /// The most that its processes used at once, as far as it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<UsedResources>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StoppedAttempt {
    pub layer: Layer,
    pub what: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct UsedResources {
    pub memory_bytes: u64,
    pub processes: u64,
}

#[derive(Default)]
pub struct Powers {
    asked: BTreeMap<EffectId, (String, Role)>,
    calls: Vec<HeldCall>,
}

impl Powers {
    pub fn record(&mut self, record: &Record) {
        match &record.input.what {
            InputKind::Observed { effect, observation } => self.observed(effect, observation),
            InputKind::Replied { effect, reply: Reply::Done(answer) } if !answer.violations.is_empty() => {
                let what = format!("changed {}; undone", answer.violations.join(", "));
                if let Some(call) = self.call(effect) {
                    call.stopped.push(StoppedAttempt { layer: Layer::Compared, what });
                }
            }
            _ => {}
        }
        for effect in &record.step.effects {
            if let EffectKind::Turn(turn) = &effect.kind {
                self.asked.insert(effect.id.clone(), (turn.agent.clone(), turn.role));
            }
        }
    }

    fn observed(&mut self, effect: &EffectId, observation: &Observation) {
        match observation {
            Observation::Guarded { guards } => {
                if let Some(call) = self.call(effect) {
                    call.guards.extend(guards.iter().cloned());
                }
            }
            Observation::Stopped { layer, what } => {
                if let Some(call) = self.call(effect) {
                    call.stopped.push(StoppedAttempt { layer: *layer, what: what.clone() });
                }
            }
            Observation::Used { memory_bytes, processes } => {
                if let Some(call) = self.call(effect) {
                    call.used = Some(UsedResources { memory_bytes: *memory_bytes, processes: *processes });
                }
            }
            Observation::Step { .. }
            | Observation::StepEnded { .. }
            | Observation::Note { .. }
            | Observation::Usage { .. }
            | Observation::Retrying { .. }
            | Observation::Session { .. } => {}
        }
    }

    fn call(&mut self, effect: &EffectId) -> Option<&mut HeldCall> {
        if let Some(at) = self.calls.iter().rposition(|call| call.effect == *effect) {
            return self.calls.get_mut(at);
        }
        let (agent, role) = self.asked.get(effect)?.clone();
        let effect = effect.clone();
        self.calls.push(HeldCall {
            effect,
            agent,
            role,
            guards: Vec::new(),
            stopped: Vec::new(),
            used: None,
        });
        self.calls.last_mut()
    }

    pub fn calls(&self) -> &[HeldCall] {
        &self.calls
    }

    /// Calls that were held alike are told together; what was stopped, call by call.
    pub fn lines(&self) -> Vec<String> {
        let mut alike: Vec<(&HeldCall, usize)> = Vec::new();
        for call in &self.calls {
            let same = |other: &HeldCall| {
                (&other.agent, other.role, &other.guards) == (&call.agent, call.role, &call.guards)
            };
            match alike.iter_mut().find(|(other, _)| same(other)) {
                Some((_, count)) => *count += 1,
                None => alike.push((call, 1)),
            }
        }
        let mut lines: Vec<String> = alike.into_iter().map(|(call, count)| held(call, count)).collect();
        let all = self.calls.iter().flat_map(|call| call.stopped.iter().map(move |stopped| (call, stopped)));
        lines.extend(all.clone().take(MOST).map(|(call, stopped)| {
            let (role, agent) = (call.role.name(), safe::line(&call.agent, 60));
            let (layer, what) = (stopped.layer, safe::line(&stopped.what, 300));
            format!("{} {role} {agent} ({}) stopped by {layer}: {what}", "✗".red(), call.effect)
        }));
        if let Some(more) = all.count().checked_sub(MOST).filter(|more| *more > 0) {
            lines.push(format!("and {more} more that was stopped"));
        }
        lines
    }
}

fn held(call: &HeldCall, count: usize) -> String {
    let up: Vec<String> = call.guards.iter().map(|guard| safe::line(&guard.to_string(), 120)).collect();
    let up = if up.is_empty() { "no sandbox".to_owned() } else { format!("sandbox: {}", up.join(", ")) };
    let (role, agent) = (call.role.name(), safe::line(&call.agent, 60));
    format!("{role} {agent}, {}: {up}", counted(count, "call"))
}

#[cfg(test)]
mod tests {
    use gadfly_engine::{Answer, Input, Stamp, Step, StopReason, Usage};

    use super::*;

    fn record(what: InputKind) -> Record {
        Record { seq: 1, input: Input { at: Stamp::default(), what, texts: vec![] }, step: Step::default() }
    }

    #[test]
    fn calls_held_alike_are_told_once_and_everything_that_was_stopped_is_named() {
        let mut powers = Powers::default();
        let effects: Vec<EffectId> =
            ["run#1", "run#2", "run#3"].iter().map(|id| id.parse().unwrap()).collect();
        for (effect, (agent, role)) in
            effects.iter().zip([("w", Role::Worker), ("c", Role::Critic), ("c", Role::Critic)])
        {
            powers.asked.insert(effect.clone(), (agent.to_owned(), role));
        }
        let mut observe = |n: usize, observation| {
            let effect = effects[n].clone();
            powers.record(&record(InputKind::Observed { effect, observation }));
        };
        let landlock = || Guard::new(Layer::Landlock, "files; TCP open");
        observe(0, Observation::Guarded { guards: vec![] });
        for n in [1, 2] {
            let guards = vec![landlock(), Guard::new(Layer::Compared, "its copy")];
            observe(n, Observation::Guarded { guards });
        }
        observe(1, Observation::Used { memory_bytes: 1 << 20, processes: 2 });
        observe(1, Observation::Stopped { layer: Layer::OwnMode, what: "Write a.txt".into() });
        let reply = Reply::Done(Answer {
            parts: vec![],
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            model: None,
            took_ms: 1,
            report: None,
            violations: vec!["b.txt".into()],
            session: None,
        });
        powers.record(&record(InputKind::Replied { effect: effects[2].clone(), reply }));
        let told = anstream::adapter::strip_str(&powers.lines().join("\n")).to_string();
        insta::assert_snapshot!(told, @r"
        worker w, 1 call: no sandbox
        critic c, 2 calls: sandbox: Landlock (files; TCP open), tree compared (its copy)
        ✗ critic c (run#2) stopped by its own mode: Write a.txt
        ✗ critic c (run#3) stopped by tree compared: changed b.txt; undone
        ");
        let json = serde_json::to_value(powers.calls()).unwrap();
        assert_eq!(json[1]["guards"][0]["layer"], "landlock");
        assert_eq!(json[1]["used"]["processes"], 2);
        assert_eq!(json[2]["stopped"][0]["layer"], "compared");
    }
}
