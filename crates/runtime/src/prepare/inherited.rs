//! What an earlier run leaves to one that starts from it: its last draft and, if nothing else is asked for,
//! the whole loop.

use std::path::PathBuf;

use gadfly_engine::brief::Reference;
use gadfly_engine::deduction::DeductionTable;
use gadfly_engine::judging::Seat;
use gadfly_engine::protocol::converge::sets::ConvergeCriterion;
use gadfly_engine::protocol::score::settings::EscalateTo;
use gadfly_engine::protocol::{converge, revise, score};
use gadfly_engine::{Digest, Plan, Target, Text};
use gadfly_journal::{Journal, RunId};
use gadfly_project::{Config, Overrides, Problem};

use super::Request;

#[derive(Clone, Debug)]
pub struct Inherited {
    pub(super) draft: String,
    pub(super) references: Vec<(Reference, Text)>,
    /// Of a `revise` loop.
    pub(super) rubric: Vec<String>,
    /// Of a `score` loop.
    pub(super) score_rubric: Option<(String, Option<DeductionTable>)>,
    /// Of a `converge` loop.
    pub(super) questions: Vec<ConvergeCriterion>,
    pub(super) passes: Option<u32>,
}

impl Request {
    /// Begins with an earlier run's last draft. A request without a task or a loop of its own is the same
    /// loop again: the old protocol, task, references, phase, agents and output too, where no flag says
    /// otherwise.
    pub fn begin_from(&mut self, run: &RunId, journal: &Journal, config: &Config) -> Result<(), Problem> {
        let old = Old::read(journal, run)?;
        let mut inherited = Inherited {
            draft: old.text(&old.draft)?,
            references: Vec::new(),
            rubric: Vec::new(),
            score_rubric: None,
            questions: Vec::new(),
            passes: None,
        };
        let (shared, name) = old.shared(&mut inherited)?;
        let given = &mut self.given;
        if self.loop_name.is_none() && !given.has("task") && !given.has("task_file") {
            if !given.has("protocol") {
                *given = given.clone().typed("protocol", &[name]);
            }
            // What belongs to the old protocol does not fit another one.
            let same = given.protocol().is_some_and(|protocol| protocol.name() == name);
            given.set("task", old.text(&shared.task)?);
            let known = |name: &String| config.agents.contains_key(name);
            if let Some(worker) = shared.worker.clone().filter(known) {
                given.or_set("worker", worker);
            }
            if given.critics().is_empty() && shared.critics.iter().all(|seat| known(&seat.agent)) {
                // One critic per loop, except where the old one had two of the same protocol.
                let seats = shared.critics.iter().take(if same { 2 } else { 1 });
                let seats: Vec<&str> = seats.map(|seat| seat.agent.as_str()).collect();
                *given = given.clone().typed("critic", &seats);
            }
            let fallback = shared.critics.first().and_then(|seat| seat.fallback.clone()).filter(known);
            if let Some(fallback) = fallback {
                given.or_set("fallback_critic", fallback);
            }
            if let Some(target) = shared.out.as_ref().filter(|_| !given.has("draft")) {
                given.or_set("out", PathBuf::from(&target.path));
            }
            if !given.has("with") {
                for reference in &shared.references {
                    inherited.references.push((reference.clone(), Text::new(old.text(&reference.text)?)));
                }
            }
            if same {
                (shared.more)(given);
            }
        }
        self.from = Some(inherited);
        Ok(())
    }
}

/// What every protocol's settings have.
struct SharedSettings {
    task: Digest,
    references: Vec<Reference>,
    worker: Option<String>,
    critics: Vec<Seat>,
    out: Option<Target>,
    /// Flags that only loops of the same protocol take.
    more: Box<dyn FnOnce(&mut Overrides)>,
}

/// An earlier run, as its journal knows it.
struct Old<'a> {
    run: &'a RunId,
    journal: &'a Journal,
    plan: Plan,
    draft: Digest,
}

