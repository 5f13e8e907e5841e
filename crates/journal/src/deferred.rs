//! The ledger of deferred items: what runs put off on an artifact, until a later run judges it clean. Each
//! run's part of it stands in its summary, so that the ledger is read without a record; a run that neither
//! put off nor settled anything has none.
//!
//! An artifact is known by the file it is saved to. A criterion has one line: the last run that put it off.

use std::collections::{BTreeMap, HashSet};

use gadfly_engine::event::EventKind;
use gadfly_engine::protocol::{audit, converge};
use gadfly_engine::{Input, RunManifest, Step};
use serde::{Deserialize, Serialize};

use crate::journal::Journal;
use crate::read::ReadError;
use crate::rows::{COLUMNS, RunRow};
use crate::run_id::RunId;

/// The protocols that put something off.
const DEFERRING: [&str; 2] = [converge::RULE_BOOK.name, audit::RULE_BOOK.name];

/// One line of the ledger.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deferred {
    /// `RUN/CRITERION`.
    pub id: String,
    pub run: RunId,
    pub criterion: String,
    pub reason: String,
    pub who: String,
    /// Milliseconds since 1970.
    pub when_ms: u64,
    /// The file the run's work is saved to.
    pub artifact: String,
}

/// What one run adds to the ledger.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Deferrals {
    /// By criterion.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    items: BTreeMap<String, Put>,
    /// Criteria that stood in the ledger when the run began, and were judged clean in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    settled: Vec<String>,
    /// Criteria that stood in the ledger when the run began and are not settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Put {
    reason: String,
    by: String,
    at: u64,
}

impl Deferrals {
    pub(crate) fn apply(
        this: &mut Option<Box<Self>>,
        input: &Input,
        step: &Step,
        planned: Option<&RunManifest>,
    ) {
        if let Some(planned) = planned.filter(|planned| !planned.put_off.is_empty()) {
            *this = Some(Box::new(Self { earlier: planned.put_off.clone(), ..Self::default() }));
        }
        for event in &step.events {
            match &event.what {
                EventKind::Deferred { criterion, reason, by, .. } => {
                    let put = Put { reason: reason.clone(), by: by.clone(), at: input.at.wall_ms };
                    let deferrals = this.get_or_insert_default();
                    deferrals.items.insert(criterion.clone(), put);
                    deferrals.settled.retain(|settled| settled != criterion);
                }
                EventKind::Reviewed { review, .. } => {
                    let Some(deferrals) = this.as_mut() else { continue };
                    let passed = review
                        .criteria
                        .iter()
                        .filter(|c| c.clean && !c.verdict.eq_ignore_ascii_case("DEFER"));
                    passed.for_each(|criterion| deferrals.settle(&criterion.id));
                }
                _ => {}
            }
        }
    }

    fn settle(&mut self, criterion: &str) {
        let put = self.items.remove(criterion).is_some();
        let at = self.earlier.iter().position(|earlier| earlier == criterion);
        if let Some(at) = at {
            self.earlier.swap_remove(at);
        }
        if put || at.is_some() {
            self.settled.push(criterion.to_owned());
        }
    }
}

impl Journal {
    /// What earlier runs put off on the artifact that is saved to `path` (absolute, as in a run's plan) and
    /// no later run has judged clean, the oldest first.
    pub fn deferred(&self, path: &str) -> Result<Vec<Deferred>, ReadError> {
        let sql = format!("SELECT {COLUMNS} FROM runs ORDER BY created, number");
        let mut open: BTreeMap<String, Deferred> = BTreeMap::new();
        self.read(|conn| {
            let mut rows = conn.prepare_cached(&sql)?;
            let mut rows = rows.query([])?;
            while let Some(row) = rows.next()? {
                let row = RunRow::read(row, self.check())?;
                let Some(row) = row.filter(|row| DEFERRING.contains(&row.standing.protocol.as_str())) else {
                    continue;
                };
                // What is damaged is named where that run is looked at; it hides no other run's items.
                let Ok(summary) = row.summary(conn, self.check(), &HashSet::new()) else { continue };
                let (Some(out), Some(deferrals)) = (summary.out, summary.deferrals) else { continue };
                if out != path {
                    continue;
                }
                for settled in &deferrals.settled {
                    open.remove(settled);
                }
                for (criterion, put) in deferrals.items {
                    let line = Deferred {
                        id: format!("{}/{criterion}", summary.run),
                        run: summary.run.clone(),
                        criterion: criterion.clone(),
                        reason: put.reason,
                        who: put.by,
                        when_ms: put.at,
                        artifact: out.clone(),
                    };
                    open.insert(criterion, line);
                }
            }
            Ok::<(), ReadError>(())
        })?;
        let mut lines: Vec<Deferred> = open.into_values().collect();
        lines.sort_by(|a, b| (a.when_ms, &a.id).cmp(&(b.when_ms, &b.id)));
        Ok(lines)
    }
}
