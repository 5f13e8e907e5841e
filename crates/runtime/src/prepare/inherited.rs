//! What an earlier run leaves to one that starts from it: its last draft and, if nothing else is asked for,
//! the whole loop.

use std::path::PathBuf;

use gadfly_engine::brief::Reference;
use gadfly_engine::deduction::DeductionTable;
use gadfly_engine::judging::Seat;
use gadfly_engine::protocol::converge::sets::ConvergeCriterion;
use gadfly_engine::{Digest, Plan, Target, Text};
use gadfly_journal::{Journal, RunId};
use gadfly_project::{Config, Overrides, Problem};

use serde::de::DeserializeOwned;

use super::{Request, protocols};

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
        let old = EarlierRun::read(journal, run)?;
        let mut inherited = Inherited {
            draft: old.text(&old.draft)?,
            references: Vec::new(),
            rubric: Vec::new(),
            score_rubric: None,
            questions: Vec::new(),
            passes: None,
        };
        let shared = old.shared(&mut inherited)?;
        let name = old.plan.root.protocol.as_str();
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

/// Reads the settings of an earlier run of one protocol.
pub type Inherits = fn(&EarlierRun<'_>, &mut Inherited) -> Result<SharedSettings, Problem>;

/// What every protocol's settings have.
pub struct SharedSettings {
    pub task: Digest,
    pub references: Vec<Reference>,
    pub worker: Option<String>,
    pub critics: Vec<Seat>,
    pub out: Option<Target>,
    /// Flags that only loops of the same protocol take.
    pub more: Box<dyn FnOnce(&mut Overrides)>,
}

/// An earlier run, as its journal knows it.
pub struct EarlierRun<'a> {
    run: &'a RunId,
    journal: &'a Journal,
    plan: Plan,
    draft: Digest,
}

impl<'a> EarlierRun<'a> {
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

    /// A text the run was given.
    pub fn text(&self, digest: &Digest) -> Result<String, Problem> {
        let text = self.journal.text(digest).map_err(|e| wrong(self.run, &e))?;
        let missing = || wrong(self.run, &format!("text {} is missing", digest.short()));
        Ok(text.ok_or_else(missing)?.to_string())
    }

    /// The settings' common part; what only one protocol has goes to `inherited`.
    fn shared(&self, inherited: &mut Inherited) -> Result<SharedSettings, Problem> {
        let protocol = &self.plan.root.protocol;
        let Some(inherits) = protocols::named(protocol).and_then(|entry| entry.inherits) else {
            return Err(wrong(self.run, &format!("a run of `{protocol}` leaves no draft to start from"))
                .help("start a new run: its folder begins with what your checkout holds"));
        };
        inherits(self, inherited)
    }

    /// The settings of the earlier run, in its protocol's own form.
    pub fn settings<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_value(self.plan.root.settings.clone()).map_err(|e| wrong(self.run, &e))
    }
}

fn wrong(run: &RunId, why: &dyn std::fmt::Display) -> Problem {
    Problem::error(format!("run {run} cannot be started from: {why}"))
}
