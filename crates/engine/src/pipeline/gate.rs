//! Gates: the score a project needs before it may go on.

use serde::{Deserialize, Serialize};

use super::aggregate::{Aggregate, ScoreRow};

/// `commit`, `pr`, `submission`, `exploration`, or one of the project's own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Gate {
    pub name: String,
    pub overall: u32,
    /// What every component has to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub each: Option<u32>,
    /// Every weighted component that is not conditional has to be scored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// Commands that have to end as they should, besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GateCommand>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GateCommand {
    pub name: String,
    pub command: String,
    /// The exit code that passes.
    pub exit: i32,
}

impl Gate {
    pub fn commit() -> Self {
        Self { name: "commit".into(), overall: 80, each: None, complete: false, commands: Vec::new() }
    }

    pub fn pr() -> Self {
        Self { name: "pr".into(), overall: 90, ..Self::commit() }
    }

    pub fn submission() -> Self {
        Self { name: "submission".into(), overall: 95, each: Some(80), complete: true, ..Self::commit() }
    }

    pub fn exploration() -> Self {
        Self { name: "exploration".into(), overall: 60, ..Self::commit() }
    }

    /// Whether it is open by this sum, with this work in the project that no verdict stands for. Its commands have to be
    /// run besides.
    pub fn report(&self, aggregate: Aggregate, unjudged: &[Unjudged]) -> GateReport {
        let name = &self.name;
        let mut blocking = Vec::new();
        match aggregate.overall {
            None => blocking.push(format!("nothing is scored, {name} needs {}", self.overall)),
            Some(overall) if !overall.reaches(self.overall) => {
                blocking.push(format!("overall is {overall}, {name} needs {}", self.overall));
            }
            Some(_) => {}
        }
        for Unjudged { agent, why } in unjudged {
            blocking.push(format!("{agent}: {why}, {name} needs all work judged as it is"));
        }
        let is_said = |row: &ScoreRow| unjudged.iter().any(|unjudged| unjudged.agent == row.agent);
        for component in &aggregate.components {
            if let (Some(each), Some(score)) = (self.each, component.score)
                && !score.reaches(each)
            {
                blocking
                    .push(format!("{} is {score}, {name} needs {each} of every component", component.name));
            }
            let lacks = |row: &&ScoreRow| row.score.is_none() && !is_said(row) && !row.optional;
            for row in component.rows.iter().filter(|row| self.complete && lacks(row)) {
                let because = row.because.as_deref().unwrap_or("not judged yet");
                blocking.push(format!(
                    "{} has no score of {} ({because}), {name} needs every component",
                    component.name, row.agent
                ));
            }
        }
        let missing = aggregate.missing();
        GateReport { gate: self.clone(), aggregate, blocking, missing }
    }

    pub fn shipped() -> [Self; 4] {
        [Self::commit(), Self::pr(), Self::submission(), Self::exploration()]
    }
}

/// Work that may pass no gate, whatever the sum: what is there is not what a verdict stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unjudged {
    pub agent: String,
    /// `paper/main.tex changed since it was judged`
    pub why: String,
}

/// Whether a gate is open, with its reasons.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GateReport {
    pub gate: Gate,
    pub aggregate: Aggregate,
    /// In whole lines; empty if it is open.
    pub blocking: Vec<String>,
    /// What is not scored and was left out of the sum.
    pub missing: Vec<String>,
}

impl GateReport {
    pub fn is_open(&self) -> bool {
        self.blocking.is_empty()
    }
}