impl<'a> Old<'a> {
    fn read(journal: &'a Journal, run: &'a RunId) -> Result<Self, Problem> {
        let records = journal.records(run, 0, 1).map_err(|e| wrong(run, &e))?;
        let start = records.into_iter().next().and_then(|r| match r.input.what {
            gadfly_engine::input::InputKind::Started(start) => Some(start),
            _ => None,
        });
        let start = start.ok_or_else(|| wrong(run, &"its first record is missing"))?;
        if start.plan.workspace.is_some() {
            return Err(wrong(run, &"its work is a folder of files, not a draft")
                .help("start a new run: its folder begins with what your checkout holds"));
        }
        let summary = journal.summary(run).map_err(|e| wrong(run, &e))?;
        let draft = summary.last_draft.ok_or_else(|| wrong(run, &"it has no draft yet"))?;
        Ok(Self { run, journal, plan: start.plan, draft })
    }

    fn text(&self, digest: &Digest) -> Result<String, Problem> {
        let text = self.journal.text(digest).map_err(|e| wrong(self.run, &e))?;
        let missing = || wrong(self.run, &format!("text {} is missing", digest.short()));
        Ok(text.ok_or_else(missing)?.to_string())
    }

    /// The settings' common part and the protocol's name; what only one protocol has goes to `inherited`.
    fn shared(&self, inherited: &mut Inherited) -> Result<(SharedSettings, &'static str), Problem> {
        let settings = self.plan.root.settings.clone();
        let unreadable = |e: serde_json::Error| wrong(self.run, &e);
        match self.plan.root.protocol.as_str() {
            "revise" => {
                let old: revise::ReviseSettings = serde_json::from_value(settings).map_err(unreadable)?;
                inherited.rubric = old.rubric;
                let seat = Seat { agent: old.critic, fallback: old.fallback_critic, lens: None };
                let more = move |given: &mut Overrides| {
                    given.or_set("phase", old.phase);
                    if !old.overrule {
                        given.or_set("overrule", false);
                    }
                };
                let (task, references) = (old.task, old.references);
                let (worker, out, more) = (old.worker, old.out, Box::new(more));
                Ok((SharedSettings { task, references, worker, critics: vec![seat], out, more }, "revise"))
            }
            "score" => {
                let old: score::settings::ScoreSettings =
                    serde_json::from_value(settings).map_err(unreadable)?;
                inherited.score_rubric = Some((self.text(&old.rubric)?, old.table));
                let more = move |given: &mut Overrides| {
                    given.or_set("threshold", u64::from(old.threshold));
                    given.or_set("severity", old.severity.name());
                    if old.stop_early {
                        given.or_set("stop_early", true);
                    }
                    let to = match old.escalate_to {
                        EscalateTo::Agent(agent) => agent,
                        EscalateTo::Orchestrator => "orchestrator".to_owned(),
                        EscalateTo::User => "user".to_owned(),
                    };
                    given.or_set("escalate_to", to);
                };
                let (task, references, critics) = (old.task, old.references, old.critics);
                let (worker, out, more) = (old.worker, old.out, Box::new(more));
                Ok((SharedSettings { task, references, worker, critics, out, more }, "score"))
            }
            "converge" => {
                let old: converge::settings::ConvergeSettings =
                    serde_json::from_value(settings).map_err(unreadable)?;
                inherited.questions = old.criteria;
                inherited.passes = Some(old.rounds);
                let (task, references, critics) = (old.task, old.references, old.critics);
                let (worker, out, more) = (old.worker, old.out, Box::new(|_: &mut Overrides| {}));
                Ok((SharedSettings { task, references, worker, critics, out, more }, "converge"))
            }
            other => Err(wrong(self.run, &format!("a run of `{other}` leaves no draft to start from"))
                .help("start a new run: its folder begins with what your checkout holds")),
        }
    }
}

fn wrong(run: &RunId, why: &dyn std::fmt::Display) -> Problem {
    Problem::error(format!("run {run} cannot be started from: {why}"))
}
